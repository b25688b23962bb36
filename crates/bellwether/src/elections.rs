//! Named elections: any number of them in one cluster, with [`Config::exclusive`](crate::Config::exclusive).
//!
//! A [`Session`] is somebody that campaigns through a member: a part of the program, or, in the agent, another program. What it
//! campaigns for is a [`Campaign`]. Whoever holds a name of kind `lease` may act while the member's lease is valid.

mod board;
mod campaign;
mod session;
mod slot;
mod watching;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bellwether_proto::ident::NodeId;

pub use bellwether_proto::exclusive::grant::{BadName, GrantKind, Name};
pub use bellwether_proto::exclusive::order::{Declined, Lost};

pub(crate) use board::Board;
pub use campaign::{Campaign, State};
pub use session::Session;
pub use watching::Watching;

/// For how long the machine has been up: the clock of every `valid_until`. On Linux it counts the time for which the machine is
/// suspended.
pub fn uptime() -> Duration {
    crate::uptime::now()
}

/// What is known here of a named election.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Election {
    /// Its name.
    pub name: Name,
    /// What makes its grants valid.
    pub kind: GrantKind,
    /// The token of the holder, or of the last one.
    pub token: u64,
    /// Who holds it.
    pub holder: Option<Holder>,
    /// What the holder proclaims.
    pub value: Arc<[u8]>,
    /// How many others wait for it.
    pub waiting: u32,
    /// When this member heard that.
    pub since: SystemTime,
    /// How long ago it was that this was known to be so.
    pub age: Duration,
}

/// Who holds a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// Through which member.
    pub node: NodeId,
    /// Which of its sessions. 0 is the member itself.
    pub session: u64,
}

/// How a name would be held.
#[derive(Clone, Debug, Default)]
pub struct Candidacy {
    /// What makes the grant valid. The first campaign of a name chooses it, for good.
    pub kind: GrantKind,
    /// Higher goes first, of those that wait.
    pub priority: u32,
    /// What it would proclaim: at most 4096 bytes.
    pub value: Arc<[u8]>,
    /// What the session held through an earlier process of this member, if it is to go on.
    pub adopts: Option<Adoption>,
}

/// What a session held through an earlier process of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adoption {
    /// With that token.
    pub token: u64,
    /// It was told that it may act until the machine has been up for so long.
    pub until: Duration,
}

/// The member's lease, on which everything of kind `lease` rests that is held through it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lease {
    /// It is valid until the machine has been up for so long.
    pub valid_until: Option<Duration>,
}
