//! How long to wait before an address is dialled again.

use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// The first wait: a peer that restarts is back soon.
const SHORTEST: Duration = Duration::from_millis(20);
/// No wait is longer.
const LONGEST: Duration = Duration::from_secs(1);

/// Waits that double, each drawn between half of it and all of it, so that the members of a cluster do not dial in step.
#[derive(Debug)]
pub(super) struct Backoff {
    next: Duration,
    rng: ChaCha8Rng,
}

impl Backoff {
    pub(super) fn new(seed: u64) -> Self {
        Self { next: SHORTEST, rng: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// How long to wait now.
    pub(super) fn wait(&mut self) -> Duration {
        let whole = self.next.as_micros() as u64;
        self.next = (self.next * 2).min(LONGEST);
        Duration::from_micros(whole / 2 + self.rng.next_u64() % (whole / 2 + 1))
    }

    /// It went well: the next wait is the shortest again.
    pub(super) fn reset(&mut self) {
        self.next = SHORTEST;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_up_to_a_bound_and_differ() {
        let (mut one, mut other) = (Backoff::new(1), Backoff::new(2));
        let mut whole = SHORTEST;
        let mut same = 0;
        for _ in 0..20 {
            let wait = one.wait();
            assert!(whole / 2 <= wait && wait <= whole, "{wait:?} of {whole:?}");
            same += u32::from(wait == other.wait());
            whole = (whole * 2).min(LONGEST);
        }
        assert!(same < 10);
        one.reset();
        assert!(one.wait() <= SHORTEST);
    }
}
