//! Whether all who speak name the same leader, for SLE1 and ALE1, at a cost that does not grow with the cluster.

use std::collections::BTreeMap;
use std::ops::Bound;

use bellwether_proto::ident::NodeId;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{TraceEvent, What};
use bellwether_proto::view::{Status, View};

use super::known::{Known, index};
use super::{Checker, Facts, Verdict, Violation};

/// Judges whether the nodes that are up and in normal operation, and have the same `K`, name the same leader.
///
/// After every event: a node's view changes once in a step, so no state in between is ever shown.
pub(super) struct Agreement<K> {
    names: Names<K>,
    /// Among whom there must be agreement, and how to say so.
    among: fn(&View) -> K,
    in_words: fn(K) -> String,
    judged: bool,
    violation: Option<Violation>,
}

impl<K: Copy + Ord> Agreement<K> {
    pub(super) fn new(facts: &Facts, among: fn(&View) -> K, in_words: fn(K) -> String) -> Self {
        Self { names: Names::new(facts.nodes), among, in_words, judged: false, violation: None }
    }
}

impl<K: Copy + Ord + Send> Checker for Agreement<K> {
    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        if self.violation.is_some() || !matches!(event.what, What::Node(_) | What::Crash | What::Recover) {
            return;
        }
        let view = known.view(event.node);
        let speaks = known.is_up(event.node) && view.status == Status::Normal;
        self.judged |= speaks;
        let among = (self.among)(&view);
        let dispute = self.names.set(event.node, speaks.then_some((among, view.leader)));
        self.violation = dispute.map(|Dispute { sides: [(i, ldr_i), (j, ldr_j)] }| {
            let (among, ldr_i, ldr_j) = ((self.in_words)(among), follows(ldr_i), follows(ldr_j));
            let what = format!("{i} and {j} are both normal{among}, but {i} {ldr_i} and {j} {ldr_j}");
            Violation { at: event.at, what }
        });
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(self: Box<Self>, _known: &Known, _end: Time) -> Verdict {
        Verdict::new(self.judged, self.violation)
    }
}

/// Who names whom; nodes with equal `K` must agree.
struct Names<K> {
    named: Vec<Option<(K, Name)>>,
    tally: BTreeMap<(K, Name), usize>,
}

/// The leader that a node names; a node in normal operation that names none disagrees with those that do.
type Name = Option<NodeId>;

/// Two nodes that ought to agree.
struct Dispute {
    sides: [(NodeId, Name); 2],
}

impl<K: Copy + Ord> Names<K> {
    fn new(nodes: usize) -> Self {
        Self { named: vec![None; nodes], tally: BTreeMap::new() }
    }

    /// The node now names this leader, or has nothing to say. A dispute that this begins is the answer.
    fn set(&mut self, node: NodeId, names: Option<(K, Name)>) -> Option<Dispute> {
        let before = std::mem::replace(&mut self.named[index(node)], names);
        if before == names {
            return None;
        }
        if let Some(before) = before {
            self.retract(before);
        }
        let names = names?;
        *self.tally.entry(names).or_default() += 1;
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
fn follows(name: Name) -> String {
    name.map_or_else(|| "names no leader".to_owned(), |leader| format!("follows {leader}"))
}
