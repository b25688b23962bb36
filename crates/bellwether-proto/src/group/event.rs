//! What an observer of one node may want to know about its groups.

use super::{Ballot, OpId, RecordDigest, TaskDigest, Unwilling};
use crate::ident::{GroupId, NodeId};

/// What the group layer of a node reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupEvent {
    /// The task description of a group is in place at the node.
    Installed(TaskDigest),
    /// The node keeps the record of its new group. At the coordinator its members and parents follow.
    Recorded {
        /// The group.
        group: GroupId,
        /// Tells its record from others.
        record: RecordDigest,
    },
    /// A member of the group that the node recorded last.
    Member(NodeId),
    /// A parent of the group that the node recorded last.
    Parent(GroupId),
    /// The node, a member, votes for a restricted operation.
    Voted {
        /// Which.
        op: OpId,
        /// In which attempt at it.
        ballot: Ballot,
    },
    /// The node knows that a restricted operation was committed.
    Committed {
        /// Which.
        op: OpId,
        /// By which attempt.
        ballot: Ballot,
    },
    /// The node, a coordinator, has aborted its attempt at a restricted operation.
    Aborted {
        /// Which.
        op: OpId,
        /// Which attempt.
        ballot: Ballot,
    },
    /// The node does not even try to perform an operation.
    Declined {
        /// Which.
        op: OpId,
        /// Why.
        why: Unwilling,
    },
}
