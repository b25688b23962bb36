//! EPOCH-GROWS: whoever announces that it leads does so with an epoch above all that anybody had announced who was there
//! to be asked: up for as long as a claim takes to be settled, and a message there and back.
//!
//! So within a group that stays connected epochs grow, from leader to leader, for as long as somebody is up who remembers
//! the last one. Where everybody who has heard of an epoch is down, those who are left cannot know of it.

use std::collections::BTreeMap;

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::leadership::Announcement;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{TraceEvent, What};

use super::known::Known;
use super::seen::{Leadership, Seen};
use super::{Checker, Facts, Verdict, Violation};

pub(super) struct EpochGrows {
    /// How long a node must have been up to have been asked.
    notice: Span,
    seen: Seen,
    /// Who is up, and since when.
    up: BTreeMap<NodeId, Time>,
    judged: bool,
    violation: Option<Violation>,
}

impl EpochGrows {
    pub(super) fn new(facts: &Facts) -> Self {
        let notice = notice(facts);
        Self { notice, seen: Seen::default(), up: BTreeMap::new(), judged: false, violation: None }
    }

    /// The node announces that it leads.
    fn judge(&mut self, at: Time, node: NodeId, epoch: u64) {
        let asked = self.up.iter().filter(|(other, since)| **other != node && **since + self.notice <= at);
        let mut asked = asked.map(|(other, _)| *other).peekable();
        self.judged |= asked.peek().is_some();
        if let Some(what) = asked.find_map(|other| used(node, epoch, other, self.seen.by(other))) {
            self.violation.get_or_insert(Violation { at, what });
        }
    }
}

impl Checker for EpochGrows {
    fn observe(&mut self, _known: &Known, event: &TraceEvent) {
        let TraceEvent { at, node, what, .. } = *event;
        match what {
            What::Node(Event::Announced(Announcement { leader: Some(leader), epoch, .. })) => {
                if leader == node {
                    self.judge(at, node, epoch);
                }
                self.seen.announce(at, node, (epoch, leader));
            }
            What::Crash => {
                self.up.remove(&node);
                self.seen.crash(at, node);
            }
            What::Recover => drop(self.up.insert(node, at)),
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

/// How long a node must have been up to have been asked.
pub(crate) fn notice(facts: &Facts) -> Span {
    facts.stretched(facts.leading.settle + facts.timing.delta * 2)
}

/// What is wrong if a node announces that it leads with that epoch, and another that could be asked announced `seen` last.
pub(crate) fn used(node: NodeId, epoch: u64, other: NodeId, seen: Option<Leadership>) -> Option<String> {
    // Clocks of several machines differ: a follower may seem to have announced it first.
    let is_used = |(seen, of): &Leadership| *seen > epoch || *seen == epoch && *of != node;
    let (seen, of) = seen.filter(is_used)?;
    Some(format!("{node} announces that it leads with epoch {epoch}, and {other} had seen {seen} of {of}"))
}
