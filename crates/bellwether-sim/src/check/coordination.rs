//! Whether those who have a coordinator have the same, and those at work the same task, for A1 and A3.

use bellwether_proto::group::TaskDigest;
use bellwether_proto::ident::NodeId;
use bellwether_proto::opinion::{Opinion, Status};
use bellwether_proto::time::Time;
use bellwether_proto::trace::TraceEvent;

use super::agreement::{self, Agreement};
use super::known::Known;
use super::opinions::Opinions;
use super::{Checker, Facts, Verdict, Violation};

/// Among whom that must be so, and how to say it: of those who are normal or reorganizing, which begins with
/// [`OR_REORGANIZING`].
#[derive(Clone, Copy)]
pub(super) struct Among<K> {
    pub(super) of: fn(&Opinion) -> K,
    pub(super) in_words: fn(K) -> String,
}

pub(super) const OR_REORGANIZING: &str = " or reorganizing";

/// Judges whether the nodes that are up, and have the same `K`, a) name the same coordinator if they are reorganizing or
/// normal, b) have the same task if they are normal.
pub(super) struct Coordination<K> {
    coordinators: Agreement<K>,
    among: Among<K>,
    /// Of part b).
    violation: Option<Violation>,
}

impl<K: Copy + Ord> Coordination<K> {
    pub(super) fn new(facts: &Facts, among: Among<K>) -> Self {
        let coordinators = Agreement::of(facts, has_coordinator, among.of, among.in_words);
        Self { coordinators, among, violation: None }
    }
}

impl<K: Copy + Ord + Send> Checker for Coordination<K> {
    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        self.coordinators.observe(known, event);
        if !self.violated() && known.opinion(event.node).status == Status::Normal {
            let what = two_tasks(known, event.node, self.among);
            self.violation = what.map(|what| Violation { at: event.at, what });
        }
    }

    fn violated(&self) -> bool {
        self.violation.is_some() || self.coordinators.violated()
    }

    fn finish(self: Box<Self>, known: &Known, end: Time) -> Verdict {
        match self.violation {
            Some(violation) => Verdict::Violated(violation),
            None => Box::new(self.coordinators).finish(known, end),
        }
    }
}

/// As [`Coordination`], for those who see states and no traces.
pub(super) fn dispute<K: Copy + PartialEq>(opinions: &impl Opinions, among: Among<K>) -> Option<String> {
    let coordinators = agreement::dispute(opinions, has_coordinator, among.of, among.in_words);
    coordinators.or_else(|| normal(opinions).find_map(|(id, _)| two_tasks(opinions, id, among)))
}

/// Part b), as far as it is about that node, which is normal.
fn two_tasks<K: PartialEq>(opinions: &impl Opinions, id: NodeId, among: Among<K>) -> Option<String> {
    let (group, task) = ((among.of)(&opinions.opinion(id)), opinions.task(id));
    let differs =
        |(other, opinion): &(NodeId, Opinion)| (among.of)(opinion) == group && opinions.task(*other) != task;
    let (other, _) = normal(opinions).find(differs)?;
    let works_on = |task: Option<TaskDigest>| {
        task.map_or_else(|| "has no task".to_owned(), |task| format!("works on {task}"))
    };
    let (its, mine, together) = (works_on(opinions.task(other)), works_on(task), (among.in_words)(group));
    let together = together.trim_start_matches(OR_REORGANIZING);
    Some(format!("{other} and {id} are both normal{together}, but {other} {its} and {id} {mine}"))
}

fn normal(opinions: &impl Opinions) -> impl Iterator<Item = (NodeId, Opinion)> {
    opinions.up().filter(|(_, opinion)| opinion.status == Status::Normal)
}

fn has_coordinator(opinion: &Opinion) -> bool {
    matches!(opinion.status, Status::Reorganizing | Status::Normal)
}
