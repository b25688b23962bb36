//! VIEW-AGREE (Franceschetti and Bruck, section 1): processes act on "a consistent view of the network connectivity".
//!
//! Whoever installs a view installs it with the same members, and is one of them. Who leads it formed it, and is the lightest of
//! those members that were in the view from which it was formed: those that are admitted do not count (E-FB9).

use std::collections::BTreeMap;

use bellwether_proto::ident::{GroupId, NodeId};
use bellwether_proto::io::Event;
use bellwether_proto::members::Members;
use bellwether_proto::opinion::Status;
use bellwether_proto::roster::Priority;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{TraceEvent, What};

use super::known::Known;
use super::opinions::Opinions;
use super::{Checker, Facts, Verdict, Violation};

pub(super) struct ViewAgree {
    priority: Priority,
    /// Who was first to install each view, and with whom.
    views: BTreeMap<GroupId, (NodeId, Members)>,
    /// The view that each node installed last, in this incarnation.
    last: BTreeMap<NodeId, GroupId>,
    violation: Option<Violation>,
}

impl ViewAgree {
    pub(super) fn new(facts: &Facts) -> Self {
        Self { priority: facts.priority, views: BTreeMap::new(), last: BTreeMap::new(), violation: None }
    }

    fn installs(&mut self, known: &Known, node: NodeId, members: Members) -> Option<String> {
        let id = known.opinion(node).group?;
        let parent = self.last.insert(node, id);
        let (first, expected) = *self.views.entry(id).or_insert((node, members));
        if members != expected {
            let [mine, theirs] = [members, expected].map(list);
            return Some(format!("{node} installs view {id} of {mine}, which {first} installed of {theirs}"));
        }
        if !list(members).contains(&node) {
            return Some(format!("{node} installs view {id} of {}, without itself", list(members)));
        }
        if id.0.node != node {
            return None;
        }
        let lighter = |other: &NodeId| {
            let stays = parent.is_some() && self.last.get(other).copied() == parent;
            stays && known.is_up(*other) && known.opinion(*other).status != Status::Dead
        };
        let mut lighter = list(members)
            .0
            .into_iter()
            .filter(|other| self.priority.stronger(*other, node) && lighter(other));
        lighter
            .next()
            .map(|other| format!("{node} leads view {id}, and {other} comes with it and is lighter"))
    }
}

/// Of one state: whoever has installed a view is a member of it, and all have it with the same members.
pub(super) fn dispute(opinions: &impl Opinions) -> Option<String> {
    let installed = || {
        let ids = opinions.up().map(|(id, _)| id);
        ids.filter_map(|id| opinions.installed(id).map(|(group, members)| (id, group, list(members))))
    };
    installed().find_map(|(id, group, members)| {
        if !members.contains(&id) {
            return Some(format!("{id} is in view {group} of {members}, without itself"));
        }
        let other = installed().find(|(_, theirs, others)| *theirs == group && *others != members);
        other.map(|(other, _, others)| {
            format!("{id} is in view {group} of {members}, {other} in one of {others}")
        })
    })
}

/// Those members, by id: ranks begin at 0, ids at 1.
fn list(members: Members) -> Nodes {
    Nodes(members.ranks().map(|rank| NodeId(rank as u32 + 1)).collect())
}

#[derive(PartialEq, Eq)]
struct Nodes(Vec<NodeId>);

impl Nodes {
    fn contains(&self, node: &NodeId) -> bool {
        self.0.contains(node)
    }
}

impl std::fmt::Display for Nodes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ids: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        write!(f, "{{{}}}", ids.join(", "))
    }
}

impl Checker for ViewAgree {
    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        match event.what {
            What::Node(Event::ViewInstalled(members)) => {
                if let Some(what) = self.installs(known, event.node, members) {
                    self.violation.get_or_insert(Violation { at: event.at, what });
                }
            }
            What::Crash => drop(self.last.remove(&event.node)),
            _ => {}
        }
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(self: Box<Self>, _known: &Known, _end: Time) -> Verdict {
        Verdict::new(!self.views.is_empty(), self.violation)
    }
}
