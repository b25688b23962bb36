//! "Tell me that you are alive" (Stoller, section 2): the watcher subscribes, the peer says "I'm alive" every η.
//!
//! A beat need not be a message of its own: any election message to a subscriber carries one, and puts off the next
//! (Stoller's piggybacking, claim C35). When the leader's Norm? comes at least every η, no separate beat is left.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::adaptive::Learned;
use super::deadlines::Deadlines;
use super::{DetectorConfig, DetectorMsg, Scope};
use crate::canonical::Form;
use crate::ident::{Incarnation, WatchNo};
use crate::roster::Roster;
use crate::time::{Span, Time};

/// A peer's last beat may be δ on its way, and silence is forgiven for η + δ after it.
pub(super) fn latency(config: &DetectorConfig) -> Span {
    config.period + config.delta * 2
}

#[derive(Clone, Debug)]
pub(super) struct Heartbeat {
    /// By rank: what that peer wants to hear from this node.
    subscriptions: Vec<Subscription>,
    /// By rank: when the next beat to that peer is due; never, if it wants none.
    beats: Deadlines,
    /// By rank: what arrivals have taught; empty for the plain heartbeat.
    learned: Vec<Learned>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Subscription {
    /// The subscriber's incarnation, and its watch.
    incarnation: Incarnation,
    no: WatchNo,
    period: Span,
}

impl Heartbeat {
    pub(super) fn new(size: usize, adaptive: bool) -> Self {
        Self {
            subscriptions: vec![Subscription::default(); size],
            beats: Deadlines::new(size),
            learned: if adaptive { vec![Learned::default(); size] } else { Vec::new() },
        }
    }

    // The watcher's side.

    pub(super) fn start(&mut self, rank: usize, scope: &mut Scope<'_>) {
        let deadline = scope.now + self.patience_for_first(rank, scope.config);
        let no = scope.watches.arm(rank, deadline);
        if let Some(learned) = self.learned.get_mut(rank) {
            learned.started();
        }
        let period = scope.config.period;
        scope.send(rank, DetectorMsg::Subscribe { no, period });
    }

    pub(super) fn stop(&self, rank: usize, scope: &mut Scope<'_>) {
        let no = scope.watches.no(rank);
        scope.send(rank, DetectorMsg::Unsubscribe { no });
    }

    /// Evidence that the peer is gone: ask it to prove otherwise within a round trip. While the first answer is still
    /// awaited there is nothing more to ask: if Subscribe were repeated, the answer of a new incarnation would pass for
    /// the first. Then the end of the old incarnation, which lost everything that was sent to it, would go unreported
    /// (E-ST5).
    pub(super) fn probe(&self, rank: usize, scope: &mut Scope<'_>) {
        if scope.watches.is_confirmed(rank) {
            self.ask_again(rank, scope);
        }
    }

    pub(super) fn ask_again(&self, rank: usize, scope: &mut Scope<'_>) {
        let (no, period) = (scope.watches.no(rank), scope.config.period);
        scope.send(rank, DetectorMsg::Subscribe { no, period });
        scope.watches.set_deadline(rank, scope.now + self.patience_for_first(rank, scope.config));
    }

    #[expect(clippy::needless_pass_by_ref_mut, reason = "every mechanism is called in the same way")]
    pub(super) fn silent(&mut self, rank: usize, scope: &mut Scope<'_>) -> bool {
        if let Some(learned) = self.learned.get_mut(rank) {
            learned.reported(scope.watches.no(rank));
        }
        true
    }

    #[inline]
    fn beat_arrived(&mut self, rank: usize, incarnation: Incarnation, no: WatchNo, scope: &mut Scope<'_>) {
        let current = scope.watches.is_current(rank, no);
        if let Some(learned) = self.learned.get_mut(rank) {
            match current {
                true => learned.arrived(scope.now),
                false => learned.was_alive_after_all(no, scope.config),
            }
        }
        if current {
            let deadline = scope.now + self.patience(rank, scope.config);
            scope.watches.confirm(rank, incarnation, deadline);
        } else if !scope.watches.is_armed(rank) {
            // The Unsubscribe was lost, or the peer outlived a report of its death.
            scope.send(rank, DetectorMsg::Unsubscribe { no });
        }
    }

