//! Known flaws as data: where to search for each, and what finding it means.
//!
//! A file names the algorithm, the property that it breaks as printed, and the limits within which plans are drawn. The
//! limits are so narrow that the search finds this flaw and no other. Flaws that no search shows have a reason instead.
//! `docs/reference/check.md` describes the format. To add a flaw, add a file.

mod parse;
mod world;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bellwether_proto::election::{Protocol, Variant};
use bellwether_toml::FileError;

use crate::plan::{self, Limits};
use crate::scenario::{Expect, Scenario};
use crate::shrink::{Broken, Effort, Goal, Shrunk, shrink_to};
use crate::swarm::{Played, Watcher, sweep};

pub use world::Fixed;

/// A flaw of a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Flaw {
    /// Its name in `docs/concepts/divergence.md`, or that of a claim.
    pub erratum: String,
    /// What is wrong, in a few words.
    pub title: String,
    /// How one can see it.
    pub evidence: Evidence,
}

/// How one can see a flaw.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// By searching for a run that shows it.
    Run(Box<Hunt>),
    /// No search shows it.
    Reason {
        /// Why not.
        why: String,
        /// The scenario that shows what is right instead, as a path from the root of the repository.
        scenario: Option<String>,
    },
}

/// Where to search for a flaw, and what finding it means.
#[derive(Clone, Debug, PartialEq)]
pub struct Hunt {
    /// The algorithm.
    pub protocol: Protocol,
    /// An explanation of the run.
    pub story: String,
    /// What a run must do to show it.
    pub goal: Goal,
    /// The limits of the plans.
    pub limits: Limits,
    /// What is the same in all of them.
    pub fixed: Fixed,
    /// The first seed.
    pub seed: u64,
    /// How many plans, of the printed algorithm until it is found, of the repaired one all.
    pub runs: u64,
    /// Why the repaired algorithm breaks it too, if it does in some plans.
    pub unrepaired: Option<String>,
}

/// A plan that shows a flaw.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Its seed.
    pub seed: u64,
    /// How many plans were played, this one included.
    pub runs: u64,
    /// The plan.
    pub scenario: Scenario,
}

impl Flaw {
    /// Reads a flaw. `file` is the name to use in messages.
    pub fn parse(file: &str, text: &str) -> Result<Self, FileError> {
        parse::flaw(file, text)
    }
}

impl Hunt {
    /// The plan of that seed. It expects the property to hold if this variant or the paper promises it there, or if the
    /// missing assumptions are waived. (The paper's claim may be one that no repair can keep.)
    pub fn draw(&self, variant: Variant, seed: u64) -> Scenario {
        let mut plan = plan::draw_within(self.protocol, variant, &self.limits, seed);
        self.fixed.apply(&mut plan);
        let as_printed = Scenario { variant: Variant::Printed, ..plan.clone() };
        if let Broken::Property(property) = self.goal.broken
            && (self.goal.is_promised(&plan) || self.goal.is_promised(&as_printed))
        {
            plan.expect = Expect { holds: vec![property], ..Expect::default() };
        }
        plan
    }

    /// Whether the plan of that seed shows the flaw.
    pub fn shows(&self, seed: u64) -> bool {
        let plan = self.draw(Variant::Printed, seed);
        self.goal.reached(&Scenario { expect: self.goal.expect(), ..plan })
    }

    /// Searches the printed algorithm for the flaw. `tell` is called with the number of plans played so far.
    pub fn find(&self, threads: usize, stop: &AtomicBool, tell: &(dyn Fn(u64) + Sync)) -> Option<Found> {
        let found = AtomicBool::new(false);
        let watch = Finding { hunt: self, first: Mutex::new(None), found: &found, stop, tell };
        let draw = |seed| self.draw(Variant::Printed, seed);
        sweep(&draw, self.seed, self.runs, threads, &watch, &found);
        let seed = watch.first.into_inner().expect("no watcher panics")?;
        Some(Found { seed, runs: seed - self.seed + 1, scenario: self.draw(Variant::Printed, seed) })
    }

    /// The shortest scenario that shows what a plan shows; the shortest so far if `stop` is set.
    pub fn shrink(&self, found: &Found, effort: &Effort, stop: &AtomicBool) -> Option<Shrunk> {
        shrink_to(&found.scenario, &self.goal, effort, stop)
    }

    /// Searches the repaired algorithm in the same places.
    pub fn search_repaired(
        &self,
        threads: usize,
        stop: &AtomicBool,
        tell: &(dyn Fn(u64) + Sync),
    ) -> Repaired {
        let watch = Judging { hunt: self, judged: AtomicU64::new(0), broken: Mutex::default(), tell };
        let draw = |seed| self.draw(Variant::Repaired, seed);
        let outcome = sweep(&draw, self.seed, self.runs, threads, &watch, stop);
        let mut broken = watch.broken.into_inner().expect("no watcher panics");
        broken.sort_unstable();
        Repaired { runs: outcome.runs, judged: watch.judged.into_inner(), broken }
    }
}

/// What the repaired algorithm does in the same search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// How many plans were played.
    pub runs: u64,
    /// In how many of them the flaw could have shown.
    pub judged: u64,
    /// The seeds of those in which it is broken, or anything else that is promised.
    pub broken: Vec<u64>,
}

/// Looks at every plan that breaks something, and stops at the first that shows the flaw.
struct Finding<'a> {
    hunt: &'a Hunt,
    first: Mutex<Option<u64>>,
    found: &'a AtomicBool,
    stop: &'a AtomicBool,
    tell: &'a (dyn Fn(u64) + Sync),
}

impl Watcher for Finding<'_> {
    fn played(&self, seed: u64, played: &Played) {
        (self.tell)(seed - self.hunt.seed + 1);
        let breaks = match self.hunt.goal.broken {
            Broken::Property(property) => played
                .findings
                .iter()
                .any(|finding| finding.property == property && finding.violation.is_some()),
            Broken::Cost(..) => true,
        };
        if breaks && self.hunt.shows(seed) {
            let mut first = self.first.lock().expect("no watcher panics");
            *first = Some(first.map_or(seed, |first| first.min(seed)));
            self.found.store(true, Ordering::Relaxed);
        }
        if self.stop.load(Ordering::Relaxed) {
            self.found.store(true, Ordering::Relaxed);
        }
    }
}

/// Counts the plans in which the repaired algorithm could have broken something, and did.
struct Judging<'a> {
    hunt: &'a Hunt,
    judged: AtomicU64,
    broken: Mutex<Vec<u64>>,
    tell: &'a (dyn Fn(u64) + Sync),
}

impl Watcher for Judging<'_> {
    fn played(&self, seed: u64, played: &Played) {
        (self.tell)(seed - self.hunt.seed + 1);
        let (judged, broken) = match &self.hunt.goal.broken {
            Broken::Property(property) => {
                let judged = played.findings.iter().any(|finding| finding.property == *property);
                (judged, played.findings.iter().any(|finding| finding.violation.is_some()))
            }
            Broken::Cost(..) => (true, !self.hunt.goal.keeps(&self.hunt.draw(Variant::Repaired, seed))),
        };
        self.judged.fetch_add(u64::from(judged), Ordering::Relaxed);
        if broken {
            self.broken.lock().expect("no watcher panics").push(seed);
        }
    }
}
