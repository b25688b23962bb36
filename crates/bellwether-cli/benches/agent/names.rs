//! Very many names, held through three agents, for one session each: what they cost when nothing happens, what they take of memory,
//! and how long it takes until all are held again when an agent is killed.

use std::time::{Duration, Instant};

use super::cluster::{Cluster, Shape, wait_until};
use super::figure::{Better, keep};
use super::gauge::{cpu_seconds, memory_mib, metric};
use super::program::Program;
use super::shape;

const NODES: u32 = 3;
/// With how many names the others are compared.
const FEW: usize = 10;
const PATIENCE: Duration = Duration::from_secs(300);
/// A page of the list of elections.
const PAGE: usize = 1000;

/// What one agent has taken up to now.
#[derive(Clone, Copy)]
struct Taken {
    cpu: f64,
    frames: f64,
    bytes: f64,
}

pub(crate) fn measure(names: usize, time: Duration) {
    let mut cluster = Cluster::prepare(&Shape { socket: true, ..shape(NODES, "fjr", Some("lease")) });
    cluster.start_all();
    let leader = cluster.wait_for_leader();
    let programs: Vec<Program> = (1..=NODES).map(|id| Program::beside(&cluster, id)).collect();
    let shares = |from: usize, to: usize| -> Vec<Vec<String>> {
        (0..programs.len()).map(|share| (from..to).filter(|no| no % 3 == share).map(name).collect()).collect()
    };
    hold(&cluster, &programs, &shares(0, FEW), FEW);
    let (few, small) = (rest(&cluster, time), memory(&cluster));
    let began = Instant::now();
    hold(&cluster, &programs, &shares(FEW, names), names);
    println!(
        "\n{names} names, held through {NODES} agents in {:.1} s; node {leader} leads",
        began.elapsed().as_secs_f64()
    );
    let (many, large) = (rest(&cluster, time), memory(&cluster));
    compare(names, (&few, &many), (&small, &large), leader);
    fail_over(cluster, &programs, shares(0, names), leader, time);
}

fn name(no: usize) -> String {
    format!("name-{no:06}")
}

/// Each program holds its share from now on, and every agent knows of all.
fn hold(cluster: &Cluster, programs: &[Program], shares: &[Vec<String>], all: usize) {
    for (program, names) in programs.iter().zip(shares) {
        let count = program.held() + names.len();
        program.campaign(names);
        program.holds(count, PATIENCE);
    }
    // And the cluster's own leadership.
    for id in 1..=NODES {
        assert!(
            wait_until(PATIENCE, || listed(cluster, id) == all + 1),
            "node {id} does not know of all names"
        );
    }
}

/// How many elections an agent knows of.
fn listed(cluster: &Cluster, id: u32) -> usize {
    let (mut count, mut after) = (0, String::new());
    loop {
        let page = cluster.socket(id).get(&format!("/v1/elections?limit={PAGE}{after}")).json();
        count += page["elections"].as_array().expect("a list").len();
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return count,
        }
    }
}

/// What each agent takes in a second while nothing happens.
fn rest(cluster: &Cluster, time: Duration) -> Vec<Taken> {
    let taken = || (1..=NODES).map(|id| Taken::of(cluster, id)).collect::<Vec<_>>();
    // What is left to be told is told meanwhile.
    let began = Instant::now();
    wait_until(time, || began.elapsed() >= time / 2);
    let (before, began) = (taken(), Instant::now());
    wait_until(time * 2, || began.elapsed() >= time);
    let (after, took) = (taken(), began.elapsed().as_secs_f64());
    before.into_iter().zip(after).map(|(before, after)| after.since(before, took)).collect()
}

fn memory(cluster: &Cluster) -> Vec<f64> {
    (1..=NODES).map(|id| memory_mib(cluster.pid(id))).collect()
}

