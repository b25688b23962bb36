//! FAKE-CLEAN (Franceschetti and Bruck, theorem 3.3): of failures that are perceived "only by some nodes", and pass, "there is no
//! node for which the convergence condition holds, and the state of the network in terms of messages sent and received by
//! the nodes is eventually the same of the initial one".
//!
//! So nobody leaves a view unless each of those who go on to the next has seen its link to it down since it came into the old one.
//! (Who is dead does not go on: it has left the view, and is admitted to another. And who comes into a view only when that is on its disk
//! has seen what happened in the meantime.)
//! And in a stable network, in bounded time, if all who are up can speak with each other and are in one view of just them,
//! nobody remembers anything that was said about a change.

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::ident::{GroupId, NodeId};
use bellwether_proto::io::{Event, Turn};
use bellwether_proto::link::consistent::Pace;
use bellwether_proto::members::Members;
use bellwether_proto::opinion::Status;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{TraceEvent, What};

use super::elected::Judgement;
use super::known::{Known, Passage};
use super::opinions::Opinions;
use super::within::Within;
use super::{Checker, Facts, Verdict, Violation};

pub(super) struct FakeClean {
    nodes: BTreeMap<NodeId, Node>,
    within: Within,
    /// How long a node may take to install a view, because it has to be on its disk first.
    write: Span,
    judged: bool,
    violation: Option<Violation>,
}

/// What is known of a node in its present incarnation.
#[derive(Default)]
struct Node {
    view: Option<(GroupId, Members)>,
    linked: BTreeSet<NodeId>,
    /// Whose link it has seen down since it installed that view, and when it did last.
    missed: BTreeMap<NodeId, Time>,
}

impl FakeClean {
    pub(super) fn new(facts: &Facts) -> Self {
        // Links settle; who was left behind notices, and is admitted.
        let bound = facts.stretched(Pace::of(facts.timing).settles() * 2);
        Self {
            nodes: BTreeMap::new(),
            within: Within::new("the network became stable", bound),
            write: facts.write,
            judged: false,
            violation: None,
        }
    }

    fn turned(&mut self, at: Time, node: NodeId, turn: Turn) {
        let node = self.nodes.entry(node).or_default();
        // One that comes up was down until then, even if it had never been up.
        node.missed.insert(turn.peer, at);
        if turn.is_up() {
            node.linked.insert(turn.peer);
        } else {
            node.linked.remove(&turn.peer);
        }
    }

    /// The leader of a new view is the first to install it.
    fn installs(&mut self, known: &Known, id: NodeId, members: Members) -> Option<String> {
        self.judged = true;
        let group = known.opinion(id).group?;
        let old = self.nodes.get(&id).and_then(|node| node.view);
        let wrong = match old {
            Some((parent, before)) if group.0.node == id => self.left_unseen(known, parent, before, members),
            _ => None,
        };
        let node = self.nodes.entry(id).or_default();
        node.view = Some((group, members));
        node.missed.retain(|_, seen| *seen + self.write > known.now());
        wrong.map(|(who, witness)| {
            format!("{id} forms view {group} without {who}, whose link to {witness} has been up all the time")
        })
    }

    /// One who is left out, and one who stays and has not seen it go.
    fn left_unseen(
        &self,
        known: &Known,
        parent: GroupId,
        before: Members,
        members: Members,
    ) -> Option<(NodeId, NodeId)> {
        let ids = |members: Members| members.ranks().map(|rank| NodeId(rank as u32 + 1));
        let gone = ids(before).filter(|id| !ids(members).any(|stays| stays == *id));
        let mut pairs = gone.flat_map(|gone| ids(members).map(move |stays| (gone, stays)));
        pairs.find(|(gone, stays)| {
            self.nodes.get(stays).is_some_and(|node| {
                let same = node.view.is_some_and(|(view, _)| view == parent);
                let alive = known.opinion(*stays).status != Status::Dead;
                same && alive && node.linked.contains(gone) && !node.missed.contains_key(gone)
            })
        })
    }
}

/// If all who are up can speak with each other and are in one view of just them, nobody remembers anything.
pub(super) fn judgement(opinions: &impl Opinions) -> Judgement {
    let up: Vec<_> = opinions.up().collect();
    let Some((_, first)) = up.first() else { return Judgement::Open };
    let whole =
        up.iter().all(|(_, opinion)| opinion.status == Status::Normal && opinion.group == first.group);
    let members = Members::of(up.iter().map(|(id, _)| id.0 as usize - 1));
    let just_them = |id| opinions.installed(id).is_some_and(|(_, all)| all == members);
    let linked = |a: NodeId| up.iter().all(|(b, _)| a == *b || opinions.connected(a, *b));
    if !whole || !up.iter().all(|(id, _)| just_them(*id) && linked(*id)) {
        return Judgement::Open;
    }
    match up.iter().find(|(id, _)| opinions.remembers(*id)) {
        Some((id, _)) => {
            Judgement::Fails(format!("{id} remembers what was said about a change that is over"))
        }
        None => Judgement::Holds,
    }
}

impl Checker for FakeClean {
    fn pass(&mut self, known: &Known, until: Time) {
        self.within.pass(known, until, judgement);
    }

    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        match event.what {
            What::Node(Event::Link(turn)) => self.turned(event.at, event.node, turn),
            What::Node(Event::ViewInstalled(members)) => {
                if let Some(what) = self.installs(known, event.node, members) {
                    self.violation.get_or_insert(Violation { at: event.at, what });
                }
            }
            _ if known.passage() == Some(Passage::Gone) => drop(self.nodes.remove(&event.node)),
            _ => {}
        }
        self.within.while_stable(known, event);
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(self: Box<Self>, known: &Known, end: Time) -> Verdict {
        let Self { within, violation, judged, .. } = *self;
        within.finish_after(known, end, (judged, violation), judgement)
    }
}
