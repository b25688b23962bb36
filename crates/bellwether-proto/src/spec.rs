//! What is to be known about an algorithm: the one place where the rest of the code asks.

use crate::detector::DetectorKind;
use crate::kind::Kind;
use crate::link::Peers;
use crate::promise::Promise;
use crate::roster::Priority;
use crate::view::Members;

/// What is to be known about an algorithm before choosing it.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Its name in files and commands.
    pub name: &'static str,
    /// The document and figure it comes from.
    pub document: &'static str,
    /// What it takes for granted.
    pub assumes: &'static str,
    /// What its user may rely on.
    pub guarantees: &'static str,
    /// What it costs.
    pub messages: &'static str,
    /// Whether it is fit for an agent on a real network, and if not, why.
    pub in_agent: InAgent,
    /// Who is preferred.
    pub priority: Priority,
    /// The detector it gets unless told otherwise; `None` for an algorithm with timers of its own, which gets none.
    pub detector: Option<DetectorKind>,
    /// Whom its nodes speak with.
    pub peers: Peers,
    /// What it needs of its channels.
    pub channels: Channels,
    /// Whether what it forms is reorganized (Garcia-Molina).
    pub reorganizes: bool,
    /// Whether its leader can hand over to a node of its choice. With fixed priorities it cannot.
    pub hands_over: bool,
    /// The kinds of its messages.
    pub kinds: &'static [Kind],
    /// What the repaired variant promises: ours.
    pub repaired: &'static [Promise],
    /// What the printed variant promises: the paper's claims.
    pub printed: &'static [Promise],
}

impl Spec {
    /// The largest cluster that can run it, if there is a limit: views name their members.
    pub const fn nodes_max(&self) -> Option<usize> {
        match self.channels {
            Channels::WithHistory => Some(Members::MAX),
            Channels::InOrder | Channels::AnyOrder => None,
        }
    }

    /// What that variant promises.
    pub fn promises(&self, variant: Variant) -> &'static [Promise] {
        match variant {
            Variant::Repaired => self.repaired,
            Variant::Printed => self.printed,
        }
    }
}

/// What an algorithm needs of the channels between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    /// Messages in the order in which they were sent, none twice. The link layer refuses the others.
    InOrder,
    /// Nothing: messages may overtake each other and come twice.
    AnyOrder,
    /// Links with a history that is the same at both ends, and that carry, while they are up, what is sent in order and
    /// exactly once (Franceschetti and Bruck). Of both variants: the paper takes them for granted.
    WithHistory,
}

/// Whether an algorithm is fit for a real network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InAgent {
    /// It is.
    Yes,
    /// It is not, for this reason.
    No(&'static str),
}

/// Two readings of an algorithm where its paper is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// With the repairs of `docs/divergence.md`. The default.
    Repaired,
    /// What the paper says, slips of the pen corrected and real flaws kept. For the laboratory.
    Printed,
}

impl Variant {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Repaired, Self::Printed];

    /// The name used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Repaired => "repaired",
            Self::Printed => "printed",
        }
    }

    /// The variant of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|variant| variant.name() == name)
    }
}
