//! The mutation score: how many of a fixed sample of small bugs, put into the algorithms, the detectors and the leadership
//! layer one at a time, the tests notice.
//!
//! Run: make mutants, or cargo run -p bellwether-sim --example mutants -- [--sample N] [--seed N] [--out FILE] [--list]
//!
//! `cargo mutants` makes the bugs and runs the tests, in a copy of the sources in `target/mutants`; `.cargo/mutants.toml`
//! says where it may make them. Stopped, it goes on where it was: verdicts are kept, and hold until what they rest on changes.

#![allow(clippy::print_stdout, reason = "a report for people")]

mod document;
mod sample;
mod stage;
mod tree;
mod verdicts;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use document::Reasons;
use sample::Mutant;
use stage::Stage;
use verdicts::Verdicts;

/// How many are judged between two notes of how far it has come, so that what was judged is a fair sample at any time.
const BATCH: usize = 100;

fn main() -> ExitCode {
    let Some(args) = Args::read() else {
        println!("usage: mutants [--sample N] [--seed N] [--out FILE] [--list]");
        return ExitCode::from(2);
    };
    match run(&args) {
        Ok(code) => code,
        Err(problem) => {
            println!("mutants: {problem}");
            ExitCode::from(3)
        }
    }
}

struct Args {
    sample: usize,
    seed: u64,
    /// Where the report goes, if not only to the screen.
    out: Option<PathBuf>,
    /// Only say which mutants are in the sample, and what is known of each.
    list: bool,
}

impl Args {
    fn read() -> Option<Self> {
        let mut args = Self { sample: 220, seed: 1, out: None, list: false };
        let mut words = env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--sample" => args.sample = words.next()?.parse().ok()?,
                "--seed" => args.seed = words.next()?.parse().ok()?,
                "--out" => args.out = Some(words.next()?.into()),
                "--list" => args.list = true,
                _ => return None,
            }
        }
        Some(args)
    }
}

fn run(args: &Args) -> Result<ExitCode, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().map_err(said("."))?;
    let work = root.join("target/mutants");
    fs::create_dir_all(&work).map_err(said(&work))?;
    let lock = fs::File::create(work.join("lock")).map_err(said(&work))?;
    lock.try_lock().map_err(|_| format!("{} is in use: another run has not ended", work.display()))?;
    let reasons = Reasons::read(&root)?;
    let tree = tree::copy(&root, &work.join("tree"))?;
    let all = sample::list(&tree.path)?;
    reasons.are_about(&all)?;
    let sample = sample::pick(&all, args.sample, args.seed);
    let mut verdicts = Verdicts::read(&work, tree.fingerprint)?;
    verdicts.harvest()?;
    if !args.list {
        judge(&tree.path, &sample, &mut verdicts)?;
    }
    let report =
        document::Report { of: all.len(), seed: args.seed, sample: &sample, verdicts: &verdicts, reasons };
    println!("{}", report.on_screen(args.list));
    if let Some(out) = &args.out {
        fs::write(out, report.as_document()).map_err(said(out))?;
    }
    Ok(if args.list || report.is_good() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Every stage looks at what the one before it let pass.
fn judge(tree: &Path, sample: &[&Mutant], verdicts: &mut Verdicts) -> Result<(), String> {
    for stage in Stage::ALL {
        loop {
            let open: Vec<_> =
                sample.iter().copied().filter(|mutant| verdicts.needs(mutant, stage)).collect();
            if open.is_empty() {
                break;
            }
            let batch = &open[..open.len().min(BATCH)];
            println!("{}: {} of {} left", stage.name(), open.len(), sample.len());
            stage.run(tree, verdicts.begin(stage, batch)?, batch)?;
            let judged = verdicts.harvest()?;
            if judged == 0 {
                return Err(format!("{}: cargo mutants judged nothing; see above", stage.name()));
            }
        }
    }
    Ok(())
}

/// Names the file in an error.
fn said<E: std::fmt::Display>(path: impl AsRef<Path>) -> impl FnOnce(E) -> String {
    move |error| format!("{}: {error}", path.as_ref().display())
}
