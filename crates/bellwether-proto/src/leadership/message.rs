//! What members say to each other about a leadership.

use serde::{Deserialize, Serialize};

use crate::canonical::Form;
use crate::ident::NodeId;
use crate::kind::Kind;

/// Messages of the leadership layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LeadershipMsg {
    /// "My election names me. Does yours, and which epochs have you seen?"
    Claim {
        /// Counts the claims of this sender.
        round: u64,
        /// The epoch that it will most likely have: the disks of those who agree can work in the meantime. If a majority must
        /// have it on disk, whoever agrees has it there first.
        epoch: u64,
    },
    /// "I lead, with this epoch. Are you still there?" Sent when leadership is settled, and every ten periods.
    Lead {
        /// Counts the claims of this sender.
        round: u64,
        /// The number of this leadership.
        epoch: u64,
        /// How many followed when they were asked last.
        followers: u32,
    },
    /// "I follow you." The answer to both.
    Follow {
        /// The claim that is answered.
        round: u64,
        /// The largest epoch that the sender has seen.
        epoch: u64,
        /// Whose it was, if the sender knows.
        of: Option<NodeId>,
        /// How much the sender would be preferred as a leader.
        priority: u32,
        /// How often the sender has been suspected, if the algorithm counts that: the least suspected is
        /// elected.
        count: u64,
    },
    /// "I do not lead": the sender led before, or has begun another incarnation.
    Cede,
    /// "I do not stand for a while, and lead no more: do as if I were gone."
    Aside {
        /// If the sender led: the next leader, as far as it knows.
        next: Option<NodeId>,
    },
    /// "Let that one lead."
    HandOver {
        /// Who.
        to: NodeId,
    },
    /// "I do not follow you, and have seen this." The answer to a claim that the sender does not agree to. The claim may
    /// still be settled, when its time is up.
    Seen {
        /// The largest epoch that the sender has seen.
        epoch: u64,
        /// Whose it was, if the sender knows.
        of: Option<NodeId>,
    },
    /// "Another leads, and I hear it", or "I am about to lead, and go before you." To a member that claims to lead or does. It is
    /// void when the sender follows the receiver.
    Elsewhere {
        /// Who. If it is the receiver: nobody else does any more, or is about to.
        leader: NodeId,
        /// How many follow it, as it says.
        followers: u32,
    },
}

impl LeadershipMsg {
    /// Its kind, for counting.
    pub fn kind(&self) -> Kind {
        KINDS[self.index()]
    }

    fn index(&self) -> usize {
        match self {
            Self::Claim { .. } => 0,
            Self::Lead { .. } => 1,
            Self::Follow { .. } => 2,
            Self::Cede => 3,
            Self::Aside { .. } => 4,
            Self::HandOver { .. } => 5,
            Self::Seen { .. } => 6,
            Self::Elsewhere { .. } => 7,
        }
    }

    pub(crate) fn canonical(&self, from: NodeId, to: NodeId, form: &mut Form) {
        form.number(self.index() as u64);
        match *self {
            Self::Claim { round, epoch } => {
                form.other(from, round);
                form.epoch(epoch);
            }
            Self::Lead { round, epoch, followers } => {
                form.other(from, round);
                form.epoch(epoch);
                form.number(u64::from(followers));
            }
            Self::Follow { round, epoch, of, priority, count } => {
                form.other(to, round);
                form.epoch(epoch);
                form.option(of, Form::node);
                form.number(u64::from(priority));
                form.suspicions(count);
            }
            Self::Cede => {}
            Self::Aside { next } => form.option(next, Form::node),
            Self::HandOver { to } => form.node(to),
            Self::Seen { epoch, of } => {
                form.epoch(epoch);
                form.option(of, Form::node);
            }
            Self::Elsewhere { leader, followers } => {
                form.node(leader);
                form.number(u64::from(followers));
            }
        }
    }
}

/// Every kind of leadership message. They are the cost of watching, not of electing.
pub const KINDS: &[Kind] = &[
    Kind::detector("Claim"),
    Kind::detector("Lead"),
    Kind::detector("Follow"),
    Kind::detector("Cede"),
    Kind::detector("Aside"),
    Kind::detector("HandOver"),
    Kind::detector("Seen"),
    Kind::detector("Elsewhere"),
];
