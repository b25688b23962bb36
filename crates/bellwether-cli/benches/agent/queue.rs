//! Very many sessions that wait for one name. It is given back, and one of them has it: what all others are told.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::cluster::{Cluster, Shape, wait_until};
use super::figure::{Better, keep};
use super::gauge::cpu_seconds;
use super::shape;

const NODES: u32 = 3;
const NAME: &str = "wanted";
const PATIENCE: Duration = Duration::from_secs(300);
/// What is told because of a change is told within this.
const ECHO: Duration = Duration::from_millis(1_000);
/// The first so many are told their places anew.
const PLACES: usize = 16;
/// How often it is given back.
const RELEASES: usize = 5;

/// What events a stream was told of, and how often.
type Told = BTreeMap<String, usize>;

pub(crate) fn measure(waiting: usize) {
    let mut cluster = Cluster::prepare(&Shape { socket: true, ..shape(NODES, "fjr", Some("lease")) });
    cluster.start_all();
    let leader = cluster.wait_for_leader();
    let mut holder = cluster.socket(leader).campaign(NAME, "");
    holder.elected();
    let mut waiters: Vec<Waiter> =
        (1..=NODES).cycle().take(waiting).map(|id| Waiter::beside(&cluster, id)).collect();
    let placed = wait_until(PATIENCE, || {
        waiters.iter_mut().filter(|waiter| !waiter.has_place()).for_each(Waiter::hear);
        waiters.iter().all(Waiter::has_place)
    });
    assert!(placed, "not all have a place in the queue");
    // Those that came later may go before others: they waited longer when it was heard of them.
    let rests = wait_until(PATIENCE, || {
        pause(ECHO);
        hear_all(&mut waiters).is_empty()
    });
    assert!(rests, "the queue does not come to rest");
    let cpu = || (1..=NODES).map(|id| cpu_seconds(cluster.pid(id))).sum::<f64>();
    let mut told = Told::new();
    let mut took = 0.0;
    drop(holder);
    for _ in 0..RELEASES {
        let before = cpu();
        let first = next_holder(&mut waiters, &mut told);
        took += cpu() - before;
        // It closes its stream, and so gives the name back.
        waiters.swap_remove(first);
    }
    let count = |event: &str| told.get(event).copied().unwrap_or(0);
    let (elected, places) = (count("elected"), count("waiting"));
    println!(
        "\n{waiting} sessions wait for a name, and {RELEASES} times whoever has it gives it back: {elected} were told that they have it, \
         {:.1} for each that their places are other ones; {:.1} ms of CPU time for each, all agents together",
        places as f64 / RELEASES as f64,
        took * 1e3 / RELEASES as f64
    );
    assert_eq!(elected, RELEASES, "{told:?}");
    let others = told.values().sum::<usize>() - elected;
    assert!(others == places && places <= RELEASES * PLACES, "nobody else is told anything: {told:?}");
    let others = others as f64 / RELEASES as f64;
    keep("queue, a release: told beside the next holder", others, "sessions", Better::Lower);
}

/// Waits until somebody has the name, and everybody has heard whatever there is to be heard because of that: who has it.
fn next_holder(waiters: &mut [Waiter], told: &mut Told) -> usize {
    let has_it = |waiters: &[Waiter]| waiters.iter().position(|waiter| waiter.told.contains_key("elected"));
    let elected = wait_until(PATIENCE, || {
        waiters.iter_mut().for_each(Waiter::hear);
        has_it(waiters).is_some()
    });
    assert!(elected, "nobody is told that it has the name");
    pause(ECHO);
    let first = has_it(waiters).expect("it was told so");
    for (event, count) in hear_all(waiters) {
        // What it holds goes on being valid.
        *told.entry(event).or_default() += if event == "valid" { 0 } else { count };
    }
    first
}

fn pause(time: Duration) {
    let began = Instant::now();
    wait_until(time * 2, || began.elapsed() >= time);
}

/// A session that waits.
struct Waiter {
    stream: UnixStream,
    /// The beginning of a line.
    unheard: String,
    told: Told,
    has_place: bool,
}

impl Waiter {
    fn beside(cluster: &Cluster, id: u32) -> Self {
        let mut stream = UnixStream::connect(cluster.socket_path(id)).expect("the agent listens");
        let asked = format!("POST /v1/elections/{NAME}/campaign HTTP/1.0\r\nhost: localhost\r\n\r\n");
        stream.write_all(asked.as_bytes()).expect("the agent reads");
        stream.set_nonblocking(true).expect("it is a socket");
        Self { stream, unheard: String::new(), told: Told::new(), has_place: false }
    }

    /// Whether it knows how many go before it.
    fn has_place(&self) -> bool {
        self.has_place
    }

    /// Hears what was told, if anything was.
    fn hear(&mut self) {
        let mut bytes = [0; 4096];
        loop {
            match self.stream.read(&mut bytes) {
                Ok(0) => panic!("the stream goes on: {}", self.unheard),
                Ok(read) => {
                    self.unheard.push_str(str::from_utf8(&bytes[..read]).expect("all of it is ASCII"))
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => panic!("{error}"),
            }
        }
        let whole = self.unheard.rfind('\n').map_or(0, |end| end + 1);
        for line in self.unheard.drain(..whole).collect::<String>().lines() {
            self.has_place |= line.contains("\"position\":") && !line.contains("\"position\":null");
            if let Some(event) = line.strip_prefix("event: ") {
                *self.told.entry(event.to_owned()).or_default() += 1;
            }
        }
    }
}

/// What all were told since the last time.
fn hear_all(waiters: &mut [Waiter]) -> Told {
    let mut all = Told::new();
    for waiter in waiters {
        waiter.hear();
        for (event, count) in std::mem::take(&mut waiter.told) {
            *all.entry(event).or_default() += count;
        }
    }
    all
}
