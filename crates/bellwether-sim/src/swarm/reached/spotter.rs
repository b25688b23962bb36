//! Recognises situations in a trace while it happens.

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::{Event, Refusal};
use bellwether_proto::leadership::{Announcement, Cause};
use bellwether_proto::message::{Kind, Layer};
use bellwether_proto::opinion::{Opinion, Status};
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{DropReason, MsgRef, Program, TraceEvent, What};

use super::{Reached, Situation};
use crate::run::facts;
use crate::scenario::{Scenario, index};

/// How many messages of a link are remembered, to know a second copy when it arrives. A copy that comes after so many
/// others goes unnoticed; all that follows is that a rare situation is counted as rarer.
const REMEMBERED: usize = 4;

/// Listens to one run.
#[derive(Debug)]
pub struct Spotter {
    reached: Reached,
    events: u64,
    kinds: &'static [Kind],
    /// How long others wait before they think that a node is down.
    timeout: Span,
    nodes: Vec<Seen>,
    /// By sender and receiver.
    links: Vec<Line>,
    /// Whether anybody has led yet.
    led: bool,
    /// Three or more that led at once.
    apart: Vec<NodeId>,
}

/// What is known of a node.
#[derive(Clone, Debug)]
struct Seen {
    up: bool,
    opinion: Opinion,
    /// Counts its opinions.
    opinions: u32,
    paused: Option<Time>,
    crashed: Option<Time>,
    /// Whether it crashed while it organised an election.
    was_organising: bool,
    plays_dead: bool,
    /// When it wrote to disk, if it has sent nothing since.
    persisted: Option<Time>,
    announced: Option<NodeId>,
    /// How many answers it owes its program.
    owes: u32,
}

/// What is known of one direction between two nodes.
#[derive(Clone, Debug)]
struct Line {
    cut: bool,
    /// Since when the receiver watches the sender.
    watched: Option<Time>,
    /// The latest message that arrived, by the order in which they were sent.
    newest: u64,
    recent: [u64; REMEMBERED],
    /// The last that the sender asked, and in which of its opinions.
    asked: (u32, u32),
}

impl Spotter {
    /// Of a run of that scenario, before it begins.
    pub fn new(scenario: &Scenario) -> Self {
        let spec = scenario.protocol.spec();
        let timing = scenario.timing;
        let timeout = match spec.detector {
            Some(_) => facts(scenario).detector_latency,
            None => timing.tau * 2 + timing.delta * 4,
        };
        let count = scenario.nodes as usize;
        let node = Seen {
            up: false,
            opinion: Opinion::DOWN,
            opinions: 0,
            paused: None,
            crashed: None,
            was_organising: false,
            plays_dead: false,
            persisted: None,
            announced: None,
            owes: 0,
        };
        let line = Line { cut: false, watched: None, newest: 0, recent: [0; REMEMBERED], asked: (0, 0) };
        Self {
            reached: Reached::nothing(scenario.protocol),
            events: 0,
            kinds: spec.kinds,
            timeout,
            nodes: vec![node; count],
            links: vec![line; count * count],
            led: false,
            apart: Vec::new(),
        }
    }

    /// How much happened, and what of it was worth noting.
    pub fn finish(self) -> (u64, Reached) {
        (self.events, self.reached)
    }

    /// Takes note of the next event.
    #[inline]
    pub fn observe(&mut self, event: &TraceEvent) {
        self.events += 1;
        let (at, node) = (event.at, event.node);
        match event.what {
            What::Send(msg) => self.sent(&msg),
            What::Recv(msg, _) => self.received(&msg),
            What::Drop(_, DropReason::Lost | DropReason::Dropped) => self.reached.add(Situation::Lost),
            What::Drop(_, DropReason::Cut | DropReason::Down) | What::Deadline => {}
            What::Slow(_) | What::HeldUp(_) => {}
            What::Unlinked(_) => self.reached.add(Situation::Unlinked),
            What::Program(told) => self.program(node, told),
            What::Late(_) => self.reached.add(Situation::Late),
            What::Persist(_) => self.nodes[index(node)].persisted = Some(at),
            What::Node(ref told) => self.told(at, node, told),
            What::Crash => self.crashed(at, node),
            What::Recover => self.recovered(at, node),
            What::Pause => self.nodes[index(node)].paused = Some(at),
            What::Resume => self.resumed(at, node),
            What::Cut(to) => self.line(node, to).cut = true,
            What::Mend(to) => self.mended(node, to),
        }
    }

