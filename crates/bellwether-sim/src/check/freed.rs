//! FREED: what was released can be granted at once. Nobody waits for the lease of a holder that gave its leadership back.
//!
//! c_F = 4τ + 20δ + 6 writes: the release may have to be said again, a coordinator may have to be found first, and the grant takes a
//! round. A lease is longer than that in every configuration that an agent takes.

use std::collections::BTreeSet;

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::tenure::Command;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{Program, TraceEvent, What};

use super::disturbance::disturbance;
use super::known::Known;
use super::led::gives_back;
use super::opinions::Opinions;
use super::{Checker, Facts, Verdict, Violation};

pub(super) struct Freed {
    bound: Span,
    nodes: usize,
    voters: Vec<NodeId>,
    witnesses: Vec<NodeId>,
    /// Who was asked to resign or to leave.
    asked: BTreeSet<NodeId>,
    /// Who gave leadership back, and when, while nobody has followed.
    freed: Option<(NodeId, Time)>,
    judged: bool,
    violation: Option<Violation>,
}

impl Freed {
    pub(super) fn new(facts: &Facts) -> Self {
        let bound = facts.timing.tau * 4 + facts.timing.delta * 20 + facts.write * 6;
        Self {
            bound: facts.stretched(bound),
            nodes: facts.nodes,
            voters: facts.voters.clone(),
            witnesses: facts.witnesses.clone(),
            asked: BTreeSet::new(),
            freed: None,
            judged: false,
            violation: None,
        }
    }

    /// Whether somebody else would lead, and enough run to let it.
    fn has_successor(&self, known: &Known, giver: NodeId) -> bool {
        let runs = |node: NodeId| known.is_up(node) && known.runs(node);
        let stands = |node: NodeId| {
            node != giver && runs(node) && !self.witnesses.contains(&node) && !self.asked.contains(&node)
        };
        let voters = self.voters.iter().filter(|voter| runs(**voter)).count();
        voters > self.voters.len() / 2 && (1..=self.nodes as u32).any(|id| stands(NodeId(id)))
    }
}

impl Checker for Freed {
    fn pass(&mut self, _known: &Known, until: Time) {
        if let Some((giver, since)) = self.freed
            && since + self.bound < until
        {
            let bound = self.bound;
            let what =
                format!("{giver} gave leadership back at {since}, and nobody has followed within {bound}");
            self.violation.get_or_insert(Violation { at: since + bound, what });
        }
    }

    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        let TraceEvent { at, node, what, .. } = *event;
        if let What::Program(Program::Asked { command: Command::Resign { .. } | Command::Leave, .. }) = what {
            self.asked.insert(node);
        }
        match what {
            What::Node(Event::Announced(announced)) if announced.leader == Some(node) => {
                self.judged |= self.freed.take().is_some();
            }
            _ if gives_back(event) => {
                self.freed = self.has_successor(known, node).then_some((node, at));
            }
            _ if disturbance(known, event).is_some() => self.freed = None,
            _ => {}
        }
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(mut self: Box<Self>, known: &Known, end: Time) -> Verdict {
        self.pass(known, end);
        Verdict::new(self.judged, self.violation)
    }
}
