//! An attendance list that circulates on a logical ring (Stoller, section 2, after Cristian).
//!
//! Every R the strongest node that is not suspected sends a token round; each node stamps it and passes it on to the
//! next that it does not suspect. That takes n messages a round, however many watches there are. A watcher that
//! finds no fresh stamp of a peer pings that peer. A node that sees no token for too long pings everybody. Nodes
//! that do not answer are suspected, and left out of the ring until they are heard from again. The token names the
//! nodes that its origin leaves out, so that all close the ring over the same gap. Everybody sees the stamps, so a
//! node that plays dead to anybody leaves none; it answers the pings of those to which it is alive.
//!
//! Latency: a peer may die just after stamping; its stamp counts as fresh for the next round, which a watcher sees
//! within R + nδ. If the token is lost after that, the watcher waits R + 2(n + 2)δ for it, then 2δ for its ping. The
//! declared bound rounds this up to 2R + (3n + 8)δ.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::{DetectorConfig, DetectorMsg, Scope, Stamp, Token};
use crate::canonical::Form;
use crate::ident::{Incarnation, WatchNo};
use crate::roster::Roster;
use crate::time::{Span, Time};

/// The longest attendance list that is accepted from the network.
pub const STAMPS_MAX: usize = 4096;

pub(super) fn latency(config: &DetectorConfig, nodes: usize) -> Span {
    config.period * 2 + config.delta * (3 * nodes as u64 + 8)
}

#[derive(Clone, Debug)]
pub(super) struct Ring {
    /// This node's incarnation, which its tokens carry: a restarted origin counts its rounds from one again.
    incarnation: Incarnation,
    /// By rank: whether that node is left out of the ring.
    suspected: Vec<bool>,
    /// By rank of the origin: the latest round seen of its tokens; for this node, the latest that came back.
    seen: Vec<(Incarnation, u64)>,
    /// The attendance list as this node last saw it.
    stamps: Vec<Stamp>,
    /// The rank of the origin whose rounds the stamps count.
    list_of: usize,
    /// The round this node sent out last, while it is the origin.
    round: u64,
    /// When this node, if it is the origin, sends the next token.
    next_round: Time,
    /// When this node, if it is the origin, misses the token it sent.
    overdue: Time,
    /// When this node misses the others' token.
    silence: Time,
    /// While everybody is being pinged: until when, and by rank who has answered.
    roll_call: Option<(Time, Vec<bool>)>,
    n: u64,
    /// By rank: the number of the ping that is open or was answered last.
    asked: Vec<u64>,
}

impl Ring {
    pub(super) fn new(config: &DetectorConfig, roster: &Roster, incarnation: Incarnation, now: Time) -> Self {
        let size = roster.size();
        Self {
            incarnation,
            suspected: vec![false; size],
            seen: vec![(Incarnation::default(), 0); size],
            stamps: Vec::new(),
            list_of: roster.my_rank(),
            round: 0,
            next_round: now,
            overdue: Time::NEVER,
            silence: now + silence_after(config, size),
            roll_call: None,
            n: 0,
            asked: vec![0; size],
        }
    }

    // The client's side: pings for what the list does not show.

    pub(super) fn start(&mut self, rank: usize, scope: &mut Scope<'_>) {
        scope.watches.arm(rank, Time::NEVER);
        self.ping(rank, scope);
    }

