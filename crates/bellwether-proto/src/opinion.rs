//! A node's opinion: its status, the leader that it names, the group that it is in.

use core::fmt;

use crate::ident::{GroupId, NodeId};

/// The status of a node. One vocabulary for every algorithm, so that reports and checkers need only one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Crashed. Only an observer can say so of a node.
    #[default]
    Down,
    /// Organising an election (Stoller's `Elec1` and `Elec2`).
    Election,
    /// Halted by another's election, waiting for its outcome (Stoller's `Wait`).
    Waiting,
    /// A leader is chosen, the group's work is being handed out.
    Reorganizing,
    /// The leader named is significant (the papers' `Norm` or `Normal`).
    Normal,
    /// Up, but it knows that it is cut off (Franceschetti and Bruck).
    Dead,
}

impl Status {
    /// The word used in reports and traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Election => "election",
            Self::Waiting => "waiting",
            Self::Reorganizing => "reorganizing",
            Self::Normal => "normal",
            Self::Dead => "dead",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A node's answer to "who leads?".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Opinion {
    /// The node's status.
    pub status: Status,
    /// The leader that it names; `None` while it names nobody.
    pub leader: Option<NodeId>,
    /// The group it is in, for algorithms that form groups.
    pub group: Option<GroupId>,
}

impl Opinion {
    /// The opinion that an observer ascribes to a crashed node.
    pub const DOWN: Self = Self { status: Status::Down, leader: None, group: None };

    /// The leader, if the node is in its normal mode of operation.
    pub fn normal_leader(&self) -> Option<NodeId> {
        if self.status == Status::Normal { self.leader } else { None }
    }
}
