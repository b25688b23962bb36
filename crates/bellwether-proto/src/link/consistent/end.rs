//! One end of a link.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use super::{Carried, ConsistentMsg, Membership, Pace, SKEW};
use crate::canonical::Form;
use crate::ident::{Incarnation, NodeId};
use crate::time::Time;

/// At most this many messages wait for an acknowledgement on one link. If there are more, the link goes down.
pub const OUTSTANDING_MAX: usize = 256;

#[derive(Clone, Debug)]
pub(super) struct End<M> {
    /// The peer's; 0 if it was never heard.
    pub(super) incarnation: Incarnation,
    /// Transitions at this end, with that incarnation. Odd is up.
    pub(super) seen: u64,
    /// Those that the other end is known to have seen.
    theirs: u64,
    /// The number of the last message to the peer, whichever incarnation it was in.
    no: u64,
    /// The largest number heard.
    heard: u64,
    /// The first message since something was last known to have arrived, and when it was sent.
    probe: Option<(u64, Time)>,
    /// When something was sent, since the last transition, that is known to have arrived.
    confirmed: Option<Time>,
    /// The peer's.
    pub(super) membership: Membership,
    /// Of this up: how many were sent, and taken.
    sent: u64,
    taken: u64,
    /// Messages that arrived before earlier ones.
    early: BTreeMap<u64, M>,
    outstanding: VecDeque<Outstanding<M>>,
    /// When those were last sent.
    sent_at: Time,
}

/// Sent, and not yet acknowledged.
#[derive(Clone, Debug)]
struct Outstanding<M> {
    carried: Carried<M>,
    since: Time,
}

impl<M: Clone> End<M> {
    pub(super) fn new() -> Self {
        Self {
            incarnation: Incarnation::default(),
            seen: 0,
            theirs: 0,
            no: 0,
            heard: 0,
            probe: None,
            confirmed: None,
            membership: Membership::default(),
            sent: 0,
            taken: 0,
            early: BTreeMap::new(),
            outstanding: VecDeque::new(),
            sent_at: Time::ZERO,
        }
    }

