//! How long leases last, and how far clocks are trusted.

use crate::time::Span;

/// By how much the speed of a clock may differ from true time while a lease lasts: ρ, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Drift(pub u32);

impl Drift {
    const ONE: u64 = 1_000_000;

    /// A voter waits that long: the span times 1 + ρ, rounded up.
    pub fn longer(self, span: Span) -> Span {
        Span::micros(scaled(span.as_micros(), Self::ONE + u64::from(self.0), Self::ONE - 1))
    }

    /// A holder relies on no more than that: the span times 1 − ρ, rounded down.
    pub fn shorter(self, span: Span) -> Span {
        Span::micros(scaled(span.as_micros(), Self::ONE.saturating_sub(u64::from(self.0)), 0))
    }
}

/// In 128 bits: nothing overflows.
fn scaled(micros: u64, by: u64, round: u64) -> u64 {
    let scaled = (u128::from(micros) * u128::from(by) + u128::from(round)) / u128::from(Drift::ONE);
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// What all members of a cluster agree on before anything is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Terms {
    /// How long a lease lasts that is not renewed.
    pub ttl: Span,
    /// The longest that any agent may ask for. A voter that restarts waits that long.
    pub longest: Span,
    /// How far clocks are trusted.
    pub drift: Drift,
    /// How often to repeat what was not answered.
    pub retry: Span,
}

impl Terms {
    /// A lease is renewed so often while it lasts.
    pub const RENEWALS: u64 = 5;

    /// How often a lease is renewed, and things are told, by whoever holds something.
    pub fn period(&self) -> Span {
        self.ttl / Self::RENEWALS
    }

    /// How often by whoever only waits, once it was answered. It has nothing to lose, and most agents only wait.
    pub fn waiting_period(&self) -> Span {
        self.period() * 4
    }

    /// When it sends a renewal again that was not answered. One still fits in before its lease lapses.
    pub fn waiting_retry(&self) -> Span {
        self.period() / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_voter_waits_longer_than_a_holder_relies_on() {
        let drift = Drift(10_000);
        assert_eq!(drift.longer(Span::secs(1)), Span::micros(1_010_000));
        assert_eq!(drift.shorter(Span::secs(1)), Span::micros(990_000));
        assert_eq!(
            (Drift(1).longer(Span::micros(1)), Drift(1).shorter(Span::micros(1))),
            (Span::micros(2), Span::ZERO)
        );
        assert_eq!(drift.longer(Span::micros(u64::MAX)), Span::micros(u64::MAX));
    }
}
