//! A path through states, for people: each step with what was said and done, and a trace that tools can read.

use bellwether_proto::election::Election;
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::leadership::{Announcement, Cause};
use bellwether_proto::message::Message;
use bellwether_proto::node::Node;
use bellwether_proto::opinion::{Opinion, Status};
use bellwether_proto::tenure::{Tenure, Ticket};
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{DropReason, MsgRef, Program, TraceEvent, What, Written};

use super::oracle::Oracle;
use super::state::{Cargo, Host, Letter, State};
use super::system::System;
use super::transition::Transition;
use super::turn::Deed;

/// How long a settled group has been left alone when a path begins: longer than any checker asks.
const SETTLED_FOR: Span = Span::secs(10);

/// What happened on a path.
#[derive(Clone, Debug)]
pub struct Story {
    /// A line for each step.
    pub lines: Vec<String>,
    /// The same as events. Time is made up: a step takes a millisecond. Agents have a common time, and a settled group has been
    /// so for a while when the path begins.
    pub trace: Vec<TraceEvent>,
}

/// Follows a path from the first state.
///
/// # Panics
/// If it is not a path of this system.
pub fn story<E: Election>(system: &System<E>, steps: &[Transition]) -> Story {
    let mut state = system.initial();
    let mut teller = Teller { at: Time::ZERO, sent_at: Vec::new(), trace: Vec::new(), line: Vec::new() };
    teller.beginning(&state);
    let mut lines = Vec::new();
    for step in steps {
        let next = system.after(&state, *step).expect("a path is made of possible steps");
        teller.at = teller.at + if state.record.is_some() { passed(&state, &next) } else { Span::millis(1) };
        teller.step(system, &state, *step, &next);
        lines.push(teller.take_line());
        state = next;
    }
    Story { lines, trace: teller.trace }
}

struct Teller {
    at: Time,
    /// When each message was sent, by its number.
    sent_at: Vec<Time>,
    trace: Vec<TraceEvent>,
    line: Vec<String>,
}

impl Teller {
    fn beginning<E: Election>(&mut self, state: &State<E>) {
        for host in &state.hosts {
            self.record(state, host.index(), What::Recover);
            self.record(state, host.index(), What::Persist(Written::from(&host.disk)));
            self.record(state, host.index(), What::Node(Event::Opinion(host.opinion())));
        }
        self.settled(state);
        for letter in &state.letters {
            if let Some(msg) = message(letter) {
                self.send(state, usize::from(letter.from), msg);
            }
        }
    }

    /// What the members of a settled group have announced, the leader first, and that it works. Nothing has befallen the group for
    /// as long as anybody asks.
    fn settled<E: Election>(&mut self, state: &State<E>) {
        let announced = |host: &Host<E>| host.seen.filter(|(_, leader)| host.announced() == Some(*leader));
        let mut hosts: Vec<_> = state.hosts.iter().collect();
        hosts.sort_by_key(|host| announced(host).is_none_or(|(_, leader)| leader != host.id));
        for host in hosts {
            let Some((epoch, leader)) = announced(host) else { continue };
            let told = Announcement { leader: Some(leader), epoch, cause: Cause::Started };
            self.record(state, host.index(), What::Node(Event::Announced(told)));
            if leader == host.id {
                self.record(state, host.index(), What::Program(Program::WorkBegins { epoch }));
            }
        }
        if state.hosts.iter().any(|host| announced(host).is_some()) {
            self.at = Time::ZERO + SETTLED_FOR;
        }
    }

