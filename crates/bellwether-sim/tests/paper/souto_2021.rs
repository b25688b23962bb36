//! P. F. Souto, *Elections*, slides of 2021: claims C37 to C39 and C41, of the Bully algorithm with messages.
//!
//! The ledger is `docs/papers/souto-2021.md`. Claims about one node's rules are tested beside the code, in
//! `bellwether-proto`; the ledger names those tests too.

use bellwether_proto::detector::DetectorKind;
use bellwether_proto::election::Protocol;
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::opinion::Status;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{MsgRef, TraceEvent, What};
use bellwether_sim::run::{self, slowest_bound};
use bellwether_sim::scenario::{Fault, Latency, Planned, Scenario};

use super::overtaking;

const PLANS: u64 = 300;
/// T
const T: Span = Span::millis(10);

/// Assertions 1 and 2, as repaired, and even if messages overtake each other.
#[test]
fn c37_the_assertions_hold_even_if_messages_overtake_each_other() {
    overtaking::keeps_a1(Protocol::SoutoBully, PLANS);
}

/// "Node i begins phase 2, if it does not receive any response to its probe within 2T […] T time units later, node i sends a
/// NEW-LEADER message."
#[test]
fn c37_two_t_of_silence_and_t_of_halting() {
    let trace = noticed_by_the_strongest_alone(5);
    let when = |kind: &str| {
        let sent =
            trace.iter().find(|event| matches!(event.what, What::Send(msg) if msg.kind.name() == kind));
        sent.unwrap_or_else(|| panic!("{kind} was sent")).at
    };
    assert_eq!(when("HALT").since(when("ARE-U-THERE")), T * 2);
    assert_eq!(when("NEW-LEADER").since(when("HALT")), T);
}

/// "Strongest node starts upon failure detection": one ARE-U-THERE to the dead leader, n - 2 HALT and n - 2 NEW-LEADER.
#[test]
fn c37_c41_the_strongest_alone_costs_two_n_less_three() {
    for nodes in 3..=8 {
        let trace = noticed_by_the_strongest_alone(nodes);
        assert_eq!(sends(&trace).count(), 2 * nodes as usize - 3, "{nodes} nodes");
    }
}

/// All that are left notice at once: each asks all stronger, n(n - 1)/2; all but the dead one answer, (n - 1)(n - 2)/2; and
/// 2(n - 2) more.
#[test]
fn c37_c41_all_at_once_cost_a_quadratic_number() {
    for nodes in 3..=8 {
        let mut scenario = calm(nodes);
        scenario.detector.kind = DetectorKind::Perfect;
        scenario.events.push(at(1_000, Fault::Crash(vec![NodeId(1)])));
        let (trace, n) = (after(&scenario, 1_000), nodes as usize);
        let by_kind = |kind: &str| sends(&trace).filter(|msg| msg.kind.name() == kind).count();
        assert_eq!(by_kind("ARE-U-THERE"), n * (n - 1) / 2, "{nodes} nodes");
        assert_eq!(by_kind("YES"), (n - 1) * (n - 2) / 2, "{nodes} nodes");
        assert_eq!((by_kind("HALT"), by_kind("NEW-LEADER")), (n - 2, n - 2), "{nodes} nodes");
    }
}

/// "Other processes: it does not matter": no message of the algorithm is sent when a follower dies (E-SO3).
#[test]
fn c37_the_death_of_a_follower_is_nobodys_business() {
    let mut scenario = calm(4);
    scenario.events.push(at(1_000, Fault::Crash(vec![NodeId(3)])));
    assert_eq!(sends(&after(&scenario, 1_000)).count(), 0);
}

/// S9 (c) to (f): whenever a node starts, alone, beside another, in the middle of another's election or just after it, and
/// whenever one that was down comes back: all end normal under the strongest, and A1 holds throughout. Each of the situations
/// that the slides ask about occurs.
#[test]
fn c41_concurrent_elections_end_under_the_strongest() {
    let (mut inside, mut recovered, mut in_flight) = (0, 0, 0);
    for offset in 0..80 {
        for slow in [false, true] {
            let mut scenario = calm(5);
            let high = if slow { T } else { Span::millis(3) };
            scenario.network.base.latency = Latency { low: Span::millis(1), high };
            scenario.seed = offset + 1;
            scenario.events.push(at(500, Fault::Crash(vec![NodeId(5)])));
            scenario.events.push(at(1_000, Fault::Crash(vec![NodeId(1)])));
            scenario.events.push(at(1_000 + 2 * offset, Fault::Recover(vec![NodeId(5)])));
            let report = run::run(&scenario);
            let held =
                |name| report.properties.iter().any(|judged| judged.property.name() == name && judged.holds);
            assert!(held("A1") && held("A2"), "{offset} {slow}: {:?}", report.properties);
            let up = report.last.iter().filter(|node| node.up);
            assert!(up.clone().all(|node| node.leader == Some(2)), "{offset} {slow}: {:?}", report.last);
            let told = situations(&after(&scenario, 1_000));
            inside += told.challenged_inside;
            recovered += told.recovered_inside;
            in_flight += told.challenge_in_flight;
        }
    }
    assert!(inside > 0 && recovered > 0 && in_flight > 0, "{inside} {recovered} {in_flight}");
}

