//! What there is to draw: the fate of each message, the course of each node, and causes and effects.
//!
//! A *step* is what a node does at once: a message arrives, or a deadline is reached, and everything up to the next such
//! event at that node follows from it. A message *decides* if its arrival began a step in which something changed; what
//! such a step sends *tells* of it.

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::group::{GroupEvent, OpId};
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::io::{Event, Refusal};
use bellwether_proto::leadership::{self, Announcement};
use bellwether_proto::message::{Kind, Layer};
use bellwether_proto::opinion::Opinion;
use bellwether_proto::tenure::Command;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{DropReason, MsgRef, Program, TraceEvent, What};

/// What there is to draw.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    /// In the order in which they were sent.
    pub(super) messages: Vec<Message>,
    /// By node.
    pub(super) lanes: Vec<Lane>,
    /// What happened to links, in order.
    pub(super) links: Vec<(Time, LinkChange)>,
    /// Every instant at which something changed, and what kind of change that was.
    pub(super) moments: BTreeMap<Time, Moment>,
    /// Whether nodes announce leaders. Then the announced leader counts, not the one that the election names.
    pub(super) announces: bool,
}

/// A message and all that became of it.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) id: u64,
    pub(super) kind: Kind,
    /// The sender's lane.
    pub(super) from: usize,
    /// The receiver's lane.
    pub(super) to: usize,
    pub(super) sent: Time,
    /// How it ended, a duplicate twice; not at all if it is under way.
    pub(super) ends: Vec<End>,
    pub(super) weight: Weight,
    /// The message whose arrival made the sender send this one.
    pub(super) answers: Option<usize>,
}

/// One end of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) at: Time,
    pub(super) fate: Fate,
}

/// The fate of one copy of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Received,
    /// It arrived, and had no effect.
    Refused(Refusal),
    Lost(DropReason),
}

/// How a message is related to a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// Nothing: it is part of the steady traffic.
    Steady,
    /// It was answered by one that decides or tells, or answers one.
    Related,
    /// It was the last before its sender fell silent, or the first that a cut swallowed.
    Brink,
    /// It was sent when something changed.
    Tells,
    /// Something changed because of it.
    Decides,
}

/// What changed at an instant. The more telling comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Moment {
    /// A node's opinion.
    Change,
    /// Something befell the nodes or the network.
    Fault,
}

/// The course of a node.
#[derive(Debug, Default)]
pub(super) struct Lane {
    /// In order; several may be at one instant.
    pub(super) conditions: Vec<(Time, Condition)>,
    /// What is worth a word beside the lane.
    pub(super) notes: Vec<(Time, Note)>,
}

/// How a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    pub(super) opinion: Opinion,
    /// The leader that it announces.
    pub(super) announced: Option<NodeId>,
    pub(super) up: bool,
    pub(super) paused: bool,
}

impl Condition {
    pub(super) const DOWN: Self = Self { opinion: Opinion::DOWN, announced: None, up: false, paused: false };
}

