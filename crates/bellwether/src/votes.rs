//! Votes, written behind by a thread of their own: the driver never waits for them.
//!
//! Whatever is asked for while a commit is being synced goes with the next. However many there are, they cost one sync.

use std::future::pending;
use std::io;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use bellwether_proto::exclusive::voter::Change;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

use crate::error::Ended;
use crate::store::{Memory, Store, StoreError, VotesFile};

/// No commit has more changes. The others go with the next.
const BATCH_MAX: usize = 1 << 14;

/// The votes of a member, if it votes.
#[derive(Debug, Default)]
pub(crate) struct Votes(Option<Behind>);

#[derive(Debug)]
struct Behind {
    asked: Asked,
    done: UnboundedReceiver<Result<Kept, StoreError>>,
    /// When the commit began that is under way.
    writing: Arc<Mutex<Option<Instant>>>,
}

/// Who is asked.
#[derive(Debug)]
enum Asked {
    Thread(Sender<Change>),
    /// What is asked for is done at once, and told.
    Memory(Memory, UnboundedSender<Result<Kept, StoreError>>),
}

/// A commit that is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    /// So many changes are on the disk, counted from when the file was made.
    pub(crate) commits: u64,
    /// How long it took.
    pub(crate) took: Duration,
}

impl Votes {
    /// Starts the thread. The directory is in use until it is done with it.
    ///
    /// # Errors
    /// If there can be no thread.
    pub(crate) fn behind(file: VotesFile, store: Arc<Store>) -> io::Result<Self> {
        let ((asked, asks), (tell, done)) = (mpsc::channel(), unbounded_channel());
        let writing = Arc::new(Mutex::new(None));
        let shown = Arc::clone(&writing);
        thread::Builder::new().name("bellwether-votes".to_owned()).spawn(move || {
            write(file, &asks, &tell, &shown);
            drop(store);
        })?;
        Ok(Self(Some(Behind { asked: Asked::Thread(asked), done, writing })))
    }

    /// Votes that need no thread.
    pub(crate) fn in_memory(memory: Memory) -> Self {
        let (tell, done) = unbounded_channel();
        Self(Some(Behind { asked: Asked::Memory(memory, tell), done, writing: Arc::default() }))
    }

    /// Has that on the disk, after all before it.
    pub(crate) fn keep(&self, change: Change) {
        match self.0.as_ref().map(|behind| &behind.asked) {
            // If nobody takes it, the thread has said why.
            Some(Asked::Thread(asked)) => drop(asked.send(change)),
            Some(Asked::Memory(memory, tell)) => {
                let kept = Kept { commits: memory.keep(change), took: Duration::ZERO };
                drop(tell.send(Ok(kept)));
            }
            None => {}
        }
    }

    /// Waits until a commit is done. It may be dropped and called again.
    pub(crate) async fn done(&mut self) -> Result<Kept, Ended> {
        let Some(behind) = &mut self.0 else { return pending().await };
        match behind.done.recv().await {
            Some(done) => done.map_err(Ended::disk),
            None => Err(Ended::Fault("the thread that keeps votes has ended".to_owned())),
        }
    }

    /// When the commit began that is under way.
    pub(crate) fn writing_since(&self) -> Option<Instant> {
        let behind = self.0.as_ref()?;
        *behind.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All that the thread does: until nobody asks any more, or the disk fails.
fn write(
    mut file: VotesFile,
    asks: &Receiver<Change>,
    tell: &UnboundedSender<Result<Kept, StoreError>>,
    shown: &Mutex<Option<Instant>>,
) {
    let show = |began: Option<Instant>| *shown.lock().unwrap_or_else(PoisonError::into_inner) = began;
    while let Ok(first) = asks.recv() {
        let batch: Vec<Change> = std::iter::once(first).chain(asks.try_iter()).take(BATCH_MAX).collect();
        let began = Instant::now();
        show(Some(began));
        let kept = file.keep(&batch).map(|commits| Kept { commits, took: began.elapsed() });
        show(None);
        let failed = kept.is_err();
        if tell.send(kept.map_err(StoreError::Votes)).is_err() || failed {
            return;
        }
    }
}

#[cfg(test)]
mod grants;
#[cfg(test)]
mod tests;
