//! A2 (Garcia-Molina, section III): "If no failures occur during the election, the election protocol will eventually
//! transform a system in any state to a state where: a) there is a node i with S(i)·s = 'Normal' and S(i)·c = i, and b) all
//! other nodes j which are not failed have S(j)·s = 'Normal' and S(j)·c = i."
//!
//! The paper gives no constant. With T = 2δ for a call, P = τ between two Checks and W = P + nT of silence before Timeout:
//!
//! c_GM = max(W + T, τ_FD) + 4(n - 1)T
//!
//! which is what it takes to find out that there is no coordinator, or that somebody does not follow it; then to probe the
//! stronger, to halt the weaker, and to tell them twice. Where there is a failure detector (Souto), it is what finds out.
//! That is for one fault that befalls a settled system. Otherwise twice as long is allowed: an election that was under way
//! may have halted somebody out of turn, and there is another.

use bellwether_proto::time::Span;

use super::Facts;
use super::after_fault::AfterFault;
use super::elected::one_leader_elected;

pub(super) fn new(facts: &Facts) -> AfterFault {
    AfterFault::new(facts, c_gm(facts), one_leader_elected)
}

/// The constant, for true clocks.
pub(super) fn c_gm(facts: &Facts) -> Span {
    let Facts { nodes, timing, detector_latency: tau_fd, .. } = *facts;
    let (n, t) = (nodes as u64, timing.delta * 2);
    let silence = timing.tau + t * n;
    (silence + t).max(tau_fd) + t * (4 * n.saturating_sub(1))
}
