//! What happens in groups, in the forms of a trace.

use core::fmt;

use crate::group::{Ballot, GroupEvent, OpId};
use crate::ident::GroupId;

/// The word used in traces.
pub(super) const fn name(event: &GroupEvent) -> &'static str {
    match event {
        GroupEvent::Installed(_) => "task",
        GroupEvent::Recorded { .. } => "recorded",
        GroupEvent::Member(_) => "member",
        GroupEvent::Parent(_) => "parent",
        GroupEvent::Voted { .. } => "voted",
        GroupEvent::Committed { .. } => "committed",
        GroupEvent::Aborted { .. } => "aborted",
        GroupEvent::Declined { .. } => "declined",
    }
}

pub(super) fn binary(event: GroupEvent) -> (u64, [u64; 4]) {
    match event {
        GroupEvent::Installed(digest) => (31, [digest.0, 0, 0, 0]),
        GroupEvent::Recorded { group, record } => (32, of_group(group, record.0)),
        GroupEvent::Member(member) => (33, [u64::from(member.0), 0, 0, 0]),
        GroupEvent::Parent(parent) => (34, of_group(parent, 0)),
        GroupEvent::Committed { op, ballot } => (35, of_ballot(op, ballot)),
        GroupEvent::Aborted { op, ballot } => (36, of_ballot(op, ballot)),
        GroupEvent::Declined { op, why } => (37, [op.0, why as u64, 0, 0]),
        GroupEvent::Voted { op, ballot } => (38, of_ballot(op, ballot)),
    }
}

fn of_group(GroupId(id): GroupId, last: u64) -> [u64; 4] {
    [u64::from(id.node.0), id.incarnation.0, id.seq, last]
}

/// The attempts of one incarnation are few enough to fit beside the node.
fn of_ballot(op: OpId, ballot: Ballot) -> [u64; 4] {
    let [node, incarnation, seq, op] = of_group(ballot.group, op.0);
    [ballot.attempt << 32 | node, incarnation, seq, op]
}

/// The keys that only these events have.
pub(super) fn write_json(event: &GroupEvent, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match event {
        GroupEvent::Installed(digest) => write!(f, r#","task":"{digest}""#),
        GroupEvent::Recorded { group, record } => write!(f, r#","group":"{group}","record":"{record}""#),
        GroupEvent::Member(_) => Ok(()),
        GroupEvent::Parent(group) => write!(f, r#","group":"{group}""#),
        GroupEvent::Voted { op, ballot }
        | GroupEvent::Committed { op, ballot }
        | GroupEvent::Aborted { op, ballot } => {
            let Ballot { group, attempt } = ballot;
            write!(f, r#","group":"{group}","attempt":{attempt},"op":{op}"#)
        }
        GroupEvent::Declined { op, .. } => write!(f, r#","op":{op}"#),
    }
}
