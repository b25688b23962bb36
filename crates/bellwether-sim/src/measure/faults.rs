//! Faults at random for a while: of each class one after the other, independent of the other classes.

use std::collections::BTreeSet;

use bellwether_proto::ident::NodeId;
use bellwether_proto::time::{Span, Time};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use super::churn::{self, Churn, exponential};
use super::figures::Figures;
use crate::chance::below;
use crate::plan::FaultClass;
use crate::scenario::{Fault, Latency, Planned};

/// How many timeouts it takes until the next fault of a class, on average.
pub const APART: u64 = 40;
/// How many timeouts a fault lasts, on average.
pub const LASTING: u64 = 20;
/// Of messages, while some are lost or repeated.
pub const SHARE: f64 = 0.3;
/// How many times the longest latency a message takes at most, while messages are late.
pub const SLOWER: u64 = 10;

/// The faults of a cluster from that time on, for that long. Recoveries come with crashes.
pub(super) fn draw(
    classes: &BTreeSet<FaultClass>,
    figures: &Figures,
    from: Time,
    length: Span,
    seed: u64,
) -> Vec<Planned> {
    let faults = classes.iter().flat_map(|class| match class {
        FaultClass::Crash => Vec::new(),
        FaultClass::Recover => churn::restarts(&restarts(figures, length), from, seed),
        other => Drawing::new(*other, figures, from + length, seed).finish(from),
    });
    faults.collect()
}

/// One fault of each class, between these times.
pub(super) fn samples(
    classes: &BTreeSet<FaultClass>,
    figures: &Figures,
    (from, until): (Time, Time),
) -> Vec<Planned> {
    let others = classes.iter().filter(|class| !matches!(class, FaultClass::Crash | FaultClass::Recover));
    let sample = |class: &FaultClass| {
        let (begins, ends) = Drawing::new(*class, figures, until, 1).fault();
        [Planned { at: from, fault: begins }, Planned { at: until, fault: ends }]
    };
    others.flat_map(sample).collect()
}

/// However many nodes there are, one of them crashes every so often.
fn restarts(figures: &Figures, length: Span) -> Churn {
    let up = figures.timeout() * APART * u64::from(figures.nodes);
    Churn { nodes: figures.nodes, length, up, down: figures.timeout() * LASTING }
}

struct Drawing<'a> {
    class: FaultClass,
    figures: &'a Figures,
    until: Time,
    rng: ChaCha8Rng,
}

impl<'a> Drawing<'a> {
    fn new(class: FaultClass, figures: &'a Figures, until: Time, seed: u64) -> Self {
        let stream = 0x6661_756c_7400 + class as u64;
        Self { class, figures, until, rng: ChaCha8Rng::seed_from_u64(seed ^ stream) }
    }

    fn finish(mut self, from: Time) -> Vec<Planned> {
        let (apart, lasting) = (self.figures.timeout() * APART, self.figures.timeout() * LASTING);
        let mut events = Vec::new();
        let mut at = from + exponential(apart, &mut self.rng);
        while at < self.until {
            let (begins, ends) = self.fault();
            events.push(Planned { at, fault: begins });
            at = at + exponential(lasting, &mut self.rng);
            if at < self.until {
                events.push(Planned { at, fault: ends });
            }
            at = at + exponential(apart, &mut self.rng);
        }
        events
    }

    /// A fault, and its end.
    fn fault(&mut self) -> (Fault, Fault) {
        let Latency { high, .. } = self.figures.latency;
        let network = |latency, loss, duplicate| Fault::Network { latency, loss, duplicate, fifo: None };
        match self.class {
            FaultClass::Pause => {
                let node = vec![self.node()];
                (Fault::Pause(node.clone()), Fault::Resume(node))
            }
            FaultClass::Partition => (self.partition(), Fault::Heal),
            FaultClass::Loss => {
                let more = self.figures.loss.max(SHARE);
                (network(None, Some(more), None), network(None, Some(self.figures.loss), None))
            }
            FaultClass::Delay => {
                let slow = Latency { low: high, high: high * SLOWER };
                (network(Some(slow), None, None), network(Some(self.figures.latency), None, None))
            }
            FaultClass::Duplicate => (network(None, None, Some(SHARE)), network(None, None, Some(0.0))),
            FaultClass::Crash | FaultClass::Recover => unreachable!("drawn as restarts"),
        }
    }

    /// Two blocks, neither of them empty.
    fn partition(&mut self) -> Fault {
        let first = self.node();
        let (mut one, mut other): (Vec<_>, Vec<_>) =
            self.ids().filter(|id| *id != first).partition(|_| below(2, &mut self.rng) == 0);
        one.push(first);
        one.sort_unstable();
        if other.is_empty() {
            other.extend(one.iter().position(|id| *id != first).map(|at| one.remove(at)));
        }
        Fault::Partition(vec![one, other])
    }

    fn node(&mut self) -> NodeId {
        NodeId(1 + below(u64::from(self.figures.nodes), &mut self.rng) as u32)
    }

    fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (1..=self.figures.nodes).map(NodeId)
    }
}
