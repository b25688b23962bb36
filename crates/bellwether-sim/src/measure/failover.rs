//! How long a cluster is without its leader after a crash.

use bellwether_proto::election::Protocol;
use bellwether_proto::ident::NodeId;
use bellwether_proto::time::{Span, Time};

use super::leadership::Agreement;
use crate::run;
use crate::scenario::{Fault, Planned, Scenario};

/// From the crash until all that are left name one live leader: once for each of `crashes` moments, spread evenly over
/// one period of the leader. Links take `latency`, always.
pub fn measure(protocol: Protocol, nodes: u32, latency: Span, period: Span, crashes: u64) -> Vec<Span> {
    (0..crashes).map(|n| one(&scenario(protocol, nodes, latency, period, period * n / crashes))).collect()
}

fn scenario(protocol: Protocol, nodes: u32, latency: Span, period: Span, phase: Span) -> Scenario {
    let settled = Time::ZERO + period * 40;
    let mut scenario = Scenario::calm(protocol, nodes, settled + period * 40);
    scenario.network.base.latency = crate::scenario::Latency::constant(latency);
    scenario.timing.delta = latency + Span::millis(1);
    scenario.timing.step = scenario.timing.delta;
    scenario.timing.tau = period;
    scenario.detector.period = period;
    let crash = Fault::Crash(vec![NodeId(1)]);
    scenario.events.push(Planned { at: settled + phase, fault: crash });
    scenario
}

fn one(scenario: &Scenario) -> Span {
    let crash = scenario.events[0].at;
    let mut agreement = Agreement::new(scenario.nodes);
    drop(run::run_with(scenario, Box::new(|event| agreement.observe(event))));
    let agreed_at = agreement.since().expect("those that are left agree before the run ends");
    assert!(agreed_at > crash, "node 1 led");
    agreed_at.since(crash)
}
