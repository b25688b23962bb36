//! Cooperative detection (Stoller, section 6): "a node is declared faulty only if a certain number of nodes are
//! unable to communicate with it".
//!
//! The watcher listens for heartbeats. When they stop it asks all others; each asks the suspect on the watcher's
//! behalf and votes. The suspect is reported once k nodes, the watcher included, find it unreachable; a poll that
//! finds fewer is held again. With fewer than k reporters nothing is reported: that is the point, and the price
//! (claim C20).

use alloc::vec;
use alloc::vec::Vec;

use super::heartbeat::{self, Heartbeat};
use super::{DetectorConfig, DetectorMsg, Scope};
use crate::canonical::Form;
use crate::ident::{Incarnation, NodeId, WatchNo};
use crate::roster::Roster;
use crate::time::{Span, Time};

/// After the silence, or after a poll that the peer's death came too late for: the poll's way, the probe's round trip, the
/// vote's way.
pub(super) fn latency(config: &DetectorConfig) -> Span {
    heartbeat::latency(config).max(config.delta * POLL) + config.delta * 4
}

/// How long a poll is open at least, in units of δ. A vote takes up to four, and a little more if the reporter's clock is
/// slow.
const POLL: u64 = 5;

#[derive(Clone, Debug)]
pub(super) struct Cooperative {
    heartbeat: Heartbeat,
    /// By rank of the suspect: the poll that is open.
    polls: Vec<Option<Poll>>,
    /// Questions this node is asking on others' behalf, at most one for each watcher and suspect.
    errands: Vec<Errand>,
    /// Counts polls and probes.
    n: u64,
}

#[derive(Clone, Debug)]
struct Poll {
    n: u64,
    /// The nodes that found the suspect unreachable.
    votes: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Errand {
    watcher: usize,
    no: WatchNo,
    poll: u64,
    suspect: usize,
    n: u64,
    until: Time,
}

impl Cooperative {
    pub(super) fn new(size: usize) -> Self {
        Self { heartbeat: Heartbeat::new(size, false), polls: vec![None; size], errands: Vec::new(), n: 0 }
    }

    pub(super) fn heartbeat_mut(&mut self) -> &mut Heartbeat {
        &mut self.heartbeat
    }

    pub(super) fn start(&mut self, rank: usize, scope: &mut Scope<'_>) {
        self.polls[rank] = None;
        self.heartbeat.start(rank, scope);
    }

    pub(super) fn stop(&mut self, rank: usize, scope: &mut Scope<'_>) {
        self.polls[rank] = None;
        self.heartbeat.stop(rank, scope);
    }

    pub(super) fn probe(&self, rank: usize, scope: &mut Scope<'_>) {
        self.heartbeat.probe(rank, scope);
    }

    pub(super) fn silent(&mut self, rank: usize, scope: &mut Scope<'_>) -> bool {
        let votes = self.polls[rank].as_ref().map_or(0, |poll| poll.votes.len());
        if votes + 1 >= scope.config.reporters {
            self.polls[rank] = None;
            return self.heartbeat.silent(rank, scope);
        }
        self.open_poll(rank, scope);
        false
    }

    pub(super) fn handle(
        &mut self,
        rank: usize,
        incarnation: Incarnation,
        msg: DetectorMsg,
        scope: &mut Scope<'_>,
    ) {
        match msg {
            DetectorMsg::Poll { no, poll, suspect } => self.polled(rank, no, poll, suspect, scope),
            DetectorMsg::Vote { no, poll, suspect, unreachable } => {
                if unreachable {
                    self.voted(rank, no, poll, suspect, scope);
                }
            }
            DetectorMsg::Probe { watcher, n } => {
                let dead = scope.roster.rank(watcher).is_none_or(|watcher| scope.dead_to[watcher]);
                if !dead {
                    scope.send(rank, DetectorMsg::ProbeReply { n });
                }
            }
            DetectorMsg::ProbeReply { n } => self.close_errand(rank, n, scope),
            DetectorMsg::Beat { no } => {
                if scope.watches.is_current(rank, no) {
                    self.polls[rank] = None;
                }
                self.heartbeat.handle(rank, incarnation, msg, scope);
            }
            _ => self.heartbeat.handle(rank, incarnation, msg, scope),
        }
    }

