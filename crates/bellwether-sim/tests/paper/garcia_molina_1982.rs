//! H. Garcia-Molina, *Elections in a Distributed Computing System*, 1982: claims C1 to C6, of the Bully algorithm.
//!
//! The ledger is `docs/papers/garcia-molina-1982.md`. Claims about one node's rules are tested beside the code, in
//! `bellwether-proto`; the ledger names those tests too.

use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::opinion::Status;
use bellwether_proto::promise::Property;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{MsgRef, TraceEvent, What};
use bellwether_sim::environment::judged;
use bellwether_sim::plan;
use bellwether_sim::run::{self, slowest_bound};
use bellwether_sim::scenario::{Expect, Fault, Latency, Planned, Scenario};

use super::overtaking;

const PLANS: u64 = 300;

/// Theorems A1 and A2, without assumption 7: messages may overtake each other, as repaired.
#[test]
fn c1_c2_the_assertions_hold_even_if_messages_overtake_each_other() {
    overtaking::keeps_a1(Protocol::Bully, PLANS);
}

/// "The node with the highest identification number forces the nodes with smaller identification numbers into accepting it":
/// in the end it is the highest that is up, whoever coordinated before.
#[test]
fn c2_the_highest_that_is_up_coordinates_in_the_end() {
    let mut judged_plans = 0;
    for seed in 1..=PLANS {
        let plan = plan::draw_within(Protocol::Bully, Variant::Repaired, &plan::Limits::default(), seed);
        if !judged(&plan).contains(&Property::A2) {
            continue;
        }
        judged_plans += 1;
        let report = run::run(&plan);
        let up: Vec<_> = report.last.iter().filter(|node| node.up).collect();
        let highest = up.iter().map(|node| node.node).max();
        assert!(up.iter().all(|node| node.leader == highest), "plan {seed}: {:?}", report.last);
    }
    assert!(judged_plans > PLANS / 2, "{judged_plans}");
}

/// An election of node i of n, with all above it down and U of those below it up, costs (n - 1) + 5U messages: calls of
/// AreYouThere to those above and of Halt to those below, and five more for each that obeys.
#[test]
fn c3_an_election_costs_n_less_one_and_five_for_each_that_follows() {
    for n in 2..=8 {
        for i in 1..n {
            for u in 0..i {
                let down: Vec<u32> = (1..i - u).chain(i + 1..=n).collect();
                let trace = trace_of(n, &down);
                assert_eq!(
                    election_of(&trace, i),
                    u64::from(n - 1 + 5 * u),
                    "node {i} of {n}, {u} below it up"
                );
            }
        }
    }
}

/// The coordinator crashes, and the next in order finds out.
#[test]
fn c3_a_succession_costs_six_n_less_eleven() {
    for n in 2..=10 {
        assert_eq!(election_of(&trace_of(n, &[n]), n - 1), u64::from(6 * n - 11), "{n} nodes");
    }
}

/// "If any of these nodes respond, then node i gives up its bid": a weak starter costs a question and an answer.
#[test]
fn c3_who_has_no_chance_costs_two_messages() {
    let mut scenario = calm(5);
    scenario
        .events
        .extend([at(1_000, Fault::Crash(vec![NodeId(2)])), at(1_500, Fault::Recover(vec![NodeId(2)]))]);
    scenario.until = Time::ZERO + Span::micros(1_500_000 + 10_000);
    let trace = run::trace(&scenario);
    let asked: Vec<_> = sends(&trace, Time::ZERO + Span::millis(1_500))
        .filter(|msg| msg.kind.name().starts_with("AreYouThere"))
        .collect();
    let said: Vec<_> = asked.iter().map(|msg| (msg.from.0, msg.to.0)).collect();
    assert_eq!(said, [(2, 3), (3, 2)]);
}

/// "The situation will be detected by coordinator i when procedure Check is called next": nothing else moves a weak node out
/// of Down. It answers No, and only then is it halted.
#[test]
fn c4_a_weak_node_that_comes_back_is_taken_in_by_check() {
    let mut scenario = calm(4);
    scenario
        .events
        .extend([at(1_000, Fault::Crash(vec![NodeId(1)])), at(1_523, Fault::Recover(vec![NodeId(1)]))]);
    let trace = run::trace(&scenario);
    let back = trace.iter().position(|event| event.what == What::Recover && event.at > Time::ZERO);
    let story: Vec<_> = trace[back.expect("it comes back")..]
        .iter()
        .filter(|event| event.node == NodeId(1))
        .filter_map(|event| match event.what {
            What::Recv(msg, _) => Some(msg.kind.name()),
            What::Node(Event::Opinion(opinion)) => Some(opinion.status.name()),
            _ => None,
        })
        .collect();
    let taken_in = [
        "AreYouThereReply",
        "AreYouNormal",
        "Halt",
        "waiting",
        "NewCoordinator",
        "reorganizing",
        "Ready",
        "normal",
    ];
    assert_eq!(story[..taken_in.len()], taken_in);
}

