//! Where a name is held.

use bellwether_proto::ident::NodeId;
use tokio::sync::watch;

use super::ClientError;
use super::embedded::Embedded;
use super::session;
use super::standing::Phase;
use crate::uptime::Uptime;

/// A name that is held, or was: with an agent, or in this process. When it goes, the name is given back.
#[derive(Debug)]
pub(super) enum Seat {
    Agent(session::Seat),
    Here(Embedded),
}

impl Seat {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Agent(seat) => seat.name().as_str(),
            Self::Here(seat) => seat.name.as_str(),
        }
    }

    pub(super) fn node(&self) -> Option<NodeId> {
        match self {
            Self::Agent(seat) => Some(seat.session().node()),
            Self::Here(seat) => seat.node,
        }
    }

    /// How it stands now.
    pub(super) fn phase(&self) -> Phase {
        match self {
            Self::Agent(seat) => seat.phase(),
            Self::Here(seat) => seat.phase(),
        }
    }

    /// The clock of its deadlines.
    pub(super) fn uptime(&self) -> Uptime {
        match self {
            Self::Agent(_) => Uptime::Machine,
            Self::Here(seat) => seat.uptime(),
        }
    }

    /// Tells of changes, and keeps nothing.
    pub(super) fn changes(&self) -> watch::Receiver<Phase> {
        match self {
            Self::Agent(seat) => seat.changes(),
            Self::Here(seat) => seat.changes(),
        }
    }

    pub(super) async fn proclaim(&self, token: u64, value: &str) -> Result<(), ClientError> {
        match self {
            Self::Agent(seat) => seat.proclaim(token, value).await,
            Self::Here(seat) => seat.proclaim(value).await,
        }
    }

    /// Gives it back. Goes on to its end if the call is dropped.
    pub(super) async fn give_back(&self) -> Result<(), ClientError> {
        match self {
            Self::Agent(seat) => seat.give_back().await,
            Self::Here(seat) => seat.give_back().await,
        }
    }
}
