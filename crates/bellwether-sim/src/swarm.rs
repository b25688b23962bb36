//! Swarm search: many plans, each with its own mix of faults, sizes and timings, played in search of a broken promise.
//!
//! A search is a function of its seeds: whatever the number of threads, it finds the same. For each property it reports
//! the violation with the smallest seed. The situations that were [reached] show how much a search without violations is
//! worth.

mod play;
pub mod reached;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::promise::Property;

use crate::check;
use crate::plan::{self, Limits};
use crate::scenario::Scenario;

pub use play::{Played, play};
use reached::Situation;

/// What to search.
#[derive(Clone, Debug)]
pub struct Search {
    /// The algorithm.
    pub protocol: Protocol,
    /// Repaired, judged by our promises, or printed, judged by the paper's claims.
    pub variant: Variant,
    /// What plans to draw. They must be [possible](Limits::check).
    pub limits: Limits,
    /// The seed of the first plan; the others follow it.
    pub first_seed: u64,
    /// How many plans.
    pub runs: u64,
    /// How many at a time, at least one.
    pub threads: usize,
}

impl Search {
    /// The plan of that seed.
    pub fn draw(&self, seed: u64) -> Scenario {
        plan::draw_within(self.protocol, self.variant, &self.limits, seed)
    }

    /// The situations that must occur, or the search proves nothing.
    pub fn must_reach(&self) -> Vec<Situation> {
        reached::required(self.protocol, self.variant, &self.limits)
    }
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// How many plans were played: all, or the first so many if the search was stopped.
    pub runs: u64,
    /// Everything that happened in them.
    pub events: u64,
    /// Messages sent.
    pub messages: u64,
    /// In how many plans each property was judged.
    pub judged: BTreeMap<Property, u64>,
    /// In how many plans each situation occurred.
    pub reached: BTreeMap<Situation, u64>,
    /// In how many plans each property was broken.
    pub broken: BTreeMap<Property, u64>,
    /// Of each property that was broken, the violation with the smallest seed; in the order of the seeds.
    pub violations: Vec<Violation>,
}

/// A plan in which a property is broken.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The property.
    pub property: Property,
    /// The plan's seed.
    pub seed: u64,
    /// The plan.
    pub scenario: Scenario,
    /// When and how.
    pub how: check::Violation,
}

/// Called after every plan, by the thread that played it.
///
/// It may stop the search. Seeds are taken in order, and plans that were begun are finished. When a violation is
/// reported, every plan with a smaller seed is in the result. So a search that is stopped at its first violation finds
/// the same one with any number of threads.
pub trait Watcher: Sync {
    /// That plan has been played.
    fn played(&self, seed: u64, played: &Played);
}

/// Nobody watches.
impl Watcher for () {
    fn played(&self, _: u64, _: &Played) {}
}

/// Searches until all plans are played or `stop` is set, whichever is first.
///
/// # Panics
/// If the limits are not [possible](Limits::check), or there are not that many seeds.
pub fn search(search: &Search, watcher: &dyn Watcher, stop: &AtomicBool) -> Outcome {
    let draw = |seed| search.draw(seed);
    sweep(&draw, search.first_seed, search.runs, search.threads, watcher, stop)
}

/// As [`search`], of plans that are drawn in any other way.
///
/// # Panics
/// If there are not that many seeds.
pub fn sweep(
    draw: &(dyn Fn(u64) -> Scenario + Sync),
    first_seed: u64,
    runs: u64,
    threads: usize,
    watcher: &dyn Watcher,
    stop: &AtomicBool,
) -> Outcome {
    assert!(first_seed.checked_add(runs).is_some(), "there are not that many seeds");
    let (taken, all) = (AtomicU64::new(0), Mutex::new(Outcome::default()));
    let work = || {
        let mut own = Outcome::default();
        while !stop.load(Ordering::Relaxed) {
            let place = taken.fetch_add(1, Ordering::Relaxed);
            if place >= runs {
                break;
            }
            let seed = first_seed + place;
            let scenario = draw(seed);
            let played = play(&scenario);
            watcher.played(seed, &played);
            own.add(seed, scenario, played);
        }
        all.lock().expect("no worker panics while it adds up").join(own);
    };
    thread::scope(|scope| {
        (0..threads.max(1)).for_each(|_| {
            scope.spawn(work);
        });
    });
    all.into_inner().expect("no worker panics while it adds up")
}

impl Outcome {
    fn add(&mut self, seed: u64, scenario: Scenario, played: Played) {
        self.runs += 1;
        self.events += played.events;
        self.messages += played.messages;
        for situation in played.reached.iter() {
            *self.reached.entry(situation).or_default() += 1;
        }
        for finding in played.findings {
            let property = finding.property;
            *self.judged.entry(property).or_default() += 1;
            if let Some(how) = finding.violation {
                *self.broken.entry(property).or_default() += 1;
                self.found(Violation { property, seed, scenario: scenario.clone(), how });
            }
        }
    }

    /// Adds the results of other plans.
    pub fn join(&mut self, other: Self) {
        self.runs += other.runs;
        self.events += other.events;
        self.messages += other.messages;
        sum(&mut self.judged, other.judged);
        sum(&mut self.reached, other.reached);
        sum(&mut self.broken, other.broken);
        other.violations.into_iter().for_each(|violation| self.found(violation));
    }

    /// Keeps it if it is the first of its property.
    fn found(&mut self, violation: Violation) {
        let known = self.violations.iter().position(|known| known.property == violation.property);
        match known {
            Some(known) if self.violations[known].seed <= violation.seed => return,
            Some(known) => self.violations[known] = violation,
            None => self.violations.push(violation),
        }
        self.violations.sort_by_key(|violation| (violation.seed, violation.property));
    }
}

fn sum<K: Ord>(into: &mut BTreeMap<K, u64>, counts: BTreeMap<K, u64>) {
    for (key, count) in counts {
        *into.entry(key).or_default() += count;
    }
}
