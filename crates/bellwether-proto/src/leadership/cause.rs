//! Why the leader changed.

use core::fmt;

use crate::canonical::Form;
use crate::ident::NodeId;

/// Why the settled leader changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The member came up.
    Started,
    /// The leader's connection ended without a goodbye, or it came back in a new incarnation: its process is gone.
    /// With views it may be another member's process: a view ends when any of its members goes.
    Gone(NodeId),
    /// The leader was silent for too long, or another member of its view.
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

impl Cause {
    /// The word used in traces and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Gone(_) => "gone",
            Self::Silent(_) => "silent",
            Self::Resigned(_) => "resigned",
            Self::HandedOver(..) => "handed-over",
            Self::Outranked(_) => "outranked",
            Self::Merged => "merged",
        }
    }

    /// The member that the cause is about.
    pub const fn about(self) -> Option<NodeId> {
        match self {
            Self::Started | Self::Merged => None,
            Self::Gone(id)
            | Self::Silent(id)
            | Self::Resigned(id)
            | Self::HandedOver(id, _)
            | Self::Outranked(id) => Some(id),
        }
    }

    /// The member that leadership was handed over to.
    pub const fn successor(self) -> Option<NodeId> {
        match self {
            Self::HandedOver(_, to) => Some(to),
            _ => None,
        }
    }

    /// Everybody of whom it speaks.
    pub fn ids_mut(&mut self) -> impl Iterator<Item = &mut NodeId> {
        let (one, other) = match self {
            Self::Started | Self::Merged => (None, None),
            Self::Gone(id) | Self::Silent(id) | Self::Resigned(id) | Self::Outranked(id) => (Some(id), None),
            Self::HandedOver(from, to) => (Some(from), Some(to)),
        };
        one.into_iter().chain(other)
    }

    pub(crate) fn canonical(self, form: &mut Form) {
        form.number(match self {
            Self::Started => 0,
            Self::Gone(_) => 1,
            Self::Silent(_) => 2,
            Self::Resigned(_) => 3,
            Self::HandedOver(..) => 4,
            Self::Outranked(_) => 5,
            Self::Merged => 6,
        });
        self.about().into_iter().chain(self.successor()).for_each(|node| form.node(node));
    }

    /// The cause of that name.
    pub fn by_name(name: &str, about: Option<NodeId>, successor: Option<NodeId>) -> Option<Self> {
        Some(match (name, about, successor) {
            ("started", ..) => Self::Started,
            ("merged", ..) => Self::Merged,
            ("gone", Some(id), _) => Self::Gone(id),
            ("silent", Some(id), _) => Self::Silent(id),
            ("resigned", Some(id), _) => Self::Resigned(id),
            ("outranked", Some(id), _) => Self::Outranked(id),
            ("handed-over", Some(from), Some(to)) => Self::HandedOver(from, to),
            _ => return None,
        })
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started => write!(f, "came up"),
            Self::Gone(id) => write!(f, "the process of node {id} is gone"),
            Self::Silent(id) => write!(f, "node {id} was silent for too long"),
            Self::Resigned(id) => write!(f, "node {id} resigned"),
            Self::HandedOver(from, to) => write!(f, "node {from} handed over to node {to}"),
            Self::Outranked(id) => write!(f, "another was preferred to node {id}"),
            Self::Merged => write!(f, "two groups met"),
        }
    }
}
