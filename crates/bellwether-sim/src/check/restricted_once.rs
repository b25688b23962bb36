//! RESTRICTED-ONCE (Garcia-Molina, section IV.B): no restricted operation is committed twice, and none without a majority.
//!
//! Whoever learns of a commit says so, in whatever incarnation and group it is by then; all of them must mean the same attempt. Members
//! say when they vote; the coordinator, who votes for its own attempt, does not. In the end a majority must have.

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::group::{Ballot, GroupEvent, OpId};
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{TraceEvent, What};

use super::known::Known;
use super::{Checker, Facts, Verdict, Violation};

pub(super) struct RestrictedOnce {
    nodes: usize,
    /// Who voted in which attempt at what.
    votes: BTreeMap<(OpId, Ballot), BTreeSet<NodeId>>,
    committed: BTreeMap<OpId, Commit>,
    violation: Option<Violation>,
}

/// What was said of an operation first.
struct Commit {
    ballot: Ballot,
    by: NodeId,
    at: Time,
}

impl RestrictedOnce {
    pub(super) fn new(facts: &Facts) -> Self {
        Self { nodes: facts.nodes, votes: BTreeMap::new(), committed: BTreeMap::new(), violation: None }
    }

    fn commit(&mut self, event: &TraceEvent, op: OpId, ballot: Ballot) {
        let (by, at) = (event.node, event.at);
        let first = self.committed.entry(op).or_insert(Commit { ballot, by, at });
        if first.ballot != ballot {
            let (one, other) = (in_words(first.ballot), in_words(ballot));
            let what = format!("operation {op} is committed by {other} ({by}) and by {one} ({})", first.by);
            self.violation.get_or_insert(Violation { at, what });
        }
    }

    /// A commit that too few voted for.
    fn without_majority(&self) -> Option<Violation> {
        self.committed.iter().find_map(|(op, Commit { ballot, at, .. })| {
            let voters = 1 + self.votes.get(&(*op, *ballot)).map_or(0, BTreeSet::len);
            (2 * voters <= self.nodes).then(|| {
                let (ballot, nodes) = (in_words(*ballot), self.nodes);
                let what = format!("operation {op} is committed by {ballot} with {voters} of {nodes} votes");
                Violation { at: *at, what }
            })
        })
    }
}

impl Checker for RestrictedOnce {
    fn observe(&mut self, _known: &Known, event: &TraceEvent) {
        match event.what {
            What::Node(Event::Group(GroupEvent::Voted { op, ballot })) => {
                self.votes.entry((op, ballot)).or_default().insert(event.node);
            }
            What::Node(Event::Group(GroupEvent::Committed { op, ballot })) => self.commit(event, op, ballot),
            _ => {}
        }
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(self: Box<Self>, _known: &Known, _end: Time) -> Verdict {
        let judged = !self.committed.is_empty();
        let without_majority = self.without_majority();
        Verdict::new(judged, self.violation.or(without_majority))
    }
}

fn in_words(Ballot { group, attempt }: Ballot) -> String {
    format!("attempt {attempt} in group {group}")
}
