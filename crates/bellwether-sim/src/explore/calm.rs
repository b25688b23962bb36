//! Liveness: what becomes of a state if nothing befalls it any more.
//!
//! From a state on, every message takes the same time, nothing is lost, all clocks run at the same pace, nobody crashes or
//! comes back, and detectors are told the truth. There is exactly one such future. Since states repeat, it comes round to
//! one that it has been through, and from there on for ever: the search knows all of it. The property holds if the system
//! is settled all the way round, and its bound is kept if it became so in time.
//!
//! Nodes that are down stay down. Those that may come back do so in other states of the search.
//!
//! Futures of different states soon run together, so what is known of one is known of the others: `Known`.

use std::sync::Arc;

use bellwether_proto::canonical::Form;
use bellwether_proto::election::Election;
use bellwether_proto::group::TaskDigest;
use bellwether_proto::ident::{GroupId, NodeId};
use bellwether_proto::io::{Input, Outbox, Output};
use bellwether_proto::leadership::LeadershipMsg;
use bellwether_proto::members::Members;
use bellwether_proto::message::{Body, Frame, Layer};
use bellwether_proto::opinion::Opinion;
use bellwether_proto::promise::Property;
use bellwether_proto::time::{Span, Time};

use super::bounds::Bounds;
use super::broken::Breach;
use super::connections::News;
use super::links::{self, LinkMay};
use super::oracle::{self, Oracle};
use super::record::Record;
use super::state::{Cargo, Content, Host, Letter, Scratch, State, up};
use super::system::{System, index_of};
use super::together::Pace;
use crate::check::{self, Judgement, Opinions};
use crate::run::facts;
use crate::scenario::index;
use crate::visited::Table;

/// A future that has not come round after so many instants is left undecided: hundreds of times what it takes.
pub const INSTANTS_MAX: usize = 50_000;

/// What must come to be so, and how soon.
#[derive(Debug)]
pub(super) struct Goals {
    properties: Vec<Property>,
    /// How many must be able to speak with each other for one of them to be announced.
    quorum: usize,
    /// Of the properties, who may send what in the end is not seen in a state.
    single_sender: bool,
    bound: Span,
    instants_max: usize,
}