    fn sent(&mut self, msg: &MsgRef) {
        let node = &mut self.nodes[index(msg.from)];
        node.persisted = None;
        if node.opinion.status == Status::Election && msg.kind.layer() == Layer::Protocol {
            let asked = (msg.kind.id(), node.opinions);
            if std::mem::replace(&mut self.line(msg.from, msg.to).asked, asked) == asked {
                self.reached.add(Situation::AskedAgain);
            }
        }
    }

    fn received(&mut self, msg: &MsgRef) {
        if let Some(place) = self.kinds.iter().position(|kind| kind.id() == msg.kind.id()) {
            self.reached.kinds |= 1 << place;
        }
        let line = self.line(msg.from, msg.to);
        if line.recent.contains(&msg.id) {
            return self.reached.add(Situation::Duplicated);
        }
        line.recent.rotate_right(1);
        line.recent[0] = msg.id;
        if msg.id < line.newest {
            self.reached.add(Situation::Overtaken);
        } else {
            line.newest = msg.id;
        }
    }

    fn told(&mut self, at: Time, node: NodeId, event: &Event) {
        match *event {
            Event::Opinion(opinion) => self.shows(node, opinion),
            Event::Announced(announced) => self.announced(node, announced),
            Event::Watch(peer) => self.line(peer, node).watched = Some(at),
            Event::Unwatch(peer) => self.line(peer, node).watched = None,
            Event::UnwatchAll => self.forget_watches(node),
            Event::Down(peer) => self.reported(node, peer),
            Event::PlayDead => self.nodes[index(node)].plays_dead = true,
            Event::PlayAlive => self.nodes[index(node)].plays_dead = false,
            Event::Refused { why: Refusal::StaleIncarnation, .. } => {
                self.reached.add(Situation::OldIncarnationRefused);
            }
            Event::Link(_) | Event::ViewInstalled(_) | Event::Pending(_) => {}
            Event::GivenUp => self.reached.add(Situation::WorkGivenUp),
            Event::Refused { .. } | Event::Reborn(_) | Event::Group(_) | Event::Granted { .. } => {}
        }
    }

    fn shows(&mut self, id: NodeId, opinion: Opinion) {
        let node = &mut self.nodes[index(id)];
        let led = node.leads(id);
        node.opinion = opinion;
        node.opinions += 1;
        let leads = node.leads(id);
        if led && !leads {
            self.reached.add(Situation::LeaderDemoted);
        }
        if leads {
            self.led = true;
            self.leads(id);
        }
        let organise = self.nodes.iter().filter(|node| node.opinion.status == Status::Election).count();
        if self.led && organise > 1 && opinion.status == Status::Election {
            self.reached.add(Situation::ConcurrentElections);
        }
        if !self.apart.is_empty() && opinion.normal_leader().is_some() {
            let of = |id: &NodeId| self.nodes[index(*id)].opinion.normal_leader();
            if self.apart.iter().all(|id| of(id) == opinion.normal_leader()) {
                self.reached.add(Situation::ThreeMerged);
                self.apart.clear();
            }
        }
    }

    /// A node leads: are there others?
    fn leads(&mut self, id: NodeId) {
        let leaders: Vec<NodeId> = self.leaders().collect();
        for other in leaders.iter().filter(|other| **other != id) {
            self.reached.add(Situation::TwoLeaders);
            if self.line(id, *other).cut && self.line(*other, id).cut {
                self.reached.add(Situation::SplitBrain);
            }
        }
        if leaders.len() > 2 {
            self.apart = leaders;
        }
    }

    fn program(&mut self, id: NodeId, told: Program) {
        let node = &mut self.nodes[index(id)];
        match told {
            Program::Asked { .. } => node.owes += 1,
            Program::Answered { .. } => node.owes = node.owes.saturating_sub(1),
            Program::AskedBack { .. } if node.owes == 0 => self.reached.add(Situation::MadeWay),
            Program::Left => self.reached.add(Situation::Left),
            Program::AskedBack { .. } | Program::WorkBegins { .. } | Program::WorkEnds => {}
            Program::Valid { .. } => {}
        }
    }

