//! Consistent links: both ends of a link see the same ups and downs (Franceschetti and Bruck's *links with a consistent
//! history*, section 2, after LeMahieu and Bruck). For algorithms whose spec asks for them; the others do not have this
//! layer.
//!
//! ```text
//!   seen   0 ──► 1 ──► 2 ──► 3 ──► …      one counter at each end: odd is up, even is down
//!   up:    only when the other end is known to have seen the last down, and both directions were heard to work
//!   down:  at any time: silence, something sent that is not acknowledged, the end of the peer's incarnation
//!   follow: whoever hears that the other end has seen more goes through the same, in order
//! ```
//!
//! An end goes up on its own once, and down after that, before it must hear again from the other. So the two counters
//! never differ by more than [`SKEW`]: what one end has seen is a prefix of what the other has seen. In a stable
//! network they are the same within [`Pace::settles`]. Counters belong to a pair of incarnations, and begin anew with
//! another incarnation.
//!
//! While a link is up, what an election sends arrives in order, exactly once, or the link goes down: messages are numbered
//! within an up, acknowledged by number, and sent again. Nothing waits for that. Every message is a beat as well. It says
//! how many transitions its sender has seen, which of the receiver's messages it heard last, and the sender's view and
//! whether it is dead. All of these only grow, so repetition and reordering do no harm. Memory is bounded, however often a
//! link flaps.
//!
//! In an exhaustive search an oracle replaces beats and clocks: any end goes down at any time, and up by the same rule.

mod end;
mod message;
#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use alloc::vec::{Drain, Vec};
use core::mem;

use crate::canonical::Form;
use crate::ident::{Incarnation, NodeId};
use crate::roster::Roster;
use crate::time::{Span, Time, Timing};
use end::End;

pub use end::OUTSTANDING_MAX;
pub use message::{BEAT, Carried, ConsistentMsg, Membership};

/// The two ends of a link never differ by more transitions than this.
pub const SKEW: u64 = 2;

/// How long a link waits for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Between two beats: τ/2.
    pub period: Span,
    /// A link goes down when nothing that was sent since then is known to have arrived: 4δ + 3τ. Without loss it takes
    /// 4δ and three periods to know; the rest is for a few beats that are lost.
    pub patience: Span,
    /// After this time, a message that was not acknowledged is sent again: 2δ + τ. Acknowledgements ride on
    /// beats.
    pub again: Span,
}

impl Pace {
    /// By the timing of the algorithm.
    pub fn of(timing: Timing) -> Self {
        let Timing { delta, tau, .. } = timing;
        Self { period: (tau / 2).max(Span::micros(1)), patience: delta * 4 + tau * 3, again: delta * 2 + tau }
    }

    /// In a network that is stable for so long, both ends of every link have seen the same, and are up if they can speak
    /// with each other: a link may have to go down first.
    pub fn settles(&self) -> Span {
        self.patience * 2
    }
}

/// What makes links go up and down.
#[derive(Clone, Copy, Debug)]
enum Drive {
    /// Beats, and how long they are waited for.
    Beats(Pace),
    /// An oracle; and nothing is lost that is sent.
    Oracle,
}

/// The links of one node.
#[derive(Clone, Debug)]
pub(crate) struct ConsistentLinks<M> {
    roster: Roster,
    incarnation: Incarnation,
    drive: Drive,
    /// By rank; this node's own entry is not used.
    ends: Vec<End<M>>,
    /// How this node stands, as its election says.
    membership: Membership,
    beat_due: Time,
    actions: Vec<Action<M>>,
}

/// What the layer asks of its node, in order.
#[derive(Clone, Debug)]
pub(crate) enum Action<M> {
    Send(NodeId, Box<ConsistentMsg<M>>),
    News(News<M>),
}

/// What the layers above are to know.
#[derive(Clone, Debug)]
pub(crate) enum News<M> {
    /// This end has seen another transition.
    Turned {
        peer: NodeId,
        incarnation: Incarnation,
        seen: u64,
        membership: Membership,
    },
    /// A peer that is linked stands differently now.
    Stands(NodeId, Membership),
    Deliver(NodeId, M),
}

