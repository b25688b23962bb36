//! The outcomes of the restricted operations of a run, for the report of `sim`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use bellwether_proto::group::{Ballot, GroupEvent, OpId};
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::trace::{TraceEvent, What};
use serde::{Serialize, Serializer};

/// How a restricted operation stands at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A group committed it.
    Committed,
    /// Every attempt that was voted for was aborted, and there was one at least.
    Aborted,
    /// Nobody that was asked tried.
    Declined,
    /// None of these: the node that was asked was down, or crashed before it decided.
    Open,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Committed, Self::Aborted, Self::Declined, Self::Open];

    /// The word used in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Committed => "committed",
            Self::Aborted => "aborted",
            Self::Declined => "declined",
            Self::Open => "open",
        }
    }

    /// The outcome of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A restricted operation at the end of a run. Field names are a stable format.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Operation {
    /// Its number.
    pub op: u64,
    /// How it stands.
    pub outcome: Outcome,
    /// The group that committed it.
    pub group: Option<String>,
    /// The nodes that have learnt of the commit.
    pub known_to: Vec<u32>,
    /// The answers of the nodes that were asked, in order.
    pub answers: Vec<Answer>,
}

/// The answer of a node that was asked to perform an operation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// When, in microseconds.
    pub t_us: u64,
    /// Which node.
    pub node: u32,
    /// Committed, aborted or declined.
    pub answer: Outcome,
    /// Why it declined.
    pub reason: Option<&'static str>,
}

/// Hears of a run as it happens.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operations(BTreeMap<OpId, Told>);

/// The events of one operation.
#[derive(Clone, Debug, Default)]
struct Told {
    committed: Option<Ballot>,
    known_to: BTreeSet<NodeId>,
    voted: BTreeSet<Ballot>,
    aborted: BTreeSet<Ballot>,
    answers: Vec<Answer>,
}

impl Operations {
    pub(crate) fn note(&mut self, event: &TraceEvent) {
        let What::Node(Event::Group(told)) = event.what else { return };
        match told {
            GroupEvent::Voted { op, ballot } => {
                self.of(op).voted.insert(ballot);
            }
            GroupEvent::Committed { op, ballot } => self.of(op).commit(event, ballot),
            GroupEvent::Aborted { op, ballot } => {
                self.of(op).aborted.insert(ballot);
                self.of(op).answer(event, Outcome::Aborted, None);
            }
            GroupEvent::Declined { op, why } => {
                self.of(op).answer(event, Outcome::Declined, Some(why.name()));
            }
            GroupEvent::Installed(_)
            | GroupEvent::Recorded { .. }
            | GroupEvent::Member(_)
            | GroupEvent::Parent(_) => {}
        }
    }

    fn of(&mut self, op: OpId) -> &mut Told {
        self.0.entry(op).or_default()
    }

    /// The outcome of every operation that was asked for, in order of their numbers.
    pub(crate) fn account(&self, asked_for: BTreeSet<OpId>) -> Vec<Operation> {
        let nothing = Told::default();
        let account = |op: OpId| self.0.get(&op).unwrap_or(&nothing).account(op);
        asked_for.into_iter().map(account).collect()
    }
}

impl Told {
    /// The coordinator is the first to know, and this is its answer; the others are told.
    fn commit(&mut self, event: &TraceEvent, ballot: Ballot) {
        self.known_to.insert(event.node);
        if self.committed.is_none() {
            self.committed = Some(ballot);
            self.answer(event, Outcome::Committed, None);
        }
    }

    fn answer(&mut self, event: &TraceEvent, answer: Outcome, reason: Option<&'static str>) {
        let t_us = event.at.as_micros();
        self.answers.push(Answer { t_us, node: event.node.0, answer, reason });
    }

    fn outcome(&self) -> Outcome {
        let is_open = self.voted.iter().any(|ballot| !self.aborted.contains(ballot));
        match self.committed {
            Some(_) => Outcome::Committed,
            None if is_open => Outcome::Open,
            None if !self.aborted.is_empty() => Outcome::Aborted,
            None if self.answers.is_empty() => Outcome::Open,
            None => Outcome::Declined,
        }
    }

    fn account(&self, op: OpId) -> Operation {
        Operation {
            op: op.0,
            outcome: self.outcome(),
            group: self.committed.map(|ballot| ballot.group.to_string()),
            known_to: self.known_to.iter().map(|node| node.0).collect(),
            answers: self.answers.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