    pub(super) fn stop(&self, _: usize, _: &mut Scope<'_>) {}

    pub(super) fn probe(&mut self, rank: usize, scope: &mut Scope<'_>) {
        self.ping(rank, scope);
    }

    pub(super) fn silent(&mut self, rank: usize, _: &mut Scope<'_>) -> bool {
        self.suspected[rank] = true;
        true
    }

    pub(super) fn heard(&mut self, rank: usize) {
        self.suspected[rank] = false;
    }

    pub(super) fn handle(
        &mut self,
        rank: usize,
        incarnation: Incarnation,
        msg: DetectorMsg,
        scope: &mut Scope<'_>,
    ) {
        match msg {
            DetectorMsg::Token(token) => {
                if let Some(origin) = scope.roster.rank(token.origin) {
                    self.token(*token, origin, scope);
                }
            }
            DetectorMsg::Ping { no, n } if !scope.dead_to[rank] => {
                scope.send(rank, DetectorMsg::Pong { no, n })
            }
            DetectorMsg::Pong { no, n } => self.pong(rank, incarnation, no, n, scope),
            _ => {}
        }
    }

    pub(super) fn wake(&mut self, scope: &mut Scope<'_>) {
        if self.roll_call.as_ref().is_some_and(|(until, _)| *until <= scope.now) {
            self.close_roll_call(scope);
        }
        if self.silence.min(self.overdue) <= scope.now && self.roll_call.is_none() {
            self.open_roll_call(scope);
        }
        if self.next_round <= scope.now {
            self.next_round = scope.now + scope.config.period;
            if self.is_origin(scope.roster) && self.roll_call.is_none() {
                self.send_token_round(scope);
            }
        }
    }

    pub(super) fn deadline(&self) -> Time {
        let roll_call = self.roll_call.as_ref().map_or(Time::NEVER, |(until, _)| *until);
        let missed = if self.roll_call.is_some() { Time::NEVER } else { self.silence.min(self.overdue) };
        roll_call.min(missed).min(self.next_round)
    }

    fn ping(&mut self, rank: usize, scope: &mut Scope<'_>) {
        if scope.watches.is_counting(rank) {
            // The question is already open. Asking it anew would put off the report and void the answer on its way.
            return;
        }
        self.n += 1;
        self.asked[rank] = self.n;
        if scope.watches.is_armed(rank) {
            scope.watches.set_deadline(rank, scope.now + scope.config.delta * 2);
        }
        let no = scope.watches.no(rank);
        scope.send(rank, DetectorMsg::Ping { no, n: self.n });
    }

    fn pong(&mut self, rank: usize, incarnation: Incarnation, no: WatchNo, n: u64, scope: &mut Scope<'_>) {
        if n != self.asked[rank] {
            return;
        }
        if let Some((_, answered)) = &mut self.roll_call {
            answered[rank] = true;
        }
        if scope.watches.is_current(rank, no) {
            scope.watches.confirm(rank, incarnation, Time::NEVER);
        }
    }

    // The token.

    fn is_origin(&self, roster: &Roster) -> bool {
        self.suspected[..roster.my_rank()].iter().all(|suspected| *suspected)
    }

    fn send_token_round(&mut self, scope: &mut Scope<'_>) {
        self.round += 1;
        let me = scope.roster.my_rank();
        if self.list_of != me {
            // Stamps that count another origin's rounds would pass for fresh, or for stale, by accident.
            self.stamps.clear();
            self.list_of = me;
        }
        self.stamp(self.round, scope);
        let sent = self.pass_on(me, self.incarnation, self.round, scope);
        // A round that is still on its way must not be given more time because the next is sent.
        if sent && self.overdue == Time::NEVER {
            self.overdue = scope.now + trip(scope);
        }
        self.silence = scope.now + silence_after(scope.config, scope.roster.size());
    }

    fn token(&mut self, token: Token, origin: usize, scope: &mut Scope<'_>) {
        if origin == scope.roster.my_rank() {
            self.token_came_back(token, scope);
            return;
        }
        if (token.incarnation, token.round) <= self.seen[origin]
            || token.stamps.len().max(token.absent.len()) > scope.roster.size()
        {
            return;
        }
        self.seen[origin] = (token.incarnation, token.round);
        self.silence = scope.now + silence_after(scope.config, scope.roster.size());
        let Token { incarnation, round, .. } = token;
        self.close_ranks(&token, origin, scope);
        self.take_attendance(token, origin, scope);
        self.stamp(round, scope);
        self.pass_on(origin, incarnation, round, scope);
    }

    /// The origin's roll call tells everybody which nodes to leave out. A token lost before a dead node is missed
    /// only by the origin and by those behind; the node that must pass it on differently learns of it from nobody
    /// else.
    fn close_ranks(&mut self, token: &Token, origin: usize, scope: &Scope<'_>) {
        let me = scope.roster.my_rank();
        for (rank, id) in scope.roster.members().iter().enumerate() {
            self.suspected[rank] = rank != me && rank != origin && token.absent.contains(id);
        }
    }

    fn token_came_back(&mut self, token: Token, scope: &mut Scope<'_>) {
        let me = scope.roster.my_rank();
        let is_news = token.incarnation == self.incarnation && token.round > self.seen[me].1;
        if !is_news || token.round > self.round || token.stamps.len() > scope.roster.size() {
            return;
        }
        self.seen[me] = (self.incarnation, token.round);
        // With a period shorter than a trip, later rounds may still be on their way.
        self.overdue = if token.round == self.round { Time::NEVER } else { scope.now + trip(scope) };
        self.take_attendance(token, me, scope);
    }

    /// Pings every watched peer whose stamp is missing or older than the last round.
    fn take_attendance(&mut self, token: Token, origin: usize, scope: &mut Scope<'_>) {
        self.stamps = token.stamps;
        self.list_of = origin;
        let last_two = token.round.saturating_sub(1)..=token.round;
        for rank in 0..scope.roster.size() {
            let node = scope.roster.at(rank);
            let fresh = |stamp: &Stamp| stamp.node == node && last_two.contains(&stamp.round);
            let settled = scope.watches.is_armed(rank) && scope.watches.is_confirmed(rank);
            if settled && !self.stamps.iter().any(fresh) {
                self.ping(rank, scope);
            }
        }
    }

    fn stamp(&mut self, round: u64, scope: &Scope<'_>) {
        let me = scope.roster.me();
        self.stamps.retain(|stamp| stamp.node != me);
        if !scope.dead_to.contains(&true) {
            self.stamps.push(Stamp { node: me, round });
        }
    }

    /// Passes the token to the next node round the ring that is not suspected. False if there is none.
    fn pass_on(&self, origin: usize, incarnation: Incarnation, round: u64, scope: &mut Scope<'_>) -> bool {
        let (me, size) = (scope.roster.my_rank(), scope.roster.size());
        let next = (1..size).map(|step| (me + step) % size).find(|rank| !self.suspected[*rank]);
        if let Some(next) = next {
            let (origin, stamps) = (scope.roster.at(origin), self.stamps.clone());
            let members = scope.roster.members().iter().enumerate();
            let absent = members.filter(|(rank, _)| self.suspected[*rank]).map(|(_, id)| *id).collect();
            let token = Token { origin, incarnation, round, stamps, absent };
            scope.send(next, DetectorMsg::Token(Box::new(token)));
        }
        next.is_some()
    }

    // Roll call: localise what stopped the token.

    fn open_roll_call(&mut self, scope: &mut Scope<'_>) {
        let me = scope.roster.my_rank();
        let mut answered = vec![false; scope.roster.size()];
        answered[me] = true;
        self.roll_call = Some((scope.now + scope.config.delta * 2, answered));
        for rank in (0..scope.roster.size()).filter(|rank| *rank != me) {
            self.ping(rank, scope);
        }
    }

    fn close_roll_call(&mut self, scope: &Scope<'_>) {
        let Some((_, answered)) = self.roll_call.take() else { return };
        let missing: Vec<bool> = answered.iter().map(|answered| !answered).collect();
        let found = missing != self.suspected;
        self.suspected = missing;
        self.overdue = Time::NEVER;
        self.silence = scope.now + silence_after(scope.config, scope.roster.size());
        // Only what was learned is worth a round out of turn: a ring that no roll call can mend waits for its period.
        if found {
            self.next_round = scope.now;
        }
    }

    pub(super) fn canonical(&self, now: Time, roster: &Roster, form: &mut Form) {
        for (rank, id) in roster.members().iter().enumerate() {
            form.number(u64::from(self.suspected[rank]));
            form.incarnation(*id, self.seen[rank].0);
            form.other(*id, self.seen[rank].1);
            form.other(roster.me(), self.asked[rank]);
        }
        let latest = if self.list_of == roster.my_rank() { self.round } else { self.seen[self.list_of].1 };
        form.number(self.list_of as u64);
        form.number(self.stamps.len() as u64);
        for stamp in &self.stamps {
            form.node(stamp.node);
            form.number(stamp.lag(latest));
        }
        form.other(roster.me(), self.round);
        form.other(roster.me(), self.n);
        for at in [self.next_round, self.overdue, self.silence] {
            form.deadline(now, at);
        }
        form.option(self.roll_call.as_ref(), |form, (until, answered)| {
            form.deadline(now, *until);
            answered.iter().for_each(|answered| form.number(u64::from(*answered)));
        });
    }
}

/// How long a token takes round the ring at most.
fn trip(scope: &Scope<'_>) -> Span {
    scope.config.delta * scope.roster.size() as u64
}

/// A round, the origin's own roll call after a token was lost, and the token that it then sends.
fn silence_after(config: &DetectorConfig, nodes: usize) -> Span {
    config.period + config.delta * (2 * nodes as u64 + 4)
}
