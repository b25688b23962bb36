//! What each pass does to a scenario that shows something for certain.

use std::sync::atomic::Ordering;

use bellwether_proto::detector::DetectorKind;
use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::ident::NodeId;
use bellwether_proto::promise::{Assumption, Property};
use bellwether_proto::time::{Span, Time};

use super::*;
use crate::scenario::{Bound, Fault, Latency, Planned, Relation};

/// Nobody stops it.
static NEVER: AtomicBool = AtomicBool::new(false);

#[test]
fn what_is_not_to_blame_goes() {
    let mut scenario = lost_halt(5, 3);
    scenario.network.base.latency = Latency { low: Span::millis(1), high: Span::millis(5) };
    scenario.timing.delta = Span::millis(20);
    scenario.detector.kind = DetectorKind::Ping;
    scenario.drift_ppm.insert(NodeId(4), 3);
    scenario.seed = 77;
    scenario.events.extend([
        planned(1_234_567, Fault::Crash(vec![NodeId(5), NodeId(4)])),
        planned(2_000_001, Fault::Recover(vec![NodeId(4)])),
        planned(2_500_000, Fault::Heal),
    ]);
    let shrunk = shrunk(&scenario, Property::Ale2Prime);
    assert_eq!(shrunk.scenario.events, lost_halt(2, 2).events);
    assert_eq!((shrunk.scenario.nodes, shrunk.scenario.seed), (2, 1));
    assert!(shrunk.scenario.drift_ppm.is_empty());
    assert_eq!(shrunk.scenario.detector.kind, DetectorKind::Heartbeat);
    assert_eq!(Size::of(&shrunk.scenario).settings, 0, "{}", shrunk.scenario.to_toml());
}

/// The messages that matter are named, and nothing is left to chance.
#[test]
fn losses_by_chance_become_losses_by_name() {
    let mut scenario = Scenario::calm(Protocol::AsyncBully, 4, Time::ZERO + Span::secs(20));
    scenario.variant = Variant::Printed;
    scenario.network.base.loss = 0.3;
    let calm = Fault::Network { latency: None, loss: Some(0.0), duplicate: None, fifo: None };
    scenario.events.push(planned(2_000_000, calm));
    let found = (1..=50).map(|seed| Scenario { seed, ..scenario.clone() });
    let found: Vec<_> =
        found.filter_map(|plan| shrink(&plan, Property::Ale2Prime, &effort(), &NEVER)).collect();
    assert!(found.len() >= 20, "a third of all messages lost is enough for most seeds: {}", found.len());
    for shrunk in found {
        assert!(shrunk.scenario.network.base.loss == 0.0, "{}", shrunk.scenario.to_toml());
        assert!(shrunk.scenario.events.len() <= 3, "{}", shrunk.scenario.to_toml());
    }
}

/// What is promised nowhere cannot be broken, however a run ends.
#[test]
fn what_is_not_promised_is_no_violation() {
    let mut scenario = lost_halt(2, 2);
    assert!(shrink(&scenario, Property::Ale2Prime, &effort(), &NEVER).is_some());
    scenario.network.base.fifo = false;
    scenario.expect.violates = vec![Property::Ale2Prime];
    assert!(
        run::run(&scenario)
            .properties
            .iter()
            .any(|judged| judged.property.name() == "ALE2'" && !judged.holds)
    );
    assert_eq!(shrink(&scenario, Property::Ale2Prime, &effort(), &NEVER), None);
    let waived = Goal { waived: vec![Assumption::Fifo], ..Goal::property(Property::Ale2Prime) };
    let shrunk = shrink_to(&scenario, &waived, &effort(), &NEVER).expect("it is broken");
    assert!(!shrunk.scenario.network.base.fifo, "what is waived stays broken, or it would be another flaw");
}

/// A run could be made too short for any promise of what comes to be in the end.
#[test]
fn what_holds_in_the_end_is_given_its_time() {
    let mut scenario = Scenario::calm(Protocol::Fjr, 3, Time::ZERO + Span::secs(60));
    scenario.variant = Variant::Printed;
    assert_eq!(shrink(&scenario, Property::Omega, &effort(), &NEVER), None);
    scenario.until = Time::ZERO + Span::secs(300);
    let slow =
        |to: u32| Fault::Slow { from: NodeId(1), to: NodeId(to), latency: Latency::constant(Span::secs(2)) };
    scenario.events = vec![
        planned(2_000_000, slow(2)),
        planned(2_000_000, slow(3)),
        planned(4_000_000, Fault::Heal),
        planned(10_000_000, Fault::Crash(vec![NodeId(1)])),
        planned(12_000_000, Fault::Recover(vec![NodeId(1)])),
    ];
    let waived = vec![Assumption::NoRecoveries];
    let goal = Goal { waived, contrast: true, ..Goal::property(Property::Omega) };
    let shrunk = shrink_to(&scenario, &goal, &effort(), &NEVER).expect("era06-restart-printed.toml");
    let last = shrunk.scenario.events.iter().map(|planned| planned.at).max().unwrap_or(Time::ZERO);
    assert!(shrunk.scenario.until.since(last) >= EVENTUALLY, "{}", shrunk.scenario.to_toml());
    assert!(shrunk.scenario.events.len() < 5, "{}", shrunk.scenario.to_toml());
}

