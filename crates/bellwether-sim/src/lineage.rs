//! The lineage of groups in a run: the groups, their members, and which came from which (Garcia-Molina's *history*, section
//! IV.B).
//!
//! It is read only from the trace, so that recorded runs have one as well.

mod dot;
mod layout;
mod picture;

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::group::lineage::ROOT;
use bellwether_proto::group::{GroupEvent, RecordDigest};
use bellwether_proto::ident::{GroupId, NodeId};
use bellwether_proto::io::Event;
use bellwether_proto::promise::Property;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{TraceEvent, What};

pub use dot::dot;
pub use picture::svg;

/// Whether the groups of an algorithm have a lineage: they are reorganized, and have numbers. The Bully algorithm as printed
/// numbers none.
pub fn is_kept(protocol: Protocol, variant: Variant) -> bool {
    let spec = protocol.spec();
    let are_numbered = match variant {
        Variant::Repaired => true,
        Variant::Printed => spec.printed.iter().any(|promise| promise.property == Property::GroupOnce),
    };
    spec.reorganizes && are_numbered
}

/// The graph of groups.
#[derive(Clone, Debug, Default)]
pub struct Lineage {
    groups: BTreeMap<GroupId, Vertex>,
    /// The group that each node has recorded last.
    heads: BTreeMap<NodeId, GroupId>,
}

/// What a trace tells of one group.
#[derive(Clone, Debug)]
pub struct Vertex {
    /// Its coordinator, which alone reports members and parents.
    pub coordinator: NodeId,
    /// Who joined it.
    pub members: BTreeSet<NodeId>,
    /// The groups it came from.
    pub parents: BTreeSet<GroupId>,
    /// When it was first recorded.
    pub at: Time,
    /// Each node's record of it, in the order of recording, with the time.
    pub records: Vec<(NodeId, RecordDigest, Time)>,
}

impl Lineage {
    /// The graph that a trace tells of.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a TraceEvent>) -> Self {
        let mut lineage = Self::default();
        events.into_iter().for_each(|event| lineage.observe(event));
        lineage
    }

    /// Takes note of the next event of a trace.
    pub fn observe(&mut self, event: &TraceEvent) {
        let What::Node(reported) = event.what else { return };
        match reported {
            Event::Group(GroupEvent::Recorded { group, record }) => {
                let vertex = self.groups.entry(group).or_insert_with(|| Vertex::new(group, event.at));
                vertex.records.push((event.node, record, event.at));
                self.heads.insert(event.node, group);
            }
            Event::Group(GroupEvent::Member(member)) => {
                self.last(event.node, |vertex| vertex.members.extend([member]))
            }
            Event::Group(GroupEvent::Parent(parent)) => {
                self.last(event.node, |vertex| vertex.parents.extend([parent]))
            }
            _ => {}
        }
    }

    /// Every group, in order of number.
    pub fn groups(&self) -> &BTreeMap<GroupId, Vertex> {
        &self.groups
    }

    /// The group that each node has recorded last.
    pub fn heads(&self) -> &BTreeMap<NodeId, GroupId> {
        &self.heads
    }

    /// The first group found on a way that leads back to itself.
    pub fn cycle(&self) -> Option<GroupId> {
        // How many parents of each are not done with, and who waits for whom.
        let mut waits: BTreeMap<GroupId, usize> = BTreeMap::new();
        let mut children: BTreeMap<GroupId, Vec<GroupId>> = BTreeMap::new();
        for (group, vertex) in &self.groups {
            let known = vertex.parents.iter().filter(|parent| self.groups.contains_key(parent));
            waits.insert(*group, known.clone().count());
            known.for_each(|parent| children.entry(*parent).or_default().push(*group));
        }
        // Those that wait for nobody are done with, and then their children: what is left has a cycle before it, or is one.
        let mut done: Vec<GroupId> =
            waits.iter().filter(|(_, parents)| **parents == 0).map(|(group, _)| *group).collect();
        while let Some(parent) = done.pop() {
            for child in children.remove(&parent).unwrap_or_default() {
                if let Some(parents) = waits.get_mut(&child) {
                    *parents -= 1;
                    done.extend((*parents == 0).then_some(child));
                }
            }
        }
        waits.into_iter().find(|(_, parents)| *parents > 0).map(|(group, _)| group)
    }

    /// How far each group is from the root, by its longest way; 0 for those whose parents are all unknown.
    fn generations(&self) -> BTreeMap<GroupId, usize> {
        let mut order: Vec<(&GroupId, &Vertex)> = self.groups.iter().collect();
        order.sort_by_key(|(group, vertex)| (vertex.at, **group));
        let mut generations: BTreeMap<GroupId, usize> = BTreeMap::new();
        for (group, vertex) in order {
            let after = |parent: &GroupId| generations.get(parent).map(|generation| generation + 1);
            let generation = vertex.parents.iter().filter_map(after).max().unwrap_or(0);
            generations.insert(*group, generation);
        }
        generations
    }

    fn last(&mut self, node: NodeId, note: impl FnOnce(&mut Vertex)) {
        if let Some(vertex) = self.heads.get(&node).and_then(|group| self.groups.get_mut(group)) {
            note(vertex);
        }
    }
}

impl Vertex {
    fn new(group: GroupId, at: Time) -> Self {
        let (members, parents) = (BTreeSet::new(), BTreeSet::new());
        Self { coordinator: group.0.node, members, parents, at, records: Vec::new() }
    }

    /// The members, as a list for people.
    fn roll(&self) -> String {
        let members: Vec<String> = self.members.iter().map(ToString::to_string).collect();
        members.join(", ")
    }
}

/// How a group is called.
fn name(group: GroupId) -> String {
    if group == ROOT { "initial group".to_owned() } else { group.to_string() }
}

#[cfg(test)]
mod tests;
