//! When to put the picture together, and when to give that up.

use std::time::{Duration, Instant};

use bellwether_rain::collect::Incomplete;

use crate::trouble::Trouble;

/// How long to wait before a picture that could not be put together is tried again.
const AGAIN: Duration = Duration::from_millis(500);
/// So often: workers that were just killed may be revived by hand.
const TRIES_MAX: u32 = 40;

/// Tries to put the picture together, while all rows are said to be safe.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tries {
    latest: Option<Instant>,
    failed: u32,
}

impl Tries {
    /// Whether it is time to try.
    pub(super) fn is_due(&mut self, is_done: bool, now: Instant) -> bool {
        if !is_done {
            // Some rows were lost, and are computed again.
            self.failed = 0;
        }
        is_done && self.latest.is_none_or(|latest| now.saturating_duration_since(latest) >= AGAIN)
    }

    /// It could not be done at that time, and perhaps never will.
    pub(super) fn failed(&mut self, why: Incomplete, now: Instant) -> Result<(), Trouble> {
        self.latest = Some(now);
        self.failed += 1;
        if self.failed < TRIES_MAX {
            return Ok(());
        }
        Err(Trouble::failed(format!(
            "all rows were safe, but the picture could not be put together in {} tries: {why}",
            self.failed
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;

    const WHY: Incomplete = Incomplete { missing: 7, reached: 2, needed: 4 };

    #[test]
    fn what_cannot_be_put_together_is_given_up_in_the_end() {
        let (mut tries, mut now) = (Tries::default(), Instant::now());
        for _ in 1..TRIES_MAX {
            assert!(tries.is_due(true, now));
            assert!(tries.failed(WHY, now).is_ok());
            assert!(!tries.is_due(true, now), "not at once");
            now += AGAIN;
        }
        let trouble = tries.failed(WHY, now).unwrap_err();
        assert_eq!(trouble.status, Status::Failed);
        assert_eq!(
            trouble.what,
            "all rows were safe, but the picture could not be put together in 40 tries: rows that cannot be rebuilt: 7; \
             workers that answered: 2, of the 4 needed"
        );
    }

    #[test]
    fn rows_that_are_computed_again_are_waited_for() {
        let (mut tries, now) = (Tries::default(), Instant::now());
        for _ in 1..TRIES_MAX {
            assert!(tries.failed(WHY, now).is_ok());
        }
        assert!(!tries.is_due(false, now));
        assert!(tries.failed(WHY, now).is_ok(), "it counts anew");
    }
}
