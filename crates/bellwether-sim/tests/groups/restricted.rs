//! Restricted operations: who performs them, and crashes at every step of a commit.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use bellwether_proto::election::{AnyElection, Election, Protocol};
use bellwether_proto::group::{GroupEvent, OpId};
use bellwether_proto::ident::{GroupId, NodeId};
use bellwether_proto::io::Event;
use bellwether_proto::promise::Property;
use bellwether_proto::time::Span;
use bellwether_proto::trace::{TraceEvent, What};
use bellwether_sim::check::{Finding, Judge};
use bellwether_sim::journal::Journal;
use bellwether_sim::plan;
use bellwether_sim::plan::restricted::Troubles;
use bellwether_sim::run::facts;
use bellwether_sim::scenario::{Fault, Planned};
use bellwether_sim::world::World;

use super::gather::Gather;
use super::{STAND_IN, at, calm, holds, play};

const BOTH: [Property; 2] = [Property::History, Property::RestrictedOnce];

/// By operation: the groups in which it was committed, and who knows.
fn commits(events: &[TraceEvent]) -> BTreeMap<OpId, (BTreeSet<GroupId>, BTreeSet<NodeId>)> {
    let mut commits: BTreeMap<OpId, (BTreeSet<GroupId>, BTreeSet<NodeId>)> = BTreeMap::new();
    for event in events {
        if let What::Node(Event::Group(GroupEvent::Committed { op, ballot })) = event.what {
            let (groups, nodes) = commits.entry(op).or_default();
            groups.insert(ballot.group);
            nodes.insert(event.node);
        }
    }
    commits
}

/// Everybody is asked for the operation then.
fn perform(nodes: u32, millis: u64, op: u64) -> impl Iterator<Item = Planned> {
    let all = (1..=nodes).map(move |node| Fault::Perform { node: NodeId(node), op: OpId(op) });
    all.map(move |fault| Planned { at: at(millis), fault })
}

#[test]
fn an_operation_is_committed_once_and_all_members_know() {
    let mut scenario = calm(3, at(1_000));
    scenario.events = perform(3, 300, 7).chain(perform(3, 600, 7)).collect();
    let (findings, events) = play(&scenario, &BOTH, |_| {});
    assert_eq!(findings.len(), 2);
    holds(&findings);
    let (groups, nodes) = &commits(&events)[&OpId(7)];
    assert_eq!((groups.len(), nodes.len()), (1, 3));
}

#[test]
fn a_minority_performs_nothing_and_a_majority_does() {
    let mut scenario = calm(5, at(1_500));
    let block = vec![NodeId(1), NodeId(2)];
    scenario.events = vec![Planned { at: at(200), fault: Fault::Partition(vec![block.clone()]) }];
    scenario.events.extend((6..14).flat_map(|n| perform(5, n * 100, n)));
    let (findings, events) = play(&scenario, &BOTH, |_| {});
    holds(&findings);
    let knows: BTreeSet<NodeId> = commits(&events).into_values().flat_map(|(_, nodes)| nodes).collect();
    assert!(!knows.is_empty() && block.iter().all(|id| !knows.contains(id)), "{knows:?}");
}

/// Three nodes, one operation that everybody is asked for three times, and one node that crashes after its `effects`-th write or
/// message since shortly before, and comes back.
fn crashed_at(victim: u32, effects: u64) -> (Vec<Finding>, Vec<TraceEvent>, bool) {
    let mut scenario = calm(3, at(3_000));
    scenario.events = [299, 700, 1_100].into_iter().flat_map(|millis| perform(3, millis, 7)).collect();
    let recovers = |millis| Planned { at: at(millis), fault: Fault::Recover(vec![NodeId(victim)]) };
    scenario.events.extend([500, 900, 1_500, 2_000].map(recovers));
    let mut events = Vec::new();
    let journal =
        Journal::new(Judge::new(facts(&scenario), &BOTH), Some(Box::new(|event| events.push(*event))));
    let mut world: World<'_, Gather> = World::new(&scenario, journal);
    world.run_until(at(298));
    world.crash_after(NodeId(victim), effects);
    world.run_until(scenario.until);
    let settled = (1..=3).all(|id| world.node(NodeId(id)).is_some_and(|node| node.doubts().is_empty()));
    let findings = world.into_journal().verdicts(scenario.until);
    (findings, events, settled)
}

/// C11: "crashes at every step of the commit". Whoever crashes, after whatever it wrote or sent, the operation is committed in one
/// group, a majority knows, and nobody is left in doubt.
#[test]
fn a_crash_at_any_step_of_a_commit_leaves_one_outcome() {
    let mut steps = BTreeSet::new();
    for victim in 1..=3 {
        for effects in 0..24 {
            let (findings, events, settled) = crashed_at(victim, effects);
            assert_eq!(findings.len(), 2, "node {victim} after {effects}");
            holds(&findings);
            assert!(settled, "node {victim} after {effects}: somebody is in doubt for good");
            let (groups, nodes) = &commits(&events)[&OpId(7)];
            assert!(
                groups.len() == 1 && nodes.len() >= 2,
                "node {victim} after {effects}: {groups:?} {nodes:?}"
            );
            let crash = events.iter().position(|event| event.what == What::Crash);
            let before =
                events[..crash.unwrap_or(0)].iter().rev().filter(|event| event.node == NodeId(victim));
            steps.extend(before.filter_map(|event| step(&event.what)).next());
        }
    }
    for wanted in ["Prepare", "PrepareReply", "Decide", "persist", "committed"] {
        assert!(steps.contains(wanted), "nobody crashed after {wanted}: {steps:?}");
    }
}

