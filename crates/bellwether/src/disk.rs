//! Writing behind: the driver goes on while the disk works.
//!
//! One write at a time. What is asked for in the meantime waits, and only the last of it is written: a state replaces the one
//! before it as a whole.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use bellwether_proto::io::Durable;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::error::Ended;
use crate::store::{Memory, Store, StoreError};

pub(crate) struct Disk {
    medium: Medium,
    /// What is on it.
    holds: Durable,
    /// How many writes the node has asked for.
    asked: u64,
    writing: Option<Writing>,
    next: Option<Durable>,
}

/// What is written to.
#[derive(Clone)]
pub(crate) enum Medium {
    Directory(Arc<Store>),
    Memory(Memory),
}

struct Writing {
    durable: Durable,
    /// How many of the node's writes it does.
    writes: u64,
    began: Instant,
    task: JoinHandle<Result<(), StoreError>>,
}

impl Medium {
    fn write(&self, durable: Durable) -> JoinHandle<Result<(), StoreError>> {
        match self.clone() {
            Self::Directory(store) => tokio::task::spawn_blocking(move || store.write(&durable)),
            Self::Memory(memory) => tokio::spawn(async move {
                memory.write(durable);
                Ok(())
            }),
        }
    }
}

/// A write that is done.
pub(crate) struct Written {
    pub(crate) durable: Durable,
    /// So many of the node's writes are done.
    pub(crate) writes: u64,
    /// How long it took.
    pub(crate) took: Duration,
}

impl Disk {
    pub(crate) fn new(medium: Medium, holds: Durable) -> Self {
        Self { medium, holds, asked: 0, writing: None, next: None }
    }

    /// Begins to write that, or will. If it is on the disk already, that is said at once.
    pub(crate) fn write(&mut self, durable: Durable) -> Option<Written> {
        self.asked += 1;
        if self.writing.is_none() && durable == self.holds {
            return Some(Written { durable, writes: self.asked, took: Duration::ZERO });
        }
        self.next = Some(durable);
        self.go_on();
        None
    }

    /// Waits until a write is done. It may be dropped and called again.
    pub(crate) async fn done(&mut self) -> Result<Written, Ended> {
        let Some(writing) = &mut self.writing else { return pending().await };
        let ended = (&mut writing.task).await;
        let Some(Writing { durable, writes, began, .. }) = self.writing.take() else {
            return pending().await;
        };
        ended.map_err(|error| Ended::Fault(error.to_string()))?.map_err(Ended::disk)?;
        self.holds = durable.clone();
        self.go_on();
        Ok(Written { durable, writes, took: began.elapsed() })
    }

    /// Waits until nothing is left to write.
    pub(crate) async fn idle(&mut self) -> Result<(), Ended> {
        while self.writing.is_some() {
            self.done().await?;
        }
        Ok(())
    }

    /// When the write began that is under way.
    pub(crate) fn writing_since(&self) -> Option<Instant> {
        self.writing.as_ref().map(|writing| writing.began)
    }

    fn go_on(&mut self) {
        if self.writing.is_some() {
            return;
        }
        let Some(durable) = self.next.take() else { return };
        let task = self.medium.write(durable.clone());
        self.writing = Some(Writing { durable, writes: self.asked, began: Instant::now(), task });
    }
}
