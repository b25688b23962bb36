//! What a process does in a step, besides changing itself.

use bellwether_proto::exclusive::grant::{Accepted, Name, Token};
use bellwether_proto::exclusive::ident::{Age, Lease, Life, StoreId};
use bellwether_proto::exclusive::message::{Ask, Asked, ExclusiveMsg, Said, Telling, Wish};
use bellwether_proto::ident::NodeId;

use super::net::Envelope;

/// What others hear of, and what judges look at.
#[derive(Debug, Default)]
pub(super) struct Post {
    pub(super) envelopes: Vec<Envelope>,
    pub(super) seen: Vec<Seen>,
}

/// Something that judges look at.
#[derive(Clone, Debug)]
pub(super) enum Seen {
    /// A voter has that on disk.
    Accepted {
        voter: NodeId,
        store: StoreId,
        name: Name,
        accepted: Accepted,
    },
    /// A voter has it on disk that a lease is dead.
    Buried {
        voter: NodeId,
        store: StoreId,
        node: NodeId,
        age: Age,
    },
    /// A voter has it on disk that a name was forgotten, or no more than that there was one.
    Deleted,
    Dropped,
    /// An agent believes that it holds a name.
    Held {
        name: Name,
        lease: Lease,
        token: Token,
    },
    /// An agent's lease is valid for longer.
    Valid,
    /// An agent's lease is not valid any more.
    Lapsed,
    /// An agent has the next lease.
    Died,
    /// A node was told that another life of it is known.
    Outlived,
}

impl Post {
    pub(super) fn ask(&mut self, by: Life, to: NodeId, ask: Ask) {
        self.send(by.node, to, ExclusiveMsg::Ask(Asked { by, ask }));
    }

    pub(super) fn answer(&mut self, from: NodeId, to: NodeId, said: Said) {
        self.send(from, to, ExclusiveMsg::Answer(said));
    }

    pub(super) fn wish(&mut self, from: NodeId, to: NodeId, wish: Wish) {
        self.send(from, to, ExclusiveMsg::Wish(wish));
    }

    pub(super) fn tell(&mut self, from: NodeId, to: NodeId, telling: Telling) {
        self.send(from, to, ExclusiveMsg::Tell(telling));
    }

    fn send(&mut self, from: NodeId, to: NodeId, msg: ExclusiveMsg) {
        self.envelopes.push(Envelope { from, to, msg });
    }
}