#[derive(Default)]
struct Told {
    /// (d) ARE-U-THERE reached 2 between its HALT and its NEW-LEADER.
    challenged_inside: u32,
    /// (e) 5 came back between them.
    recovered_inside: u32,
    /// (f) ARE-U-THERE was on its way to 2 when it sent NEW-LEADER.
    challenge_in_flight: u32,
}

fn situations(trace: &[TraceEvent]) -> Told {
    let mut told = Told::default();
    let (mut halting, mut led_at) = (false, None);
    for event in trace {
        match event.what {
            What::Send(msg) if msg.from == NodeId(2) => match msg.kind.name() {
                "HALT" if led_at.is_none() => halting = true,
                "NEW-LEADER" => (halting, led_at) = (false, led_at.or(Some(event.at))),
                _ => {}
            },
            What::Recover if halting => told.recovered_inside += 1,
            What::Recv(msg, sent) if msg.to == NodeId(2) && msg.kind.name() == "ARE-U-THERE" => {
                told.challenged_inside += u32::from(halting);
                told.challenge_in_flight +=
                    u32::from(led_at.is_some_and(|led| sent < led && event.at >= led));
            }
            _ => {}
        }
    }
    told
}

/// S9 (a) and (b): who leads in the end does not depend on who finds out.
#[test]
fn c41_whoever_detects_the_strongest_finishes() {
    for first in 2..=5 {
        let mut scenario = calm(5);
        for to in (2..=5).filter(|to| *to != first) {
            let mut rule = scenario.network.base;
            rule.latency = Latency::constant(Span::millis(9));
            scenario.network.links.push((NodeId(1), NodeId(to), rule));
        }
        scenario.events.push(at(1_000, Fault::Crash(vec![NodeId(1)])));
        let trace = after(&scenario, 1_000);
        let suspects = trace.iter().find(|event| matches!(event.what, What::Node(Event::Down(_))));
        assert_eq!(suspects.map(|event| event.node), Some(NodeId(first)));
        let leads = trace.iter().find_map(|event| match event.what {
            What::Node(Event::Opinion(opinion)) if opinion.status == Status::Normal => opinion.leader,
            _ => None,
        });
        assert_eq!(leads, Some(NodeId(2)), "{first} finds out first");
    }
}

// The runs.

fn calm(nodes: u32) -> Scenario {
    let mut scenario = Scenario::calm(Protocol::SoutoBully, nodes, Time::ZERO);
    scenario.timing.delta = T;
    scenario.until = Time::ZERO + Span::secs(2) + slowest_bound(&scenario);
    scenario
}

fn at(ms: u64, fault: Fault) -> Planned {
    Planned { at: Time::ZERO + Span::millis(ms), fault }
}

fn after(scenario: &Scenario, ms: u64) -> Vec<TraceEvent> {
    let mut trace = run::trace(scenario);
    trace.retain(|event| event.at >= Time::ZERO + Span::millis(ms));
    trace
}

/// Node 2 has come back later than the others and hears the leader's beats at other times, so that it can miss one first: by
/// so much that it has been elected before the others miss theirs. What happens once the leader has crashed.
fn noticed_by_the_strongest_alone(nodes: u32) -> Vec<TraceEvent> {
    let mut scenario = calm(nodes);
    scenario.events.extend([
        at(450, Fault::Crash(vec![NodeId(2)])),
        at(460, Fault::Recover(vec![NodeId(2)])),
        at(1_025, Fault::Crash(vec![NodeId(1)])),
    ]);
    after(&scenario, 1_025)
}

fn sends(trace: &[TraceEvent]) -> impl Iterator<Item = MsgRef> {
    let is_protocol = |msg: &MsgRef| msg.kind.layer() == bellwether_proto::message::Layer::Protocol;
    let sent = trace.iter().filter_map(|event| match event.what {
        What::Send(msg) => Some(msg),
        _ => None,
    });
    sent.filter(is_protocol)
}
