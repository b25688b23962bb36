//! The clock behind all deadlines: monotonic, and on Linux it goes on while the machine is suspended. What was promised until then
//! is over when the machine wakes up.

use std::time::Duration;

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
