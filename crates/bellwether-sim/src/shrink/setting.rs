//! A plainer world: the defaults of everything that is not to blame.

use bellwether_proto::detector::DetectorKind;
use bellwether_proto::time::Span;

use super::trials::Trials;
use crate::scenario::{Disk, Fault, Latency, LinkRule, Parameters, Policy, Scenario, defaults};

/// Seeds that are tried in place of an awkward one, where something is left to chance.
const SEEDS: u64 = 32;

/// Takes back what differs from the defaults, all of it or one thing at a time.
pub(super) fn plainer(best: &mut Scenario, trials: &mut Trials<'_>) {
    let changes: [fn(&mut Scenario); 27] = [
        everything,
        |s| s.network.links.clear(),
        |s| s.network.model = None,
        |s| s.network.base.loss = 0.0,
        |s| s.network.base.duplicate = 0.0,
        |s| s.network.base.fifo = true,
        latency,
        |s| to_constant(s, |latency| latency.high),
        |s| to_constant(s, |latency| latency.low),
        timing,
        |s| s.timing.delta = defaults::delta(&s.network),
        |s| s.timing.tau = defaults::TAU,
        |s| s.timing.step = s.timing.delta,
        detector,
        |s| s.detector.period = s.timing.tau,
        |s| s.detector.kind = DetectorKind::Heartbeat,
        |s| s.detector.reporters = defaults::reporters(s.nodes),
        |s| s.parameters = Parameters::default(),
        |s| s.drift_ppm.clear(),
        |s| s.disk = Disk::default(),
        |s| s.disk.slow.clear(),
        |s| s.policy = Policy::default(),
        |s| s.policy.priority.clear(),
        |s| s.policy.preempt.clear(),
        |s| s.policy.release_timeout = Policy::default().release_timeout,
        |s| s.policy.resign_hold = Policy::default().resign_hold,
        |s| s.policy.min_peers = Policy::default().min_peers,
    ];
    let candidates = |best: &Scenario| {
        let changed = changes.iter().map(|change| {
            let mut candidate = best.clone();
            change(&mut candidate);
            candidate
        });
        let unlinked = (0..best.network.links.len()).map(|at| {
            let mut candidate = best.clone();
            candidate.network.links.remove(at);
            candidate
        });
        let unranked = best.policy.priority.keys().map(|id| {
            let mut candidate = best.clone();
            candidate.policy.priority.remove(id);
            candidate
        });
        let patient = best.policy.preempt.keys().map(|id| {
            let mut candidate = best.clone();
            candidate.policy.preempt.remove(id);
            candidate
        });
        let seeded = (1..=SEEDS).map(|seed| Scenario { seed, ..best.clone() });
        changed.chain(unlinked).chain(unranked).chain(patient).chain(seeded).collect::<Vec<_>>()
    };
    while let Some(smaller) = trials.smaller(best, candidates(best)) {
        *best = smaller;
    }
}

fn everything(scenario: &mut Scenario) {
    scenario.network.base = LinkRule::default();
    scenario.network.links.clear();
    scenario.drift_ppm.clear();
    scenario.disk = Disk::default();
    scenario.policy = Policy::default();
    scenario.seed = defaults::SEED;
    timing(scenario);
    detector(scenario);
}

fn latency(scenario: &mut Scenario) {
    scenario.network.base.latency = LinkRule::default().latency;
    for planned in &mut scenario.events {
        if let Fault::Network { latency: Some(latency), .. } = &mut planned.fault {
            *latency = LinkRule::default().latency;
        }
    }
}

/// Every delay as one end of its range has it.
fn to_constant(scenario: &mut Scenario, end: impl Fn(Latency) -> Span) {
    let network = &mut scenario.network;
    let of_network = network.links.iter_mut().map(|(_, _, rule)| &mut rule.latency);
    let of_events = scenario.events.iter_mut().filter_map(|planned| match &mut planned.fault {
        Fault::Network { latency: Some(latency), .. } | Fault::Slow { latency, .. } => Some(latency),
        _ => None,
    });
    for latency in of_network.chain(of_events).chain([&mut network.base.latency]) {
        *latency = Latency::constant(end(*latency));
    }
}

fn timing(scenario: &mut Scenario) {
    scenario.timing.delta = defaults::delta(&scenario.network);
    scenario.timing.step = scenario.timing.delta;
    scenario.timing.tau = defaults::TAU;
    scenario.detector.period = scenario.timing.tau;
}

fn detector(scenario: &mut Scenario) {
    scenario.detector.kind = defaults::detector(scenario.protocol, scenario.agent);
    scenario.detector.period = scenario.timing.tau;
    scenario.detector.reporters = defaults::reporters(scenario.nodes);
}
