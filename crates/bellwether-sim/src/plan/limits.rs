//! What plans may be drawn: how large, how long, with which faults.

use std::collections::BTreeSet;
use std::fmt;

use bellwether_proto::detector::DetectorKind;
use bellwether_proto::election::{InAgent, Protocol, Variant};
use bellwether_proto::leadership;
use bellwether_proto::promise::Assumption;
use bellwether_proto::time::Span;
use thiserror::Error;

use crate::scenario::Runs;

/// The smallest cluster that a plan can be about: a node alone has nobody to disagree with.
pub const NODES_MIN: u32 = 2;
/// The largest: a search plays many plans, each of all-to-all chatter.
pub const NODES_MAX: u32 = 64;

/// What plans may be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many nodes; one of these.
    pub nodes: Vec<u32>,
    /// How long faults happen before everything heals; one of these.
    pub rages: Vec<Span>,
    /// Which faults.
    pub faults: Allowed,
    /// The kinds of message that a `drop_next` or `crash_before_send` may wait for, instead of all that the algorithm has.
    pub kinds: Option<Vec<String>>,
    /// The detectors that may be drawn, instead of those that suit the algorithm.
    pub detectors: Option<Vec<DetectorKind>>,
    /// What runs on the nodes.
    pub runs: Runs,
}

impl Default for Limits {
    /// What a search draws unless it is told otherwise. Short plans find as much in the same time as long ones, and there
    /// are more of them; some flaws need long ones.
    fn default() -> Self {
        Self {
            nodes: (3..=5).collect(),
            rages: [1, 1, 1, 3, 3, 10].map(Span::secs).to_vec(),
            faults: Allowed::Promised,
            kinds: None,
            detectors: None,
            runs: Runs::Elections,
        }
    }
}

impl Limits {
    /// Those of [`plan::draw`](super::draw): every fault there is, in large clusters too, for ten seconds.
    pub fn wide() -> Self {
        let nodes = vec![3, 5, 7, 2, 4, 6, 8];
        Self { nodes, rages: vec![Span::secs(10)], faults: Allowed::Everything, ..Self::default() }
    }

    /// Whether plans of that algorithm can be drawn within these limits; if not, why.
    pub fn check(&self, protocol: Protocol, variant: Variant) -> Result<(), LimitsError> {
        let named = || protocol.name();
        if self.nodes.is_empty() || self.rages.is_empty() {
            return Err(LimitsError::Nothing);
        }
        if let Some(found) = self.nodes.iter().find(|nodes| !(NODES_MIN..=NODES_MAX).contains(nodes)) {
            return Err(LimitsError::Nodes { found: *found });
        }
        if let Allowed::Only(classes) = &self.faults {
            if classes.is_empty() {
                return Err(LimitsError::NoFaults);
            }
            if classes.contains(&FaultClass::Recover) && !classes.contains(&FaultClass::Crash) {
                return Err(LimitsError::RecoverWithoutCrash);
            }
            if classes.contains(&FaultClass::Duplicate) && presumes(protocol, Assumption::Fifo) {
                return Err(LimitsError::Duplicates { protocol: named() });
            }
        }
        if let Some(kinds) = &self.kinds {
            let known = protocol.spec().kinds.iter().chain(leadership::KINDS);
            let known: Vec<_> = known.map(|kind| kind.name()).collect();
            if let Some(kind) = kinds.iter().find(|kind| !known.contains(&kind.as_str())) {
                return Err(LimitsError::Kind { protocol: named(), kind: kind.clone() });
            }
            if kinds.is_empty() {
                return Err(LimitsError::Nothing);
            }
        }
        if self.detectors.as_ref().is_some_and(Vec::is_empty) {
            return Err(LimitsError::Nothing);
        }
        match (self.runs != Runs::Elections, protocol.spec().in_agent, variant) {
            (true, InAgent::No(why), _) => Err(LimitsError::NotInAgent { protocol: named(), why }),
            (true, InAgent::Yes, Variant::Printed) => Err(LimitsError::PrintedInAgent),
            _ => Ok(()),
        }
    }

