//! The votes of a machine: what its disk holds of them, and what is being written.
//!
//! Whatever is asked for while a write is under way goes with the next, all at once. A crash loses what is not written yet.

use bellwether_proto::exclusive::ident::{LifeId, StoreId};
use bellwether_proto::exclusive::voter::{Change, VoterKept};
use bellwether_proto::ident::NodeId;

/// The votes of one machine.
#[derive(Clone, Debug)]
pub(crate) struct Votes {
    /// Tells the lives of the node apart.
    pub(crate) life: LifeId,
    /// What the disk holds.
    pub(crate) kept: VoterKept,
    writing: Vec<Change>,
    next: Vec<Change>,
    /// Counts the writes of all lives, so that the end of one that a crash has undone is told from others.
    begun: u64,
}

impl Votes {
    /// An empty store of that node.
    pub(crate) fn of(node: NodeId) -> Self {
        Self {
            life: LifeId(0),
            kept: VoterKept::new(StoreId(u128::from(node.0) << 64)),
            writing: Vec::new(),
            next: Vec::new(),
            begun: 0,
        }
    }

    /// Another process begins.
    pub(crate) fn begin_life(&mut self) {
        self.life = LifeId(self.life.0 + 1);
    }

    /// The process has ended, and what it was writing is lost.
    pub(crate) fn end(&mut self) {
        self.writing.clear();
        self.next.clear();
        self.begun += 1;
    }

    /// Asks for a change.
    pub(crate) fn ask(&mut self, change: Change) {
        self.next.push(change);
    }

    /// Begins to write all that was asked for, unless a write is under way. The number of the write.
    pub(crate) fn write(&mut self) -> Option<u64> {
        if !self.writing.is_empty() || self.next.is_empty() {
            return None;
        }
        self.writing = std::mem::take(&mut self.next);
        self.begun += 1;
        Some(self.begun)
    }

    /// That write is done, unless a crash has undone it. How many changes the store has kept.
    pub(crate) fn written(&mut self, no: u64) -> Option<u64> {
        if self.begun != no {
            return None;
        }
        self.writing.drain(..).for_each(|change| self.kept.keep(change));
        Some(self.kept.commits)
    }
}