impl Goals {
    pub(super) fn new<E: Election>(system: &System<E>, judged: &[Property], instants_max: usize) -> Self {
        let facts = facts(&system.scenario);
        let bounds = judged.iter().filter_map(|property| check::bound(*property, &facts));
        Self {
            properties: judged.iter().copied().filter(|property| is_goal(*property)).collect(),
            quorum: facts.leading.quorum,
            single_sender: judged.contains(&Property::SingleSender),
            bound: bounds.min().unwrap_or(Span::micros(u64::from(LATEST))),
            instants_max,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.properties.is_empty() && !self.single_sender
    }

    /// What is not as it must be in the end, if anything.
    fn missed_by<E: Election>(&self, calm: &Calm<'_, E>) -> Option<String> {
        let reason = |judgement| match judgement {
            Judgement::Fails(why) => Some(why),
            Judgement::Holds | Judgement::Open => None,
        };
        let settled = |property: &Property| match property {
            Property::Answered => calm.unanswered(),
            _ => check::settled(*property, calm, self.quorum).and_then(reason),
        };
        self.properties.iter().find_map(settled)
    }
}

/// Whether it is judged by what becomes of a state.
pub(super) fn is_goal(property: Property) -> bool {
    use Property::{A2, A4, A4Prime, Ale2, Ale2Prime, FakeClean, Omega, Sle2};
    matches!(property, A2 | A4 | A4Prime | Sle2 | Ale2Prime | Ale2 | Omega | FakeClean)
        || GOALS_OF_AGENTS.contains(&property)
}

/// What must become of agents that are left alone.
pub(super) const GOALS_OF_AGENTS: [Property; 3] = [Property::Settled, Property::Led, Property::Answered];

/// In how many microseconds a future will have settled for good.
pub(super) type Settles = u32;

/// It never does.
const NEVER: Settles = u32::MAX;
/// Nobody knows: it was not followed to its end.
const UNDECIDED: Settles = NEVER - 1;
/// As late as can be told.
const LATEST: Settles = UNDECIDED - 1;

/// What is known of futures, by the fingerprint of any moment of theirs.
pub(super) type Known = Table<Settles>;

/// When the future of a state is settled, or whether it fails. What was learnt on the way joins `learnt`.
pub(super) fn settles<E: Election>(
    system: &System<E>,
    state: &State<E>,
    goals: &Goals,
    known: &Known,
    learnt: &mut Known,
    scratch: &mut Scratch,
) -> Settles {
    let mut calm = Calm::from(system, state);
    let mut past: Vec<Moment> = Vec::new();
    let settled_after = loop {
        let moment = calm.moment(goals, scratch);
        // A node that wakes early and finds nothing has not been round: what it puts right is in no form.
        if past.last().is_some_and(|last| (last.print, last.at) == (moment.print, moment.at)) && calm.pass() {
            continue;
        }
        if let Some(rest) = known.get(moment.print).or_else(|| learnt.get(moment.print)) {
            break Rest::Known(*rest, moment.at);
        }
        if let Some(round) = past.iter().rposition(|earlier| earlier.print == moment.print) {
            let senders = moment.senders;
            break if is_settled(&past[round..], senders, goals) { Rest::Round(round) } else { Rest::Fails };
        }
        past.push(moment);
        if past.len() > goals.instants_max {
            return UNDECIDED; // The futures that run into this one are followed for themselves.
        }
        if !calm.pass() {
            let last = past.len() - 1;
            break if past[last].met { Rest::Round(last) } else { Rest::Fails };
        }
    };
    let settled_at = settled_at(&past, &settled_after);
    // The state itself is not met again; its future is.
    for moment in past.iter().skip(1) {
        learnt.insert(moment.print, remaining(settled_at, moment.at));
    }
    remaining(settled_at, Time::ZERO)
}

/// Whether a future settles in time.
pub(super) enum InTime {
    /// After so long.
    Yes(Span),
    /// Too late, or never.
    No,
    /// It was not followed to its end.
    Unknown,
}

pub(super) fn in_time(settles: Settles, goals: &Goals) -> InTime {
    let took = Span::micros(u64::from(settles));
    match settles {
        NEVER => InTime::No,
        UNDECIDED => InTime::Unknown,
        _ if took > goals.bound => InTime::No,
        _ => InTime::Yes(took),
    }
}

/// Goals that a future misses.
pub(super) struct Missed {
    /// Which, and how.
    pub(super) found: Vec<Breach>,
    /// Whether there may be more, because it was not followed to its end.
    pub(super) undecided: bool,
}

/// Which goals the future of a state misses, and how. Slow: it looks at each by itself, and for a failure alone.
pub(super) fn missed<E: Election>(system: &System<E>, state: &State<E>, goals: &Goals) -> Missed {
    let single = goals.single_sender.then_some(Property::SingleSender);
    let mut missed = Missed { found: Vec::new(), undecided: false };
    for property in goals.properties.iter().copied().chain(single) {
        let alone = Goals::new(system, &[property], goals.instants_max);
        let (known, mut learnt, mut scratch) = (Known::new(), Known::new(), Scratch::default());
        let settles = settles(system, state, &alone, &known, &mut learnt, &mut scratch);
        match in_time(settles, &alone) {
            InTime::Yes(_) => {}
            InTime::No => {
                let what = in_words(system, state, &alone, settles);
                missed.found.push(Breach::of(property, what));
            }
            InTime::Unknown => missed.undecided = true,
        }
    }
    missed
}

fn in_words<E: Election>(system: &System<E>, state: &State<E>, goals: &Goals, settles: Settles) -> String {
    if settles != NEVER {
        let (took, bound) = (Span::micros(u64::from(settles)), goals.bound);
        return format!("with nothing happening any more it takes {took} to settle, and not {bound} at most");
    }
    if goals.single_sender {
        return "with nothing happening any more several nodes go on sending for ever".to_owned();
    }
    // Somewhere on the way round it is not so: say what is wrong there.
    let mut calm = Calm::from(system, state);
    let mut wrong = String::new();
    for _ in 0..INSTANTS_IN_WORDS {
        wrong = goals.missed_by(&calm).unwrap_or(wrong);
        if !calm.pass() {
            break;
        }
    }
    format!("with nothing happening any more it never comes to rest: {wrong}")
}

/// Enough to be sure of being on the way round.
const INSTANTS_IN_WORDS: usize = 2_000;

/// One moment of a future, when all that happens at that instant has happened.
#[derive(Debug)]
struct Moment {
    print: u64,
    at: Time,
    met: bool,
    /// Who sent messages of the algorithm at that instant, a bit for each node.
    senders: u32,
}

/// How a future goes on for ever.
enum Rest {
    /// As is known already, from then on.
    Known(Settles, Time),
    /// Back to the moment of that number, over and over, settled all the way.
    Round(usize),
    Fails,
}

/// Whether all is well on the way round, at the end of which those last senders sent. Who sent on the way to its first
/// moment is not part of it.
fn is_settled(round: &[Moment], last: u32, goals: &Goals) -> bool {
    let senders = round[1..].iter().fold(last, |senders, moment| senders | moment.senders);
    round.iter().all(|moment| moment.met) && (!goals.single_sender || senders.count_ones() <= 1)
}

fn settled_at(past: &[Moment], rest: &Rest) -> Option<Time> {
    let (rest_from, goes_on) = match rest {
        Rest::Fails | Rest::Known(NEVER, _) => return None,
        Rest::Known(0, at) => (past.len(), *at),
        Rest::Known(settles, at) => return Some(*at + Span::micros(u64::from(*settles))),
        Rest::Round(first) => (*first, past[*first].at),
    };
    // The last time that it was not so ends when the next moment comes.
    let before = &past[..rest_from];
    match before.iter().rposition(|moment| !moment.met) {
        Some(last) => Some(past.get(last + 1).map_or(goes_on, |next| next.at)),
        None => Some(Time::ZERO),
    }
}

fn remaining(settled_at: Option<Time>, at: Time) -> Settles {
    settled_at
        .map_or(NEVER, |settled| u32::try_from(settled.since(at).as_micros()).unwrap_or(LATEST).min(LATEST))
}

/// The same cluster once it has settled and does the same over and over, at the moment at which its leader asks who is there.
///
/// # Panics
/// If there is none: it is for agents that start, of which nothing else is asked.
pub(super) fn at_rest<E: Election>(system: &System<E>, state: &State<E>) -> State<E> {
    let goals = Goals::new(system, &GOALS_OF_AGENTS, INSTANTS_MAX);
    let mut calm = Calm::from(system, state);
    let (mut known, mut scratch) = (Table::<()>::new(), Scratch::default());
    for _ in 0..INSTANTS_MAX {
        let moment = calm.moment(&goals, &mut scratch);
        if moment.met && calm.asks() && !known.insert(moment.print, ()) {
            return calm.into_state(state.left);
        }
        assert!(calm.pass(), "a leader asks again and again");
    }
    panic!("agents that start and are left alone do not settle")
}

/// A cluster that is left alone.
struct Calm<'a, E: Election> {
    system: &'a System<E>,
    at: Time,
    hosts: Vec<Host<E>>,
    /// By when they arrive, then by sender and receiver, then in the order of sending.
    letters: Vec<Due<E::Msg>>,
    latency: Span,
    senders: u32,
}