    pub(super) fn wake(&mut self, scope: &mut Scope<'_>) {
        self.heartbeat.wake(scope);
        let now = scope.now;
        for errand in self.errands.iter().filter(|errand| errand.until <= now) {
            scope.mail.push((errand.watcher, errand.vote(true, scope.roster)));
        }
        self.errands.retain(|errand| errand.until > now);
    }

    pub(super) fn deadline(&self) -> Time {
        let errands = self.errands.iter().map(|errand| errand.until).min().unwrap_or(Time::NEVER);
        errands.min(self.heartbeat.deadline())
    }

    // The watcher's poll.

    /// The suspect itself is asked for beats again: if it came back it has forgotten who wants them, and no poll
    /// would ever find it unreachable.
    fn open_poll(&mut self, suspect: usize, scope: &mut Scope<'_>) {
        self.n += 1;
        self.polls[suspect] = Some(Poll { n: self.n, votes: Vec::new() });
        self.heartbeat.ask_again(suspect, scope);
        let no = scope.watches.no(suspect);
        let me = scope.roster.my_rank();
        for rank in (0..scope.roster.size()).filter(|rank| *rank != suspect && *rank != me) {
            scope
                .mail
                .push((rank, DetectorMsg::Poll { no, poll: self.n, suspect: scope.roster.at(suspect) }));
        }
        // Enough votes end the poll at once; too few, and it is held again after a period.
        let patience = (scope.config.delta * POLL).max(scope.config.period);
        scope.watches.set_deadline(suspect, scope.now + patience);
    }

    fn voted(&mut self, rank: usize, no: WatchNo, poll: u64, suspect: NodeId, scope: &mut Scope<'_>) {
        let Some(suspect) = scope.roster.rank(suspect) else { return };
        let open = self.polls[suspect].as_mut().filter(|open| open.n == poll);
        let Some(Poll { votes, .. }) = open.filter(|_| scope.watches.is_current(suspect, no)) else { return };
        if !votes.contains(&rank) {
            votes.push(rank);
        }
        if votes.len() + 1 >= scope.config.reporters {
            scope.watches.set_deadline(suspect, scope.now);
        }
    }

    // The reporter's errand.

    fn polled(&mut self, watcher: usize, no: WatchNo, poll: u64, suspect: NodeId, scope: &mut Scope<'_>) {
        let me = scope.roster.my_rank();
        let Some(suspect) = scope.roster.rank(suspect).filter(|suspect| *suspect != me) else { return };
        self.n += 1;
        let until = scope.now + scope.config.delta * 2;
        self.errands.retain(|errand| (errand.watcher, errand.suspect) != (watcher, suspect));
        self.errands.push(Errand { watcher, no, poll, suspect, n: self.n, until });
        scope.send(suspect, DetectorMsg::Probe { watcher: scope.roster.at(watcher), n: self.n });
    }

    fn close_errand(&mut self, suspect: usize, n: u64, scope: &mut Scope<'_>) {
        let open = self.errands.iter().position(|errand| errand.n == n && errand.suspect == suspect);
        if let Some(open) = open {
            let errand = self.errands.swap_remove(open);
            scope.send(errand.watcher, errand.vote(false, scope.roster));
        }
    }

    pub(super) fn canonical(&self, now: Time, roster: &Roster, form: &mut Form) {
        self.heartbeat.canonical(now, roster, form);
        for poll in &self.polls {
            form.option(poll.as_ref(), |form, poll| {
                form.other(roster.me(), poll.n);
                form.number(poll.votes.len() as u64);
                poll.votes.iter().for_each(|rank| form.number(*rank as u64));
            });
        }
        form.other(roster.me(), self.n);
        form.number(self.errands.len() as u64);
        for errand in &self.errands {
            form.number(errand.watcher as u64);
            form.number(errand.suspect as u64);
            form.watch(roster.at(errand.watcher), roster.at(errand.suspect), errand.no);
            form.other(roster.at(errand.watcher), errand.poll);
            form.other(roster.me(), errand.n);
            form.deadline(now, errand.until);
        }
    }
}

impl Errand {
    fn vote(&self, unreachable: bool, roster: &Roster) -> DetectorMsg {
        DetectorMsg::Vote { no: self.no, poll: self.poll, suspect: roster.at(self.suspect), unreachable }
    }
}
