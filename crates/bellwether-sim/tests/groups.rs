//! Groups in the world: their history, who computes what they do, and operations that are for one of them alone.

mod fault_manager;
pub(crate) mod gather;
mod plans;
mod restricted;

use std::cell::RefCell;
use std::rc::Rc;

use bellwether_proto::election::Protocol;
use bellwether_proto::group::lineage::{Concurrent, ROOT};
use bellwether_proto::ident::NodeId;
use bellwether_proto::promise::Property;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::TraceEvent;
use bellwether_sim::check::{Finding, Judge};
use bellwether_sim::journal::Journal;
use bellwether_sim::lineage::Lineage;
use bellwether_sim::run::facts;
use bellwether_sim::scenario::{Fault, Planned, Scenario};
use bellwether_sim::world::World;

use gather::Gather;

/// The algorithm whose assumptions about the world are used; its messages are not.
const STAND_IN: Protocol = Protocol::Lfa;

fn at(millis: u64) -> Time {
    Time::ZERO + Span::millis(millis)
}

/// So many nodes, without faults, with periods of 20 ms.
fn calm(nodes: u32, until: Time) -> Scenario {
    let mut scenario = Scenario::calm(STAND_IN, nodes, until);
    scenario.timing.tau = Span::millis(20);
    scenario
}

/// Plays it, and gives what was judged and what happened.
fn play<'a>(
    scenario: &Scenario,
    properties: &[Property],
    prepare: impl FnOnce(&mut World<'a, Gather>),
) -> (Vec<Finding>, Vec<TraceEvent>) {
    let events = Rc::new(RefCell::new(Vec::new()));
    let (judge, heard) = (Judge::new(facts(scenario), properties), Rc::clone(&events));
    let journal = Journal::new(judge, Some(Box::new(move |event| heard.borrow_mut().push(*event))));
    let mut world: World<'a, Gather> = World::new(scenario, journal);
    prepare(&mut world);
    world.run_until(scenario.until);
    (world.into_journal().verdicts(scenario.until), events.take())
}

fn holds(findings: &[Finding]) {
    for finding in findings {
        assert_eq!(finding.violation, None, "{}", finding.property);
    }
}

#[test]
fn groups_know_where_they_come_from_through_partitions_and_crashes() {
    let ids = |ids: &[u32]| ids.iter().copied().map(NodeId).collect::<Vec<_>>();
    let mut scenario = calm(5, at(1_600));
    scenario.events = [
        (300, Fault::Partition(vec![ids(&[1, 2]), ids(&[3, 4, 5])])),
        (500, Fault::Crash(ids(&[4]))),
        (700, Fault::Recover(ids(&[4]))),
        (1_000, Fault::Heal),
    ]
    .map(|(millis, fault)| Planned { at: at(millis), fault })
    .to_vec();
    let journal = Journal::new(Judge::new(facts(&scenario), &[Property::History]), None);
    let mut world: World<'_, Gather> = World::new(&scenario, journal);
    world.run_until(at(950));
    let group = |world: &World<'_, Gather>, id| world.node(NodeId(id)).and_then(|node| node.opinion().group);
    let (one, other) = (group(&world, 1).expect("a group"), group(&world, 3).expect("another"));
    assert_ne!(one, other);
    world.run_until(scenario.until);
    let node = world.node(NodeId(5)).expect("it is up");
    let lineage = node.lineage().expect("groups are formed");
    let now = node.opinion().group.expect("it is in one");
    let ancestors = lineage.ancestors(now);
    assert!(ancestors.complete, "no more than 64 groups so far");
    assert!(ancestors.groups.contains(&one) && ancestors.groups.contains(&other), "{ancestors:?}");
    assert_eq!(lineage.concurrent(one, other), Concurrent::Yes, "the network was split");
    assert_eq!(lineage.concurrent(one, now), Concurrent::No);
    assert_eq!(lineage.records()[0].parents, [ROOT]);
    let findings = world.into_journal().verdicts(scenario.until);
    assert_eq!(findings.len(), 1);
    holds(&findings);
}

#[test]
fn what_a_node_tells_of_its_groups_is_what_the_trace_tells() {
    let scenario = calm(4, at(2_000));
    let (findings, events) = play(&scenario, &[Property::History], |_| {});
    holds(&findings);
    let lineage = Lineage::of(&events);
    assert!(lineage.groups().len() > 8, "{}", lineage.groups().len());
    assert_eq!(lineage.cycle(), None);
    let merged = lineage.groups().values().filter(|vertex| vertex.members.len() == 4);
    assert!(merged.clone().count() > 2);
    assert!(merged.clone().any(|vertex| vertex.parents.len() > 1), "and some came from several");
}
