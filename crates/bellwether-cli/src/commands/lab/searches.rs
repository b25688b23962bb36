//! Searches for a broken promise, in the background: one at a time, which another one stops. A search ends at the first promise
//! that it finds broken, and shrinks the run that shows it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bellwether_proto::election::{Protocol, Variant};
use bellwether_sim::plan::Limits;
use bellwether_sim::scenario::Runs;
use bellwether_sim::shrink::{Effort, shrink};
use bellwether_sim::swarm::{self, Outcome, Played, Search, Watcher};
use serde::Deserialize;
use serde_json::{Value, json};

use super::refusal::Refusal;
use crate::work::{cores, spawn};

/// Whoever wants more has `bellwether check`.
const RUNS_MAX: u64 = 100_000;
/// Larger clusters make a search slow, and find little more.
const NODES_MAX: u32 = 9;
/// How many candidates are tried to shrink what was found.
const EFFORT: u64 = 3_000;

/// What to search.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    protocol: String,
    variant: String,
    runs: u64,
    #[serde(default)]
    seed: u64,
    /// How many nodes; left out, three to five.
    nodes: Option<u32>,
    /// Whether nodes run as agents.
    #[serde(default)]
    agent: bool,
}

/// The search that goes on, or went on last.
#[derive(Default)]
pub(super) struct Searches(Mutex<(u64, Option<Arc<Progress>>)>);

struct Progress {
    id: u64,
    runs: u64,
    played: AtomicU64,
    events: AtomicU64,
    /// No more runs are played: one has been found, or it is to stop.
    enough: AtomicBool,
    /// A person, or another search, has it stop.
    stop: AtomicBool,
    state: Mutex<State>,
}

enum State {
    Searching,
    Shrinking,
    Over { stopped: bool, found: Option<Value>, judged: Vec<&'static str> },
}

impl Searches {
    pub(super) fn start(&self, wanted: &Wanted) -> Result<Value, Refusal> {
        let search = wanted.search()?;
        let mut current = self.current();
        if let (_, Some(previous)) = &*current {
            previous.stop();
        }
        current.0 += 1;
        let progress = Arc::new(Progress {
            id: current.0,
            runs: search.runs,
            played: AtomicU64::new(0),
            events: AtomicU64::new(0),
            enough: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            state: Mutex::new(State::Searching),
        });
        current.1 = Some(Arc::clone(&progress));
        let shown = progress.shown();
        spawn("search", move || progress.search(&search)).map_err(Refusal::wrong)?;
        Ok(shown)
    }

    pub(super) fn show(&self, id: u64) -> Result<Value, Refusal> {
        self.get(id).map(|progress| progress.shown())
    }

    pub(super) fn goes_on(&self, id: u64) -> Result<bool, Refusal> {
        self.get(id).map(|progress| !matches!(*progress.state(), State::Over { .. }))
    }

    pub(super) fn stop(&self, id: u64) -> Result<Value, Refusal> {
        let progress = self.get(id)?;
        progress.stop();
        Ok(progress.shown())
    }

    fn get(&self, id: u64) -> Result<Arc<Progress>, Refusal> {
        let found = self.current().1.clone().filter(|progress| progress.id == id);
        found.ok_or_else(|| Refusal::not_found(format!("search {id} is over, and another was begun")))
    }

    fn current(&self) -> MutexGuard<'_, (u64, Option<Arc<Progress>>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wanted {
    fn search(&self) -> Result<Search, Refusal> {
        let no_such = |what: &str, name: &str| Refusal::wrong(format!("there is no {what} {name:?}"));
        let protocol =
            Protocol::by_name(&self.protocol).ok_or_else(|| no_such("algorithm", &self.protocol))?;
        let variant = Variant::by_name(&self.variant).ok_or_else(|| no_such("variant", &self.variant))?;
        if !(1..=RUNS_MAX).contains(&self.runs) {
            return Err(Refusal::wrong(format!(
                "a search of {} runs, expected 1 to {RUNS_MAX}; `bellwether check` takes more",
                self.runs
            )));
        }
        if let Some(nodes) = self.nodes.filter(|nodes| *nodes > NODES_MAX) {
            return Err(Refusal::wrong(format!("a search of {nodes} nodes, expected at most {NODES_MAX}")));
        }
        if self.seed.checked_add(self.runs).is_none() {
            return Err(Refusal::wrong(format!("there are not {} seeds from {} on", self.runs, self.seed)));
        }
        let runs = if self.agent { Runs::Agents } else { Runs::Elections };
        let mut limits = Limits { runs, ..Limits::default() };
        if let Some(nodes) = self.nodes {
            limits.nodes = vec![nodes];
        }
        limits.check(protocol, variant).map_err(|error| Refusal::wrong(error.to_string()))?;
        let (first_seed, runs) = (self.seed, self.runs);
        Ok(Search { protocol, variant, limits, first_seed, runs, threads: cores() })
    }
}

impl Progress {
    /// Somebody wants it to end.
    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.enough.store(true, Ordering::Relaxed);
    }

    fn search(&self, search: &Search) {
        let found_one = AtomicBool::new(false);
        let meter = Meter { progress: self, found_one: &found_one };
        let outcome = swarm::search(search, &meter, &self.enough);
        let stopped = self.stop.load(Ordering::Relaxed) && !found_one.load(Ordering::Relaxed);
        let judged = outcome.judged.keys().map(|property| property.name()).collect();
        let found = found_one.load(Ordering::Relaxed).then(|| self.shrink(&outcome)).flatten();
        *self.state() = State::Over { stopped, found, judged };
    }

    fn shrink(&self, outcome: &Outcome) -> Option<Value> {
        let violation = outcome.violations.first()?;
        *self.state() = State::Shrinking;
        let effort = Effort { runs: EFFORT, threads: cores() };
        let shrunk = shrink(&violation.scenario, violation.property, &effort, &self.stop);
        let scenario = shrunk.as_ref().map_or(&violation.scenario, |shrunk| &shrunk.scenario);
        Some(json!({
            "property": violation.property.name(),
            "promise": violation.property.promise(),
            "seed": violation.seed.to_string(),
            "what": violation.how.what,
            "text": scenario.to_toml(),
        }))
    }

    fn shown(&self) -> Value {
        let (state, found, judged) = match &*self.state() {
            State::Searching => ("searching", None, Vec::new()),
            State::Shrinking => ("shrinking", None, Vec::new()),
            State::Over { stopped, found, judged } => {
                (if *stopped { "stopped" } else { "over" }, found.clone(), judged.clone())
            }
        };
        json!({
            "id": self.id,
            "state": state,
            "runs": self.runs,
            "played": self.played.load(Ordering::Relaxed),
            "events": self.events.load(Ordering::Relaxed),
            "found": found,
            "judged": judged,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Meter<'a> {
    progress: &'a Progress,
    found_one: &'a AtomicBool,
}

impl Watcher for Meter<'_> {
    fn played(&self, _: u64, played: &Played) {
        self.progress.played.fetch_add(1, Ordering::Relaxed);
        self.progress.events.fetch_add(played.events, Ordering::Relaxed);
        if played.findings.iter().any(|finding| finding.violation.is_some()) {
            self.found_one.store(true, Ordering::Relaxed);
            self.progress.enough.store(true, Ordering::Relaxed);
        }
    }
}