    fn step<E: Election>(&mut self, system: &System<E>, state: &State<E>, step: Transition, next: &State<E>) {
        let Ok(reaction) = system.react(state, step.cut_after(0)) else { return };
        let heading = if system.oracle == Oracle::Links { step.of_links() } else { step.to_string() };
        match &reaction.letter {
            None => self.line.push(heading),
            Some(Letter { from, to, content, .. }) if let Cargo::News(news) = &content.cargo => {
                let [peer, to] = [*from, *to].map(|at| state.hosts[usize::from(at)].id);
                self.line.push(news.in_words(peer, to));
            }
            Some(letter) => {
                let kind = message(letter).map_or("", |msg| msg.kind.name());
                let heading = heading.replacen("arrives", &format!("{kind} arrives"), 1);
                self.line.push(heading.replacen("is lost", &format!("{kind} is lost"), 1));
                self.arrival(state, step, letter);
            }
        }
        let at = match step {
            Transition::Expire { node, .. }
            | Transition::Wait { node }
            | Transition::Crash { node }
            | Transition::Recover { node, .. }
            | Transition::Ask { node, .. }
            | Transition::Finish { node, .. } => usize::from(node),
            Transition::Deliver { to, .. }
            | Transition::Repeat { to, .. }
            | Transition::Lose { to, .. }
            | Transition::Tell { to, .. }
            | Transition::Lie { to, .. } => usize::from(to),
            Transition::Pass { .. } => return,
        };
        match step {
            Transition::Recover { .. } => self.record(next, at, What::Recover),
            Transition::Expire { .. } => self.record(state, at, What::Deadline),
            Transition::Ask { what, .. } => {
                let (ticket, command) = (Ticket::default(), what.command());
                self.record(state, at, What::Program(Program::Asked { ticket, command }));
            }
            Transition::Finish { .. } => self.record(state, at, What::Program(Program::WorkEnds)),
            _ => {}
        }
        if let Some(turn) = &reaction.turn {
            let mut id = state.sent;
            let done = if step.cut() == 0 { &turn.deeds[..] } else { turn.done_before(step.cut()) };
            for deed in done {
                self.deed(state, at, deed, &mut id);
            }
        }
        if state.is_up_at(at) && !next.is_up_at(at) || step.cut() > 0 {
            self.record(next, at, What::Crash);
        }
    }

    fn arrival<E: Election>(&mut self, state: &State<E>, step: Transition, letter: &Letter<E::Msg>) {
        let Some(msg) = message(letter) else { return };
        let sent = self.sent_at.get(letter.id as usize).copied();
        let (from, to) = (usize::from(letter.from), usize::from(letter.to));
        match step {
            Transition::Lose { .. } => self.record(state, from, What::Drop(msg, DropReason::Lost)),
            _ if !state.is_up_at(to) => {
                self.line.push("it is down".to_owned());
                self.record(state, to, What::Drop(msg, DropReason::Down));
            }
            _ => self.record(state, to, What::Recv(msg, sent.unwrap_or(Time::ZERO))),
        }
    }

    fn deed<E: Election>(&mut self, state: &State<E>, at: usize, deed: &Deed<E::Msg>, id: &mut u32) {
        if let Some(what) = deed.what() {
            self.record(state, at, what);
        }
        match deed {
            Deed::Persist(_) => {}
            Deed::Event(event) => self.line.extend(in_words(state.hosts[at].id, *event)),
            Deed::Tenure(tenure) => self.line.extend(of_tenure(state.hosts[at].id, *tenure)),
            Deed::Answer(_, Ok(())) => self.line.push("it is answered".to_owned()),
            Deed::Answer(_, Err(why)) => self.line.push(format!("it is refused ({why})")),
            Deed::Left => self.line.push(format!("{} has left", state.hosts[at].id)),
            Deed::Send { to, content } => {
                let (from, to) = (state.hosts[at].id, state.hosts[usize::from(*to)].id);
                let Cargo::Frame(frame) = &content.cargo else { return };
                let msg = MsgRef { id: u64::from(*id), kind: frame.body.kind(), from, to };
                *id += 1;
                self.line.push(format!("{} to {to}", msg.kind));
                self.send(state, at, msg);
            }
        }
    }

