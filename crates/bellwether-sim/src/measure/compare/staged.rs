//! Algorithms in one scenario.

use std::collections::BTreeMap;

use bellwether_proto::election::{InAgent, Protocol};
use bellwether_proto::promise::Property;
use bellwether_proto::{detector, group, leadership, link};
use thiserror::Error;

use super::{Judged, Row};
use crate::check::Finding;
use crate::environment::left_out;
use crate::measure::observer::{self, Outcome};
use crate::measure::parallel;
use crate::run;
use crate::scenario::{Expect, Fault, Scenario};

/// The same scenario with each algorithm, a number of times.
///
/// The file's expectations are about the algorithm that it names, and are not judged. Each algorithm's promises are
/// judged if the scenario keeps their assumptions.
#[derive(Clone, Debug)]
pub struct Staged {
    scenarios: Vec<Scenario>,
    runs: u32,
}

/// Why a scenario cannot be run with an algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Misfit {
    /// An event waits for what never comes.
    #[error("`{event}` waits for a message {kind}, which {protocol} never sends: leave out one of the two")]
    Kind {
        /// The event.
        event: &'static str,
        /// The kind of message.
        kind: String,
        /// The algorithm.
        protocol: &'static str,
    },
    /// Agents do not run it.
    #[error("the nodes are run as agents, and agents do not run {protocol}: it {why}")]
    NotInAgent {
        /// The algorithm.
        protocol: &'static str,
        /// The reason.
        why: &'static str,
    },
}

impl Staged {
    /// Takes a scenario as it was read for each algorithm. Seeds begin with the scenario's own.
    pub fn new(scenarios: Vec<Scenario>, runs: u32) -> Result<Self, Misfit> {
        scenarios.iter().try_for_each(fits)?;
        let unexpecting = |scenario| Scenario { expect: Expect::default(), ..scenario };
        Ok(Self { scenarios: scenarios.into_iter().map(unexpecting).collect(), runs })
    }

    /// How many runs there are in all.
    pub fn jobs(&self) -> usize {
        self.scenarios.len() * self.runs as usize
    }

    /// A row for each algorithm, in the order in which they are given. `done` is called after every run.
    pub fn measure(&self, threads: usize, done: &(dyn Fn() + Sync)) -> Vec<Row> {
        let runs = self.runs as usize;
        let job = |number: usize| one(&self.scenarios[number / runs], (number % runs) as u64);
        let mut all = parallel::map(self.jobs(), threads, job, done).into_iter();
        self.scenarios.iter().map(|scenario| row(scenario, self.runs, all.by_ref().take(runs))).collect()
    }
}

fn one(scenario: &Scenario, run: u64) -> (Outcome, Vec<Finding>) {
    let scenario = Scenario { seed: scenario.seed.wrapping_add(run), ..scenario.clone() };
    let (mut world, observer) = observer::watched(&scenario, run::world);
    world.run_until(scenario.until);
    (observer.take(scenario.until), world.into_journal().verdicts(scenario.until))
}

fn row(scenario: &Scenario, runs: u32, all: impl Iterator<Item = (Outcome, Vec<Finding>)>) -> Row {
    let mut whole = Outcome::default();
    let mut judged: BTreeMap<Property, Judged> = BTreeMap::new();
    for (outcome, findings) in all {
        whole.join(outcome);
        for Finding { property, violation } in findings {
            let entry = judged.entry(property).or_insert(Judged { property, runs: 0, broken: 0 });
            entry.runs += 1;
            entry.broken += u32::from(violation.is_some());
        }
    }
    Row {
        protocol: scenario.protocol,
        nodes: scenario.nodes,
        runs,
        failovers: whole.failovers.clone(),
        traffic: whole.clone(),
        trouble: whole,
        not_kept: left_out(scenario),
        judged: judged.into_values().collect(),
    }
}

fn fits(scenario: &Scenario) -> Result<(), Misfit> {
    let protocol = scenario.protocol;
    if let (true, InAgent::No(why)) = (scenario.agent, protocol.spec().in_agent) {
        return Err(Misfit::NotInAgent { protocol: protocol.name(), why });
    }
    let waits = scenario.events.iter().filter_map(|planned| match &planned.fault {
        Fault::DropNext { kind, .. } => Some(("drop_next", kind)),
        Fault::Message { kind, .. } => Some(("message", kind)),
        Fault::CrashBeforeSend { kind, .. } => Some(("crash_before_send", kind)),
        _ => None,
    });
    for (event, kind) in waits {
        if !sends(protocol, scenario.agent, kind) {
            return Err(Misfit::Kind { event, kind: kind.clone(), protocol: protocol.name() });
        }
    }
    Ok(())
}

/// Whether nodes that run the algorithm have a message of that kind.
fn sends(protocol: Protocol, agent: bool, kind: &str) -> bool {
    let spec = protocol.spec();
    let detector = if spec.detector.is_some() { detector::KINDS } else { &[] };
    let leadership = if agent { leadership::KINDS } else { &[] };
    let restricted = if spec.reorganizes { group::RESTRICTED_KINDS } else { &[] };
    let all = spec.kinds.iter().chain(link::KINDS).chain(detector).chain(leadership).chain(restricted);
    all.into_iter().any(|known| known.name() == kind)
}
