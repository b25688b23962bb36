//! Scenarios: what runs, in which world, what befalls it, and what is expected.
//!
//! The file format is described in `docs/reference/scenarios.md`. Parsing (`parse.rs`) yields a [`Scenario`] that is valid as a
//! whole; printing (`print.rs`) gives a file that parses to the same.

pub(crate) mod defaults;
mod model;
pub(crate) mod parse;
mod print;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::agent::Settings;
use bellwether_proto::detector::{DetectorConfig, DetectorKind};
use bellwether_proto::election::{Mode, Primary, Protocol, Timing, Variant};
use bellwether_proto::exclusive::grant::GrantKind;
use bellwether_proto::exclusive::terms::Drift;
use bellwether_proto::group::OpId;
use bellwether_proto::ident::{GroupId, NodeId};
use bellwether_proto::promise::Property;
use bellwether_proto::time::{Span, Time};

use crate::operations::Outcome;
pub use model::{Model, ModelKey, ModelKind};
pub use parse::Overrides;

/// The largest cluster a scenario may ask for. Memory grows with its square: this many take about two gigabytes.
pub const NODES_MAX: u32 = 4_000;

/// How long it takes until two members whose connection ended with a goodbye are connected again: about as long as an agent
/// waits before it dials again.
pub const REDIAL: Span = Span::millis(20);

/// The longest run that a scenario may ask for: ten years.
pub const UNTIL_MAX: Span = Span::secs(10 * 365 * 24 * 60 * 60);

/// One experiment, complete and valid.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// For people.
    pub name: String,
    /// The algorithm.
    pub protocol: Protocol,
    /// Repaired or printed.
    pub variant: Variant,
    /// Ids are 1 to this.
    pub nodes: u32,
    /// Where all randomness of the run comes from.
    pub seed: u64,
    /// When the run ends.
    pub until: Time,
    /// Whether nodes are run as an agent runs them: connected, and announcing leadership once it is settled.
    pub agent: bool,
    /// What members are told about leading. Without `agent` nobody looks at it.
    pub policy: Policy,
    /// `mode = "exclusive"` and `[exclusive]`: the terms on which at most one leads at a time.
    pub exclusive: Option<Exclusive>,
    /// `[disk]`: how long nodes take to write.
    pub disk: Disk,
    /// How links behave.
    pub network: Network,
    /// `[timing]`, defaults filled in.
    pub timing: Timing,
    /// `[detector]`, defaults filled in.
    pub detector: Detector,
    /// `[parameters]`.
    pub parameters: Parameters,
    /// Clocks that run fast (positive) or slow, in parts per million.
    pub drift_ppm: BTreeMap<NodeId, i32>,
    /// What befalls the world, in the order of the file.
    pub events: Vec<Planned>,
    /// What is expected of the run.
    pub expect: Expect,
}

impl Scenario {
    /// A scenario of the defaults: a calm network, nothing befalls it, nothing is expected.
    pub fn calm(protocol: Protocol, nodes: u32, until: Time) -> Self {
        let base = LinkRule::default();
        let (delta, tau) = (base.latency.high + Span::millis(1), Span::millis(100));
        Self {
            name: format!("{} with {nodes} nodes", protocol.name()),
            protocol,
            variant: Variant::Repaired,
            nodes,
            seed: 1,
            until,
            agent: false,
            policy: Policy::default(),
            exclusive: None,
            disk: Disk::default(),
            network: Network { base, links: Vec::new(), resend: None, model: None },
            timing: Timing { delta, tau, step: delta },
            detector: Detector { kind: defaults::detector(protocol, false), period: tau, reporters: 1 },
            parameters: Parameters::default(),
            drift_ppm: BTreeMap::new(),
            events: Vec::new(),
            expect: Expect::default(),
        }
    }

    /// What runs on its nodes.
    pub fn runs(&self) -> Runs {
        match (self.agent, &self.exclusive) {
            (_, Some(_)) => Runs::Exclusive,
            (true, None) => Runs::Agents,
            (false, None) => Runs::Elections,
        }
    }

