//! From one state to the next: what can happen, and what comes of it.

use std::sync::Arc;

use bellwether_proto::detector::DetectorKind;
use bellwether_proto::election::{Channels, Election, Primary, Protocol, Variant};
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::{Durable, Event, Input, Outbox, Output};
use bellwether_proto::message::Frame;
use bellwether_proto::node::Node;
use bellwether_proto::promise::{Assumption, Promise};
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::What;

use super::agents::Agents;
use super::bounds::{Bounds, Reached, UNBOUNDED};
use super::broken::Breach;
use super::channels::Full;
use super::connections::News;
use super::interned::{Interned, print_of};
use super::oracle::{self, Oracle};
use super::state::{Content, Host, Letter, State};
use super::together::Pace;
use super::transition::Transition;
use super::turn::{Deed, Turn, wake};
use crate::blueprint::Blueprint;
use crate::check::{self, Leadership};
use crate::scenario::{Scenario, index};

/// More nodes do not fit into a packed step, let alone into a search.
pub const NODES_MAX: u32 = 15;

/// Turns that are kept; what is forgotten can be played again.
const TURNS_MAX: usize = 1 << 20;

/// An algorithm, how many nodes run it, and what may befall them: a relation between states.
#[derive(Debug)]
pub struct System<E: Election> {
    pub(super) scenario: Scenario,
    pub(super) blueprint: Blueprint,
    pub(super) bounds: Bounds,
    pub(super) oracle: Oracle,
    pub(super) pace: Pace,
    /// What is to be known of agents, if nodes run as such.
    pub(super) agents: Option<Agents>,
    /// Whether messages of one channel arrive in the order of sending.
    pub(super) in_order: bool,
    /// Whether anybody looks at the numbers of frames.
    numbered: bool,
    pub(super) reductions: Reductions,
    /// What becomes of what a node asks for: a planted fault.
    fault: Option<Fault<E>>,
    hosts: Interned<Host<E>>,
    pub(super) turns: Interned<Turn<E>>,
}

/// What becomes of something that a node asks for; `None` if it is not done.
pub type Fault<E> = fn(NodeId, Output<<E as Election>::Msg>) -> Option<Output<<E as Election>::Msg>>;

/// What is left out because it makes no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reductions {
    /// Messages to a node that is down and may not come back are gone at once. Such a node never takes a step again, so
    /// that all that the arrival of a message there can do is to remove the message, now or later. No node sees the
    /// difference, and only nodes' opinions and steps are judged.
    pub dead_letters: bool,
}

impl Reductions {
    /// All of them.
    pub const ALL: Self = Self { dead_letters: true };
    /// None of them.
    pub const NONE: Self = Self { dead_letters: false };
}

/// A step that has been taken as far as the node is concerned; what the node asks for is still to be carried out.
pub(super) struct Reaction<E: Election> {
    /// With what the step used up gone.
    pub(super) base: State<E>,
    /// What the node made of it, if it was a node's step.
    pub(super) turn: Option<Arc<Turn<E>>>,
    /// The message that arrived or was lost.
    pub(super) letter: Option<Letter<E::Msg>>,
    pub(super) occasion: Occasion,
}

/// Why a node takes a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    /// Something arrived or became due, or its work has ended.
    Ordinary,
    /// Its program asked for something.
    Asked,
    /// It comes up.
    Boot,
}

/// Why a step is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hindrance {
    /// There is nothing to take.
    Impossible,
    /// No deadline may expire any more.
    NoTimeLeft,
}

impl<E: Election> System<E> {
    /// That algorithm on so many nodes, with default timing and a detector of the class that it assumes.
    ///
    /// # Panics
    /// If there are no nodes, or more than [`NODES_MAX`].
    pub fn new(protocol: Protocol, variant: Variant, nodes: u32, bounds: Bounds) -> Self {
        assert!((1..=NODES_MAX).contains(&nodes), "a search is of 1 to {NODES_MAX} nodes");
        let spec = protocol.spec();
        let mut scenario = Scenario::calm(protocol, nodes, Time::ZERO + Span::secs(1));
        scenario.variant = variant;
        scenario.detector.kind = DetectorKind::Perfect;
        // When a report goes out is for the search to choose.
        scenario.detector.period = Span::ZERO;
        let kept_in_order = |promise: &Promise| promise.under.contains(&Assumption::Fifo);
        let in_order = spec.channels == Channels::InOrder || spec.promises(variant).iter().any(kept_in_order);
        Self {
            blueprint: Blueprint::of(&scenario),
            scenario,
            bounds,
            oracle: Oracle::for_algorithm(spec),
            pace: Pace::for_algorithm(spec),
            agents: None,
            in_order,
            numbered: spec.channels == Channels::InOrder && variant == Variant::Repaired,
            reductions: Reductions::ALL,
            fault: None,
            hosts: Interned::new(),
            turns: Interned::new(),
        }
    }

