//! SLE1 (Stoller, section 3): "At all times, for all operational nodes i and j, if status_i = Norm and status_j =
//! Norm, then ldr_i = ldr_j."
//!
//! Judged after every event: a node's view changes once in a step, so no state in between is ever shown.

use bellwether_proto::time::Time;
use bellwether_proto::trace::{TraceEvent, What};
use bellwether_proto::view::Status;

use super::agreement::{Agreement, Dispute, follows};
use super::known::Known;
use super::{Checker, Facts, Verdict, Violation};

pub(super) struct Sle1 {
    agreement: Agreement<()>,
    judged: bool,
    violation: Option<Violation>,
}

impl Sle1 {
    pub(super) fn new(facts: &Facts) -> Self {
        Self { agreement: Agreement::new(facts.nodes), judged: false, violation: None }
    }
}

impl Checker for Sle1 {
    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        if self.violation.is_some() || !matches!(event.what, What::Node(_) | What::Crash | What::Recover) {
            return;
        }
        let view = known.view(event.node);
        let speaks = known.is_up(event.node) && view.status == Status::Normal;
        self.judged |= speaks;
        let dispute = self.agreement.set(event.node, speaks.then_some(((), view.leader)));
        self.violation = dispute.map(|Dispute { sides: [(i, ldr_i), (j, ldr_j)] }| Violation {
            at: event.at,
            what: format!(
                "{i} and {j} are both normal, but {i} {} and {j} {}",
                follows(ldr_i),
                follows(ldr_j)
            ),
        });
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(self: Box<Self>, _known: &Known, _end: Time) -> Verdict {
        Verdict::new(self.judged, self.violation)
    }
}
