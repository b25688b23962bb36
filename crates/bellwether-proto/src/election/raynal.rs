//! What the protocols of Raynal's paper have in common.
//!
//! M. Raynal, *Eventual Leader Service in Unreliable Asynchronous Systems: Why? How?*, 2007. Each provides `leader()`,
//! which may answer anything for a while, and from some time on answers with the same correct process everywhere (Ω).
//! The paper's processes crash for good. In the `repaired` variants they may come back; three things are then needed,
//! and are here: timeouts that do not mistake a real crash for impatience ([`Patience`]), suspicion counts that
//! outlive a crash ([`rejoin`]), and a node that has just come up listening before it speaks ([`Stage`]).

#[cfg(test)]
pub(super) mod rig;

use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{Action, Actions, Setup, Variant};
use crate::bounded;
use crate::canonical::Form;
use crate::cause::Cause;
use crate::ident::{Incarnation, NodeId};
use crate::link::ACQUAINTANCES_MAX;
use crate::opinion::{Opinion, Status};
use crate::roster::Roster;
use crate::time::{Span, Time};

/// How long to wait for a sign of life before anything is known of a peer. The paper's α + 1 counts in abstract units;
/// here a unit is a `step`. The repaired variants begin with what a network that keeps δ cannot exceed.
pub(super) fn first_timeout(setup: &Setup) -> Span {
    match setup.variant {
        Variant::Printed => setup.timing.tau + setup.timing.step,
        Variant::Repaired => setup.timing.tau + setup.timing.delta * 2,
    }
}

/// n - t: how many processes are left, whichever crash.
pub(super) fn left_at_least(setup: &Setup) -> usize {
    setup.roster.size().saturating_sub(setup.t).max(1)
}

pub(super) fn send_to_others<M: Clone>(setup: &Setup, msg: &M, out: &mut Actions<M>) {
    out.send_each(setup.roster.stronger_than_me(), msg);
    out.send_each(setup.roster.weaker_than_me(), msg);
}

/// Has a node's own count on stable storage. Heartbeats carry it and must not wait for a disk: after a crash the node listens
/// first and comes back with a count above the leader's, so one that is a little behind will do. As printed nothing is kept.
pub(super) fn keep_count<M>(setup: &mut Setup, count: u64, out: &mut Actions<M>) {
    if setup.variant == Variant::Repaired && count != setup.count {
        setup.count = count;
        out.push(Action::Note { count });
    }
}

/// A timeout that grows at each mistake (`timeout_i[j]`).
///
/// An expired timer was a mistake if its peer is heard again in the same incarnation. LFA waits for that before it lets
/// the timeout grow (line 103); ADFT and FJR let it grow when the timer expires (lines 204, 405). Repaired, they all do
/// as LFA: otherwise every crash would slow down the detection of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Patience {
    timeout: Span,
    /// Whether the timer has expired since the peer was heard last.
    in_doubt: bool,
}

impl Patience {
    pub(super) fn new(first: Span) -> Self {
        Self { timeout: first, in_doubt: false }
    }

    pub(super) fn timeout(&self) -> Span {
        self.timeout
    }

    pub(super) fn grow(&mut self, step: Span) {
        self.timeout = self.timeout + step;
    }

    /// The timer expired. Whether that was a mistake will show.
    pub(super) fn expired(&mut self) {
        self.in_doubt = true;
    }

    /// The peer is alive. True if it was given up, by mistake.
    pub(super) fn heard(&mut self, step: Span) -> bool {
        let mistaken = core::mem::take(&mut self.in_doubt);
        if mistaken {
            self.grow(step);
        }
        mistaken
    }

    /// The peer had crashed: that its timer expired was no mistake.
    pub(super) fn new_incarnation(&mut self) {
        self.in_doubt = false;
    }

    /// The peer was given up and lived on, after this much silence: that is how much patience it takes. But one mistake adds
    /// no more than `most`: one long outage is no reason to miss every later crash for as long.
    pub(super) fn learn(&mut self, silence: Span, most: Span) {
        self.timeout = self.timeout.max(silence.min(self.timeout + most));
    }

    /// Whether a step made any of these timeouts shorter.
    pub(super) fn any_has_shrunk(now: &[Self], before: &[Self]) -> bool {
        now.iter().zip(before).any(|(now, before)| now.timeout < before.timeout)
    }

    pub(super) fn canonical(&self, form: &mut Form) {
        form.number(self.timeout.as_micros() << 1 | u64::from(self.in_doubt));
    }
}

/// Whether a node takes part yet.
///
/// A node that has just come up neither names a leader nor speaks until it has heard from one that does, or one timeout
/// has passed without. The printed variants take part at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Listening { until: Time },
    TakingPart,
}

impl Stage {
    pub(super) fn at_start(setup: &Setup, now: Time) -> Self {
        match setup.variant {
            Variant::Printed => Self::TakingPart,
            Variant::Repaired => Self::Listening { until: now + first_timeout(setup) },
        }
    }

    pub(super) fn is_listening(self) -> bool {
        self != Self::TakingPart
    }

    pub(super) fn deadline(self) -> Time {
        match self {
            Self::Listening { until } => until,
            Self::TakingPart => Time::NEVER,
        }
    }
}

