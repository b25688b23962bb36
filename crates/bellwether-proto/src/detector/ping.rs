//! "Are you alive?" (Stoller, section 2): ask every P, expect the answer within 2δ.

use alloc::vec;
use alloc::vec::Vec;

use super::deadlines::Deadlines;
use super::{DetectorConfig, DetectorMsg, Scope};
use crate::canonical::Form;
use crate::ident::Incarnation;
use crate::roster::Roster;
use crate::time::{Span, Time};

/// A peer that dies just after answering is asked again after P (not before the last question's time is up), and
/// that question's time is 2δ.
pub(super) fn latency(config: &DetectorConfig) -> Span {
    config.period.max(config.delta * 2) + config.delta * 2
}

#[derive(Clone, Debug)]
pub(super) struct Ping {
    /// When to ask next.
    due: Deadlines,
    /// Counts the questions.
    n: u64,
    /// By rank: the question that is open or was answered last.
    asked: Vec<u64>,
}

impl Ping {
    pub(super) fn new(size: usize) -> Self {
        Self { due: Deadlines::new(size), n: 0, asked: vec![0; size] }
    }

    pub(super) fn start(&mut self, rank: usize, scope: &mut Scope<'_>) {
        scope.watches.arm(rank, Time::NEVER);
        self.ask(rank, scope);
    }

    pub(super) fn stop(&mut self, rank: usize, _: &mut Scope<'_>) {
        self.ask_no_more(rank);
    }

    pub(super) fn ask_no_more(&mut self, rank: usize) {
        self.due.clear(rank);
    }

    /// A question that is open will tell. Asking anew would void the answer that is on its way.
    pub(super) fn probe(&mut self, rank: usize, scope: &mut Scope<'_>) {
        if !scope.watches.is_counting(rank) {
            self.ask(rank, scope);
        }
    }

    pub(super) fn silent(&mut self, rank: usize, _: &mut Scope<'_>) -> bool {
        self.ask_no_more(rank);
        true
    }

    pub(super) fn handle(
        &self,
        rank: usize,
        incarnation: Incarnation,
        msg: DetectorMsg,
        scope: &mut Scope<'_>,
    ) {
        match msg {
            DetectorMsg::Ping { no, n } if !scope.dead_to[rank] => {
                scope.send(rank, DetectorMsg::Pong { no, n })
            }
            DetectorMsg::Pong { no, n } if scope.watches.is_current(rank, no) && n == self.asked[rank] => {
                scope.watches.confirm(rank, incarnation, Time::NEVER);
            }
            _ => {}
        }
    }

    pub(super) fn wake(&mut self, scope: &mut Scope<'_>) {
        let mut next = 0;
        while let Some(rank) = self.due.take_due(next, scope.now) {
            next = rank + 1;
            // A question whose time is up is about to be reported; asking again would put the report off, for ever if
            // the period is no longer than a round trip.
            if !scope.watches.is_overdue(rank, scope.now) {
                self.ask(rank, scope);
            }
        }
    }

    pub(super) fn deadline(&self) -> Time {
        self.due.next()
    }

    fn ask(&mut self, rank: usize, scope: &mut Scope<'_>) {
        let patience = scope.config.delta * 2;
        self.n += 1;
        self.asked[rank] = self.n;
        self.due.set(rank, scope.now + scope.config.period.max(patience));
        scope.watches.set_deadline(rank, scope.now + patience);
        let no = scope.watches.no(rank);
        scope.send(rank, DetectorMsg::Ping { no, n: self.n });
    }

    pub(super) fn canonical(&self, now: Time, roster: &Roster, form: &mut Form) {
        form.other(roster.me(), self.n);
        for (rank, asked) in self.asked.iter().enumerate() {
            form.deadline(now, self.due.get(rank));
            form.other(roster.me(), *asked);
        }
    }
}
