//! Exhaustive search against stateright: the same states, nothing judged, by both in one run.
//!
//! Each search runs in a process of its own, so that the most memory it ever had can be told.
//! Run: cargo bench -p bellwether-sim --bench explore

#![allow(
    clippy::print_stdout,
    clippy::disallowed_types,
    missing_docs,
    reason = "a benchmark measures and prints"
)]

#[path = "../tests/explore/model.rs"]
mod model;

use std::env;
use std::fs;
use std::num::NonZeroUsize;
use std::process::Command;
use std::time::Instant;

use bellwether_proto::election::{AnyElection, Protocol, Variant};
use bellwether_sim::explore::{Bounds, Flow, INSTANTS_MAX, Limits, System, explore};
use stateright::{Checker, Model};

use model::Judged;

const ROUNDS: usize = 3;
const THREADS: usize = 2;

fn main() {
    let args: Vec<String> = env::args().collect();
    if let [_, flag, protocol, who] = &args[..]
        && flag == "--only"
    {
        let protocol = Protocol::by_name(protocol).expect("the parent names one");
        return if who == "ours" { ours(protocol) } else { theirs(protocol) };
    }
    println!("{THREADS} threads, nothing judged, median of {ROUNDS} alternating rounds");
    println!(
        "{:<10} {:>9} {:>13} {:>13} {:>7} {:>12} {:>12} {:>7}",
        "protocol", "states", "ours/s", "stateright/s", "ratio", "ours B", "stateright B", "ratio"
    );
    for protocol in [Protocol::Lfa, Protocol::BullyFd] {
        compare(protocol);
    }
}

fn compare(protocol: Protocol) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(measured(protocol, "ours"));
        theirs.push(measured(protocol, "stateright"));
    }
    let states = ours[0].states;
    assert!(ours.iter().chain(&theirs).all(|one| one.states == states), "both find the same states");
    let rate = |all: &[Measured]| median(all.iter().map(|one| states / one.seconds).collect());
    let bytes = |all: &[Measured]| median(all.iter().map(|one| one.bytes / states).collect());
    println!(
        "{:<10} {states:>9} {:>13.0} {:>13.0} {:>7.2} {:>12.0} {:>12.0} {:>7.2}",
        protocol.name(),
        rate(&ours),
        rate(&theirs),
        rate(&ours) / rate(&theirs),
        bytes(&ours),
        bytes(&theirs),
        bytes(&ours) / bytes(&theirs),
    );
}

struct Measured {
    states: f64,
    seconds: f64,
    /// The most that the process ever had.
    bytes: f64,
}

fn measured(protocol: Protocol, who: &str) -> Measured {
    let me = env::current_exe().expect("a benchmark is a file");
    let output = Command::new(me).args(["--only", protocol.name(), who]).output().expect("it starts again");
    let text = String::from_utf8(output.stdout).expect("it prints numbers");
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [states, seconds, bytes] = numbers[..] else { panic!("{who} said: {text}") };
    Measured { states, seconds, bytes }
}

fn ours(protocol: Protocol) {
    let threads = NonZeroUsize::new(THREADS).expect("more than none");
    let limits = Limits { states_max: u64::MAX, instants_max: INSTANTS_MAX, threads };
    let system = system(protocol);
    let began = Instant::now();
    let outcome = explore(&system, &[], limits, |_| Flow::GoOn);
    println!("{} {} {}", outcome.states, began.elapsed().as_secs_f64(), most_memory());
}

fn theirs(protocol: Protocol) {
    let judged = Judged { system: system(protocol), judged: Vec::new() };
    let began = Instant::now();
    let checker = judged.checker().threads(THREADS).spawn_bfs().join();
    println!("{} {} {}", checker.unique_state_count(), began.elapsed().as_secs_f64(), most_memory());
}

fn system(protocol: Protocol) -> System<AnyElection> {
    let bounds = match protocol {
        Protocol::Lfa => Bounds { expiries: 6, ..Bounds::suited_to(protocol) },
        _ => Bounds { crashes: 2, recoveries: 2, expiries: 6, ..Bounds::suited_to(protocol) },
    };
    System::new(protocol, Variant::Repaired, 3, bounds)
}

fn most_memory() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: f64 = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(f64::NAN);
    kib * 1024.0
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
