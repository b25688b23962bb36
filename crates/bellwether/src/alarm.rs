//! Wakes the driver when something is due.
//!
//! The runtime's own timers cost three wake-ups for one: their wheel is turned in between, and setting the earliest timer
//! wakes the runtime up. The driver sets a timer after every step, so each hop of an election would wait for that. On Linux
//! this is a timer of the kernel; a member in a test, whose clock is the runtime's, has the runtime's.

use std::future::pending;

use bellwether_proto::time::Time;

use crate::clock::Clock;

pub(crate) struct Alarm {
    #[cfg(target_os = "linux")]
    kernel: Option<kernel::Timer>,
}

impl Alarm {
    pub(crate) fn new() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            kernel: kernel::Timer::new().ok(),
        }
    }

    /// One on the runtime's clock.
    pub(crate) fn of_runtime() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            kernel: None,
        }
    }

    /// Rings at `at` or before.
    pub(crate) async fn ring(&mut self, clock: &Clock, at: Time) {
        #[cfg(target_os = "linux")]
        if let Some(timer) = &mut self.kernel
            && timer.ring(clock, at).await.is_ok()
        {
            return;
        }
        match clock.instant(at) {
            Some(at) => tokio::time::sleep_until(at).await,
            None => pending().await,
        }
    }
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::io;

    use bellwether_proto::time::Time;

    use crate::clock::Clock;
    use crate::uptime;

    pub(super) struct Timer {
        timer: uptime::Timer,
        /// When it rings next.
        rings: Time,
    }

    impl Timer {
        pub(super) fn new() -> io::Result<Self> {
            Ok(Self { timer: uptime::Timer::new()?, rings: Time::NEVER })
        }

        /// Most deadlines are put off before they come. The timer is moved only if it would ring too late, or so soon that
        /// it would most likely ring for nothing: to wake up costs far more than to move it.
        pub(super) async fn ring(&mut self, clock: &Clock, at: Time) -> io::Result<()> {
            let now = clock.now();
            if at < self.rings || self.rings.since(now) < at.since(now) / 2 {
                self.timer.set(at.since(now).into())?;
                self.rings = at;
            }
            self.timer.rung().await?;
            self.rings = Time::NEVER;
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use bellwether_proto::time::{Span, Time};
    use tokio::time::{Duration, timeout};

    use super::Alarm;
    use crate::clock::Clock;

    const DEADLINE: Duration = Duration::from_secs(10);

    async fn rings(alarm: &mut Alarm, clock: &Clock, at: Time) -> Time {
        timeout(DEADLINE, alarm.ring(clock, at)).await.expect("it rings");
        clock.now()
    }

    #[tokio::test]
    async fn it_rings_again_and_again_and_not_before_its_time() {
        let (mut alarm, clock) = (Alarm::new(), Clock::start());
        for _ in 0..3 {
            let at = clock.now() + Span::millis(3);
            assert!(rings(&mut alarm, &clock, at).await >= at);
        }
    }

    #[tokio::test]
    async fn what_is_due_rings_at_once() {
        let (mut alarm, clock) = (Alarm::new(), Clock::start());
        rings(&mut alarm, &clock, Time::ZERO).await;
        rings(&mut alarm, &clock, clock.now()).await;
    }

    /// The loop drops what it waited for whenever something else comes first.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn what_was_not_waited_for_to_the_end_rings_still() {
        let (mut alarm, clock) = (Alarm::new(), Clock::start());
        let (at, later) = (clock.now() + Span::millis(20), clock.now() + Span::millis(30));
        drop(timeout(Duration::ZERO, alarm.ring(&clock, at)).await);
        assert!(rings(&mut alarm, &clock, later).await >= at);
        // What is due before what it is set for moves it.
        let later = clock.now() + Span::secs(3600);
        drop(timeout(Duration::ZERO, alarm.ring(&clock, later)).await);
        let soon = clock.now() + Span::millis(3);
        let rang = rings(&mut alarm, &clock, soon).await;
        assert!(rang >= soon && rang < later);
    }

    /// A follower puts its deadline off with every heartbeat, and has nothing to do when it would have come.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn what_was_put_off_in_time_does_not_ring_for_nothing() {
        let (mut alarm, clock) = (Alarm::new(), Clock::start());
        let (soon, later) = (clock.now() + Span::millis(50), clock.now() + Span::millis(200));
        drop(timeout(Duration::ZERO, alarm.ring(&clock, soon)).await);
        assert!(rings(&mut alarm, &clock, later).await >= later);
    }
}
