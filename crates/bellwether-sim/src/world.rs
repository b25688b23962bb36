//! The world: nodes, their clocks and disks, the network between them, and virtual time.
//!
//! Everything that happens is a function of the scenario and its seed. At one instant the order is: the scenario's
//! events in the order of the file, deliveries, deadlines (each in order of creation). Nodes start at time 0, after
//! the scenario's events of that instant, so that a file can lay out the network before anybody speaks.

mod application;
mod connections;
mod cuts;
mod disks;
mod footprint;
mod hooks;
mod lives;
mod programs;

use std::cmp::Reverse;
use std::collections::VecDeque;

use bellwether_proto::canonical::Form;
use bellwether_proto::election::Election;
use bellwether_proto::exclusive::configuration::Address;
use bellwether_proto::exclusive::membership::MemberChange;
use bellwether_proto::exclusive::voter::VoterKept;
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::io::{Durable, Event, Input, Outbox, Output};
use bellwether_proto::message::Frame;
use bellwether_proto::node::Node;
use bellwether_proto::opinion::Opinion;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{DropReason, MsgRef, Program, TraceEvent, What};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use slab::Slab;

use application::Application;
use connections::{Connections, News};
use disks::Drive;
pub use hooks::Relay;
use hooks::{BallotBoxes, Disks};
use programs::Programs;

use crate::adversary::Adversary;
use crate::blueprint::Blueprint;
use crate::clock::Clock;
use crate::journal::Journal;
use crate::net::{Fate, Net};
use crate::queue::{Due, Queue};
use crate::scenario::{Fault, Mishap, ModelKind, Planned, Scenario, index};
use crate::votes::Votes;

/// A node that wakes this often at one instant will never let time pass: a bug of ours, not of the scenario's.
const WAKES_AT_ONE_INSTANT_MAX: u32 = 10_000;

/// A simulated cluster running one algorithm.
#[derive(Debug)]
pub struct World<'a, E: Election> {
    now: Time,
    started: bool,
    blueprint: Blueprint,
    hosts: Vec<Host<E>>,
    net: Net,
    /// Who is connected, if nodes are run as an agent runs them.
    connections: Option<Connections>,
    /// What they serve.
    programs: Option<Programs>,
    adversary: Option<Adversary<InFlight<E::Msg>>>,
    /// Whether anybody may name another leader than when the network was last told.
    opinions_changed: bool,
    /// In order of time; those at one instant in the order of the file.
    plan: VecDeque<Planned>,
    queue: Queue,
    in_flight: Slab<InFlight<E::Msg>>,
    messages: u64,
    rng: ChaCha8Rng,
    journal: Journal<'a>,
    relay: Option<Relay<'a, E::Msg>>,
    disks: Option<Disks<'a>>,
    ballot_boxes: Option<BallotBoxes<'a>>,
    application: Option<Application<'a>>,
    outbox: Outbox<E::Msg>,
}

/// A machine: what survives a crash, and the node that runs on it while it is up.
#[derive(Debug)]
struct Host<E: Election> {
    id: NodeId,
    clock: Clock,
    disk: Durable,
    /// If it is slow.
    drive: Option<Drive>,
    /// If it takes part in exclusive leadership.
    votes: Option<Votes>,
    node: Option<Node<E>>,
    /// Not yet started for the first time.
    fresh: bool,
    paused: bool,
    /// What arrived while the node was paused.
    inbox: VecDeque<InFlight<E::Msg>>,
    /// What the oracle had to tell, and what became of connections, while the node was paused.
    news: VecDeque<News>,
    /// When the queue will wake the node; never, if it will not.
    wake: Time,
    /// When it was woken last, and how often at that instant.
    woken: Time,
    wakes: u32,
    /// Crash instead of sending a message of this kind.
    trap: Option<String>,
    /// Crash instead of writing or sending anything after so much more.
    fuse: Option<u64>,
}

#[derive(Debug)]
struct InFlight<M> {
    to: usize,
    id: u64,
    sent: Time,
    frame: Frame<M>,
}

