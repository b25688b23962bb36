//! The clock of all deadlines, which counts the time for which a machine is suspended, and a timer on it.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};

/// How long the machine has been up.
pub(super) fn now() -> Duration {
    let up = clock_gettime(ClockId::Boottime);
    // Neither is ever negative: the clock counts from the start of the machine.
    Duration::new(up.tv_sec.try_into().unwrap_or(0), up.tv_nsec.try_into().unwrap_or(0))
}

/// A timer that can be polled.
pub(super) fn timer() -> io::Result<OwnedFd> {
    Ok(timerfd_create(TimerfdClockId::Boottime, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?)
}

/// It can be read from then on; never, if there is no such time.
pub(super) fn set(timer: &OwnedFd, at: Option<Duration>) -> io::Result<()> {
    // Zero would turn it off, and is long past.
    let at = at.map(|at| at.max(Duration::from_nanos(1))).unwrap_or_default();
    let it_value =
        Timespec { tv_sec: i64::try_from(at.as_secs()).unwrap_or(i64::MAX), tv_nsec: at.subsec_nanos() as _ };
    let once = Itimerspec { it_interval: Timespec::default(), it_value };
    timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &once)?;
    Ok(())
}
