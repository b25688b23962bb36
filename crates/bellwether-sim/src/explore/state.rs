//! One state of a cluster in which nothing has happened yet that need not have.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use bellwether_proto::canonical::{Form, Placed};
use bellwether_proto::election::Election;
use bellwether_proto::group::TaskDigest;
use bellwether_proto::ident::{GroupId, Incarnation, NodeId};
use bellwether_proto::io::{Durable, Event, Input, Outbox};
use bellwether_proto::leadership::Announcement;
use bellwether_proto::members::Members;
use bellwether_proto::message::{Frame, Message};
use bellwether_proto::node::Node;
use bellwether_proto::opinion::Opinion;
use bellwether_proto::promise::Property;
use bellwether_proto::tenure::Tenure;
use bellwether_proto::time::{Span, Time};
use xxhash_rust::xxh3::xxh3_64;

use super::bounds::Bounds;
use super::broken::Breach;
use super::connections::News;
use super::interned::print_of;
use super::program::Program;
use super::record::Record;
use crate::check::{self, Leadership, Opinions};
use crate::scenario::index;

/// Machines, what is on its way between them, and what may still befall them.
#[derive(Debug)]
pub struct State<E: Election> {
    pub(super) hosts: Box<[Arc<Host<E>>]>,
    /// By sender, then by receiver, then as they arrive: in the order of sending if the channels keep it, else by content.
    pub(super) letters: Vec<Letter<E::Msg>>,
    pub(super) left: Bounds,
    /// What has been announced, where leadership is.
    pub(super) record: Option<Arc<Record>>,
    /// How many messages were sent on the way here. For traces; no part of what makes a state.
    pub(super) sent: u32,
}

/// A machine: what survives a crash, and the node that runs on it while it is up. Never changed once it is part of a state,
/// so that states can share it.
#[derive(Debug)]
pub(super) struct Host<E: Election> {
    pub(super) id: NodeId,
    pub(super) disk: Durable,
    /// Its own: time passes at each node as if it were alone in the world.
    pub(super) clock: Time,
    pub(super) node: Option<Node<E>>,
    /// Whether it plays dead to the weaker.
    pub(super) plays_dead: bool,
    /// What its detector was told last of each node: the incarnation it is in, or that it is down. Empty unless the oracle may err.
    pub(super) told: Vec<Option<Incarnation>>,
    /// The view that it installed last, in this incarnation, and who is in it.
    pub(super) installed: Option<(GroupId, Members)>,
    /// Whether it remembers anything that was said about a change of views.
    pub(super) remembers: bool,
    /// The leadership that it announced last, in whichever incarnation.
    pub(super) seen: Option<Leadership>,
    /// The program that it serves, while it is up, if it runs as an agent.
    pub(super) program: Option<Program>,
    /// All of that, written down, and a fingerprint of what it exactly is.
    pub(super) form: Form,
    pub(super) print: u128,
}

/// A message on its way.
#[derive(Debug)]
pub(super) struct Letter<M> {
    pub(super) from: u8,
    pub(super) to: u8,
    /// For traces.
    pub(super) id: u32,
    /// How long it may still take, where time passes for all alike.
    pub(super) left: Span,
    pub(super) content: Arc<Content<M>>,
}

#[derive(Debug)]
pub(super) struct Content<M> {
    pub(super) cargo: Cargo<M>,
    form: Form,
    /// What tells it from others in a channel that keeps no order. Counters count as they are: to reduce them to their
    /// order leaves the order of contents as it is.
    exact: Vec<u64>,
    pub(super) print: u128,
}

/// What is on its way.
#[derive(Clone, Debug)]
pub(super) enum Cargo<M> {
    Frame(Frame<M>),
    News(News),
}

/// Memory that is used again for one state after the other.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(super) form: Form,
    pub(super) sorted: Vec<Placed>,
    pub(super) words: Vec<u64>,
    pub(super) bytes: Vec<u8>,
}

impl<E: Election> State<E> {
    /// A number that two states share if and only if they behave alike for ever, as far as 64 bits can tell.
    pub fn fingerprint(&self, scratch: &mut Scratch) -> u64 {
        scratch.form.clear();
        self.left.words().into_iter().for_each(|word| scratch.form.number(word));
        scratch.form.option(self.record.as_deref(), |form, record| record.canonical(form));
        for host in &self.hosts {
            scratch.form.append(&host.form);
        }
        scratch.form.number(self.letters.len() as u64);
        for letter in &self.letters {
            scratch.form.append(&letter.content.form);
            scratch.form.number(letter.left.as_micros());
        }
        scratch.digest()
    }

    /// How many messages are on their way.
    pub fn in_flight(&self) -> usize {
        self.letters.len()
    }

    /// The places of the messages from one node to another.
    pub(super) fn channel(&self, from: u8, to: u8) -> std::ops::Range<usize> {
        let start = self.letters.partition_point(|letter| (letter.from, letter.to) < (from, to));
        let end = self.letters.partition_point(|letter| (letter.from, letter.to) <= (from, to));
        start..end
    }