    pub(super) fn breach(&self) -> Option<&'static str> {
        if self.seen > self.theirs + SKEW || self.theirs > self.seen {
            return Some(
                "an end is at most two transitions ahead of what it knows of the other, and never behind",
            );
        }
        let carries = !self.outstanding.is_empty() || !self.early.is_empty();
        if carries && !self.is_up() {
            return Some("a link that is down carries nothing");
        }
        let full = self.outstanding.len() > OUTSTANDING_MAX || self.early.len() > OUTSTANDING_MAX;
        full.then_some("a link remembers a bounded number of messages")
    }

    pub(super) fn is_up(&self) -> bool {
        self.seen % 2 == 1
    }

    /// The peer is in a new incarnation. Numbers of messages go on, or the peer could take a new message for an old
    /// one.
    pub(super) fn meet(&mut self, incarnation: Incarnation) {
        let no = self.no;
        *self = Self { incarnation, no, ..Self::new() };
    }

    /// Whether the other end can have sent that.
    pub(super) fn is_plausible(&self, msg: &ConsistentMsg<M>, me: Incarnation) -> bool {
        let about_me = msg.to == me;
        msg.echo <= self.no && (!about_me || msg.seen <= self.seen + SKEW)
    }

    pub(super) fn hear(&mut self, msg: &ConsistentMsg<M>) {
        if msg.no > self.heard {
            (self.heard, self.membership) = (msg.no, msg.membership);
        }
    }

    /// Which messages the peer has heard, and that it speaks with this incarnation.
    pub(super) fn acknowledged(&mut self, msg: &ConsistentMsg<M>) {
        self.theirs = self.theirs.max(msg.seen);
        if let Some((no, at)) = self.probe
            && msg.echo >= no
        {
            (self.probe, self.confirmed) = (None, Some(at));
        }
        if self.is_up() && msg.seen == self.seen {
            self.outstanding.retain(|waiting| waiting.carried.nth > msg.taken);
        }
    }

    /// What can be taken now that this message is here, in order.
    pub(super) fn taken(&mut self, msg: ConsistentMsg<M>) -> Vec<M> {
        let same_up = self.is_up() && msg.seen == self.seen;
        if let Some(Carried { nth, msg }) = msg.carries
            && same_up
            && nth > self.taken
            && nth - self.taken <= OUTSTANDING_MAX as u64
        {
            self.early.insert(nth, msg);
        }
        let mut next = Vec::new();
        while let Some(msg) = self.early.remove(&(self.taken + 1)) {
            self.taken += 1;
            next.push(msg);
        }
        next
    }

    /// The peer has seen the last down, and something that was sent since has arrived there and been answered.
    pub(super) fn may_go_up(&self, now: Time, pace: &Pace) -> bool {
        let fresh = self.confirmed.is_some_and(|at| now.since(at) < pace.patience);
        !self.is_up() && self.is_level() && fresh
    }

    /// Whether the peer has been heard of, and has seen all that this end has.
    pub(super) fn is_level(&self) -> bool {
        self.is_met() && self.theirs == self.seen
    }

    /// Whether the peer has been heard of.
    pub(super) fn is_met(&self) -> bool {
        self.incarnation != Incarnation::default()
    }

    /// The next transition. Nothing from before counts after it.
    pub(super) fn turn(&mut self, now: Time) {
        self.seen += 1;
        (self.sent, self.taken) = (0, 0);
        self.early.clear();
        self.outstanding.clear();
        self.probe = None;
        self.confirmed = self.is_up().then_some(now);
    }

    pub(super) fn deadline(&self, pace: &Pace) -> Time {
        if !self.is_up() {
            return Time::NEVER;
        }
        let silent = self.confirmed.map_or(Time::NEVER, |at| at + pace.patience);
        let unanswered = self
            .outstanding
            .front()
            .map_or(Time::NEVER, |first| (first.since + pace.patience).min(self.sent_at + pace.again));
        silent.min(unanswered)
    }

    /// Whether the peer has been silent, or something unacknowledged, for too long.
    pub(super) fn is_overdue(&self, now: Time, pace: &Pace) -> bool {
        let oldest = self.outstanding.front().map(|first| first.since);
        let since = oldest.into_iter().chain(self.confirmed).min();
        self.is_up() && since.is_some_and(|since| since + pace.patience <= now)
    }

    pub(super) fn is_full(&self) -> bool {
        self.outstanding.len() >= OUTSTANDING_MAX
    }

    /// Numbers what is to be sent.
    pub(super) fn number(&mut self, msg: M) -> Carried<M> {
        self.sent += 1;
        Carried { nth: self.sent, msg }
    }

    /// Keeps it until it is acknowledged.
    pub(super) fn keep(&mut self, now: Time, carried: Carried<M>) {
        if self.outstanding.is_empty() {
            self.sent_at = now;
        }
        self.outstanding.push_back(Outstanding { carried, since: now });
    }

    /// What is to be sent again now.
    pub(super) fn unacknowledged(&mut self, now: Time, pace: &Pace) -> Vec<Carried<M>> {
        if self.outstanding.is_empty() || self.sent_at + pace.again > now {
            return Vec::new();
        }
        self.sent_at = now;
        self.outstanding.iter().map(|waiting| waiting.carried.clone()).collect()
    }

    /// The next message to the peer.
    pub(super) fn message(
        &mut self,
        now: Time,
        membership: Membership,
        carries: Option<Carried<M>>,
    ) -> ConsistentMsg<M> {
        self.no += 1;
        self.probe.get_or_insert((self.no, now));
        let Self { incarnation: to, seen, no, heard: echo, taken, .. } = *self;
        ConsistentMsg { to, seen, no, echo, taken, membership, carries }
    }

    /// The next message to the peer, if nothing need be acknowledged.
    pub(super) fn word(&mut self, membership: Membership, carries: Option<Carried<M>>) -> ConsistentMsg<M> {
        self.no += 1;
        let Self { incarnation: to, seen, no, .. } = *self;
        ConsistentMsg { to, seen, no, echo: 0, taken: 0, membership, carries }
    }

    /// Without a pace, nothing is ever due.
    pub(super) fn canonical(
        &self,
        now: Time,
        (me, my_incarnation, peer): (NodeId, Incarnation, NodeId),
        pace: Option<&Pace>,
        form: &mut Form,
        write: impl Fn(&M, &mut Form),
    ) {
        let silent = |at: Time| pace.map_or(Time::NEVER, |pace| at + pace.patience);
        form.incarnation(peer, self.incarnation);
        form.number(self.seen % 2);
        form.seen(me, peer, self.seen);
        form.number(self.theirs % 2);
        form.seen(peer, me, self.theirs);
        form.beat(me, my_incarnation, peer, self.no);
        form.beat(peer, self.incarnation, me, self.heard);
        form.option(self.probe, |form, (no, at)| {
            form.beat(me, my_incarnation, peer, no);
            form.deadline(now, silent(at));
        });
        form.deadline(now, self.confirmed.map_or(Time::NEVER, silent));
        self.membership.canonical(form);
        form.carried(me, peer, self.seen, self.sent);
        form.carried(peer, me, self.seen, self.taken);
        form.number(self.early.len() as u64);
        for (nth, msg) in &self.early {
            form.carried(peer, me, self.seen, *nth);
            write(msg, form);
        }
        form.number(self.outstanding.len() as u64);
        for Outstanding { carried, since } in &self.outstanding {
            form.carried(me, peer, self.seen, carried.nth);
            form.deadline(now, silent(*since));
            write(&carried.msg, form);
        }
        let again = pace.filter(|_| !self.outstanding.is_empty()).map(|pace| self.sent_at + pace.again);
        form.deadline(now, again.unwrap_or(Time::NEVER));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    /// When what was not acknowledged is sent again is part of its state.
    #[test]
    fn the_form_tells_when_something_is_sent_again() {
        let pace = Pace { period: Span::millis(50), patience: Span::millis(340), again: Span::millis(120) };
        let form = |sent_at: u64| {
            let mut end = End::<u32>::new();
            let carried = end.number(7);
            end.keep(Time::from_micros(400_000), carried);
            end.sent_at = Time::from_micros(sent_at);
            let (mut form, ends) = (Form::new(), (NodeId(1), Incarnation(1), NodeId(2)));
            end.canonical(Time::from_micros(500_000), ends, Some(&pace), &mut form, |_, _| {});
            form.timed()
        };
        assert_ne!(form(400_000), form(450_000));
    }

    /// How long a link will go on without news is part of its state.
    #[test]
    fn the_form_tells_when_news_are_due() {
        let pace = Pace { period: Span::millis(50), patience: Span::millis(340), again: Span::millis(120) };
        let form = |confirmed: u64| {
            let confirmed = Some(Time::from_micros(confirmed));
            let end = End::<u32> { confirmed, ..End::new() };
            let (mut form, ends) = (Form::new(), (NodeId(1), Incarnation(1), NodeId(2)));
            end.canonical(Time::from_micros(400_000), ends, Some(&pace), &mut form, |_, _| {});
            form.timed()
        };
        assert_ne!(form(300_000), form(350_000));
    }
}
