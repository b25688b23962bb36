//! What `exec`, its warden and its child say to each other.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What `exec` tells its warden.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// First of all, with the standard input of the command.
    Begin,
    /// Make a process that becomes the command when it is told to.
    Prepare { election: String, token: u64, node: u32, times: Times },
    /// Let it become the command.
    Go,
    /// Until when the command may run, and in which session, with its secret.
    Renewed { times: Times, session: (String, String) },
    /// Pass that signal on.
    Signal(i32),
    /// Stop the command: kill it by then.
    Stop { by: Option<Duration> },
    /// It was noted that the command has ended.
    Noted,
}

/// What the warden tells.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Report {
    /// It is there.
    Ready,
    /// A process waits to become the command.
    Prepared { pid: u32 },
    /// That came to nothing.
    Unprepared { why: String },
    /// It has become the command.
    Started,
    /// The command, and everything that it started, has ended. It could not be started, or how it ended; and whether it was stopped.
    Ended { end: End, was_stopped: bool },
}

/// How a command ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum End {
    Unstartable(Unstartable),
    Exited(i32),
    Killed(i32),
}

/// Why a command cannot be started, and the exit code for that.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Unstartable {
    pub(super) code: u8,
    pub(super) why: String,
}

/// What the warden tells a process that is to become the command. The standard input comes along.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Become {
    /// The warden.
    pub(super) warden: i32,
}

/// When a command is stopped if nothing else is said, on the clock that counts how long the machine has been up. `None`: never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Times {
    /// When it is told to end.
    pub(super) stop_at: Option<Duration>,
    /// When it is killed.
    pub(super) kill_at: Option<Duration>,
}

impl End {
    /// As shells have it: 128 plus the number of the signal that killed it.
    pub(super) fn code(&self) -> u8 {
        let code = match self {
            Self::Unstartable(why) => return why.code,
            Self::Exited(code) => *code,
            Self::Killed(signal) => 128 + signal,
        };
        u8::try_from(code).unwrap_or(u8::MAX)
    }
}

impl Times {
    /// Work is told to end when so much is left as the guard says, and killed when half of that is left.
    pub(super) fn of(stop_at: Option<Duration>, valid_until: Option<Duration>) -> Self {
        let kill_at =
            stop_at.zip(valid_until).map(|(stop, end)| end.saturating_sub(end.saturating_sub(stop) / 2));
        Self { stop_at, kill_at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_killed_long_before_validity_ends() {
        let seconds = Duration::from_secs;
        let times = Times::of(Some(seconds(106)), Some(seconds(110)));
        assert_eq!(times, Times { stop_at: Some(seconds(106)), kill_at: Some(seconds(108)) });
        assert_eq!(Times::of(None, None), Times::default(), "a store decides");
    }

    #[test]
    fn exit_codes_are_those_of_shells() {
        assert_eq!(End::Exited(7).code(), 7);
        assert_eq!(End::Killed(9).code(), 137);
        assert_eq!(End::Unstartable(Unstartable { code: 127, why: String::new() }).code(), 127);
    }
}
