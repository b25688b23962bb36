//! ONE-LEADER-PER-VIEW (Franceschetti and Bruck, theorems 3.1 and 3.2): the condition for leading holds "for exactly a single
//! node". That is a theorem per component, and so per view (E-FB6): all who are normal in a view name one leader, at all
//! times, and it is the one who formed the view.

use std::collections::BTreeSet;

use bellwether_proto::ident::{GroupId, NodeId};
use bellwether_proto::io::Event;
use bellwether_proto::opinion::Opinion;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{TraceEvent, What};

use super::known::Known;
use super::opinions::Opinions;
use super::{Checker, Verdict, Violation};

#[derive(Default)]
pub(super) struct OneLeaderPerView {
    views: BTreeSet<GroupId>,
    violation: Option<Violation>,
}

impl Checker for OneLeaderPerView {
    fn observe(&mut self, _known: &Known, event: &TraceEvent) {
        if let What::Node(Event::Opinion(opinion)) = event.what
            && let (Some(group), Some(_)) = (opinion.group, opinion.normal_leader())
        {
            self.views.insert(group);
            if let Some(what) = misled(event.node, &opinion) {
                self.violation.get_or_insert(Violation { at: event.at, what });
            }
        }
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(self: Box<Self>, _known: &Known, _end: Time) -> Verdict {
        Verdict::new(!self.views.is_empty(), self.violation)
    }
}

/// As the checker, of one state.
pub(super) fn dispute(opinions: &impl Opinions) -> Option<String> {
    opinions.up().find_map(|(node, opinion)| misled(node, &opinion))
}

fn misled(node: NodeId, opinion: &Opinion) -> Option<String> {
    let (group, leader) = (opinion.group?, opinion.normal_leader()?);
    (group.0.node != leader)
        .then(|| format!("{node} names {leader} in view {group}, which {} leads", group.0.node))
}
