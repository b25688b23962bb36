//! TAKEN-OVER: leadership that is handed to a node of a settled group is taken over, unless something else befalls the group
//! first. Where a third node has a higher priority than the named one, leadership goes on to that.

use std::collections::BTreeMap;

use bellwether_proto::ident::NodeId;
use bellwether_proto::tenure::{Command, Ticket};
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{Program, TraceEvent, What};

use super::disturbance::{disturbance, is_settled};
use super::known::Known;
use super::opinions::Opinions;
use super::{Checker, Facts, Preference, Verdict, Violation};

pub(super) struct TakenOver {
    calm: Span,
    preference: Preference,
    /// When something last befell the group.
    disturbed: Time,
    /// What was asked of a settled group, and not disturbed by anything else since.
    open: BTreeMap<(NodeId, Ticket), (NodeId, Time)>,
    judged: bool,
    violation: Option<Violation>,
}

impl TakenOver {
    pub(super) fn new(facts: &Facts) -> Self {
        Self {
            calm: facts.stretched(facts.calm()),
            preference: facts.preference.clone(),
            disturbed: Time::ZERO,
            open: BTreeMap::new(),
            judged: false,
            violation: None,
        }
    }

    fn asked(&mut self, known: &Known, at: Time, node: NodeId, ticket: Ticket, to: NodeId) {
        let is_preferred = known.up().all(|(other, _)| self.preference.of(other) <= self.preference.of(to));
        if is_settled(known) && known.is_up(to) && at >= self.disturbed + self.calm && is_preferred {
            self.open.insert((node, ticket), (to, at));
        }
    }

    fn answered(&mut self, at: Time, node: NodeId, ticket: Ticket, refused: Option<&'static str>) {
        let Some((to, since)) = self.open.remove(&(node, ticket)) else { return };
        match refused {
            Some("not-taken") => {
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
                // What is asked of several at one instant befalls the group once.
                let disturbed = std::mem::replace(&mut self.disturbed, at);
                if disturbed < at {
                    self.open.clear();
                    self.disturbed = disturbed;
                }
                self.asked(known, at, node, ticket, to);
                self.disturbed = at;
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
