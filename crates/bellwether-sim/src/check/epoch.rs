//! EPOCH (any survivor): every leadership that is announced has an epoch above all that its leader had seen, in this incarnation
//! and before; so (epoch, node, incarnation) is unique. And nobody announces a leadership that its leader has not.

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::leadership::Announcement;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{TraceEvent, What};

use super::known::Known;
use super::seen::{Leadership, Seen};
use super::{Checker, Verdict, Violation};

#[derive(Default)]
pub(super) struct Epoch {
    seen: Seen,
    /// The leaderships that their leaders have announced.
    announced: BTreeSet<(NodeId, u64)>,
    /// Those that others have, and who did first. Clocks of several machines differ, so it is looked at in the end.
    repeated: BTreeMap<(NodeId, u64), (Time, NodeId)>,
    judged: bool,
    violation: Option<Violation>,
}

impl Epoch {
    fn judge(&mut self, at: Time, node: NodeId, leader: NodeId, epoch: u64) {
        self.judged = true;
        let before = self.seen.announce(at, node, (epoch, leader));
        if let Some(what) = step_back(node, before, (epoch, leader)) {
            self.violation.get_or_insert(Violation { at, what });
        } else if leader == node {
            self.announced.insert((leader, epoch));
        } else {
            self.repeated.entry((leader, epoch)).or_insert((at, node));
        }
    }
}

impl Checker for Epoch {
    fn observe(&mut self, _known: &Known, event: &TraceEvent) {
        match event.what {
            What::Node(Event::Announced(Announcement { leader: Some(leader), epoch, .. })) => {
                self.judge(event.at, event.node, leader, epoch);
            }
            What::Crash => self.seen.crash(event.at, event.node),
            _ => {}
        }
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(mut self: Box<Self>, _known: &Known, _end: Time) -> Verdict {
        let invented = self.repeated.iter().filter(|(leadership, _)| !self.announced.contains(leadership));
        if let Some(((leader, epoch), (at, node))) = invented.min_by_key(|(_, (at, _))| *at) {
            let what =
                format!("{node} announces that {leader} leads with epoch {epoch}, which {leader} has not");
            self.violation.get_or_insert(Violation { at: *at, what });
        }
        Verdict::new(self.judged, self.violation)
    }
}

/// What is wrong if a node announces that, and announced `before` last.
pub(crate) fn step_back(
    node: NodeId,
    before: Option<Leadership>,
    (epoch, leader): Leadership,
) -> Option<String> {
    let (seen, _) = before?;
    if leader == node && epoch <= seen {
        return Some(format!("{node} announces that it leads with epoch {epoch}, and had seen {seen}"));
    }
    (epoch < seen).then(|| format!("{node} goes back from epoch {seen} to {epoch} of {leader}"))
}
