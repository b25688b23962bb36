//! Many programs write and read many names while agents are killed and stopped.

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::linear::{Act, Call, History, Version};
use super::{PROMISED, with_sockets};
use crate::cluster::dice::Dice;
use crate::cluster::{Cluster, Door, Events, wait_until};

const AGENTS: u32 = 3;
const PROGRAMS: u64 = 12;
const NAMES: u64 = 6;
/// A short one: whoever is next waits for it when an agent is killed.
const LEASE: &str = "[exclusive]\nttl = \"300ms\"\n[log]\ntrace = \"trace.jsonl\"\n";
/// So often a program proclaims something before it gives a name back, at most.
const PROCLAIMS: u64 = 6;

/// `BELLWETHER_TEST_CALLS` of them, fifteen hundred by default, drawn from `BELLWETHER_SEED`.
#[test]
#[expect(clippy::print_stdout, reason = "how much was judged is told with the long counts")]
fn what_is_read_from_a_majority_is_what_was_written_last() {
    let number = |name: &str, default| env::var(name).map_or(default, |value| value.parse().unwrap());
    let (calls, seed) = (number("BELLWETHER_TEST_CALLS", 1_500), number("BELLWETHER_SEED", 1));
    let mut cluster = with_sockets(AGENTS, LEASE);
    let left = Arc::new(AtomicU64::new(calls));
    let programs: Vec<_> = (0..PROGRAMS).map(|no| Program::start(&cluster, no, seed, &left)).collect();
    let mut faults = Dice::of(seed);
    while programs.iter().any(|program| !program.is_finished()) {
        befall(&mut cluster, &mut faults);
        wait_until(Duration::from_millis(100 + faults.below(500_u64)), || left.load(Ordering::Relaxed) == 0);
    }
    let mut history = History::default();
    for program in programs {
        history.calls.extend(program.join().expect("a program does not fail"));
    }
    let counts = |act| history.calls.iter().filter(|call| call.act == act && call.ends.is_some()).count();
    let (wrote, read) = (counts(Act::Wrote), counts(Act::Read));
    assert!(wrote > 0 && read > 0, "{wrote} written, {read} read");
    history.judge().unwrap_or_else(|wrong| {
        let replay = format!("BELLWETHER_SEED={seed} BELLWETHER_TEST_CALLS={calls}, this test");
        panic!("{wrong}\n{wrote} written, {read} read; to have the same drawn again: {replay}")
    });
    println!("{wrote} written and {read} read by {PROGRAMS} programs, in an order that there is");
    // Whether they would agree in calm is not asked here.
    let judgement = cluster.records(cluster.wait_for_leader()).check();
    for promise in PROMISED {
        assert_eq!(judgement.finds_that(promise), Some(true), "{promise}: {:#}", judgement.said);
    }
}

fn befall(cluster: &mut Cluster, dice: &mut Dice) {
    let id = 1 + dice.below(AGENTS);
    match dice.below(4_u32) {
        0 => {
            cluster.kill(id);
            cluster.start_node(id);
        }
        1 => {
            // Longer than a lease, or not.
            cluster.stop(id);
            wait_until(Duration::from_millis(100 + dice.below(600_u64)), || false);
            cluster.cont(id);
        }
        2 => {
            let resign = r#"{"hold":"100ms"}"#;
            let _ = cluster.port(id).try_ask("POST", "/v1/resign", resign);
        }
        _ => {}
    }
}

/// A program, with what it has done.
struct Program {
    no: u64,
    doors: Vec<Door>,
    dice: Dice,
    /// How many calls are left to all.
    left: Arc<AtomicU64>,
    calls: Vec<Call>,
    campaigns: u64,
}

impl Program {
    fn start(cluster: &Cluster, no: u64, seed: u64, left: &Arc<AtomicU64>) -> JoinHandle<Vec<Call>> {
        let doors = cluster.ids().into_iter().map(|id| cluster.socket(id)).collect();
        let dice = Dice::of(seed.wrapping_mul(1_000).wrapping_add(no));
        let mut program = Self { no, doors, dice, left: Arc::clone(left), calls: Vec::new(), campaigns: 0 };
        thread::spawn(move || {
            while program.goes_on() {
                match program.dice.below(3_u32) {
                    0 => program.holds_a_name(),
                    _ => program.reads(),
                }
            }
            program.calls
        })
    }

