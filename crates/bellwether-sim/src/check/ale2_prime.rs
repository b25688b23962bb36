//! ALE2' (Stoller, section 5): "there exists a constant c such that if the system is stable for a period of at least
//! c, then by the end of that period, the system reaches a state satisfying ldrsElected. Furthermore, the system
//! remains in that state as long as the system remains stable."
//!
//! The constant is in `while_stable.rs`.

use bellwether_proto::time::Time;
use bellwether_proto::trace::TraceEvent;

use super::elected::leaders_elected;
use super::known::Known;
use super::while_stable::WhileStable;
use super::{Checker, Facts, Verdict};

pub(super) struct Ale2Prime(WhileStable);

impl Ale2Prime {
    pub(super) fn new(facts: &Facts) -> Self {
        Self(WhileStable::new(facts))
    }
}

impl Checker for Ale2Prime {
    fn pass(&mut self, known: &Known, until: Time) {
        self.0.pass(known, until, leaders_elected);
    }

    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        self.0.observe(known, event);
    }

    fn finish(self: Box<Self>, known: &Known, end: Time) -> Verdict {
        self.0.finish(known, end, leaders_elected)
    }
}
