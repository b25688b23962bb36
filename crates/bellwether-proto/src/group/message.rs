//! What the members of a group say to each other while it is reorganized.

use serde::{Deserialize, Serialize};

use super::Task;
use crate::canonical::Form;
use crate::ident::{ElectionId, GroupId};
use crate::message::Kind;

/// Messages of the group layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GroupMsg {
    /// Ready(i, j, x), or Ready(i, j, gn, x): "this is what we work on".
    Ready {
        /// The group it is for, if the algorithm numbers groups.
        group: Option<GroupId>,
        /// The task description, x.
        task: Task,
    },
    /// The answer to Ready.
    ReadyReply {
        /// Which of the coordinator's reorganizations called.
        call: ElectionId,
        /// Whether the task is in place. The papers' answers do not tell (E-GM3), and printed variants do not look.
        in_place: bool,
    },
}

impl GroupMsg {
    /// Its kind, for counting.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Ready { .. } => READY,
            Self::ReadyReply { .. } => READY_REPLY,
        }
    }

    pub(crate) fn canonical(&self, form: &mut Form) {
        form.number(u64::from(self.kind().id()));
        match self {
            Self::Ready { group, task } => {
                form.option(*group, |form, group| form.election(group.0));
                task.canonical(form);
            }
            Self::ReadyReply { call, in_place } => {
                form.reorganization(*call);
                form.number(u64::from(*in_place));
            }
        }
    }
}

/// The kind of Ready. Algorithms that are reorganized have it among their own.
pub const READY: Kind = Kind::protocol("Ready");
/// The kind of its answers.
pub const READY_REPLY: Kind = Kind::protocol("ReadyReply");
