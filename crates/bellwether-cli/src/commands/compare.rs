//! `bellwether compare`: algorithms side by side.
//!
//! | file | |
//! |---|---|
//! | `models.rs` | the eventual leader protocols in every network model |
//! | `families.rs` | what a leader's crash costs in messages, in two families |
//! | `request.rs` | turns the arguments into measurements, or reports what is wrong with them |
//! | `words.rs` | what was measured, in sentences |
//! | `print.rs` | tables |
//! | `files.rs` | CSV, and the plot |

mod families;
mod files;
mod models;
mod print;
mod request;
mod words;

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use bellwether_sim::measure::compare::Row;

use crate::Status;
use crate::args::compare::CompareArgs;
use crate::output::Printer;
use crate::trouble::Trouble;
use crate::work::{self, cores};

use files::Files;
use request::Request;

pub(crate) fn run(args: &CompareArgs, out: &Printer) -> Status {
    if args.families {
        return families::run(args, out);
    }
    if args.scenario.is_none() && args.nodes.is_none() {
        return models::run(args, out);
    }
    match compare(args, out) {
        Ok(()) => Status::Done,
        Err(trouble) => trouble.told(out),
    }
}

fn compare(args: &CompareArgs, out: &Printer) -> Result<(), Trouble> {
    let request = request::read(args)?;
    let files = Files::open(args)?;
    let rows = measure(&request, args.threads.map_or_else(cores, usize::from), out);
    if args.json {
        rows.iter().for_each(|row| out.line(serde_json::to_string(row).expect("a row is plain data")));
    } else {
        print::text(&request, &rows, out);
    }
    files.write(&request, &rows)
}

fn measure(request: &Request, threads: usize, out: &Printer) -> Vec<Row> {
    let meter = Meter { done: AtomicUsize::new(0), all: request.jobs() };
    let done = || {
        meter.done.fetch_add(1, Ordering::Relaxed);
    };
    work::shown(out, &meter, || request.measure(threads, &done))
}

/// How many runs are over.
struct Meter {
    done: AtomicUsize,
    all: usize,
}

impl fmt::Display for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = self.done.load(Ordering::Relaxed);
        write!(f, "{:·<20} {done} of {} runs", "━".repeat(20 * done / self.all.max(1)), self.all)
    }
}
