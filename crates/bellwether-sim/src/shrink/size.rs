//! Which of two scenarios is smaller, for a reader.

use bellwether_proto::time::{Span, Time};

use crate::scenario::{Fault, Latency, LinkRule, Policy, Scenario, defaults};

/// So many events are better than one thing that is left to chance.
const CHANCE: u64 = 8;

/// The size of a scenario. The first field matters most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size {
    /// Events, and settings that leave something to chance.
    pub faults: u64,
    /// Nodes.
    pub nodes: u64,
    /// How much the events name.
    pub named: u64,
    /// Settings that differ from the defaults.
    pub settings: u64,
    /// Decimals, in seconds, of all times.
    pub decimals: u64,
    /// When the run ends, in microseconds.
    pub until: u64,
    /// All times of events, in microseconds.
    pub times: u64,
    /// The seed.
    pub seed: u64,
}

impl Size {
    /// Of a scenario.
    pub fn of(scenario: &Scenario) -> Self {
        let events = || scenario.events.iter();
        let chances = chances(scenario);
        Self {
            faults: events().count() as u64 + CHANCE * chances,
            nodes: u64::from(scenario.nodes),
            named: events().map(|planned| named(&planned.fault)).sum(),
            settings: settings(scenario),
            decimals: times(scenario).map(decimals).sum(),
            until: scenario.until.as_micros(),
            times: events().map(|planned| planned.at.as_micros()).sum(),
            seed: scenario.seed,
        }
    }
}

/// How many things the seed decides.
fn chances(scenario: &Scenario) -> u64 {
    let of_rule =
        |rule: &LinkRule| of_latency(&rule.latency) + of_chance(rule.loss) + of_chance(rule.duplicate);
    let network = &scenario.network;
    let of_events = scenario.events.iter().map(|planned| match &planned.fault {
        Fault::Slow { latency, .. } => of_latency(latency),
        Fault::Network { latency, loss, duplicate, .. } => {
            latency.as_ref().map_or(0, of_latency)
                + loss.map_or(0, of_chance)
                + duplicate.map_or(0, of_chance)
        }
        _ => 0,
    });
    of_rule(&network.base)
        + network.links.iter().map(|(_, _, rule)| of_rule(rule)).sum::<u64>()
        + u64::from(network.model.is_some())
        + of_events.sum::<u64>()
}

fn of_latency(latency: &Latency) -> u64 {
    u64::from(latency.low != latency.high)
}

fn of_chance(probability: f64) -> u64 {
    u64::from(probability > 0.0 && probability < 1.0)
}

/// How much an event asks its reader to take in.
fn named(fault: &Fault) -> u64 {
    match fault {
        Fault::Crash(nodes) | Fault::Recover(nodes) | Fault::Pause(nodes) | Fault::Resume(nodes) => {
            nodes.len() as u64
        }
        Fault::Resign(nodes) | Fault::Stand(nodes) | Fault::Leave(nodes) => nodes.len() as u64,
        Fault::Cut(pairs) | Fault::Unlink(pairs) | Fault::Refuse(pairs) | Fault::Accept(pairs) => {
            2 * pairs.len() as u64
        }
        Fault::CutOneWay(pairs) | Fault::Mend(pairs) => pairs.len() as u64,
        Fault::Heal | Fault::DropNext { .. } | Fault::AddVoter(_) | Fault::RemoveVoter(_) => 1,
        Fault::Partition(blocks) => 3 + blocks.iter().map(|block| 1 + block.len() as u64).sum::<u64>(),
        Fault::Slow { .. } | Fault::CrashBeforeSend { .. } | Fault::Perform { .. } => 2,
        Fault::Message { nth, .. } => 2 + u64::from(*nth > 1),
        Fault::ResignFor { .. } | Fault::Transfer { .. } => 2,
        Fault::Work { .. } | Fault::Stall { .. } => 2,
        Fault::Network { latency, loss, duplicate, fifo } => {
            let fields = [latency.is_some(), loss.is_some(), duplicate.is_some(), fifo.is_some()];
            fields.into_iter().map(u64::from).sum()
        }
    }
}

fn settings(scenario: &Scenario) -> u64 {
    let rule = |rule: &LinkRule, base: &LinkRule| {
        let differs = [
            rule.latency != base.latency,
            rule.loss != base.loss,
            rule.duplicate != base.duplicate,
            rule.fifo != base.fifo,
        ];
        differs.into_iter().map(u64::from).sum::<u64>()
    };
    let (network, timing, detector) = (&scenario.network, &scenario.timing, &scenario.detector);
    let policy = &scenario.policy;
    let links = network.links.iter().map(|(_, _, own)| 2 + rule(own, &network.base)).sum::<u64>();
    let differs = [
        timing.delta != defaults::delta(network),
        timing.tau != defaults::TAU,
        timing.step != timing.delta,
        detector.kind != defaults::detector(scenario.protocol, scenario.agent),
        detector.period != timing.tau,
        detector.reporters != defaults::reporters(scenario.nodes),
        scenario.parameters.t.is_some(),
        scenario.parameters.candidates.is_some(),
        scenario.agent,
        policy.release_timeout != Policy::default().release_timeout,
        policy.resign_hold != Policy::default().resign_hold,
        policy.min_peers != Policy::default().min_peers,
        scenario.seed != defaults::SEED,
    ];
    rule(&network.base, &LinkRule::default())
        + links
        + if network.model.is_some() { 3 } else { 0 }
        + scenario.drift_ppm.len() as u64
        + scenario.disk.slow.len() as u64
        + u64::from(scenario.disk.latency > Span::ZERO)
        + (policy.priority.len() + policy.preempt.len()) as u64
        + differs.into_iter().map(u64::from).sum::<u64>()
}

/// Every time that the file states.
fn times(scenario: &Scenario) -> impl Iterator<Item = Span> {
    let both = |latency: Latency| [latency.low, latency.high];
    let latencies = scenario.events.iter().filter_map(|planned| match planned.fault {
        Fault::Slow { latency, .. } | Fault::Network { latency: Some(latency), .. } => Some(latency),
        _ => None,
    });
    let links = scenario.network.links.iter().map(|(_, _, rule)| rule.latency);
    let taken = scenario.events.iter().filter_map(|planned| match planned.fault {
        Fault::Work { ends_after: time, .. } | Fault::ResignFor { hold: time, .. } => time,
        Fault::Stall { lasts, .. } => Some(lasts),
        _ => None,
    });
    let (timing, policy) = (scenario.timing, &scenario.policy);
    scenario
        .events
        .iter()
        .map(|planned| planned.at.since(Time::ZERO))
        .chain(taken)
        .chain(scenario.disk.slow.values().copied())
        .chain([scenario.disk.latency])
        .chain(policy.preempt.values().copied())
        .chain([policy.release_timeout, policy.resign_hold])
        .chain(latencies.flat_map(both))
        .chain(links.flat_map(both))
        .chain(both(scenario.network.base.latency))
        .chain([scenario.until.since(Time::ZERO), timing.delta, timing.tau, scenario.detector.period])
}

/// How many digits it has behind the point, written in seconds.
fn decimals(span: Span) -> u64 {
    let mut unit = 1_000_000;
    let mut decimals = 0;
    while !span.as_micros().is_multiple_of(unit) {
        unit /= 10;
        decimals += 1;
    }
    decimals
}
