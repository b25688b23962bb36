//! How long to wait before work that has ended is begun again.

use std::time::Duration;

/// After the first end.
const FIRST: Duration = Duration::from_millis(100);
/// After many in a row.
const MOST: Duration = Duration::from_secs(10);

/// Doubles from one end to the next, from 100 ms up to 10 s. What went on for the longest pause at least begins anew.
#[derive(Clone, Debug)]
pub struct Backoff {
    first: Duration,
    most: Duration,
    next: Duration,
}

impl Backoff {
    /// After work that has ended.
    pub fn new() -> Self {
        Self::between(FIRST, MOST)
    }

    /// Between other bounds.
    pub(crate) fn between(first: Duration, most: Duration) -> Self {
        Self { first, most, next: first }
    }

    /// How long to wait after work that went on for `ran`.
    pub fn after(&mut self, ran: Duration) -> Duration {
        let wait = if ran >= self.most { self.first } else { self.next };
        self.next = (wait * 2).min(self.most);
        wait
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_up_to_a_bound_and_begins_anew_after_work_that_went_on() {
        let mut backoff = Backoff::new();
        let waits: Vec<_> = (0..9).map(|_| backoff.after(Duration::ZERO).as_millis()).collect();
        assert_eq!(waits, [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
        assert_eq!((backoff.after(MOST), backoff.after(Duration::ZERO)), (FIRST, FIRST * 2));
    }
}
