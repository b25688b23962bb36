//! The layer by itself: everything else is played by the test. It is node 1; the others are connected.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::super::{Action, Announcement, Cause, Leadership, LeadershipConfig, LeadershipMsg, POLL_PERIODS};
use super::{SETTLE, TIMING};
use crate::ident::{Incarnation, NodeId};
use crate::time::{Span, Time};

const ME: NodeId = NodeId(1);

#[derive(Clone)]
pub(super) struct Alone {
    pub(super) layer: Leadership,
    pub(super) now: Time,
}

impl Alone {
    pub(super) fn new(others: &[u32]) -> Self {
        Self::in_incarnation(Incarnation(1), others)
    }

    /// Alone, on a machine whose disk has seen that epoch, and told to wait for so many peers before a first election.
    pub(super) fn needing(min_peers: usize, epoch: u64) -> Self {
        let mut alone = Self::new(&[]);
        let config = LeadershipConfig { min_peers, epoch, ..alone.layer.config };
        alone.layer = Leadership::new(ME, Incarnation(1), config, Time::ZERO);
        alone
    }

    /// Past the time in which nothing is announced.
    fn in_incarnation(incarnation: Incarnation, others: &[u32]) -> Self {
        let config = LeadershipConfig {
            period: TIMING.tau,
            settle: SETTLE,
            meet: SETTLE,
            priority: 0,
            preempt: None,
            hands_over: true,
            min_peers: 0,
            quorum: 1,
            epoch: 0,
        };
        let layer = Leadership::new(ME, incarnation, config, Time::ZERO);
        let mut alone = Self { layer, now: Time::ZERO + SETTLE };
        for other in others {
            alone.layer.connect(alone.now, NodeId(*other));
        }
        alone
    }

    pub(super) fn named(&mut self, leader: u32) -> Vec<Action> {
        self.layer.name(self.now, Some(NodeId(leader)), Cause::Started);
        self.actions()
    }

    pub(super) fn hears(&mut self, from: u32, msg: LeadershipMsg) -> Vec<Action> {
        self.layer.heard(self.now, NodeId(from));
        self.layer.handle(self.now, NodeId(from), msg);
        self.actions()
    }

    /// Named, and all others agree: it leads with epoch 1.
    pub(super) fn leading(others: &[u32]) -> Self {
        let mut alone = Self::new(others);
        let mut actions = alone.named(1);
        actions.extend(others.iter().flat_map(|other| alone.has_seen(*other, 0, None)));
        assert_eq!(announced(&actions), [(Some(1), 1)]);
        alone
    }

    pub(super) fn has_seen(&mut self, from: u32, epoch: u64, of: Option<u32>) -> Vec<Action> {
        let round = self.layer.round;
        self.hears(from, LeadershipMsg::Follow { round, epoch, of: of.map(NodeId), priority: 0, count: 0 })
    }

    pub(super) fn wakes_after(&mut self, span: Span) -> Vec<Action> {
        self.now = self.now + span;
        self.layer.wake(self.now);
        self.actions()
    }

    pub(super) fn actions(&mut self) -> Vec<Action> {
        self.layer.drain().collect()
    }
}

pub(super) fn announced(actions: &[Action]) -> Vec<(Option<u32>, u64)> {
    let announced = actions.iter().filter_map(|action| match action {
        Action::Announce(Announcement { leader, epoch, .. }) => Some((leader.map(|id| id.0), *epoch)),
        _ => None,
    });
    announced.collect()
}

/// Epochs are heard of in many ways; whatever is announced is kept.
#[test]
fn an_epoch_that_a_follower_told_of_is_kept_once_it_is_announced() {
    let mut alone = Alone::new(&[2, 3]);
    alone.named(1);
    assert_eq!(alone.has_seen(3, 2, Some(2)), [], "it waits for the other");
    alone.named(2);
    let actions = alone.hears(2, LeadershipMsg::Lead { round: 7, epoch: 2, followers: 0 });
    assert_eq!(announced(&actions), [(Some(2), 2)]);
    assert!(actions.contains(&Action::Persist), "{actions:?}");
    let again = alone.hears(2, LeadershipMsg::Lead { round: 8, epoch: 2, followers: 0 });
    assert!(!again.contains(&Action::Persist), "once is enough: {again:?}");
}

