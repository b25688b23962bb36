//! The clock behind all deadlines: monotonic, and on Linux it goes on while the machine is suspended. What was promised until then
//! is over when the machine wakes up.
//!
//! A member in a test has the runtime's clock instead, which tokio can stop and advance.

use std::future::pending;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

#[cfg(target_os = "linux")]
pub(crate) use kernel::Timer;

/// The clock of deadlines: which one it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Uptime {
    /// The machine's: for how long it has been up. On Linux it counts the time for which the machine is suspended.
    #[default]
    Machine,
    /// The runtime's, which counts from then: tests can stop it and advance it.
    Runtime(Instant),
}

impl Uptime {
    /// For how long it has been going.
    pub fn now(self) -> Duration {
        match self {
            Self::Machine => now(),
            Self::Runtime(since) => since.elapsed(),
        }
    }

    /// Waits until it has been going for so long.
    pub async fn reaches(self, at: Duration) {
        match self {
            Self::Machine => reaches(at).await,
            Self::Runtime(since) => match since.checked_add(at) {
                Some(at) => sleep_until(at).await,
                None => pending().await,
            },
        }
    }
}

/// How long the machine has been up.
#[cfg(target_os = "linux")]
pub(crate) fn now() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    let up = clock_gettime(ClockId::Boottime);
    // Neither is ever negative: the clock counts from the start of the machine.
    Duration::new(up.tv_sec.try_into().unwrap_or(0), up.tv_nsec.try_into().unwrap_or(0))
}

/// How long this process has known the time. Here no clock is certain to go on while the machine is suspended.
#[cfg(not(target_os = "linux"))]
pub(crate) fn now() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;

    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed()
}

/// Waits until the machine has been up for so long.
async fn reaches(at: Duration) {
    #[cfg(target_os = "linux")]
    let timer = Timer::new().ok();
    loop {
        let left = at.saturating_sub(now());
        if left.is_zero() {
            return;
        }
        #[cfg(target_os = "linux")]
        if let Some(timer) = &timer
            && timer.set(left).is_ok()
            && timer.rung().await.is_ok()
        {
            continue;
        }
        tokio::time::sleep(left).await;
    }
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::io;
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use rustix::io::{Errno, read};
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::io::unix::AsyncFd;

    /// A timer of the kernel, on this clock.
    #[derive(Debug)]
    pub(crate) struct Timer(AsyncFd<OwnedFd>);

    impl Timer {
        pub(crate) fn new() -> io::Result<Self> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let fd = timerfd_create(TimerfdClockId::Boottime, flags)?;
            #[expect(
                deprecated,
                reason = "an owned descriptor is what its successor asks for, as an unsafe call"
            )]
            let fd = AsyncFd::new(fd)?;
            Ok(Self(fd))
        }

        /// It rings once, when so much time has passed.
        pub(crate) fn set(&self, after: Duration) -> io::Result<()> {
            // No time at all would turn it off.
            let after = after.max(Duration::from_micros(1));
            let it_value = Timespec {
                tv_sec: i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: after.subsec_nanos() as _,
            };
            let once = Itimerspec { it_interval: Timespec::default(), it_value };
            timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::empty(), &once)?;
            Ok(())
        }

        /// Waits until it has rung.
        pub(crate) async fn rung(&self) -> io::Result<()> {
            self.0.readable().await?.clear_ready();
            // It may have been set anew after it rang: then there is nothing to read.
            match read(self.0.get_ref(), &mut [0; 8]) {
                Ok(_) | Err(Errno::AGAIN) => Ok(()),
                Err(error) => Err(error.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_time_is_waited_for_and_one_that_is_over_is_not() {
        let at = now() + Duration::from_millis(5);
        reaches(at).await;
        assert!(now() >= at);
        reaches(at).await;
        reaches(Duration::ZERO).await;
    }
}
