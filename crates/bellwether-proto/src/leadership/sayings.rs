//! What members last said of themselves; perhaps just before they were connected.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::canonical::Form;
use crate::ident::NodeId;
use crate::link::ACQUAINTANCES_MAX;
use crate::time::{Span, Time};

#[derive(Clone, Debug, Default)]
pub(super) struct Sayings(BTreeMap<NodeId, Says>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    Claims {
        round: u64,
        /// The epoch that it will most likely have.
        epoch: u64,
        /// This node has agreed, and knows of no leader since.
        agreed: bool,
    },
    Leads {
        round: u64,
        epoch: u64,
        /// How many follow it.
        followers: u32,
        /// When it said so last.
        at: Time,
    },
}

impl Sayings {
    pub(super) fn of(&self, who: NodeId) -> Option<Says> {
        self.0.get(&who).copied()
    }

    pub(super) fn all(&self) -> Vec<(NodeId, Says)> {
        self.0.iter().map(|(id, says)| (*id, *says)).collect()
    }

    pub(super) fn claimants(&self) -> Vec<NodeId> {
        let claimants = self.0.iter().filter(|(_, says)| matches!(says, Says::Claims { .. }));
        claimants.map(|(id, _)| *id).collect()
    }

    pub(super) fn note(&mut self, who: NodeId, says: Says) {
        if self.0.len() < ACQUAINTANCES_MAX || self.0.contains_key(&who) {
            self.0.insert(who, says);
        }
    }

    /// This node agrees to what that one claims, if it does.
    pub(super) fn agree(&mut self, who: NodeId) {
        if let Some(Says::Claims { agreed, .. }) = self.0.get_mut(&who) {
            *agreed = true;
        }
    }

    /// There is a leader. Earlier claims are void: a leader among their senders has told it, or will.
    pub(super) fn settled(&mut self) {
        for says in self.0.values_mut() {
            if let Says::Claims { agreed, .. } = says {
                *agreed = false;
            }
        }
    }

    pub(super) fn forget(&mut self, who: NodeId) -> Option<Says> {
        self.0.remove(&who)
    }

    /// When a member said that it leads counts for as long as it is believed.
    pub(super) fn canonical(&self, now: Time, believed: Span, form: &mut Form) {
        form.number(self.0.len() as u64);
        for (id, says) in &self.0 {
            form.node(*id);
            match *says {
                Says::Claims { round, epoch, agreed } => {
                    form.other(*id, round);
                    form.epoch(epoch);
                    form.number(u64::from(agreed));
                }
                Says::Leads { round, epoch, followers, at } => {
                    form.other(*id, round);
                    form.epoch(epoch);
                    form.number(u64::from(followers));
                    form.deadline(now, at + believed);
                }
            }
        }
    }
}
