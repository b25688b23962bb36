//! Plays candidates and remembers the results.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use bellwether_proto::time::{Span, Time};
use xxhash_rust::xxh3::xxh3_64;

use super::goal::{Broken, Goal};
use super::size::Size;
use super::{EVENTUALLY, Effort};
use crate::scenario::Scenario;

/// The judge of candidates.
#[derive(Debug)]
pub(super) struct Trials<'a> {
    goal: Goal,
    effort: Effort,
    /// Set when somebody no longer waits.
    stop: &'a AtomicBool,
    runs: u64,
    /// Candidates that failed, by the hash of their files.
    failed: BTreeSet<u64>,
    end: End,
}

/// When a candidate may end.
#[derive(Clone, Copy, Debug)]
enum End {
    /// As soon as the violation is there.
    Early,
    /// No sooner than so long after its last event.
    AfterQuiet(Span),
    /// When the original ended: the cost of a run depends on its length.
    At(Time),
}

impl<'a> Trials<'a> {
    pub(super) fn new(goal: Goal, original: &Scenario, effort: Effort, stop: &'a AtomicBool) -> Self {
        let end = match goal.broken {
            Broken::Cost(..) => End::At(original.until),
            Broken::Property(_) if goal.is_eventual(original) => {
                End::AfterQuiet(quiet(original).min(EVENTUALLY))
            }
            Broken::Property(_) => End::Early,
        };
        Self { goal, effort, stop, runs: 0, failed: BTreeSet::new(), end }
    }

    /// The first of the candidates that is smaller than `best` and still reaches the goal.
    pub(super) fn smaller(
        &mut self,
        best: &Scenario,
        candidates: impl IntoIterator<Item = Scenario>,
    ) -> Option<Scenario> {
        let size = Size::of(best);
        self.first(candidates.into_iter().filter(|candidate| Size::of(candidate) < size))
    }

    /// The first of the candidates that reaches the goal.
    pub(super) fn first(&mut self, candidates: impl IntoIterator<Item = Scenario>) -> Option<Scenario> {
        let left = usize::try_from(self.effort.runs.saturating_sub(self.runs)).unwrap_or(usize::MAX);
        let candidates = candidates.into_iter().take_while(|_| !self.is_stopped());
        let mut worth: Vec<(u64, Scenario)> =
            candidates.filter_map(|candidate| self.worth_playing(candidate)).take(left).collect();
        // Who has stopped takes none: it need not be played.
        let will_do = |(_, candidate): &(u64, Scenario)| !self.is_stopped() && self.goal.reached(candidate);
        let found = first_that(&worth, self.effort.threads, will_do);
        let played = found.map_or(worth.len(), |found| found + 1);
        self.runs += played as u64;
        self.failed.extend(worth[..found.unwrap_or(worth.len())].iter().map(|(hash, _)| *hash));
        found.map(|found| worth.swap_remove(found).1)
    }

    pub(super) fn will_do(&mut self, scenario: &Scenario) -> bool {
        self.runs += 1;
        self.goal.reached(scenario)
    }

    pub(super) fn goal(&self) -> &Goal {
        &self.goal
    }

    /// The earliest end that is allowed with these events; `None` if it must stay.
    pub(super) fn soonest_end(&self, scenario: &Scenario) -> Option<Time> {
        match self.end {
            End::Early => Some(last_event(scenario)),
            End::AfterQuiet(quiet) => Some(last_event(scenario) + quiet),
            End::At(_) => None,
        }
    }

    pub(super) fn runs(&self) -> u64 {
        self.runs
    }

    /// Whether nothing more is tried.
    pub(super) fn is_over(&self) -> bool {
        self.runs >= self.effort.runs || self.is_stopped()
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// `None` if no file could hold the candidate, if it ends too soon, or if it was played before.
    fn worth_playing(&self, candidate: Scenario) -> Option<(u64, Scenario)> {
        let ends_in_time = match self.end {
            End::Early => true,
            End::AfterQuiet(least) => quiet(&candidate) >= least,
            End::At(until) => candidate.until == until,
        };
        if !ends_in_time || !self.goal.is_promised(&candidate) {
            return None;
        }
        let text = candidate.to_toml();
        let hash = xxh3_64(text.as_bytes());
        let is_new = !self.failed.contains(&hash);
        (is_new && Scenario::parse("", &text).is_ok_and(|read| read == candidate))
            .then_some((hash, candidate))
    }
}

fn quiet(scenario: &Scenario) -> Span {
    scenario.until.since(last_event(scenario))
}

fn last_event(scenario: &Scenario) -> Time {
    scenario.events.iter().map(|planned| planned.at).max().unwrap_or(Time::ZERO)
}

/// The place of the first item that passes the test. Several tests run at a time; results beyond the first are not
/// used.
fn first_that<T: Sync>(items: &[T], threads: usize, test: impl Fn(&T) -> bool + Sync) -> Option<usize> {
    let threads = threads.min(items.len());
    if threads <= 1 {
        return items.iter().position(test);
    }
    let (next, found) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let work = || loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        if at >= items.len() || at > found.load(Ordering::Relaxed) {
            break;
        }
        if test(&items[at]) {
            found.fetch_min(at, Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        (0..threads).for_each(|_| {
            scope.spawn(work);
        });
    });
    Some(found.into_inner()).filter(|found| *found < items.len())
}
