//! `bellwether check PROTOCOL | --all`: plays many plans of faults in search of a broken promise.
//!
//! | file | |
//! |---|---|
//! | `request.rs` | turns the arguments into searches, or reports what is wrong with them |
//! | `progress.rs` | plays the plans, and shows progress |
//! | `counterexample.rs` | a violation, shrunk, replayable, and kept in files |
//! | `commands.rs` | the commands that a person may want to type next |
//! | `print.rs` | the result |

mod commands;
mod counterexample;
mod print;
mod progress;
mod request;

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bellwether_sim::swarm::reached::Situation;
use bellwether_sim::swarm::{Outcome, Search};

use super::picture::Picture;
use crate::Status;
use crate::args::check::CheckArgs;
use crate::output::Printer;
use crate::signals::stop_when_asked;
use crate::trouble::Trouble;

use counterexample::Counterexample;

pub(super) use counterexample::folder;

pub(super) fn run(args: &CheckArgs, out: &Printer) -> Status {
    search_all(args, out).unwrap_or_else(|trouble| trouble.told(out))
}

fn search_all(args: &CheckArgs, out: &Printer) -> Result<Status, Trouble> {
    let searches = request::searches(args)?;
    let folder = args.search.out.as_deref().map(folder).transpose()?;
    let mut picture = args.search.diagram.as_deref().map(Picture::reserve).transpose()?;
    let stop = stop_when_asked().map_err(Trouble::failed)?;
    let (mut searched, mut left) = (Vec::new(), Vec::new());
    for search in searches {
        if stop.load(Ordering::Relaxed) {
            left.push(search);
            continue;
        }
        let began = Instant::now();
        let outcome = progress::search(&search, &stop, out);
        let took = began.elapsed();
        let mut found = counterexample::of(&search, &outcome, folder.as_deref(), &stop, out)?;
        if let Some(first) = found.first_mut()
            && let Some(svg) = first.picture()
            && let Some(picture) = picture.take()
        {
            first.files.push(picture.draw(&svg)?);
        }
        let one = Searched { search, outcome, took, found };
        if args.json {
            out.line(print::json(&one));
        }
        left.extend(one.rest());
        searched.push(one);
    }
    if !args.json {
        print::text(&searched, &left, out);
    }
    Ok(if searched.iter().any(|one| !one.found.is_empty()) {
        Status::No
    } else if !left.is_empty() {
        Status::Interrupted
    } else if searched.iter().any(Searched::judged_nothing) {
        Status::Failed
    } else {
        Status::Done
    })
}

/// A search that is over.
#[derive(Debug)]
struct Searched {
    search: Search,
    outcome: Outcome,
    took: Duration,
    /// One for each property that was broken.
    found: Vec<Counterexample>,
}

impl Searched {
    /// What is left to search, if it was interrupted.
    fn rest(&self) -> Option<Search> {
        let runs = self.search.runs - self.outcome.runs;
        let first_seed = self.search.first_seed + self.outcome.runs;
        (runs > 0).then(|| Search { first_seed, runs, ..self.search.clone() })
    }

    /// Whether nothing that the algorithm promises had occasion to be broken: then nothing is known.
    fn judged_nothing(&self) -> bool {
        let promises = self.search.protocol.spec().promises(self.search.variant);
        !promises.iter().any(|promise| self.outcome.judged.contains_key(&promise.property))
    }

    /// Expected situations that never occurred.
    fn missed(&self) -> Vec<Situation> {
        let must = self.search.must_reach().into_iter();
        must.filter(|situation| !self.outcome.reached.contains_key(situation)).collect()
    }
}
