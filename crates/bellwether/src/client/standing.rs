//! How a campaign stands, and until when what it holds is valid.

use std::fmt;
use std::time::Duration;

use crate::uptime::Uptime;

/// How a name that was held stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standing {
    /// It is held, as far as anybody said.
    Held,
    /// It is asked back: stop, and give it back.
    AskedBack {
        /// Why.
        why: AskedBack,
        /// It is given back all the same when so much time has passed, if the agent told.
        left: Option<Duration>,
    },
    /// It is held no more.
    Over(Over),
}

/// Why a name is asked back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AskedBack {
    /// Somebody asked for that.
    Resign,
    /// Somebody asked for another to hold it.
    Transfer,
    /// The election is to be deleted.
    Deleted,
    /// The agent leaves, or the member of this process does.
    AgentLeaves,
    /// For a reason that only a later agent knows.
    Other,
}

/// Why a name is held no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Over {
    /// This program gave it back.
    GivenBack,
    /// The agent's lease is over.
    Lease,
    /// It was asked back, and not given back in time.
    Resigned,
    /// It was asked back for another, and not given back in time.
    Transferred,
    /// Another holds it.
    Replaced,
    /// The agent, or the member of this process, has ended.
    AgentEnds,
    /// The agent does not know the session any more, or another stream has taken it over.
    Session,
    /// The agent refused to go on with the campaign.
    Refused,
    /// For a reason that only a later agent knows.
    Other,
}

impl AskedBack {
    pub(super) fn by_name(name: &str) -> Self {
        match name {
            "resign" => Self::Resign,
            "transfer" => Self::Transfer,
            "deleted" => Self::Deleted,
            "agent-leaves" => Self::AgentLeaves,
            _ => Self::Other,
        }
    }
}

impl Over {
    pub(super) fn by_name(name: &str) -> Self {
        match name {
            "lease" => Self::Lease,
            "resigned" => Self::Resigned,
            "transferred" => Self::Transferred,
            "replaced" => Self::Replaced,
            "agent-ends" => Self::AgentEnds,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for AskedBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resign => "it was told to resign",
            Self::Transfer => "another is to hold it",
            Self::Deleted => "the election is to be deleted",
            Self::AgentLeaves => "its member leaves",
            Self::Other => "for a reason that only a later version knows",
        })
    }
}

impl fmt::Display for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GivenBack => "it was given back",
            Self::Lease => "its validity is over",
            Self::Resigned => "it was told to resign, and its time to stop is over",
            Self::Transferred => "it was handed over, and its time to stop is over",
            Self::Replaced => "another holds it",
            Self::AgentEnds => "its member has ended",
            Self::Session => "the agent does not know the session any more",
            Self::Refused => "the agent refused to go on with it",
            Self::Other => "for a reason that only a later version knows",
        })
    }
}

/// How a campaign stands, as the keeper of its session knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Waiting { position: Option<u64> },
    Held(Grant),
    Over { token: u64, why: Over },
}

/// What is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    pub(super) token: u64,
    pub(super) until: Until,
    /// The longest validity that was ahead when it was told.
    pub(super) span: Duration,
    /// Why it is asked back, if it is, and for how long the machine will have been up when it is given back all the same.
    pub(super) asked_back: Option<(AskedBack, Option<Duration>)>,
}

/// Until when something is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// Until the machine has been up for so long.
    Uptime(Duration),
    /// As long as the store that it is shown to takes it.
    ByStore,
}

impl Until {
    /// Whether that is not over yet.
    pub(super) fn lasts(self, clock: Uptime) -> bool {
        match self {
            Self::Uptime(at) => clock.now() < at,
            Self::ByStore => true,
        }
    }

    pub(super) fn deadline(self) -> Option<Duration> {
        match self {
            Self::Uptime(at) => Some(at),
            Self::ByStore => None,
        }
    }
}

impl Grant {
    pub(super) fn new(token: u64, until: Until, clock: Uptime) -> Self {
        let granted = Self { token, until, span: Duration::ZERO, asked_back: None };
        granted.told(token, until, clock)
    }

    /// As was told last.
    pub(super) fn told(self, token: u64, until: Until, clock: Uptime) -> Self {
        let ahead = until.deadline().map_or(Duration::ZERO, |at| at.saturating_sub(clock.now()));
        Self { token, until, span: self.span.max(ahead), ..self }
    }

    /// When work is to be stopped if nothing more is told: two fifths before validity is over.
    pub(super) fn stop_at(&self) -> Option<Duration> {
        let before = self.span.saturating_mul(STOP_FIFTHS) / 5;
        self.until.deadline().map(|at| at.saturating_sub(before))
    }
}

/// So many fifths of the longest validity that was told remain when work is to be stopped, as in a member.
const STOP_FIFTHS: u32 = 2;
