//! Counts who names whom, so that a change of one name costs the same however many nodes there are.

use std::collections::BTreeMap;
use std::ops::Bound;

use bellwether_proto::ident::NodeId;

use super::known::index;

/// Who names whom; nodes with equal `K` must agree.
pub(super) struct Names<K> {
    named: Vec<Option<(K, Name)>>,
    tally: BTreeMap<(K, Name), usize>,
}

/// The leader that a node names; a node in normal operation that names none disagrees with those that do.
pub(super) type Name = Option<NodeId>;

/// Two nodes that ought to agree.
pub(super) struct Dispute {
    pub(super) sides: [(NodeId, Name); 2],
}

impl<K: Copy + Ord> Names<K> {
    pub(super) fn new(nodes: usize) -> Self {
        Self { named: vec![None; nodes], tally: BTreeMap::new() }
    }

    /// The node now names this leader, or has nothing to say.
    pub(super) fn set(&mut self, node: NodeId, names: Option<(K, Name)>) {
        let before = std::mem::replace(&mut self.named[index(node)], names);
        if before == names {
            return;
        }
        if let Some(before) = before {
            self.retract(before);
        }
        if let Some(names) = names {
            *self.tally.entry(names).or_default() += 1;
        }
    }

    /// What all who have something to say agree on.
    pub(super) fn unanimous(&self) -> Option<(K, Name)> {
        let (names, _) = self.tally.first_key_value()?;
        (self.tally.len() == 1).then_some(*names)
    }

    /// The dispute that the node is in. Asks everybody if there is one, so it is for those who will ask once.
    pub(super) fn dispute_with(&self, node: NodeId) -> Option<Dispute> {
        let names = self.named[index(node)]?;
        let other = self.opposed_to(names)?;
        Some(Dispute { sides: [(self.first_to_name(other), other.1), (node, names.1)] })
    }

    fn retract(&mut self, names: (K, Name)) {
        if let Some(count) = self.tally.get_mut(&names) {
            *count -= 1;
            if *count == 0 {
                self.tally.remove(&names);
            }
        }
    }

    /// Names under one key lie next to each other in the tally.
    fn opposed_to(&self, names: (K, Name)) -> Option<(K, Name)> {
        let below = self.tally.range(..names).next_back();
        let above = self.tally.range((Bound::Excluded(names), Bound::Unbounded)).next();
        let mut neighbours = [below, above].into_iter().flatten().map(|(other, _)| *other);
        neighbours.find(|other| other.0 == names.0)
    }

    fn first_to_name(&self, names: (K, Name)) -> NodeId {
        let at = self.named.iter().position(|other| *other == Some(names));
        let at = at.expect("what is tallied was named by somebody");
        NodeId(u32::try_from(at + 1).expect("an index is an id less one"))
    }
}

/// A name, in words.
pub(super) fn follows(name: Name) -> String {
    name.map_or_else(|| "names no leader".to_owned(), |leader| format!("follows {leader}"))
}
