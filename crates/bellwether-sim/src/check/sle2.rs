//! SLE2 (Stoller, section 3): "there exists a constant c such that if no failures or recoveries occur for a period of
//! at least c, then by the end of that period, the system reaches a state satisfying ldrElected. Furthermore, the
//! system remains in that state as long as no failures or recoveries occur."
//!
//! The constant is c_S = max(τ + 2δ, τ_FD) + (n - 1)·max(2δ, τ_FD) + δ for one fault that befalls a settled system, and
//! twice that otherwise (E-ST5).

use bellwether_proto::time::Span;

use super::Facts;
use super::after_fault::AfterFault;
use super::elected::leader_elected;

pub(super) fn new(facts: &Facts) -> AfterFault {
    AfterFault::new(facts, c_s(facts), leader_elected)
}

/// The constant, for true clocks.
pub(super) fn c_s(facts: &Facts) -> Span {
    let Facts { nodes, timing, detector_latency: tau_fd, .. } = *facts;
    let others = nodes.saturating_sub(1) as u64;
    let round_trip = timing.delta * 2;
    (timing.tau + round_trip).max(tau_fd) + round_trip.max(tau_fd) * others + timing.delta
}
