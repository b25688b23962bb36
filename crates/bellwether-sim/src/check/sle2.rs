//! SLE2 (Stoller, section 3): "there exists a constant c such that if no failures or recoveries occur for a period of
//! at least c, then by the end of that period, the system reaches a state satisfying ldrElected. Furthermore, the
//! system remains in that state as long as no failures or recoveries occur."
//!
//! The constant is c_S = max(τ + 2δ, τ_FD) + (n - 1)·max(2δ, τ_FD) + δ for one fault that befalls a settled system. It
//! is not enough from an arbitrary state, where an election that is under way may have to be held once more: there,
//! and at the start of a run, twice as long is allowed (E-ST5).

use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{TraceEvent, What};

use super::elected::leader_elected;
use super::known::Known;
use super::within::Within;
use super::{Checker, Facts, Verdict};

pub(super) struct Sle2 {
    /// From a settled state.
    settled: Span,
    /// From any other.
    unsettled: Span,
    within: Within,
}

impl Sle2 {
    pub(super) fn new(facts: &Facts) -> Self {
        let settled = c_s(facts);
        let unsettled = facts.stretched(settled * 2);
        let within = Within::new("the last crash or recovery", unsettled);
        Self { settled: facts.stretched(settled), unsettled, within }
    }

    /// A second fault at the same instant no longer finds a settled system.
    fn bound_after_fault(&self) -> Span {
        if self.within.settled() { self.settled } else { self.unsettled }
    }
}

impl Checker for Sle2 {
    fn pass(&mut self, known: &Known, until: Time) {
        self.within.pass(known, until, leader_elected);
    }

    fn observe(&mut self, _known: &Known, event: &TraceEvent) {
        if matches!(event.what, What::Crash | What::Recover) {
            let bound = self.bound_after_fault();
            self.within.restart(Some(event.at), bound);
        }
    }

    fn finish(self: Box<Self>, known: &Known, end: Time) -> Verdict {
        self.within.finish(known, end, leader_elected)
    }
}

/// The constant, for true clocks.
pub(super) fn c_s(facts: &Facts) -> Span {
    let Facts { nodes, timing, detector_latency: tau_fd, .. } = *facts;
    let others = nodes.saturating_sub(1) as u64;
    let round_trip = timing.delta * 2;
    (timing.tau + round_trip).max(tau_fd) + round_trip.max(tau_fd) * others + timing.delta
}