/// What a member has seen is true whenever it was asked. Else a group that meets another would wait for the next poll.
#[test]
fn an_answer_that_comes_late_still_tells_of_a_larger_epoch() {
    let mut alone = Alone::leading(&[2, 3]);
    let asked = alone.layer.round;
    alone.wakes_after(TIMING.tau * POLL_PERIODS);
    assert_ne!(alone.layer.round, asked, "it has asked again");
    let late = LeadershipMsg::Follow { round: asked, epoch: 41, of: Some(NodeId(9)), priority: 0, count: 0 };
    assert_eq!(announced(&alone.hears(3, late)), [(Some(1), 42)]);
    let mut alone = Alone::leading(&[2, 3]);
    alone.wakes_after(TIMING.tau * POLL_PERIODS);
    let rival = LeadershipMsg::Follow { round: asked, epoch: 1, of: Some(NodeId(9)), priority: 0, count: 0 };
    assert_eq!(announced(&alone.hears(3, rival)), [(Some(1), 2)], "another has led with the same");
}

#[test]
fn an_answer_to_an_earlier_claim_does_not_settle_a_later_one() {
    let mut alone = Alone::new(&[2]);
    alone.named(1);
    let round = alone.layer.round;
    alone.named(2);
    alone.named(1);
    let late = LeadershipMsg::Follow { round, epoch: 0, of: None, priority: 0, count: 0 };
    assert_eq!(announced(&alone.hears(2, late)), []);
    assert_eq!(announced(&alone.has_seen(2, 0, None)), [(Some(1), 1)]);
}

/// One that always claims to have seen more costs a new leadership each period, not each round trip.
#[test]
fn a_leader_is_outdone_once_a_period_at_most() {
    let mut alone = Alone::leading(&[2]);
    let (mut began, end) = (0, alone.now + Span::secs(1));
    while alone.now < end {
        let more = alone.layer.epochs.largest() + 1;
        began += announced(&alone.has_seen(2, more, Some(2))).len();
        let due = alone.layer.deadline().min(alone.now + Span::millis(1));
        began += announced(&alone.wakes_after(due.since(alone.now))).len();
    }
    let periods = Span::secs(1).as_micros() / TIMING.tau.as_micros();
    assert!((periods / 2..=periods).contains(&(began as u64)), "{began} leaderships");
}

/// As with incarnations: a number so large is a lie that would use up the counter.
#[test]
fn an_epoch_that_cannot_be_is_not_believed() {
    let mut alone = Alone::leading(&[2]);
    assert_eq!(alone.has_seen(2, u64::MAX, Some(2)), []);
    alone.named(2);
    assert_eq!(alone.hears(2, LeadershipMsg::Lead { round: 1, epoch: 1 << 33, followers: 0 }), []);
    assert_eq!(alone.layer.epochs.largest(), 1);
    let most = LeadershipMsg::Lead { round: 1, epoch: 1 << 32, followers: 0 };
    assert_eq!(announced(&alone.hears(2, most)), [(Some(2), 1 << 32)]);
}

pub(super) fn lead(epoch: u64) -> LeadershipMsg {
    LeadershipMsg::Lead { round: 1, epoch, followers: 0 }
}

pub(super) fn answers(actions: &[Action]) -> Vec<(u32, u64)> {
    let answers = actions.iter().filter_map(|action| match action {
        Action::Send(to, LeadershipMsg::Follow { epoch, .. }) => Some((to.0, *epoch)),
        _ => None,
    });
    answers.collect()
}