/// The suspicion count with which a node comes back: above its own earlier count, so that a node that crashes again and
/// again sinks, and above that of the leader it hears, so that it does not oust a leader that never failed. To return
/// with one more than before is not enough: 1 with count 0 crashes, 2 leads with count 1, and 1 with count 1 comes
/// before 2.
pub(super) fn rejoin(kept: u64, leader: Option<u64>) -> u64 {
    let above_mine = kept.saturating_add(1);
    leader.map_or(above_mine, |count| above_mine.max(count.saturating_add(1)))
}

/// `count_i[1..n]`: how often each member has been suspected, as far as this node knows. By rank.
///
/// Counts spread from node to node and the largest is kept. The suspicions from the time while a member was down would
/// then stay with it for ever. With every outage the next leader would be further behind the present one, which can be
/// replaced only when it has been suspected as often. So each count belongs to an incarnation of the member, and the
/// count of a later incarnation replaces it. The printed variant does not tell incarnations apart.
///
/// A count that has reached the largest number stays there; members that share it are told apart by rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuspicionCounts(
    #[serde(deserialize_with = "bounded::list::<ACQUAINTANCES_MAX, _, _>")] Vec<SuspicionCount>,
);

/// How often a member has been suspected in one of its incarnations. Ordered by incarnation first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SuspicionCount {
    /// The incarnation; 0 for a member that has never been heard of.
    pub incarnation: Incarnation,
    /// How often.
    pub count: u64,
}

impl SuspicionCounts {
    /// Counts as they might arrive.
    pub fn of(counts: impl IntoIterator<Item = SuspicionCount>) -> Self {
        Self(counts.into_iter().collect())
    }

    /// Each member's, by rank.
    pub fn iter(&self) -> impl Iterator<Item = SuspicionCount> + '_ {
        self.0.iter().copied()
    }

    pub(super) fn zero(nodes: usize) -> Self {
        Self(vec![SuspicionCount::default(); nodes])
    }

    pub(super) fn get(&self, rank: usize) -> u64 {
        self.0[rank].count
    }

    pub(super) fn set(&mut self, rank: usize, incarnation: Incarnation, count: u64) {
        self.0[rank] = SuspicionCount { incarnation, count };
    }

    pub(super) fn raise(&mut self, rank: usize) {
        self.0[rank].count = self.0[rank].count.saturating_add(1);
    }

    /// It has been suspected at least so often.
    pub(super) fn raise_to(&mut self, rank: usize, count: u64) {
        self.0[rank].count = self.0[rank].count.max(count);
    }

    /// A node that came back and heard from nobody knows only its own earlier count. It assumes that all other counts are
    /// as large. Otherwise nodes that are down would seem the least suspected, and lead until they had been suspected as
    /// often as this node in its whole past. A count that carries an incarnation is known, and stays.
    pub(super) fn assume_no_less_than(&mut self, kept: u64) {
        for unknown in self.0.iter_mut().filter(|count| count.incarnation == Incarnation::default()) {
            unknown.count = unknown.count.max(kept);
        }
    }

    /// `∀ k: count_i[k] ← max(count_i[k], count[k])`. Entries beyond the members are ignored.
    pub(super) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// `let (-, ℓ) = min {(count_i[k], k)}`: the least suspected, the stronger of two that are equally so.
    pub(super) fn least(&self) -> usize {
        let ranks = 0..self.0.len();
        ranks.min_by_key(|rank| (self.get(*rank), *rank)).expect("a node is a member of its own roster")
    }

    /// Says why that node, which had that count, is not the least suspected any more; nothing if it is.
    pub(super) fn explain<M>(
        &self,
        (led, had): (usize, SuspicionCount),
        roster: &Roster,
        out: &mut Actions<M>,
    ) {
        if self.least() == led {
            return;
        }
        let (has, led) = (self.0[led], roster.at(led));
        out.because(if has.incarnation != had.incarnation && had.incarnation != Incarnation::default() {
            Cause::Gone(led)
        } else if has.count > had.count {
            Cause::Silent(led)
        } else {
            Cause::Outranked(led)
        });
    }

    /// The least suspected, and its count.
    pub(super) fn leading(&self) -> (usize, SuspicionCount) {
        let least = self.least();
        (least, self.0[least])
    }

    /// The count of the least suspected.
    pub(super) fn lowest(&self) -> u64 {
        self.get(self.least())
    }

    pub(super) fn largest(&self) -> u64 {
        self.0.iter().map(|count| count.count).max().unwrap_or(0)
    }

    pub(super) fn has_shrunk_since(&self, before: &Self) -> bool {
        self.0.iter().zip(&before.0).any(|(now, before)| now < before)
    }

    pub(super) fn canonical(&self, roster: &Roster, form: &mut Form) {
        for (id, count) in roster.members().iter().zip(&self.0) {
            form.incarnation(*id, count.incarnation);
        }
        self.canonical_in_flight(form);
    }

    /// The form of counts in a message. Only the receiver knows the members; incarnations stay as they are, because
    /// they will be compared with those that the receiver knows.
    pub(super) fn canonical_in_flight(&self, form: &mut Form) {
        for count in &self.0 {
            form.number(count.incarnation.0);
            form.suspicions(count.count);
        }
    }
}

/// Raynal's processes are always in normal operation, and form no groups.
pub(super) fn opinion(leader: Option<NodeId>) -> Opinion {
    Opinion { status: Status::Normal, leader, group: None }
}