impl Taken {
    fn of(cluster: &Cluster, id: u32) -> Self {
        Self {
            cpu: cpu_seconds(cluster.pid(id)),
            frames: metric(cluster, id, "bellwether_frames_sent_total"),
            bytes: metric(cluster, id, "bellwether_sent_bytes_total"),
        }
    }

    fn since(self, before: Self, took: f64) -> Self {
        let [cpu, frames, bytes] =
            [self.cpu - before.cpu, self.frames - before.frames, self.bytes - before.bytes]
                .map(|more| more / took);
        Self { cpu, frames, bytes }
    }
}

fn compare(names: usize, (few, many): (&[Taken], &[Taken]), (small, large): (&[f64], &[f64]), leader: u32) {
    println!("{:<8}{:>22}{:>22}{:>24}{:>22}", "node", "% of a core", "frames/s", "bytes/s", "memory, MiB");
    let mut most: f64 = 0.0;
    for (id, ((few, many), (small, large))) in (1..).zip(few.iter().zip(many).zip(small.iter().zip(large))) {
        let each = (large - small) * 1024.0 * 1024.0 / names as f64;
        most = most.max(each);
        println!(
            "{id:<8}{:>13.2} → {:<6.2}{:>13.1} → {:<6.1}{:>15.0} → {:<6.0}{small:>13.1} → {large:<6.1} {each:.0} bytes for each name{}",
            few.cpu * 100.0,
            many.cpu * 100.0,
            few.frames,
            many.frames,
            few.bytes,
            many.bytes,
            if id == leader { ", coordinates" } else { "" }
        );
    }
    keep("names, memory for each name and agent: most", most, "bytes", Better::Lower);
    let ratio = |of: fn(&Taken) -> f64| many.iter().map(of).sum::<f64>() / few.iter().map(of).sum::<f64>();
    for (what, ratio) in [
        ("CPU", ratio(|taken| taken.cpu)),
        ("frames", ratio(|taken| taken.frames)),
        ("bytes", ratio(|taken| taken.bytes)),
    ] {
        println!("idle, {what}: {ratio:.3} of what {FEW} names take");
        keep(&format!("names, idle: {what} / those of {FEW} names"), ratio, "", Better::Lower);
    }
}

/// The other programs wait for what the leader's holds, and its agent is killed.
fn fail_over(
    mut cluster: Cluster,
    programs: &[Program],
    mut shares: Vec<Vec<String>>,
    leader: u32,
    time: Duration,
) {
    let lost = shares.swap_remove(leader as usize - 1);
    let others: Vec<&Program> =
        (1..).zip(programs).filter(|(id, _)| *id != leader).map(|(_, program)| program).collect();
    let halves: Vec<Vec<String>> = lost.chunks(lost.len().div_ceil(2)).map(<[String]>::to_vec).collect();
    let before: usize = others.iter().map(|program| program.held()).sum();
    others.iter().zip(&halves).for_each(|(program, names)| program.campaign(names));
    let ids = cluster.ids();
    let survivors: Vec<u32> = ids.into_iter().filter(|id| *id != leader).collect();
    let waiting = |id: &u32| metric(&cluster, *id, "bellwether_campaigns{state=\"waiting\"}") as usize;
    let all = || survivors.iter().map(waiting).sum::<usize>() == lost.len();
    assert!(wait_until(PATIENCE, all), "somebody waits for every name");
    // Whoever coordinates hears of them all.
    rest(&cluster, time);
    let began = Instant::now();
    cluster.kill(leader);
    let held = || others.iter().map(|program| program.held()).sum::<usize>();
    let all = wait_until(PATIENCE, || held() >= before + lost.len());
    assert!(all, "{} of {} names are held again", held() - before, lost.len());
    let took = began.elapsed().as_secs_f64();
    println!("the agent that led is killed: {} names are held again after {took:.2} s", lost.len());
    keep("names, killed agent: until all are held again", took, "s", Better::Lower);
    for id in survivors {
        println!("node {id}: {:.1} MiB", memory_mib(cluster.pid(id)));
    }
}
