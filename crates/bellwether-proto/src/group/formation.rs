//! A group as an election formed it, and what its members bring along.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::ledger::{Attempted, DOUBTS_MAX};
use super::lineage::Lineage;
use crate::bounded;
use crate::canonical::Form;
use crate::ident::{GroupId, Incarnation, NodeId};

/// What an election tells the group layer: who leads, and at the leader, who follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formation {
    /// The number of the group; `None` if the algorithm has none, like Garcia-Molina's Bully as printed.
    pub group: Option<GroupId>,
    /// The coordinator.
    pub leader: NodeId,
    /// At the coordinator: who joined it (Garcia-Molina's Up). The others need not know.
    pub members: Vec<NodeId>,
}

impl Formation {
    pub(super) fn canonical(&self, form: &mut Form) {
        form.option(self.group, |form, group| form.election(group.0));
        form.node(self.leader);
        form.nodes(&self.members);
    }
}

/// When a peer said something: in which of its incarnations, and with which of its frames.
pub(crate) type Said = (Incarnation, u64);

/// What a node that joins a group tells the coordinator about its past. It rides on the election's own
/// message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Past {
    /// The last group whose task was in place at that node.
    pub head: Option<GroupId>,
    /// Whether it has been in no group since. It was down, dead or between groups, and what it knew may be out of date.
    pub away: bool,
    /// The groups that it came from.
    pub lineage: Lineage,
    /// The restricted operations that it voted for without knowing the outcome: nobody joins as if nothing were pending.
    #[serde(deserialize_with = "bounded::list::<DOUBTS_MAX, _, _>")]
    pub doubts: Vec<Attempted>,
}

impl Past {
    /// Whether a past that somebody sent is one that a node could have.
    pub(super) fn is_sound(&self) -> bool {
        self.lineage.is_sound() && self.head.is_none_or(|head| self.lineage.record(head).is_some())
    }

    pub(crate) fn canonical(&self, form: &mut Form) {
        form.option(self.head, |form, group| form.election(group.0));
        form.number(u64::from(self.away));
        self.lineage.canonical(form);
        form.number(self.doubts.len() as u64);
        for (op, ballot) in &self.doubts {
            form.number(op.0);
            ballot.canonical(form);
        }
    }
}
