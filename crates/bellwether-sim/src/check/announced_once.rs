//! ANNOUNCED-ONCE: what befalls a settled group makes one member announce that it leads, once, or none. Nobody else does in
//! between, for a moment or with another epoch, until something befalls the group again.
//!
//! A group is settled when all who are up announce one leader, which is up, and nothing has befallen the group for as
//! long as it takes to find somebody silent and to settle on another. Its start is judged too: all that comes up at one
//! instant is one thing that befalls it. Things of several kinds at one instant are not judged.

use std::collections::BTreeSet;
use std::mem::{Discriminant, discriminant};

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::leadership::Announcement;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{Program, TraceEvent, What};

use super::disturbance::{disturbance, is_settled};
use super::known::{Known, Passage};
use super::{Checker, Facts, Verdict, Violation};

pub(super) struct AnnouncedOnce {
    calm: Span,
    /// Whether the group was settled when all that is known had happened.
    settled: bool,
    /// When something last befell it.
    disturbed: Time,
    /// What befell it, if it was settled then.
    judging: Option<Aftermath>,
    judged: bool,
    violation: Option<Violation>,
}

struct Aftermath {
    /// At whom: what happens to several at one instant is one thing.
    nodes: BTreeSet<NodeId>,
    /// What began it.
    of: String,
    kind: Discriminant<What>,
    /// Who announced itself since.
    announced: Option<(NodeId, u64)>,
}

impl Aftermath {
    /// Whether the node was asked for something, or leadership was asked back from it: that it goes aside is no other thing.
    fn asked(&self, node: NodeId) -> bool {
        self.nodes.contains(&node) && self.kind == discriminant(&What::Program(Program::Left))
    }
}

impl AnnouncedOnce {
    pub(super) fn new(facts: &Facts) -> Self {
        let start = Aftermath {
            nodes: BTreeSet::new(),
            of: "all came up".to_owned(),
            kind: discriminant(&What::Recover),
            announced: None,
        };
        Self {
            calm: facts.stretched(facts.calm()),
            settled: false,
            disturbed: Time::ZERO,
            judging: Some(start),
            judged: false,
            violation: None,
        }
    }

    fn disturb(&mut self, event: &TraceEvent, passage: Option<Passage>, of: String) {
        let (at, node, kind) = (event.at, event.node, kind(event, passage));
        if at == self.disturbed {
            // What is of one kind and happens at one instant befalls the group once; a crash and a return are two things.
            self.judging.take_if(|judging| judging.kind != kind);
            if let Some(judging) = &mut self.judging {
                judging.nodes.insert(node);
            }
            return;
        }
        let was_settled = self.settled && at >= self.disturbed + self.calm;
        self.judging = was_settled.then_some(Aftermath { nodes: [node].into(), of, kind, announced: None });
        self.disturbed = at;
    }

    fn announce(&mut self, at: Time, node: NodeId, epoch: u64) {
        let Some(Aftermath { of, announced, .. }) = &mut self.judging else { return };
        self.judged = true;
        if let Some((first, before)) = announced.replace((node, epoch)) {
            let since = at.since(self.disturbed);
            let what = format!(
                "{}, {since} after {of}: one announcement was due",
                again((node, epoch), (first, before))
            );
            self.violation.get_or_insert(Violation { at, what });
        }
    }
}

/// To go aside is like a crash, and to stand again like a return.
fn kind(event: &TraceEvent, passage: Option<Passage>) -> Discriminant<What> {
    match (passage, event.what) {
        (Some(Passage::Gone), _) => discriminant(&What::Crash),
        (Some(Passage::Back), _) | (None, What::Node(Event::Reborn(_))) => discriminant(&What::Recover),
        (None, what) => discriminant(&what),
    }
}

impl Checker for AnnouncedOnce {
    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        let TraceEvent { at, node, what, .. } = *event;
        if let Some(of) = disturbance(known, event) {
            self.disturb(event, known.passage(), of);
        } else if known.passage().is_some() && !self.judging.as_ref().is_some_and(|since| since.asked(node)) {
            self.disturb(event, known.passage(), format!("{node} went aside"));
        } else if let What::Node(Event::Announced(Announcement { leader, epoch, .. })) = what {
            if leader == Some(node) {
                self.announce(at, node, epoch);
            }
        } else {
            return;
        }
        self.settled = is_settled(known);
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(self: Box<Self>, _known: &Known, _end: Time) -> Verdict {
        Verdict::new(self.judged, self.violation)
    }
}

/// A node announces itself, after one did.
pub(crate) fn again((node, epoch): (NodeId, u64), (first, before): (NodeId, u64)) -> String {
    format!("{node} announces that it leads with epoch {epoch}, after {first} did with {before}")
}