    fn send<E: Election>(&mut self, state: &State<E>, at: usize, msg: MsgRef) {
        let place = usize::try_from(msg.id).expect("few messages are sent on a path");
        if self.sent_at.len() <= place {
            self.sent_at.resize(place + 1, self.at);
        }
        self.sent_at[place] = self.at;
        self.record(state, at, What::Send(msg));
    }

    fn record<E: Election>(&mut self, state: &State<E>, at: usize, what: What) {
        let host = &state.hosts[at];
        let incarnation = host.node.as_ref().map_or(host.disk.incarnation, Node::incarnation);
        self.trace.push(TraceEvent { at: self.at, node: host.id, incarnation, what });
    }

    fn take_line(&mut self) -> String {
        let mut parts = std::mem::take(&mut self.line).into_iter();
        let heading = parts.next().unwrap_or_default();
        let rest: Vec<String> = parts.collect();
        if rest.is_empty() { heading } else { format!("{heading}: {}", rest.join(", ")) }
    }
}

/// How long a step took, where time is the same for all.
fn passed<E: Election>(state: &State<E>, next: &State<E>) -> Span {
    let clocks = state
        .hosts
        .iter()
        .zip(&next.hosts)
        .filter(|(before, after)| before.node.is_some() && after.node.is_some());
    clocks.map(|(before, after)| after.clock.since(before.clock)).max().unwrap_or(Span::ZERO)
}

/// `None` if it is news of a connection.
fn message<M: Message>(letter: &Letter<M>) -> Option<MsgRef> {
    let id = |index: u8| NodeId(u32::from(index) + 1);
    match &letter.content.cargo {
        Cargo::Frame(frame) => Some(MsgRef {
            id: u64::from(letter.id),
            kind: frame.body.kind(),
            from: id(letter.from),
            to: id(letter.to),
        }),
        Cargo::News(_) => None,
    }
}

fn of_tenure(node: NodeId, tenure: Tenure) -> Option<String> {
    match tenure {
        Tenure::AskedBack { .. } => Some(format!("{node}'s work is to end")),
        Tenure::None | Tenure::Held { .. } => None,
    }
}

fn in_words(node: NodeId, event: Event) -> Option<String> {
    match event {
        Event::Opinion(Opinion { leader: Some(leader), status: Status::Reorganizing, .. })
            if leader == node =>
        {
            Some(format!("{node} reorganizes its group"))
        }
        Event::Opinion(Opinion { leader: Some(leader), status: Status::Reorganizing, .. }) => {
            Some(format!("{node} is reorganized by {leader}"))
        }
        Event::Opinion(Opinion { leader: Some(leader), .. }) if leader == node => {
            Some(format!("{node} leads"))
        }
        Event::Opinion(Opinion { leader: Some(leader), .. }) => Some(format!("{node} follows {leader}")),
        Event::Opinion(Opinion { status: Status::Election, .. }) => Some(format!("{node} holds an election")),
        Event::Opinion(Opinion { status: Status::Waiting, .. }) => {
            Some(format!("{node} waits for an outcome"))
        }
        Event::Opinion(Opinion { status, .. }) => Some(format!("{node} is {status} and names nobody")),
        Event::Link(turn) => {
            let how = if turn.is_up() { "up" } else { "down" };
            Some(format!("{node}'s link to {} is {how}", turn.peer))
        }
        Event::Down(peer) => Some(format!("{node} takes {peer} for dead")),
        Event::Announced(Announcement { leader: Some(leader), epoch, .. }) => {
            Some(format!("{node} announces {leader} with epoch {epoch}"))
        }
        Event::Announced(_) => Some(format!("{node} announces that nobody leads")),
        Event::GivenUp => Some(format!("{node} does not wait for its work any longer")),
        Event::Reborn(_) => Some(format!("{node} begins another incarnation")),
        Event::Refused { from, why } => Some(format!("{node} refuses what {from} said ({})", why.name())),
        _ => None,
    }
}
