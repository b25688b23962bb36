//! What a trace has told so far: who is up, paused, playing dead; what each node shows; which links are cut.

use std::collections::BTreeSet;
use std::mem;

use bellwether_proto::group::{GroupEvent, TaskDigest};
use bellwether_proto::ident::{GroupId, NodeId};
use bellwether_proto::io::Event;
use bellwether_proto::members::Members;
use bellwether_proto::opinion::{Opinion, Status};
use bellwether_proto::roster::Priority;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{TraceEvent, What};

use super::Facts;
use super::opinions::Opinions;

pub(super) struct Known {
    priority: Priority,
    now: Time,
    nodes: Vec<Node>,
    /// From, to.
    cuts: BTreeSet<(NodeId, NodeId)>,
    /// Pairs that are cut in one direction only.
    cut_one_way: usize,
    paused: usize,
    stable_since: Option<Time>,
    passage: Option<Passage>,
    version: u64,
}

/// Who is there changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passage {
    /// The node crashed, or stands aside.
    Gone,
    /// It came up, or stands again.
    Back,
}

impl Known {
    /// Before the first event: everybody is down, everybody is connected.
    pub(super) fn new(facts: &Facts) -> Self {
        Self {
            priority: facts.priority,
            now: Time::ZERO,
            nodes: vec![Node::default(); facts.nodes],
            cuts: BTreeSet::new(),
            cut_one_way: 0,
            paused: 0,
            stable_since: Some(Time::ZERO),
            passage: None,
            version: 0,
        }
    }

    /// When the last event that mattered happened.
    pub(super) fn now(&self) -> Time {
        self.now
    }

    /// Counts the changes to what the predicates speak of: who is up, what is shown, what is cut.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Since when the system is stable (Stoller, section 5): since then nobody failed or came back, every pair was
    /// connected or disconnected, and not partially connected: no message between connected nodes was lost or late.
    /// `None` while it is not: a node is paused or a link is cut one way.
    pub(super) fn stable_since(&self) -> Option<Time> {
        self.stable_since
    }

    /// Whether the node of the last event went or came with it. To the others it is the same whether somebody crashes or
    /// stands aside.
    pub(super) fn passage(&self) -> Option<Passage> {
        self.passage
    }

    pub(super) fn is_paused(&self, id: NodeId) -> bool {
        self.node(id).is_some_and(|node| node.paused.is_so())
    }

    /// Whether the node runs, but says that it is not there: it stands aside, and the others do as if it were gone.
    pub(super) fn is_aside(&self, id: NodeId) -> bool {
        self.node(id).is_some_and(|node| node.aside)
    }

    /// Whether the node stood aside at any time from `from` on.
    pub(super) fn aside_since(&self, id: NodeId, from: Time) -> bool {
        self.node(id).is_some_and(|node| node.stood_aside.was_so_since(from))
    }

    /// Whether the node was paused at any time from `from` on.
    pub(super) fn paused_since(&self, id: NodeId, from: Time) -> bool {
        self.node(id).is_some_and(|node| node.paused.was_so_since(from))
    }

    /// Whether the node played dead to `to` at any time from `from` on.
    pub(super) fn played_dead_since(&self, id: NodeId, to: NodeId, from: Time) -> bool {
        self.priority.stronger(id, to)
            && self.node(id).is_some_and(|node| node.playing_dead.was_so_since(from))
    }

    /// Whether that many others are up and running and can speak with the node.
    pub(super) fn has_company(&self, id: NodeId, wanted: usize) -> bool {
        let others = self.up().map(|(other, _)| other).filter(|other| *other != id);
        others.filter(|other| !self.is_paused(*other) && self.connected(id, *other)).take(wanted).count()
            == wanted
    }

    /// Takes in the next event.
    pub(super) fn apply(&mut self, event: &TraceEvent) {
        debug_assert!(event.at >= self.now, "a trace is in order of time");
        self.now = event.at;
        self.passage = None;
        let stays_stable = match event.what {
            What::Crash => self.crash(event.node),
            What::Recover => self.recover(event.node),
            What::Pause => self.set_paused(event.node, true),
            What::Resume => self.set_paused(event.node, false),
            What::Cut(to) => self.cut(event.node, to),
            What::Mend(to) => self.mend(event.node, to),
            What::Node(reported) => self.report(event.node, reported),
            // Only the late and the lost are of interest here.
            What::Slow(_)
            | What::Unlinked(_)
            | What::Late(_)
            | What::HeldUp(_)
            | What::Recv(..)
            | What::Drop(..) => Stays::Disturbed,
            What::Send(_) | What::Deadline | What::Persist(_) | What::Program(_) => Stays::Undisturbed,
        };
        if stays_stable == Stays::Disturbed {
            self.stable_since = (self.paused == 0 && self.cut_one_way == 0).then_some(self.now);
        }
    }

    fn crash(&mut self, id: NodeId) -> Stays {
        self.set_paused(id, false);
        let now = self.now;
        let node = self.node_mut(id);
        node.up = false;
        node.opinion = Opinion::DOWN;
        (node.announced, node.task, node.aside) = (None, None, false);
        node.stood_aside.set(false, now);
        (node.installed, node.remembers) = (None, false);
        node.playing_dead.set(false, now);
        self.passage = Some(Passage::Gone);
        self.version += 1;
        Stays::Disturbed
    }

    fn recover(&mut self, id: NodeId) -> Stays {
        self.node_mut(id).up = true;
        self.passage = Some(Passage::Back);
        self.version += 1;
        Stays::Disturbed
    }