/// What the outside can tell of it.
fn step(what: &What) -> Option<&'static str> {
    match what {
        What::Send(msg) => Some(msg.kind.name()),
        What::Persist(_) | What::Node(Event::Group(GroupEvent::Committed { .. })) => Some(what.name()),
        _ => None,
    }
}

/// Plans of the campaign of `make soak`, which has many more.
#[test]
fn many_plans_with_crashes_at_every_step_commit_nothing_twice() {
    many_plans::<AnyElection>(Protocol::Invitation, Troubles::Losses, 3_000);
}

#[test]
fn nor_do_they_where_votes_and_outcomes_come_late() {
    many_plans::<AnyElection>(Protocol::Invitation, Troubles::Delays, 1_200);
}

/// The same with groups that form at once, so that more is tried in each.
#[test]
fn nor_do_they_in_groups_that_form_at_once() {
    many_plans::<Gather>(STAND_IN, Troubles::Losses, 1_000);
}

fn many_plans<E: Election>(protocol: Protocol, troubles: Troubles, runs: u64) {
    let play = |seed| campaign::<E>(protocol, troubles, seed);
    let half = |first: u64| (first..=runs).step_by(2).map(play).collect();
    let tallies = thread::scope(|scope| {
        let halves = [1, 2].map(|first| scope.spawn(move || half(first)));
        let halves: [Vec<Tally>; 2] = halves.map(|half| half.join().expect("it passed"));
        halves.concat()
    });
    let committed = tallies.iter().map(|tally| tally.committed as u64).sum::<u64>();
    let doubted = tallies.iter().filter(|tally| tally.doubted).count() as u64;
    assert!(committed > runs, "{committed} operations were committed");
    assert!(doubted > runs / 10, "in {doubted} runs somebody was in doubt");
}

#[derive(Clone, Copy)]
struct Tally {
    committed: usize,
    doubted: bool,
}

fn campaign<E: Election>(protocol: Protocol, troubles: Troubles, seed: u64) -> Tally {
    let scenario = plan::restricted::draw(protocol, troubles, seed);
    let mut ops = BTreeSet::new();
    let listen = |event: &TraceEvent| {
        if let What::Node(Event::Group(GroupEvent::Committed { op, .. })) = event.what {
            ops.insert(op);
        }
    };
    let judge = Judge::new(facts(&scenario), &BOTH);
    let mut world: World<'_, E> = World::new(&scenario, Journal::new(judge, Some(Box::new(listen))));
    world.run_until(scenario.until);
    let in_doubt = |id| world.node(id).is_some_and(|node| !node.doubts().is_empty());
    assert!(!scenario.ids().any(in_doubt), "in doubt for good, seed {seed}\n{}", scenario.to_toml());
    let doubted = world.journal().accounts().of_kind("Inquire") > 0;
    for finding in world.into_journal().verdicts(scenario.until) {
        assert_eq!(finding.violation, None, "seed {seed}\n{}", scenario.to_toml());
    }
    Tally { committed: ops.len(), doubted }
}

#[test]
fn a_plan_is_a_function_of_its_seed() {
    for troubles in [Troubles::Losses, Troubles::Delays] {
        let one = plan::restricted::draw(STAND_IN, troubles, 7);
        assert_eq!(one, plan::restricted::draw(STAND_IN, troubles, 7));
        assert_ne!(one, plan::restricted::draw(STAND_IN, troubles, 8));
        assert!(one.until > at(0) + Span::secs(3));
    }
}

/// Each of the troubles that make things late comes up, and none where only losses are meant.
#[test]
fn only_plans_with_delays_have_pauses_slow_links_and_one_way_cuts() {
    let late = |fault: &Fault| {
        matches!(fault, Fault::Pause(_) | Fault::Slow { .. } | Fault::CutOneWay(_) | Fault::Resume(_))
    };
    let faults = |troubles| {
        let plans = (1..=50).map(move |seed| plan::restricted::draw(STAND_IN, troubles, seed));
        plans.flat_map(|plan| plan.events).map(|planned| planned.fault).filter(late).collect::<Vec<_>>()
    };
    assert_eq!(faults(Troubles::Losses), []);
    let found = faults(Troubles::Delays);
    assert!(found.iter().any(|fault| matches!(fault, Fault::Pause(_))));
    assert!(found.iter().any(|fault| matches!(fault, Fault::Slow { .. })));
    assert!(found.iter().any(|fault| matches!(fault, Fault::CutOneWay(_))));
}
