//! Programs that hold names: beside an agent, over its Unix socket or its HTTP interface, or through a member of their own
//! ([`Member::election`](crate::Member::election)). What they do with an [`Election`] and its [`Leadership`] is the same.
//!
//! ```no_run
//! # async fn back_up(token: u64) {}
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use bellwether::client::{Candidacy, Client};
//!
//! let client = Client::connect("/run/bellwether.sock").await?;
//! let leadership = client.election("backup")?.campaign(Candidacy::default()).await?;
//! while leadership.check().is_ok() {
//!     back_up(leadership.token()).await;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! | file | what |
//! |---|---|
//! | `door.rs`, `connection.rs`, `stream.rs` | where the agent is, and one question; events as they come |
//! | `said.rs`, `known.rs` | what the agent says, as types |
//! | `session.rs`, `session/` | one stream, kept up, and the names that are held through it |
//! | `embedded.rs`, `seat.rs` | a name that is held through a member of this process, and through either |
//! | `standing.rs`, `leadership.rs` | how a campaign stands; a name that is held, as a value |
//! | `election.rs`, `observer.rs` | one name: campaign, work while it is held, changes as they happen |
//!
//! **Over the Unix socket death is certain.** The agent gives back what a program held when the kernel says that the process is gone,
//! milliseconds later. Over TCP it does so when the last validity that the program was told is over.
//!
//! An agent that is restarted takes over what its programs hold, if it comes back in time: a [`Leadership`] goes on meanwhile, for as
//! long as it is valid.

mod connection;
mod door;
mod election;
mod embedded;
mod error;
mod known;
mod leadership;
mod observer;
mod said;
mod seat;
mod session;
mod standing;
mod stream;

use std::fmt;
#[cfg(unix)]
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bellwether_proto::exclusive::grant::Name;

pub use bellwether_proto::exclusive::grant::BadName;
pub use election::Election;
pub use error::{ClientError, Refusal};
pub use known::{Checked, Holder, Known, Page};
pub use leadership::{Changes, Leadership};
pub use observer::Observer;
pub use session::{Death, Session, SessionKey};
pub use standing::{AskedBack, Over, Standing};

use crate::config::GrantKind;
use door::{Ask, Door};
use session::Opening;

/// An agent that can be asked. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    door: Arc<Door>,
}

/// How a name would be held.
#[derive(Clone, Debug, Default)]
pub struct Candidacy {
    /// What makes the grant valid; `None`: a deadline. The first campaign of a name chooses it, for good.
    pub kind: Option<GrantKind>,
    /// Higher goes first, of those that wait.
    pub priority: u32,
    /// What it proclaims while it holds the name: at most 4096 bytes.
    pub value: String,
}

impl Client {
    /// The agent with that socket. Whoever may open it may ask; no token is needed.
    ///
    /// # Errors
    /// If no agent takes the connection.
    #[cfg(unix)]
    pub async fn connect(socket: impl Into<PathBuf>) -> Result<Self, ClientError> {
        let client = Self::of(Door::socket(socket.into()));
        client.door.knock().await?;
        Ok(client)
    }

    /// The agent with that address of its API, such as `127.0.0.1:3171`. What changes something needs a token.
    pub fn at(api: &str) -> Self {
        Self::of(Door::address(api))
    }

    fn of(door: Door) -> Self {
        Self { door: Arc::new(door) }
    }

    /// With the agent's `api.token`.
    #[must_use]
    pub fn with_token(self, token: impl Into<String>) -> Self {
        Self::of(Door::clone(&self.door).with_token(token.into()))
    }

    /// An election of that name.
    ///
    /// # Errors
    /// If no election can have that name.
    pub fn election(&self, name: &str) -> Result<Election, BadName> {
        Ok(Election::of_agent(self.clone(), Name::new(name)?))
    }

    /// A session, for a program that holds several names: one stream, in which validity is told once for all.
    ///
    /// # Errors
    /// If no agent answers, or it refuses.
    pub async fn session(&self) -> Result<Session, ClientError> {
        Session::open(Arc::clone(&self.door), Opening::Session).await
    }

    /// Ends a session and gives all back that it holds: one of this process, or one that this process is bound to.
    ///
    /// # Errors
    /// If no agent answers, or it refuses. A session that is over already is no error.
    pub async fn close(&self, session: &SessionKey) -> Result<(), ClientError> {
        session.close(&self.door).await
    }

    /// The elections that the agent knows, in the order of their names, after that one. At most `limit`, and at most 1000.
    ///
    /// # Errors
    /// If no agent answers, or it refuses.
    pub async fn elections(&self, after: Option<&str>, limit: usize) -> Result<Page, ClientError> {
        self.door.answer(Ask::get(door::list(after, limit))).await
    }

    /// What the agent knows of one; `None` if there is none of that name.
    ///
    /// # Errors
    /// If no agent answers, or it refuses.
    pub async fn known(&self, name: &str) -> Result<Option<Known>, ClientError> {
        let name = Name::new(name)?;
        error::found(self.door.answer(Ask::get(door::election(&name, ""))).await)
    }

    /// Whether that token is the holder's, held through this agent, and valid now.
    ///
    /// # Errors
    /// If no agent answers, or it refuses.
    pub async fn check(&self, name: &str, token: u64) -> Result<Checked, ClientError> {
        let name = Name::new(name)?;
        self.door.check(&name, token).await.map(Checked::of)
    }

    /// Deletes an election that nobody holds or waits for.
    ///
    /// # Errors
    /// If there is none, it is held or waited for, no agent answers, or it refuses.
    pub async fn delete(&self, name: &str) -> Result<(), ClientError> {
        let name = Name::new(name)?;
        let _deleted: serde_json::Value = self.door.answer(Ask::delete(door::election(&name, ""))).await?;
        Ok(())
    }
}

/// Where the agent is.
impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.door.fmt(f)
    }
}

/// How long until an agent that was lost is asked again: at first, and later. What is held goes on for a second or so.
const AGAIN: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));