    fn announced(&mut self, id: NodeId, Announcement { leader, cause, .. }: Announcement) {
        match cause {
            Cause::Resigned(who) if who == id => self.reached.add(Situation::Resigned),
            Cause::HandedOver(_, to) if leader == Some(to) => self.reached.add(Situation::HandedOver),
            _ => {}
        }
        let node = &mut self.nodes[index(id)];
        if node.announced.is_some() && leader.is_some() && node.announced != leader {
            self.reached.add(Situation::AnnouncedAnother);
        }
        node.announced = leader.or(node.announced);
    }

    fn reported(&mut self, by: NodeId, peer: NodeId) {
        let watched = self.line(peer, by).watched.take();
        let Seen { up, crashed, plays_dead, .. } = self.nodes[index(peer)];
        let was_up = watched.is_some_and(|since| crashed.is_none_or(|crashed| crashed < since));
        if up && was_up && !plays_dead {
            self.reached.add(Situation::FalseSuspicion);
        }
    }

    fn crashed(&mut self, at: Time, id: NodeId) {
        let node = &mut self.nodes[index(id)];
        let (leads, status, persisted) = (node.leads(id), node.opinion.status, node.persisted);
        // Or invited: who takes part in another's election, whatever that is called.
        let reorganized = status == Status::Reorganizing && node.opinion.leader != Some(id);
        let halted = status == Status::Waiting || reorganized;
        node.up = false;
        node.opinion = Opinion::DOWN;
        node.paused = None;
        node.crashed = Some(at);
        node.was_organising = status == Status::Election;
        node.plays_dead = false;
        node.persisted = None;
        node.announced = None;
        node.owes = 0;
        for (situation, occurred) in [
            (Situation::LeaderCrashed, leads),
            (Situation::OrganiserCrashed, status == Status::Election),
            (Situation::HaltedCrashed, halted),
            (Situation::CrashAfterPersist, persisted == Some(at)),
            (Situation::AllDown, self.nodes.iter().all(|node| !node.up)),
        ] {
            if occurred {
                self.reached.add(situation);
            }
        }
        self.apart.retain(|apart| *apart != id);
        if self.apart.len() < 3 {
            self.apart.clear();
        }
        self.forget_watches(id);
    }

    fn recovered(&mut self, at: Time, id: NodeId) {
        let is_led = self.leaders().next().is_some();
        let node = &mut self.nodes[index(id)];
        node.up = true;
        if is_led && node.crashed.is_some() {
            self.reached.add(Situation::JoinedRunning);
        }
        let unnoticed = node.crashed.is_some_and(|crashed| at.since(crashed) < self.timeout);
        let was_organising = node.was_organising;
        if unnoticed && was_organising {
            self.reached.add(Situation::OrganiserBack);
        }
        let count = self.nodes.len();
        let is_watched = (0..count).any(|to| self.links[index(id) * count + to].watched.is_some());
        if unnoticed && is_watched {
            self.reached.add(Situation::QuickRestart);
        }
    }

    fn resumed(&mut self, at: Time, id: NodeId) {
        let paused = self.nodes[index(id)].paused.take();
        if paused.is_some_and(|paused| at.since(paused) > self.timeout) {
            self.reached.add(Situation::PausedLong);
        }
    }

    fn mended(&mut self, from: NodeId, to: NodeId) {
        self.line(from, to).cut = false;
        let lead = [from, to].into_iter().all(|id| self.nodes[index(id)].leads(id));
        if lead && !self.line(to, from).cut {
            self.reached.add(Situation::SplitHealed);
        }
    }

    fn forget_watches(&mut self, by: NodeId) {
        let count = self.nodes.len();
        (0..count).for_each(|peer| self.links[peer * count + index(by)].watched = None);
    }

    fn leaders(&self) -> impl Iterator<Item = NodeId> {
        let ids = (1..).map(NodeId);
        ids.zip(&self.nodes).filter(|(id, node)| node.leads(*id)).map(|(id, _)| id)
    }

    fn line(&mut self, from: NodeId, to: NodeId) -> &mut Line {
        let count = self.nodes.len();
        &mut self.links[index(from) * count + index(to)]
    }
}

impl Seen {
    fn leads(&self, id: NodeId) -> bool {
        self.opinion.normal_leader() == Some(id)
    }
}