    /// Something befalls the group.
    pub(super) fn disturb(&mut self) {
        if let Some(record) = &mut self.record {
            Arc::make_mut(record).disturb();
        }
    }

    /// The node of that index announces something, and this is broken by it.
    pub(super) fn announce(&mut self, at: usize, announced: Announcement) -> Vec<Breach> {
        let Some(record) = &mut self.record else { return Vec::new() };
        let record = Arc::make_mut(record);
        record.announce(&self.hosts, self.hosts[at].id, announced)
    }

    pub(super) fn is_up_at(&self, at: usize) -> bool {
        self.hosts[at].node.is_some()
    }
}

impl Scratch {
    /// A fingerprint of the form that was put together.
    pub(super) fn digest(&mut self) -> u64 {
        self.words.clear();
        self.form.write_timed(&mut self.sorted, &mut self.words);
        self.bytes.clear();
        self.bytes.extend(self.words.iter().flat_map(|word| word.to_le_bytes()));
        xxh3_64(&self.bytes)
    }
}

impl<E: Election> Clone for State<E> {
    fn clone(&self) -> Self {
        let Self { hosts, letters, left, record, sent } = self;
        Self {
            hosts: hosts.clone(),
            letters: letters.clone(),
            left: *left,
            record: record.clone(),
            sent: *sent,
        }
    }
}

impl<E: Election> Hash for State<E> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.fingerprint(&mut Scratch::default()).hash(hasher);
    }
}

impl<E: Election> PartialEq for State<E> {
    fn eq(&self, other: &Self) -> bool {
        let mut scratch = Scratch::default();
        self.fingerprint(&mut scratch) == other.fingerprint(&mut scratch)
    }
}

impl<E: Election> Host<E> {
    /// A machine on which nothing runs. The clock of one that is down is of no interest.
    pub(super) fn down(id: NodeId, disk: Durable) -> Self {
        Self {
            id,
            disk,
            clock: Time::ZERO,
            node: None,
            plays_dead: false,
            told: Vec::new(),
            installed: None,
            remembers: false,
            seen: None,
            program: None,
            form: Form::new(),
            print: 0,
        }
    }

    /// The same machine, about to change: what was written down is void.
    pub(super) fn opened(&self) -> Self {
        let Self { id, clock, plays_dead, installed, remembers, seen, program, .. } = *self;
        let (disk, node, told, form) = (self.disk.clone(), self.node.clone(), self.told.clone(), Form::new());
        Self { id, disk, clock, node, plays_dead, told, installed, remembers, seen, program, form, print: 0 }
    }

    /// Gives its node an input, if it is up.
    pub(super) fn input(&mut self, input: Input<E::Msg>) -> Option<Outbox<E::Msg>> {
        let mut outbox = Outbox::new();
        self.node.as_mut()?.handle(self.clock, input, &mut outbox);
        Some(outbox)
    }

    /// Takes note of what can be seen of its node by nothing else.
    pub(super) fn note(&mut self, event: Event) {
        match event {
            Event::PlayDead => self.plays_dead = true,
            Event::PlayAlive => self.plays_dead = false,
            Event::ViewInstalled(members) => {
                self.installed = self.opinion().group.map(|group| (group, members));
            }
            Event::Pending(pending) => self.remembers = pending,
            Event::Announced(Announcement { leader, epoch, .. }) => {
                self.seen = leader.map(|leader| (epoch, leader)).or(self.seen);
                if let Some(program) = &mut self.program {
                    program.leader = leader;
                }
            }
            _ => {}
        }
    }

    /// What its program may do has changed.
    pub(super) fn told(&mut self, tenure: Tenure) {
        if let Some(program) = &mut self.program {
            program.told(self.clock, tenure);
        }
    }

    /// Its program is answered.
    pub(super) fn answered(&mut self) {
        if let Some(program) = &mut self.program {
            program.unanswered = program.unanswered.saturating_sub(1);
        }
    }

    /// What it breaks if this happens, as far as it knows by itself.
    pub(super) fn breach_by(&self, event: Event) -> Option<Breach> {
        let Event::Announced(announced) = event else { return None };
        let Announcement { leader, epoch, .. } = announced;
        let back = leader.and_then(|leader| check::step_back(self.id, self.seen, (epoch, leader)));
        if let Some(what) = back {
            return Some(Breach::of(Property::Epoch, what));
        }
        let gives_back = leader.is_none() && check::giver(self.id, &announced) == Some(self.id);
        gives_back.then(|| self.breach_by_giving_back(self.id)).flatten()
    }

    /// What is broken if that node announces that this one has given leadership back.
    pub(super) fn breach_by_giving_back(&self, told_by: NodeId) -> Option<Breach> {
        let what = self.program?.work_goes_on(self.clock, told_by, self.id)?;
        Some(Breach::of(Property::WorkEndsFirst, what))
    }

