//! The lineage of groups (Garcia-Molina's *history*, section IV.B): which groups there were, and which came
//! from which.
//!
//! A vertex for each group: its number, its coordinator, its members, and its parents, the groups in which the members were
//! last. Everything goes back to the root, "the initial group that created the system", which is virtual, has number 0, and
//! holds all nodes. A node that joins a group brings its graph along. The coordinator unites the graphs, adds the new group
//! and hands the result out with Ready. Every member keeps it on disk.
//!
//! ```text
//!   root ◄── 1.1.1 ◄──┐
//!        ◄── 2.1.1 ◄──┴── 3.1.2 ◄── 3.1.4        the generation of a group: one more than its parents' largest
//! ```
//!
//! **It is bounded**: at most [`RECORDS_MAX`] records, with [`MEMBERS_MAX`] members and [`PARENTS_MAX`] parents in all. When
//! one is added to a graph that is full, the records of the lowest generations are folded into the root: they are forgotten,
//! those of the newest group's own parents last. A record never changes, so a group's record is the same at every node that
//! still has it. What can be answered after that? That one group came from another is known if all groups on the way between
//! them are known. That it did *not* is known only if no forgotten group can be on such a way; the generations tell that.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use super::Past;
use crate::bounded;
use crate::canonical::Form;
use crate::digest::fnv1a;
use crate::ident::{ElectionId, GroupId, Incarnation, NodeId};

/// No graph has more records.
pub const RECORDS_MAX: usize = 64;
/// Nor more members in all its records together: 64 groups of 64.
pub const MEMBERS_MAX: usize = 64 * 64;
/// Nor more parents.
pub const PARENTS_MAX: usize = 512;

/// No group is of a later generation: a larger number is a lie that would use up the counter.
const GENERATION_MAX: u64 = 1 << 62;

/// The group that all others come from. No node uses its number, because incarnations are counted from 1.
pub const ROOT: GroupId = GroupId(ElectionId { node: NodeId(0), incarnation: Incarnation(0), seq: 0 });

/// One group, as its coordinator recorded it when it was formed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its number.
    pub group: GroupId,
    /// Who formed it.
    pub coordinator: NodeId,
    /// One more than the largest of its parents; the root's is 0.
    pub generation: u64,
    /// Who joined it, the coordinator included, in order of id.
    #[serde(deserialize_with = "bounded::list::<MEMBERS_MAX, _, _>")]
    pub members: Vec<NodeId>,
    /// The groups in which the members were last, each once, in order; at least one.
    #[serde(deserialize_with = "bounded::list::<PARENTS_MAX, _, _>")]
    pub parents: Vec<GroupId>,
}

/// What is known about earlier groups. A copy is cheap: nodes, disks and messages share what does not change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lineage {
    /// In order of generation, then of number.
    #[serde(deserialize_with = "at_most_all")]
    records: Arc<Vec<Arc<Record>>>,
}

fn at_most_all<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Vec<Arc<Record>>>, D::Error> {
    bounded::list::<RECORDS_MAX, _, _>(deserializer).map(Arc::new)
}

/// Where a group comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ancestry {
    /// Every group that it is known to come from, the root excepted, those of later generations first.
    pub groups: Vec<GroupId>,
    /// Whether there may be more, which were forgotten.
    pub complete: bool,
}

/// Whether two groups existed side by side: neither came from the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concurrent {
    /// They did, so what they did may be in conflict.
    Yes,
    /// They are the same, or one came from the other.
    No,
    /// Too much was forgotten to tell.
    Unknown,
}

impl Lineage {
    /// A graph of these.
    #[cfg(test)]
    pub(crate) fn of(records: impl IntoIterator<Item = impl Into<Arc<Record>>>) -> Self {
        Self { records: Arc::new(records.into_iter().map(Into::into).collect()) }
    }

    /// All that is known, older generations first.
    pub fn records(&self) -> &[Arc<Record>] {
        &self.records
    }

