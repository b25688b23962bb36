//! TAKEN-OVER: leadership that is handed to a node of a settled group is taken over, unless something else befalls the group
//! first.

use std::collections::BTreeMap;

use bellwether_proto::ident::NodeId;
use bellwether_proto::tenure::{Command, Ticket};
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{Program, TraceEvent, What};

use super::disturbance::{disturbance, is_settled};
use super::known::Known;
use super::opinions::Opinions;
use super::{Checker, Facts, Verdict, Violation};

pub(super) struct TakenOver {
    calm: Span,
    /// When something other than a command to hand over last befell the group.
    disturbed: Time,
    /// When such a command last did, and when one did before that. What is asked of several at one instant befalls it once.
    asked: [Time; 2],
    /// What was asked of a settled group, and not disturbed by anything else since.
    open: BTreeMap<(NodeId, Ticket), (NodeId, Time)>,
    judged: bool,
    violation: Option<Violation>,
}

impl TakenOver {
    pub(super) fn new(facts: &Facts) -> Self {
        Self {
            calm: facts.stretched(facts.calm()),
            disturbed: Time::ZERO,
            asked: [Time::ZERO; 2],
            open: BTreeMap::new(),
            judged: false,
            violation: None,
        }
    }

    fn asked(&mut self, known: &Known, at: Time, node: NodeId, ticket: Ticket, to: NodeId) {
        if self.asked[0] < at {
            self.asked = [at, self.asked[0]];
            self.open.clear();
        }
        let befell = self.disturbed.max(self.asked[1]);
        if node != to && is_settled(known) && known.is_up(to) && at >= befell + self.calm {
            self.open.insert((node, ticket), (to, at));
        }
    }

    fn answered(&mut self, at: Time, node: NodeId, ticket: Ticket, refused: Option<&'static str>) {
        let Some((to, since)) = self.open.remove(&(node, ticket)) else { return };
        match refused {
            Some("not-taken" | "hand-over") => {
                let what =
                    format!("{node} was asked at {since} to hand over to {to}, which did not take over");
                self.violation.get_or_insert(Violation { at, what });
            }
            Some(_) => return, // Nothing was handed over.
            None => {}
        }
        self.judged = true;
    }
}

impl Checker for TakenOver {
    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        let TraceEvent { at, node, what, .. } = *event;
        match what {
            What::Program(Program::Asked { ticket, command: Command::Transfer { to } }) => {
                self.asked(known, at, node, ticket, to);
            }
            What::Program(Program::Answered { ticket, refused }) => self.answered(at, node, ticket, refused),
            // The leader that hands over is told to end its work.
            What::Program(Program::AskedBack { .. }) if self.open.keys().any(|(asked, _)| *asked == node) => {
            }
            _ if known.passage().is_some() || disturbance(known, event).is_some() => {
                self.open.clear();
                self.disturbed = at;
            }
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
