//! What each process takes the time to be.

use bellwether_proto::time::Time;

/// The clock of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// What it shows when the model begins, in microseconds.
    pub begins: u64,
    /// How fast it runs: 1,000,000 is true.
    pub rate: u64,
}

impl Clock {
    const TRUE: u64 = 1_000_000;

    /// What it shows after so many microseconds.
    pub fn shows(self, elapsed: u64) -> Time {
        Time::from_micros(self.begins + elapsed * self.rate / Self::TRUE)
    }
}

/// All clocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clocks {
    /// One time for all.
    Alike,
    /// Those of voters, coordinators and agents, one after another.
    Each(Vec<Clock>),
}

/// Longer than any lease: what began before is over.
const BEGINS: u64 = 1_000_000;

impl Clocks {
    pub(super) fn shows(&self, process: usize, elapsed: u64) -> Time {
        match self {
            Self::Alike => Clock { begins: BEGINS, rate: Clock::TRUE }.shows(elapsed),
            Self::Each(clocks) => clocks[process].shows(elapsed),
        }
    }
}
