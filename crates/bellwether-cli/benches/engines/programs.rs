//! Programs that hold a name with three agents, over their Unix sockets.

use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use super::cluster::{Cluster, Shape, bellwether, wait_until};
use super::program::Program;
use super::role::{NAME, Role};
use super::{NODES, PAUSE};

const PATIENCE: Duration = Duration::from_secs(20);
const DAY: u64 = 86_400_000_000_000;

/// Three agents with sockets.
pub(crate) struct Agents(Cluster);

/// How long things took until the command of the next `exec` began: from the end of the last, and from when the agent knew that it holds
/// the name.
#[derive(Default)]
pub(crate) struct Starts {
    pub(crate) since_killed: Vec<Duration>,
    pub(crate) since_elected: Vec<Duration>,
}

impl Agents {
    pub(crate) fn start() -> Self {
        let shape = Shape { more: "mode = \"exclusive\"", socket: true, ..Shape::of(NODES) };
        let mut cluster = Cluster::prepare(&shape);
        cluster.start_all();
        cluster.wait_for_leader();
        Self(cluster)
    }

    /// Kills the program that holds a name, that many times, and says how long it took until one that waits at another agent was told that it
    /// holds it.
    pub(crate) fn failovers(&self, trials: usize) -> Vec<Duration> {
        let hold = |trial: usize| {
            let socket = self.0.socket_path(at(trial)).display().to_string();
            Program::start(&mut Role::Hold { socket }.command())
        };
        let mut holder = hold(0);
        holder.until("event: elected");
        let mut times = Vec::new();
        while times.len() < trials {
            let mut next = hold(times.len() + 1);
            self.wait_for_next(times.len());
            let began = Instant::now();
            drop(holder);
            times.push(next.until("event: elected").1.saturating_duration_since(began));
            holder = next;
        }
        drop(holder);
        self.wait_until_free();
        times
    }

    /// The same with `exec`, whose command prints when it began.
    pub(crate) fn exec_starts(&self, trials: usize) -> Starts {
        let hold = |trial: usize| {
            let mut exec = bellwether();
            exec.args(["exec", "--name", NAME, "--socket"]).arg(self.0.socket_path(at(trial)));
            exec.arg("--").args(Role::Stamp.words());
            Program::start(&mut exec)
        };
        let mut holder = hold(0);
        began(&mut holder);
        let mut starts = Starts::default();
        while starts.since_killed.len() < trials {
            let trial = starts.since_killed.len();
            let mut next = hold(trial + 1);
            self.wait_for_next(trial);
            let killed = now();
            drop(holder);
            let began = began(&mut next);
            starts.since_killed.push(Duration::from_nanos(began.saturating_sub(killed)));
            starts.since_elected.push(self.elected_before(at(trial + 1), began));
            holder = next;
        }
        drop(holder);
        self.wait_until_free();
        starts
    }

    /// Somebody waits, and nothing has happened for a while: the moment within a period differs.
    fn wait_for_next(&self, trial: usize) {
        let status = || self.0.socket(at(trial + 1)).get("/v1/status").json();
        let waits = || status()["elections"]["waiting"] == 1;
        assert!(wait_until(PATIENCE, waits), "the next one waits: {}", status());
        let pause = Instant::now() + PAUSE + Duration::from_millis(trial as u64 * 37 % 200);
        wait_until(PATIENCE, || Instant::now() >= pause);
    }

    fn wait_until_free(&self) {
        assert!(wait_until(PATIENCE, || self.election(1)["holder"].is_null()), "{}", self.election(1));
    }

    fn election(&self, node: u32) -> Value {
        self.0.socket(node).get(&format!("/v1/elections/{NAME}")).json()
    }

    /// How long before that the agent knew who holds the name: it says so to the millisecond, rounded down.
    fn elected_before(&self, node: u32, at: u64) -> Duration {
        let said = self.election(node);
        let since = said["since"].as_str().expect("it is held");
        let nanos = since_midnight(since).unwrap_or_else(|| panic!("{since:?} is a time"));
        Duration::from_nanos((at % DAY + DAY - nanos) % DAY)
    }
}

/// One agent after the other.
fn at(trial: usize) -> u32 {
    u32::try_from(trial).expect("few trials") % NODES + 1
}

/// When its command began, in nanoseconds since 1970.
fn began(exec: &mut Program) -> u64 {
    let (line, _) = exec.until("began ");
    line.trim_start_matches("began ").trim().parse().expect("a number")
}

fn now() -> u64 {
    let since = SystemTime::UNIX_EPOCH.elapsed().expect("it is after 1970");
    u64::try_from(since.as_nanos()).expect("it is not the year 2500")
}

/// The nanoseconds of the day in `2026-03-01T12:30:00.250Z`.
fn since_midnight(time: &str) -> Option<u64> {
    let (hours, rest) = time.split_once('T')?.1.trim_end_matches('Z').split_once(':')?;
    let (minutes, seconds) = rest.split_once(':')?;
    let (seconds, millis) = seconds.split_once('.')?;
    let number = |text: &str| text.parse::<u64>().ok();
    let seconds = (number(hours)? * 60 + number(minutes)?) * 60 + number(seconds)?;
    Some((seconds * 1_000 + number(millis)?) * 1_000_000)
}
