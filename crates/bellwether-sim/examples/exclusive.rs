//! Searches the machines of exclusive leadership to the end, within bounds, and walks through them at random. Stops at the first
//! broken promise.
//!
//! Run: cargo run --release -p bellwether-sim --example exclusive -- [--study NAME] [--walks N] [--from SEED] [--length N] [--changes N] [--lulls N] [--course NAME]
//!
//! Without `--walks` it searches: every study, or those whose names begin with NAME. With it, it walks; along the
//! courses whose names begin with NAME, if `--course` is given. The seed of a walk that broke
//! a promise replays it: `--from SEED --walks 1` tells its steps.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_types,
    reason = "a report for people, with the time it took"
)]

use std::env;
use std::process::ExitCode;
use std::time::Instant;

use bellwether_sim::exclusive::courses;
use bellwether_sim::exclusive::studies::{self, Study};
use bellwether_sim::exclusive::{
    Honest, Promise, Sights, Trod, Violation, Walker, follow, replay, retrace, search, walk,
};

/// No more states than this: what is kept of each is small, and what is still to be looked at is not.
const STATES_MAX: u64 = 20_000_000;

/// Walks between two notes of how far it has come.
const CHUNK: u64 = 10_000;

fn main() -> ExitCode {
    let Some(args) = Args::read() else {
        println!(
            "usage: exclusive [--study NAME] [--walks N] [--from SEED] [--length N] [--changes N] [--lulls N] [--course NAME]"
        );
        return ExitCode::from(2);
    };
    let kept = match (args.walks, &args.course) {
        (Some(walks), Some(course)) => all_courses(course, args.from, walks),
        (Some(walks), None) => all_walks(&args, walks),
        (None, _) => all_studies(&args.study),
    };
    ExitCode::from(u8::from(!kept))
}

struct Args {
    study: String,
    walks: Option<u64>,
    from: u64,
    length: u32,
    changes: u32,
    lulls: u32,
    course: Option<String>,
}

impl Args {
    fn read() -> Option<Self> {
        let mut args = Self {
            study: String::new(),
            walks: None,
            from: 1,
            length: 2_000,
            changes: Walker::FEW,
            lulls: 0,
            course: None,
        };
        let mut words = env::args().skip(1);
        while let Some(word) = words.next() {
            let value = words.next()?;
            match word.as_str() {
                "--study" => args.study = value,
                "--walks" => args.walks = Some(value.parse().ok()?),
                "--from" => args.from = value.parse().ok()?,
                "--length" => args.length = value.parse().ok()?,
                "--course" => args.course = Some(value),
                "--lulls" => args.lulls = value.parse().ok()?,
                "--changes" => args.changes = value.parse().ok()?,
                _ => return None,
            }
        }
        Some(args)
    }
}

fn all_studies(name: &str) -> bool {
    let all = studies::short().into_iter().chain(studies::long());
    all.filter(|study| study.name.starts_with(name)).all(|study| is_clean(&study))
}

fn is_clean(Study { name, about, setting }: &Study) -> bool {
    let began = Instant::now();
    let found = search(setting, &Honest, STATES_MAX, |_, _, _| {});
    println!("{name}: {about}");
    println!(
        "{name}: {:?}, {} states, {} steps, depth {}, {:.0} s; {}",
        found.extent,
        found.states,
        found.transitions,
        found.depth,
        began.elapsed().as_secs_f64(),
        found.sights
    );
    let Some((breach, steps)) = found.violation else { return true };
    steps.iter().for_each(|step| println!("  {step}"));
    println!("{name}: {} is broken: {}", breach.promise.name(), breach.what);
    false
}

fn all_walks(args: &Args, walks: u64) -> bool {
    let within = Walker {
        length: args.length,
        trod: Trod::WithinDrift,
        changes: args.changes,
        lulls: args.lulls,
        // With lulls a coordinator of an earlier ballot and a holder may answer each other without an end (seed 106 of the tests).
        settles: args.lulls == 0,
    };
    let beyond = Walker { trod: Trod::BeyondDrift, settles: false, ..within };
    // A tenth of the walks have clocks that cannot be trusted.
    walks_are_clean(within, args.from, walks) && beyond_is_as_bad_as_it_may_be(beyond, args.from, walks / 10)
}

fn all_courses(name: &str, from: u64, walks: u64) -> bool {
    courses::all().iter().filter(|course| course.name.starts_with(name)).all(|course| {
        let mut all = Sights::default();
        for seed in from..from + walks {
            match follow(course, seed, &Honest) {
                Ok(sights) => all.add(&sights),
                Err(Violation { seed, steps, breach }) => {
                    retrace(course, seed, &Honest).iter().for_each(|step| println!("  {step}"));
                    let (promise, what, name) = (breach.promise.name(), breach.what, course.name);
                    println!("{name}, seed {seed}: {promise} is broken after {steps} steps: {what}");
                    return false;
                }
            }
        }
        println!("{}: {}", course.name, course.about);
        println!("{}: {walks} walks from {from}; {all}", course.name);
        true
    })
}

fn walks_are_clean(walker: Walker, from: u64, walks: u64) -> bool {
    let (began, mut all) = (Instant::now(), Sights::default());
    for seed in from..from + walks {
        match walk(walker, seed, &Honest) {
            Ok(sights) => all.add(&sights),
            Err(violation) => return tell(walker, &violation),
        }
        let done = seed + 1 - from;
        if done.is_multiple_of(CHUNK) || done == walks {
            let (steps, took) = (done * u64::from(walker.length), began.elapsed().as_secs_f64());
            println!("walks {from} to {seed}: {steps} steps, {took:.0} s; {all}");
        }
    }
    true
}

fn beyond_is_as_bad_as_it_may_be(walker: Walker, from: u64, walks: u64) -> bool {
    let mut broken = 0;
    for seed in from..from + walks {
        match walk(walker, seed, &Honest) {
            Ok(_) => {}
            Err(violation) if violation.breach.promise == Promise::OneHolder => {
                broken += 1;
            }
            Err(violation) => return tell(walker, &violation),
        }
    }
    println!(
        "clocks beyond the drift: {broken} of {walks} walks broke ONE-HOLDER, and tokens were kept in all"
    );
    true
}

fn tell(walker: Walker, Violation { seed, steps, breach }: &Violation) -> bool {
    replay(walker, *seed, &Honest).iter().for_each(|step| println!("  {step}"));
    println!("seed {seed}: {} is broken after {steps} steps: {}", breach.promise.name(), breach.what);
    println!(
        "replay: cargo run --release -p bellwether-sim --example exclusive -- --walks 1 --from {seed} --length {} --changes {} --lulls {}",
        walker.length, walker.changes, walker.lulls
    );
    false
}