impl<M: Clone> ConsistentLinks<M> {
    pub(crate) fn new(roster: &Roster, incarnation: Incarnation, timing: Timing) -> Self {
        Self {
            roster: roster.clone(),
            incarnation,
            drive: Drive::Beats(Pace::of(timing)),
            ends: roster.members().iter().map(|_| End::new()).collect(),
            membership: Membership::default(),
            beat_due: Time::NEVER,
            actions: Vec::new(),
        }
    }

    /// The same links, which go up and down as an oracle says.
    pub(crate) fn told(self) -> Self {
        Self { drive: Drive::Oracle, ..self }
    }

    pub(crate) fn is_told(&self) -> bool {
        matches!(self.drive, Drive::Oracle)
    }

    pub(crate) fn start(&mut self, now: Time) {
        self.beat_all(now);
    }

    pub(crate) fn deadline(&self) -> Time {
        let Drive::Beats(pace) = self.drive else { return Time::NEVER };
        let ends = self.ends.iter().map(|end| end.deadline(&pace));
        ends.min().unwrap_or(Time::NEVER).min(self.beat_due)
    }

    pub(crate) fn wake(&mut self, now: Time) {
        let Drive::Beats(pace) = self.drive else { return };
        for rank in self.others() {
            if self.ends[rank].is_overdue(now, &pace) {
                self.turn(now, rank);
                self.beat(now, rank);
            }
        }
        for rank in self.others() {
            self.send_again(now, rank, &pace);
        }
        if self.beat_due <= now {
            self.beat_all(now);
        }
    }

    /// A message of a peer in that incarnation. One that the other end cannot have sent has no effect.
    pub(crate) fn handle(
        &mut self,
        now: Time,
        from: NodeId,
        incarnation: Incarnation,
        msg: ConsistentMsg<M>,
    ) {
        let Some(rank) = self.roster.rank(from).filter(|rank| *rank != self.roster.my_rank()) else { return };
        let is_new = incarnation > self.ends[rank].incarnation;
        if is_new {
            self.begin(now, rank, incarnation);
        }
        let before = self.ends[rank].seen;
        if incarnation == self.ends[rank].incarnation && self.ends[rank].is_plausible(&msg, self.incarnation)
        {
            self.take(now, rank, msg);
        }
        // Without beats a new incarnation would not hear of this one.
        if self.ends[rank].seen != before || is_new && self.is_told() {
            self.beat(now, rank);
        }
    }

    /// An oracle has the link to that peer go up or down at this end. Up it goes only if it may.
    pub(crate) fn oracle(&mut self, now: Time, peer: NodeId, up: bool) {
        let Some(rank) = self.roster.rank(peer).filter(|rank| *rank != self.roster.my_rank()) else { return };
        let end = &self.ends[rank];
        if self.is_told() && end.is_up() != up && (!up || end.is_level()) {
            self.turn(now, rank);
            self.beat(now, rank);
        }
    }

    /// The peer's incarnation, if the link to it is up at this end.
    pub(crate) fn linked(&self, peer: NodeId) -> Option<Incarnation> {
        let rank = self.roster.rank(peer)?;
        self.ends[rank].is_up().then(|| self.ends[rank].incarnation)
    }

    /// The peer's incarnation, if the link to it is down and could go up, as far as this end knows.
    pub(crate) fn linkable(&self, peer: NodeId) -> Option<Incarnation> {
        let end = &self.ends[self.roster.rank(peer)?];
        (!end.is_up() && end.is_level()).then_some(end.incarnation)
    }

    /// Evidence that the incarnation of a peer is over.
    pub(crate) fn gone(&mut self, now: Time, peer: NodeId) {
        if let Some(rank) = self.roster.rank(peer).filter(|rank| self.ends[*rank].is_up()) {
            self.turn(now, rank);
            self.beat(now, rank);
        }
    }

    /// Something for a peer. Over a link that is down nothing is sent.
    pub(crate) fn send(&mut self, now: Time, to: NodeId, msg: M) {
        let Some(rank) = self.roster.rank(to).filter(|rank| self.ends[*rank].is_up()) else { return };
        if self.ends[rank].is_full() {
            self.turn(now, rank);
            self.beat(now, rank);
            return;
        }
        let carried = self.ends[rank].number(msg);
        if !self.is_told() {
            self.ends[rank].keep(now, carried.clone());
        }
        self.post(now, rank, Some(carried));
    }

