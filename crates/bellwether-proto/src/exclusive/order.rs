//! What programs ask of their agent about elections, and what they are told.

use alloc::sync::Arc;
use core::fmt;

use super::grant::{Grant, GrantKind, Name, Token};
use crate::ident::NodeId;
use crate::time::Time;

/// What a program asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Hold that name, from when it is granted until it is given back.
    Campaign {
        /// Of which session. 0 is the agent itself.
        session: u64,
        /// The name.
        name: Name,
        /// How it would be held.
        candidacy: Candidacy,
    },
    /// Give that name back, or end the wait for it.
    Release {
        /// Of which session.
        session: u64,
        /// The name.
        name: Name,
        /// Whose candidate shall be next, if there is one.
        next: Option<NodeId>,
    },
    /// Proclaim that for as long as the name is held.
    Proclaim {
        /// Of which session.
        session: u64,
        /// The name.
        name: Name,
        /// What is proclaimed.
        value: Arc<[u8]>,
    },
    /// Forget that name, which nobody holds or waits for.
    Delete {
        /// The name.
        name: Name,
    },
    /// Have a majority say who holds that name.
    Read {
        /// The name.
        name: Name,
    },
}

/// How a name would be held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidacy {
    /// What makes the grant valid. The first campaign of a name chooses it, for good.
    pub kind: GrantKind,
    /// Higher goes first, of those that wait.
    pub priority: u32,
    /// What it would proclaim.
    pub value: Arc<[u8]>,
    /// What an earlier life of this agent held for the same session, if it is to go on.
    pub adopts: Option<Adoption>,
}

/// What a session that has come back held through an earlier life of its agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Adoption {
    /// With that token.
    pub token: Token,
    /// Until then it was told that it may act. The next grant is asked for only when this agent's own lease lasts as long.
    pub until: Time,
}

/// What a program is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// A campaign waits, and so many go before it; `None` if the coordinator has not said so yet.
    Waits {
        /// Of which session.
        session: u64,
        /// The name.
        name: Name,
        /// How many go before it.
        before: Option<u32>,
    },
    /// A campaign holds its name. Of kind `lease` it may act while the lease is valid.
    Holds {
        /// Of which session.
        session: u64,
        /// The name.
        name: Name,
        /// Its token.
        token: Token,
    },
    /// A campaign holds its name no more, and waits again.
    Lost {
        /// Of which session.
        session: u64,
        /// The name.
        name: Name,
        /// Why.
        why: Lost,
    },
    /// What was given back is granted to another, or to nobody; or nothing was held.
    Over {
        /// Of which session.
        session: u64,
        /// The name.
        name: Name,
    },
    /// A campaign does not count: the name is of another kind. It is over.
    Unfit {
        /// Of which session.
        session: u64,
        /// The name.
        name: Name,
        /// The kind of the name.
        kind: GrantKind,
    },
    /// All that was told of names is so now.
    Current,
    /// The agent's lease, on which everything of kind `lease` rests, is valid until then; `None` if it is not.
    Valid(Option<Time>),
    /// Who holds that name, as far as the coordinator told; `None` if it was deleted.
    Known {
        /// The name.
        name: Name,
        /// Who holds it, and how many others wait.
        held: Option<(Arc<Grant>, u32)>,
    },
}

/// Why a campaign holds its name no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lost {
    /// The agent's lease ended.
    Lease,
    /// Of kind `token`: another was granted the name, because this agent seemed to be gone.
    Replaced,
}

/// Why an order was refused. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Declined {
    /// Leadership is not exclusive, so there are no named elections.
    NotExclusive,
    /// That session campaigns for the name already.
    Campaigns,
    /// It does not campaign for the name.
    NoCampaign,
    /// It does not hold the name.
    NotHeld,
    /// The name is of another kind.
    OtherKind {
        /// The kind that its first campaign chose.
        kind: GrantKind,
    },
    /// There is no such name.
    Unknown,
    /// Somebody holds the name, or waits for it.
    InUse,
    /// The name is not for programs to delete.
    Reserved,
    /// There are as many names as there may be.
    TooMany,
    /// The value is longer than any may be.
    TooLong,
    /// A witness campaigns for nothing.
    Witness,
    /// Nobody who coordinates has answered in time. It may be done all the same.
    Unanswered {
        /// How many voters can be reached.
        reachable: u32,
        /// How many are needed.
        needed: u32,
    },
}

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotExclusive => f.write_str("named elections need mode = \"exclusive\""),
            Self::Campaigns => f.write_str("this session campaigns for that name already"),
            Self::NoCampaign => f.write_str("this session does not campaign for that name"),
            Self::NotHeld => f.write_str("this session does not hold that name"),
            Self::OtherKind { kind } => write!(f, "that name is of kind {}", kind.name()),
            Self::Unknown => f.write_str("there is no election of that name"),
            Self::InUse => f.write_str("somebody holds that name, or waits for it"),
            Self::Reserved => f.write_str("that name cannot be deleted"),
            Self::TooMany => f.write_str("there are as many names as there may be"),
            Self::TooLong => write!(f, "a value has at most {} bytes", Grant::VALUE_MAX),
            Self::Witness => f.write_str("this member is a witness, and campaigns for nothing"),
            Self::Unanswered { reachable, needed } if reachable < needed => write!(
                f,
                "not done, for want of a majority: {reachable} voters can be reached, {needed} are needed"
            ),
            Self::Unanswered { .. } => f.write_str("not done in time, and perhaps later"),
        }
    }
}
