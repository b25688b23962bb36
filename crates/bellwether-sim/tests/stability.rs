//! Leaders that do not change without need, and are replaced in time when they fail.

use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::promise::{Assumption, Promise};
use bellwether_proto::time::{Span, Time};
use bellwether_sim::measure::churn::{self, Churn, Outcome};
use bellwether_sim::measure::failover;
use bellwether_sim::measure::figures::Figures;
use bellwether_sim::run;
use bellwether_sim::scenario::{Latency, Scenario};

/// Nodes restart at random for an hour. The repaired `fjr` changes its leader when the leader crashes, and never otherwise.
#[test]
fn fjr_keeps_its_leader_until_it_crashes() {
    for seed in 1..=5 {
        let Outcome { leader_crashes, changes, preemptions, .. } = hour(Protocol::Fjr, seed);
        assert!(leader_crashes > 30, "seed {seed}: a lame churn");
        assert_eq!((changes, preemptions), (leader_crashes, 0), "seed {seed}");
    }
}

/// Where ids decide, whoever comes back and is stronger ousts a leader that did nothing wrong.
#[test]
fn id_ordered_algorithms_pre_empt() {
    for protocol in [Protocol::BullyFd, Protocol::AsyncBully, Protocol::Lfa, Protocol::Lockstep] {
        let Outcome { leader_crashes, preemptions, .. } = hour(protocol, 1);
        assert!(preemptions * 2 > leader_crashes, "{}: {preemptions}, {leader_crashes}", protocol.name());
    }
}

/// With a plain count of one more at each restart, or with nobody listening first, this would not be so.
#[test]
fn a_node_that_flaps_does_not_disturb_the_others() {
    let restless = Churn { up: Span::secs(5), down: Span::secs(1), length: Span::secs(600), nodes: 5 };
    let Outcome { leader_crashes, preemptions, .. } = churn::measure(Protocol::Fjr, &restless, 1);
    assert!(leader_crashes > 30, "a lame churn");
    assert_eq!(preemptions, 0);
}

/// One message in a thousand is lost for an hour. A lost heartbeat deposes a leader, and teaches patience: as printed, with
/// a step at a time, it takes many times as many leaders.
#[test]
fn a_lost_heartbeat_teaches_fjr_more_than_a_step() {
    let changes = |variant| {
        let mut scenario = Scenario::calm(Protocol::Fjr, 5, Time::ZERO + Span::secs(3600));
        scenario.variant = variant;
        scenario.network.base.loss = 0.001;
        scenario.network.base.latency.high = Span::millis(20);
        scenario.timing.delta = Span::millis(21);
        scenario.timing.step = scenario.timing.delta;
        run::run(&scenario).leader_changes
    };
    let (repaired, printed) = (changes(Variant::Repaired), changes(Variant::Printed));
    assert!(repaired < 100 && repaired * 3 < printed, "{repaired} and {printed}");
}

fn hour(protocol: Protocol, seed: u64) -> Outcome {
    churn::measure(protocol, &Churn::default(), seed)
}

/// Links of 1 ms, heartbeats every 50 ms, δ = 2 ms: one timeout (η + 2δ) and two messages after the crash all agree on the
/// next leader, whenever in a period it happens.
#[test]
fn fjr_fails_over_within_a_timeout_and_two_messages() {
    let (latency, period) = (Span::millis(1), Span::millis(50));
    let bound = period + Span::millis(2) * 2 + latency * 2;
    for nodes in [2, 3, 5, 7] {
        let times =
            failover::measure(Protocol::Fjr, &Figures::new(nodes, Latency::constant(latency), period), 200);
        let times: Option<Vec<Span>> = times.into_iter().collect();
        let worst =
            times.and_then(|times| times.into_iter().max()).expect("there was a leader after each crash");
        assert!(worst <= bound, "{nodes} nodes: {worst}, allowed {bound}");
        assert!(worst + Span::millis(2) > bound, "{nodes} nodes: {worst}: the bound is not far off");
    }
}

/// Whoever promises something where nodes crash has another leader after each crash. Those that bear none are measured all
/// the same.
#[test]
fn a_leader_that_crashes_is_replaced_by_those_that_bear_it() {
    let figures = Figures::new(5, Latency::constant(Span::millis(1)), Span::millis(50));
    for protocol in Protocol::ALL {
        let outcomes = failover::measure(protocol, &figures, 3);
        let bears = |promise: &Promise| !promise.under.contains(&Assumption::NoCrashes);
        let expected = if protocol.spec().repaired.iter().any(bears) { 3 } else { 0 };
        assert_eq!(outcomes.iter().flatten().count(), expected, "{}: {outcomes:?}", protocol.name());
    }
}