    /// The same system, with these reductions only.
    #[must_use]
    pub fn reduced_by(mut self, reductions: Reductions) -> Self {
        self.reductions = reductions;
        self
    }

    /// The same system, with this rule for which views may have a leader.
    #[must_use]
    pub fn with_primary(mut self, primary: Primary) -> Self {
        self.scenario.parameters.primary = Some(primary);
        self.blueprint = Blueprint::of(&self.scenario);
        self
    }

    /// The same system, with a planted fault: what this makes of what nodes ask for is done instead.
    #[must_use]
    pub fn with_fault(mut self, fault: Fault<E>) -> Self {
        self.fault = Some(fault);
        self
    }

    /// What a node asks for, as it is done.
    pub(super) fn asked_for(
        &self,
        node: NodeId,
        outbox: &mut Outbox<E::Msg>,
    ) -> impl Iterator<Item = Output<E::Msg>> {
        outbox.drain().filter_map(move |output| match self.fault {
            Some(fault) => fault(node, output),
            None => Some(output),
        })
    }

    /// The scenario whose world is searched, but for what may befall it.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> u32 {
        self.scenario.nodes
    }

    /// What may befall them.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// All nodes have started, and none has heard from another; but where links are consistent, all are up, and all that
    /// came of that has arrived. Agents begin where their [`Origin`](super::Origin) is.
    pub fn initial(&self) -> State<E> {
        let started = self.scenario.ids().map(|id| self.start(self.booted(id, Durable::default())));
        let turns: Vec<Arc<Turn<E>>> = started.collect();
        // All of them are up before anything that they say is on its way.
        let hosts = turns.iter().map(|turn| Arc::clone(&turn.host)).collect();
        let mut state = State { hosts, letters: Vec::new(), left: self.bounds, record: None, sent: 0 };
        if self.agents.is_some() {
            return self.first_of_agents(state, &turns);
        }
        for turn in turns {
            self.carry_out(&mut state, turn.host.index(), &turn.deeds)
                .expect("a first message fits into its channel");
        }
        // Whom the detector of a node that starts takes for alive is whoever starts with it.
        self.settle_told(&mut state);
        if self.oracle == Oracle::Links { self.with_links_up(state) } else { state }
    }

    /// Every state that may be next, by which step; what is not possible because of a bound is counted.
    pub fn successors(&self, state: &State<E>, mut emit: impl FnMut(Successor<E>)) -> Reached {
        let mut reached = Reached::default();
        self.for_each_step(state, &mut reached, |step, reached| {
            let reaction = match self.react(state, step) {
                Ok(reaction) => reaction,
                Err(Hindrance::Impossible) => return,
                Err(Hindrance::NoTimeLeft) => return reached.expiries += 1,
            };
            let effects = reaction.turn.as_ref().map_or(0, |turn| turn.effects);
            if state.left.crashes > 0 {
                for cut in 1..effects {
                    match self.cut_short(&reaction, cut) {
                        Ok((state, breaches)) => {
                            emit(Successor { step: step.cut_after(cut), state, breaches })
                        }
                        Err(Full) => reached.in_flight += 1,
                    }
                }
            }
            match self.complete(reaction) {
                Ok((state, breaches)) => emit(Successor { step, state, breaches }),
                Err(Full) => reached.in_flight += 1,
            }
        });
        reached
    }

    /// The state after that step, if the step is possible.
    pub fn after(&self, state: &State<E>, step: Transition) -> Option<State<E>> {
        let reaction = self.react(state, step.cut_after(0)).ok()?;
        let after = match step.cut() {
            0 => self.complete(reaction),
            cut => self.cut_short(&reaction, cut),
        };
        after.ok().map(|(state, _)| state)
    }

    fn for_each_step(
        &self,
        state: &State<E>,
        reached: &mut Reached,
        mut take: impl FnMut(Transition, &mut Reached),
    ) {
        let left = state.left;
        let mut place = 0;
        while place < state.letters.len() {
            let Letter { from, to, .. } = state.letters[place];
            let channel = state.channel(from, to);
            let is_up = state.is_up_at(usize::from(to));
            for nth in self.arrivals(state, channel.clone()) {
                // What may not be early any more arrives when it must.
                if left.early == 0 && state.letters[place + usize::from(nth)].left > Span::ZERO {
                    continue;
                }
                take(Transition::Deliver { from, to, nth, cut: 0 }, reached);
                if is_up && left.duplicates > 0 {
                    take(Transition::Repeat { from, to, nth, cut: 0 }, reached);
                }
            }
            // What is not about to arrive can be lost as well, and makes room for others.
            if is_up && left.losses > 0 {
                let lost = self.different(state, channel.clone());
                lost.into_iter().for_each(|nth| take(Transition::Lose { from, to, nth }, reached));
            }
            place = channel.end;
        }
        for (at, host) in state.hosts.iter().enumerate() {
            let node = index_of(at);
            if host.node.is_none() {
                if left.recoveries > 0 {
                    take(Transition::Recover { node, cut: 0 }, reached);
                }
                continue;
            }
            take(Transition::Expire { node, cut: 0 }, reached);
            if left.waits > 0 && self.pace == Pace::EachItsOwn {
                take(Transition::Wait { node }, reached);
            }
            if left.crashes > 0 {
                take(Transition::Crash { node }, reached);
            }
            self.for_each_telling(state, at, |step| take(step, reached));
            self.for_each_deed_of_programs(host, &left, |step| take(step, reached));
        }
        if self.pace == Pace::Common {
            take(Transition::Pass { halfway: false }, reached);
            if left.waits > 0 {
                take(Transition::Pass { halfway: true }, reached);
            }
        }
    }

    /// What the node concerned makes of a step.
    pub(super) fn react(&self, state: &State<E>, step: Transition) -> Result<Reaction<E>, Hindrance> {
        let mut base = state.clone();
        let reaction = match step {
            Transition::Deliver { from, to, nth, .. } => self.arrive(base, from, to, nth, Copies::One),
            Transition::Repeat { from, to, nth, .. } => {
                spend(&mut base.left.duplicates)?;
                self.arrive(base, from, to, nth, Copies::Two)
            }
            Transition::Lose { from, to, nth } => {
                spend(&mut base.left.losses)?;
                self.lose(base, from, to, nth)
            }
            Transition::Expire { node, .. } => {
                return match self.pace {
                    Pace::EachItsOwn => self.expire(base, usize::from(node)),
                    Pace::Common => self.expire_together(base, usize::from(node)),
                };
            }
            Transition::Pass { halfway } => return self.pass(base, halfway),
            Transition::Wait { node } => {
                spend(&mut base.left.waits)?;
                self.wait(base, usize::from(node))
            }
            Transition::Crash { node } => {
                spend(&mut base.left.crashes)?;
                self.crash_idle(base, usize::from(node))
            }
            Transition::Recover { node, .. } => {
                spend(&mut base.left.recoveries)?;
                self.recover(base, usize::from(node))
            }
            Transition::Tell { to, about, .. } => self.tell(base, to, about),
            Transition::Lie { to, about, .. } => {
                spend(&mut base.left.lies)?;
                self.lie(base, to, about)
            }
            Transition::Ask { node, what, .. } => {
                spend(&mut base.left.commands)?;
                self.ask(base, usize::from(node), what)
            }
            Transition::Finish { node, .. } => self.finish(base, usize::from(node)),
        };
        reaction.ok_or(Hindrance::Impossible)
    }

    fn lose(&self, mut base: State<E>, from: u8, to: u8, nth: u8) -> Option<Reaction<E>> {
        let place = base.channel(from, to).nth(usize::from(nth))?;
        let letter = base.letters.remove(place);
        Some(Reaction { letter: Some(letter), ..Reaction::none(base) })
    }

    fn crash_idle(&self, mut base: State<E>, at: usize) -> Option<Reaction<E>> {
        base.hosts[at].node.as_ref()?;
        let (disk, seen) = (base.hosts[at].disk.clone(), base.hosts[at].seen);
        self.crash(&mut base, at, disk, seen);
        Some(Reaction::none(base))
    }

    fn arrive(&self, mut base: State<E>, from: u8, to: u8, nth: u8, copies: Copies) -> Option<Reaction<E>> {
        let place = base.channel(from, to).nth(usize::from(nth))?;
        if base.letters[place].left > Span::ZERO && base.left.early != UNBOUNDED {
            spend(&mut base.left.early).ok()?;
        }
        let letter = match copies {
            Copies::One => base.letters.remove(place),
            Copies::Two => base.letters[place].clone(),
        };
        let host = &base.hosts[usize::from(to)];
        let turn = host
            .node
            .is_some()
            .then(|| self.receive(base.hosts[usize::from(from)].id, host, &letter.content));
        Some(Reaction { turn, letter: Some(letter), ..Reaction::none(base) })
    }

    fn receive(&self, from: NodeId, host: &Host<E>, content: &Content<E::Msg>) -> Arc<Turn<E>> {
        // A sum would be the same for two that are exchanged.
        let print = host.print.rotate_left(1) ^ content.print;
        self.turns.get(print).unwrap_or_else(|| {
            let mut after = host.opened();
            let node = after.node.as_ref().expect("only a node that is up receives");
            let input = content.cargo.input(from, node);
            let outbox = after.input(input).expect("it is up");
            self.turns.share(print, self.turn(Some(host), after, outbox))
        })
    }

    /// What is due at once costs nothing: no time passes.
    fn expire(&self, mut base: State<E>, at: usize) -> Result<Reaction<E>, Hindrance> {
        let host = &base.hosts[at];
        let turn = match self.turns.get(host.print) {
            Some(turn) => turn,
            None => {
                let mut after = host.opened();
                let outbox = wake(&mut after).ok_or(Hindrance::Impossible)?;
                self.turns.share(host.print, self.turn(Some(host), after, outbox))
            }
        };
        if turn.passes {
            spend(&mut base.left.expiries).map_err(|_| Hindrance::NoTimeLeft)?;
        }
        Ok(Reaction::of(base, turn))
    }

    fn wait(&self, mut base: State<E>, at: usize) -> Option<Reaction<E>> {
        let mut woken = base.hosts[at].opened();
        wake(&mut woken)?;
        let mut host = base.hosts[at].opened();
        let until = woken.clock - Span::micros(1);
        if until <= host.clock {
            return None;
        }
        host.clock = until;
        base.hosts[at] = self.seal(host);
        Some(Reaction::none(base))
    }

    fn recover(&self, mut base: State<E>, at: usize) -> Option<Reaction<E>> {
        let before = Arc::clone(&base.hosts[at]);
        if before.node.is_some() {
            return None;
        }
        let mut host = Host { seen: before.seen, ..self.booted(before.id, before.disk.clone()) };
        if self.oracle == Oracle::Accurate {
            self.announce(&mut base, &host);
        }
        for peer in base.hosts.iter().filter(|peer| peer.id != before.id) {
            match self.oracle {
                Oracle::Silent | Oracle::Links => {}
                Oracle::Accurate if peer.node.is_some() => {}
                Oracle::Accurate => oracle::tell(&mut host, peer, None),
                Oracle::Fallible => {
                    let truth = oracle::truth(&self.blueprint.setup.roster, &host, peer);
                    oracle::tell(&mut host, peer, truth);
                }
            }
        }
        self.bury(&mut base, |to| to == at);
        let turn = self.start(host);
        Some(Reaction { occasion: Occasion::Boot, ..Reaction::of(base, turn) })
    }

    // Nodes.

    fn booted(&self, id: NodeId, disk: Durable) -> Host<E> {
        let told = match self.oracle {
            Oracle::Fallible => vec![None; self.scenario.nodes as usize],
            Oracle::Silent | Oracle::Accurate | Oracle::Links => Vec::new(),
        };
        // With the groups of the past in them, states would never come back, and no election depends on them.
        let node = self.blueprint.node(id, &disk, None, Time::ZERO).without_history().over_told_links();
        let program = self.agents.as_ref().map(|agents| agents.program(Time::ZERO));
        let node = Some(node);
        Host { node, told, program, ..Host::down(id, disk) }
    }

    fn start(&self, mut host: Host<E>) -> Arc<Turn<E>> {
        let outbox = host.input(Input::Start).expect("it was booted");
        Arc::new(self.turn(None, host, outbox))
    }

    /// What a node has done, and has asked for.
    pub(super) fn turn(
        &self,
        before: Option<&Host<E>>,
        mut host: Host<E>,
        mut outbox: Outbox<E::Msg>,
    ) -> Turn<E> {
        let mut deeds = Vec::new();
        let mut breaches = Vec::new();
        for output in self.asked_for(host.id, &mut outbox) {
            match output {
                Output::Persist(durable) => {
                    host.disk = durable.clone();
                    deeds.push(Deed::Persist(durable));
                }
                Output::Send { to, frame } => deeds.push(self.letter(to, frame)),
                Output::Broadcast(frame) => {
                    let others = self.scenario.ids().filter(|id| *id != host.id);
                    deeds.extend(others.map(|to| self.letter(to, frame.clone())));
                }
                // No application takes part.
                Output::Plan(_) => {}
                // Votes have a search of their own.
                Output::Keep(_) | Output::Valid { .. } | Output::Members(_) | Output::News(_) => {}
                Output::Event(event) => {
                    breaches.extend(host.breach_by(event));
                    host.note(event);
                    deeds.push(Deed::Event(event));
                }
                Output::Tenure(tenure) => {
                    host.told(tenure);
                    deeds.push(Deed::Tenure(tenure));
                }
                Output::Answer { ticket, outcome } => {
                    host.answered();
                    deeds.push(Deed::Answer(ticket, outcome));
                }
                Output::Left => deeds.push(Deed::Left),
            }
        }
        let incarnations = (before.and_then(|before| before.node.as_ref()), host.node.as_ref());
        let of_election = match incarnations {
            (Some(before), Some(after)) if before.incarnation() == after.incarnation() => {
                after.election().breach(before.election())
            }
            _ => None,
        };
        let of_layers = || host.node.as_ref().and_then(Node::breach);
        breaches.extend(of_election.or_else(of_layers).map(Breach::of_invariant));
        let stood_aside = incarnations.0.is_some_and(Node::is_aside);
        let befalls = |what: What| check::befalls(host.id, what, stood_aside).is_some();
        let disturbs = deeds.iter().any(|deed| deed.what().is_some_and(befalls));
        let leaves = deeds.iter().any(|deed| matches!(deed, Deed::Left));
        let effects = index_of(deeds.iter().filter(|deed| deed.is_effect()).count());
        let passes = before.is_some_and(|before| before.clock != host.clock);
        Turn { host: self.seal(host), deeds, effects, passes, breaches, disturbs, leaves }
    }

    fn letter(&self, to: NodeId, mut frame: Frame<E::Msg>) -> Deed<E::Msg> {
        if !self.numbered {
            frame.seq = 0;
        }
        Deed::Send { to: index_of(index(to)), content: Content::frame(frame, to) }
    }

    /// The step as a whole, and what is broken by it.
    pub(super) fn complete(&self, reaction: Reaction<E>) -> Result<(State<E>, Vec<Breach>), Full> {
        let Reaction { base: mut state, turn, occasion, .. } = reaction;
        let Some(turn) = turn else { return Ok((state, Vec::new())) };
        let at = turn.host.index();
        if occasion != Occasion::Ordinary || turn.disturbs {
            state.disturb();
        }
        if occasion == Occasion::Boot && self.agents.is_some() {
            state.hosts[at] = Arc::clone(&turn.host);
            self.connect(&mut state, at);
        }
        let mut breaches = self.carry_out(&mut state, at, &turn.deeds)?;
        state.hosts[at] = Arc::clone(&turn.host);
        if turn.leaves {
            self.leave(&mut state, at);
        }
        self.forget_announced(&mut state);
        breaches.extend(turn.breaches.iter().cloned());
        Ok((state, breaches))
    }

    /// The step up to and including its `cut`-th effect, where the node crashes.
    pub(super) fn cut_short(&self, reaction: &Reaction<E>, cut: u8) -> Result<(State<E>, Vec<Breach>), Full> {
        let Reaction { base, turn: Some(turn), occasion, .. } = reaction else { return Err(Full) };
        let mut state = base.clone();
        let at = turn.host.index();
        let done = turn.done_before(cut);
        // Nobody is connected with a process that ends as soon as it has begun.
        let unheard = *occasion == Occasion::Boot && self.agents.is_some();
        let breaches = if unheard { Vec::new() } else { self.carry_out(&mut state, at, done)? };
        let written = done.iter().rev().find_map(|deed| match deed {
            Deed::Persist(durable) => Some(durable.clone()),
            _ => None,
        });
        state.left.crashes -= 1;
        let disk = written.unwrap_or_else(|| state.hosts[at].disk.clone());
        let seen = turn.remembered(cut, state.hosts[at].seen);
        if unheard {
            state.hosts[at] = self.seal(Host { seen, ..Host::down(turn.host.id, disk) });
        } else {
            self.crash(&mut state, at, disk, seen);
        }
        self.forget_announced(&mut state);
        Ok((state, breaches))
    }

    /// Sends what is to be sent, and judges what is announced.
    pub(super) fn carry_out(
        &self,
        state: &mut State<E>,
        at: usize,
        deeds: &[Deed<E::Msg>],
    ) -> Result<Vec<Breach>, Full> {
        let mut breaches = Vec::new();
        for deed in deeds {
            match deed {
                Deed::Send { to, content } => self.send(state, at, *to, content)?,
                Deed::Event(Event::Announced(announced)) => {
                    breaches.extend(state.announce(at, *announced));
                }
                _ => {}
            }
        }
        Ok(breaches)
    }

    /// A node crashes that remembers having announced that.
    fn crash(&self, state: &mut State<E>, at: usize, disk: Durable, seen: Option<Leadership>) {
        let id = state.hosts[at].id;
        let down = Host { seen, ..Host::down(id, disk) };
        if self.oracle == Oracle::Accurate {
            self.announce(state, &down);
        }
        state.hosts[at] = self.seal(down);
        self.bury(state, |_| false);
        if self.agents.is_some() {
            state.disturb();
            self.disconnect(state, at, News::Gone);
        }
    }

    pub(super) fn seal(&self, mut host: Host<E>) -> Arc<Host<E>> {
        let mut form = std::mem::take(&mut host.form);
        host.canonical(host.clock, &mut form);
        host.form = form;
        let mut exact = vec![u64::from(host.id.0)];
        host.form.write_exact(&mut exact);
        host.print = print_of(&exact);
        self.hosts.share(host.print, host)
    }

    /// Forgets what is not worth its memory.
    pub(super) fn forget_unused(&self) {
        self.turns.forget_beyond(TURNS_MAX);
        self.hosts.forget_unused();
    }
}

/// What a step leads to.
#[derive(Debug)]
pub struct Successor<E: Election> {
    /// Which step.
    pub step: Transition,
    /// To what.
    pub state: State<E>,
    /// What is broken by it.
    pub breaches: Vec<Breach>,
}

#[derive(Clone, Copy)]
enum Copies {
    One,
    Two,
}

impl<E: Election> Reaction<E> {
    pub(super) fn none(base: State<E>) -> Self {
        Self { base, turn: None, letter: None, occasion: Occasion::Ordinary }
    }

    pub(super) fn of(base: State<E>, turn: Arc<Turn<E>>) -> Self {
        Self { turn: Some(turn), ..Self::none(base) }
    }
}

pub(super) fn spend(left: &mut u8) -> Result<(), Hindrance> {
    *left = left.checked_sub(1).ok_or(Hindrance::Impossible)?;
    Ok(())
}

/// Indices are small: nodes are few, and so are messages in a channel.
pub(super) fn index_of(at: usize) -> u8 {
    u8::try_from(at).expect("there are few of anything in a search")
}
