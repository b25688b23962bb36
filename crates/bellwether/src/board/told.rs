//! What handles are told of named elections.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bellwether_proto::exclusive::grant::{GrantKind, Name};
use bellwether_proto::exclusive::order::Lost;
use bellwether_proto::ident::NodeId;

/// How a campaign stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// It waits.
    Waiting {
        /// So many go before it; `None` while that is not known.
        before: Option<u32>,
        /// Why it holds the name no more, if it did.
        lost: Option<Lost>,
    },
    /// It holds the name.
    Held {
        /// The token.
        token: u64,
    },
    /// It does not count: the name is of another kind.
    Unfit {
        /// The kind of the name.
        kind: GrantKind,
    },
    /// It was given back, or the member has ended.
    Over,
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

/// The member's lease, on which everything of kind `lease` rests that is held through it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lease {
    /// It is valid until the machine has been up for so long.
    pub valid_until: Option<Duration>,
}
