//! PREFERRED: of the nodes that could lead, one with the highest priority is chosen, unless a program chose. A leader that is to
//! make way for a node with a higher priority does.
//!
//! A node counts as one that could lead when it has been there for as long as a group takes to settle. A leader that goes on
//! with another epoch was not chosen. To make way takes c_L, the delay, a poll of the others, and the release of leadership; a
//! node that did not take over once is not tried again for a while.

use std::collections::BTreeMap;

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::tenure::{Command, Ticket};
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{Program, TraceEvent, What};

use super::disturbance::{disturbance, is_settled};
use super::elected::Judgement;
use super::known::{Known, Passage};
use super::led::c_l;
use super::opinions::Opinions;
use super::within::Within;
use super::{Checker, Facts, Preference, Verdict, Violation};

pub(super) struct Preferred {
    calm: Span,
    bound: Span,
    preference: Preference,
    /// By node: since when it is there.
    there: BTreeMap<NodeId, Time>,
    /// Who announced itself last.
    last: Option<NodeId>,
    /// Whom programs chose since then, by what they asked.
    chosen: BTreeMap<(NodeId, Ticket), NodeId>,
    makes_way: Within,
    judged: bool,
    violation: Option<Violation>,
}

impl Preferred {
    pub(super) fn new(facts: &Facts) -> Self {
        let Facts { timing, leading, preference, .. } = facts;
        let delay = preference.preempt.values().max().copied().unwrap_or_default();
        let released = leading.release_timeout + leading.successor_patience;
        let bound = facts.stretched(c_l(facts) + delay + timing.tau * 20 + released + leading.settle * 50);
        Self {
            calm: facts.stretched(facts.calm()),
            bound,
            preference: preference.clone(),
            there: BTreeMap::new(),
            last: None,
            chosen: BTreeMap::new(),
            makes_way: Within::new("something befell the group", bound),
            judged: false,
            violation: None,
        }
    }

    fn announces_itself(&mut self, known: &Known, at: Time, node: NodeId) {
        let chosen = std::mem::take(&mut self.chosen).values().any(|to| *to == node);
        if self.last.replace(node) == Some(node) || chosen {
            return;
        }
        let could = |other: &NodeId| self.there.get(other).is_some_and(|since| *since + self.calm <= at);
        let others: Vec<_> = known.up().map(|(other, _)| other).filter(could).collect();
        let of = |node| self.preference.of(node);
        self.judged |= others.iter().any(|other| of(*other) != of(node));
        if let Some(other) = others.into_iter().find(|other| of(*other) > of(node)) {
            let what = format!(
                "{node} announces that it leads, with priority {}, although {other} with {} could",
                of(node),
                of(other)
            );
            self.violation.get_or_insert(Violation { at, what });
        }
    }
}

/// Whether the leader that all announce need not make way.
fn stays(known: &Known, preference: &Preference) -> Judgement {
    let leader = known.up().next().and_then(|(node, _)| known.announced(node));
    let Some(leader) = leader.filter(|leader| is_settled(known) && preference.preempt.contains_key(leader))
    else {
        return Judgement::Open;
    };
    let of = |node| preference.of(node);
    match known.up().find(|(other, _)| of(*other) > of(leader)) {
        Some((other, _)) => Judgement::Fails(format!(
            "{leader} leads with priority {}, and has not made way for {other} with {}",
            of(leader),
            of(other)
        )),
        None => Judgement::Holds,
    }
}

impl Checker for Preferred {
    fn pass(&mut self, known: &Known, until: Time) {
        let Self { makes_way, preference, .. } = self;
        makes_way.pass(known, until, |known| stays(known, preference));
    }

    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        let TraceEvent { at, node, what, .. } = *event;
        match known.passage() {
            Some(Passage::Back) => drop(self.there.insert(node, at)),
            Some(Passage::Gone) => {
                self.there.remove(&node);
                self.last.take_if(|last| *last == node);
            }
            None => {}
        }
        match what {
            What::Node(Event::Announced(announced)) if announced.leader == Some(node) => {
                self.announces_itself(known, at, node);
            }
            What::Program(Program::Asked { ticket, command: Command::Transfer { to } }) => {
                self.chosen.insert((node, ticket), to);
            }
            // If it was not taken in time, it may be yet.
            What::Program(Program::Answered { ticket, refused: Some(why) }) if why != "not-taken" => {
                self.chosen.remove(&(node, ticket));
            }
            _ => {}
        }
        if known.passage().is_some() || disturbance(known, event).is_some() {
            self.makes_way.restart(Some(at), self.bound);
        }
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(self: Box<Self>, known: &Known, end: Time) -> Verdict {
        let Self { makes_way, preference, judged, violation, .. } = *self;
        makes_way.finish_after(known, end, (judged, violation), |known| stays(known, &preference))
    }
}
