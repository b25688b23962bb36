//! LINK-HISTORY (Franceschetti and Bruck, section 2): "Every time processor 1 is unable to communicate with processor 2 …
//! then processor 2 will eventually be unable to communicate with processor 1", and the same of being able.
//!
//! Both ends see the same transitions: each counts them one by one, so that one history is always the beginning of the
//! other, and neither end is more than two ahead. In a stable network, in bounded time, they have seen the same;
//! those who can speak with each other are then linked, and nobody else is; nor is who stands aside. A history is one of two
//! incarnations.

use std::collections::BTreeMap;

use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::io::{Event, Turn};
use bellwether_proto::link::consistent::{Pace, SKEW};
use bellwether_proto::time::Time;
use bellwether_proto::trace::{TraceEvent, What};

use super::elected::Judgement;
use super::known::Known;
use super::opinions::Opinions;
use super::within::Within;
use super::{Checker, Facts, Verdict, Violation};

type NodeIncarnation = (NodeId, Incarnation);

pub(super) struct LinkHistory {
    /// What an end has seen of its link to another: in which incarnation, with which.
    seen: BTreeMap<(NodeIncarnation, NodeIncarnation), u64>,
    latest: Latest,
    within: Within,
    judged: bool,
    violation: Option<Violation>,
}

/// What each end of those that are up saw last: node and peer, their incarnations, how many transitions.
type Latest = BTreeMap<(NodeId, NodeId), (Incarnation, Incarnation, u64)>;

impl LinkHistory {
    pub(super) fn new(facts: &Facts) -> Self {
        // An incarnation is linked with nobody until it is on disk, and before that there may be a write under way.
        let bound = facts.stretched(Pace::of(facts.timing).settles()) + facts.write * 2;
        Self {
            seen: BTreeMap::new(),
            latest: BTreeMap::new(),
            within: Within::new("the network became stable", bound),
            judged: false,
            violation: None,
        }
    }

    fn turned(&mut self, event: &TraceEvent, turn: Turn) {
        self.judged = true;
        let Turn { peer, incarnation, seen } = turn;
        let (here, there) = ((event.node, event.incarnation), (peer, incarnation));
        let before = self.seen.insert((here, there), seen).unwrap_or(0);
        let theirs = self.seen.get(&(there, here)).copied().unwrap_or(0);
        self.latest.insert((event.node, peer), (event.incarnation, incarnation, seen));
        let node = event.node;
        let what = if seen != before + 1 {
            format!("{node} counts {seen} transitions of its link to {peer} after {before}")
        } else if seen > theirs + SKEW {
            format!("{node} has seen {seen} transitions of its link to {peer}, which has seen {theirs}")
        } else {
            return;
        };
        self.violation.get_or_insert(Violation { at: event.at, what });
    }
}

/// Whether those who can speak with each other have seen the same and are up, and nobody else is.
fn judgement(latest: &Latest, known: &Known) -> Judgement {
    let up: Vec<_> = known.up().map(|(id, _)| id).collect();
    let is_up = |node, peer| latest.get(&(node, peer)).is_some_and(|(.., seen)| seen % 2 == 1);
    for a in &up {
        let strangers = latest.range((*a, NodeId(0))..=(*a, NodeId(u32::MAX)));
        let mut strangers = strangers.map(|((_, peer), _)| *peer);
        if let Some(b) = strangers.find(|b| is_up(*a, *b) && !(up.contains(b) && known.connected(*a, *b))) {
            return Judgement::Fails(format!("{a} is linked with {b}, which it cannot speak with"));
        }
        for b in up.iter().filter(|b| a < b && known.connected(*a, **b)) {
            let same = match (latest.get(&(*a, *b)), latest.get(&(*b, *a))) {
                (Some((mine, theirs, seen)), Some((their, my, they))) => {
                    (mine, theirs, seen) == (my, their, they) && seen % 2 == 1
                }
                _ => false,
            };
            if !same {
                return Judgement::Fails(format!("{a} and {b} can speak with each other and are not linked"));
            }
        }
    }
    Judgement::Holds
}

impl Checker for LinkHistory {
    fn pass(&mut self, known: &Known, until: Time) {
        let Self { within, latest, .. } = self;
        within.pass(known, until, |known| judgement(latest, known));
    }

    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        match event.what {
            What::Node(Event::Link(turn)) => self.turned(event, turn),
            _ if known.passage().is_some() => self.latest.retain(|(node, _), _| *node != event.node),
            _ => {}
        }
        self.within.while_stable(known, event);
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(self: Box<Self>, known: &Known, end: Time) -> Verdict {
        let Self { within, latest, violation, judged, .. } = *self;
        within.finish_after(known, end, (judged, violation), |known| judgement(&latest, known))
    }
}