    /// The classes of fault that may be drawn for that algorithm.
    pub fn classes(&self, protocol: Protocol, variant: Variant) -> BTreeSet<FaultClass> {
        match &self.faults {
            Allowed::Everything => FaultClass::ALL.into(),
            Allowed::Promised => promised(protocol, variant),
            Allowed::Only(classes) => classes.clone(),
        }
    }
}

/// Which faults may be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// All, whatever the algorithm promises.
    Everything,
    /// Those under which the algorithm promises something.
    Promised,
    /// These.
    Only(BTreeSet<FaultClass>),
}

/// Faults that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultClass {
    /// Nodes crash, now or just before they send something.
    Crash,
    /// Nodes that crashed come back.
    Recover,
    /// Messages are lost, by chance or by name.
    Loss,
    /// Messages arrive twice.
    Duplicate,
    /// Links are slow, and messages overtake each other where the algorithm can bear it.
    Delay,
    /// Nodes stop running for a while.
    Pause,
    /// Links are cut, in one direction or both, and whole clusters are split.
    Partition,
}

impl FaultClass {
    /// Every class.
    pub const ALL: [Self; 7] =
        [Self::Crash, Self::Recover, Self::Loss, Self::Duplicate, Self::Delay, Self::Pause, Self::Partition];

    /// The name used in commands.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Recover => "recover",
            Self::Loss => "loss",
            Self::Duplicate => "duplicate",
            Self::Delay => "delay",
            Self::Pause => "pause",
            Self::Partition => "partition",
        }
    }

    /// The class of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }

    /// Whether a promise that presumes this says nothing where such faults happen.
    fn breaks(self, assumption: Assumption) -> bool {
        match self {
            Self::Crash => assumption == Assumption::NoCrashes,
            Self::Recover => assumption == Assumption::NoRecoveries,
            Self::Loss | Self::Partition => assumption == Assumption::Reliable,
            Self::Duplicate => assumption == Assumption::NoDuplicates,
            Self::Delay => assumption == Assumption::BoundedDelay,
            Self::Pause => assumption == Assumption::NoPauses,
        }
    }
}

impl fmt::Display for FaultClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Why no plan can be drawn within some limits.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LimitsError {
    /// A list from which one is to be drawn is empty.
    #[error("a list of the limits is empty, so that nothing can be drawn from it")]
    Nothing,
    /// Too few nodes, or too many.
    #[error("found {found} nodes, expected from {NODES_MIN} to {NODES_MAX}")]
    Nodes {
        /// The number.
        found: u32,
    },
    /// No class of fault.
    #[error("found no faults, expected some of crash, recover, loss, duplicate, delay, pause and partition")]
    NoFaults,
    /// Nobody ever has a reason to recover.
    #[error(
        "the faults contradict each other: recover without crash, and who has not crashed cannot recover"
    )]
    RecoverWithoutCrash,
    /// The algorithm's channels repeat nothing.
    #[error(
        "duplicate is not a fault that {protocol} can meet: it presumes channels that keep order, and these repeat nothing"
    )]
    Duplicates {
        /// The algorithm.
        protocol: &'static str,
    },
    /// The algorithm has no such message.
    #[error("{protocol} has no message {kind}")]
    Kind {
        /// The algorithm.
        protocol: &'static str,
        /// The kind of message.
        kind: String,
    },
    /// Agents do not run it.
    #[error("agents do not run {protocol}: it {why}")]
    NotInAgent {
        /// The algorithm.
        protocol: &'static str,
        /// The reason.
        why: &'static str,
    },
    /// Agents run what works.
    #[error("agents do not run the printed variant, expected the repaired one")]
    PrintedInAgent,
}

/// Whether some promise of the algorithm, as repaired, takes that for granted.
pub(super) fn presumes(protocol: Protocol, assumption: Assumption) -> bool {
    protocol.spec().repaired.iter().any(|promise| promise.under.contains(&assumption))
}

/// The classes that leave something of what a variant promises.
fn promised(protocol: Protocol, variant: Variant) -> BTreeSet<FaultClass> {
    let promises = protocol.spec().promises(variant);
    let leaves_something = |class: &FaultClass| {
        promises.iter().any(|promise| !promise.under.iter().any(|assumption| class.breaks(*assumption)))
    };
    FaultClass::ALL.into_iter().filter(leaves_something).collect()
}
