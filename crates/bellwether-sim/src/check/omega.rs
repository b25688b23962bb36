//! OMEGA (Raynal, section 1): leader() "after some finite time, always returns the same pid, that pid being the
//! identity of a non-failed process".
//!
//! A node that is up but not normal has no answer yet, which ends agreement as another answer would; the crash of a
//! follower does not. Nobody knows when a run will end, so what is kept is since when there has been agreement, and
//! what ended the one before.

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::opinion::Opinion;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{TraceEvent, What};

use super::elected::Judgement;
use super::known::Known;
use super::last_quarter::last_quarter;
use super::names::{Dispute, Name, Names, follows};
use super::opinions::Opinions;
use super::{Checker, Facts, Verdict, Violation};

/// Judges whom the elections name.
pub(super) fn new(facts: &Facts) -> Omega {
    Omega::on(facts, |known, node| answer(&known.opinion(node)))
}

pub(super) struct Omega {
    /// What a node that is up answers.
    answer: fn(&Known, NodeId) -> Name,
    /// What the nodes that are up say.
    names: Names<()>,
    /// As of the last instant that is over.
    agreed: Option<Agreed>,
    /// What ended it at the present instant, unless agreement is back before that is over.
    doubt: Option<Break>,
    /// What ended the agreement before this one, or the last one if there is none.
    last_break: Option<Break>,
}

/// All nodes that are up name this leader, who is up.
struct Agreed {
    on: NodeId,
    since: Time,
}

/// What ended an agreement. The first to speak differently is one who did; a crash that did it is the leader's.
struct Break {
    at: Time,
    was_on: NodeId,
    node: NodeId,
    /// What the node says now; nothing if it crashed.
    says: Option<Name>,
}

impl Omega {
    /// A checker of agreement on what the nodes answer.
    pub(super) fn on(facts: &Facts, answer: fn(&Known, NodeId) -> Name) -> Self {
        Self { answer, names: Names::new(facts.nodes), agreed: None, doubt: None, last_break: None }
    }

    /// The instant is over: what it left is what counts. Only a crash of the leader is not made good by then.
    fn settle(&mut self, known: &Known) {
        let doubt = self.doubt.take();
        let leader = self.leader(known);
        let crashed = doubt.as_ref().is_some_and(|doubt| doubt.says.is_none());
        if leader != self.agreed_on() || crashed {
            self.agreed = leader.map(|on| Agreed { on, since: known.now() });
            self.last_break = doubt.or(self.last_break.take());
        }
    }

    fn agreed_on(&self) -> Option<NodeId> {
        self.agreed.as_ref().map(|agreed| agreed.on)
    }

    /// Whom all name now, if that node is up.
    fn leader(&self, known: &Known) -> Option<NodeId> {
        let ((), name) = self.names.unanimous()?;
        name.filter(|leader| known.is_up(*leader))
    }

    fn violation(&self, someone: NodeId, end: Time) -> Violation {
        let at = self.last_break.as_ref().map_or(Time::ZERO, |last| last.at);
        let before =
            self.last_break.as_ref().map_or_else(|| "there is no agreement yet".to_owned(), in_words);
        let from = last_quarter(end).since(Time::ZERO);
        let after = match &self.agreed {
            Some(Agreed { on, since }) => {
                format!("agreement on {on} begins {} before the end", end.since(*since))
            }
            None => format!("at the end {}", self.discord(someone)),
        };
        Violation { at, what: format!("{before}; {after}; agreement must last from {from} on") }
    }

    /// Why there is no agreement, given somebody who is up.
    fn discord(&self, someone: NodeId) -> String {
        match (self.names.dispute_with(someone), self.names.unanimous()) {
            (Some(Dispute { sides: [(i, ldr_i), (j, ldr_j)] }), _) => {
                format!("{i} {} and {j} {}", follows(ldr_i), follows(ldr_j))
            }
            (None, Some(((), Some(leader)))) => format!("all follow {leader}, which is down"),
            (None, Some(((), None)) | None) => "nobody names a leader".to_owned(),
        }
    }
}

impl Checker for Omega {
    fn pass(&mut self, known: &Known, _until: Time) {
        self.settle(known);
    }

    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        match event.what {
            What::Node(Event::Opinion(_) | Event::Announced(_)) | What::Crash | What::Recover => {}
            _ => return,
        }
        let TraceEvent { at, node, .. } = *event;
        let says = known.is_up(node).then(|| (self.answer)(known, node));
        self.names.set(node, says.map(|name| ((), name)));
        if let Some(was_on) = self.agreed_on()
            && self.leader(known) != Some(was_on)
        {
            let doubt = Break { at, was_on, node, says };
            match says {
                None => self.doubt = Some(doubt), // Whatever was doubtful before: that cannot be made good.
                Some(_) => drop(self.doubt.get_or_insert(doubt)),
            }
        }
    }

    fn finish(mut self: Box<Self>, known: &Known, end: Time) -> Verdict {
        self.settle(known);
        let Some((someone, _)) = known.up().next() else { return Verdict::Vacuous };
        match &self.agreed {
            Some(Agreed { since, .. }) if *since <= last_quarter(end) => Verdict::Holds,
            Some(_) | None => Verdict::Violated(self.violation(someone, end)),
        }
    }
}

fn in_words(broken: &Break) -> String {
    let Break { was_on, node, says, .. } = broken;
    match says {
        Some(name) => format!("{node} {}, where the others follow {was_on}", follows(*name)),
        None => format!("{node}, whom all follow, crashes"),
    }
}

/// Whether in this one state all nodes that are up name one leader, which is up.
pub(super) fn judgement(opinions: &impl Opinions) -> Judgement {
    agreement(opinions, |node| answer(&opinions.opinion(node)))
}

/// The same of what the nodes answer.
pub(super) fn agreement(opinions: &impl Opinions, answer: impl Fn(NodeId) -> Name) -> Judgement {
    let mut up = opinions.up().map(|(node, _)| node);
    let Some(first) = up.next() else { return Judgement::Open };
    let name = answer(first);
    if let Some(other) = up.find(|other| answer(*other) != name) {
        return Judgement::Fails(format!("{first} {} and {other} {}", follows(name), follows(answer(other))));
    }
    match name {
        Some(leader) if opinions.is_up(leader) => Judgement::Holds,
        Some(leader) => Judgement::Fails(format!("all follow {leader}, which is down")),
        None => Judgement::Fails("nobody names a leader".to_owned()),
    }
}

/// What leader() returns at a node that shows this.
fn answer(opinion: &Opinion) -> Name {
    opinion.normal_leader()
}
