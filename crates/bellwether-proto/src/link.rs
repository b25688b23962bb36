//! What a node remembers of each peer's incarnations and frames.
//!
//! The papers assume channels that keep order and never repeat. A network that does neither is brought back to that
//! assumption here: a frame of an earlier incarnation, or an election message that a later one has overtaken, is
//! refused. So what the network reordered is lost, and the repaired algorithms survive loss. Detector messages need
//! no order: each names its watch, and a repetition is harmless. Algorithms that need no order are not restricted
//! either.

mod acquaintances;
pub mod consistent;

use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::canonical::Form;
use crate::ident::{Incarnation, NodeId};
use crate::kind::Kind;
use crate::roster::Roster;
use acquaintances::Acquaintances;

pub use acquaintances::ACQUAINTANCES_MAX;

/// Messages of the link layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinkMsg {
    /// "Your incarnation is over; the latest one that I know is this." From this, a node that lost its disk
    /// learns that it must move above that incarnation.
    Outlived {
        /// The latest incarnation of the receiver that the sender knows.
        known: Incarnation,
    },
}

impl LinkMsg {
    /// Its kind, for counting.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Outlived { .. } => OUTLIVED,
        }
    }

    pub(crate) fn canonical(&self, to: NodeId, form: &mut Form) {
        match self {
            Self::Outlived { known } => {
                form.number(0);
                form.incarnation(to, *known);
            }
        }
    }
}

/// Every kind of link message.
pub const KINDS: &[Kind] = &[OUTLIVED, consistent::BEAT];

const OUTLIVED: Kind = Kind::detector("Outlived");

/// What is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Nothing: the paper's channels are taken at their word. For the `printed` variants.
    Nothing,
    /// Frames of earlier incarnations.
    Incarnations,
    /// Those, and election messages that were overtaken or repeated.
    IncarnationsAndOrder,
}

/// Why a frame had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The sender is not a member, or claims to be this node.
    NotAPeer,
    /// The sender has had a later incarnation since.
    StaleIncarnation,
    /// It was overtaken by a later frame, or came twice.
    OutOfOrder,
    /// It claims an incarnation that its sender cannot have reached.
    ImplausibleIncarnation,
    /// The connection to its sender ended before it arrived.
    Parted,
}

impl Refusal {
    /// The word used in traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotAPeer => "not-a-peer",
            Self::StaleIncarnation => "stale-incarnation",
            Self::OutOfOrder => "out-of-order",
            Self::ImplausibleIncarnation => "implausible-incarnation",
            Self::Parted => "parted",
        }
    }
}

/// Which peers a node speaks with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peers {
    /// The members of the roster, and nobody else.
    Listed,
    /// All that it meets. The roster names only the node itself.
    Met,
}

/// The link layer of one node.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    table: Table,
    guard: Guard,
    /// The number of the last frame to everybody.
    broadcasts: u64,
}

#[derive(Clone, Debug)]
enum Table {
    /// By rank.
    Listed(Roster, Vec<Peer>),
    Met(NodeId, Acquaintances),
}

#[derive(Clone, Copy, Debug, Default)]
struct Peer {
    /// The latest incarnation seen.
    incarnation: Incarnation,
    /// The latest election message taken from that incarnation.
    taken: u64,
    /// The number of the last frame sent to this peer.
    sent: u64,
    /// Its connection ended, and there is no other yet. Frames that it sent before may still be under way, and would make
    /// a dead peer seem alive.
    parted: bool,
}

impl Peer {
    fn is_in(&mut self, incarnation: Incarnation) -> Admitted {
        if incarnation <= self.incarnation {
            return Admitted::SameIncarnation;
        }
        let known = core::mem::replace(&mut self.incarnation, incarnation);
        (self.taken, self.parted) = (0, false);
        // Of one that is heard for the first time no earlier incarnation is known to have ended.
        if known == Incarnation::default() { Admitted::SameIncarnation } else { Admitted::NewIncarnation }
    }
}

/// A frame that may have an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admitted {
    /// It is of the sender's known incarnation, or is the first frame of that sender.
    SameIncarnation,
    /// It is the first frame of a new incarnation of its sender.
    NewIncarnation,
}

impl Link {
    pub(crate) fn new(roster: &Roster, peers: Peers, guard: Guard) -> Self {
        let table = match peers {
            Peers::Listed => Table::Listed(roster.clone(), vec![Peer::default(); roster.size()]),
            Peers::Met => Table::Met(roster.me(), Acquaintances::default()),
        };
        Self { table, guard, broadcasts: 0 }
    }

    /// The number for the next frame to that peer; `None` for a stranger.
    #[inline]
    pub(crate) fn next_seq(&mut self, to: NodeId) -> Option<u64> {
        let peer = self.table.get_mut(to)?;
        peer.sent += 1;
        Some(peer.sent)
    }

    /// The number for the next frame to everybody.
    pub(crate) fn next_broadcast(&mut self) -> u64 {
        self.broadcasts += 1;
        self.broadcasts
    }