    fn goes_on(&self) -> bool {
        self.left.load(Ordering::Relaxed) > 0
    }

    fn door(&mut self) -> Door {
        let which = self.dice.below(AGENTS) as usize;
        self.doors[which].clone()
    }

    fn note(&mut self, call: Call) {
        self.calls.push(call);
        let _ =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(1)));
    }

    fn reads(&mut self) {
        let (name, door, begins) = (self.dice.below(NAMES), self.door(), Instant::now());
        let answer = door.try_ask("GET", &format!("/v1/elections/name-{name}?read=quorum"), "");
        let ends = Instant::now();
        let seen = match answer {
            Some(answer) if answer.status == 200 => version(&answer.json()),
            Some(answer) if answer.status == 404 => (Version::NONE, None),
            _ => return pause(),
        };
        self.note(call(name, begins, Some(ends), Act::Read, seen));
    }

    /// Holds a name, proclaims something, and gives it back.
    fn holds_a_name(&mut self) {
        let (name, door) = (self.dice.below(NAMES), self.door());
        self.campaigns += 1;
        let holder = self.campaigns * PROGRAMS + self.no;
        let (path, begins) = (format!("/v1/elections/name-{name}"), Instant::now());
        let body = json!({ "value": value(holder, 0) }).to_string();
        let Some(mut stream) = door.open_if_up("POST", &format!("{path}/campaign"), &body) else {
            return pause();
        };
        let Some(session) = told(&mut stream, "session") else { return };
        let Some(elected) = told(&mut stream, "elected") else { return };
        let token = elected["token"].as_u64().expect("a token");
        let held = |step| (Version { token, step }, Some(holder));
        self.note(call(name, begins, Some(Instant::now()), Act::Wrote, held(0)));
        for step in 1..=self.dice.below(PROCLAIMS + 1) {
            let (begins, body) = (Instant::now(), json!({ "token": token, "value": value(holder, step) }));
            let answer = door.try_ask("PUT", &format!("{path}/value"), &body.to_string());
            let is_done = answer.is_some_and(|answer| answer.status == 200);
            let ends = is_done.then(Instant::now);
            self.note(call(name, begins, ends, Act::Wrote, held(step)));
            if !is_done {
                break;
            }
        }
        let (begins, session) = (Instant::now(), session["session"].as_str().expect("an id"));
        let answer = door.try_ask("DELETE", &format!("/v1/session/{session}/campaign/name-{name}"), "");
        let ends = answer.filter(|answer| answer.status == 200).map(|_| Instant::now());
        self.note(call(name, begins, ends, Act::Left, (Version::given_back(token), Some(holder))));
    }
}

fn call(
    name: u64,
    begins: Instant,
    ends: Option<Instant>,
    act: Act,
    (version, holder): (Version, Option<u64>),
) -> Call {
    let name = usize::try_from(name).expect("it is small");
    Call { name, begins, ends, act, version, holder }
}

/// What a campaign proclaims: no two proclaim the same.
fn value(holder: u64, step: u64) -> String {
    format!("{holder}:{step}")
}

fn version(election: &Value) -> (Version, Option<u64>) {
    let token = election["token"].as_u64().expect("a token");
    if election["holder"].is_null() {
        return (Version::given_back(token), None);
    }
    let value = election["value"].as_str().expect("a text");
    let (holder, step) = value.split_once(':').expect("a campaign and a number");
    (Version { token, step: step.parse().unwrap() }, Some(holder.parse().unwrap()))
}

/// The next event of that name; `None` if the stream ends before it.
fn told(stream: &mut Events, name: &str) -> Option<Value> {
    std::iter::from_fn(|| stream.any()).find(|(found, _)| found == name).map(|(_, said)| said)
}

/// Whoever is not answered does not ask again at once.
fn pause() {
    wait_until(Duration::from_millis(10), || false);
}
