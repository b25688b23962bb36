//! What a file that leaves something out means. The parser fills these in, the printer leaves them out.

use bellwether_proto::time::Span;

use super::Network;

pub(super) const SEED: u64 = 1;

pub(super) const TAU: Span = Span::millis(100);

/// δ: a little more than the longest delay of any link, so that the synchronous algorithms get the network they
/// assume. `slow` events do not count: they are there to break that assumption.
pub(super) fn delta(network: &Network) -> Span {
    let own = network.links.iter().map(|(_, _, rule)| rule.latency.high);
    own.fold(network.base.latency.high, Span::max) + Span::millis(1)
}

/// `k`: two, or as many as a small cluster has.
pub(super) fn reporters(nodes: u32) -> usize {
    if nodes > 2 { 2 } else { 1 }
}
