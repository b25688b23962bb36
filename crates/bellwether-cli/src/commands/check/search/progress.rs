//! Plays the plans, and shows progress.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, IsTerminal};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use bellwether_proto::promise::Property;
use bellwether_sim::swarm::reached::Situation;
use bellwether_sim::swarm::{self, Outcome, Played, Search, Watcher};

use crate::output::Printer;
use crate::work;

/// How wide the bar is.
const BAR: u64 = 12;

/// Searches; a person who waits sees how far it is.
pub(super) fn search(search: &Search, stop: &AtomicBool, out: &Printer) -> Outcome {
    if !io::stderr().is_terminal() {
        return swarm::search(search, &(), stop);
    }
    let meter = Meter::new(search);
    work::shown(out, &meter, || swarm::search(search, &meter, stop))
}

/// How far a search is.
#[derive(Debug)]
struct Meter {
    name: &'static str,
    runs: u64,
    must_reach: BTreeSet<Situation>,
    began: Instant,
    so_far: Mutex<SoFar>,
}

#[derive(Debug, Default)]
struct SoFar {
    runs: u64,
    events: u64,
    broken: BTreeSet<Property>,
    reached: BTreeSet<Situation>,
}

impl Meter {
    fn new(search: &Search) -> Self {
        Self {
            name: search.protocol.name(),
            runs: search.runs,
            must_reach: search.must_reach().into_iter().collect(),
            began: Instant::now(),
            so_far: Mutex::default(),
        }
    }

    fn so_far(&self) -> MutexGuard<'_, SoFar> {
        self.so_far.lock().expect("nobody panics while counting")
    }
}

impl Watcher for Meter {
    fn played(&self, _: u64, played: &Played) {
        let mut so_far = self.so_far();
        so_far.runs += 1;
        so_far.events += played.events;
        let broken = played.findings.iter().filter(|finding| finding.violation.is_some());
        so_far.broken.extend(broken.map(|finding| finding.property));
        so_far.reached.extend(played.reached.iter().filter(|reached| self.must_reach.contains(reached)));
    }
}

impl fmt::Display for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let so_far = self.so_far();
        let SoFar { runs, events, .. } = *so_far;
        let seconds = self.began.elapsed().as_secs_f64();
        let filled = usize::try_from(u128::from(runs) * u128::from(BAR) / u128::from(self.runs)).unwrap_or(0);
        write!(f, "{} {:·<2$}", self.name, "━".repeat(filled), BAR as usize)?;
        write!(f, " {runs}/{}", self.runs)?;
        write!(f, " {:.0} runs/s {:.1} M ev/s", runs as f64 / seconds, events as f64 / seconds / 1e6)?;
        write!(
            f,
            ", {} broken, reached {}/{}",
            so_far.broken.len(),
            so_far.reached.len(),
            self.must_reach.len()
        )
    }
}
