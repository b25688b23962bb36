//! Bounded time in a stable system, for ALE2', ALE2, A4 and A4'.
//!
//! Stoller (appendix B) says that the constant is O((N - 1)·max(τ + 2δ, τ_FD)). Taken here is 2N(τ + 2δ + τ_FD), which
//! allows each node two rounds of asking and of finding somebody down.
//!
//! For the Invitation algorithm the papers give none. Taken is c_G = 2N(2τ + 10δ): in a round, a node finds its coordinator
//! gone (τ + 4δ), a coordinator looks around (τ + 2δ at most, the answers included) and merges (4δ for Accept and 2δ for Ready
//! overlap with the former at others). Every round the strongest coordinator that has a neighbour among coordinators takes
//! in all of those, so that N rounds do; and as many again are for those whose merges met and were declined, and for the 2τ
//! by which each rank defers to the next, 2τ(N - 1) in all.

use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::TraceEvent;

use super::elected::Judgement;
use super::known::Known;
use super::within::Within;
use super::{Checker, Facts, Verdict};

/// Judges a predicate over the intervals in which the system is stable.
pub(super) struct WhileStable {
    within: Within,
    predicate: fn(&Known) -> Judgement,
}

impl WhileStable {
    /// Stoller's.
    pub(super) fn new(facts: &Facts, predicate: fn(&Known) -> Judgement) -> Self {
        Self::within(facts, c_a(facts), predicate)
    }

    pub(super) fn within(facts: &Facts, bound: Span, predicate: fn(&Known) -> Judgement) -> Self {
        Self { within: Within::new("the system became stable", facts.stretched(bound)), predicate }
    }
}

impl Checker for WhileStable {
    fn pass(&mut self, known: &Known, until: Time) {
        self.within.pass(known, until, self.predicate);
    }

    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        self.within.while_stable(known, event);
    }

    fn finish(self: Box<Self>, known: &Known, end: Time) -> Verdict {
        let Self { within, predicate, .. } = *self;
        within.finish(known, end, predicate)
    }
}

/// The constant of the Invitation algorithm, for true clocks.
pub(super) fn c_g(facts: &Facts) -> Span {
    let Facts { nodes, timing, .. } = *facts;
    (timing.tau * 2 + timing.delta * 10) * (2 * nodes as u64)
}

/// Stoller's constant, for true clocks.
pub(super) fn c_a(facts: &Facts) -> Span {
    let Facts { nodes, timing, detector_latency: tau_fd, .. } = *facts;
    (timing.tau + timing.delta * 2 + tau_fd) * (2 * nodes as u64)
}
