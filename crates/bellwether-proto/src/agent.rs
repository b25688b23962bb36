//! An agent: a node as it runs on a real network, with everything that a program relies on.
//!
//! [`Settings`] are what its owner chooses. They make a [`Node`] with all its layers: the election, the failure detector that the
//! algorithm wants, groups, leadership, and the release of leadership. The driver of a real agent and the simulator get their
//! nodes here and nowhere else, so that the laboratory judges what ships.

use alloc::vec::Vec;

use crate::detector::{DetectorConfig, DetectorKind};
use crate::election::{Choices, Election, Peers, Primary, Protocol, Setup, Timing, Variant};
use crate::exclusive::ExclusiveConfig;
use crate::ident::{Incarnation, NodeId};
use crate::io::Durable;
use crate::leadership::LeadershipConfig;
use crate::node::Node;
use crate::release::Patience;
use crate::roster::Roster;
use crate::time::{Span, Time};

/// The failure detector of an agent, if its algorithm takes one: a network's delays are not known beforehand.
pub const DETECTOR: DetectorKind = DetectorKind::Adaptive;

/// What the owner of an agent chooses.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The id of this node.
    pub me: NodeId,
    /// All members, including this node. Empty if they are not known beforehand.
    pub members: Vec<NodeId>,
    /// The algorithm.
    pub protocol: Protocol,
    /// Repaired, except in the laboratory, which may run what the papers print.
    pub variant: Variant,
    /// The papers' parameters.
    pub timing: Timing,
    /// For algorithms that take one.
    pub detector: DetectorConfig,
    /// How many crashes to tolerate, if the algorithm asks.
    pub t: usize,
    /// What some algorithms leave to those who run them.
    pub choices: Choices,
    /// How much this node is preferred as a leader.
    pub priority: u32,
    /// Whether it gives way to a member with a higher priority, once that member has been there for this
    /// long.
    pub preempt: Option<Span>,
    /// How many peers must be connected before this node leads, while its disk has never seen an epoch.
    pub min_peers: usize,
    /// How long to wait when leadership is released.
    pub patience: Patience,
    /// The terms on which at most one leads at a time. `None` if any survivor may, or a majority's choice.
    pub exclusive: Option<ExclusiveConfig>,
    /// How long an application may take to say what a group works on. `None` if there is no application.
    pub planner: Option<Span>,
}

impl Settings {
    /// The defaults: no preference, no pre-emption, nobody to wait for before a first election, no application.
    pub fn new(me: NodeId, members: Vec<NodeId>, protocol: Protocol, timing: Timing) -> Self {
        Self {
            me,
            // Any survivor leads, so everybody else may be gone.
            t: members.len().saturating_sub(1),
            members,
            protocol,
            variant: Variant::Repaired,
            timing,
            detector: DetectorConfig::new(DETECTOR, timing),
            choices: Choices::default(),
            priority: 0,
            preempt: None,
            min_peers: 0,
            patience: Patience {
                work: Span::secs(10),
                successor: (timing.tau + timing.delta * 2) * 8,
                hold: Span::secs(30),
            },
            exclusive: None,
            planner: None,
        }
    }

    /// A node that comes up in that incarnation, on a machine whose disk holds `disk`.
    pub fn node<E: Election>(&self, disk: &Durable, incarnation: Incarnation, now: Time) -> Node<E> {
        let spec = self.protocol.spec();
        let roster = match spec.peers {
            Peers::Listed => Roster::new(self.me, self.members.iter().copied(), spec.priority),
            Peers::Met => Roster::new(self.me, [self.me], spec.priority),
        };
        let setup = Setup {
            protocol: self.protocol,
            variant: self.variant,
            roster,
            incarnation,
            count: disk.count,
            t: self.t,
            timing: self.timing,
            choices: self.choices,
        };
        let node = Node::new(setup, self.detector, now).with_kept(disk.group.clone(), now);
        let node = match &self.exclusive {
            Some(config) => node.with_exclusive(config.clone(), self.patience, now),
            None => node.with_leadership(self.leadership_config(disk.epoch), self.patience, now),
        };
        match self.planner {
            Some(patience) => node.with_planner(patience),
            None => node,
        }
    }

    fn leadership_config(&self, epoch: u64) -> LeadershipConfig {
        let spec = self.protocol.spec();
        LeadershipConfig {
            period: self.timing.tau,
            settle: LeadershipConfig::settle(spec, &self.timing),
            meet: self.timing.delta * 2,
            priority: self.priority,
            preempt: self.preempt,
            hands_over: spec.hands_over,
            min_peers: self.min_peers,
            epoch,
            // In the laboratory every clique may have a leader.
            quorum: match self.choices.primary {
                Primary::Majority => spec.mode.needs(self.members.len()),
                Primary::Any => 1,
            },
        }
    }
}