    /// The ids of all nodes.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (1..=self.nodes).map(NodeId)
    }

    /// The algorithm's t: how many crashes it is to tolerate.
    pub fn t(&self) -> u32 {
        self.parameters.t.unwrap_or(defaults::t(self.nodes, self.agent))
    }

    /// How many nodes may be down at the end, where an algorithm bears few crashes: t, and never so many that those who are
    /// left are no majority, if it needs one.
    pub fn few(&self) -> u32 {
        match self.protocol.spec().mode {
            Mode::AnySurvivor => self.t(),
            Mode::Majority => self.t().min((self.nodes - 1) / 2),
        }
    }

    /// How long a member that gives leadership back waits for the next leader, as agents have it.
    pub fn successor_patience(&self) -> Span {
        Settings::new(NodeId(1), Vec::new(), self.protocol, self.timing).patience.successor
    }

    /// How long a write takes at most: on the slowest disk, and while that stands still.
    pub fn longest_write(&self) -> Span {
        let stalls = self.events.iter().filter_map(|planned| match planned.fault {
            Fault::Stall { lasts, .. } => Some(lasts),
            _ => None,
        });
        self.disk.longest() + stalls.max().unwrap_or_default()
    }

    /// The detector as the nodes are to be given it.
    pub fn detector_config(&self) -> DetectorConfig {
        DetectorConfig {
            kind: self.detector.kind,
            period: self.detector.period,
            delta: self.timing.delta,
            step: self.timing.step,
            reporters: self.detector.reporters,
            reports_new_incarnations: self.variant == Variant::Repaired,
        }
    }
}

/// What runs on the nodes of a scenario, or of a recorded run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// Elections, and nothing else.
    Elections,
    /// Members that announce a leader.
    Agents,
    /// Members of which at most one leads at a time.
    Exclusive,
}

/// What members are told about leading: who is preferred, and how leadership is given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How much a node is preferred as the leader; 0 if it is not listed.
    pub priority: BTreeMap<NodeId, u32>,
    /// Who, when it leads, makes way for a node of higher priority, and after how long.
    pub preempt: BTreeMap<NodeId, Span>,
    /// How many nodes must be connected with a node before it leads, while its disk has never seen an epoch.
    pub min_peers: u32,
    /// How long a leader's work may take to end.
    pub release_timeout: Span,
    /// How long a node that resigned stands aside.
    pub resign_hold: Span,
}

impl Default for Policy {
    /// As agents have it, but for a first election, in which nobody waits for others.
    fn default() -> Self {
        Self {
            priority: BTreeMap::new(),
            preempt: BTreeMap::new(),
            min_peers: 0,
            release_timeout: defaults::RELEASE_TIMEOUT,
            resign_hold: defaults::RESIGN_HOLD,
        }
    }
}

/// The terms on which at most one leads at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exclusive {
    /// How long a lease lasts that is not renewed.
    pub ttl: Span,
    /// How far clocks are trusted.
    pub drift: Drift,
    /// What makes a leadership valid.
    pub kind: GrantKind,
    /// Who votes.
    pub voters: BTreeSet<NodeId>,
    /// Who never leads.
    pub witnesses: BTreeSet<NodeId>,
}

impl Exclusive {
    /// The defaults in a cluster of so many nodes: all vote. As agents have it, but for the time.
    pub fn of(nodes: u32) -> Self {
        Self {
            ttl: defaults::TTL,
            drift: defaults::DRIFT,
            kind: GrantKind::Lease,
            voters: (1..=nodes).map(NodeId).collect(),
            witnesses: BTreeSet::new(),
        }
    }
}

/// How long a node takes to have something on its disk. It goes on in the meantime.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disk {
    /// For every node that is not listed. Zero: at once.
    pub latency: Span,
    /// For these.
    pub slow: BTreeMap<NodeId, Span>,
}

impl Disk {
    /// How long the slowest takes.
    pub fn longest(&self) -> Span {
        self.slow.values().copied().max().unwrap_or_default().max(self.latency)
    }

    /// How long that node takes.
    pub fn of(&self, node: NodeId) -> Span {
        self.slow.get(&node).copied().unwrap_or(self.latency)
    }
}

/// How links behave: one rule for all, exceptions for one direction of a pair, and an assumption model that may take
/// the place of the common rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// For every link without a rule of its own.
    pub base: LinkRule,
    /// `[[network.link]]`, complete: what the file leaves out is taken from the base.
    pub links: Vec<(NodeId, NodeId, LinkRule)>,
    /// `resend`: what is lost is sent again after this time, as connections do, and again if need be.
    pub resend: Option<Span>,
    /// `[network.model]`: the delays of every link without a rule of its own.
    pub model: Option<Model>,
}

