//! ALE1 (Stoller, section 5): as SLE1, but only nodes of one group must agree.
//!
//! That the leader is the one who formed the group is a lemma about one algorithm, not part of the property.

use bellwether_proto::ident::GroupId;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{TraceEvent, What};
use bellwether_proto::view::Status;

use super::agreement::{Agreement, Dispute, follows};
use super::known::Known;
use super::{Checker, Facts, Verdict, Violation};

pub(super) struct Ale1 {
    agreement: Agreement<Option<GroupId>>,
    judged: bool,
    violation: Option<Violation>,
}

impl Ale1 {
    pub(super) fn new(facts: &Facts) -> Self {
        Self { agreement: Agreement::new(facts.nodes), judged: false, violation: None }
    }
}

impl Checker for Ale1 {
    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        if self.violation.is_some() || !matches!(event.what, What::Node(_) | What::Crash | What::Recover) {
            return;
        }
        let view = known.view(event.node);
        let speaks = known.is_up(event.node) && view.status == Status::Normal;
        self.judged |= speaks;
        let dispute = self.agreement.set(event.node, speaks.then_some((view.group, view.leader)));
        self.violation = dispute.map(|Dispute { sides: [(i, ldr_i), (j, ldr_j)] }| {
            let group =
                view.group.map_or_else(|| "in no group".to_owned(), |group| format!("in group {group}"));
            let (ldr_i, ldr_j) = (follows(ldr_i), follows(ldr_j));
            Violation {
                at: event.at,
                what: format!("{i} and {j} are both normal {group}, but {i} {ldr_i} and {j} {ldr_j}"),
            }
        });
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(self: Box<Self>, _known: &Known, _end: Time) -> Verdict {
        Verdict::new(self.judged, self.violation)
    }
}
