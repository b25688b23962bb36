//! What is modelled, and within which bounds.

use bellwether_proto::exclusive::grant::{GrantKind, Name};
use bellwether_proto::exclusive::message::{Ask, Wish};
use bellwether_proto::exclusive::terms::Terms;
use bellwether_proto::ident::NodeId;
use bellwether_proto::time::Span;

use super::clocks::Clocks;
use super::lull::Lull;

/// A model before its first step.
#[derive(Clone, Debug)]
pub struct Setting {
    /// How many voters at first.
    pub voters: usize,
    /// How many others could vote, each with an empty store.
    pub spares: usize,
    /// How many believe to be nominated.
    pub coordinators: usize,
    /// How many agents.
    pub agents: usize,
    /// The names that agents campaign for, each of its kind.
    pub names: Vec<(Name, GrantKind)>,
    /// Whether the voters have the first configuration in force on their disks from the start.
    pub founded: bool,
    /// When changes are on disk.
    pub disk: Disk,
    /// How long leases last.
    pub terms: Terms,
    /// By how much time passes at once.
    pub tick: Span,
    /// What each process takes the time to be.
    pub clocks: Clocks,
    /// For which session agents campaign. 0 is the agent itself.
    pub session: u64,
    /// Whether all agents campaign for all names from the start.
    pub eager: bool,
    /// What coordinators have heard from agents that are no part of the model, whenever they start: which of them, from whom, what.
    pub heard: Vec<(usize, NodeId, Wish)>,
    /// What all voters are asked by nodes that are no part of the model, from the start.
    pub asked: Vec<(NodeId, Ask)>,
    /// What happened before the first step.
    pub before: Vec<Lull>,
    /// Whether a lease must not be valid that a majority has buried. It may be, where clocks cannot be trusted.
    pub judges_leases: bool,
    /// How often a message may arrive.
    pub copies: Copies,
    /// How often things happen.
    pub budget: Budget,
}

/// When changes are on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disk {
    /// Before anything else happens.
    AtOnce,
    /// At any time later, in order; until then a crash loses them.
    Behind,
}

/// How often a message may arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// Once, or within [`Budget::duplicates`] once more.
    Few,
    /// As often as one likes, at any time: it stays under way for good. There are fewer states then, because what was delivered is
    /// told by its receiver alone. Only answers are dropped that their receiver will never heed.
    Any,
}

/// How often things may still happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Budget {
    /// Time passes.
    pub ticks: u32,
    /// A message arrives, and once more later.
    pub duplicates: u32,
    /// A voter restarts with its disk.
    pub voter_restarts: u32,
    /// A coordinator restarts.
    pub coordinator_restarts: u32,
    /// An agent restarts.
    pub agent_restarts: u32,
    /// A voter restarts with an empty store.
    pub amnesias: u32,
    /// A coordinator or an agent restarts with an incarnation that it had before.
    pub forgetful: u32,
    /// A program has its agent campaign, release or hand over.
    pub commands: u32,
    /// A coordinator takes an agent for gone.
    pub partings: u32,
    /// Coordinators are asked to add or to remove a voter.
    pub changes: u32,
    /// An agent asks for a name to be forgotten.
    pub deletions: u32,
    /// An agent asks which names there are. Only then are names dropped that were deleted.
    pub lists: u32,
}

impl Budget {
    /// As often as one likes; no voter loses its disk, all stay, and no name is forgotten.
    pub const UNBOUNDED: Self = Self {
        ticks: u32::MAX,
        duplicates: u32::MAX,
        voter_restarts: u32::MAX,
        coordinator_restarts: u32::MAX,
        agent_restarts: u32::MAX,
        amnesias: 0,
        forgetful: u32::MAX,
        commands: u32::MAX,
        partings: u32::MAX,
        changes: 0,
        deletions: 0,
        lists: 0,
    };
}

impl Setting {
    /// The id of a voter.
    pub fn voter(index: usize) -> NodeId {
        NodeId(1 + index as u32)
    }

    /// All that have a store.
    pub fn stores(&self) -> usize {
        self.voters + self.spares
    }

    /// The id of a coordinator.
    pub fn coordinator(index: usize) -> NodeId {
        NodeId(11 + index as u32)
    }

    /// The id of an agent.
    pub fn agent(index: usize) -> NodeId {
        NodeId(21 + index as u32)
    }
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Voter(usize),
    Coordinator(usize),
    Agent(usize),
}

impl Role {
    pub(super) fn of(node: NodeId) -> Self {
        match node.0 as usize {
            voter @ 1..=10 => Self::Voter(voter - 1),
            coordinator @ 11..=20 => Self::Coordinator(coordinator - 11),
            agent => Self::Agent(agent - 21),
        }
    }
}
