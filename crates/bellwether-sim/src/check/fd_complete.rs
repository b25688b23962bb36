//! FD-COMPLETE (Stoller, section 2, (1)): "if node i is being monitored and is down, then eventually node i recovers,
//! or failure of node i is reported, or the client calls Start(i) or Stop(i)".
//!
//! Eventually, on a finite run: no obligation that is still open at the end is older than τ_FD. Its age is counted
//! from when the watcher last was paused or had too few others to agree with, or, where it needs others, from when a
//! message was last lost or late: an obstacle delays a report, it does not excuse from it.

use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::TraceEvent;

use super::known::Known;
use super::obligations::{Debt, Hindrance, Obligations, Parties};
use super::{Checker, Facts, Verdict, Violation};

pub(super) struct FdComplete {
    tau_fd: Span,
    obligations: Obligations,
    judged: bool,
}

impl FdComplete {
    pub(super) fn new(facts: &Facts) -> Self {
        Self { tau_fd: facts.detection(), obligations: Obligations::new(facts), judged: false }
    }

    /// Since when nothing keeps the watcher from reporting.
    fn unhindered_since(&self, debt: Debt) -> Option<Time> {
        let since = match debt.hindrance {
            Hindrance::Never => debt.since,
            Hindrance::Until(at) => at,
            Hindrance::Now => return None,
        };
        Some(self.obligations.disturbed().map_or(since, |at| since.max(at)))
    }
}

impl Checker for FdComplete {
    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        self.obligations.observe(known, event);
        self.judged |= self.obligations.any();
    }

    fn finish(self: Box<Self>, _known: &Known, end: Time) -> Verdict {
        let unmet = self
            .obligations
            .open()
            .filter(|(_, debt)| self.unhindered_since(*debt).is_some_and(|since| since + self.tau_fd < end));
        let oldest = unmet.min_by_key(|(_, debt)| debt.since);
        let violation = oldest.map(|(Parties { watcher, subject }, Debt { since, .. })| Violation {
            at: end,
            what: format!("{subject} is down and watched by {watcher} since {since}, and was never reported"),
        });
        Verdict::new(self.judged, violation)
    }
}
