//! What a node remembers of each peer's lives and frames.
//!
//! The papers assume channels that keep order and never repeat. A network that does neither is brought back to that
//! assumption here: a frame of an earlier life, or an election message that a later one has overtaken, is refused.
//! What the network reordered is thereby lost, and the repaired algorithms survive loss. Detector messages are not
//! held to an order: each is bound to its watch's number and is harmless twice.

use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::canonical::Form;
use crate::ident::{Incarnation, NodeId};
use crate::io::Refusal;
use crate::message::{Body, Frame, Kind};
use crate::roster::Roster;

/// Messages of the link layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinkMsg {
    /// "You wrote in a life that I know to be over; the latest I know is this." A node that lost its disk learns
    /// from it that it must move above.
    Outlived {
        /// The latest life of the receiver that the sender has seen.
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
pub const KINDS: &[Kind] = &[OUTLIVED];

const OUTLIVED: Kind = Kind::detector("Outlived");

/// The link layer of one node.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    peers: Vec<Peer>,
    /// Off in the `printed` variants: the paper's channels are taken at their word.
    guarded: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Peer {
    /// The latest life seen.
    incarnation: Incarnation,
    /// The latest election message taken from that life.
    taken: u64,
    /// The number of the last frame sent to this peer.
    sent: u64,
}

impl Link {
    pub(crate) fn new(roster: &Roster, guarded: bool) -> Self {
        Self { peers: vec![Peer::default(); roster.size()], guarded }
    }

    /// The number for the next frame to the peer of that rank.
    pub(crate) fn next_seq(&mut self, rank: usize) -> u64 {
        self.peers[rank].sent += 1;
        self.peers[rank].sent
    }

    /// The latest life of that peer seen so far.
    pub(crate) fn incarnation(&self, rank: usize) -> Incarnation {
        self.peers[rank].incarnation
    }

    /// Decides whether a frame may have an effect, and remembers it.
    pub(crate) fn admit<M>(&mut self, rank: usize, frame: &Frame<M>) -> Result<(), Refusal> {
        let peer = &mut self.peers[rank];
        if !frame.incarnation.is_plausible_after(peer.incarnation) {
            return Err(Refusal::ImplausibleLife);
        }
        if frame.incarnation > peer.incarnation {
            peer.incarnation = frame.incarnation;
            peer.taken = 0;
        }
        if !self.guarded {
            return Ok(());
        }
        if frame.incarnation < peer.incarnation {
            return Err(Refusal::StaleIncarnation);
        }
        if matches!(frame.body, Body::Election(_)) {
            if frame.seq <= peer.taken {
                return Err(Refusal::OutOfOrder);
            }
            peer.taken = frame.seq;
        }
        Ok(())
    }

    pub(crate) fn canonical(&self, roster: &Roster, form: &mut Form) {
        for (peer, id) in self.peers.iter().zip(roster.members()) {
            form.incarnation(*id, peer.incarnation);
            form.frame_seq(*id, roster.me(), peer.taken);
            form.frame_seq(roster.me(), *id, peer.sent);
        }
    }
}
