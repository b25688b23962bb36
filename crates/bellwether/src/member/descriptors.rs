//! How many file descriptors a member has open.

use super::Member;
use crate::config::{Config, Exclusive, Peers};
use crate::transport;

/// The state file's directory, its lock and its next version, the history and its next version, and the trace.
const FILES: usize = 6;

/// Of its runtime: what it waits with, twice, what wakes it, signals, and the timer.
const RUNTIME: usize = 5;

/// So many others are counted if their number is not known beforehand.
const DISCOVERED: usize = 15;

/// How many file descriptors a member has open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Descriptors {
    /// What it needs while all others are there.
    pub least: usize,
    /// It never has more. The rest is for strangers at its port.
    pub most: usize,
}

impl Member {
    /// How many file descriptors a member with this configuration has open. A program that opens many of its own must leave it
    /// that many of what the system allows (`ulimit -n`). With names to look up, fifteen others are counted.
    pub fn descriptors(config: &Config) -> Descriptors {
        let others = match &config.peers {
            // Voters can be added while it runs.
            Peers::Listed(_) if config.exclusive.is_some() => config.others().max(Exclusive::VOTERS_MAX - 1),
            Peers::Listed(_) => config.others(),
            Peers::Named(_) => DISCOVERED,
        };
        let (peers, strangers) = transport::descriptors(others);
        let least = FILES + RUNTIME + peers;
        Descriptors { least, most: least + strangers }
    }
}