    #[inline]
    fn patience(&self, rank: usize, config: &DetectorConfig) -> Span {
        self.learned.get(rank).map_or(config.period + config.delta, |learned| learned.patience(config))
    }

    fn patience_for_first(&self, rank: usize, config: &DetectorConfig) -> Span {
        self.learned.get(rank).map_or(config.delta * 2, |learned| learned.patience_for_first(config))
    }

    // The watched side.

    /// A message of another layer is about to go out: if it can stand for the next beat, the beat is put off.
    pub(super) fn ride(&mut self, now: Time, rank: usize) -> Option<WatchNo> {
        if !self.beats.is_set(rank) {
            return None;
        }
        let Subscription { no, period, .. } = self.subscriptions[rank];
        self.beats.set(rank, now + period);
        Some(no)
    }

    /// Those who had to do without beats get one at once.
    pub(super) fn resume(&mut self, ranks: Range<usize>, now: Time) {
        for rank in ranks {
            if self.beats.is_set(rank) {
                self.beats.set(rank, now);
            }
        }
    }

    fn subscribed(
        &mut self,
        rank: usize,
        incarnation: Incarnation,
        no: WatchNo,
        period: Span,
        scope: &mut Scope<'_>,
    ) {
        let current = self.subscriptions[rank];
        if (incarnation, no) < (current.incarnation, current.no) {
            // Overtaken by a later one. Beats for the older watch would leave the present one in silence.
            return;
        }
        // Nobody gets beats more often than this node's own detector would want them.
        let period = period.max(scope.config.period);
        self.subscriptions[rank] = Subscription { incarnation, no, period };
        self.beats.set(rank, scope.now + period);
        if !scope.dead_to[rank] {
            scope.send(rank, DetectorMsg::Beat { no });
        }
    }

    // Both.

    #[inline]
    pub(super) fn handle(
        &mut self,
        rank: usize,
        incarnation: Incarnation,
        msg: DetectorMsg,
        scope: &mut Scope<'_>,
    ) {
        match msg {
            DetectorMsg::Beat { no } => self.beat_arrived(rank, incarnation, no, scope),
            DetectorMsg::Subscribe { no, period } => self.subscribed(rank, incarnation, no, period, scope),
            DetectorMsg::Unsubscribe { no } if self.subscriptions[rank].no == no => {
                self.beats.clear(rank);
            }
            _ => {}
        }
    }

    pub(super) fn wake(&mut self, scope: &mut Scope<'_>) {
        if self.beats.any_due(scope.now) {
            self.send_beats(scope);
        }
    }

    /// Early is harmless: sending what is nearly due along with what is due lets subscribers fall into step, so that a
    /// node wakes once a period however many watch it.
    fn send_beats(&mut self, scope: &mut Scope<'_>) {
        let soon = scope.now + scope.config.period / 8;
        let mut next = 0;
        while let Some(rank) = self.beats.take_due(next, soon) {
            next = rank + 1;
            let Subscription { no, period, .. } = self.subscriptions[rank];
            self.beats.set(rank, scope.now + period);
            if !scope.dead_to[rank] {
                scope.send(rank, DetectorMsg::Beat { no });
            }
        }
    }

    pub(super) fn deadline(&self) -> Time {
        self.beats.next()
    }

    pub(super) fn canonical(&self, now: Time, roster: &Roster, form: &mut Form) {
        for (rank, subscription) in self.subscriptions.iter().enumerate() {
            form.incarnation(roster.at(rank), subscription.incarnation);
            form.watch(roster.at(rank), roster.me(), subscription.no);
            form.number(subscription.period.as_micros());
            form.deadline(now, self.beats.get(rank));
        }
        for (learned, id) in self.learned.iter().zip(roster.members()) {
            learned.canonical(now, roster.me(), *id, form);
        }
    }
}
