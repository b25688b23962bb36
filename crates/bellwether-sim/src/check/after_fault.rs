//! "If no failures or recoveries occur for a time c, then P holds by then, and goes on to hold as long as none occurs", for
//! SLE2 and A2.
//!
//! The constant is for one fault that befalls a settled system. It is not enough from an arbitrary state, where an election
//! that is under way may have to be held once more: there, and at the start of a run, twice as long is allowed.

use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{TraceEvent, What};

use super::elected::Judgement;
use super::known::Known;
use super::within::Within;
use super::{Checker, Facts, Verdict};

pub(super) struct AfterFault {
    /// From a settled state.
    settled: Span,
    /// From any other.
    unsettled: Span,
    within: Within,
    predicate: fn(&Known) -> Judgement,
}

impl AfterFault {
    /// `c` is for true clocks.
    pub(super) fn new(facts: &Facts, c: Span, predicate: fn(&Known) -> Judgement) -> Self {
        let (settled, unsettled) = (facts.stretched(c), facts.stretched(c * 2));
        Self { settled, unsettled, within: Within::new("the last crash or recovery", unsettled), predicate }
    }

    /// A second fault at the same instant no longer finds a settled system.
    fn bound_after_fault(&self) -> Span {
        if self.within.settled() { self.settled } else { self.unsettled }
    }
}

impl Checker for AfterFault {
    fn pass(&mut self, known: &Known, until: Time) {
        self.within.pass(known, until, self.predicate);
    }

    fn observe(&mut self, _known: &Known, event: &TraceEvent) {
        if matches!(event.what, What::Crash | What::Recover) {
            let bound = self.bound_after_fault();
            self.within.restart(Some(event.at), bound);
        }
    }

    fn finish(self: Box<Self>, known: &Known, end: Time) -> Verdict {
        let Self { within, predicate, .. } = *self;
        within.finish(known, end, predicate)
    }
}