impl<'a, E: Election> World<'a, E> {
    /// The world of a scenario, at time 0, with nothing started.
    pub fn new(scenario: &Scenario, journal: Journal<'a>) -> Self {
        let mut plan: Vec<Planned> = scenario.events.clone();
        plan.sort_by_key(|planned| planned.at);
        let mut rng = ChaCha8Rng::seed_from_u64(scenario.seed);
        Self {
            now: Time::ZERO,
            started: false,
            blueprint: Blueprint::of(scenario),
            hosts: scenario.ids().map(|id| Host::new(id, scenario)).collect(),
            net: Net::new(scenario, &mut rng),
            connections: scenario.agent.then(Connections::default),
            programs: scenario.agent.then(|| Programs::new(scenario.nodes as usize)),
            adversary: scenario
                .network
                .model
                .filter(|model| model.kind == ModelKind::Adversary)
                .map(|_| Adversary::new()),
            opinions_changed: false,
            plan: plan.into(),
            queue: Queue::default(),
            in_flight: Slab::new(),
            messages: 0,
            rng,
            journal,
            relay: None,
            disks: None,
            ballot_boxes: None,
            application: None,
            outbox: Outbox::new(),
        }
    }

    /// Sends every frame through `relay`.
    pub fn set_relay(&mut self, relay: impl FnMut(Frame<E::Msg>) -> Frame<E::Msg> + 'a) {
        self.relay = Some(Relay(Box::new(relay)));
    }

    /// Has disks keep `keep` of what is written to them: a planted fault.
    pub fn set_disks(&mut self, keep: impl FnMut(Durable) -> Durable + 'a) {
        self.disks = Some(Disks(Box::new(keep)));
    }

    /// Has disks do this to the votes that they hold, after every write: a planted fault.
    pub fn set_votes(&mut self, keep: impl FnMut(&mut VoterKept) + 'a) {
        self.ballot_boxes = Some(BallotBoxes(Box::new(keep)));
    }

    /// Has the node crash when it has written and sent so much more, whatever it is about to do next.
    pub fn crash_after(&mut self, id: NodeId, effects: u64) {
        self.hosts[index(id)].fuse = Some(effects);
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// What each node shows of itself, in order of id.
    pub fn opinions(&self) -> impl Iterator<Item = (NodeId, Opinion)> + Clone + '_ {
        self.hosts.iter().map(|host| (host.id, host.node.as_ref().map_or(Opinion::DOWN, Node::opinion)))
    }

    /// The node of that id, if it is up.
    pub fn node(&self, id: NodeId) -> Option<&Node<E>> {
        self.hosts[index(id)].node.as_ref()
    }

    /// When the node has something to do of its own accord, as the world tells the time.
    pub fn wakes_at(&self, id: NodeId) -> Option<Time> {
        let host = &self.hosts[index(id)];
        (host.node.is_some() && host.wake != Time::NEVER).then_some(host.wake)
    }

