//! Run: cargo run -p bellwether --example fenced_writer
//!
//! Three replicas of a program, of which at most one leads at a time. Whoever leads checks that right before every write, and sends its
//! token along. The store refuses a token that is smaller than the largest it has seen: a write that was on its way for too long does
//! no harm.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

#[path = "support/loopback.rs"]
mod loopback;

use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bellwether::{Config, Exclusive, Leadership, Member};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

const PATIENCE: Duration = Duration::from_secs(20);

/// What the leaders write to. In earnest it is elsewhere, and the token is on disk beside what it protects.
#[derive(Clone, Debug, Default)]
struct Store(Arc<Mutex<(u64, Vec<String>)>>);

#[derive(Debug, thiserror::Error)]
#[error("refused: token {token} is older than {seen}")]
struct Old {
    token: u64,
    seen: u64,
}

impl Store {
    fn write(&self, token: u64, line: &str) -> Result<(), Old> {
        let mut kept = self.0.lock().expect("nobody panics with it");
        let (seen, lines) = &mut *kept;
        if token < *seen {
            return Err(Old { token, seen: *seen });
        }
        *seen = token;
        lines.push(line.to_owned());
        Ok(())
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async { timeout(PATIENCE, replicas()).await })?
}

async fn replicas() -> Result<(), Box<dyn Error>> {
    let (_dir, configs) = loopback::configs(3)?;
    let (store, (wrote, mut written)) = (Store::default(), mpsc::unbounded_channel());
    let mut members = Vec::new();
    for mut config in configs {
        // All members must say the same.
        config.exclusive = Some(Exclusive::default());
        members.push(replica(config, store.clone(), wrote.clone()).await?);
    }
    let (first, old) = written.recv().await.ok_or("nobody writes")?;
    println!("replica {first} writes with token {old}; it is asked to end");
    members[first as usize - 1].leave().await;
    let (second, new) = loop {
        let (id, token) = written.recv().await.ok_or("nobody writes")?;
        if token != old {
            break (id, token);
        }
    };
    println!("replica {second} writes with token {new}");
    let late = store.write(old, "a line that was on its way all the time");
    println!("a late write is {}", late.expect_err("the store has seen a larger token"));
    for member in &members {
        member.leave().await;
    }
    Ok(())
}

/// What each process would do.
async fn replica(
    config: Config,
    store: Store,
    wrote: mpsc::UnboundedSender<(u32, u64)>,
) -> Result<Member, Box<dyn Error>> {
    let member = Member::join(config).await?;
    let handle = member.clone();
    tokio::spawn(
        async move { handle.run(|leadership| work(leadership, store.clone(), wrote.clone())).await },
    );
    Ok(member)
}

/// The work. An error ends it; `run` begins it again when this member leads.
async fn work(
    leadership: Leadership,
    store: Store,
    wrote: mpsc::UnboundedSender<(u32, u64)>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (id, token) = (leadership.node().0, leadership.token().ok_or("not in mode exclusive")?);
    loop {
        let line = compose(id).await;
        leadership.check()?;
        store.write(token, &line)?;
        wrote.send((id, token))?;
    }
}

/// Whatever takes time comes before the check.
async fn compose(id: u32) -> String {
    sleep(Duration::from_millis(10)).await;
    format!("a line of replica {id}")
}
