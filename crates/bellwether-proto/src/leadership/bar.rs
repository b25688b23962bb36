//! What keeps a node from leading although its election names it.
//!
//! Silence does not: the last survivor leads itself. But a node that is answered and refused is no survivor. The others are
//! there, and may have a leader. So a node does not lead while no peer is connected and one of them refuses it, or might: as long
//! as it has not been found out whether a peer is there. One connected peer is enough, whoever else refuses the node.
//!
//! Before a first election there is a stricter rule, if the owner of the node wants it. A node that has never heard of an epoch
//! does not know whether it is the last survivor or merely the first to come up.
//!
//! And a node does not lead while it is told that another does: see `rivals.rs`.

use core::fmt;

use super::{Awaits, Cause, Leadership, Office, Role};
use crate::canonical::Form;
use crate::ident::NodeId;
use crate::time::Time;

/// How a node's peers receive it, as its driver found out by asking them to connect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reception {
    /// How many have neither answered nor been given up since the node came up.
    pub unheard: usize,
    /// How many answer and refuse it.
    pub refusing: usize,
}

/// Why a node does not lead, whatever its election says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bar {
    /// No peer is connected, and this many answer and refuse the node.
    Refused {
        /// How many.
        by: usize,
    },
    /// No peer is connected, and of this many it is not known yet whether they are there.
    Unheard {
        /// How many.
        peers: usize,
    },
    /// Nobody has led yet, as far as the node knows, and too few peers are connected for a first election.
    TooFew {
        /// How many are.
        connected: usize,
        /// How many have to be.
        needed: usize,
    },
    /// Another leads, or is about to.
    Elsewhere {
        /// Who.
        leader: NodeId,
        /// A connected peer that hears it, or the other itself.
        says: NodeId,
    },
}

impl Bar {
    pub(crate) fn of(reception: Reception, connected: usize, needed: usize) -> Option<Self> {
        match reception {
            Reception { refusing: by @ 1.., .. } if connected == 0 => Some(Self::Refused { by }),
            Reception { unheard: peers @ 1.., .. } if connected == 0 => Some(Self::Unheard { peers }),
            _ => (connected < needed).then_some(Self::TooFew { connected, needed }),
        }
    }
}

/// The words for people.
impl fmt::Display for Bar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Refused { by } => {
                let verbs = if by == 1 { "answers and refuses" } else { "answer and refuse" };
                write!(f, "{} {verbs} this member, and none accepts it", Peers(by))
            }
            Self::Unheard { peers } => {
                let have = if peers == 1 { "has" } else { "have" };
                write!(f, "{} {have} neither answered nor been given up", Peers(peers))
            }
            Self::TooFew { connected, needed } => {
                let are = if connected == 1 { "is" } else { "are" };
                write!(f, "before a first election {} must be connected; {connected} {are}", Peers(needed))
            }
            Self::Elsewhere { leader, says } if leader == says => {
                write!(f, "node {leader} leads, or is about to")
            }
            Self::Elsewhere { leader, says } => {
                write!(f, "node {leader} leads, and is out of reach; node {says} hears it")
            }
        }
    }
}

/// `1 peer`, `2 peers`.
struct Peers(usize);

impl fmt::Display for Peers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} peer{}", self.0, if self.0 == 1 { "" } else { "s" })
    }
}

impl Leadership {
    /// Why this node may not lead now.
    pub(crate) fn bar(&self) -> Option<Bar> {
        let needed = if self.epochs.largest() == 0 { self.config.min_peers } else { 0 };
        // That somebody of whom nothing has been heard yet might refuse a leader is no reason to unseat it.
        let unheard = if let Role::Leading { .. } = self.role { 0 } else { self.reception.unheard };
        Bar::of(Reception { unheard, ..self.reception }, self.connected.ids().len(), needed)
            .or_else(|| self.rival().map(|(leader, says)| Bar::Elsewhere { leader, says }))
    }

    fn rival(&self) -> Option<(NodeId, NodeId)> {
        match self.role {
            Role::Claiming { .. } => self.rivals.of_claimant(),
            Role::Leading { .. } => self.rivals.of_leader(self.myself()),
            Role::Following | Role::Aside => None,
        }
    }

    /// The driver has found out more about how peers receive this node.
    pub(crate) fn receive(&mut self, now: Time, reception: Reception) {
        let was_barred = self.bar().is_some();
        self.reception = reception;
        // A peer that accepts this node is connected in a moment. Until then the node is like one that has just come up.
        if was_barred && self.bar().is_none() && self.is_alone() {
            self.earliest = self.earliest.max(now + self.config.settle);
            if matches!(self.role, Role::Claiming { .. }) {
                self.claim(now);
            }
        }
    }

    /// Whether this node may lead changes with whoever comes and goes, and with what they say. Called after every step. Nothing comes of a
    /// claim while the node is barred: it claims again when it no longer is.
    pub(crate) fn reconsider(&mut self, now: Time) {
        self.review_rivals(now);
        match (&self.role, self.bar()) {
            (Role::Leading { .. }, Some(bar)) => {
                self.cause = match bar {
                    Bar::Elsewhere { .. } => Cause::Outranked(self.me),
                    Bar::Refused { .. } | Bar::Unheard { .. } | Bar::TooFew { .. } => Cause::Refused(self.me),
                };
                self.cease();
                self.claim(now);
            }
            (Role::Claiming { awaits: Awaits::Permission, .. }, None) => self.claim(now),
            _ => {}
        }
    }
}

impl Reception {
    pub(super) fn canonical(self, form: &mut Form) {
        form.number(self.unheard as u64);
        form.number(self.refusing as u64);
    }
}
