//! Which epochs nodes have seen, as their announcements tell. It outlives crashes, as a node's disk does.
//!
//! A node's own leadership is on its disk before it is told. One that it follows is told first, in the same step: a crash
//! at that very instant may lose it.

use std::collections::BTreeMap;

use bellwether_proto::ident::NodeId;
use bellwether_proto::time::Time;

/// A leadership that was announced: its epoch, and who leads.
pub(crate) type Leadership = (u64, NodeId);

/// By node: the last leadership that it has announced.
#[derive(Default)]
pub(super) struct Seen(BTreeMap<NodeId, Last>);

#[derive(Clone, Copy)]
struct Last {
    announced: Leadership,
    at: Time,
    /// What is on disk until that instant is over.
    kept: Option<Leadership>,
}

impl Seen {
    /// What the node announced last.
    pub(super) fn by(&self, node: NodeId) -> Option<Leadership> {
        self.0.get(&node).map(|last| last.announced)
    }

    /// The node announces that. Gives what it had announced before.
    pub(super) fn announce(&mut self, at: Time, node: NodeId, announced: Leadership) -> Option<Leadership> {
        let before = self.0.get(&node).copied();
        let kept = match before {
            _ if announced.1 == node => Some(announced),
            Some(before) if before.at == at => before.kept,
            before => before.map(|before| before.announced),
        };
        self.0.insert(node, Last { announced, at, kept });
        before.map(|before| before.announced)
    }

    pub(super) fn crash(&mut self, at: Time, node: NodeId) {
        let Some(last) = self.0.get_mut(&node).filter(|last| last.at == at) else { return };
        match last.kept {
            Some(kept) => last.announced = kept,
            None => drop(self.0.remove(&node)),
        }
    }
}
