//! From "the election names me" to "I lead": what the application may rely on.

use core::fmt;

use crate::ident::NodeId;

/// Why the settled leader changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The member came up.
    Started,
    /// The leader's connection ended without a goodbye: its process is gone.
    Gone(NodeId),
    /// The leader was silent for too long.
    Silent(NodeId),
    /// The leader stood aside.
    Resigned(NodeId),
    /// The leader handed over to the other.
    HandedOver(NodeId, NodeId),
    /// The algorithm prefers another, although the leader is there.
    Outranked(NodeId),
    /// Two groups met, and the epoch of this one was behind.
    Merged,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started => write!(f, "came up"),
            Self::Gone(id) => write!(f, "the connection to node {id} ended without a goodbye"),
            Self::Silent(id) => write!(f, "node {id} was silent for too long"),
            Self::Resigned(id) => write!(f, "node {id} resigned"),
            Self::HandedOver(from, to) => write!(f, "node {from} handed over to node {to}"),
            Self::Outranked(id) => write!(f, "another was preferred to node {id}"),
            Self::Merged => write!(f, "two groups met"),
        }
    }
}