    fn set_paused(&mut self, id: NodeId, paused: bool) -> Stays {
        let now = self.now;
        let node = self.node_mut(id);
        let was = node.paused.is_so();
        node.paused.set(paused, now);
        self.paused = self.paused + usize::from(paused) - usize::from(was);
        Stays::Disturbed
    }

    fn cut(&mut self, from: NodeId, to: NodeId) -> Stays {
        if self.cuts.insert((from, to)) {
            if self.cuts.contains(&(to, from)) {
                self.cut_one_way -= 1;
            } else {
                self.cut_one_way += 1;
            }
        }
        self.version += 1;
        Stays::Disturbed
    }

    fn mend(&mut self, from: NodeId, to: NodeId) -> Stays {
        if self.cuts.remove(&(from, to)) {
            if self.cuts.contains(&(to, from)) {
                self.cut_one_way += 1;
            } else {
                self.cut_one_way -= 1;
            }
        }
        self.version += 1;
        Stays::Disturbed
    }

    fn report(&mut self, id: NodeId, reported: Event) -> Stays {
        let now = self.now;
        match reported {
            Event::Opinion(opinion) => {
                let aside = opinion.status == Status::Down;
                let node = self.node_mut(id);
                node.opinion = opinion;
                node.stood_aside.set(aside, now);
                let was_aside = mem::replace(&mut node.aside, aside);
                self.version += 1;
                if was_aside != aside {
                    self.passage = Some(if aside { Passage::Gone } else { Passage::Back });
                    return Stays::Disturbed;
                }
            }
            Event::PlayDead => self.node_mut(id).playing_dead.set(true, now),
            Event::PlayAlive => self.node_mut(id).playing_dead.set(false, now),
            Event::Group(GroupEvent::Installed(task)) => self.node_mut(id).task = Some(task),
            Event::Announced(announced) => {
                self.node_mut(id).announced = announced.leader;
                self.version += 1;
            }
            Event::ViewInstalled(members) => {
                let node = self.node_mut(id);
                // That a view is installed is told after it is shown.
                node.installed = node.opinion.group.map(|group| (group, members));
                self.version += 1;
            }
            Event::Pending(pending) => {
                self.node_mut(id).remembers = pending;
                self.version += 1;
            }
            // Histories of links are part of what can be judged.
            Event::Link(_) => self.version += 1,
            Event::GivenUp
            | Event::Granted { .. }
            | Event::Group(_)
            | Event::Reborn(_)
            | Event::Watch(_)
            | Event::Unwatch(_)
            | Event::UnwatchAll
            | Event::Down(_)
            | Event::Refused { .. } => {}
        }
        Stays::Undisturbed
    }

    /// Nodes may name, watch or report anybody, so not every id is known.
    fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get((id.0 as usize).checked_sub(1)?)
    }

    fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[index(id)]
    }
}

impl Opinions for Known {
    fn up(&self) -> impl Iterator<Item = (NodeId, Opinion)> {
        let ids = (1..).map(NodeId);
        let there = |(_, node): &(NodeId, &Node)| node.up && !node.aside;
        ids.zip(&self.nodes).filter(there).map(|(id, node)| (id, node.opinion))
    }

    fn is_up(&self, id: NodeId) -> bool {
        self.node(id).is_some_and(|node| node.up && !node.aside)
    }

    fn opinion(&self, id: NodeId) -> Opinion {
        self.node(id).map_or(Opinion::DOWN, |node| node.opinion)
    }

    fn task(&self, id: NodeId) -> Option<TaskDigest> {
        self.node(id).and_then(|node| node.task)
    }

    fn installed(&self, id: NodeId) -> Option<(GroupId, Members)> {
        self.node(id).and_then(|node| node.installed)
    }

    fn remembers(&self, id: NodeId) -> bool {
        self.node(id).is_some_and(|node| node.remembers)
    }

    fn announced(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).and_then(|node| node.announced)
    }

    fn runs(&self, id: NodeId) -> bool {
        self.is_up(id) && !self.is_paused(id)
    }

    fn connected(&self, a: NodeId, b: NodeId) -> bool {
        !self.cuts.contains(&(a, b)) && !self.cuts.contains(&(b, a))
    }
}

/// Where a table with an entry for each node has this node's.
///
/// # Panics
/// For 0, which is nobody's id.
pub(super) fn index(id: NodeId) -> usize {
    (id.0 as usize).checked_sub(1).expect("ids begin at 1")
}

#[derive(Clone, Default)]
struct Node {
    up: bool,
    opinion: Opinion,
    announced: Option<NodeId>,
    /// The task description that was last in place, in this incarnation.
    task: Option<TaskDigest>,
    /// The view that it installed last, in this incarnation, and who is in it.
    installed: Option<(GroupId, Members)>,
    /// Whether it remembers anything that was said about a change of views.
    remembers: bool,
    /// Whether it has shown, since it came up, that it is not there.
    aside: bool,
    /// When it did so last.
    stood_aside: Spell,
    paused: Spell,
    playing_dead: Spell,
}

/// Something that is so at times.
#[derive(Clone, Copy, Default)]
enum Spell {
    #[default]
    Never,
    Now,
    Ended(Time),
}

impl Spell {
    fn is_so(self) -> bool {
        matches!(self, Self::Now)
    }

    fn was_so_since(self, from: Time) -> bool {
        match self {
            Self::Never => false,
            Self::Now => true,
            Self::Ended(at) => at >= from,
        }
    }

    fn set(&mut self, so: bool, at: Time) {
        match (*self, so) {
            (_, true) => *self = Self::Now,
            (Self::Now, false) => *self = Self::Ended(at),
            (Self::Never | Self::Ended(_), false) => {}
        }
    }
}

/// Whether an event leaves a stable system stable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stays {
    Undisturbed,
    Disturbed,
}
