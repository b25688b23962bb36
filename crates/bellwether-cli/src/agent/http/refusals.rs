//! Requests that are refused for who asks. They are counted, and logged so that an administrator sees an attack and a
//! stranger cannot flood the log.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::connection::Client;

/// At most one line of a kind in that time.
const INTERVAL: Duration = Duration::from_secs(1);

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Why {
    /// It showed no token, or a wrong one.
    Token,
    /// It was for another host.
    Host,
}

impl Why {
    pub(super) const ALL: [Self; 2] = [Self::Token, Self::Host];

    /// As metrics and the log have it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Host => "host",
        }
    }
}

/// What was refused so far, by reason.
#[derive(Debug, Default)]
pub(super) struct Refusals(Mutex<BTreeMap<Why, Kind>>);

#[derive(Debug, Default)]
struct Kind {
    count: u64,
    logged: Option<Instant>,
    suppressed: u64,
}

impl Refusals {
    /// Counts a request, and logs it unless such a line has just been logged.
    pub(super) fn note(&self, why: Why, from: Option<&Client>, problem: &dyn Display) {
        let Some(suppressed) = self.may_log(why, Instant::now()) else { return };
        let from = from.map_or_else(|| "-".to_owned(), |from| from.peer.to_string());
        tracing::warn!(why = why.name(), %from, %problem, suppressed, "a request to the API was refused");
    }

    /// How many there were.
    pub(super) fn count(&self, why: Why) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&why).map_or(0, |kind| kind.count)
    }

    /// How many lines were held back since the last one; `None` if this one must be held back, too.
    fn may_log(&self, why: Why, now: Instant) -> Option<u64> {
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = kinds.entry(why).or_default();
        kind.count += 1;
        if kind.logged.is_some_and(|last| now.saturating_duration_since(last) < INTERVAL) {
            kind.suppressed += 1;
            return None;
        }
        kind.logged = Some(now);
        Some(std::mem::take(&mut kind.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_counted_and_few_are_logged() {
        let (refusals, start) = (Refusals::default(), Instant::now());
        let may = |millis| refusals.may_log(Why::Token, start + Duration::from_millis(millis));
        assert_eq!([may(0), may(1), may(999), may(1000), may(2000)], [Some(0), None, None, Some(2), Some(0)]);
        assert_eq!(Why::ALL.map(|why| refusals.count(why)), [5, 0]);
    }
}