/// Of those that can be reached and stand: first who is preferred, then who was suspected least.
#[test]
fn a_leader_that_resigns_says_who_is_next() {
    let mut alone = Alone::leading(&[2, 3, 4, 5]);
    let round = alone.layer.round;
    for (from, priority, count) in [(2, 0, 4), (3, 0, 1), (4, 0, 1), (5, 0, 0)] {
        alone.hears(from, LeadershipMsg::Follow { round, epoch: 0, of: None, priority, count });
    }
    alone.hears(5, LeadershipMsg::Aside { next: None });
    let says = |mut alone: Alone| {
        alone.layer.stand_aside(alone.now);
        let told = alone.actions().into_iter().filter_map(|action| match action {
            Action::Send(_, LeadershipMsg::Aside { next }) => Some(next),
            _ => None,
        });
        let told: BTreeSet<_> = told.collect();
        assert_eq!(told.len(), 1, "all hear the same");
        told.first().copied().flatten()
    };
    assert_eq!(says(alone.clone()), Some(NodeId(3)));
    let preferred = LeadershipMsg::Follow { round, epoch: 0, of: None, priority: 1, count: 9 };
    alone.hears(4, preferred);
    assert_eq!(says(alone.clone()), Some(NodeId(4)));
    alone.now = alone.now + TIMING.tau * 16;
    assert_eq!(says(alone.clone()), None, "nobody has answered for a while");
    alone.layer.config.hands_over = false;
    assert_eq!(says(alone), None);
}

/// Two leaders that cannot hear each other, and one that hears both and stands aside: were both told what the other has, each
/// would outdo the other at every poll.
#[test]
fn who_stands_aside_follows_one_leader_at_a_time() {
    let mut alone = Alone::new(&[2, 3]);
    alone.layer.stand_aside(alone.now);
    alone.actions();
    assert_eq!(answers(&alone.hears(2, lead(5))), [(2, 5)]);
    let elsewhere = |to, leader| {
        [Action::Send(NodeId(to), LeadershipMsg::Elsewhere { leader: NodeId(leader), followers: 0 })]
    };
    assert_eq!(alone.hears(3, lead(4)), elsewhere(3, 2), "it follows another");
    assert_eq!(alone.hears(3, lead(5)), elsewhere(3, 2), "it follows another");
    let next = alone.hears(3, lead(6));
    assert_eq!(announced(&next), [(Some(3), 6)]);
    assert!(next.ends_with(&elsewhere(3, 2)), "2 leads on, and goes before it: {next:?}");
    assert_eq!(alone.hears(2, lead(5)), []);
    alone.hears(3, LeadershipMsg::Cede);
    let claim = LeadershipMsg::Claim { round: 2, epoch: 1 };
    assert_eq!(answers(&alone.hears(2, claim)), [(2, 6)], "who asks is answered");
}

#[test]
fn who_stands_aside_does_not_cling_to_a_leader_that_is_gone_or_silent() {
    let mut alone = Alone::new(&[2, 3]);
    alone.layer.stand_aside(alone.now);
    alone.hears(3, lead(6));
    alone.layer.disconnect(alone.now, NodeId(3));
    assert_eq!(announced(&alone.actions()), [(None, 6)]);
    assert_eq!(answers(&alone.hears(2, lead(5))), [(2, 6)], "it has to know");
    assert_eq!(announced(&alone.hears(2, lead(7))), [(Some(2), 7)]);
    alone.layer.connect(alone.now, NodeId(3));
    alone.actions();
    alone.now = alone.now + TIMING.tau * POLL_PERIODS * 2;
    assert_eq!(alone.hears(3, lead(6)), []);
    alone.now = alone.now + Span::micros(1);
    let silent = alone.hears(3, lead(6));
    assert_eq!((announced(&silent), answers(&silent)), ([(None, 7)].into(), [(3, 7)].into()));
    assert_eq!(announced(&alone.hears(3, lead(8))), [(Some(3), 8)]);
}

/// It may have announced itself with the next epoch, and ended before it could tell.
#[test]
fn the_epoch_of_a_claimant_that_is_gone_is_not_used_again() {
    let mut alone = Alone::new(&[2, 3]);
    alone.named(2);
    assert_eq!(answers(&alone.hears(2, LeadershipMsg::Claim { round: 1, epoch: 1 })), [(2, 0)]);
    alone.layer.disconnect(alone.now, NodeId(2));
    alone.named(1);
    assert_eq!(announced(&alone.has_seen(3, 0, None)), [(Some(1), 2)]);
}

