//! Who speaks, and which of its words are later: lives, ballots, leases, stores.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::ident::{Incarnation, NodeId};

/// Drawn at random at every start of a process. Two processes never have the same, even if both lost their disks.
// A grant names three lives, and there may be a million grants: aligned as everything else is, each is a third smaller.
#[repr(Rust, packed(8))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LifeId(pub u128);

/// One life of a node: a process, from its start to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Life {
    /// The node.
    pub node: NodeId,
    /// The incarnation in which the process started, or to which it was raised because peers knew a later one.
    pub incarnation: Incarnation,
    /// Tells two processes apart that have the same incarnation, because one of them lost its disk.
    pub id: LifeId,
}

impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.node, self.incarnation)
    }
}

/// The right to write, of which a later one takes precedence. The round counts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ballot {
    /// Larger than every round that the would-be coordinator has heard of.
    pub round: u64,
    /// Whose ballot it is. No two lives have one in common.
    pub of: Life,
}

impl fmt::Display for Ballot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.round, self.of)
    }
}

/// When something was written: the ballot, and which of that ballot's writes of the name it was. A later one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// The ballot.
    pub ballot: Ballot,
    /// Counts the writes of one name within the ballot, from 1.
    pub write: u64,
}

/// An agent's presence, which voters time. What it holds is its own while the lease is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Lease {
    /// Whose it is.
    pub life: Life,
    /// Counts the leases of that life. One that died is followed by another.
    pub number: u64,
}

impl Lease {
    /// The order of the leases of one node.
    pub fn age(&self) -> Age {
        Age { incarnation: self.life.incarnation, number: self.number }
    }
}

impl fmt::Display for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.life, self.number)
    }
}

/// Which of a node's leases it is. The id of a life has no part in it: whoever buries one lease buries all that are not later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Age {
    /// The incarnation of the lease's life.
    pub incarnation: Incarnation,
    /// The lease's number.
    pub number: u64,
}

/// Made with a voter's store, at random. A voter whose disk was lost comes back with another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StoreId(pub u128);

impl fmt::Display for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