    /// The election says how this node stands. Those who are linked learn it at once; without beats, so do the others.
    pub(crate) fn stand(&mut self, now: Time, membership: Membership) {
        if mem::replace(&mut self.membership, membership) != membership {
            let told = self.is_told();
            let learns = |end: &End<M>| end.is_up() || told && end.is_met();
            let learn: Vec<_> = self.others().filter(|rank| learns(&self.ends[*rank])).collect();
            learn.into_iter().for_each(|rank| self.beat(now, rank));
        }
    }

    /// What is to be done, in order.
    pub(crate) fn drain(&mut self) -> Drain<'_, Action<M>> {
        self.actions.drain(..)
    }

    pub(crate) fn canonical(&self, now: Time, form: &mut Form, write: impl Fn(&M, &mut Form)) {
        form.deadline(now, self.beat_due);
        self.membership.canonical(form);
        for rank in self.others() {
            let ends = (self.roster.me(), self.incarnation, self.roster.at(rank));
            self.ends[rank].canonical(now, ends, self.pace().as_ref(), form, &write);
        }
    }

    /// What must be true of every state: neither end is far ahead, and memory is bounded.
    pub(crate) fn breach(&self) -> Option<&'static str> {
        self.others().find_map(|rank| self.ends[rank].breach())
    }

    /// The peer is in a new incarnation. Everything about the old one is over.
    fn begin(&mut self, now: Time, rank: usize, incarnation: Incarnation) {
        if self.ends[rank].is_up() {
            self.turn(now, rank);
        }
        self.ends[rank].meet(incarnation);
    }

    fn take(&mut self, now: Time, rank: usize, msg: ConsistentMsg<M>) {
        let before = (self.ends[rank].seen, self.ends[rank].membership);
        self.ends[rank].hear(&msg);
        if msg.to != self.incarnation {
            return; // It has not heard of this incarnation.
        }
        while self.ends[rank].seen < msg.seen {
            self.turn(now, rank);
        }
        self.ends[rank].acknowledged(&msg);
        if self.pace().is_some_and(|pace| self.ends[rank].may_go_up(now, &pace)) {
            self.turn(now, rank);
        }
        let (peer, end) = (self.roster.at(rank), &mut self.ends[rank]);
        // Who has just gone up was told with it.
        if end.is_up() && end.seen == before.0 && end.membership != before.1 {
            self.actions.push(Action::News(News::Stands(peer, end.membership)));
        }
        let taken = end.taken(msg);
        self.actions.extend(taken.into_iter().map(|carried| Action::News(News::Deliver(peer, carried))));
    }

    /// This end sees the next transition.
    fn turn(&mut self, now: Time, rank: usize) {
        let end = &mut self.ends[rank];
        end.turn(now);
        let (incarnation, seen, membership) = (end.incarnation, end.seen, end.membership);
        self.actions.push(Action::News(News::Turned {
            peer: self.roster.at(rank),
            incarnation,
            seen,
            membership,
        }));
    }

    fn send_again(&mut self, now: Time, rank: usize, pace: &Pace) {
        for carried in self.ends[rank].unacknowledged(now, pace) {
            self.post(now, rank, Some(carried));
        }
    }

    fn beat_all(&mut self, now: Time) {
        self.others().for_each(|rank| self.beat(now, rank));
        self.beat_due = self.pace().map_or(Time::NEVER, |pace| now + pace.period);
    }

    fn beat(&mut self, now: Time, rank: usize) {
        self.post(now, rank, None);
    }

    fn post(&mut self, now: Time, rank: usize, carries: Option<Carried<M>>) {
        let msg = match self.drive {
            Drive::Beats(_) => self.ends[rank].message(now, self.membership, carries),
            Drive::Oracle => self.ends[rank].word(self.membership, carries),
        };
        self.actions.push(Action::Send(self.roster.at(rank), Box::new(msg)));
    }

    fn pace(&self) -> Option<Pace> {
        match self.drive {
            Drive::Beats(pace) => Some(pace),
            Drive::Oracle => None,
        }
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<M> {
        let me = self.roster.my_rank();
        (0..self.roster.size()).filter(move |rank| *rank != me)
    }
}
