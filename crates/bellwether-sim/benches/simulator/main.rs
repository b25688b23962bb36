//! The simulator's figures, each against something in the same run or in simulated time.
//!
//! Run: cargo bench -p bellwether-sim -- [NAME...]
//! The tests have this as a module, and run each for a moment, so that none can rot.
//!
//! | name | what is measured |
//! |---|---|
//! | world | deliveries per second, against a bare loop that moves the same messages |
//! | swarm | plans per hour, by algorithm |
//! | explore | states per second and bytes per state, against stateright |
//! | churn | an hour of restarts: crashes, changes of leader, time without one |
//! | failover | the time from the leader's crash to the next leader |

#![allow(
    clippy::print_stdout,
    clippy::disallowed_types,
    missing_docs,
    reason = "a benchmark measures and prints"
)]

mod explore;
mod figure;
mod stability;
mod swarm;
mod world;

use std::env;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effort {
    /// As much as the figures need.
    Full,
    /// Just enough to see that all of it works.
    Moment,
}

impl Effort {
    /// One of two counts.
    fn of<T>(self, full: T, moment: T) -> T {
        match self {
            Self::Full => full,
            Self::Moment => moment,
        }
    }
}

type Benchmark = (&'static str, fn(Effort));

const BENCHMARKS: [Benchmark; 5] = [
    ("world", world::measure),
    ("swarm", swarm::measure),
    ("explore", explore::measure),
    ("churn", stability::churn),
    ("failover", stability::failover),
];

#[cfg_attr(test, allow(dead_code, reason = "the tests have a main of their own"))]
fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    if let [flag, protocol, who] = &args[..]
        && flag == explore::ALONE
    {
        return explore::alone(protocol, who);
    }
    // What cargo gives to benchmarks, and not to tests.
    let effort = if args.iter().any(|arg| arg == "--bench") { Effort::Full } else { Effort::Moment };
    let names: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    for (name, measure) in BENCHMARKS {
        if names.is_empty() || names.iter().any(|wanted| name.contains(wanted.as_str())) {
            measure(effort);
            println!();
        }
    }
}

/// Not as a program of its own: what they measure is compiled with the other tests already.
#[cfg(test)]
#[test]
fn each_runs_for_a_moment() {
    BENCHMARKS.into_iter().for_each(|(_, measure)| measure(Effort::Moment));
}
