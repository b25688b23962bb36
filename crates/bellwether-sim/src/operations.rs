//! What became of the restricted operations of a run: the account that `sim` gives of each.

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::group::{Ballot, GroupEvent, OpId};
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::trace::{TraceEvent, What};
use serde::Serialize;

/// How a restricted operation stands at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A group committed it.
    Committed,
    /// Every attempt that was voted for was aborted, and there was one at least.
    Aborted,
    /// Nobody that was asked tried.
    Declined,
    /// Nothing else was told of it: whoever was asked was down, or crashed before it had decided.
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

/// A restricted operation at the end of a run. Field names are a stable format.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Operation {
    /// Its number.
    pub op: u64,
    /// `committed`, `aborted`, `declined` or `open`.
    pub outcome: &'static str,
    /// The group that committed it.
    pub group: Option<String>,
    /// The nodes that have learnt of the commit.
    pub known_to: Vec<u32>,
    /// What those said that were asked to perform it, in order.
    pub answers: Vec<Answer>,
}

/// What a node said that was asked to perform an operation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// When, in microseconds.
    pub t_us: u64,
    /// Which node.
    pub node: u32,
    /// `committed`, `aborted` or `declined`.
    pub answer: &'static str,
    /// Why it declined.
    pub reason: Option<&'static str>,
}

/// Hears of a run as it happens.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operations(BTreeMap<OpId, Told>);

/// What was told of one operation.
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

    /// What became of every operation that was asked for, in order of their numbers.
    pub(crate) fn account(&self, asked_for: BTreeSet<OpId>) -> Vec<Operation> {
        let nothing = Told::default();
        let account = |op: OpId| self.0.get(&op).unwrap_or(&nothing).account(op);
        asked_for.into_iter().map(account).collect()
    }
}

impl Told {
    /// The first to know is the coordinator, and that is its answer; the others are told.
    fn commit(&mut self, event: &TraceEvent, ballot: Ballot) {
        self.known_to.insert(event.node);
        if self.committed.is_none() {
            self.committed = Some(ballot);
            self.answer(event, Outcome::Committed, None);
        }
    }

    fn answer(&mut self, event: &TraceEvent, answer: Outcome, reason: Option<&'static str>) {
        let t_us = event.at.as_micros();
        self.answers.push(Answer { t_us, node: event.node.0, answer: answer.name(), reason });
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
            outcome: self.outcome().name(),
            group: self.committed.map(|ballot| ballot.group.to_string()),
            known_to: self.known_to.iter().map(|node| node.0).collect(),
            answers: self.answers.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
