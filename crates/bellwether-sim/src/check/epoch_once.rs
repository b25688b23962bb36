//! EPOCH-ONCE: no epoch is announced by two leaders, in the whole run. Whether one announces it twice is EPOCH's affair.
//!
//! Where a majority must agree, this is so whatever happens: of two majorities, one member is in both. Where any survivor
//! may lead it takes a group that stays connected and does not lose its memory: nobody comes back that was alone with it.

use std::collections::BTreeMap;

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::leadership::Announcement;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{TraceEvent, What};

use super::known::Known;
use super::{Checker, Verdict, Violation};

#[derive(Default)]
pub(super) struct EpochOnce {
    /// By epoch: who announced first that it leads with it, and when.
    leaders: BTreeMap<u64, (NodeId, Time)>,
    violation: Option<Violation>,
}

impl Checker for EpochOnce {
    fn observe(&mut self, _known: &Known, event: &TraceEvent) {
        let TraceEvent { at, node, what, .. } = *event;
        let What::Node(Event::Announced(Announcement { leader: Some(leader), epoch, .. })) = what else {
            return;
        };
        if leader != node {
            return;
        }
        let (first, then) = *self.leaders.entry(epoch).or_insert((node, at));
        if first != node {
            let what = format!("{} at {then}", repeated(node, epoch, first));
            self.violation.get_or_insert(Violation { at, what });
        }
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(self: Box<Self>, _known: &Known, _end: Time) -> Verdict {
        Verdict::new(!self.leaders.is_empty(), self.violation)
    }
}

/// A node announces that it leads with an epoch that another had.
pub(crate) fn repeated(node: NodeId, epoch: u64, first: NodeId) -> String {
    format!("{node} announces that it leads with epoch {epoch}, as {first} did")
}