    /// The record of that group, if it is known.
    pub fn record(&self, group: GroupId) -> Option<&Record> {
        self.shared(group).map(|record| &**record)
    }

    /// As [`Lineage::record`], to be kept.
    pub(super) fn shared(&self, group: GroupId) -> Option<&Arc<Record>> {
        self.records.iter().find(|record| record.group == group)
    }

    /// Which groups that group came from.
    pub fn ancestors(&self, of: GroupId) -> Ancestry {
        let walk = self.walk(of);
        let known = |group: &GroupId| self.record(*group).map_or(0, |record| record.generation);
        let mut groups: Vec<GroupId> = walk.seen.into_iter().filter(|group| *group != ROOT).collect();
        groups.sort_by_key(|group| (core::cmp::Reverse(known(group)), *group));
        Ancestry { groups, complete: walk.forgotten.is_none() }
    }

    /// Whether the two groups existed side by side.
    pub fn concurrent(&self, a: GroupId, b: GroupId) -> Concurrent {
        if a == b || a == ROOT || b == ROOT {
            return Concurrent::No;
        }
        let (from_a, from_b) = (self.walk(a), self.walk(b));
        if from_a.seen.contains(&b) || from_b.seen.contains(&a) {
            return Concurrent::No;
        }
        match (self.record(a), self.record(b)) {
            (Some(a), Some(b)) if from_a.cannot_hide(b) && from_b.cannot_hide(a) => Concurrent::Yes,
            _ => Concurrent::Unknown,
        }
    }

    /// What all of these know together.
    pub(super) fn united(pasts: &[Past]) -> Self {
        let mut known = Self::default();
        pasts.iter().for_each(|past| known.unite(&past.lineage));
        known
    }

    /// Takes over what another graph knows. If both know a group, this one's record stays.
    pub(super) fn unite(&mut self, other: &Self) {
        if Arc::ptr_eq(&self.records, &other.records) {
            return;
        }
        let news: Vec<_> = other.records.iter().filter(|record| !self.has(record)).cloned().collect();
        if !news.is_empty() {
            let records = Arc::make_mut(&mut self.records);
            records.extend(news);
            records.sort_by_key(|record| record.age());
        }
    }

    /// Whether it has one of that number. Nearly always that is the same record, which is found by its age.
    fn has(&self, record: &Record) -> bool {
        let found = self.records.binary_search_by_key(&record.age(), |known| known.age());
        found.is_ok() || self.record(record.group).is_some()
    }

    /// Adds the group that all that is known leads up to, and forgets what there is no room for.
    pub(super) fn add(&mut self, record: impl Into<Arc<Record>>) {
        let record = record.into();
        let (newest, latest) = (record.group, Arc::clone(&record));
        if self.record(newest).is_none() {
            let records = Arc::make_mut(&mut self.records);
            records.push(record);
            records.sort_by_key(|record| record.age());
        }
        while !self.fits() {
            let first = |spare: &dyn Fn(&GroupId) -> bool| {
                self.records.iter().position(|record| record.group != newest && !spare(&record.group))
            };
            let Some(at) = first(&|group| latest.parents.contains(group)).or_else(|| first(&|_| false))
            else {
                return;
            };
            Arc::make_mut(&mut self.records).remove(at);
        }
    }

    /// The generation of a group with these parents.
    pub(super) fn generation_after(&self, parents: &[GroupId]) -> u64 {
        let known = parents.iter().filter_map(|parent| self.record(*parent));
        known.map(|record| record.generation).max().unwrap_or(0).saturating_add(1)
    }

