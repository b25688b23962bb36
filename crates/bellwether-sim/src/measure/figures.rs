//! The figures of a user's own network.

use bellwether_proto::detector::DetectorKind;
use bellwether_proto::election::Protocol;
use bellwether_proto::time::{Span, Time};

use crate::scenario::{Latency, Scenario};

/// How many timeouts a cluster gets to settle.
const SETTLING: u64 = 40;

/// A cluster and its network, as the user knows them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// How many nodes.
    pub nodes: u32,
    /// The delay of messages, drawn uniformly.
    pub latency: Latency,
    /// The probability that a message is lost.
    pub loss: f64,
    /// The leader's period, and that of a detector.
    pub period: Span,
    /// Whether nodes are run as an agent runs them.
    pub agent: bool,
}

impl Figures {
    /// That many nodes on a network that loses nothing.
    pub const fn new(nodes: u32, latency: Latency, period: Span) -> Self {
        Self { nodes, latency, loss: 0.0, period, agent: false }
    }

    /// δ: a little more than the longest latency, as in a scenario file that does not state it.
    pub fn delta(&self) -> Span {
        self.latency.high + Span::millis(1)
    }

    /// How long silence lasts before somebody is suspected: the unit in which faults are measured.
    pub fn timeout(&self) -> Span {
        self.period + self.delta() * 2
    }

    /// How long a cluster gets to settle.
    pub fn settling(&self) -> Span {
        self.timeout() * SETTLING
    }

    /// An algorithm in such a cluster, without faults.
    ///
    /// An algorithm that asks for an oracle gets heartbeats instead. So its figures contain the cost of detecting
    /// crashes, and the effects of a network that breaks its bounds. While the network keeps them, heartbeats make no
    /// mistakes either.
    pub fn scenario(&self, protocol: Protocol, seed: u64, length: Span) -> Scenario {
        let mut scenario = Scenario::calm(protocol, self.nodes, Time::ZERO + length);
        scenario.seed = seed;
        scenario.agent = self.agent;
        scenario.network.base.latency = self.latency;
        scenario.network.base.loss = self.loss;
        scenario.timing.delta = self.delta();
        scenario.timing.step = self.delta();
        scenario.timing.tau = self.period;
        scenario.detector.period = self.period;
        if scenario.detector.kind == DetectorKind::Perfect {
            scenario.detector.kind = DetectorKind::Heartbeat;
        }
        scenario
    }
}