/// A run that is shorter costs less: that is not what is looked for.
#[test]
fn what_costs_too_much_does_so_in_the_same_time() {
    let mut scenario = Scenario::calm(Protocol::AsyncBully, 4, Time::ZERO + Span::secs(10));
    scenario.variant = Variant::Printed;
    scenario.seed = 9;
    scenario.events.push(planned(1_500_000, Fault::Crash(vec![NodeId(4)])));
    let bound = Bound { relation: Relation::AtMost, value: 60 };
    let broken = Broken::Cost("Beat".to_owned(), bound);
    let goal = Goal { broken, contrast: true, ..Goal::property(Property::Ale1) };
    let shrunk = shrink_to(&scenario, &goal, &effort(), &NEVER).expect("E-ST10: the leader keeps watching");
    assert_eq!(shrunk.scenario.until, scenario.until);
    assert_eq!((shrunk.scenario.nodes, shrunk.scenario.events.len()), (2, 0));
    assert!(run::run(&shrunk.scenario).passed(&shrunk.scenario));
}

/// Whoever comes after a node that is left out moves up, wherever it is named.
#[test]
fn nodes_move_up() {
    let ids = |ids: &[u32]| ids.iter().copied().map(NodeId).collect::<Vec<_>>();
    let mut scenario = lost_halt(4, 3);
    let link = |from: u32, to: u32| (NodeId(from), NodeId(to), scenario.network.base);
    scenario.network.links = vec![link(1, 4), link(2, 3)];
    scenario.drift_ppm.extend([(NodeId(2), 5), (NodeId(4), 7)]);
    scenario.parameters.candidates = Some(ids(&[2, 3]));
    scenario.events.extend([
        planned(1, Fault::Crash(ids(&[2]))),
        planned(2, Fault::Recover(ids(&[2, 4]))),
        planned(3, Fault::Cut(vec![(NodeId(3), NodeId(4)), (NodeId(1), NodeId(2))])),
        planned(4, Fault::Partition(vec![ids(&[2]), ids(&[1, 3])])),
    ]);
    let fewer = nodes::without(&scenario, NodeId(2));
    assert_eq!(fewer.nodes, 3);
    assert_eq!(fewer.network.links, [(NodeId(1), NodeId(3), scenario.network.base)]);
    assert_eq!(fewer.drift_ppm.into_iter().collect::<Vec<_>>(), [(NodeId(3), 7)]);
    assert_eq!(fewer.parameters.candidates, Some(ids(&[2])));
    let expected = [
        lost_halt(3, 2).events.remove(0),
        planned(2, Fault::Recover(ids(&[3]))),
        planned(3, Fault::Cut(vec![(NodeId(2), NodeId(3))])),
        planned(4, Fault::Partition(vec![ids(&[1, 2])])),
    ];
    assert_eq!(fewer.events, expected);
}

#[test]
fn effort_is_an_end_too() {
    let mut scenario = lost_halt(5, 3);
    scenario.events.extend((1..20).map(|at| planned(at * 100_000, Fault::Heal)));
    let little = Effort { runs: 5, threads: 1 };
    let shrunk = shrink(&scenario, Property::Ale2Prime, &little, &NEVER).expect("it is broken");
    assert!(!shrunk.finished);
    assert!(shrunk.runs <= 5, "{}", shrunk.runs);
    assert!(shrunk.scenario.events.len() <= 20);
}

/// Whoever does not wait gets what there is by then, and it replays.
#[test]
fn who_stops_it_has_the_smallest_so_far() {
    let mut scenario = lost_halt(5, 3);
    scenario.events.extend((1..20).map(|at| planned(at * 100_000, Fault::Heal)));
    let at_once =
        shrink(&scenario, Property::Ale2Prime, &effort(), &AtomicBool::new(true)).expect("it is broken");
    assert_eq!((at_once.runs, at_once.finished), (1, false));
    assert_eq!(at_once.scenario.events.len(), scenario.events.len());
    assert!(run::run(&at_once.scenario).passed(&at_once.scenario));
    for threads in [1, 3] {
        let stop = AtomicBool::new(false);
        let goal = Goal::property(Property::Ale2Prime);
        let mut trials = Trials::new(goal, &scenario, Effort { threads, ..effort() }, &stop);
        let wanted = lost_halt(2, 2);
        // It is set as soon as the second candidate is asked for: that one, and those behind it, are not played.
        let candidates = (0..100).map(|place| {
            stop.store(place > 0, Ordering::Relaxed);
            Scenario { seed: place, ..wanted.clone() }
        });
        assert_eq!(trials.first(candidates), None);
        assert!(trials.is_over());
    }
}

#[test]
fn comments_fit_the_line() {
    let lines = wrapped("one two three four", 9);
    assert_eq!(lines, ["one two", "three", "four"]);
}

/// E-ST6a: one Halt from 1 is lost.
fn lost_halt(nodes: u32, to: u32) -> Scenario {
    let mut scenario = Scenario::calm(Protocol::AsyncBully, nodes, Time::ZERO + Span::secs(20));
    scenario.variant = Variant::Printed;
    let drop = Fault::DropNext { from: NodeId(1), to: NodeId(to), kind: "Halt".to_owned() };
    scenario.events.push(planned(0, drop));
    scenario
}

fn planned(at: u64, fault: Fault) -> Planned {
    Planned { at: Time::from_micros(at), fault }
}

fn shrunk(scenario: &Scenario, property: Property) -> Shrunk {
    shrink(scenario, property, &effort(), &NEVER).expect("it breaks the property")
}

fn effort() -> Effort {
    Effort { threads: 2, ..Effort::default() }
}
