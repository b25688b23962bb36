//! Finding one flaw.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use bellwether_proto::election::Variant;
use bellwether_sim::flaw::{Flaw, Found, Hunt, Repaired};
use bellwether_sim::run;
use bellwether_sim::shrink::{Effort, Shrunk};

/// How often progress is shown.
const TELL: Duration = Duration::from_millis(100);

/// The result of a hunt.
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
    /// What the repaired algorithm did in the same search, if it was played.
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
    /// Whether the flaw was found, and the repaired algorithm is with or without it, as the file says.
    pub(super) fn is_as_told(&self, hunt: &Hunt) -> bool {
        match self {
            Self::Found(shown) => shown.repair(hunt).is_none_or(Repair::is_as_told),
            Self::Missed(_) => false,
        }
    }
}

/// What the search of the repaired algorithm says about the repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repair {
    /// Nothing is broken, in this many plans in which the printed algorithm's flaw could have shown.
    Clean(u64),
    /// Nothing is broken, but nothing could have been.
    Untried,
    /// It is broken in so many plans.
    Broken(usize),
    /// It is broken in so many plans, and the file says so.
    Unrepaired(usize),
    /// The file says that it is broken, and it is not.
    Stale,
}

impl Repair {
    fn of(repaired: &Repaired, hunt: &Hunt) -> Self {
        match (repaired.broken.len(), &hunt.unrepaired) {
            (0, Some(_)) => Self::Stale,
            (0, None) if repaired.judged == 0 => Self::Untried,
            (0, None) => Self::Clean(repaired.judged),
            (broken, Some(_)) => Self::Unrepaired(broken),
            (broken, None) => Self::Broken(broken),
        }
    }

    pub(super) fn is_as_told(self) -> bool {
        match self {
            Self::Clean(_) | Self::Unrepaired(_) => true,
            Self::Untried | Self::Broken(_) | Self::Stale => false,
        }
    }
}

impl Shown {
    /// Unless nobody looked.
    pub(super) fn repair(&self, hunt: &Hunt) -> Option<Repair> {
        self.repaired.as_ref().map(|repaired| Repair::of(repaired, hunt))
    }
}

/// Searches, shrinks, and searches the repaired algorithm. Nothing if it was stopped.
pub(super) fn hunt(
    flaw: &Flaw,
    hunt: &Hunt,
    threads: usize,
    stop: &AtomicBool,
    tell: impl Fn(&str),
) -> Option<Hunted> {
    let goes_on = || !stop.load(Ordering::Relaxed);
    if !goes_on() {
        return None;
    }
    let began = Instant::now();
    let found = told(&tell, "searching", hunt.runs, |tell| hunt.find(threads, stop, tell));
    let Some(found) = found else { return goes_on().then_some(Hunted::Missed(hunt.runs)) };
    let find = began.elapsed();
    tell("shrinking …");
    let began = Instant::now();
    let mut shown = shrink(flaw, hunt, &found, threads, stop);
    let shrink = began.elapsed();
    let began = Instant::now();
    let repaired =
        told(&tell, "the repaired one", hunt.runs, |tell| hunt.search_repaired(threads, stop, tell));
    shown.repaired = Some(repaired);
    shown.times = Times { find, shrink, repaired: began.elapsed() };
    goes_on().then(|| Hunted::Found(Box::new(shown)))
}

/// Replays a plan as when it was found.
pub(super) fn replay(
    flaw: &Flaw,
    hunt: &Hunt,
    seed: u64,
    threads: usize,
    stop: &AtomicBool,
) -> Result<Shown, String> {
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
    Ok(shrink(flaw, hunt, &found, threads, stop))
}

fn shrink(flaw: &Flaw, hunt: &Hunt, found: &Found, threads: usize, stop: &AtomicBool) -> Shown {
    let effort = Effort { threads, ..Effort::default() };
    let mut shrunk = hunt.shrink(found, &effort, stop).expect("what was found shows the flaw");
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

#[cfg(test)]
mod tests {
    use bellwether_sim::flaw::Evidence;

    use super::*;

    const FLAW: &str = r#"
erratum = "E-X1"
title = "a Halt is lost"
protocol = "async-bully"
property = "ALE2'"
story = "A Halt is lost."
search = { seed = 1, runs = 9, faults = ["loss"] }
"#;

    /// A clean run of the repaired algorithm counts only if there was something to judge in it, and a mark only if
    /// something is broken.
    #[test]
    fn what_is_said_of_a_repair_is_what_was_found() {
        let Evidence::Run(told) = Flaw::parse("E-X1.toml", FLAW).unwrap().evidence else {
            panic!("it has a search")
        };
        let marked = Hunt { unrepaired: Some("it is hard".to_owned()), ..(*told).clone() };
        let repaired = |judged, broken: &[u64]| Repaired { runs: 9, judged, broken: broken.to_vec() };
        for (hunt, repaired, repair, as_told) in [
            (&*told, repaired(5, &[]), Repair::Clean(5), true),
            (&*told, repaired(0, &[]), Repair::Untried, false),
            (&*told, repaired(5, &[3]), Repair::Broken(1), false),
            (&marked, repaired(5, &[3, 4]), Repair::Unrepaired(2), true),
            (&marked, repaired(5, &[]), Repair::Stale, false),
        ] {
            let found = Repair::of(&repaired, hunt);
            assert_eq!((found, found.is_as_told()), (repair, as_told), "{repaired:?}");
        }
    }
}