struct Due<M> {
    at: Time,
    from: usize,
    to: usize,
    cargo: Cargo<M>,
}

impl<'a, E: Election> Calm<'a, E> {
    fn from(system: &'a System<E>, state: &State<E>) -> Self {
        let latency = system.scenario.network.base.latency.high;
        let takes = |left: Span| if system.pace == Pace::Common { latency.min(left) } else { latency };
        let letters = state.letters.iter().map(|letter| Due {
            at: Time::ZERO + takes(letter.left),
            from: usize::from(letter.from),
            to: usize::from(letter.to),
            cargo: letter.content.cargo.clone(),
        });
        let mut letters: Vec<_> = letters.collect();
        letters.sort_by_key(|letter| letter.at);
        let mut calm = Self {
            system,
            at: Time::ZERO,
            hosts: state.hosts.iter().map(|host| host.opened()).collect(),
            letters,
            latency,
            senders: 0,
        };
        calm.tell_the_truth();
        calm.settle_links();
        calm
    }

    /// Whose program waits for an answer, if any does.
    fn unanswered(&self) -> Option<String> {
        let waits = |host: &&Host<E>| host.program.is_some_and(|program| program.unanswered > 0);
        let host = self.hosts.iter().find(waits)?;
        Some(format!("{} has not answered what it was asked for", host.id))
    }