    /// The record so far.
    pub fn journal(&self) -> &Journal<'a> {
        &self.journal
    }

    /// Ends the world and hands over its record.
    pub fn into_journal(self) -> Journal<'a> {
        self.journal
    }

    /// When the next thing will happen.
    pub fn next_at(&self) -> Option<Time> {
        if !self.started {
            return Some(Time::ZERO);
        }
        let planned = self.plan.front().map(|planned| planned.at);
        [planned, self.queue.next_at()].into_iter().flatten().min()
    }

    /// Lets everything up to and including `until` happen.
    pub fn run_until(&mut self, until: Time) {
        while self.advance(until) {}
        self.now = self.now.max(until);
    }

    /// Lets the next thing happen.
    pub fn step(&mut self) {
        self.advance(Time::NEVER);
    }

    /// Lets the next thing happen, unless that is after `until`. False if nothing did.
    #[inline]
    fn advance(&mut self, until: Time) -> bool {
        let due = if self.started { self.queue.next_at().unwrap_or(Time::NEVER) } else { Time::ZERO };
        let planned = self.plan.front().map_or(Time::NEVER, |planned| planned.at);
        let next = planned.min(due);
        if next > until || next == Time::NEVER {
            return false;
        }
        if planned <= due {
            let Planned { at, fault } = self.plan.pop_front().expect("looked at just now");
            self.now = at;
            self.befall(&fault);
        } else if !self.started {
            self.started = true;
            (0..self.hosts.len()).for_each(|at| self.boot_fresh(at));
        } else if let Some((at, due)) = self.queue.pop() {
            self.now = at;
            match due {
                Due::Delivery(slot) => self.deliver(slot),
                Due::News(slot) => self.break_news(slot),
                Due::Answer(slot) => self.answer(slot),
                Due::Deadline(at) => self.wake(at),
            }
        }
        if self.adversary.is_some() {
            self.provoke();
        }
        if self.opinions_changed && self.net.has_model() {
            self.tell_leader();
        }
        true
    }

    /// Brings a fault about, now.
    pub fn befall(&mut self, fault: &Fault) {
        match fault {
            Fault::Crash(nodes) => nodes.iter().for_each(|id| self.crash(index(*id))),
            Fault::Recover(nodes) => nodes.iter().for_each(|id| self.recover(index(*id))),
            Fault::Pause(nodes) => nodes.iter().for_each(|id| self.pause(index(*id))),
            Fault::Resume(nodes) => nodes.iter().for_each(|id| self.resume(index(*id))),
            Fault::Cut(pairs) => pairs.iter().for_each(|(a, b)| {
                self.set_cut(*a, *b, true);
                self.set_cut(*b, *a, true);
            }),
            Fault::CutOneWay(pairs) => pairs.iter().for_each(|(from, to)| self.set_cut(*from, *to, true)),
            Fault::Mend(pairs) => pairs.iter().for_each(|(a, b)| {
                self.set_cut(*a, *b, false);
                self.set_cut(*b, *a, false);
            }),
            Fault::Heal => self.heal(),
            Fault::Partition(blocks) => self.partition(blocks),
            Fault::Slow { from, to, latency } => {
                self.net.slow(index(*from), index(*to), *latency);
                self.record(index(*from), What::Slow(*to));
            }
            Fault::DropNext { from, to, kind } => {
                self.net.mistreat(index(*from), index(*to), kind, 1, Mishap::Drop);
            }
            Fault::Message { from, to, kind, nth, mishap } => {
                self.net.mistreat(index(*from), index(*to), kind, *nth, *mishap);
            }
            Fault::CrashBeforeSend { node, kind } => self.hosts[index(*node)].trap = Some(kind.clone()),
            Fault::Perform { node, op } => self.perform(index(*node), *op),
            Fault::Stall { node, lasts } => self.stall(index(*node), *lasts),
            Fault::Unlink(_) | Fault::Refuse(_) | Fault::Accept(_) => self.befall_connections(fault),
            Fault::Resign(_) | Fault::ResignFor { .. } | Fault::Stand(_) => self.ask_members(fault),
            Fault::Transfer { .. } | Fault::Leave(_) | Fault::Work { .. } => self.ask_members(fault),
            Fault::AddVoter(node) => {
                self.change_voters(MemberChange::Add { node: *node, address: Address::default() });
            }
            Fault::RemoveVoter(node) => self.change_voters(MemberChange::Remove { node: *node }),
            Fault::Network { latency, loss, duplicate, fifo } => self.net.change_base(|rule| {
                rule.latency = latency.unwrap_or(rule.latency);
                rule.loss = loss.unwrap_or(rule.loss);
                rule.duplicate = duplicate.unwrap_or(rule.duplicate);
                rule.fifo = fifo.unwrap_or(rule.fifo);
            }),
        }
    }

    /// The whole world in canonical form: nodes and disks, the network, and messages in flight in the order of their
    /// arrival. What the plan still holds is told by how much of it is left.
    pub fn canonical(&self) -> Form {
        let mut form = Form::new();
        form.number(self.plan.len() as u64);
        self.net.canonical(self.now, &mut form);
        for host in &self.hosts {
            form.number(u64::from(host.paused) << 1 | u64::from(host.fresh));
            form.option(host.trap.as_deref(), |form, kind| form.text(kind));
            form.number(host.news.len() as u64);
            host.news.iter().for_each(|news| news.canonical(&mut form));
            form.number(host.inbox.len() as u64);
            host.inbox.iter().for_each(|message| message.frame.canonical(host.id, &mut form));
            form.incarnation(host.id, host.disk.incarnation);
            form.suspicions(host.disk.count);
            form.option(host.disk.group.as_deref(), |form, kept| kept.canonical(form));
            form.option(host.drive.as_ref(), |form, drive| drive.canonical(self.now, form));
            let now = host.clock.reads(self.now);
            form.option(host.node.as_ref(), |form, node| node.canonical(now, form));
        }
        if let Some(programs) = &self.programs {
            programs.canonical(&mut form);
        }
        if let Some(connections) = &self.connections {
            connections.canonical(&mut form);
            for (at, slot) in self.queue.news() {
                form.deadline(self.now, at);
                connections.canonical_news(slot, &mut form);
            }
        }
        for (at, slot) in self.queue.deliveries() {
            let message = &self.in_flight[slot];
            form.deadline(self.now, at);
            form.number(message.to as u64);
            message.frame.canonical(self.hosts[message.to].id, &mut form);
        }
        form.option(self.adversary.as_ref().map(Adversary::state), |form, (suppressed, held)| {
            form.option(suppressed, Form::node);
            form.number(held.len() as u64);
            for message in held {
                form.number(message.to as u64);
                message.frame.canonical(self.hosts[message.to].id, form);
            }
        });
        form
    }

    // What reaches a node, and what it asks for.

    #[inline]
    fn deliver(&mut self, slot: usize) {
        let message = self.in_flight.remove(slot);
        if self.in_flight.is_empty() {
            // The order in which slots became free does not matter any more: the next messages are side by side.
            self.in_flight.clear();
        }
        if self.hosts[message.to].paused {
            self.hosts[message.to].inbox.push_back(message);
        } else {
            self.arrive(message);
        }
    }

    /// This and [`World::input`] are always inlined: at each call on its way to the node, a message would be copied once more.
    #[inline(always)]
    fn arrive(&mut self, message: InFlight<E::Msg>) {
        if self.hosts[message.to].node.is_none() {
            self.lose(message.to, &message, DropReason::Down);
        } else {
            self.record_traffic(message.to, What::Recv(self.msg_ref(&message), message.sent));
            self.input(message.to, Input::Frame(message.frame));
        }
    }

    fn wake(&mut self, at: usize) {
        let host = &mut self.hosts[at];
        if host.wake != self.now {
            return; // The node has changed its mind since.
        }
        host.wake = Time::NEVER;
        if host.paused {
            return; // It will be woken when it resumes.
        }
        let local = host.clock.reads(self.now);
        let Some(node) = &mut host.node else { return };
        if node.deadline().is_some_and(|deadline| deadline <= local) {
            node.handle(local, Input::Deadline, &mut self.outbox);
            host.wakes = if host.woken == self.now { host.wakes + 1 } else { 1 };
            host.woken = self.now;
            assert!(host.wakes < WAKES_AT_ONE_INSTANT_MAX, "node {} does not let time pass", host.id);
            if !self.outbox.is_empty() {
                self.record_traffic(at, What::Deadline);
            }
            self.carry_out(at);
        } else {
            self.schedule_wake(at);
        }
    }

    #[inline(always)]
    fn input(&mut self, at: usize, input: Input<E::Msg>) {
        let host = &mut self.hosts[at];
        let local = host.clock.reads(self.now);
        let node = host.node.as_mut().expect("only a node that is up gets input");
        node.handle(local, input, &mut self.outbox);
        self.carry_out(at);
    }

    /// Carries out what the node asks for, and has it woken in time. Most messages that arrive ask for nothing.
    #[inline]
    fn carry_out(&mut self, at: usize) {
        if !self.outbox.is_empty() {
            self.carry_out_all(at);
        }
        self.schedule_wake(at);
    }

    /// Carries out the outbox in order, so that what is persisted is durable before what follows is sent.
    fn carry_out_all(&mut self, at: usize) {
        let mut outbox = std::mem::take(&mut self.outbox);
        let (mut tenured, mut kept) = (false, false);
        for output in outbox.drain() {
            if output.is_effect() && self.burns_down(at) {
                self.crash(at);
                break;
            }
            match output {
                Output::Persist(durable) => self.persist(at, durable),
                Output::Keep(change) => {
                    kept = true;
                    self.keep_vote(at, *change);
                }
                Output::Valid { epoch, until } => self.tell_valid(at, epoch, until),
                Output::Members(_) | Output::News(_) => {}
                Output::Plan(request) => self.ask(at, &request),
                Output::Tenure(tenure) => {
                    tenured = true;
                    self.tell_tenure(at, tenure);
                }
                Output::Answer { ticket, outcome } => self.answer_program(at, ticket, outcome),
                Output::Left => {
                    self.record(at, What::Program(Program::Left));
                    self.end(at, true);
                    break;
                }
                Output::Event(event) => {
                    self.opinions_changed |= matches!(event, Event::Opinion(_));
                    self.record(at, What::Node(event));
                }
                Output::Send { to, frame } => {
                    if self.springs_trap(at, &frame) {
                        self.crash(at);
                        break;
                    }
                    self.send(at, index(to), frame);
                }
                Output::Broadcast(frame) => {
                    if self.springs_trap(at, &frame) {
                        self.crash(at);
                        break;
                    }
                    (0..self.hosts.len())
                        .filter(|to| *to != at)
                        .for_each(|to| self.send(at, to, frame.clone()));
                }
            }
        }
        self.outbox = outbox;
        if kept {
            self.write_votes(at);
        }
        if tenured {
            self.serve(at);
        }
    }

    /// Whether the node is to crash before it does anything more.
    fn burns_down(&mut self, at: usize) -> bool {
        let fuse = &mut self.hosts[at].fuse;
        let left = fuse.map(|left| left.checked_sub(1));
        *fuse = left.flatten();
        left == Some(None)
    }

    fn springs_trap(&self, at: usize, frame: &Frame<E::Msg>) -> bool {
        self.hosts[at].trap.as_ref().is_some_and(|trap| trap == frame.body.kind().name())
    }

    #[inline(always)]
    fn send(&mut self, from: usize, to: usize, frame: Frame<E::Msg>) {
        self.messages += 1;
        let mut message = InFlight { to, id: self.messages, sent: self.now, frame };
        if let Some(Relay(relay)) = &mut self.relay {
            message.frame = relay(message.frame);
        }
        self.record_traffic(from, What::Send(self.msg_ref(&message)));
        if self.adversary.as_ref().is_some_and(|adversary| adversary.suppresses(message.frame.from)) {
            return self.hold_up(from, message);
        }
        if self.connections.as_ref().is_some_and(|connections| connections.rest(from, to)) {
            return self.lose(from, &message, DropReason::Cut);
        }
        match self.net.route(self.now, from, to, || message.frame.body.kind(), &mut self.rng) {
            Fate::Lost(reason) => self.lose(from, &message, reason),
            Fate::Arrives(first, second) => {
                if first.max(second.unwrap_or(first)).since(self.now) > self.blueprint.setup.timing.delta {
                    self.record(from, What::Late(self.msg_ref(&message)));
                }
                self.launch(message, first, second);
            }
        }
    }

    fn lose(&mut self, at: usize, message: &InFlight<E::Msg>, why: DropReason) {
        self.record(at, What::Drop(self.msg_ref(message), why));
    }

    #[inline(always)]
    fn launch(&mut self, message: InFlight<E::Msg>, first: Time, second: Option<Time>) {
        if let Some(second) = second {
            let copy = InFlight { frame: message.frame.clone(), ..message };
            self.queue.delivery(second, self.in_flight.insert(copy));
        }
        self.queue.delivery(first, self.in_flight.insert(message));
    }

    /// Leaves a message to the adversary. Whether it is lost is settled now, as for any other; its delay, when it is
    /// let go.
    fn hold_up(&mut self, from: usize, message: InFlight<E::Msg>) {
        let msg = self.msg_ref(&message);
        if let Some(reason) = self.net.loses(from, message.to, || msg.kind, &mut self.rng) {
            return self.record(from, What::Drop(msg, reason));
        }
        self.record(from, What::Late(msg));
        self.adversary.as_mut().expect("it holds up what this node sends").hold(message);
    }

    /// Lets the adversary see how its victim fares.
    fn provoke(&mut self) {
        let Some(mut adversary) = self.adversary.take() else { return };
        let released = adversary.look(self.opinions());
        self.adversary = Some(adversary);
        for message in released {
            let msg = self.msg_ref(&message);
            match self.net.carry(self.now, index(msg.from), message.to, || msg.kind, &mut self.rng) {
                Fate::Lost(reason) => self.record(index(msg.from), What::Drop(msg, reason)),
                Fate::Arrives(first, second) => self.launch(message, first, second),
            }
        }
    }

    /// Lets the network know whom most nodes name.
    fn tell_leader(&mut self) {
        self.opinions_changed = false;
        let mut named = vec![0_u32; self.hosts.len()];
        for leader in self.opinions().filter_map(|(_, opinion)| opinion.normal_leader()) {
            named[index(leader)] += 1;
        }
        let most = (0..named.len()).max_by_key(|at| (named[*at], Reverse(*at)));
        if let Some(leader) = most.filter(|at| named[*at] > 0) {
            self.net.tell_leader(leader);
        }
    }

    /// Has the queue wake the node at its deadline, unless it will do so no later anyway: waking early is harmless,
    /// and a deadline that is put off again and again then costs nothing.
    #[inline]
    fn schedule_wake(&mut self, at: usize) {
        let host = &mut self.hosts[at];
        let Some(deadline) = host.node.as_ref().and_then(Node::deadline) else { return };
        if host.paused {
            return;
        }
        let wake = host.clock.reaches(deadline).max(self.now);
        if wake < host.wake {
            host.wake = wake;
            self.queue.deadline(wake, at);
        }
    }

    // The record.

    /// Made anew for each event. One that is kept for several has to be copied right after it was written, and a processor waits
    /// for that longer than it takes to make another.
    #[inline(always)]
    fn msg_ref(&self, message: &InFlight<E::Msg>) -> MsgRef {
        let InFlight { to, id, .. } = *message;
        MsgRef { id, kind: message.frame.body.kind(), from: message.frame.from, to: self.hosts[to].id }
    }

    fn record(&mut self, at: usize, what: What) {
        self.record_traffic(at, what);
    }

    /// As [`World::record`], for the events that nearly all are: where it is known which one it is, most of what becomes of it
    /// is known as well.
    #[inline(always)]
    fn record_traffic(&mut self, at: usize, what: What) {
        let host = &self.hosts[at];
        let incarnation = host.node.as_ref().map_or(host.disk.incarnation, Node::incarnation);
        self.journal.record(&TraceEvent { at: self.now, node: host.id, incarnation, what });
    }
}

impl<E: Election> Host<E> {
    /// The incarnation in which others know it: that of its node, as soon as it is on disk.
    fn known_as(&self) -> Incarnation {
        let on_disk = self.disk.incarnation;
        self.node.as_ref().map_or(on_disk, |node| node.incarnation().min(on_disk))
    }

    fn new(id: NodeId, scenario: &Scenario) -> Self {
        Self {
            id,
            clock: Clock::drifting(scenario.drift_ppm.get(&id).copied().unwrap_or(0)),
            disk: Durable::default(),
            drive: Drive::of(id, scenario),
            votes: scenario.exclusive.as_ref().map(|_| Votes::of(id)),
            node: None,
            fresh: true,
            paused: false,
            inbox: VecDeque::new(),
            news: VecDeque::new(),
            wake: Time::NEVER,
            woken: Time::ZERO,
            wakes: 0,
            trap: None,
            fuse: None,
        }
    }
}
