//! The world's speed against a bare loop that moves the same messages and does nothing else.
//!
//! All-to-all heartbeats every 100 ms, latency 1 to 10 ms. The world runs the real heartbeat detector with trace
//! hash, accounts and safety checkers on; the bare loop is a `BinaryHeap` of (time, sequence, from, to).

#[path = "../../tests/paper/watching.rs"]
mod watching;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use bellwether_proto::detector::DetectorKind;
use bellwether_proto::election::Protocol;
use bellwether_proto::promise::Property;
use bellwether_proto::time::{Span, Time};
use bellwether_sim::check::Judge;
use bellwether_sim::journal::Journal;
use bellwether_sim::run::facts;
use bellwether_sim::scenario::{Latency, Scenario};
use bellwether_sim::world::World;

use super::Effort;
use super::figure::{Better, keep};
use watching::WatchesAll;

pub(crate) fn measure(effort: Effort) {
    let (rounds, deliveries) = effort.of((5, 2_000_000), (1, 40_000));
    println!("all-to-all heartbeats, deliveries per second, median of {rounds} alternating rounds");
    println!("{:>5} {:>14} {:>14} {:>18}", "nodes", "bare loop", "world", "world / bare loop");
    for nodes in [5, 50, 200] {
        // Alternate, so that both see the same machine.
        let (mut bare, mut world): (Vec<f64>, Vec<f64>) = (0..rounds)
            .map(|_| (rate(|| bare_loop(nodes, deliveries)), rate(|| world_loop(nodes, deliveries))))
            .unzip();
        let (bare, world) = (median(&mut bare), median(&mut world));
        println!("{nodes:>5} {:>12.2} M {:>12.2} M {:>18.3}", bare / 1e6, world / 1e6, world / bare);
        keep(&format!("world / bare loop, {nodes} nodes"), world / bare, "", Better::Higher);
    }
    growth(deliveries);
}

/// Cost per event must not grow with the length of the run.
fn growth(deliveries: u64) {
    println!("\nworld, 50 nodes: million deliveries per second in each quarter of one long run");
    let scenario = scenario(50, 4 * deliveries);
    let mut world: World<'_, WatchesAll> = World::new(&scenario, journal(&scenario));
    for quarter in 1..=4 {
        let (before, start) = (world.journal().accounts().delivered, Instant::now());
        world.run_until(Time::from_micros(scenario.until.as_micros() * quarter / 4));
        let delivered = world.journal().accounts().delivered - before;
        println!("  quarter {quarter}: {:.2}", delivered as f64 / start.elapsed().as_secs_f64() / 1e6);
    }
}

fn rate(run: impl FnOnce() -> u64) -> f64 {
    let start = Instant::now();
    let deliveries = run();
    deliveries as f64 / start.elapsed().as_secs_f64()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

// The bare loop.

fn bare_loop(nodes: u32, deliveries: u64) -> u64 {
    let mut heap = BinaryHeap::new();
    let (mut seq, mut random, mut delivered) = (0u64, 1u64, 0u64);
    let mut heard = vec![0u64; (nodes * nodes) as usize];
    for node in 0..nodes {
        heap.push(Reverse((0u64, seq, node, node)));
        seq += 1;
    }
    while let Some(Reverse((now, _, from, to))) = heap.pop() {
        if from != to {
            heard[(to * nodes + from) as usize] = now;
            delivered += 1;
            if delivered == deliveries {
                break;
            }
            continue;
        }
        for peer in (0..nodes).filter(|peer| *peer != from) {
            let latency = 1_000 + ((u128::from(splitmix(&mut random)) * 9_001) >> 64) as u64;
            heap.push(Reverse((now + latency, seq, from, peer)));
            seq += 1;
        }
        heap.push(Reverse((now + 100_000, seq, from, from)));
        seq += 1;
    }
    std::hint::black_box(heard);
    delivered
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

// The world.

fn world_loop(nodes: u32, deliveries: u64) -> u64 {
    let scenario = scenario(nodes, deliveries);
    let mut world: World<'_, WatchesAll> = World::new(&scenario, journal(&scenario));
    world.run_until(scenario.until);
    world.into_journal().accounts().delivered
}

fn scenario(nodes: u32, deliveries: u64) -> Scenario {
    let periods = deliveries / u64::from(nodes * (nodes - 1));
    let until = Time::ZERO + Span::millis(100) * periods;
    let mut scenario = Scenario::calm(Protocol::AsyncBully, nodes, until);
    scenario.network.base.latency = Latency { low: Span::millis(1), high: Span::millis(10) };
    scenario.timing.delta = Span::millis(11);
    scenario.detector.kind = DetectorKind::Heartbeat;
    scenario
}

fn journal(scenario: &Scenario) -> Journal<'static> {
    let safety = [Property::Sle1, Property::Ale1, Property::FdAccurate];
    Journal::new(Judge::new(facts(scenario), &safety), None)
}