    /// The latest incarnation of that peer seen so far.
    pub(crate) fn incarnation(&self, of: NodeId) -> Incarnation {
        self.table.incarnation_of(of).unwrap_or_default()
    }

    /// The peer is in that incarnation, whether or not a frame of it has come.
    pub(crate) fn introduce(&mut self, id: NodeId, incarnation: Incarnation) -> Result<Admitted, Refusal> {
        let peer = self.table.meet(id, incarnation)?;
        peer.parted = false;
        Ok(peer.is_in(incarnation))
    }

    /// The connection to a peer ended: nothing that it sent in that incarnation counts until it is introduced
    /// again.
    pub(crate) fn part(&mut self, id: NodeId) {
        if let Some(peer) = self.table.get_mut(id) {
            peer.parted = true;
        }
    }

    /// Whether its connection ended, and it was not introduced again.
    pub(crate) fn is_parted(&self, id: NodeId) -> bool {
        self.table.get(id).is_some_and(|peer| peer.parted)
    }

    /// Decides whether a frame may have an effect, and remembers it.
    /// `nth` is its number, if its layer needs an order.
    #[inline]
    pub(crate) fn admit(
        &mut self,
        from: NodeId,
        incarnation: Incarnation,
        nth: Option<u64>,
    ) -> Result<Admitted, Refusal> {
        let peer = self.table.meet(from, incarnation)?;
        let admitted = peer.is_in(incarnation);
        match (self.guard, nth) {
            (Guard::Nothing, _) => Ok(Admitted::SameIncarnation),
            _ if incarnation < peer.incarnation => Err(Refusal::StaleIncarnation),
            _ if peer.parted => Err(Refusal::Parted),
            (Guard::IncarnationsAndOrder, Some(nth)) => {
                if nth <= peer.taken {
                    return Err(Refusal::OutOfOrder);
                }
                peer.taken = nth;
                Ok(admitted)
            }
            (Guard::Incarnations, _) | (Guard::IncarnationsAndOrder, None) => Ok(admitted),
        }
    }

    /// Numbers of frames are written only if anybody looks at them.
    pub(crate) fn canonical(&self, me: NodeId, incarnation: Incarnation, form: &mut Form) {
        for (id, peer) in self.table.iter() {
            form.node(id);
            form.incarnation(id, peer.incarnation);
            form.number(u64::from(peer.parted));
            if self.guard == Guard::IncarnationsAndOrder {
                form.frame_seq(id, peer.incarnation, me, peer.taken);
                form.frame_seq(me, incarnation, id, peer.sent);
            }
        }
    }
}

impl Table {
    /// The latest incarnation seen of a peer that may write to this node; 0 if it was never met. `None` if it may not
    /// write, which includes this node itself.
    fn incarnation_of(&self, id: NodeId) -> Option<Incarnation> {
        let incarnation = |peer: &Peer| peer.incarnation;
        match self {
            Self::Listed(roster, peers) => {
                let rank = roster.rank(id).filter(|rank| *rank != roster.my_rank())?;
                Some(incarnation(&peers[rank]))
            }
            Self::Met(me, met) => {
                (id != *me).then(|| met.get(id).map_or_else(Incarnation::default, incarnation))
            }
        }
    }

    fn get(&self, id: NodeId) -> Option<&Peer> {
        match self {
            Self::Listed(roster, peers) => peers.get(roster.rank(id)?),
            Self::Met(_, met) => met.get(id),
        }
    }

    #[inline]
    fn get_mut(&mut self, id: NodeId) -> Option<&mut Peer> {
        match self {
            Self::Listed(roster, peers) => peers.get_mut(roster.rank(id)?),
            Self::Met(_, met) => met.get_mut(id),
        }
    }

    /// The peer that a frame came from, if it may write to this node and can have reached that incarnation. Only then
    /// is a new peer given room.
    #[inline]
    fn meet(&mut self, id: NodeId, incarnation: Incarnation) -> Result<&mut Peer, Refusal> {
        let plausible = |known: Incarnation| incarnation.is_plausible_after(known);
        match self {
            Self::Listed(roster, peers) => {
                let rank =
                    roster.rank(id).filter(|rank| *rank != roster.my_rank()).ok_or(Refusal::NotAPeer)?;
                let peer = &mut peers[rank];
                if plausible(peer.incarnation) { Ok(peer) } else { Err(Refusal::ImplausibleIncarnation) }
            }
            Self::Met(me, _) if *me == id => Err(Refusal::NotAPeer),
            Self::Met(_, met) => {
                let known = met.get(id).map_or_else(Incarnation::default, |peer| peer.incarnation);
                if plausible(known) { Ok(met.meet(id)) } else { Err(Refusal::ImplausibleIncarnation) }
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = (NodeId, &Peer)> {
        let (listed, met) = match self {
            Self::Listed(roster, peers) => (Some(roster.members().iter().copied().zip(peers)), None),
            Self::Met(_, met) => (None, Some(met.iter())),
        };
        listed.into_iter().flatten().chain(met.into_iter().flatten())
    }
}

#[cfg(test)]
mod tests;
