//! Run: cargo run -p bellwether --example run_one_job
//!
//! Three replicas of a program; one of them does the job. When its process is asked to end, the job is stopped first, and
//! another replica goes on within milliseconds. `run` is all that a replica needs.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

#[path = "support/loopback.rs"]
mod loopback;

use std::error::Error;
use std::future::pending;
use std::time::Duration;

use bellwether::{Config, Leadership, Member};
use tokio::sync::mpsc;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async { timeout(PATIENCE, replicas()).await })?
}

async fn replicas() -> Result<(), Box<dyn Error>> {
    let (_dir, configs) = loopback::configs(3)?;
    let (works, mut working) = mpsc::unbounded_channel();
    let mut members = Vec::new();
    for config in configs {
        members.push(replica(config, works.clone()).await?);
    }
    let first = working.recv().await.ok_or("nobody works")?;
    println!("replica {first} does the job; it is asked to end");
    members[first as usize - 1].leave().await;
    let second = working.recv().await.ok_or("nobody works")?;
    println!("replica {second} does the job");
    for member in &members {
        member.leave().await;
    }
    Ok(())
}

/// What each process would do.
async fn replica(config: Config, works: mpsc::UnboundedSender<u32>) -> Result<Member, Box<dyn Error>> {
    let id = config.id.0;
    let member = Member::join(config).await?;
    let handle = member.clone();
    tokio::spawn(async move {
        let ended = handle.run(|leadership| job(id, leadership, works.clone())).await;
        println!("replica {id} has ended: {ended:?}");
    });
    Ok(member)
}

/// The job. It is dropped at its next `await` when this replica leads no more.
async fn job(id: u32, leadership: Leadership, works: mpsc::UnboundedSender<u32>) {
    println!("replica {id} leads, epoch {}", leadership.epoch());
    // Nobody listens any more only when the example is over.
    let _ = works.send(id);
    pending::<()>().await;
}
