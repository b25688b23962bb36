//! From a scenario to its report.

use bellwether_proto::election::{AnyElection, AnyMsg};
use bellwether_proto::ident::NodeId;
use bellwether_proto::leadership::LeadershipConfig;
use bellwether_proto::message::Frame;
use bellwether_proto::promise::Property;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::TraceEvent;
use bellwether_proto::wire::{self, Channel};

use crate::check::{Facts, Judge, Leading, Origin, Preference};
use crate::environment::{judged, largest_drift, promises};
use crate::journal::{Journal, Listener};
use crate::report::{FinalNode, Played, Report};
use crate::scenario::{Fault, Scenario, asked_for};
use crate::world::World;

/// Plays a scenario to its end.
pub fn run(scenario: &Scenario) -> Report {
    finish(scenario, world(scenario, None))
}

/// As [`run`], telling `listener` everything that happens.
pub fn run_with<'a>(scenario: &Scenario, listener: Listener<'a>) -> Report {
    finish(scenario, world(scenario, Some(listener)))
}

/// As [`run_with`], for as long as `goes_on` says so after each step. Otherwise it says when the run was given up.
pub fn run_while<'a>(
    scenario: &Scenario,
    listener: Listener<'a>,
    mut goes_on: impl FnMut() -> bool,
) -> Result<Report, Time> {
    let mut world = world(scenario, Some(listener));
    while world.next_at().is_some_and(|at| at <= scenario.until) {
        world.step();
        if !goes_on() {
            return Err(world.now());
        }
    }
    Ok(finish(scenario, world))
}

/// Everything that happens in a scenario.
pub fn trace(scenario: &Scenario) -> Vec<TraceEvent> {
    let mut events = Vec::new();
    drop(run_with(scenario, Box::new(|event| events.push(*event))));
    events
}

/// As [`run`], every frame encoded and decoded on its way. The report must be the same.
pub fn run_through_the_wire(scenario: &Scenario) -> Report {
    let mut world = world(scenario, None);
    world.set_relay(through_the_wire);
    finish(scenario, world)
}

/// The world of a scenario, with the judges that apply to it.
pub fn world<'a>(scenario: &Scenario, listener: Option<Listener<'a>>) -> World<'a, AnyElection> {
    World::new(scenario, Journal::new(Judge::new(facts(scenario), &judged(scenario)), listener))
}

/// The world of a scenario, without judges: only its cost matters.
pub fn world_unjudged<'a>(scenario: &Scenario, listener: Option<Listener<'a>>) -> World<'a, AnyElection> {
    World::new(scenario, Journal::new(Judge::new(facts(scenario), &[]), listener))
}

/// At most so many writes one after the other are waited for before a leader is announced: one that is under way, one of the
/// incarnation, one of the group and one of the epoch.
const WRITES: u64 = 4;

/// What the checkers need to know about a scenario.
pub fn facts(scenario: &Scenario) -> Facts {
    let detector = scenario.detector_config();
    Facts {
        nodes: scenario.nodes as usize,
        priority: scenario.protocol.spec().priority,
        timing: scenario.timing,
        detector_latency: detector.latency(scenario.nodes as usize),
        write: scenario.longest_write(),
        reporters: match detector.kind {
            bellwether_proto::detector::DetectorKind::Cooperative => detector.reporters,
            _ => 1,
        },
        drift_ppm: largest_drift(scenario),
        origin: Origin::Simulated,
        leading: Leading {
            settle: LeadershipConfig::settle(scenario.protocol.spec(), &scenario.timing)
                + scenario.longest_write() * WRITES,
            release_timeout: scenario.policy.release_timeout,
            successor_patience: scenario.successor_patience(),
            lease: scenario.exclusive.as_ref().map_or(Span::ZERO, |terms| terms.drift.longer(terms.ttl)),
            // Whoever waits for peers before a first election is not asked for a leader before they are there.
            quorum: scenario
                .protocol
                .spec()
                .mode
                .needs(scenario.nodes as usize)
                .max(scenario.policy.min_peers as usize + 1),
        },
        voters: voters(scenario),
        witnesses: scenario.exclusive.iter().flat_map(|terms| terms.witnesses.iter().copied()).collect(),
        preference: Preference {
            priority: scenario.policy.priority.clone(),
            preempt: scenario.policy.preempt.clone(),
        },
    }
}

/// The longest time that whatever the algorithm promises may take after the last fault.
pub fn slowest_bound(scenario: &Scenario) -> Span {
    let spec = scenario.protocol.spec();
    let agents = if scenario.agent {
        promises(scenario.protocol, scenario.variant, scenario.runs())
    } else {
        Vec::new()
    };
    let promised = spec.repaired.iter().chain(spec.printed).chain(&agents).map(|promise| promise.property);
    facts(scenario).slowest_bound(promised)
}

/// When a property that is judged in the scenario is broken first, if it is.
pub fn violated_at(scenario: &Scenario, property: Property) -> Option<Time> {
    let mut world =
        World::<AnyElection>::new(scenario, Journal::new(Judge::new(facts(scenario), &[property]), None));
    world.run_until(scenario.until);
    let findings = world.into_journal().verdicts(scenario.until);
    findings.into_iter().find_map(|finding| finding.violation).map(|violation| violation.at)
}

fn finish(scenario: &Scenario, mut world: World<'_, AnyElection>) -> Report {
    world.run_until(scenario.until);
    let opinions: Vec<_> = world.opinions().collect();
    let journal = world.into_journal();
    let last =
        opinions.iter().map(|(id, opinion)| FinalNode::new(*id, opinion, journal.announced(*id))).collect();
    let played = Played {
        last,
        accounts: journal.accounts().clone(),
        leader_changes: journal.leader_changes(),
        operations: journal.operations().account(asked_for(&scenario.events)),
        hash: journal.hash(),
        findings: journal.verdicts(scenario.until),
    };
    Report::new(scenario, played)
}

fn through_the_wire(frame: Frame<AnyMsg>) -> Frame<AnyMsg> {
    let channel = Channel::of_cluster("simulated");
    wire::decode(channel, &wire::encode(channel, &frame)).expect("what we encode, we can decode")
}

/// Who votes, if that is the same all the time: what depends on a majority is not judged while nobody outside knows of whom.
fn voters(scenario: &Scenario) -> Vec<NodeId> {
    let changes = scenario
        .events
        .iter()
        .any(|planned| matches!(planned.fault, Fault::AddVoter(_) | Fault::RemoveVoter(_)));
    let terms = scenario.exclusive.iter().filter(|_| !changes);
    terms.flat_map(|terms| terms.voters.iter().copied()).collect()
}