#[test]
fn a_claim_that_came_to_nothing_uses_up_no_epoch() {
    let mut alone = Alone::new(&[2, 3]);
    alone.hears(3, LeadershipMsg::Claim { round: 1, epoch: 1 });
    alone.layer.disconnect(alone.now, NodeId(3));
    assert_eq!(alone.layer.epochs.largest(), 0, "it was not agreed to");
    alone.layer.connect(alone.now, NodeId(3));
    alone.named(3);
    alone.hears(3, LeadershipMsg::Claim { round: 1, epoch: 1 });
    alone.named(2);
    alone.hears(2, lead(1));
    alone.layer.disconnect(alone.now, NodeId(3));
    assert_eq!(alone.layer.epochs.largest(), 1, "it was there when another came to lead");
}

/// The disk works while the others answer, and has nothing more to do when they have.
#[test]
fn whom_the_leader_before_chose_has_its_epoch_on_disk_before_it_is_settled() {
    let mut alone = Alone::new(&[2, 3]);
    alone.named(2);
    alone.hears(2, lead(4));
    alone.layer.name(alone.now, Some(ME), Cause::Resigned(NodeId(2)));
    assert_eq!((alone.actions().last(), alone.layer.epoch_to_keep()), (Some(&Action::Persist), 5));
    alone.has_seen(2, 4, Some(2));
    let settled = alone.has_seen(3, 4, Some(2));
    assert_eq!((announced(&settled), settled.contains(&Action::Persist)), ([(Some(1), 5)].into(), false));
    // What was not foreseen is kept as ever.
    let mut alone = Alone::new(&[2, 3]);
    alone.layer.name(alone.now, Some(ME), Cause::Resigned(NodeId(2)));
    alone.actions();
    alone.has_seen(2, 7, Some(2));
    let settled = alone.has_seen(3, 4, Some(2));
    assert_eq!((announced(&settled), settled.contains(&Action::Persist)), ([(Some(1), 8)].into(), true));
}

#[test]
fn each_of_those_who_are_preferred_is_handed_leadership_once_and_then_this_node_leads() {
    let mut alone = Alone::new(&[2, 3]);
    alone.named(1);
    let round = alone.layer.round;
    let preferred = LeadershipMsg::Follow { round, epoch: 0, of: None, priority: 10, count: 0 };
    alone.hears(2, preferred);
    let mut actions = alone.hears(3, preferred);
    for to in [2, 3] {
        assert!(actions.contains(&Action::HandOver(NodeId(to))), "{actions:?}");
        alone.layer.hand_over(alone.now, NodeId(to));
        alone.actions();
        assert!(alone.layer.deadline() > alone.now, "time must pass");
        actions = alone.wakes_after(alone.layer.deadline().since(alone.now));
    }
    assert_eq!(announced(&actions), [(Some(1), 1)]);
}

#[test]
fn what_an_earlier_incarnation_said_is_forgotten() {
    let mut alone = Alone::new(&[2, 3]);
    alone.named(2);
    assert_eq!(announced(&alone.hears(2, lead(5))), [(Some(2), 5)]);
    alone.layer.forget(NodeId(2));
    alone.named(3);
    assert_eq!(announced(&alone.named(2)), [], "the incarnation that led with 5 is over");
}

#[test]
fn an_answer_to_an_earlier_incarnation_settles_nothing() {
    let mut alone = Alone::new(&[2]);
    alone.named(1);
    let mut reborn = Alone::in_incarnation(Incarnation(2), &[2]);
    reborn.named(1);
    let late = LeadershipMsg::Follow { round: alone.layer.round, epoch: 0, of: None, priority: 0, count: 0 };
    assert_eq!(announced(&reborn.hears(2, late)), []);
}

/// Why it led at first, such as that it was handed leadership, is not why it leads no more.
#[test]
fn a_leader_whose_claim_comes_before_its_cede_leads_no_more_for_the_same_reason() {
    let mut alone = Alone::new(&[2]);
    alone.layer.name(alone.now, Some(NodeId(2)), Cause::HandedOver(ME, NodeId(2)));
    alone.hears(2, lead(1));
    let heard = alone.hears(2, LeadershipMsg::Claim { round: 2, epoch: 2 });
    let nobody = Announcement { leader: None, epoch: 1, cause: Cause::Outranked(NodeId(2)) };
    assert!(heard.contains(&Action::Announce(nobody)), "{heard:?}");
}

