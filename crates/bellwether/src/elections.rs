//! Named elections: any number of them in one cluster, with [`Config::exclusive`](crate::Config::exclusive).
//!
//! A [`Session`] is somebody that campaigns through a member: a part of the program, or, in the agent, another program. What it
//! campaigns for is a [`Campaign`]. Whoever holds a name of kind `lease` may act while the member's lease is valid.

mod campaign;
mod seated;
mod session;
mod sight;
mod watching;

use std::sync::Arc;
use std::time::Duration;

pub use bellwether_proto::exclusive::grant::{BadName, GrantKind, Name};
pub use bellwether_proto::exclusive::order::{Declined, Lost};

pub use crate::board::{Election, Holder, Lease, State};
pub use campaign::Campaign;
pub(crate) use seated::Seated;
pub use session::Session;
pub(crate) use sight::Sight;
pub use watching::{Watching, WatchingAll};

/// For how long the machine has been up: the clock of every `valid_until`. On Linux it counts the time for which the machine is
/// suspended.
pub fn uptime() -> Duration {
    crate::uptime::now()
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
