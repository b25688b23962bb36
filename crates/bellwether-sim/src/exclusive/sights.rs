//! What a walk or a search came across: a promise that nothing could have broken was not tested.

use std::fmt;

/// How often each happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sights {
    /// Writes decided.
    pub decided: u64,
    /// Times that an agent began to hold a name.
    pub held: u64,
    /// Burials on some disk.
    pub buried: u64,
    /// Extensions of a lease.
    pub renewed: u64,
    /// Leases that lapsed.
    pub lapsed: u64,
    /// Leases that were followed by the next.
    pub died: u64,
    /// Restarts of any process.
    pub restarts: u64,
    /// Nodes that were told of another life of theirs.
    pub outlived: u64,
    /// Configurations decided.
    pub changed: u64,
    /// Times that some disk held of a name that it was deleted.
    pub deleted: u64,
    /// Times that a deleted name was dropped from some disk.
    pub dropped: u64,
    /// Walks that were then left alone, and settled.
    pub settled: u64,
}

impl Sights {
    /// Both together.
    pub fn add(&mut self, other: &Self) {
        self.decided += other.decided;
        self.held += other.held;
        self.buried += other.buried;
        self.renewed += other.renewed;
        self.lapsed += other.lapsed;
        self.died += other.died;
        self.restarts += other.restarts;
        self.outlived += other.outlived;
        self.changed += other.changed;
        self.deleted += other.deleted;
        self.dropped += other.dropped;
        self.settled += other.settled;
    }
}

impl fmt::Display for Sights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "decided {}, held {}, buried {}, renewed {}, lapsed {}, died {}, restarts {}, outlived {}, configurations {}, deleted {}, dropped {}, settled {}",
            self.decided,
            self.held,
            self.buried,
            self.renewed,
            self.lapsed,
            self.died,
            self.restarts,
            self.outlived,
            self.changed,
            self.deleted,
            self.dropped,
            self.settled
        )
    }
}