    /// Whether a leader asks who is there.
    fn asks(&self) -> bool {
        let lead = |cargo: &Cargo<E::Msg>| match cargo {
            Cargo::Frame(frame) => matches!(frame.body, Body::Leadership(LeadershipMsg::Lead { .. })),
            Cargo::News(_) => false,
        };
        self.letters.iter().any(|letter| lead(&letter.cargo))
    }

    /// The state of a settled group, whose messages have just been sent.
    fn into_state(self, left: Bounds) -> State<E> {
        let Self { system, hosts, letters, .. } = self;
        let led = hosts.iter().filter_map(|host| host.seen).collect();
        let letter = |(due, id): (Due<E::Msg>, u32)| Letter {
            from: index_of(due.from),
            to: index_of(due.to),
            id,
            left: system.takes(),
            content: Content::new(due.cargo, hosts[due.from].id, hosts[due.to].id),
        };
        let mut letters: Vec<_> = letters.into_iter().zip(0..).map(letter).collect();
        letters.sort_by_key(|letter| (letter.from, letter.to));
        State {
            sent: letters.len() as u32,
            letters,
            left,
            record: Some(Arc::new(Record::of_settled(led))),
            hosts: hosts.into_iter().map(|host| system.seal(host)).collect(),
        }
    }

    /// Lets everything of the next instant happen: arrivals, then deadlines. False if nothing ever will.
    fn pass(&mut self) -> bool {
        let Some(at) = self.next_at() else { return false };
        for host in &mut self.hosts {
            host.clock = host.clock + at.since(self.at);
        }
        self.at = at;
        self.senders = 0;
        let due = self.letters.partition_point(|letter| letter.at <= at);
        let arrived: Vec<_> = self.letters.drain(..due).collect();
        for Due { from, to, cargo, .. } in arrived {
            let peer = self.hosts[from].id;
            if let Some(node) = &self.hosts[to].node {
                let input = cargo.input(peer, node);
                self.input(to, input);
            }
        }
        for host in 0..self.hosts.len() {
            if self.deadline(host).is_some_and(|deadline| deadline <= at) {
                self.input(host, Input::Deadline);
            }
        }
        self.settle_links();
        true
    }

    fn next_at(&self) -> Option<Time> {
        let deadlines = (0..self.hosts.len()).filter_map(|host| self.deadline(host));
        deadlines.chain(self.letters.first().map(|letter| letter.at)).min()
    }

    /// On the common clock.
    fn deadline(&self, host: usize) -> Option<Time> {
        let host = &self.hosts[host];
        let deadline = host.node.as_ref()?.deadline()?;
        Some(self.at + deadline.since(host.clock))
    }

    fn input(&mut self, at: usize, input: Input<E::Msg>) {
        if let Some(outbox) = self.hosts[at].input(input) {
            self.carry_out(at, outbox);
        }
    }

    fn carry_out(&mut self, at: usize, mut outbox: Outbox<E::Msg>) {
        let (mut flipped, mut left) = (false, false);
        let (system, id) = (self.system, self.hosts[at].id);
        for output in system.asked_for(id, &mut outbox) {
            match output {
                Output::Persist(durable) => self.hosts[at].disk = durable,
                Output::Send { to, frame } => self.send(at, index(to), frame),
                Output::Broadcast(frame) => (0..self.hosts.len())
                    .filter(|to| *to != at)
                    .for_each(|to| self.send(at, to, frame.clone())),
                // No application takes part.
                Output::Plan(_) => {}
                // Votes have a search of their own.
                Output::Keep(_) | Output::Valid { .. } | Output::Members(_) | Output::News(_) => {}
                Output::Tenure(tenure) => self.hosts[at].told(tenure),
                Output::Answer { .. } => self.hosts[at].answered(),
                Output::Left => left = true,
                Output::Event(event) => {
                    let plays_dead = self.hosts[at].plays_dead;
                    self.hosts[at].note(event);
                    flipped |= self.hosts[at].plays_dead != plays_dead;
                }
            }
        }
        if flipped {
            self.tell_the_truth();
        }
        if left {
            self.leave(at);
        }
    }

