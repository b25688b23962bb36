//! Why an agent, or a member, did not do what it was asked.

use std::io;
use std::time::Duration;

use bellwether_proto::exclusive::grant::BadName;
use bellwether_proto::exclusive::order::Declined;
use bellwether_proto::tenure;

use crate::arbiter::{Denied, Trouble};
use crate::error::Refused;

/// Why an agent, or a member of this process, did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// No agent takes the connection, or it broke off.
    #[error("no agent answers at {at}: {source}")]
    Unreachable {
        /// The socket or the address that was tried.
        at: String,
        /// Why.
        source: io::Error,
    },
    /// The agent took the connection, and said nothing.
    #[error("the agent at {at} took the connection and did not answer within {} s: is it stopped?", within.as_secs())]
    Silent {
        /// The socket or the address that was tried.
        at: String,
        /// So long was waited.
        within: Duration,
    },
    /// Whatever answers there, it does not speak as an agent does.
    #[error("{at}: found {found}, expected what an agent says")]
    NoAgent {
        /// The socket or the address that was tried.
        at: String,
        /// What it said.
        found: String,
    },
    /// The agent refused.
    #[error("{at}: {why}")]
    Refused {
        /// Which agent.
        at: String,
        /// On which grounds.
        refusal: Refusal,
        /// Why, in its words.
        why: String,
    },
    /// No election can have that name.
    #[error(transparent)]
    Name(#[from] BadName),
    /// This session campaigns for that name already.
    #[error("this session campaigns for \"{name}\" already")]
    Campaigns {
        /// Which.
        name: String,
    },
    /// The campaign is over.
    #[error("the campaign is over: {0}")]
    Over(super::Over),
    /// The member through which the name would be held refuses, or has ended.
    #[error(transparent)]
    Member(#[from] Refused),
    /// The engine that would keep the name refuses, or does not answer.
    #[error(transparent)]
    Engine(#[from] Trouble),
    /// What was to be done while the name is held panicked.
    #[error("the leader's task failed: {0}")]
    Panicked(String),
}

/// On which grounds an agent refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// What was sent is wrong.
    Wrong,
    /// Who sent it may not.
    Forbidden,
    /// There is no such election, session or campaign.
    Unknown,
    /// Not now: it is held by another or of another kind, or there is no majority.
    NotNow,
    /// It is too long.
    TooLong,
    /// The agent is ending.
    Ending,
    /// Something else, with that status.
    Other(u16),
}

impl Refusal {
    pub(super) fn of(status: u16) -> Self {
        match status {
            400 => Self::Wrong,
            401 | 403 => Self::Forbidden,
            404 => Self::Unknown,
            409 => Self::NotNow,
            413 => Self::TooLong,
            503 => Self::Ending,
            other => Self::Other(other),
        }
    }
}

impl ClientError {
    /// Whether what was asked is wrong, rather than what the world did.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Name(_) | Self::Campaigns { .. } => true,
            Self::Refused { refusal, .. } => {
                matches!(refusal, Refusal::Wrong | Refusal::Forbidden | Refusal::TooLong)
            }
            Self::Member(refused) => declined(refused).is_some_and(|why| {
                matches!(
                    why,
                    Declined::NotExclusive
                        | Declined::Campaigns
                        | Declined::OtherKind { .. }
                        | Declined::TooLong
                        | Declined::Witness
                )
            }),
            Self::Engine(trouble) => trouble.is_bad_input(),
            Self::Unreachable { .. }
            | Self::Silent { .. }
            | Self::NoAgent { .. }
            | Self::Over(_)
            | Self::Panicked(_) => false,
        }
    }

    /// Whether it will never be otherwise: the member has ended.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Self::Member(Refused::Ended(_)))
    }

    /// Whether the same may be asked again, after a while: no agent answers, or it cannot now.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Silent { .. } => true,
            Self::Refused { refusal, .. } => matches!(refusal, Refusal::NotNow | Refusal::Ending),
            Self::Member(refused) => declined(refused)
                .is_some_and(|why| matches!(why, Declined::TooMany | Declined::Unanswered { .. })),
            Self::Engine(trouble) => !trouble.is_bad_input(),
            Self::NoAgent { .. }
            | Self::Name(_)
            | Self::Campaigns { .. }
            | Self::Over(_)
            | Self::Panicked(_) => false,
        }
    }

    pub(super) fn refusal(&self) -> Option<Refusal> {
        match self {
            Self::Refused { refusal, .. } => Some(*refusal),
            _ => None,
        }
    }
}

fn declined(refused: &Refused) -> Option<&Declined> {
    match refused {
        Refused::Cannot(tenure::Refused::Election(declined)) => Some(declined),
        Refused::Cannot(_) | Refused::Ended(_) => None,
    }
}

impl From<Denied> for ClientError {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Refused(refused) => Self::Member(refused),
            Denied::Engine(trouble) => Self::Engine(trouble),
        }
    }
}

/// What there is not is no error.
pub(super) fn found<T>(answer: Result<T, ClientError>) -> Result<Option<T>, ClientError> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.refusal() == Some(Refusal::Unknown) => Ok(None),
        Err(error) => Err(error),
    }
}
