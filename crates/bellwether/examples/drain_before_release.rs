//! Run: cargo run -p bellwether --example drain_before_release
//!
//! A leader that finishes what it is doing before another may begin. The guard says when to stop; leadership is given back
//! when the guard is dropped. What the leader writes carries the epoch, so that a store can refuse a leader of before.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

#[path = "support/loopback.rs"]
mod loopback;

use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bellwether::{Leadership, Member};
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async { timeout(PATIENCE, cluster()).await })?
}

async fn cluster() -> Result<(), Box<dyn Error>> {
    let (_dir, configs) = loopback::configs(2)?;
    let store = Arc::new(Mutex::new(Store::default()));
    let mut members = Vec::new();
    for config in configs {
        members.push(Member::join(config).await?);
    }
    let (leader, leadership) = tokio::select! {
        leadership = members[0].campaign() => (0, leadership?),
        leadership = members[1].campaign() => (1, leadership?),
    };
    let (next, stale) = (1 - leader, leadership.epoch());
    let working = tokio::spawn(work(leadership, Arc::clone(&store)));
    // The other takes over, but not before the work in hand is done.
    members[leader].transfer(members[next].status().id).await?;
    assert!(working.is_finished(), "it has stopped before another could begin");
    let leadership = members[next].campaign().await?;
    let mut store = store.lock().map_err(|_| "poisoned")?;
    store.write(leadership.epoch(), "the next leader's")?;
    let refused = store.write(stale, "what the leader of before had still on its way");
    println!("epoch {} leads; a write of epoch {stale}: {refused:?}", leadership.epoch());
    assert!(refused.is_err());
    Ok(())
}

async fn work(leadership: Leadership, store: Arc<Mutex<Store>>) {
    leadership.ended().await;
    println!("asked to stop: the batch in hand is finished first");
    if let Ok(mut store) = store.lock() {
        let written = store.write(leadership.epoch(), "the last batch");
        println!("the last batch of epoch {}: {written:?}", leadership.epoch());
    }
    // Here the guard is dropped, and leadership given back.
}

/// A store that takes nothing from a leader of before.
#[derive(Default)]
struct Store {
    epoch: u64,
    content: String,
}

impl Store {
    fn write(&mut self, epoch: u64, content: &str) -> Result<(), String> {
        if epoch < self.epoch {
            return Err(format!("epoch {epoch} is over; {} has written {:?}", self.epoch, self.content));
        }
        (self.epoch, self.content) = (epoch, content.to_owned());
        Ok(())
    }
}
