//! What a member in a test must not forget: in memory, where it outlives the member.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bellwether_proto::exclusive::ident::StoreId;
use bellwether_proto::exclusive::voter::{Change, VoterKept};
use bellwether_proto::io::Durable;

/// The state and the votes of one member.
#[derive(Clone, Debug)]
pub(crate) struct Memory(Arc<Mutex<Kept>>);

#[derive(Debug)]
struct Kept {
    durable: Durable,
    votes: VoterKept,
}

impl Memory {
    /// An empty one, with the id that a file of votes has.
    pub(crate) fn new(id: StoreId) -> Self {
        Self(Arc::new(Mutex::new(Kept { durable: Durable::default(), votes: VoterKept::new(id) })))
    }

    pub(crate) fn durable(&self) -> Durable {
        self.kept().durable.clone()
    }

    pub(crate) fn votes(&self) -> VoterKept {
        self.kept().votes.clone()
    }

    pub(crate) fn write(&self, durable: Durable) {
        self.kept().durable = durable;
    }

    /// How many changes it holds then, of all that there have been.
    pub(crate) fn keep(&self, change: Change) -> u64 {
        let mut kept = self.kept();
        kept.votes.keep(change);
        kept.votes.commits
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // What is in it is whole between any two lines that change it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
