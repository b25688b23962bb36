//! Run: cargo run -p bellwether --example observe
//!
//! Who leads, who is there, who led when and why it changed: what a program shows on its status page, or uses to send
//! requests to the leader.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

#[path = "support/loopback.rs"]
mod loopback;

use std::error::Error;
use std::time::Duration;

use bellwether::Member;
use bellwether::member::Hold;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async { timeout(PATIENCE, cluster()).await })?
}

async fn cluster() -> Result<(), Box<dyn Error>> {
    let (_dir, configs) = loopback::configs(3)?;
    let mut members = Vec::new();
    for config in configs {
        members.push(Member::join(config).await?);
    }
    let mut changes = members[2].observe_after(0);
    let first = leader(&mut changes).await.ok_or("no leader")?;
    println!("node {first} leads");
    let leading = members.iter().find(|member| member.status().id.0 == first).ok_or("who?")?;
    leading.resign(Hold::For(Duration::from_secs(60))).await?;
    let second = leader(&mut changes).await.ok_or("no leader")?;
    println!("node {second} leads; node 3 knows why:");
    for change in members[2].history() {
        let leader = change.leader.map_or_else(|| "nobody".to_owned(), |id| format!("node {id}"));
        println!("  {:>2}. {leader}, epoch {}: {}", change.no, change.epoch, change.cause);
    }
    for participant in members[2].participants() {
        println!("  {:?} at {}: {:?}", participant.id, participant.address, participant.connection);
    }
    assert_ne!(first, second);
    Ok(())
}

/// The next leader that is announced.
async fn leader(changes: &mut bellwether::member::Observer) -> Option<u32> {
    loop {
        if let Some(leader) = changes.next().await?.leader {
            return Some(leader.0);
        }
    }
}
