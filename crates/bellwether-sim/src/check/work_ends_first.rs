//! WORK-ENDS-FIRST: whoever gives leadership back (resigns, hands over, leaves, makes way) does so when its work as the
//! leader has ended, or when it has had the release timeout to end. Nobody announces before that that it follows on it.
//!
//! Leadership that is lost by force is not given back, and nobody waits for the work then. Which of the two it is the cause
//! of an announcement says. Others may have that from hearsay where messages are lost or late, and clocks that differ do not tell
//! whether they spoke too early: then only what a member says of itself is judged.

use std::collections::BTreeMap;

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::leadership::{Announcement, Cause};
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{Program, TraceEvent, What};

use super::known::Known;
use super::{Checker, Facts, Origin, Verdict, Violation};

pub(super) struct WorkEndsFirst {
    release_timeout: Span,
    /// How far the worst clock is off, in parts per million.
    drift_ppm: u64,
    /// By node: its work as the leader, while that goes on.
    work: BTreeMap<NodeId, Work>,
    /// By node: whether it has worked in the leadership that it announced last.
    worked: BTreeMap<NodeId, bool>,
    /// By node: the last leadership of another that it announced.
    followed: BTreeMap<NodeId, (NodeId, u64)>,
    /// Whether every message arrived in time so far, by one clock.
    hears_all: bool,
    judged: bool,
    violation: Option<Violation>,
}

#[derive(Clone, Copy)]
struct Work {
    /// The epoch in which it began.
    epoch: u64,
    /// Since when it is to end: leadership was asked back, or lost.
    to_end: Option<Time>,
}

impl WorkEndsFirst {
    pub(super) fn new(facts: &Facts) -> Self {
        Self {
            release_timeout: facts.leading.release_timeout,
            drift_ppm: u64::from(facts.drift_ppm),
            work: BTreeMap::new(),
            worked: BTreeMap::new(),
            followed: BTreeMap::new(),
            hears_all: facts.origin == Origin::Simulated,
            judged: false,
            violation: None,
        }
    }

    fn told(&mut self, at: Time, node: NodeId, told: Program) {
        match told {
            Program::WorkBegins { epoch } => {
                self.work.insert(node, Work { epoch, to_end: None });
                self.worked.insert(node, true);
            }
            Program::AskedBack { .. } => {
                self.is_to_end(at, node);
            }
            Program::WorkEnds => drop(self.work.remove(&node)),
            Program::Left => self.leaves(at, node),
            Program::Asked { .. } | Program::Answered { .. } | Program::Valid { .. } => {}
        }
    }

    /// The node's work is to end. That it is told again gives it no more time.
    fn is_to_end(&mut self, at: Time, node: NodeId) {
        if let Some(work) = self.work.get_mut(&node) {
            work.to_end.get_or_insert(at);
        }
    }

    /// The node's process ends, as it was asked to.
    fn leaves(&mut self, at: Time, node: NodeId) {
        let Some(Work { to_end, .. }) = self.work.get(&node) else { return };
        if !to_end.is_some_and(|since| self.has_had_its_time(at.since(since))) {
            let what = format!("{node} leaves, and its work goes on");
            self.violation.get_or_insert(Violation { at, what });
        }
    }

    /// The node announces something because `giver` has given leadership back.
    fn given_back(&mut self, at: Time, node: NodeId, giver: NodeId) {
        if node != giver && !self.hears_all {
            return;
        }
        self.judged |= self.worked.get(&giver) == Some(&true);
        let Some(Work { epoch, to_end }) = self.work.get(&giver) else { return };
        // Others may speak of an earlier leadership when the giver leads again.
        if node != giver && self.followed.get(&node) != Some(&(giver, *epoch)) {
            return;
        }
        let passed = to_end.map(|since| at.since(since));
        if passed.is_some_and(|passed| self.has_had_its_time(passed)) {
            return;
        }
        let what = goes_on(node, giver, passed, self.release_timeout);
        self.violation.get_or_insert(Violation { at, what });
    }

    /// A clock that is fast thinks so a little early, and no clock has less than microseconds.
    fn has_had_its_time(&self, passed: Span) -> bool {
        let passed = u128::from(passed.as_micros() + 1) * u128::from(1_000_000 + 2 * self.drift_ppm);
        passed >= u128::from(self.release_timeout.as_micros()) * 1_000_000
    }
}

impl Checker for WorkEndsFirst {
    fn observe(&mut self, _known: &Known, event: &TraceEvent) {
        let TraceEvent { at, node, what, .. } = *event;
        match what {
            What::Program(told) => self.told(at, node, told),
            What::Node(Event::Announced(announced)) => {
                if let Some(giver) = giver(node, &announced) {
                    self.given_back(at, node, giver);
                }
                if let Some(leader) = announced.leader.filter(|leader| *leader != node) {
                    self.followed.insert(node, (leader, announced.epoch));
                }
                if announced.leader != Some(node) {
                    self.is_to_end(at, node);
                }
            }
            What::Crash => {
                self.work.remove(&node);
                self.worked.remove(&node);
            }
            What::Drop(..)
            | What::Late(_)
            | What::Recv(..)
            | What::Pause
            | What::Cut(_)
            | What::Unlinked(_) => {
                self.hears_all = false;
            }
            _ => {}
        }
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(self: Box<Self>, _known: &Known, _end: Time) -> Verdict {
        Verdict::new(self.judged, self.violation)
    }
}

/// Who has given leadership back, if that is why the node announces that it leads, or that it does not any more.
pub(crate) fn giver(node: NodeId, announced: &Announcement) -> Option<NodeId> {
    let (Cause::Resigned(giver) | Cause::HandedOver(giver, _)) = announced.cause else { return None };
    let leader = announced.leader;
    (leader == Some(node) || leader.is_none() && node == giver).then_some(giver)
}

/// A node announces that leadership was given back, although the work of the giver goes on. It was to end so long ago, if at
/// all.
pub(crate) fn goes_on(node: NodeId, giver: NodeId, passed: Option<Span>, timeout: Span) -> String {
    let work = match passed {
        Some(passed) => format!("goes on {passed} after it was to end: it may for {timeout}"),
        None => "goes on and was never to end".to_owned(),
    };
    format!("{node} announces that {giver} has given leadership back, whose work {work}")
}
