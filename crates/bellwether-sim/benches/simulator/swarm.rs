//! How many plans a search plays in an hour, by algorithm: five nodes, faults and lengths as `bellwether check` draws them,
//! with trace hash, checkers and the spotting of situations.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use bellwether_proto::election::NOMINATES;
use bellwether_proto::election::{InAgent, Protocol, Variant};
use bellwether_sim::plan::Limits;
use bellwether_sim::scenario::Runs;
use bellwether_sim::swarm::{Search, search};

use super::Effort;
use super::figure::{Better, keep};

const THREADS: usize = 2;

pub(crate) fn measure(effort: Effort) {
    let runs = effort.of(1_000, 2);
    println!("swarm search, 5 nodes, {THREADS} threads, {runs} plans each");
    println!(
        "{:<18} {:>9} {:>14} {:>14} {:>11}",
        "algorithm", "runs/s", "million runs/h", "million ev/s", "events/run"
    );
    let in_agents = |protocol: &Protocol| protocol.spec().in_agent == InAgent::Yes;
    Protocol::ALL.into_iter().for_each(|protocol| measure_one(protocol, Runs::Elections, runs));
    Protocol::ALL
        .into_iter()
        .filter(in_agents)
        .for_each(|protocol| measure_one(protocol, Runs::Agents, runs));
    measure_one(NOMINATES, Runs::Exclusive, runs);
}

fn measure_one(protocol: Protocol, on_nodes: Runs, runs: u64) {
    let limits = Limits { nodes: vec![5], runs: on_nodes, ..Limits::default() };
    let plans =
        Search { protocol, variant: Variant::Repaired, limits, first_seed: 1, runs, threads: THREADS };
    let began = Instant::now();
    let outcome = search(&plans, &(), &AtomicBool::new(false));
    let seconds = began.elapsed().as_secs_f64();
    let rate = outcome.runs as f64 / seconds;
    let name = match on_nodes {
        Runs::Elections => protocol.name().to_owned(),
        Runs::Agents => format!("{} agent", protocol.name()),
        Runs::Exclusive => "exclusive".to_owned(),
    };
    let events = outcome.events as f64 / seconds / 1e6;
    keep(&format!("swarm, {name}"), events, "M events/s", Better::Higher);
    println!(
        "{:<18} {rate:>9.0} {:>14.2} {:>14.2} {:>11}",
        name,
        rate * 3_600.0 / 1e6,
        events,
        outcome.events / outcome.runs,
    );
}
