//! The node's clock: monotonic, with the wall clock of the start beside it.

use std::time::{Duration, Instant, SystemTime};

use bellwether_proto::time::{Span, Time};

/// Times of one member. The monotonic clock decides; the wall clock is for people and for traces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    began: Instant,
    began_at: SystemTime,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { began: Instant::now(), began_at: SystemTime::now() }
    }

    pub(crate) fn now(&self) -> Time {
        Time::from_micros(micros(self.began.elapsed()))
    }

    /// When the monotonic clock shows that time.
    pub(crate) fn instant(&self, at: Time) -> Option<Instant> {
        self.began.checked_add(Duration::from_micros(at.as_micros()))
    }

    /// What the wall clock showed then, if nobody has set it since the start.
    pub(crate) fn wall(&self, at: Time) -> SystemTime {
        self.began_at + Duration::from_micros(at.as_micros())
    }

    /// The same, in microseconds since 1970.
    pub(crate) fn wall_micros(&self, at: Time) -> Time {
        Time::from_micros(micros(self.wall(at).duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()))
    }

    pub(crate) fn began_at(&self) -> SystemTime {
        self.began_at
    }
}

fn micros(duration: Duration) -> u64 {
    Span::from(duration).as_micros()
}