    /// Writes the machine down as it is when its clock shows `now`.
    pub(super) fn canonical(&self, now: Time, form: &mut Form) {
        form.incarnation(self.id, self.disk.incarnation);
        form.suspicions(self.disk.count);
        form.epoch(self.disk.epoch);
        form.option(self.disk.group.as_deref(), |form, kept| kept.canonical(form));
        form.option(self.node.as_ref(), |form, node| node.canonical(now, form));
        form.number(u64::from(self.plays_dead));
        form.number(u64::from(self.remembers));
        form.option(self.installed, |form, (view, members)| {
            form.view(view);
            form.number(members.count() as u64);
            members.ranks().for_each(|rank| form.number(rank as u64));
        });
        form.option(self.seen, |form, (epoch, leader)| {
            form.epoch(epoch);
            form.node(leader);
        });
        form.option(self.program, |form, program| program.canonical(now, form));
        for (told, id) in self.told.iter().zip((1..).map(NodeId)) {
            form.option(*told, |form, incarnation| form.incarnation(id, incarnation));
        }
    }

    pub(super) fn opinion(&self) -> Opinion {
        self.node.as_ref().map_or(Opinion::DOWN, Node::opinion)
    }

    pub(super) fn task(&self) -> Option<TaskDigest> {
        self.node.as_ref().and_then(Node::task)
    }

    /// Whether a node is up on it that does not stand aside: one that does counts as down.
    pub(super) fn is_there(&self) -> bool {
        self.node.as_ref().is_some_and(|node| !node.is_aside())
    }

    /// The leader that was announced last, in this incarnation.
    pub(super) fn announced(&self) -> Option<NodeId> {
        self.program.and_then(|program| program.leader)
    }

    /// Where it is in every table.
    pub(super) fn index(&self) -> usize {
        index(self.id)
    }
}

impl<M: Message> Content<M> {
    pub(super) fn frame(frame: Frame<M>, to: NodeId) -> Arc<Self> {
        let from = frame.from;
        Self::new(Cargo::Frame(frame), from, to)
    }

    pub(super) fn news(news: News, of: NodeId, to: NodeId) -> Arc<Self> {
        Self::new(Cargo::News(news), of, to)
    }

    pub(super) fn new(cargo: Cargo<M>, from: NodeId, to: NodeId) -> Arc<Self> {
        let mut form = Form::new();
        cargo.canonical(from, to, &mut form);
        let mut exact = Vec::new();
        form.write_exact(&mut exact);
        let print = print_of(&exact);
        Arc::new(Self { cargo, form, exact, print })
    }

    pub(super) fn exact(&self) -> &[u64] {
        &self.exact
    }
}

impl<M: Message> Cargo<M> {
    pub(super) fn canonical(&self, from: NodeId, to: NodeId, form: &mut Form) {
        match self {
            Self::Frame(frame) => frame.canonical(to, form),
            Self::News(news) => news.canonical(from, to, form),
        }
    }

    /// What it is to the node that gets it.
    pub(super) fn input<E: Election<Msg = M>>(&self, from: NodeId, node: &Node<E>) -> Input<M> {
        match self {
            Self::Frame(frame) => Input::Frame(frame.clone()),
            Self::News(news) => news.input(from, node),
        }
    }
}

impl<M> Clone for Letter<M> {
    fn clone(&self) -> Self {
        let Self { from, to, id, left, content } = self;
        Self { from: *from, to: *to, id: *id, left: *left, content: Arc::clone(content) }
    }
}

impl<E: Election> Opinions for State<E> {
    fn up(&self) -> impl Iterator<Item = (NodeId, Opinion)> {
        up(self.hosts.iter().map(|host| &**host))
    }

    fn is_up(&self, id: NodeId) -> bool {
        self.hosts.get(index(id)).is_some_and(|host| host.is_there())
    }

    fn opinion(&self, id: NodeId) -> Opinion {
        self.hosts.get(index(id)).map_or(Opinion::DOWN, |host| host.opinion())
    }

    fn task(&self, id: NodeId) -> Option<TaskDigest> {
        self.hosts.get(index(id)).and_then(|host| host.task())
    }

    fn installed(&self, id: NodeId) -> Option<(GroupId, Members)> {
        self.hosts.get(index(id)).and_then(|host| host.installed)
    }

    fn remembers(&self, id: NodeId) -> bool {
        self.hosts.get(index(id)).is_some_and(|host| host.remembers)
    }

    fn announced(&self, id: NodeId) -> Option<NodeId> {
        self.hosts.get(index(id)).and_then(|host| host.announced())
    }

    /// A search loses messages, it does not cut links.
    fn connected(&self, _: NodeId, _: NodeId) -> bool {
        true
    }
}

/// Those that are up, and what they show.
pub(super) fn up<'a, E: Election + 'a>(
    hosts: impl Iterator<Item = &'a Host<E>>,
) -> impl Iterator<Item = (NodeId, Opinion)> {
    hosts.filter(|host| host.is_there()).map(|host| (host.id, host.opinion()))
}
