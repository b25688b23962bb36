//! What the members of a group say to each other while it is reorganized.

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};

use super::ledger::{Ballot, OpId, Outcome};
use super::lineage::Lineage;
use super::{Past, Task};
use crate::canonical::Form;
use crate::ident::{ElectionId, GroupId};
use crate::kind::Kind;

/// Messages of the group layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GroupMsg {
    /// Ready(i, j, x), or Ready(i, j, gn, x): "this is what we work on".
    Ready {
        /// The group it is for, if the algorithm numbers groups.
        group: Option<GroupId>,
        /// The task description, x.
        task: Task,
        /// The lineage of the group, including the group; empty if the algorithm does not number groups.
        lineage: Lineage,
    },
    /// The answer to Ready.
    ReadyReply {
        /// Which of the coordinator's reorganizations called.
        call: ElectionId,
        /// Whether the task is in place. The papers' answers do not tell (E-GM3), and printed variants do not look.
        in_place: bool,
    },
    /// The first phase of a commit: "would you perform this with me?"
    Prepare(OpId, Ballot),
    /// The vote.
    PrepareReply {
        /// On what.
        op: OpId,
        /// In which attempt.
        ballot: Ballot,
        /// A yes is on disk before it is sent.
        yes: bool,
    },
    /// The second phase, or the answer to Inquire: how an attempt ended.
    Decide {
        /// At what.
        op: OpId,
        /// Which attempt.
        ballot: Ballot,
        /// How.
        outcome: Outcome,
    },
    /// A voter in doubt asks the others.
    Inquire(OpId, Ballot),
    /// "I am in the group, and this is where I come from." Sent if that did not ride on the message by which the
    /// node joined.
    Member {
        /// The group.
        group: Option<GroupId>,
        /// The sender's past.
        past: Box<Past>,
    },
    /// "All have the task": now it is in place, in an algorithm where nobody begins before that.
    InService {
        /// Which of the coordinator's reorganizations.
        call: ElectionId,
    },
}

impl GroupMsg {
    /// Its kind, for counting.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Member { .. } => MEMBER,
            Self::InService { .. } => IN_SERVICE,
            Self::Ready { .. } => READY,
            Self::ReadyReply { .. } => READY_REPLY,
            Self::Prepare(..) => PREPARE,
            Self::PrepareReply { .. } => PREPARE_REPLY,
            Self::Decide { .. } => DECIDE,
            Self::Inquire(..) => INQUIRE,
        }
    }

    pub(crate) fn canonical(&self, form: &mut Form) {
        form.number(u64::from(self.kind().id()));
        match self {
            Self::Member { group, past } => {
                form.option(*group, |form, group| form.election(group.0));
                past.canonical(form);
            }
            Self::Ready { group, task, lineage } => {
                form.option(*group, |form, group| form.election(group.0));
                task.canonical(form);
                lineage.canonical(form);
            }
            Self::InService { call } => form.reorganization(*call),
            Self::ReadyReply { call, in_place } => {
                form.reorganization(*call);
                form.number(u64::from(*in_place));
            }
            Self::Prepare(op, ballot) | Self::Inquire(op, ballot) => attempt(form, *op, ballot),
            Self::PrepareReply { op, ballot, yes } => {
                attempt(form, *op, ballot);
                form.number(u64::from(*yes));
            }
            Self::Decide { op, ballot, outcome } => {
                attempt(form, *op, ballot);
                form.number(*outcome as u64);
            }
        }
    }
}

fn attempt(form: &mut Form, op: OpId, ballot: &Ballot) {
    form.number(op.0);
    ballot.canonical(form);
}

/// The kind of what members tell once they are, if they have not before.
pub const MEMBER: Kind = Kind::protocol("Member");
/// The kind of what ends a reorganization in which nobody begins before all can.
pub const IN_SERVICE: Kind = Kind::protocol("InService");
/// The kind of Ready. Algorithms that are reorganized have it among their own.
pub const READY: Kind = Kind::protocol("Ready");
/// The kind of its answers.
pub const READY_REPLY: Kind = Kind::protocol("ReadyReply");

const PREPARE: Kind = Kind::protocol("Prepare");
const PREPARE_REPLY: Kind = Kind::protocol("PrepareReply");
const DECIDE: Kind = Kind::protocol("Decide");
const INQUIRE: Kind = Kind::protocol("Inquire");

/// The kinds of the messages by which restricted operations are committed. No algorithm sends them by itself.
pub const RESTRICTED_KINDS: &[Kind] = &[PREPARE, PREPARE_REPLY, DECIDE, INQUIRE];