/// How one direction of a link behaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkRule {
    /// Delay, drawn uniformly.
    pub latency: Latency,
    /// Probability that a message is lost.
    pub loss: f64,
    /// Probability that a message arrives twice.
    pub duplicate: f64,
    /// Whether messages keep their order.
    pub fifo: bool,
}

impl Default for LinkRule {
    fn default() -> Self {
        Self { latency: Latency::constant(Span::millis(1)), loss: 0.0, duplicate: 0.0, fifo: true }
    }
}

/// A range of delays, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// The shortest.
    pub low: Span,
    /// The longest.
    pub high: Span,
}

impl Latency {
    /// Always the same delay.
    pub const fn constant(span: Span) -> Self {
        Self { low: span, high: span }
    }
}

/// `[detector]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detector {
    /// Which.
    pub kind: DetectorKind,
    /// Its period.
    pub period: Span,
    /// `k`: how many must agree, for `cooperative`.
    pub reporters: usize,
}

/// `[parameters]`: the algorithms' own. Each algorithm reads those it knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// Crashes tolerated; by default (n−1)/2 rounded down.
    pub t: Option<u32>,
    /// Who is a candidate; by default everybody.
    pub candidates: Option<Vec<NodeId>>,
    /// Which parts of a split cluster may have a leader; by default one with more than half of the nodes.
    pub primary: Option<Primary>,
}

/// The place of a node in tables: ids start at 1.
pub(crate) fn index(id: NodeId) -> usize {
    id.0 as usize - 1
}

/// An event and its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// When.
    pub at: Time,
    /// What.
    pub fault: Fault,
}

/// The operations that events ask for.
pub(crate) fn asked_for(events: &[Planned]) -> BTreeSet<OpId> {
    let asked = |planned: &Planned| match planned.fault {
        Fault::Perform { op, .. } => Some(op),
        _ => None,
    };
    events.iter().filter_map(asked).collect()
}

/// What can befall the world.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// `crash`: these lose everything volatile. One that is down already stays so.
    Crash(Vec<NodeId>),
    /// `recover`: these come up and run their recovery rule. One that is up is left alone.
    Recover(Vec<NodeId>),
    /// `pause`: these stop running; what arrives waits.
    Pause(Vec<NodeId>),
    /// `resume`: these go on.
    Resume(Vec<NodeId>),
    /// `cut`: messages sent between these are lost, in both directions.
    Cut(Vec<(NodeId, NodeId)>),
    /// `cut_one_way`: messages sent from the first to the second are lost.
    CutOneWay(Vec<(NodeId, NodeId)>),
    /// `mend`: ends cuts between these, in both directions.
    Mend(Vec<(NodeId, NodeId)>),
    /// `heal`: ends every cut, slow link and pending `drop_next`.
    Heal,
    /// `partition`: links between blocks are cut, links within a block are whole; nodes not named form one more
    /// block.
    Partition(Vec<Vec<NodeId>>),
    /// `slow`: messages from one to the other take this long from now on.
    Slow {
        /// The sender.
        from: NodeId,
        /// The receiver.
        to: NodeId,
        /// How long.
        latency: Latency,
    },
    /// `drop_next`: the next message of that kind is lost.
    DropNext {
        /// The sender.
        from: NodeId,
        /// The receiver.
        to: NodeId,
        /// Which kind.
        kind: String,
    },
    /// `message`: something happens to one message of that kind.
    Message {
        /// The sender.
        from: NodeId,
        /// The receiver.
        to: NodeId,
        /// Which kind.
        kind: String,
        /// Which of them from then on, the next being the first.
        nth: u64,
        /// What happens to it.
        mishap: Mishap,
    },
    /// `crash_before_send`: the node crashes when it is about to send its next message of that kind; what it had to
    /// do before, such as writing to disk, is done.
    CrashBeforeSend {
        /// Who.
        node: NodeId,
        /// Which kind.
        kind: String,
    },
    /// `perform`: the node, if it is up, is asked to perform a restricted operation.
    Perform {
        /// Who.
        node: NodeId,
        /// The number of the operation.
        op: OpId,
    },
    /// `resign`: the program asks these to give leadership back and to stand aside for the `resign_hold`.
    Resign(Vec<NodeId>),
    /// `resign_for`: the same, for as long as it says.
    ResignFor {
        /// Who.
        node: NodeId,
        /// For how long; `None` until it is told to stand.
        hold: Option<Span>,
    },
    /// `stand`: the program asks these to stand again.
    Stand(Vec<NodeId>),
    /// `transfer`: the program asks one to hand leadership over to the other.
    Transfer {
        /// Who is asked.
        from: NodeId,
        /// To whom.
        to: NodeId,
    },
    /// `add_voter`: some member is asked to let that one vote. Only of exclusive leadership.
    AddVoter(NodeId),
    /// `remove_voter`: some member is asked to let that one vote no more. Only of exclusive leadership.
    RemoveVoter(NodeId),
    /// `leave`: the program asks these to leave. Their processes end with a goodbye, and `recover` starts them again.
    Leave(Vec<NodeId>),
    /// `unlink`: the connections between these end with a goodbye, and come back a while later.
    Unlink(Vec<(NodeId, NodeId)>),
    /// `refuse`: the first of each pair answers the second and refuses it. Their connection ends, and none comes about.
    Refuse(Vec<(NodeId, NodeId)>),
    /// `accept`: the first of each pair refuses the second no more.
    Accept(Vec<(NodeId, NodeId)>),
    /// `work`: how long the node's work as the leader takes, from now on, to end when it is to.
    Work {
        /// Whose.
        node: NodeId,
        /// How long; `None` for ever.
        ends_after: Option<Span>,
    },
    /// `stall`: nothing that the node writes is on its disk before that time has passed.
    Stall {
        /// Whose disk.
        node: NodeId,
        /// For how long.
        lasts: Span,
    },
    /// `network`: changes the rule of every link without a rule of its own.
    Network {
        /// The new delay.
        latency: Option<Latency>,
        /// The new loss.
        loss: Option<f64>,
        /// The new duplication.
        duplicate: Option<f64>,
        /// Whether order is kept.
        fifo: Option<bool>,
    },
}

