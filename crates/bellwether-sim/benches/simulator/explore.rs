//! Exhaustive search against stateright: the same states, nothing judged, by both in one run.
//!
//! Each search runs in a process of its own, so that the most memory it ever had can be told. For a moment, none needs one.

#[path = "../../tests/explore/model.rs"]
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

use super::Effort;
use super::figure::{Better, keep};

/// Makes this program do one search and nothing else.
pub(crate) const ALONE: &str = "--alone";
const THREADS: usize = 2;

pub(crate) fn measure(effort: Effort) {
    let rounds = effort.of(3, 1);
    println!("{THREADS} threads, nothing judged, median of {rounds} alternating rounds");
    println!(
        "{:<10} {:>9} {:>13} {:>13} {:>7} {:>12} {:>12} {:>7}",
        "protocol", "states", "ours/s", "stateright/s", "ratio", "ours B", "stateright B", "ratio"
    );
    for protocol in [Protocol::Lfa, Protocol::BullyFd] {
        compare(protocol, effort, rounds);
    }
}

/// What a process does that this one started: see [`ALONE`].
pub(crate) fn alone(protocol: &str, who: &str) {
    let protocol = Protocol::by_name(protocol).expect("the parent names one");
    let Measured { states, seconds, bytes } = searched(protocol, who, Effort::Full);
    println!("{states} {seconds} {bytes}");
}

const OURS: &str = "ours";

fn compare(protocol: Protocol, effort: Effort, rounds: usize) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        ours.push(measured(protocol, OURS, effort));
        theirs.push(measured(protocol, "stateright", effort));
    }
    let states = ours[0].states;
    assert!(ours.iter().chain(&theirs).all(|one| one.states == states), "both find the same states");
    let rate = |all: &[Measured]| median(all.iter().map(|one| states / one.seconds).collect());
    let bytes = |all: &[Measured]| median(all.iter().map(|one| one.bytes / states).collect());
    let name = protocol.name();
    keep(&format!("explore, {name}: speed / stateright's"), rate(&ours) / rate(&theirs), "", Better::Higher);
    keep(
        &format!("explore, {name}: memory / stateright's"),
        bytes(&ours) / bytes(&theirs),
        "",
        Better::Lower,
    );
    println!(
        "{:<10} {states:>9} {:>13.0} {:>13.0} {:>7.2} {:>12.0} {:>12.0} {:>7.2}",
        name,
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

fn measured(protocol: Protocol, who: &str, effort: Effort) -> Measured {
    if effort == Effort::Moment {
        return searched(protocol, who, effort);
    }
    let me = env::current_exe().expect("a benchmark is a file");
    let output = Command::new(me).args([ALONE, protocol.name(), who]).output().expect("it starts again");
    let text = String::from_utf8(output.stdout).expect("it prints numbers");
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [states, seconds, bytes] = numbers[..] else { panic!("{who} said: {text}") };
    Measured { states, seconds, bytes }
}

fn searched(protocol: Protocol, who: &str, effort: Effort) -> Measured {
    let system = system(protocol, effort);
    let began = Instant::now();
    let states = if who == OURS { ours(&system) } else { theirs(system) };
    Measured { states: states as f64, seconds: began.elapsed().as_secs_f64(), bytes: most_memory() }
}

fn ours(system: &System<AnyElection>) -> u64 {
    let threads = NonZeroUsize::new(THREADS).expect("more than none");
    let limits = Limits { states_max: u64::MAX, instants_max: INSTANTS_MAX, threads };
    explore(system, &[], limits, |_| Flow::GoOn).states
}

fn theirs(system: System<AnyElection>) -> u64 {
    let judged = Judged { system, judged: Vec::new(), prepare: Box::new(|| {}) };
    judged.checker().threads(THREADS).spawn_bfs().join().unique_state_count() as u64
}

fn system(protocol: Protocol, effort: Effort) -> System<AnyElection> {
    let suited = Bounds::suited_to(protocol);
    let bounds = match (effort, protocol) {
        (Effort::Moment, _) => Bounds { expiries: 1, ..suited },
        (Effort::Full, Protocol::Lfa) => Bounds { expiries: 6, ..suited },
        (Effort::Full, _) => Bounds { crashes: 2, expiries: 4, ..suited },
    };
    System::new(protocol, Variant::Repaired, if effort == Effort::Full { 3 } else { 2 }, bounds)
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