/// What happened at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Note {
    Crashed,
    /// Its incarnation when it came up.
    CameUp(Incarnation),
    Paused,
    Resumed,
    Showed(Opinion),
    Announced(Announcement),
    /// As a coordinator it learnt that this token was granted, to that node.
    Granted(u64, Option<NodeId>),
    Suspected(NodeId),
    GivenUp,
    /// A restricted operation, and what became of it.
    Operation(OpId, &'static str),
    Reborn(Incarnation),
    /// The program asks that of the member.
    Asked(Command),
    /// The member has done it, or refuses for this reason.
    Answered(Option<&'static str>),
    /// The connection with that one ended with a goodbye.
    Unlinked(NodeId),
    /// The work as the leader begins, is to end, or has ended.
    Work(&'static str),
    Left,
    PlaysDead,
    PlaysAlive,
}

impl Note {
    fn of_operation(event: GroupEvent) -> Option<Self> {
        match event {
            GroupEvent::Committed { op, .. } => Some(Self::Operation(op, "committed")),
            GroupEvent::Aborted { op, .. } => Some(Self::Operation(op, "aborted")),
            GroupEvent::Declined { op, why } => Some(Self::Operation(op, why.name())),
            GroupEvent::Voted { .. }
            | GroupEvent::Installed(_)
            | GroupEvent::Recorded { .. }
            | GroupEvent::Member(_)
            | GroupEvent::Parent(_) => None,
        }
    }
}

/// What happened to one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkChange {
    Cut(NodeId, NodeId),
    Mended(NodeId, NodeId),
    /// Its delay is another.
    Delayed(NodeId, NodeId),
}

/// Whether it is of the kind that detectors and links send all the time. What settles leadership is not.
pub(super) fn is_background(kind: Kind) -> bool {
    kind.layer() == Layer::Overhead && !leadership::KINDS.contains(&kind)
}

impl Drawing {
    /// The leader of a node in that condition.
    pub(super) fn leader(&self, condition: &Condition) -> Option<NodeId> {
        if self.announces { condition.announced } else { condition.opinion.normal_leader() }
    }

    /// The story of a trace of these many nodes, whose ids are 1 to that.
    pub(super) fn of(nodes: u32, events: &[TraceEvent]) -> Self {
        let mut telling = Telling::new(nodes as usize);
        for event in events {
            telling.note(event);
        }
        telling.finish()
    }
}

/// The node's lane.
pub(super) fn lane(node: NodeId) -> usize {
    node.0 as usize - 1
}

/// The story so far.
pub(super) struct Telling {
    pub(super) drawing: Drawing,
    /// By id of the message: its place among the messages.
    known: BTreeMap<u64, usize>,
    /// By node.
    now: Vec<Condition>,
    step: Step,
    /// By sender, by receiver: the last message that is no detector's.
    last: Vec<BTreeMap<usize, usize>>,
    /// Links that were cut and have not lost anything since.
    fresh_cuts: BTreeSet<(usize, usize)>,
}

/// What a node does at once.
#[derive(Default)]
struct Step {
    node: Option<NodeId>,
    at: Time,
    /// The message whose arrival began it.
    cause: Option<usize>,
    sends: Vec<usize>,
    changed: bool,
}

impl Telling {
    pub(super) fn new(nodes: usize) -> Self {
        let lanes = (0..nodes).map(|_| Lane::default()).collect();
        Self {
            drawing: Drawing { lanes, ..Drawing::default() },
            known: BTreeMap::new(),
            now: vec![Condition::DOWN; nodes],
            step: Step::default(),
            last: vec![BTreeMap::new(); nodes],
            fresh_cuts: BTreeSet::new(),
        }
    }

    pub(super) fn note(&mut self, event: &TraceEvent) {
        let TraceEvent { at, node, incarnation, what } = *event;
        if self.step.node != Some(node) || self.step.at != at || begins_step(&what) {
            self.end_step();
            self.step = Step { node: Some(node), at, ..Step::default() };
        }
        match what {
            What::Send(msg) => self.sent(at, msg),
            What::Recv(msg, sent) => self.received(at, msg, sent),
            What::Drop(msg, reason) => self.dropped(at, msg, reason),
            What::Crash => {
                self.remember_last_words(lane(node));
                self.befell(at, node, Note::Crashed, Condition::DOWN);
            }
            What::Recover => {
                self.befell(at, node, Note::CameUp(incarnation), Condition { up: true, ..Condition::DOWN });
            }
            What::Pause => {
                self.remember_last_words(lane(node));
                let paused = Condition { paused: true, ..self.now[lane(node)] };
                self.befell(at, node, Note::Paused, paused);
            }
            What::Resume => {
                let resumed = Condition { paused: false, ..self.now[lane(node)] };
                self.befell(at, node, Note::Resumed, resumed);
            }
            What::Cut(peer) => {
                self.fresh_cuts.insert((lane(node), lane(peer)));
                self.link(at, LinkChange::Cut(node, peer));
            }
            What::Mend(peer) => self.link(at, LinkChange::Mended(node, peer)),
            What::Slow(peer) => self.link(at, LinkChange::Delayed(node, peer)),
            What::Node(event) => self.reported(at, node, event),
            What::Unlinked(peer) => self.aside(at, node, Note::Unlinked(peer)),
            What::Program(told) => self.told(at, node, told),
            What::Late(_) | What::HeldUp(_) | What::Deadline | What::Persist(_) => {}
        }
    }

    fn sent(&mut self, sent: Time, msg: MsgRef) {
        let place = self.message(sent, msg);
        self.drawing.messages[place].answers = self.step.cause;
        self.step.sends.push(place);
        if !is_background(msg.kind) {
            self.last[lane(msg.from)].insert(lane(msg.to), place);
        }
    }

    fn received(&mut self, at: Time, msg: MsgRef, sent: Time) {
        let place = self.message(sent, msg);
        self.drawing.messages[place].ends.push(End { at, fate: Fate::Received });
        self.step.cause = Some(place);
    }

    fn dropped(&mut self, at: Time, msg: MsgRef, reason: DropReason) {
        let place = self.message(at, msg);
        self.drawing.messages[place].ends.push(End { at, fate: Fate::Lost(reason) });
        match reason {
            // On purpose, so that it is what the run is about.
            DropReason::Dropped => {
                self.weigh(place, Weight::Decides);
                self.moment(at, Moment::Fault);
            }
            DropReason::Cut if self.fresh_cuts.remove(&(lane(msg.from), lane(msg.to))) => {
                self.weigh(place, Weight::Brink);
            }
            DropReason::Cut | DropReason::Lost | DropReason::Down => {}
        }
    }

    /// The place of a message. A recorded trace may not have the event of its sending.
    fn message(&mut self, sent: Time, msg: MsgRef) -> usize {
        let messages = &mut self.drawing.messages;
        *self.known.entry(msg.id).or_insert_with(|| {
            messages.push(Message {
                id: msg.id,
                kind: msg.kind,
                from: lane(msg.from),
                to: lane(msg.to),
                sent,
                ends: Vec::new(),
                weight: Weight::Steady,
                answers: None,
            });
            messages.len() - 1
        })
    }

    fn reported(&mut self, at: Time, node: NodeId, event: Event) {
        let note = match event {
            Event::Opinion(opinion) => {
                self.now[lane(node)].opinion = opinion;
                self.condition(at, node);
                Note::Showed(opinion)
            }
            Event::Announced(announced) => {
                self.drawing.announces = true;
                self.now[lane(node)].announced = announced.leader;
                self.condition(at, node);
                Note::Announced(announced)
            }
            Event::Down(peer) => Note::Suspected(peer),
            Event::GivenUp => Note::GivenUp,
            Event::Reborn(incarnation) => Note::Reborn(incarnation),
            Event::PlayDead => return self.aside(at, node, Note::PlaysDead),
            Event::PlayAlive => return self.aside(at, node, Note::PlaysAlive),
            Event::Refused { why, .. } => return self.refused(why),
            Event::Group(event) => match Note::of_operation(event) {
                Some(note) => note,
                None => return, // That a task is in place shows in the status.
            },
            Event::Granted { token, to, .. } => Note::Granted(token, to),
            Event::Link(_) | Event::ViewInstalled(_) | Event::Pending(_) => return,
            Event::Watch(_) | Event::Unwatch(_) | Event::UnwatchAll => return,
        };
        self.step.changed = true;
        self.drawing.lanes[lane(node)].notes.push((at, note));
        self.moment(at, Moment::Change);
    }

    /// What passes between a member and its program.
    fn told(&mut self, at: Time, node: NodeId, told: Program) {
        let note = match told {
            Program::Asked { command, .. } => Note::Asked(command),
            Program::Answered { refused, .. } => return self.aside(at, node, Note::Answered(refused)),
            Program::WorkBegins { .. } => return self.aside(at, node, Note::Work("works")),
            Program::AskedBack { .. } => Note::Work("is to end its work"),
            Program::WorkEnds => Note::Work("work has ended"),
            // Renewals are frequent, and change nothing.
            Program::Valid { .. } => return,
            Program::Left => Note::Left,
        };
        self.step.changed = true;
        self.drawing.lanes[lane(node)].notes.push((at, note));
        self.moment(at, Moment::Change);
    }

    /// What only goes with something that changed.
    fn aside(&mut self, at: Time, node: NodeId, note: Note) {
        self.drawing.lanes[lane(node)].notes.push((at, note));
    }

    fn refused(&mut self, why: Refusal) {
        let Some(place) = self.step.cause else { return };
        if let Some(end) = self.drawing.messages[place].ends.last_mut() {
            end.fate = Fate::Refused(why);
        }
    }

    fn befell(&mut self, at: Time, node: NodeId, note: Note, condition: Condition) {
        self.step.changed = true;
        self.now[lane(node)] = condition;
        self.condition(at, node);
        self.drawing.lanes[lane(node)].notes.push((at, note));
        // That all come up at the start befalls nobody.
        let moment = if at == Time::ZERO { Moment::Change } else { Moment::Fault };
        self.moment(at, moment);
    }

    fn condition(&mut self, at: Time, node: NodeId) {
        self.drawing.lanes[lane(node)].conditions.push((at, self.now[lane(node)]));
    }

    fn link(&mut self, at: Time, change: LinkChange) {
        self.drawing.links.push((at, change));
        self.moment(at, Moment::Fault);
    }

    fn moment(&mut self, at: Time, moment: Moment) {
        let kept = self.drawing.moments.entry(at).or_insert(moment);
        *kept = (*kept).max(moment);
    }

    /// The last messages of a node before it fell silent.
    fn remember_last_words(&mut self, from: usize) {
        for place in std::mem::take(&mut self.last[from]).into_values() {
            self.weigh(place, Weight::Brink);
        }
    }

    fn weigh(&mut self, place: usize, weight: Weight) {
        let kept = &mut self.drawing.messages[place].weight;
        *kept = (*kept).max(weight);
    }

    fn end_step(&mut self) {
        let Step { cause, mut sends, changed, .. } = std::mem::take(&mut self.step);
        if changed {
            // That the detector is told whom to watch goes without saying.
            sends.retain(|place| !is_background(self.drawing.messages[*place].kind));
            sends.into_iter().for_each(|place| self.weigh(place, Weight::Tells));
            cause.into_iter().for_each(|place| self.weigh(place, Weight::Decides));
        }
    }

    /// The answer to a message that decides or tells is related to it, and so is the message that such a
    /// message answers.
    pub(super) fn finish(mut self) -> Drawing {
        self.end_step();
        let matters: Vec<bool> =
            self.drawing.messages.iter().map(|message| message.weight >= Weight::Tells).collect();
        for place in 0..matters.len() {
            let Some(answered) = self.drawing.messages[place].answers else { continue };
            if matters[place] {
                self.weigh(answered, Weight::Related);
            } else if matters[answered] {
                self.weigh(place, Weight::Related);
            }
        }
        self.drawing
    }
}

fn begins_step(what: &What) -> bool {
    match what {
        What::Recv(..)
        | What::Deadline
        | What::Crash
        | What::Recover
        | What::Pause
        | What::Resume
        | What::Cut(_)
        | What::Mend(_)
        | What::Slow(_)
        | What::Unlinked(_)
        | What::Program(Program::Asked { .. } | Program::WorkEnds) => true,
        What::Program(_) => false,
        What::Send(_)
        | What::Drop(..)
        | What::Late(_)
        | What::HeldUp(_)
        | What::Persist(_)
        | What::Node(_) => false,
    }
}
