//! How long to wait before work that has ended is begun again.

use std::time::Duration;

/// After the first end.
const FIRST: Duration = Duration::from_millis(100);
/// After many in a row.
const MOST: Duration = Duration::from_secs(10);
/// Work that went on for this long is no failure in a row.
const LONG: Duration = MOST;

/// Doubles from one end to the next, up to a bound.
#[derive(Debug)]
pub(super) struct Backoff {
    next: Duration,
}

impl Backoff {
    pub(super) fn new() -> Self {
        Self { next: FIRST }
    }

    /// How long to wait after work that went on for `ran`.
    pub(super) fn after(&mut self, ran: Duration) -> Duration {
        let wait = if ran >= LONG { FIRST } else { self.next };
        self.next = (wait * 2).min(MOST);
        wait
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
        assert_eq!((backoff.after(LONG), backoff.after(Duration::ZERO)), (FIRST, FIRST * 2));
    }
}
