//! Leadership from a program's point of view: what it may do, what it may ask for, and the answers.

use core::fmt;
use core::str::FromStr;

use crate::exclusive::membership::Unchanged;
use crate::exclusive::order::Declined;
use crate::ident::NodeId;
use crate::leadership::Reluctance;
use crate::time::{ParseSpanError, Span};

/// What a program may do as the leader from now on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tenure {
    /// Nothing: this node does not lead. Leadership may have been lost, and then nobody waits for work that
    /// still runs.
    #[default]
    None,
    /// It leads: work may begin.
    Held {
        /// The number of this leadership.
        epoch: u64,
    },
    /// It leads, but work must end now, because leadership is being released. No work may begin.
    AskedBack {
        /// The number of this leadership.
        epoch: u64,
    },
}

/// What a program asks of its agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Give leadership up, and go aside.
    Resign {
        /// For how long.
        hold: Hold,
    },
    /// Stand again before that time is over.
    Stand,
    /// Hand leadership over to that member.
    Transfer {
        /// The next leader.
        to: NodeId,
    },
    /// Hand over, if this node leads, and end.
    Leave,
}

impl Command {
    /// The word used in traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Resign { .. } => "resign",
            Self::Stand => "stand",
            Self::Transfer { .. } => "transfer",
            Self::Leave => "leave",
        }
    }

    /// The command of that name, with what some need: for how long, and with whom it has to do.
    pub fn by_name(name: &str, hold: Option<Hold>, to: Option<NodeId>) -> Option<Self> {
        match (name, hold, to) {
            ("resign", Some(hold), _) => Some(Self::Resign { hold }),
            ("stand", ..) => Some(Self::Stand),
            ("transfer", _, Some(to)) => Some(Self::Transfer { to }),
            ("leave", ..) => Some(Self::Leave),
            _ => None,
        }
    }
}

/// How long to stay aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// As long as the settings say.
    Default,
    /// That long.
    For(Span),
    /// Until [`Command::Stand`].
    UntilTold,
}

/// As traces have it.
impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::For(span) => write!(f, "{span}"),
            Self::UntilTold => f.write_str("until-told"),
        }
    }
}

impl FromStr for Hold {
    type Err = ParseSpanError;

    fn from_str(text: &str) -> Result<Self, ParseSpanError> {
        match text {
            "default" => Ok(Self::Default),
            "until-told" => Ok(Self::UntilTold),
            span => span.parse().map(Self::For),
        }
    }
}

/// Tells commands apart: the answer to one carries its ticket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// Why a command was refused, or failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// Only the leader can do this. Nothing changed.
    NotLeader {
        /// The node that was asked.
        me: NodeId,
        /// The present leader.
        leader: Option<NodeId>,
    },
    /// No other member could lead, and the command does not say for how long nobody shall lead. Nothing
    /// changed.
    NoSuccessor,
    /// The node is not aside. Nothing changed.
    NotAside {
        /// The node that was asked.
        me: NodeId,
    },
    /// Leadership is being released already. Nothing changed.
    GivenBack,
    /// The node is leaving. Nothing changed.
    Leaving,
    /// Leadership cannot be handed to that member. Nothing changed.
    HandOver {
        /// The next leader.
        to: NodeId,
        /// Why not.
        why: Reluctance,
    },
    /// The algorithm has an order of its own: its leader can resign, but not choose the next leader. Nothing
    /// changed.
    FixedPriorities {
        /// Its name.
        algorithm: &'static str,
    },
    /// That member did not take over in time. This node may lead again, with another epoch.
    NotTaken {
        /// The member.
        to: NodeId,
    },
    /// Who votes was not changed.
    Members(Unchanged),
    /// An order about an election was not carried out.
    Election(Declined),
}

impl Refused {
    /// The words used in traces.
    pub const NAMES: [&str; 10] = [
        "not-leader",
        "no-successor",
        "not-aside",
        "given-back",
        "leaving",
        "fixed-priorities",
        "hand-over",
        "not-taken",
        "members-unchanged",
        "declined",
    ];

    /// The word used in traces.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NotLeader { .. } => Self::NAMES[0],
            Self::NoSuccessor => Self::NAMES[1],
            Self::NotAside { .. } => Self::NAMES[2],
            Self::GivenBack => Self::NAMES[3],
            Self::Leaving => Self::NAMES[4],
            Self::FixedPriorities { .. } => Self::NAMES[5],
            Self::HandOver { .. } => Self::NAMES[6],
            Self::NotTaken { .. } => Self::NAMES[7],
            Self::Members(_) => Self::NAMES[8],
            Self::Election(_) => Self::NAMES[9],
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLeader { me, leader: None } => write!(f, "node {me} does not lead; nobody does"),
            Self::NotLeader { me, leader: Some(leader) } => {
                write!(f, "node {me} does not lead; node {leader} does")
            }
            Self::NoSuccessor => {
                f.write_str("no other connected member could lead; say for how long nobody shall lead")
            }
            Self::NotAside { me } => write!(f, "node {me} does not stand aside"),
            Self::GivenBack => f.write_str("leadership is being released already"),
            Self::Leaving => f.write_str("the member is leaving"),
            Self::HandOver { to, why } => match why {
                Reluctance::NotLeading => f.write_str("this node does not lead"),
                Reluctance::LeadsAlready => write!(f, "node {to} leads already"),
                Reluctance::NotConnected => write!(f, "node {to} is not connected"),
                Reluctance::StandsAside => write!(f, "node {to} stands aside"),
                Reluctance::Silent => write!(f, "node {to} is connected, but does not answer"),
                Reluctance::Algorithm => f.write_str("the algorithm has fixed priorities"),
            },
            Self::FixedPriorities { algorithm } => write!(
                f,
                "{algorithm} has fixed priorities: its leader cannot hand over to a node of its choice; resign instead"
            ),
            Self::NotTaken { to } => write!(f, "node {to} did not take over in time"),
            Self::Members(why) => why.fmt(f),
            Self::Election(why) => why.fmt(f),
        }
    }
}

impl core::error::Error for Refused {}
