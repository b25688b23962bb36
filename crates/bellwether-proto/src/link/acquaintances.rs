//! The peers of a node that was given no list: those that have written to it, as many as fit.
//!
//! The table is bounded, because anybody can write in the name of anybody. When it is full, the peer that has been
//! silent for longest is forgotten. If it writes again, it is met anew, in its incarnation of then.

use alloc::collections::BTreeMap;

use super::Peer;
use crate::ident::NodeId;

/// How many peers a node without a list remembers.
pub const ACQUAINTANCES_MAX: usize = 4_096;

#[derive(Clone, Debug, Default)]
pub(super) struct Acquaintances {
    /// With each, the number of the meeting at which it was last heard.
    peers: BTreeMap<NodeId, (u64, Peer)>,
    /// Counts the frames that came.
    meetings: u64,
}

impl Acquaintances {
    pub(super) fn get(&self, id: NodeId) -> Option<&Peer> {
        self.peers.get(&id).map(|(_, peer)| peer)
    }

    pub(super) fn get_mut(&mut self, id: NodeId) -> Option<&mut Peer> {
        self.peers.get_mut(&id).map(|(_, peer)| peer)
    }

    /// The peer, made room for if it is new.
    pub(super) fn meet(&mut self, id: NodeId) -> &mut Peer {
        if self.peers.len() >= ACQUAINTANCES_MAX && !self.peers.contains_key(&id) {
            self.forget_the_most_silent();
        }
        self.meetings += 1;
        let (heard, peer) = self.peers.entry(id).or_default();
        *heard = self.meetings;
        peer
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (NodeId, &Peer)> {
        self.peers.iter().map(|(id, (_, peer))| (*id, peer))
    }

    fn forget_the_most_silent(&mut self) {
        let silent = self.peers.iter().min_by_key(|(_, (heard, _))| *heard).map(|(id, _)| *id);
        if let Some(id) = silent {
            self.peers.remove(&id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ident::Incarnation;

    #[test]
    fn the_table_is_bounded_and_forgets_who_was_silent_for_longest() {
        let mut met = Acquaintances::default();
        for id in 0..ACQUAINTANCES_MAX as u32 {
            met.meet(NodeId(id)).incarnation = Incarnation(7);
        }
        met.meet(NodeId(0));
        met.meet(NodeId(u32::MAX));
        assert_eq!(met.iter().count(), ACQUAINTANCES_MAX);
        assert!(met.get(NodeId(1)).is_none(), "silent for longest");
        assert_eq!(met.get(NodeId(0)).map(|peer| peer.incarnation), Some(Incarnation(7)));
        assert_eq!(met.meet(NodeId(1)).incarnation, Incarnation::default(), "met anew");
    }
}