/// Assumption 8: "if statement 's' is executed, then process P knows for sure that node i is down". Where all messages take
/// up to δ and nobody fails, no call times out, so that only the strongest ever gets to halting.
#[test]
fn c6_who_is_up_answers_within_t() {
    for seed in 1..=50 {
        let mut scenario = calm(5);
        scenario.seed = seed;
        scenario.network.base.latency = Latency { low: Span::micros(1), high: scenario.timing.delta };
        let trace = run::trace(&scenario);
        let halters: Vec<_> =
            sends(&trace, Time::ZERO).filter(|msg| msg.kind.name() == "Halt").map(|msg| msg.from).collect();
        assert!(!halters.is_empty() && halters.iter().all(|halter| *halter == NodeId(5)), "seed {seed}");
    }
}

/// And where messages are late it does not, and safety is gone: the algorithm is for synchronous networks only.
#[test]
fn c6_a_message_that_is_late_breaks_the_first_assertion() {
    let broken = (1..=50).find(|seed| {
        let mut scenario = calm(3);
        scenario.seed = *seed;
        scenario.network.base.latency = Latency { low: Span::micros(100), high: scenario.timing.delta * 4 };
        scenario.expect = Expect { violates: vec![Property::A1], ..Expect::default() };
        run::run(&scenario).passed(&scenario)
    });
    assert!(broken.is_some());
}

/// E-GM3: a member that was halted out of turn refuses, and as printed that is an answer like any other: its coordinator is
/// normal, and counts it in. Check puts it right.
#[test]
fn c4_a_refusal_goes_unnoticed_until_check_as_printed() {
    for variant in Variant::ALL {
        let path =
            format!("{}/../../scenarios/egm03-refused-{}.toml", env!("CARGO_MANIFEST_DIR"), variant.name());
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let scenario = Scenario::parse(&path, &text).expect("it is a scenario");
        let trace = run::trace(&scenario);
        let back = Time::ZERO + Span::millis(1_127);
        let normal = |node: u32| {
            trace.iter().position(|event| {
                let becomes_normal =
                    matches!(event.what, What::Node(Event::Opinion(opinion)) if opinion.status == Status::Normal);
                event.at >= back && event.node == NodeId(node) && becomes_normal
            })
        };
        let (coordinator, member) = (normal(4).expect("4 is"), normal(1).expect("1 is, in the end"));
        let behind = trace[member].at.since(trace[coordinator].at);
        assert_eq!(behind > scenario.timing.tau, variant == Variant::Printed, "{variant:?}: {behind}");
    }
}

// The runs.

fn calm(nodes: u32) -> Scenario {
    let mut scenario = Scenario::calm(Protocol::Bully, nodes, Time::ZERO);
    scenario.until = Time::ZERO + Span::secs(2) + slowest_bound(&scenario);
    scenario
}

fn at(ms: u64, fault: Fault) -> Planned {
    Planned { at: Time::ZERO + Span::millis(ms), fault }
}

/// What happens after those crash at once in a settled system.
fn trace_of(nodes: u32, down: &[u32]) -> Vec<TraceEvent> {
    let mut scenario = calm(nodes);
    let crash = Time::ZERO + Span::secs(1);
    scenario
        .events
        .push(Planned { at: crash, fault: Fault::Crash(down.iter().copied().map(NodeId).collect()) });
    let mut trace = run::trace(&scenario);
    trace.retain(|event| event.at >= crash);
    trace
}

/// The messages of an election of that node: its calls, but for the one by which it found the coordinator dead, and the
/// answers to them.
fn election_of(trace: &[TraceEvent], i: u32) -> u64 {
    let of_election = |msg: &MsgRef| {
        let calls = ["AreYouThere", "Halt", "NewCoordinator", "Ready"];
        let answers = ["HaltReply", "NewCoordinatorReply", "ReadyReply"];
        (msg.from == NodeId(i) && calls.contains(&msg.kind.name()))
            || (msg.to == NodeId(i) && answers.contains(&msg.kind.name()))
    };
    let all = sends(trace, Time::ZERO).filter(of_election).count() as u64;
    all - 1
}

fn sends(trace: &[TraceEvent], from: Time) -> impl Iterator<Item = MsgRef> {
    trace.iter().filter(move |event| event.at >= from).filter_map(|event| match event.what {
        What::Send(msg) => Some(msg),
        _ => None,
    })
}
