//! Algorithms on a user's own figures, in clusters of several sizes.

use std::collections::BTreeSet;

use bellwether_proto::election::Protocol;
use bellwether_proto::ident::NodeId;
use bellwether_proto::time::{Span, Time};

use super::Row;
use crate::environment::left_out;
use crate::measure::failover::crash_leader;
use crate::measure::figures::Figures;
use crate::measure::observer::{self, Failover, Outcome};
use crate::measure::{faults, parallel};
use crate::plan::FaultClass;
use crate::run;
use crate::scenario::{Fault, Planned, Scenario};

/// How many periods traffic is counted for in each run: whole ones, so that the count is exact.
const STEADY: u64 = 40;
/// How many timeouts faults go on for in each run.
const RAGE: u64 = 200;

/// Every algorithm in every size, a number of times.
///
/// A run settles, is left alone while its traffic is counted, loses its leader at a moment of the period that is its own,
/// gets as long as at its start to agree on another, and then suffers the other faults, if there are any.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The algorithms.
    pub protocols: Vec<Protocol>,
    /// The sizes.
    pub sizes: Vec<u32>,
    /// The rest of the figures; of the nodes it says nothing.
    pub figures: Figures,
    /// What happens.
    pub faults: BTreeSet<FaultClass>,
    /// How many runs of each algorithm in each size.
    pub runs: u32,
    /// The seed of the first run; the others follow it.
    pub seed: u64,
}

/// When what happens in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Traffic is counted from then on,
    pub settled: Time,
    /// and until then.
    pub counted: Time,
    /// The leader crashes, in the first of the runs; in the others up to a period later.
    pub crash: Time,
    /// Other faults begin.
    pub rage: Time,
    /// The run ends.
    pub end: Time,
}

impl Campaign {
    /// How many runs there are in all.
    pub fn jobs(&self) -> usize {
        self.protocols.len() * self.sizes.len() * self.runs as usize
    }

    /// A row for each algorithm and size, in the order in which they are given. `done` is called after every run.
    pub fn measure(&self, threads: usize, done: &(dyn Fn() + Sync)) -> Vec<Row> {
        let pairs: Vec<_> =
            self.protocols.iter().flat_map(|p| self.sizes.iter().map(move |size| (*p, *size))).collect();
        let runs = self.runs as usize;
        let job = |number: usize| {
            let (protocol, nodes) = pairs[number / runs];
            self.one(protocol, nodes, (number % runs) as u32)
        };
        let mut all = parallel::map(self.jobs(), threads, job, done).into_iter();
        pairs.iter().map(|(protocol, nodes)| self.row(*protocol, *nodes, all.by_ref().take(runs))).collect()
    }

    /// When what happens in a run.
    pub fn times(&self) -> Times {
        let Figures { period, .. } = self.figures;
        let settled = Time::ZERO + self.figures.settling();
        let counted = settled + period * STEADY;
        let given = if self.crashes() { self.figures.settling() + period } else { Span::ZERO };
        let rage = counted + given;
        let end = if self.rages() { rage + self.figures.timeout() * RAGE } else { rage };
        Times { settled, counted, crash: counted, rage, end }
    }

    /// Whether the leader crashes.
    pub fn crashes(&self) -> bool {
        self.faults.contains(&FaultClass::Crash)
    }

    /// Whether anything else happens.
    pub fn rages(&self) -> bool {
        self.faults.iter().any(|class| *class != FaultClass::Crash)
    }

    fn row(&self, protocol: Protocol, nodes: u32, runs: impl Iterator<Item = One>) -> Row {
        let mut row = Row {
            protocol,
            nodes,
            runs: self.runs,
            traffic: Outcome::default(),
            failovers: Vec::new(),
            trouble: Outcome::default(),
            not_kept: left_out(&self.sample(protocol, nodes)),
            judged: Vec::new(),
        };
        for one in runs {
            row.traffic.join(one.traffic);
            row.failovers.extend(one.failover);
            row.trouble.join(one.trouble);
        }
        row
    }

    fn one(&self, protocol: Protocol, nodes: u32, run: u32) -> One {
        let (figures, times) = (self.figures_of(nodes), self.times());
        let seed = self.seed.wrapping_add(u64::from(run));
        let mut scenario = figures.scenario(protocol, seed, times.end.since(Time::ZERO));
        scenario.events = faults::draw(&self.faults, &figures, times.rage, times.end.since(times.rage), seed);
        let (mut world, observer) = observer::watched(&scenario, run::world_unjudged);
        world.run_until(times.settled);
        observer.take(times.settled);
        world.run_until(times.counted);
        let traffic = observer.take(times.counted);
        let (mut failover, mut trouble) = (None, Outcome::default());
        if self.crashes() {
            world.run_until(times.crash + figures.period * u64::from(run) / u64::from(self.runs));
            let after = crash_leader(&mut world, &observer, times.rage);
            failover = Some(after.as_ref().map_or(Failover::NEVER, |after| after.failovers[0]));
            trouble = after.unwrap_or_else(|| observer.take(times.rage));
        }
        if self.rages() {
            if self.faults.contains(&FaultClass::Recover) {
                world.befall(&Fault::Recover(scenario.ids().collect()));
            }
            world.run_until(times.end);
            trouble.join(observer.take(times.end));
        }
        One { traffic, failover, trouble }
    }

    /// The faults that happen in every run sooner or later, as a scenario whose assumptions can be judged.
    fn sample(&self, protocol: Protocol, nodes: u32) -> Scenario {
        let (figures, times) = (self.figures_of(nodes), self.times());
        // Where nothing follows the crash, nothing ever would.
        let length = times.end.since(Time::ZERO) * if self.rages() { 1 } else { 10 };
        let mut scenario = figures.scenario(protocol, self.seed, length);
        let last = scenario.until - Span::micros(1);
        if self.crashes() {
            scenario.events.push(Planned { at: times.crash, fault: Fault::Crash(vec![NodeId(1)]) });
        }
        if self.faults.contains(&FaultClass::Recover) {
            scenario.events.push(Planned { at: times.rage, fault: Fault::Recover(vec![NodeId(1)]) });
            scenario.events.push(Planned { at: last, fault: Fault::Crash(vec![NodeId(1)]) });
        }
        scenario.events.extend(faults::samples(&self.faults, &figures, (times.rage, last)));
        scenario
    }

    fn figures_of(&self, nodes: u32) -> Figures {
        Figures { nodes, ..self.figures }
    }
}

/// The result of one run.
struct One {
    traffic: Outcome,
    failover: Option<Failover>,
    trouble: Outcome,
}