/// What can happen to a single message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// `drop`: it is lost.
    Drop,
    /// `delay`: it takes so much longer than it would have taken.
    Delay(Span),
    /// `duplicate`: it arrives twice.
    Duplicate,
}

/// `[expect]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expect {
    /// Node, and the leader it names at the end.
    pub leader: BTreeMap<NodeId, NodeId>,
    /// Node, and the group that it is in at the end.
    pub group: BTreeMap<NodeId, GroupId>,
    /// Node, and the epoch of the leader that it announces at the end.
    pub epoch: BTreeMap<NodeId, u64>,
    /// Restricted operation that an event asks for, and what becomes of it.
    pub outcome: BTreeMap<OpId, Outcome>,
    /// Properties that must be judged and hold.
    pub holds: Vec<Property>,
    /// Properties that must be judged and broken.
    pub violates: Vec<Property>,
    /// Bounds on the number of messages sent, in the order of the file: `total`, `protocol`, `detector` or a kind.
    pub messages: Vec<(String, Bound)>,
}

/// A bound such as `<= 40`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The comparison.
    pub relation: Relation,
    /// With what.
    pub value: u64,
}

impl Bound {
    /// Whether `count` is within it.
    pub fn admits(&self, count: u64) -> bool {
        match self.relation {
            Relation::Less => count < self.value,
            Relation::AtMost => count <= self.value,
            Relation::Equal => count == self.value,
            Relation::AtLeast => count >= self.value,
            Relation::More => count > self.value,
        }
    }

    /// The bound that admits what this one does not; none if that takes two.
    pub fn opposite(self) -> Option<Self> {
        let relation = match self.relation {
            Relation::Less => Relation::AtLeast,
            Relation::AtMost => Relation::More,
            Relation::AtLeast => Relation::Less,
            Relation::More => Relation::AtMost,
            Relation::Equal => return None,
        };
        Some(Self { relation, value: self.value })
    }
}

/// The comparisons a bound may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `=` or `==`
    Equal,
    /// `>=`
    AtLeast,
    /// `>`
    More,
}

impl Relation {
    /// As files write it.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Equal => "=",
            Self::AtLeast => ">=",
            Self::More => ">",
        }
    }
}
