//! Runs many plans of every algorithm, in a network that heals, there as the agent runs it, and in the models that it makes
//! promises about, and stops at the first broken promise.
//!
//! Run: cargo run --release -p bellwether-sim --example soak -- --runs 10000 [--from SEED] [--only promised-fjr]
//!
//! Without `--from` it goes on where it was stopped: the next seed of each campaign is kept in `target/soak`, with a
//! fingerprint of the algorithm's behaviour, so that a change of the code starts it anew.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_types,
    reason = "a report for people, with the time it took"
)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use std::{env, fs, thread};

use bellwether_sim::campaign::Campaign;
use bellwether_sim::run;
use bellwether_sim::swarm::{self, Outcome};

/// Seeds between two notes of how far it has come.
const CHUNK: u64 = 2_500;

fn main() -> ExitCode {
    let Some(args) = Args::read() else {
        println!("usage: soak [--runs N] [--from SEED] [--only NAME]");
        return ExitCode::from(2);
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/soak");
    fs::create_dir_all(&folder).expect("the target folder can be written");
    let folder = folder.canonicalize().expect("it was made just now");
    let only = args.only.as_deref().unwrap_or_default();
    for campaign in Campaign::all().into_iter().filter(|campaign| campaign.name().starts_with(only)) {
        if !soak(&campaign, &args, &folder) {
            return ExitCode::from(1);
        }
    }
    ExitCode::SUCCESS
}

struct Args {
    runs: u64,
    from: Option<u64>,
    /// The campaigns whose names begin with this.
    only: Option<String>,
}

impl Args {
    fn read() -> Option<Self> {
        let mut args = Self { runs: 10_000, from: None, only: None };
        let mut words = env::args().skip(1);
        while let Some(word) = words.next() {
            let value = words.next()?;
            match word.as_str() {
                "--runs" => args.runs = value.parse().ok()?,
                "--from" => args.from = Some(value.parse().ok()?),
                "--only" => args.only = Some(value),
                _ => return None,
            }
        }
        Some(args)
    }
}

fn soak(campaign: &Campaign, args: &Args, folder: &Path) -> bool {
    let bookmark = folder.join(format!("{}.next", campaign.name()));
    let fingerprint = fingerprint(campaign);
    let kept = || {
        let text = fs::read_to_string(&bookmark).ok()?;
        text.strip_suffix(&fingerprint)?.trim().parse().ok()
    };
    let (first, last) = (1, args.runs);
    let start = args.from.or_else(kept).unwrap_or(first);
    if start > last {
        println!(
            "{}: seeds {first} to {last} were done before (remove {} to repeat)",
            campaign.name(),
            bookmark.display()
        );
        return true;
    }
    let (began, mut all) = (Instant::now(), Outcome::default());
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let draw = |seed| campaign.draw(seed);
    let mut next = start;
    while next <= last && all.violations.is_empty() {
        let end = last.min(next + CHUNK - 1);
        all.join(swarm::sweep(&draw, next, end - next + 1, threads, &(), &AtomicBool::new(false)));
        next = end + 1;
        println!("{}: seeds {start} to {end}, {:.0} s", campaign.name(), began.elapsed().as_secs_f64());
        if all.violations.is_empty() {
            fs::write(&bookmark, format!("{next} {fingerprint}")).expect("the bookmark can be written");
        }
    }
    conclude(campaign, start, next - 1, &all, began, folder)
}

/// What the first plans come to: it changes when the algorithm, its detectors or the plans do.
fn fingerprint(campaign: &Campaign) -> String {
    let hash = |seed| run::run(&campaign.draw(seed)).trace_hash;
    let hashes = (1..=20).map(|seed| u64::from_str_radix(&hash(seed), 16).expect("a hash is hexadecimal"));
    format!("{:016x}", hashes.fold(0, |all: u64, hash| all.rotate_left(1) ^ hash))
}

fn conclude(
    campaign: &Campaign,
    first: u64,
    last: u64,
    all: &Outcome,
    began: Instant,
    folder: &Path,
) -> bool {
    let judged: Vec<_> = all.judged.iter().map(|(name, times)| format!("{name} {times}")).collect();
    println!(
        "{}: seeds {first} to {last}, {} messages, {:.0} s; judged: {}",
        campaign.name(),
        all.messages,
        began.elapsed().as_secs_f64(),
        judged.join(", ")
    );
    let Some(first) = all.violations.first() else {
        println!("{}: every promise was kept", campaign.name());
        return true;
    };
    let file: PathBuf = folder.join(format!("{}-{}.toml", campaign.name(), first.seed));
    fs::write(&file, first.scenario.to_toml()).expect("the plan can be written");
    for violation in all.violations.iter().filter(|violation| violation.seed == first.seed) {
        println!("{} is broken at {}: {}", violation.property, violation.how.at, violation.how.what);
    }
    println!("replay: cargo run --release -- sim {}", file.display());
    false
}
