//! Log lines that a stranger can cause. They are limited, so that a stranger cannot flood the log.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// At most one line of a kind in that time.
const INTERVAL: Duration = Duration::from_secs(1);

/// What a complaint is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum About {
    /// The listener itself.
    Listener,
    /// More connections than there can be peers.
    Crowd,
    /// No proper TLS, or no certificate that we trust.
    Tls,
    /// A greeting that is none, or not for us.
    Greeting,
    /// An id that is in use.
    Duplicate,
    /// This member's own id, which two processes have.
    OurId,
    /// What came on a connection that had been taken.
    Content,
    /// A message that this version does not know.
    Message,
}

impl About {
    /// What happened, for the log.
    fn happened(self) -> &'static str {
        match self {
            Self::Listener => "no connection could be taken",
            Self::Crowd | Self::Tls | Self::Greeting | Self::Duplicate => "a connection was refused",
            Self::OurId => "two processes have the same id",
            Self::Content => "a connection was ended for what came on it",
            Self::Message => "a message was skipped; a later version may know it",
        }
    }
}

/// What was logged last, by what it was about.
#[derive(Debug, Default)]
pub(super) struct Complaints(Mutex<BTreeMap<About, Kind>>);

#[derive(Debug, Default)]
struct Kind {
    last: Option<Instant>,
    suppressed: u64,
}

impl Complaints {
    /// Logs what happened on a connection with that peer, unless such a line has just been logged.
    pub(super) fn log(&self, about: About, peer: Option<SocketAddr>, problem: &dyn Display) {
        let Some(suppressed) = self.may_log(about, Instant::now()) else { return };
        let peer = peer.map_or_else(|| "-".to_owned(), |peer| peer.to_string());
        let happened = about.happened();
        match about {
            // Somebody has to look.
            About::OurId => tracing::error!(?about, %peer, %problem, suppressed, "{happened}"),
            About::Listener
            | About::Crowd
            | About::Tls
            | About::Greeting
            | About::Duplicate
            | About::Content
            | About::Message => tracing::warn!(?about, %peer, %problem, suppressed, "{happened}"),
        }
    }

    /// How many lines were held back since the last one; `None` if this one must be held back, too.
    fn may_log(&self, about: About, now: Instant) -> Option<u64> {
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = kinds.entry(about).or_default();
        if kind.last.is_some_and(|last| now.saturating_duration_since(last) < INTERVAL) {
            kind.suppressed += 1;
            return None;
        }
        kind.last = Some(now);
        Some(std::mem::take(&mut kind.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_of_a_kind_and_the_number_of_those_held_back() {
        let (complaints, start) = (Complaints::default(), Instant::now());
        let may = |about, millis| complaints.may_log(about, start + Duration::from_millis(millis));
        assert_eq!(may(About::Tls, 0), Some(0));
        assert_eq!(may(About::Tls, 1), None);
        assert_eq!(may(About::Tls, 999), None);
        assert_eq!(may(About::Content, 999), Some(0));
        assert_eq!(may(About::Tls, 1000), Some(2));
        assert_eq!(may(About::Tls, 2000), Some(0));
    }
}
