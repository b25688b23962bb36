//! What a file that leaves something out means. The parser fills these in, the printer leaves them out.

use bellwether_proto::agent::DETECTOR;
use bellwether_proto::detector::DetectorKind;
use bellwether_proto::election::Protocol;
use bellwether_proto::exclusive::terms::Drift;
use bellwether_proto::time::Span;

use super::{Latency, ModelKind, Network, Parameters};

pub(crate) const SEED: u64 = 1;

pub(crate) const TAU: Span = Span::millis(100);

/// How long a leader's work may take to end, as agents have it.
pub(crate) const RELEASE_TIMEOUT: Span = Span::secs(5);

/// How long a member that resigned stands aside, as agents have it.
pub(crate) const RESIGN_HOLD: Span = Span::secs(30);

/// How long a lease lasts, as agents have it.
pub(crate) const TTL: Span = Span::secs(1);

/// How far clocks are trusted, as agents have it.
pub(crate) const DRIFT: Drift = Drift(10_000);

/// Of a link that is fair and no more.
pub(crate) const MODEL_LOSS: f64 = 0.5;

/// δ: a little more than the longest delay of any link, so that the synchronous algorithms get the network they
/// assume. `slow` events do not count: they are there to break that assumption. Nor do the delays of a model that are
/// not promised a bound.
pub(crate) fn delta(network: &Network) -> Span {
    let own = network.links.iter().map(|(_, _, rule)| rule.latency.high);
    let promised = network.model.map(|model| model.delta);
    own.chain(promised).fold(network.base.latency.high, Span::max) + Span::millis(1)
}

/// An algorithm with timers of its own takes none, and does not look at this. All others have the same one in an agent.
pub(crate) fn detector(protocol: Protocol, agent: bool) -> DetectorKind {
    match protocol.spec().detector {
        Some(_) if agent => DETECTOR,
        own => own.unwrap_or(DetectorKind::Heartbeat),
    }
}

/// A minority; of agents, of which any survivor leads, all others.
pub(crate) fn t(nodes: u32, agent: bool) -> u32 {
    let others = nodes.saturating_sub(1);
    if agent { others } else { others / 2 }
}

/// `k`: two, or as many as a small cluster has.
pub(crate) fn reporters(nodes: u32) -> usize {
    if nodes > 2 { 2 } else { 1 }
}

/// `delta` of a model: the longest latency, if what it bounds can be as quick as that.
pub(crate) fn model_delta(kind: ModelKind, latency: Latency) -> Span {
    latency.high.max(kind.delta_min(latency))
}

/// `t` of a model: as many as the algorithm is told may crash, but a promise to nobody is none.
pub(crate) fn model_t(nodes: u32, parameters: &Parameters) -> u32 {
    parameters.t.unwrap_or((nodes - 1) / 2).max(1)
}
