//! HISTORY (Garcia-Molina, section IV.B): "the history of a group forms a graph with groups as vertices and going back to the
//! initial group that created the system".
//!
//! - One record for each number: whoever keeps a group's record keeps the same.
//! - One root: every group came from some group, and all that it came from were recorded, or are the initial group.
//! - No cycles.
//!
//! That a parent was recorded is looked at in the end: clocks of several machines differ.

use bellwether_proto::group::GroupEvent;
use bellwether_proto::group::lineage::ROOT;
use bellwether_proto::io::Event;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{TraceEvent, What};

use super::known::Known;
use super::{Checker, Verdict, Violation};
use crate::lineage::Lineage;

#[derive(Default)]
pub(super) struct History {
    lineage: Lineage,
    violation: Option<Violation>,
}

impl History {
    /// What is wrong with the graph as a whole.
    fn flaw(&self) -> Option<Violation> {
        let groups = self.lineage.groups();
        // Only the coordinator tells of members and parents.
        let told = groups.iter().filter(|(_, vertex)| !vertex.members.is_empty());
        let orphan = told.clone().find(|(_, vertex)| vertex.parents.is_empty());
        if let Some((group, vertex)) = orphan {
            let what = format!("group {group} came from no group: another root");
            return Some(Violation { at: vertex.at, what });
        }
        let unknown =
            told.flat_map(|(group, vertex)| vertex.parents.iter().map(move |parent| (group, parent)));
        let mut unknown = unknown.filter(|(_, parent)| **parent != ROOT && !groups.contains_key(parent));
        if let Some((group, parent)) = unknown.next() {
            let what = format!("group {group} came from {parent}, which nobody has recorded");
            return Some(Violation { at: groups[group].at, what });
        }
        let group = self.lineage.cycle()?;
        let what = format!("group {group} came from itself");
        Some(Violation { at: groups[&group].at, what })
    }
}

impl Checker for History {
    fn observe(&mut self, _known: &Known, event: &TraceEvent) {
        self.lineage.observe(event);
        let What::Node(Event::Group(GroupEvent::Recorded { group, record })) = event.what else { return };
        let (who, first, _) = self.lineage.groups()[&group].records[0];
        if first != record {
            let node = event.node;
            let what = format!("{node} keeps another record of group {group} than {who}");
            self.violation.get_or_insert(Violation { at: event.at, what });
        }
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(self: Box<Self>, _known: &Known, _end: Time) -> Verdict {
        let judged = !self.lineage.groups().is_empty();
        let flaw = self.flaw();
        Verdict::new(judged, self.violation.or(flaw))
    }
}
