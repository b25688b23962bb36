//! Whether the driver runs. What a member says of the present is true only as long as it does.
//!
//! A process can be stopped, and its machine can be busy. Nobody in it notices: the next line just runs later, with what was
//! known before. So whoever is asked who leads looks at the clock first.

use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bellwether_proto::time::Span;
use tokio::sync::Notify;

use crate::uptime::Uptime;

/// The driver does something this often even if nothing happens, or more often.
const PACE_MAX: Span = Span::secs(1);

/// The driver's signs of life, for all handles to look at.
#[derive(Debug)]
pub(crate) struct Pulse {
    uptime: Uptime,
    /// How long the machine had been up when it began.
    began: Duration,
    /// How long the driver may do nothing before the others give its member up.
    timeout: Span,
    /// How much later than it intended it may do something, before they do.
    slack: Span,
    /// When it last went to wait, in microseconds after the beginning.
    beat: AtomicU64,
    /// Until when what it knew then counts.
    fresh: AtomicU64,
    /// Rung at every beat.
    beats: Notify,
}

impl Pulse {
    /// Of a member whose leader is given up after `timeout`, and speaks every `heartbeat`.
    pub(crate) fn new(uptime: Uptime, heartbeat: Duration, timeout: Duration) -> Self {
        let (heartbeat, timeout) = (Span::from(heartbeat), Span::from(timeout));
        Self {
            uptime,
            began: uptime.now(),
            timeout,
            slack: Span::micros(timeout.as_micros().saturating_sub(heartbeat.as_micros())),
            beat: AtomicU64::new(0),
            fresh: AtomicU64::new(timeout.as_micros()),
            beats: Notify::new(),
        }
    }

    /// How long the driver waits at most: twice within the timeout at least, so that a member with nothing to do does not look
    /// like one that was stopped.
    pub(crate) fn pace(&self) -> Span {
        PACE_MAX.min(Span::micros(self.timeout.as_micros() / 2))
    }

    /// The driver has done what there was to do, and means to do something again within `next`.
    pub(crate) fn beat(&self, next: Span) {
        let now = self.elapsed();
        let fresh = self.timeout.min(Span::micros(next.as_micros().saturating_add(self.slack.as_micros())));
        self.beat.store(now, Ordering::Release);
        self.fresh.store(now.saturating_add(fresh.as_micros()), Ordering::Release);
        self.beats.notify_waiters();
    }

    /// How long ago the last beat was.
    pub(crate) fn idle(&self) -> Duration {
        Duration::from_micros(self.elapsed().saturating_sub(self.beat.load(Ordering::Acquire)))
    }

    /// Whether the driver has run lately enough for what it knows to count.
    pub(crate) fn is_awake(&self) -> bool {
        self.elapsed() < self.fresh.load(Ordering::Acquire)
    }

    /// Waits until it has.
    pub(crate) async fn awake(&self) {
        loop {
            // A beat after this rings, wherever the look at the clock falls.
            let mut beats = pin!(self.beats.notified());
            beats.as_mut().enable();
            if self.is_awake() {
                return;
            }
            beats.await;
        }
    }

    fn elapsed(&self) -> u64 {
        Span::from(self.uptime.now().saturating_sub(self.began)).as_micros()
    }

    /// As if the process had been stopped until now.
    #[cfg(test)]
    pub(crate) fn oversleep(&self) {
        self.fresh.store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    #[test]
    fn what_was_known_before_a_pause_does_not_count_after_it() {
        let pulse = Pulse::new(Uptime::Machine, HOUR / 5, HOUR);
        assert!(pulse.is_awake(), "it has only just begun");
        pulse.oversleep();
        assert!(!pulse.is_awake());
        pulse.beat(Span::secs(1));
        assert!(pulse.is_awake());
    }

    #[test]
    fn whoever_is_late_with_what_it_meant_to_do_is_not_awake() {
        let pulse = Pulse::new(Uptime::Machine, HOUR, HOUR);
        pulse.beat(Span::micros(0));
        assert!(!pulse.is_awake(), "it had to do something at once, and there is no time to lose");
        pulse.beat(Span::secs(3_600));
        assert!(pulse.is_awake());
    }

    #[test]
    fn who_has_nothing_to_do_shows_that_it_runs_all_the_same() {
        assert_eq!(Pulse::new(Uptime::Machine, Duration::ZERO, HOUR).pace(), PACE_MAX);
        assert_eq!(
            Pulse::new(Uptime::Machine, Duration::ZERO, Duration::from_millis(250)).pace(),
            Span::millis(125)
        );
    }

    #[tokio::test]
    async fn the_next_beat_ends_the_wait() {
        let pulse = Pulse::new(Uptime::Machine, HOUR / 5, HOUR);
        pulse.oversleep();
        tokio::join!(pulse.awake(), async { pulse.beat(Span::secs(1)) });
        assert!(pulse.is_awake());
    }
}
