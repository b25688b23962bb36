//! The node's clock: monotonic, with the wall clock beside it.

use std::time::{Duration, SystemTime};

use bellwether_proto::time::{Span, Time};
use tokio::time::Instant;

use crate::uptime::Uptime;

/// So many looks at both clocks are enough for one that is not interrupted.
const LOOKS: usize = 5;

/// The first of January 2026: where clocks that are not the machine's begin.
const A_DAY: Duration = Duration::from_secs(1_767_225_600);

/// Times of one member. The monotonic clock decides; the wall clock is for people and for traces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) uptime: Uptime,
    /// How long the machine had been up.
    began: Duration,
    began_at: SystemTime,
    /// What the wall clock shows when the machine has been up for so long.
    wall: fn(Duration) -> SystemTime,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self::beside(Uptime::Machine, |_| SystemTime::now())
    }

    /// The runtime's, which is the same for all members since then. People read it as if that had been a certain day.
    pub(crate) fn of_runtime(since: Instant) -> Self {
        Self::beside(Uptime::Runtime(since), |up| SystemTime::UNIX_EPOCH + A_DAY + up)
    }

    fn beside(uptime: Uptime, wall: fn(Duration) -> SystemTime) -> Self {
        let read = || {
            let before = uptime.now();
            let (began_at, after) = (wall(before), uptime.now());
            (after.saturating_sub(before), before, began_at)
        };
        // The process may not run between two looks: of a few the one counts that took least.
        let looks = (0..LOOKS).map(|_| read()).min();
        let (_, began, began_at) = looks.unwrap_or_else(read);
        Self { uptime, began, began_at, wall }
    }

    pub(crate) fn now(&self) -> Time {
        Time::from_micros(micros(self.uptime.now().saturating_sub(self.began)))
    }

    /// That time as others measure it, who do not count how long the machine is suspended.
    pub(crate) fn instant(&self, at: Time) -> Option<Instant> {
        Instant::now().checked_add(at.since(self.now()).into())
    }

    /// For how long the machine will have been up at that time; `None` if it never comes.
    pub(crate) fn up_at(&self, at: Time) -> Option<Duration> {
        at.as_deadline().map(|at| self.began + Duration::from_micros(at.as_micros()))
    }

    /// The time at which the machine will have been up for so long.
    pub(crate) fn time(&self, up_for: Duration) -> Time {
        Time::from_micros(micros(up_for.saturating_sub(self.began)))
    }

    /// What the wall clock shows of a moment that has just been: it may have been set since the start, and people read it now.
    pub(crate) fn wall(&self, at: Time) -> SystemTime {
        let now = (self.wall)(self.uptime.now());
        now.checked_sub(self.now().since(at).into()).unwrap_or(now)
    }

    /// The time in traces: microseconds since 1970 by the wall clock of the start. It does not follow when that is set, so that
    /// nothing seems to have happened before what caused it.
    pub(crate) fn wall_micros(&self, at: Time) -> Time {
        let start = self.began_at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Time::from_micros(micros(start)) + Span::micros(at.as_micros())
    }

    /// As [`Clock::wall_micros`], of a time to come that may never.
    pub(crate) fn wall_deadline(&self, at: Time) -> Time {
        if at == Time::NEVER { at } else { self.wall_micros(at) }
    }

    pub(crate) fn began_at(&self) -> SystemTime {
        self.began_at
    }
}

fn micros(duration: Duration) -> u64 {
    Span::from(duration).as_micros()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    /// What somebody has set the wall clock to, in days after 1970. Only one test sets it.
    static DAYS: AtomicU64 = AtomicU64::new(0);

    fn wall() -> SystemTime {
        SystemTime::UNIX_EPOCH + DAY * u32::try_from(DAYS.load(Ordering::SeqCst)).unwrap()
    }

    #[test]
    fn what_happens_after_the_wall_clock_was_set_is_stamped_with_what_it_shows() {
        DAYS.store(20_000, Ordering::SeqCst);
        let clock = Clock::beside(Uptime::Machine, |_| wall());
        for days in [20_500, 10] {
            DAYS.store(days, Ordering::SeqCst);
            let at = clock.now();
            let stamp = clock.wall(at);
            assert!(stamp <= wall() && stamp > wall() - DAY, "{stamp:?} on day {days}");
        }
        DAYS.store(0, Ordering::SeqCst);
        assert!(clock.wall(Time::ZERO) <= wall(), "a clock that is not set is no reason to panic");
        let (one, other) = (clock.wall_micros(Time::ZERO), clock.wall_micros(clock.now()));
        assert!(one <= other, "in traces the order counts");
        assert_eq!(one.as_micros(), 20_000 * 86_400 * 1_000_000);
    }
}
