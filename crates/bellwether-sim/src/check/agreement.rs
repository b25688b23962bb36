//! Whether all who speak name the same leader, for SLE1, ALE1 and A1, at a cost that does not grow with the cluster.

use bellwether_proto::opinion::{Opinion, Status};
use bellwether_proto::time::Time;
use bellwether_proto::trace::{TraceEvent, What};

use super::known::Known;
use super::names::{Dispute, Names, follows};
use super::opinions::Opinions;
use super::{Checker, Facts, Verdict, Violation};

/// Judges whether the nodes that are up and in normal operation (or are to be taken at their word for another reason), and
/// have the same `K`, name the same leader.
///
/// After every event: a node's opinion changes once in a step, so no state in between is ever shown.
pub(super) struct Agreement<K> {
    names: Names<K>,
    /// Whether what a node that is up shows is to be taken at its word.
    speaks: fn(&Opinion) -> bool,
    /// Among whom there must be agreement, and how to say so.
    among: fn(&Opinion) -> K,
    in_words: fn(K) -> String,
    judged: bool,
    violation: Option<Violation>,
}

impl<K: Copy + Ord> Agreement<K> {
    pub(super) fn new(facts: &Facts, among: fn(&Opinion) -> K, in_words: fn(K) -> String) -> Self {
        Self::of(facts, is_normal, among, in_words)
    }

    pub(super) fn of(
        facts: &Facts,
        speaks: fn(&Opinion) -> bool,
        among: fn(&Opinion) -> K,
        in_words: fn(K) -> String,
    ) -> Self {
        Self { names: Names::new(facts.nodes), speaks, among, in_words, judged: false, violation: None }
    }
}

impl<K: Copy + Ord + Send> Checker for Agreement<K> {
    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        if self.violation.is_some() || !matches!(event.what, What::Node(_) | What::Crash | What::Recover) {
            return;
        }
        let opinion = known.opinion(event.node);
        let speaks = known.is_up(event.node) && (self.speaks)(&opinion);
        self.judged |= speaks;
        let among = (self.among)(&opinion);
        self.names.set(event.node, speaks.then_some((among, opinion.leader)));
        let dispute = self.names.dispute_with(event.node);
        self.violation = dispute.map(|dispute| {
            let what = dispute_in_words(&dispute, &(self.in_words)(among));
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

/// The first dispute among nodes of one state: as [`Agreement`], for those who see states and no traces.
pub(super) fn dispute<K: Copy + PartialEq>(
    opinions: &impl Opinions,
    speaks: fn(&Opinion) -> bool,
    among: fn(&Opinion) -> K,
    in_words: fn(K) -> String,
) -> Option<String> {
    let speakers = || opinions.up().filter(|(_, opinion)| speaks(opinion));
    for (nth, (j, second)) in speakers().enumerate() {
        let against =
            |(_, first): &(_, Opinion)| among(first) == among(&second) && first.leader != second.leader;
        if let Some((i, first)) = speakers().take(nth).find(against) {
            let dispute = Dispute { sides: [(i, first.leader), (j, second.leader)] };
            return Some(dispute_in_words(&dispute, &in_words(among(&second))));
        }
    }
    None
}

pub(super) fn is_normal(opinion: &Opinion) -> bool {
    opinion.status == Status::Normal
}

fn dispute_in_words(dispute: &Dispute, among: &str) -> String {
    let Dispute { sides: [(i, ldr_i), (j, ldr_j)] } = *dispute;
    let (ldr_i, ldr_j) = (follows(ldr_i), follows(ldr_j));
    format!("{i} and {j} are both normal{among}, but {i} {ldr_i} and {j} {ldr_j}")
}
