//! ANSWER-TRUE: what a node answers has been done. Whoever answers that it has resigned has ceased to lead since it was asked, or
//! did not lead then. If it answers that it has handed over, the named node has announced itself since then.
//!
//! What becomes of it later is another matter: whoever took over may have gone, and whoever resigned may lead again.

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::tenure::{Command, Ticket};
use bellwether_proto::time::Time;
use bellwether_proto::trace::{Program, TraceEvent, What};

use super::known::Known;
use super::opinions::Opinions;
use super::{Checker, Verdict, Violation};

#[derive(Default)]
pub(super) struct AnswerTrue {
    open: BTreeMap<(NodeId, Ticket), Asked>,
    judged: bool,
    violation: Option<Violation>,
}

struct Asked {
    command: Command,
    at: Time,
    /// Whether the node has not led at some time since.
    ceased: bool,
    /// Who has announced itself since.
    announced: BTreeSet<NodeId>,
}

impl AnswerTrue {
    /// A node announces that it leads, or that it does not.
    fn announced(&mut self, node: NodeId, leads: bool) {
        for ((asked, _), open) in &mut self.open {
            open.ceased |= *asked == node && !leads;
            if leads {
                open.announced.insert(node);
            }
        }
    }

    /// A node answers that it has done what it was asked to.
    fn done(&mut self, at: Time, node: NodeId, ticket: Ticket) {
        let Some(open) = self.open.remove(&(node, ticket)) else { return };
        let Asked { command, at: since, ceased, announced } = open;
        let wrong = match command {
            Command::Resign { .. } if !ceased => format!("{node} answers that it has resigned, and leads"),
            Command::Transfer { to } if !announced.contains(&to) => {
                format!("{node} answers that it has handed over to {to}, which has not announced itself")
            }
            Command::Resign { .. } | Command::Transfer { .. } => return self.judged = true,
            Command::Stand | Command::Leave => return,
        };
        self.judged = true;
        self.violation.get_or_insert(Violation { at, what: format!("{wrong}: it was asked at {since}") });
    }
}

impl Checker for AnswerTrue {
    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        let TraceEvent { at, node, what, .. } = *event;
        match what {
            What::Node(Event::Announced(announced)) => self.announced(node, announced.leader == Some(node)),
            What::Program(Program::Asked { ticket, command }) => {
                let ceased = known.announced(node) != Some(node);
                self.open.insert((node, ticket), Asked { command, at, ceased, announced: BTreeSet::new() });
            }
            What::Program(Program::Answered { ticket, refused: None }) => self.done(at, node, ticket),
            What::Program(Program::Answered { ticket, refused: Some(_) }) => {
                self.open.remove(&(node, ticket));
            }
            What::Crash => self.open.retain(|(asked, _), _| *asked != node),
            _ => {}
        }
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(self: Box<Self>, _known: &Known, _end: Time) -> Verdict {
        Verdict::new(self.judged, self.violation)
    }
}