#[test]
fn nobody_is_preferred_who_stands_aside() {
    let mut alone = Alone::leading(&[2, 3]);
    let round = alone.layer.round;
    alone.hears(2, LeadershipMsg::Follow { round, epoch: 1, of: None, priority: 10, count: 0 });
    alone.named(3);
    alone.hears(2, LeadershipMsg::Aside { next: None });
    alone.named(1);
    let actions = alone.wakes_after(SETTLE);
    assert_eq!(announced(&actions), [(Some(1), 2)], "{actions:?}");
}

/// It does not stand, but it has seen epochs, and will remember this one.
#[test]
fn who_stands_aside_is_waited_for_like_everybody() {
    let mut alone = Alone::new(&[2]);
    alone.named(1);
    assert_eq!(announced(&alone.hears(2, LeadershipMsg::Aside { next: None })), []);
    assert_eq!(announced(&alone.has_seen(2, 7, Some(2))), [(Some(1), 8)]);
}

#[test]
fn who_stands_aside_agrees_to_what_it_had_not_agreed_to_before() {
    let mut alone = Alone::new(&[2, 3]);
    alone.named(2);
    assert_eq!(
        answers(&alone.hears(3, LeadershipMsg::Claim { round: 4, epoch: 1 })),
        [],
        "it follows another"
    );
    alone.layer.stand_aside(alone.now);
    assert_eq!(answers(&alone.actions()), [(3, 0)]);
}

/// Whoever leads although others do not agree, because they name nobody or another, has an epoch above what they have seen.
#[test]
fn who_does_not_agree_tells_what_it_has_seen() {
    let mut alone = Alone::new(&[2, 3]);
    alone.named(2);
    alone.hears(2, lead(5));
    let seen = LeadershipMsg::Seen { epoch: 5, of: Some(NodeId(2)) };
    let told = alone.hears(3, LeadershipMsg::Claim { round: 1, epoch: 1 });
    assert_eq!(told.first(), Some(&Action::Send(NodeId(3), seen)));
    let mut claimant = Alone::new(&[2, 3]);
    claimant.named(1);
    assert_eq!(announced(&claimant.hears(2, seen)), [], "that is no agreement");
    assert_eq!(announced(&claimant.wakes_after(SETTLE)), [(Some(1), 6)]);
}

/// A leader speaks every period; one that led before need not.
#[test]
fn only_a_leader_that_fell_silent_is_not_waited_for() {
    let causes = [
        (Cause::Silent(NodeId(2)), Some(2)),
        (Cause::Resigned(NodeId(2)), None),
        (Cause::HandedOver(NodeId(2), ME), None),
    ];
    for (cause, led_with) in causes {
        let mut alone = Alone::new(&[2]);
        alone.named(2);
        alone.hears(2, lead(1));
        alone.now = alone.now + TIMING.tau * 3;
        alone.layer.name(alone.now, Some(ME), cause);
        let actions = alone.actions();
        assert_eq!(announced(&actions).get(1).map(|(_, epoch)| *epoch), led_with, "{cause}: {actions:?}");
    }
}

#[test]
fn a_leader_repeats_itself_when_that_is_due_and_not_before() {
    let mut alone = Alone::leading(&[2]);
    assert_eq!(alone.wakes_after(TIMING.tau), [], "too early");
    let lead = LeadershipMsg::Lead { round: alone.layer.round + 1, epoch: 1, followers: 0 };
    assert_eq!(alone.wakes_after(TIMING.tau * POLL_PERIODS), [Action::Send(NodeId(2), lead)]);
    assert_eq!(alone.wakes_after(TIMING.tau), [], "it has just done so");
}

/// What it leads with is not settled any more.
#[test]
fn a_leader_that_claims_anew_is_shown_no_more() {
    let mut alone = Alone::new(&[2]);
    alone.named(2);
    assert_eq!(announced(&alone.hears(2, lead(5))), [(Some(2), 5)]);
    assert_eq!(announced(&alone.hears(2, LeadershipMsg::Claim { round: 9, epoch: 1 })), [(None, 5)]);
}
