//! Bounded time in a stable system, for ALE2' and ALE2.
//!
//! Stoller (appendix B) says that the constant is O((N - 1)·max(τ + 2δ, τ_FD)). Taken here is 2N(τ + 2δ + τ_FD), which
//! allows each node two rounds of asking and of finding somebody down.

use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{TraceEvent, What};

use super::elected::Standing;
use super::known::Known;
use super::within::Within;
use super::{Checker, Facts, Verdict};

/// Judges a predicate over the intervals in which the system is stable.
pub(super) struct WhileStable {
    bound: Span,
    within: Within,
    predicate: fn(&Known) -> Standing,
}

impl WhileStable {
    pub(super) fn new(facts: &Facts, predicate: fn(&Known) -> Standing) -> Self {
        let bound = facts.stretched(c_a(facts));
        Self { bound, within: Within::new("the system became stable", bound), predicate }
    }
}

impl Checker for WhileStable {
    fn pass(&mut self, known: &Known, until: Time) {
        self.within.pass(known, until, self.predicate);
    }

    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        if let What::Recv(_, sent) = event.what {
            // It is late: its link was partially connected while it was under way, and nobody could tell.
            self.within.forget(sent);
        }
        if known.stable_since() != self.within.since() {
            self.within.restart(known.stable_since(), self.bound);
        }
    }

    fn finish(self: Box<Self>, known: &Known, end: Time) -> Verdict {
        let Self { within, predicate, .. } = *self;
        within.finish(known, end, predicate)
    }
}

/// The constant, for true clocks.
pub(super) fn c_a(facts: &Facts) -> Span {
    let Facts { nodes, timing, detector_latency: tau_fd, .. } = *facts;
    (timing.tau + timing.delta * 2 + tau_fd) * (2 * nodes as u64)
}
