//! Why a member could not join, has stopped, or did not do what it was asked.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use bellwether_proto::ident::NodeId;
use bellwether_proto::tenure;

use crate::config::BadConfig;
use crate::store::StoreError;
use crate::tls::TlsError;
use crate::transport::StartError;

/// Why a member could not join. Nothing is left running.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// The configuration cannot be. [`Config::problems`](crate::Config::problems) says all that is wrong with it.
    #[error(transparent)]
    Config(#[from] BadConfig),
    /// What is on the disk is not this member's state.
    #[error(transparent)]
    State(StateError),
    /// The disk cannot be used, or another process uses the directory.
    #[error(transparent)]
    Disk(StateError),
    /// The state file says that this member has no incarnation left.
    #[error("the state file holds the last possible incarnation; it cannot be right: delete it to join anew")]
    IncarnationsUsedUp,
    /// The certificate cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Address {
        /// Which.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The system gives no random numbers.
    #[error("the system gives no random numbers")]
    Randomness,
    /// The member's thread cannot be started.
    #[error("cannot start the member's thread: {0}")]
    Thread(#[source] io::Error),
    /// The trace cannot be written.
    #[error("cannot write the trace {}: {source}", path.display())]
    Trace {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// What is wrong with a member's state on the disk, or with the disk. Its source, where there is one, is what the system said.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct StateError(StoreError);

impl JoinError {
    pub(crate) fn from_store(error: StoreError) -> Self {
        match error {
            error if error.is_unusable() => Self::State(StateError(error)),
            other => Self::Disk(StateError(other)),
        }
    }

    pub(crate) fn from_transport(error: StartError) -> Self {
        match error {
            StartError::Tls(error) => Self::Tls(error),
            StartError::Listen { address, source } => Self::Address { address, source },
            StartError::Random => Self::Randomness,
        }
    }

    /// Whether what was given is wrong, rather than what the world did.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Config(_) | Self::State(_) | Self::IncarnationsUsedUp | Self::Tls(_) => true,
            Self::Disk(_)
            | Self::Address { .. }
            | Self::Randomness
            | Self::Thread(_)
            | Self::Trace { .. } => false,
        }
    }
}

/// Why a member has stopped.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Ended {
    /// It left.
    #[error("the member left the cluster")]
    Left,
    /// Its state could not be written.
    #[error("{0}; the node stops, since it must not forget what it says")]
    Disk(#[source] Arc<StateError>),
    /// Another live process uses its id.
    #[error("the id {id} is already used by the node at {at}, says node {says}")]
    IdInUse {
        /// The id.
        id: NodeId,
        /// Where the other is.
        at: String,
        /// Who said so.
        says: NodeId,
    },
    /// The runtime on which it was joined has ended.
    #[error("the runtime on which the member was joined has ended")]
    Runtime,
    /// A fault of this library.
    #[error("the member failed, which is a bug: {0}")]
    Fault(String),
    /// The leader's task panicked.
    #[error("the leader's task failed: {0}")]
    Panicked(String),
}

impl Ended {
    pub(crate) fn disk(error: StoreError) -> Self {
        Self::Disk(Arc::new(StateError(error)))
    }
}

/// Leadership has ended, or it is not certain that it has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("leadership {epoch} has ended, or cannot be relied on now")]
#[non_exhaustive]
pub struct Expired {
    /// Which.
    pub epoch: u64,
}

/// Why a request was refused, or came to nothing.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The request cannot be met, for this reason.
    #[error(transparent)]
    Cannot(tenure::Refused),
    /// The member has ended.
    #[error(transparent)]
    Ended(#[from] Ended),
}
