//! ANSWERED: whatever a program asks of its member is answered within the release timeout, the time for which a successor
//! is waited for, and a period of the leader. A member that was asked to leave answers by leaving. In the same time, leadership that
//! was asked back is given back, or kept: then the program may work again. (Of a real program nobody knows whether it wants to.) Of
//! exclusive leadership a lease is added: work is to end when validity is about to.
//!
//! A member that crashes owes nothing any more, and one that is paused cannot answer.

use std::collections::BTreeMap;

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::tenure::{Command, Ticket};
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{Program, TraceEvent, What};

use super::known::Known;
use super::opinions::Opinions;
use super::{Checker, Facts, Leading, Origin, Verdict, Violation};

pub(super) struct Answered {
    bound: Span,
    origin: Origin,
    /// By member and ticket: what it owes an answer to, and since when.
    owed: BTreeMap<(NodeId, Ticket), (Command, Time)>,
    /// By member: since when its program has nothing to do although it leads, because leadership was asked back.
    idle: BTreeMap<NodeId, Time>,
    judged: bool,
    violation: Option<Violation>,
}

impl Answered {
    pub(super) fn new(facts: &Facts) -> Self {
        Self {
            bound: facts.stretched(bound(facts)),
            origin: facts.origin,
            owed: BTreeMap::new(),
            idle: BTreeMap::new(),
            judged: false,
            violation: None,
        }
    }

    /// What is owed is owed until just before `until`.
    fn wait(&mut self, until: Time) {
        let Self { bound, owed, .. } = self;
        let overdue = owed.iter().filter(|(_, (_, asked))| *asked + *bound < until);
        if let Some(((node, _), (command, asked))) = overdue.min_by_key(|(_, (_, asked))| *asked) {
            let (at, command) = (*asked + *bound, command.name());
            let what =
                format!("{node} was asked to {command} at {asked}, and has not answered within {bound}");
            self.violation.get_or_insert(Violation { at, what });
        }
        let mut stuck = self.idle.iter().filter(|(_, since)| **since + *bound < until);
        if let Some((node, since)) = stuck.next() {
            let what = format!(
                "{node} leads with nothing to do since {since}: what was asked back is neither given back nor kept \
                 within {bound}"
            );
            self.violation.get_or_insert(Violation { at: *since + *bound, what });
        }
    }

    fn excuse(&mut self, node: NodeId) {
        self.owed.retain(|(other, _), _| *other != node);
        self.idle.remove(&node);
    }
}

impl Checker for Answered {
    fn pass(&mut self, _known: &Known, until: Time) {
        self.wait(until);
    }

    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        let TraceEvent { at, node, what, .. } = *event;
        match what {
            What::Program(Program::Asked { ticket, command }) => {
                self.owed.insert((node, ticket), (command, at));
                // What is asked now may take as long again.
                if let Some(since) = self.idle.get_mut(&node) {
                    *since = at;
                }
            }
            What::Program(Program::WorkEnds)
                if self.origin == Origin::Simulated && known.announced(node) == Some(node) =>
            {
                self.idle.insert(node, at);
            }
            What::Program(Program::WorkBegins { .. }) => drop(self.idle.remove(&node)),
            What::Node(Event::Announced(announced)) if announced.leader != Some(node) => {
                self.idle.remove(&node);
            }
            What::Program(Program::Answered { ticket, .. }) => {
                self.judged |= self.owed.remove(&(node, ticket)).is_some();
            }
            What::Program(Program::Left) => {
                let mut owed = self.owed.iter().filter(|((asked, _), _)| *asked == node);
                self.judged |= owed.any(|(_, (command, _))| *command == Command::Leave);
                self.excuse(node);
            }
            What::Crash | What::Pause => self.excuse(node),
            _ => {}
        }
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(mut self: Box<Self>, _known: &Known, end: Time) -> Verdict {
        self.wait(end);
        Verdict::new(self.judged, self.violation)
    }
}

/// How long an answer may take, for true clocks.
pub(super) fn bound(facts: &Facts) -> Span {
    let Leading { release_timeout, successor_patience, lease, .. } = facts.leading;
    release_timeout + successor_patience + facts.timing.tau + lease
}
