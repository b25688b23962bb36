//! Exclusive leadership and names beside etcd and Redis, in one run: three processes of ours and of etcd on loopback, with real disks, and one of
//! Redis, without any.
//!
//! Run: cargo bench -p bellwether-cli --bench engines
//! `cargo test` runs each for a moment; etcd and Redis if they are installed (`make etcd redis` does that), and BELLWETHER_REQUIRE_ENGINES=1 insists.
//!
//! | what happens | what is measured |
//! |---|---|
//! | kill -9 of a program that holds a name through an agent | until another program, at another agent, is told that it holds it |
//! | the same of `bellwether exec` | until the command of the next begins, and how much of that is after its agent knew that it holds the name |
//! | kill -9 of whoever holds an etcd lock of the smallest ttl | until the next one has it |
//! | kill -9 of whoever holds a lock of Redis by the usual recipe | until the next one has it |
//! | kill -9 of the agent that leads, of kind `lease` with the same ttl and with the default, and of kind `token` | until all survivors name the next |
//! | many clients of etcd, each of which puts a name of its own in a transaction | transactions a second |

#![allow(clippy::print_stdout, reason = "a report for people")]

#[path = "../../tests/cluster/cluster.rs"]
mod cluster;
#[allow(dead_code, reason = "only the tests of arbiters break it")]
mod etcd;
#[allow(dead_code, reason = "only the other benchmark counts announcements")]
#[path = "../agent/feed.rs"]
mod feed;
#[path = "../../../bellwether-sim/benches/simulator/figure.rs"]
mod figure;
mod program;
mod programs;
mod redis;
mod role;

use std::env;
use std::time::{Duration, Instant};

use cluster::{Cluster, Shape};
use etcd::Etcd;
use feed::Feed;
use figure::{Better, keep};
use programs::{Agents, Starts};
use redis::Redis;
use role::Role;

const NODES: u32 = 3;
/// Between two trials: the moment within a period differs.
const PAUSE: Duration = Duration::from_millis(120);

fn main() {
    if let Some(role) = Role::given() {
        // Whoever started it has heard enough when it goes.
        return drop(role.play());
    }
    let full = env::args().any(|word| word == "--bench");
    let trials = if full { 30 } else { 2 };
    println!(
        "{:<44}{:>9}{:>9}{:>9}{:>9}{:>6}",
        "milliseconds after kill -9", "min", "median", "p99", "max", "n"
    );
    let (deaths, starts) = if full { (300, 90) } else { (3, 2) };
    programs(deaths, starts);
    if is_there("redis", redis::is_there()) {
        locks_of_redis(trials);
    }
    if is_there("etcd", etcd::is_there()) {
        beside_etcd(trials, if full { Duration::from_secs(10) } else { Duration::from_secs(1) });
    }
}

/// Whether that engine can be measured.
fn is_there(engine: &str, there: bool) -> bool {
    let required = env::var("BELLWETHER_REQUIRE_ENGINES").is_ok_and(|word| word == "1");
    assert!(there || !required, "{engine} is not installed");
    if !there {
        println!("skipped: {engine} is not installed; `make {engine}` installs it");
    }
    there
}

fn programs(trials: usize, starts: usize) {
    let agents = Agents::start();
    report("a program on the socket", agents.failovers(trials));
    let Starts { since_killed, since_elected } = agents.exec_starts(starts);
    report("exec: until the next command begins", since_killed);
    report("exec: of that, after it was elected", since_elected);
}

fn locks_of_redis(trials: usize) {
    let engine = Redis::start();
    for (ttl, again) in [(1_000, 100), (100, 10)] {
        let what = format!("redis SET NX PX {ttl}, again after {again} ms");
        report(&what, engine.failovers(trials, Duration::from_millis(ttl), Duration::from_millis(again)));
    }
}

fn beside_etcd(trials: usize, time: Duration) {
    let engine = Etcd::start();
    report("etcd lock, smallest ttl", engine.lock_failovers(trials));
    let rates = [1, 100].map(|connections| (connections, engine.transactions(connections, time)));
    drop(engine);
    for (what, tables, more) in ROWS {
        report(what, failovers(tables, trials * more));
    }
    println!();
    for (connections, rate) in rates {
        println!("etcd, transactions over HTTP from {connections} connections: {rate:.0}/s");
        keep(&format!("etcd, transactions, {connections} connections"), rate, "txn/s", Better::Higher);
    }
}

/// Of which kind, and how many times as many trials there are.
const ROWS: [(&str, &str, usize); 3] = [
    // etcd makes two seconds of every ttl that is smaller.
    ("bellwether lease, ttl 2 s", "[exclusive]\nttl = \"2s\"\n", 1),
    ("bellwether lease, default ttl (1 s)", "", 1),
    ("bellwether token", "[exclusive]\nkind = \"token\"\n", 3),
];

/// Kills whoever leads, that many times, and says how long it took until all others named the next.
fn failovers(tables: &'static str, trials: usize) -> Vec<Duration> {
    let shape = Shape { more: "mode = \"exclusive\"", tables, ..Shape::of(NODES) };
    let mut cluster = Cluster::prepare(&shape);
    cluster.start_all();
    cluster.wait_for_leader();
    let mut feed = Feed::open(&cluster, NODES);
    let mut times = Vec::new();
    while times.len() < trials {
        let leader = feed.agreement();
        feed.idle_for(PAUSE + Duration::from_millis(times.len() as u64 * 37 % 200));
        let began = Instant::now();
        cluster.kill(leader);
        let (_, agreed_at) = feed.agreement_without(Some(leader));
        times.push(agreed_at.saturating_duration_since(began));
        cluster.start_node(leader);
        feed.reopen(&cluster, leader);
    }
    times
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    let [min, median, p99, max] = [0, 50, 99, 100].map(at);
    println!("{what:<44}{min:>9.1}{median:>9.1}{p99:>9.1}{max:>9.1}{:>6}", times.len());
    for (name, value) in [("median", median), ("p99", p99), ("max", max)] {
        keep(&format!("beside etcd, kill -9, {what}: {name}"), value, "ms", Better::Lower);
    }
}
