//! Finding one flaw.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use bellwether_proto::election::Variant;
use bellwether_sim::flaw::{Flaw, Found, Hunt, Repaired};
use bellwether_sim::run;
use bellwether_sim::shrink::{Effort, Shrunk};

/// How often a person who waits is told how far it is.
const TELL: Duration = Duration::from_millis(100);

/// What came of a hunt.
pub(super) enum Hunted {
    /// The flaw was found.
    Found(Box<Shown>),
    /// It was not, in so many plans.
    Missed(u64),
}

/// A flaw that was found.
pub(super) struct Shown {
    pub(super) seed: u64,
    /// Plans played until it was found.
    pub(super) runs: u64,
    pub(super) shrunk: Shrunk,
    /// Everything that happens in the shrunk run.
    pub(super) steps: u64,
    /// What the repaired algorithm did in the same search, unless nobody looked.
    pub(super) repaired: Option<Repaired>,
    pub(super) times: Times,
}

/// How long it took.
#[derive(Clone, Copy, Default)]
pub(super) struct Times {
    pub(super) find: Duration,
    pub(super) shrink: Duration,
    pub(super) repaired: Duration,
}

impl Hunted {
    /// Whether the flaw was found, and the repaired algorithm is without it if the file says so.
    pub(super) fn is_as_told(&self, hunt: &Hunt) -> bool {
        match self {
            Self::Found(shown) => {
                let broken = shown.repaired.as_ref().is_some_and(|repaired| !repaired.broken.is_empty());
                hunt.unrepaired.is_some() || !broken
            }
            Self::Missed(_) => false,
        }
    }
}

/// Searches, shrinks, and searches the repaired algorithm.
pub(super) fn hunt(flaw: &Flaw, hunt: &Hunt, threads: usize, tell: impl Fn(&str)) -> Hunted {
    let never = AtomicBool::new(false);
    let began = Instant::now();
    let found = told(&tell, "searching", hunt.runs, |tell| hunt.find(threads, &never, tell));
    let Some(found) = found else { return Hunted::Missed(hunt.runs) };
    let find = began.elapsed();
    tell("shrinking …");
    let began = Instant::now();
    let mut shown = shrink(flaw, hunt, &found, threads);
    let shrink = began.elapsed();
    let began = Instant::now();
    let repaired =
        told(&tell, "the repaired one", hunt.runs, |tell| hunt.search_repaired(threads, &never, tell));
    shown.repaired = Some(repaired);
    shown.times = Times { find, shrink, repaired: began.elapsed() };
    Hunted::Found(Box::new(shown))
}

/// Does again with a plan what was done when it was found.
pub(super) fn replay(flaw: &Flaw, hunt: &Hunt, seed: u64, threads: usize) -> Result<Shown, String> {
    let wrong = |why: &str| format!("{}: {why}", flaw.erratum);
    let last = hunt.seed + hunt.runs - 1;
    if !(hunt.seed..=last).contains(&seed) {
        return Err(wrong(&format!(
            "plan {seed} is not in the search, whose seeds are {} to {last}",
            hunt.seed
        )));
    }
    if !hunt.shows(seed) {
        return Err(wrong(&format!("plan {seed} does not show the flaw any more")));
    }
    let found = Found { seed, runs: seed - hunt.seed + 1, scenario: hunt.draw(Variant::Printed, seed) };
    Ok(shrink(flaw, hunt, &found, threads))
}

fn shrink(flaw: &Flaw, hunt: &Hunt, found: &Found, threads: usize) -> Shown {
    let effort = Effort { threads, ..Effort::default() };
    let mut shrunk = hunt.shrink(found, &effort).expect("what was found shows the flaw");
    shrunk.scenario.name = format!("{}: {}", flaw.erratum, flaw.title);
    let mut steps = 0;
    run::run_with(&shrunk.scenario, Box::new(|_| steps += 1));
    let (seed, runs) = (found.seed, found.runs);
    Shown { seed, runs, shrunk, steps, repaired: None, times: Times::default() }
}

/// Does something that counts, and tells from time to time how far it is.
fn told<T: Send>(
    tell: impl Fn(&str),
    what: &str,
    all: u64,
    work: impl FnOnce(&(dyn Fn(u64) + Sync)) -> T + Send,
) -> T {
    let played = AtomicU64::new(0);
    thread::scope(|scope| {
        let (sender, done) = channel();
        let count = &played;
        scope.spawn(move || {
            let result = work(&|so_far| {
                count.fetch_max(so_far, Ordering::Relaxed);
            });
            // Whoever waits for it is there until it comes.
            let _ = sender.send(result);
        });
        loop {
            match done.recv_timeout(TELL) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Timeout) => {
                    tell(&format!("{what}, {} of {all} plans …", played.load(Ordering::Relaxed)));
                }
                Err(RecvTimeoutError::Disconnected) => panic!("the search ended without an answer"),
            }
        }
    })
}