    /// A node has left, which those who are there are told after all that it sent.
    fn leave(&mut self, at: usize) {
        let host = &self.hosts[at];
        self.hosts[at] = Host { seen: host.seen, ..Host::down(host.id, host.disk.clone()) };
        self.letters.retain(|letter| letter.to != at);
        for to in (0..self.hosts.len()).filter(|to| *to != at) {
            self.post(at, to, Cargo::News(News::Disconnected));
        }
    }

    fn send(&mut self, from: usize, to: usize, frame: Frame<E::Msg>) {
        if frame.body.kind().layer() == Layer::Protocol {
            self.senders |= 1 << from;
        }
        self.post(from, to, Cargo::Frame(frame));
    }

    fn post(&mut self, from: usize, to: usize, cargo: Cargo<E::Msg>) {
        if self.hosts[to].node.is_none() {
            return; // It will still be down.
        }
        let at = self.at + self.latency;
        let place = self.letters.partition_point(|other| (other.at, other.from, other.to) <= (at, from, to));
        self.letters.insert(place, Due { at, from, to, cargo });
    }

    /// Links go up and down as they should, and never fail.
    fn settle_links(&mut self) {
        if self.system.oracle != Oracle::Links {
            return;
        }
        for at in 0..self.hosts.len() {
            for about in (0..self.hosts.len()).filter(|about| *about != at) {
                let on_its_way = self.letters.iter().any(|letter| (letter.from, letter.to) == (about, at));
                let Ok([host, subject]) = self.hosts.get_disjoint_mut([at, about]) else { continue };
                if let LinkMay::Follow { up } = links::link(host, subject)
                    && !self.system.will_hear(on_its_way)
                {
                    let outbox = links::turn_link(host, subject, up);
                    self.carry_out(at, outbox);
                }
            }
        }
    }

    fn tell_the_truth(&mut self) {
        if self.system.oracle != Oracle::Fallible {
            return;
        }
        let roster = &self.system.blueprint.setup.roster;
        for watcher in 0..self.hosts.len() {
            for subject in (0..self.hosts.len()).filter(|subject| *subject != watcher) {
                let Ok([host, about]) = self.hosts.get_disjoint_mut([watcher, subject]) else { continue };
                let truth = oracle::truth(roster, host, about);
                if host.told.get(subject).is_some_and(|told| *told != truth) {
                    oracle::tell(host, about, truth);
                }
            }
        }
    }

    fn moment(&self, goals: &Goals, scratch: &mut Scratch) -> Moment {
        scratch.form.clear();
        for host in &self.hosts {
            host.canonical(host.clock, &mut scratch.form);
        }
        self.write_letters(&mut scratch.form);
        let senders = if goals.single_sender { self.senders } else { 0 };
        let met = goals.missed_by(self).is_none();
        Moment { print: scratch.digest(), at: self.at, met, senders }
    }

    fn write_letters(&self, form: &mut Form) {
        form.number(self.letters.len() as u64);
        for letter in &self.letters {
            form.deadline(self.at, letter.at);
            letter.cargo.canonical(self.hosts[letter.from].id, self.hosts[letter.to].id, form);
        }
    }
}

impl<E: Election> Opinions for Calm<'_, E> {
    fn up(&self) -> impl Iterator<Item = (NodeId, Opinion)> {
        up(self.hosts.iter())
    }

    fn is_up(&self, id: NodeId) -> bool {
        self.hosts.get(index(id)).is_some_and(Host::is_there)
    }

    fn opinion(&self, id: NodeId) -> Opinion {
        self.hosts.get(index(id)).map_or(Opinion::DOWN, Host::opinion)
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
        self.hosts.get(index(id)).and_then(Host::announced)
    }

    fn connected(&self, _: NodeId, _: NodeId) -> bool {
        true
    }
}
