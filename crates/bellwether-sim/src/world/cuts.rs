//! What is lost between two nodes, and since when.

use bellwether_proto::election::Election;
use bellwether_proto::ident::NodeId;
use bellwether_proto::trace::What;

use super::World;
use crate::scenario::index;

impl<E: Election> World<'_, E> {
    pub(super) fn set_cut(&mut self, from: NodeId, to: NodeId, cut: bool) {
        let (from, to) = (index(from), index(to));
        let was_severed = self.is_severed(from, to);
        if self.net.set_cut(from, to, cut) {
            self.record_severed(from, to, was_severed);
            if !cut {
                self.reconnect(from, to);
            }
        }
    }

    pub(super) fn heal(&mut self) {
        self.net.forget_orders();
        for from in 0..self.hosts.len() {
            for to in 0..self.hosts.len() {
                if self.net.is_cut(from, to) {
                    self.set_cut(self.hosts[from].id, self.hosts[to].id, false);
                }
                if self.net.restore(from, to) {
                    self.record(from, What::Slow(self.hosts[to].id));
                }
            }
        }
    }

    pub(super) fn partition(&mut self, blocks: &[Vec<NodeId>]) {
        let block_of = |id: NodeId| blocks.iter().position(|block| block.contains(&id));
        let ids: Vec<_> = self.hosts.iter().map(|host| (host.id, block_of(host.id))).collect();
        for (from, one) in &ids {
            for (to, other) in ids.iter().filter(|(to, _)| to != from) {
                self.set_cut(*from, *to, one != other);
            }
        }
    }

    /// Whether what one sends to the other is lost, for whatever reason.
    pub(super) fn is_severed(&self, from: usize, to: usize) -> bool {
        self.net.is_cut(from, to)
            || self.connections.as_ref().is_some_and(|connections| connections.rest(from, to))
    }

    /// Records whether that has changed.
    pub(super) fn record_severed(&mut self, from: usize, to: usize, was_severed: bool) {
        let peer = self.hosts[to].id;
        match (was_severed, self.is_severed(from, to)) {
            (false, true) => self.record(from, What::Cut(peer)),
            (true, false) => self.record(from, What::Mend(peer)),
            (false, false) | (true, true) => {}
        }
    }
}
