//! An hour in which nodes restart at random.

use bellwether_proto::election::Protocol;
use bellwether_proto::ident::NodeId;
use bellwether_proto::time::{Span, Time};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

use super::observer;
use crate::scenario::{Fault, Planned, Scenario};

pub use super::observer::Outcome;

/// How restless a cluster is.
#[derive(Clone, Copy, Debug)]
pub struct Churn {
    /// How many nodes it has.
    pub nodes: u32,
    /// How long the run takes.
    pub length: Span,
    /// How long a node stays up, on average.
    pub up: Span,
    /// How long it stays down, on average.
    pub down: Span,
}

impl Default for Churn {
    fn default() -> Self {
        Self { nodes: 5, length: Span::secs(3600), up: Span::secs(60), down: Span::secs(2) }
    }
}

/// Runs an algorithm through the churn of that seed.
pub fn measure(protocol: Protocol, churn: &Churn, seed: u64) -> Outcome {
    observer::observe(&scenario(protocol, churn, seed))
}

fn scenario(protocol: Protocol, churn: &Churn, seed: u64) -> Scenario {
    let mut scenario = Scenario::calm(protocol, churn.nodes, Time::ZERO + churn.length);
    scenario.name = format!("{} in churn {seed}", protocol.name());
    scenario.seed = seed;
    scenario.timing.tau = Span::millis(50);
    scenario.detector.period = scenario.timing.tau;
    scenario.events = restarts(churn, Time::ZERO, seed);
    scenario
}

/// What happens to nodes from then on. Times up and down are exponential; nodes are independent.
pub(super) fn restarts(churn: &Churn, from: Time, seed: u64) -> Vec<Planned> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x6368_7572_6e00);
    let until = from + churn.length;
    let mut events = Vec::new();
    for node in (1..=churn.nodes).map(NodeId) {
        let mut at = from + exponential(churn.up, &mut rng);
        while at < until {
            events.push(Planned { at, fault: Fault::Crash(vec![node]) });
            at = at + exponential(churn.down, &mut rng);
            if at < until {
                events.push(Planned { at, fault: Fault::Recover(vec![node]) });
            }
            at = at + exponential(churn.up, &mut rng);
        }
    }
    events
}

pub(super) fn exponential(mean: Span, rng: &mut ChaCha8Rng) -> Span {
    // In (0, 1], so that its logarithm is finite.
    let uniform = ((rng.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    Span::micros((-uniform.ln() * mean.as_micros() as f64) as u64 + 1)
}