    /// Whether a graph that somebody sent is one that a node could have.
    pub(super) fn is_sound(&self) -> bool {
        let ordered = self.records.is_sorted_by(|a, b| a.age() < b.age());
        let mut numbers: Vec<(GroupId, u64)> =
            self.records.iter().map(|record| (record.group, record.generation)).collect();
        numbers.sort_unstable();
        let unique = numbers.is_sorted_by(|(a, _), (b, _)| a < b);
        let generation = |group: &GroupId| {
            let at = numbers.binary_search_by_key(group, |(group, _)| *group).ok()?;
            Some(numbers[at].1)
        };
        let grows = |record: &Record| {
            let mut known = record.parents.iter().filter_map(generation);
            known.all(|parent| parent < record.generation)
        };
        self.fits()
            && ordered
            && unique
            && self.records.iter().all(|record| record.is_sound() && grows(record))
    }

    pub(super) fn canonical(&self, form: &mut Form) {
        form.number(self.records.len() as u64);
        for record in self.records.iter() {
            form.election(record.group.0);
            form.node(record.coordinator);
            form.number(record.generation);
            form.nodes(&record.members);
            form.number(record.parents.len() as u64);
            record.parents.iter().for_each(|parent| form.election(parent.0));
        }
    }

    fn fits(&self) -> bool {
        let sum = |len: fn(&Record) -> usize| self.records.iter().map(|record| len(record)).sum::<usize>();
        self.records.len() <= RECORDS_MAX
            && sum(|record| record.members.len()) <= MEMBERS_MAX
            && sum(|record| record.parents.len()) <= PARENTS_MAX
    }

    /// Goes back from a group as far as is known.
    fn walk(&self, from: GroupId) -> Walk {
        let mut walk = Walk { seen: BTreeSet::new(), forgotten: None };
        let mut ahead = match self.record(from) {
            Some(record) => alloc::vec![record],
            None => {
                walk.forgotten = (from != ROOT).then_some(u64::MAX);
                Vec::new()
            }
        };
        while let Some(record) = ahead.pop() {
            for parent in record.parents.iter().filter(|parent| walk.seen.insert(**parent)) {
                match self.record(*parent) {
                    Some(parent) => ahead.push(parent),
                    None if *parent == ROOT => {}
                    None => walk.forgotten = walk.forgotten.max(Some(record.generation - 1)),
                }
            }
        }
        walk
    }
}

/// Where a way back through the graph led.
struct Walk {
    /// Everything on the way, known or only named.
    seen: BTreeSet<GroupId>,
    /// If the way ended at forgotten groups: their latest possible generation.
    forgotten: Option<u64>,
}

impl Walk {
    /// Whether the way cannot lead to that group through forgotten groups: ways lead only to earlier generations.
    fn cannot_hide(&self, group: &Record) -> bool {
        self.forgotten.is_none_or(|latest| group.generation >= latest)
    }
}

impl Record {
    /// Tells records apart in traces.
    pub fn digest(&self) -> RecordDigest {
        let id =
            |GroupId(ElectionId { node, incarnation, seq }): GroupId| [u64::from(node.0), incarnation.0, seq];
        let fields = [u64::from(self.coordinator.0), self.generation, self.members.len() as u64];
        let members = self.members.iter().map(|member| u64::from(member.0));
        let parents = self.parents.iter().flat_map(|parent| id(*parent));
        let words = id(self.group).into_iter().chain(fields).chain(members).chain(parents);
        RecordDigest(fnv1a(words.flat_map(u64::to_le_bytes)))
    }

    /// Parents come before their children.
    fn age(&self) -> (u64, GroupId) {
        (self.generation, self.group)
    }

    fn is_sound(&self) -> bool {
        self.group != ROOT
            && (1..=GENERATION_MAX).contains(&self.generation)
            && self.members.is_sorted_by(|a, b| a < b)
            && self.members.binary_search(&self.coordinator).is_ok()
            && !self.parents.is_empty()
            && self.parents.is_sorted_by(|a, b| a < b)
            && !self.parents.contains(&self.group)
    }
}

/// Tells records of groups apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordDigest(pub u64);

impl fmt::Display for RecordDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
