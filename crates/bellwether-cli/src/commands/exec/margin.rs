//! When a command is stopped, when it is killed, and when the warden is taken for frozen.
//!
//! Nobody tells how long a lease lasts, so the longest validity that was ahead when it was told stands for that. Of this, two fifths are
//! left when the command is told to end, one fifth when it is killed, and a tenth when the warden is killed because it has not said that
//! all is dead.

use std::time::Duration;

use bellwether::client::{Leadership, Standing};

use super::uptime;
use super::words::Times;

/// How long a command has to end that nobody else needs to wait for.
const GRACE: Duration = Duration::from_secs(5);
/// How long after its time a warden may take to say that all is dead.
const SLACK: Duration = Duration::from_millis(250);

/// How a command is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stopping {
    /// It is killed by then, whatever its validity.
    pub(super) by: Option<Duration>,
    /// When the warden has not said by then that all is dead, it is not waited for.
    pub(super) seize_at: Option<Duration>,
}

/// When the warden stops the command if nothing more is said.
pub(super) fn times(leadership: &Leadership) -> Times {
    Times::of(leadership.stop_at(), leadership.deadline())
}

/// How to stop it now. What a store decides is not urgent.
pub(super) fn stopping(leadership: &Leadership, is_by_store: bool) -> Stopping {
    let (now, times) = (uptime::now(), times(leadership));
    let valid =
        times.kill_at.zip(leadership.deadline()).map(|(kill, end)| kill + end.saturating_sub(kill) / 2);
    match leadership.standing() {
        Standing::Over(_) if is_by_store => {
            Stopping { by: Some(now + GRACE), seize_at: Some(now + GRACE + SLACK) }
        }
        Standing::AskedBack { left, .. } => {
            let left = left.unwrap_or(GRACE);
            let seize_at = now + left * 9 / 10;
            Stopping { by: Some(now + left * 4 / 5), seize_at: valid.into_iter().chain([seize_at]).min() }
        }
        Standing::Held => Stopping { by: None, seize_at: valid },
        _ => Stopping { by: Some(now), seize_at: Some(now + SLACK) },
    }
}
