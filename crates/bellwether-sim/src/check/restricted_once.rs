//! RESTRICTED-ONCE (Garcia-Molina, section IV.B): no restricted operation is committed in two groups.
//!
//! Whoever learns of a commit says so, in whatever life and group it is by then; all of them must mean the same group.

use std::collections::BTreeMap;

use bellwether_proto::group::OpId;
use bellwether_proto::ident::{GroupId, NodeId};
use bellwether_proto::io::Event;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{TraceEvent, What};

use super::known::Known;
use super::{Checker, Verdict, Violation};

#[derive(Default)]
pub(super) struct RestrictedOnce {
    /// By operation: the group that committed it, and who said so first.
    committed: BTreeMap<OpId, (GroupId, NodeId)>,
    violation: Option<Violation>,
}

impl Checker for RestrictedOnce {
    fn observe(&mut self, _known: &Known, event: &TraceEvent) {
        let What::Node(Event::Committed { op, group }) = event.what else { return };
        let (first, who) = *self.committed.entry(op).or_insert((group, event.node));
        if first != group {
            let node = event.node;
            let what =
                format!("operation {op} is committed in group {group} ({node}) and in {first} ({who})");
            self.violation.get_or_insert(Violation { at: event.at, what });
        }
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(self: Box<Self>, _known: &Known, _end: Time) -> Verdict {
        Verdict::new(!self.committed.is_empty(), self.violation)
    }
}
