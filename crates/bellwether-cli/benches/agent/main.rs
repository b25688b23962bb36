//! What real agents take: processes on loopback, seen from outside through `/v1/watch`.
//!
//! Run: cargo bench -p bellwether-cli --bench agent -- [--trials N] [--quiet SECONDS] [--names N] [--only NAME]
//! `cargo test` runs each for a moment, so that none can rot.
//!
//! | name | what happens | what is measured |
//! |---|---|---|
//! | crash | kill -9 of the leader | until every survivor names the same new leader; how many announced themselves |
//! | crash-async-bully, crash-invitation | the same of three agents that run that algorithm | the same |
//! | stop | SIGSTOP of the leader | the same |
//! | resign | the leader is told to resign | the same, over HTTP |
//! | lease-crash, token-crash | kill -9 of the leader, with exclusive leadership of that kind | the same; of kind `lease` from its last renewal on |
//! | lease-resign, lease-transfer | the leader is told to resign, or to hand over | the same, over HTTP |
//! | idle, lease-idle, token-idle | nothing | CPU time, memory, messages |
//! | load | another process keeps a core busy | changes of leader that nothing called for |
//! | names | three agents hold a hundred thousand names, and one is killed | what they cost at rest, memory, until all are held again |
//! | queue | ten thousand sessions wait for a name that is given back | who is told of it |
//! | crowd | a thousand watch a name through one agent, beside two thousand that are silent | until all have heard, memory |

#![allow(clippy::print_stdout, reason = "a report for people")]

#[path = "../../tests/cluster/cluster.rs"]
mod cluster;
mod crowd;
mod feed;
#[path = "../../../bellwether-sim/benches/simulator/figure.rs"]
mod figure;
mod gauge;
mod idle;
mod names;
mod program;
mod queue;

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
    for (name, kind) in [("idle", None), ("lease-idle", Some("lease")), ("token-idle", Some("token"))] {
        if args.wants(name) {
            idle::measure(args.idle, kind);
        }
    }
    if args.wants("load") {
        idle::under_load(args.quiet);
    }
    if args.wants("names") {
        names::measure(args.size.names, args.idle);
    }
    if args.wants("queue") {
        queue::measure(args.size.waiting);
    }
    if args.wants("crowd") {
        crowd::measure(args.size.watchers, args.size.silent);
    }
}

/// How many there are of each.
struct Size {
    names: usize,
    waiting: usize,
    watchers: usize,
    silent: usize,
}

const FULL: Size = Size { names: 100_000, waiting: 10_000, watchers: 1_000, silent: 2_000 };
const MOMENT: Size = Size { names: 300, waiting: 60, watchers: 20, silent: 40 };

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
    /// Of which kind leadership is, if it is exclusive.
    kind: Option<&'static str>,
    /// How long before the fault the time began that counts.
    before: fn(&Cluster, u32) -> Duration,
}

const CRASH: Fault = (Cluster::kill, restart);
const STOP: Fault = (Cluster::stop, |cluster, _, id| cluster.cont(id));
const RESIGN: Fault = (resign, |_, _, _| {});
const TRANSFER: Fault = (transfer, |_, _, _| {});

const ROWS: [Row; 9] = [
    Row::of("crash", "kill -9 of the leader", 300, CRASH),
    Row::of("stop", "SIGSTOP of the leader", 100, STOP),
    Row::of("resign", "resign", 200, RESIGN),
    Row::with("async-bully", "crash-async-bully", "kill -9 of the leader, async-bully"),
    Row::with("invitation", "crash-invitation", "kill -9 of the leader, invitation"),
    Row {
        before: since_renewal,
        ..Row::exclusive("lease", "lease-crash", "kill -9, lease: since renewed", 40, CRASH)
    },
    Row::exclusive("token", "token-crash", "kill -9, token", 100, CRASH),
    Row::exclusive("lease", "lease-resign", "resign, lease", 100, RESIGN),
    Row::exclusive("lease", "lease-transfer", "transfer, lease", 100, TRANSFER),
];

impl Row {
    const fn of(name: &'static str, what: &'static str, trials: usize, fault: Fault) -> Self {
        let before = |_: &Cluster, _: u32| Duration::ZERO;
        Self { name, what, protocol: "fjr", nodes: NODES, trials, fault, kind: None, before }
    }

    /// With exclusive leadership of that kind.
    const fn exclusive(
        kind: &'static str,
        name: &'static str,
        what: &'static str,
        trials: usize,
        fault: Fault,
    ) -> Self {
        Self { kind: Some(kind), ..Self::of(name, what, trials, fault) }
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

fn transfer(cluster: &mut Cluster, id: u32) {
    let to = cluster.ids().into_iter().find(|other| *other != id).expect("there are others");
    let answer = cluster.post(id, "/v1/transfer", &format!("{{\"to\":{to}}}"));
    assert_eq!(answer.status, 200, "{}", answer.body);
}

/// How long ago the leader asked for its last renewal that was answered: what it has left says so, with the default terms.
fn since_renewal(cluster: &Cluster, id: u32) -> Duration {
    let left = cluster.get(id, "/v1/status").json()["valid_ms"].as_u64().expect("it leads");
    RELIED_ON.saturating_sub(Duration::from_millis(left))
}

/// For how long a leader relies on a renewal: the default ttl, less the default drift.
const RELIED_ON: Duration = Duration::from_millis(990);

/// That many agents, as a row wants them.
pub(crate) fn shape(nodes: u32, protocol: &'static str, kind: Option<&str>) -> Shape {
    let shape = Shape { protocol, ..Shape::of(nodes) };
    match kind {
        Some("token") => Shape { more: EXCLUSIVE, tables: "[exclusive]\nkind = \"token\"\n", ..shape },
        Some(_) => Shape { more: EXCLUSIVE, ..shape },
        None => shape,
    }
}

const EXCLUSIVE: &str = "mode = \"exclusive\"";

/// How long each took, and how many nodes announced themselves in each.
fn trials(row: &Row, count: usize) -> (Vec<Duration>, Vec<usize>) {
    let Row { protocol, nodes, fault: (down, back), kind, before, .. } = *row;
    let mut cluster = Cluster::prepare(&shape(nodes, protocol, kind));
    cluster.start_all();
    cluster.wait_for_leader();
    let mut feed = Feed::open(&cluster, nodes);
    let (mut times, mut announced) = (Vec::new(), Vec::new());
    while times.len() < count {
        let leader = feed.agreement();
        feed.idle_for(PAUSE + Duration::from_millis(times.len() as u64 * 7 % 50));
        let (earlier, began) = (before(&cluster, leader), Instant::now());
        down(&mut cluster, leader);
        let (_, agreed_at) = feed.agreement_without(Some(leader));
        times.push(earlier + agreed_at.saturating_duration_since(began));
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
    size: Size,
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
        Self { trials: Some(1), idle: moment, quiet: moment, size: MOMENT, only }
    }

    fn full(words: Vec<String>) -> Self {
        let (idle, quiet) = (Duration::from_secs(30), Duration::from_secs(60));
        let mut args = Self { trials: None, idle, quiet, size: FULL, only: None };
        let mut words = words.into_iter().filter(|word| word != "--bench");
        while let Some(word) = words.next() {
            let value = words.next().expect("a value for every option");
            match word.as_str() {
                "--trials" => args.trials = Some(value.parse().expect("a number")),
                "--quiet" => args.quiet = Duration::from_secs(value.parse().expect("a number of seconds")),
                "--names" => args.size.names = value.parse().expect("a number"),
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
