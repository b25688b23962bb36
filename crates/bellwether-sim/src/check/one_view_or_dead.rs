//! ONE-VIEW-OR-DEAD (Franceschetti and Bruck, section 1): "at each instant of time every process is either part of a logical
//! completely connected component or is in a dead state".
//!
//! A node that is dead names no leader and no view. One that is not shows the view that it installed last. Views are
//! installed in order: each is later than all that the node installed before, in this incarnation and in earlier ones, but for the
//! first of all, which everybody is in without being told.

use std::collections::BTreeMap;

use bellwether_proto::ident::{GroupId, NodeId};
use bellwether_proto::io::Event;
use bellwether_proto::opinion::{Opinion, Status};
use bellwether_proto::time::Time;
use bellwether_proto::trace::{TraceEvent, What};

use super::known::Known;
use super::opinions::Opinions;
use super::{Checker, Verdict, Violation};

#[derive(Default)]
pub(super) struct OneViewOrDead {
    /// The view that each node installed last, whichever incarnation it was in.
    installed: BTreeMap<NodeId, GroupId>,
    judged: bool,
    violation: Option<Violation>,
}

impl OneViewOrDead {
    fn installs(&mut self, known: &Known, node: NodeId) -> Option<String> {
        let id = known.opinion(node).group?;
        let before = self.installed.insert(node, id)?;
        (id.0.seq <= before.0.seq).then(|| format!("{node} installs view {id} after {before}"))
    }
}

/// Of one state: a node is dead, or it shows the view that it installed last.
pub(super) fn dispute(opinions: &impl Opinions) -> Option<String> {
    opinions
        .up()
        .find_map(|(node, opinion)| astray(node, &opinion, opinions.installed(node).map(|(group, _)| group)))
}

fn astray(node: NodeId, opinion: &Opinion, installed: Option<GroupId>) -> Option<String> {
    match (opinion.status, opinion.group) {
        (Status::Down, _) => None,
        (Status::Dead, None) if opinion.leader.is_none() => None,
        (Status::Dead, _) => Some(format!("{node} is dead, and names a leader or a view")),
        (_, Some(group)) if installed == Some(group) => None,
        (_, Some(group)) => Some(format!("{node} shows view {group}, which it has not installed")),
        (status, None) => Some(format!("{node} is {status}, and neither dead nor in a view")),
    }
}

impl Checker for OneViewOrDead {
    /// What a node shows at the end of an instant counts: that a view is installed is told after it is shown.
    fn pass(&mut self, known: &Known, _until: Time) {
        if self.violation.is_none() && self.judged {
            self.violation = dispute(known).map(|what| Violation { at: known.now(), what });
        }
    }

    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        if let What::Node(Event::ViewInstalled(_)) = event.what {
            self.judged = true;
            if let Some(what) = self.installs(known, event.node) {
                self.violation.get_or_insert(Violation { at: event.at, what });
            }
        }
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(mut self: Box<Self>, known: &Known, end: Time) -> Verdict {
        self.pass(known, end);
        Verdict::new(self.judged, self.violation)
    }
}
