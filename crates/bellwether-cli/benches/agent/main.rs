//! What real agents take: processes on loopback, seen from outside through `/v1/watch`.
//!
//! Run: cargo bench -p bellwether-cli --bench agent -- [--trials N] [--quiet SECONDS] [--only NAME]
//! `cargo test` runs each for a moment, so that none can rot.
//!
//! | name | what happens | what is measured |
//! |---|---|---|
//! | crash | kill -9 of the leader | until every survivor names the same new leader; how many announced themselves |
//! | crash-async-bully, crash-invitation | the same of three agents that run that algorithm | the same |
//! | stop | SIGSTOP of the leader | the same |
//! | resign | the leader is told to resign | the same, over HTTP |
//! | idle | nothing | CPU time, memory, messages |
//! | load | another process keeps a core busy | changes of leader that nothing called for |

#![allow(clippy::print_stdout, reason = "a report for people")]

#[path = "../../tests/cluster/cluster.rs"]
mod cluster;
mod feed;
#[path = "../../../bellwether-sim/benches/simulator/figure.rs"]
mod figure;
mod idle;

use std::time::{Duration, Instant};

use cluster::{Cluster, Shape};
use feed::Feed;
use figure::{Better, keep};

const NODES: u32 = 5;
/// Between two trials: the moment within a period differs.
const PAUSE: Duration = Duration::from_millis(120);

fn main() {
    let args = Args::read();
    println!("{NODES} agents on loopback, default timing (heartbeat 50 ms, timeout 250 ms)\n");
    println!(
        "{:<36}{:>9}{:>9}{:>9}{:>9}{:>9}   announced",
        "milliseconds", "min", "median", "p90", "p99", "max"
    );
    for row in ROWS {
        if args.wants(row.name) {
            let (times, announced) = trials(&row, args.trials.unwrap_or(row.trials));
            report(row.what, times, &announced);
        }
    }
    if args.wants("idle") {
        idle::measure(args.idle);
    }
    if args.wants("load") {
        idle::under_load(args.quiet);
    }
}

/// Brings the leader down, and back afterwards.
type Fault = (fn(&mut Cluster, u32), fn(&mut Cluster, &mut Feed, u32));

/// What is measured of which agents.
struct Row {
    name: &'static str,
    what: &'static str,
    protocol: &'static str,
    nodes: u32,
    /// How many there are, unless told otherwise.
    trials: usize,
    fault: Fault,
}

const CRASH: Fault = (Cluster::kill, restart);
const STOP: Fault = (Cluster::stop, |cluster, _, id| cluster.cont(id));
const RESIGN: Fault = (resign, |_, _, _| {});

const ROWS: [Row; 5] = [
    Row::of("crash", "kill -9 of the leader", 300, CRASH),
    Row::of("stop", "SIGSTOP of the leader", 100, STOP),
    Row::of("resign", "resign", 200, RESIGN),
    Row::with("async-bully", "crash-async-bully", "kill -9 of the leader, async-bully"),
    Row::with("invitation", "crash-invitation", "kill -9 of the leader, invitation"),
];

impl Row {
    const fn of(name: &'static str, what: &'static str, trials: usize, fault: Fault) -> Self {
        Self { name, what, protocol: "fjr", nodes: NODES, trials, fault }
    }

    /// A crash of three agents with another algorithm.
    const fn with(protocol: &'static str, name: &'static str, what: &'static str) -> Self {
        Self { protocol, nodes: 3, ..Self::of(name, what, 20, CRASH) }
    }
}

fn restart(cluster: &mut Cluster, feed: &mut Feed, id: u32) {
    cluster.start_node(id);
    feed.reopen(cluster, id);
}

fn resign(cluster: &mut Cluster, id: u32) {
    let answer = cluster.post(id, "/v1/resign", r#"{"hold":"100ms"}"#);
    assert_eq!(answer.status, 200, "{}", answer.body);
}

/// How long each took, and how many nodes announced themselves in each.
fn trials(row: &Row, count: usize) -> (Vec<Duration>, Vec<usize>) {
    let Row { protocol, nodes, fault: (down, back), .. } = *row;
    let mut cluster = Cluster::prepare(&Shape { protocol, ..Shape::of(nodes) });
    cluster.start_all();
    cluster.wait_for_leader();
    let mut feed = Feed::open(&cluster, nodes);
    let (mut times, mut announced) = (Vec::new(), Vec::new());
    while times.len() < count {
        let leader = feed.agreement();
        feed.idle_for(PAUSE + Duration::from_millis(times.len() as u64 * 7 % 50));
        let began = Instant::now();
        down(&mut cluster, leader);
        let (_, agreed_at) = feed.agreement_without(Some(leader));
        times.push(agreed_at.saturating_duration_since(began));
        announced.push(feed.announced_since(began));
        back(&mut cluster, &mut feed, leader);
    }
    (times, announced)
}

fn report(what: &str, mut times: Vec<Duration>, announced: &[usize]) {
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    let once = announced.iter().filter(|count| **count == 1).count();
    let [min, median, p90, p99, max] = [0, 50, 90, 99, 100].map(at);
    println!(
        "{what:<36}{min:>9.1}{median:>9.1}{p90:>9.1}{p99:>9.1}{max:>9.1}   one leader in {once} of {}",
        announced.len()
    );
    for (name, value) in [("median", median), ("p99", p99), ("max", max)] {
        keep(&format!("agents, {what}: {name}"), value, "ms", Better::Lower);
    }
}

struct Args {
    trials: Option<usize>,
    idle: Duration,
    quiet: Duration,
    only: Option<String>,
}

impl Args {
    fn read() -> Self {
        let words: Vec<String> = std::env::args().skip(1).collect();
        // What cargo gives to benchmarks, and not to tests.
        if words.iter().any(|word| word == "--bench") { Self::full(words) } else { Self::moment(&words) }
    }

    /// Just enough to see that all of it works. Words choose among the names, as they do among tests.
    fn moment(words: &[String]) -> Self {
        let moment = Duration::from_millis(500);
        let only = words.iter().find(|word| !word.starts_with('-')).cloned();
        Self { trials: Some(1), idle: moment, quiet: moment, only }
    }

    fn full(words: Vec<String>) -> Self {
        let (idle, quiet) = (Duration::from_secs(30), Duration::from_secs(60));
        let mut args = Self { trials: None, idle, quiet, only: None };
        let mut words = words.into_iter().filter(|word| word != "--bench");
        while let Some(word) = words.next() {
            let value = words.next().expect("a value for every option");
            match word.as_str() {
                "--trials" => args.trials = Some(value.parse().expect("a number")),
                "--quiet" => args.quiet = Duration::from_secs(value.parse().expect("a number of seconds")),
                "--only" => args.only = Some(value),
                other => panic!("unknown option {other}"),
            }
        }
        args
    }

    fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only == name)
    }
}
