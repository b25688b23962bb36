//! Time as a node sees it: microseconds since its clock started.
//!
//! A node never reads a clock. The driver hands it `now` with every input: the simulator from a virtual clock, a real
//! one from a monotonic clock.

mod parse;
mod rfc3339;

use core::fmt;
use core::ops::{Add, Div, Mul, Sub};
use core::time::Duration;

use serde::{Deserialize, Serialize};

pub use parse::ParseSpanError;
pub use rfc3339::Rfc3339;

/// An instant, in microseconds since the clock started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The instant the clock started.
    pub const ZERO: Self = Self(0);
    /// Later than every instant that can be reached; stands for "no deadline" in tables.
    pub const NEVER: Self = Self(u64::MAX);

    /// The instant `us` microseconds after the start.
    pub const fn from_micros(us: u64) -> Self {
        Self(us)
    }

    /// Microseconds since the start.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// `None` for [`Time::NEVER`].
    pub fn as_deadline(self) -> Option<Self> {
        (self != Self::NEVER).then_some(self)
    }

    /// How long after `earlier` this is; zero if it is not after it.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Span> for Time {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Sub<Span> for Time {
    type Output = Self;
    fn sub(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}s", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// A length of time, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span(u64);

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A span of `us` microseconds.
    pub const fn micros(us: u64) -> Self {
        Self(us)
    }

    /// A span of `ms` milliseconds.
    pub const fn millis(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000))
    }

    /// A span of `s` seconds.
    pub const fn secs(s: u64) -> Self {
        Self(s.saturating_mul(1_000_000))
    }

    /// The span in microseconds.
    pub const fn as_micros(self) -> u64 {
        self.0
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Mul<u64> for Span {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl Div<u64> for Span {
    type Output = Self;
    fn div(self, by: u64) -> Self {
        Self(self.0 / by)
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Self {
        Self::from_micros(span.0)
    }
}

/// Parts of a microsecond are left out, and nothing is longer than the longest span.
impl From<Duration> for Span {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
    }
}

/// The largest unit that divides the span exactly, as files write it: `30s`, `10ms`, `250us`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            us if us % 1_000_000 == 0 => write!(f, "{}s", us / 1_000_000),
            us if us % 1_000 == 0 => write!(f, "{}ms", us / 1_000),
            us => write!(f, "{us}us"),
        }
    }
}

/// The papers' timing parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// δ: the assumed bound on one-way delay.
    pub delta: Span,
    /// τ: the leader's period.
    pub tau: Span,
    /// By how much an adaptive timeout grows at each mistake.
    pub step: Span,
}

impl Timing {
    /// For a leader that speaks every `period` and is given up when it has been silent for `timeout`: the first timeout is
    /// τ + 2δ.
    pub fn with_timeout(period: Span, timeout: Span) -> Self {
        let delta = Span::micros(timeout.as_micros().saturating_sub(period.as_micros()) / 2);
        Self { delta, tau: period, step: period }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn arithmetic_saturates_instead_of_wrapping() {
        assert_eq!(Time::NEVER + Span::secs(1), Time::NEVER);
        assert_eq!(Time::ZERO - Span::secs(1), Time::ZERO);
        assert_eq!(Time::ZERO.since(Time::from_micros(5)), Span::ZERO);
        assert_eq!(Span::micros(u64::MAX) * 2, Span::micros(u64::MAX));
    }

    #[test]
    fn spans_and_durations_are_the_same_times() {
        assert_eq!(Duration::from(Span::millis(5)), Duration::from_millis(5));
        assert_eq!(Span::from(Duration::from_nanos(5_999)), Span::micros(5));
        assert_eq!(Span::from(Duration::MAX), Span::micros(u64::MAX));
    }

    #[test]
    fn spans_print_in_their_largest_exact_unit() {
        let printed: alloc::vec::Vec<_> =
            [Span::ZERO, Span::secs(30), Span::millis(1500), Span::micros(1001)]
                .map(|s| s.to_string())
                .into();
        assert_eq!(printed, ["0s", "30s", "1500ms", "1001us"]);
    }
}
