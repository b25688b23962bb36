//! Nodes of which one leads that the other does not reach.

use alloc::vec::Vec;

use super::super::{Action, Bar, Cause, LeadershipMsg};
use super::SETTLE;
use super::alone::{Alone, announced};
use crate::ident::NodeId;
use crate::time::Span;

const PERIOD: Span = super::TIMING.tau;

impl Alone {
    fn told(&mut self, by: u32, leader: u32) -> Vec<Action> {
        let mut actions = self.hears(by, LeadershipMsg::Elsewhere { leader: NodeId(leader), followers: 0 });
        actions.extend(self.reviewed());
        actions
    }

    /// As after every step.
    fn reviewed(&mut self) -> Vec<Action> {
        self.layer.reconsider(self.now);
        self.actions()
    }

    /// So much later, when it has done all that was due.
    fn later(&mut self, span: Span) -> Vec<Action> {
        let (mut actions, end) = (Vec::new(), self.now + span);
        while self.now < end {
            let next = self.layer.deadline().max(self.now).min(end);
            actions.extend(self.wakes_after(next.since(self.now)));
            actions.extend(self.reviewed());
        }
        actions
    }
}

fn lead(epoch: u64) -> LeadershipMsg {
    LeadershipMsg::Lead { round: 7, epoch, followers: 0 }
}

const CLAIM: LeadershipMsg = LeadershipMsg::Claim { round: 1, epoch: 1 };

fn elsewhere(to: u32, leader: u32) -> Action {
    Action::Send(NodeId(to), LeadershipMsg::Elsewhere { leader: NodeId(leader), followers: 0 })
}

fn claims(actions: &[Action]) -> usize {
    actions.iter().filter(|action| matches!(action, Action::Send(_, LeadershipMsg::Claim { .. }))).count()
}

#[test]
fn an_answer_that_another_leads_is_not_silence() {
    let mut alone = Alone::new(&[2, 3]);
    alone.named(1);
    assert_eq!(announced(&alone.told(2, 4)), []);
    assert_eq!(alone.layer.bar(), Some(Bar::Elsewhere { leader: NodeId(4), says: NodeId(2) }));
    let asked = alone.later(PERIOD * 14);
    assert_eq!((announced(&asked), claims(&asked)), (Vec::new(), 0), "it has been told");
    let asked = alone.later(PERIOD * 2);
    assert_eq!((announced(&asked), claims(&asked)), (Vec::new(), 2), "it asks whether that is still so");
    alone.told(2, 4);
    assert_eq!(announced(&alone.later(SETTLE * 2)), []);
    // The one that said so goes silent in the end.
    assert_eq!(announced(&alone.later(PERIOD * 15 + SETTLE)), [(Some(1), 1)]);
}

#[test]
fn a_claim_is_settled_as_soon_as_nobody_else_leads() {
    let said = [
        LeadershipMsg::Elsewhere { leader: NodeId(1), followers: 0 },
        LeadershipMsg::Follow { round: 0, epoch: 3, of: Some(NodeId(4)), priority: 0, count: 0 },
    ];
    for over in said {
        let mut alone = Alone::new(&[2]);
        alone.named(1);
        alone.told(2, 4);
        assert_eq!(announced(&alone.later(SETTLE * 2)), []);
        alone.hears(2, over);
        assert_eq!(claims(&alone.reviewed()), 1);
        assert_eq!(announced(&alone.has_seen(2, 3, Some(4))), [(Some(1), 4)], "{over:?}");
    }
}

#[test]
fn who_goes_takes_its_word_along() {
    let mut alone = Alone::new(&[2, 3]);
    alone.named(1);
    alone.told(2, 4);
    alone.layer.gone(alone.now, NodeId(2));
    assert_eq!(alone.layer.bar(), None);
}

#[test]
fn who_follows_or_leads_says_so_to_others_that_want_to_and_takes_it_back() {
    let mut follower = Alone::new(&[2, 3]);
    follower.named(2);
    follower.hears(2, lead(5));
    assert_eq!(follower.hears(3, CLAIM).last(), Some(&elsewhere(3, 2)));
    assert_eq!(follower.reviewed(), []);
    follower.hears(2, LeadershipMsg::Cede);
    assert_eq!(follower.reviewed(), [elsewhere(3, 3)], "nobody leads");

    let mut leader = Alone::leading(&[2]);
    leader.layer.followers = 0;
    assert_eq!(leader.hears(2, CLAIM).last(), Some(&elsewhere(2, 1)));
    assert_eq!(leader.hears(2, lead(1)).last(), Some(&elsewhere(2, 1)));
    let mut named = leader.named(2);
    named.extend(leader.reviewed());
    let agrees = |action: &Action| matches!(action, Action::Send(NodeId(2), LeadershipMsg::Follow { .. }));
    assert!(named.iter().any(agrees), "{named:?}");
}

#[test]
fn who_hears_two_leaders_tells_the_one_that_is_to_give_up() {
    let mut alone = Alone::new(&[2, 3]);
    alone.named(3);
    alone.hears(3, lead(5));
    alone.hears(2, lead(5));
    assert_eq!(alone.hears(3, lead(5)), [elsewhere(3, 2)], "though it follows that one");
    let more = LeadershipMsg::Lead { round: 7, epoch: 5, followers: 1 };
    assert!(!alone.hears(3, more).contains(&elsewhere(3, 2)), "more follow that one");
    assert!(alone.hears(3, CLAIM).contains(&elsewhere(3, 2)), "nor does it agree");
    // One that has not said so for long leads no more.
    alone.now = alone.now + PERIOD * 15;
    alone.layer.heard(alone.now, NodeId(2));
    assert!(!alone.hears(3, lead(5)).contains(&elsewhere(3, 2)));
}

#[test]
fn of_two_leaders_the_one_with_fewer_followers_or_the_larger_id_gives_up_if_nothing_else_decides() {
    let leads = |me: u32| {
        let mut alone = Alone::leading(&[2, 3]);
        alone.layer.me = NodeId(me);
        alone.layer.shown = Some((NodeId(me), 1));
        alone.layer.named = Some(NodeId(me));
        alone
    };
    let mut smaller = leads(1);
    assert_eq!(announced(&smaller.told(2, 4)), []);
    assert_eq!(announced(&smaller.later(PERIOD * 6)), [], "the other is told");
    let mut larger = leads(5);
    larger.layer.followers = 0;
    assert_eq!(announced(&larger.told(2, 4)), []);
    assert_eq!(announced(&larger.later(PERIOD * 4)), [], "the election has time to decide");
    let given_up = larger.later(PERIOD * 2);
    assert_eq!(announced(&given_up), [(None, 1)]);
    let why = Cause::Outranked(NodeId(5));
    assert!(given_up.iter().any(|action| matches!(action, Action::Announce(last) if last.cause == why)));
    let mut with_more_followers = leads(5);
    assert_eq!(with_more_followers.layer.followers, 2);
    with_more_followers.told(2, 4);
    assert_eq!(announced(&with_more_followers.later(PERIOD * 9)), []);
    let mut told_otherwise = leads(5);
    told_otherwise.layer.followers = 0;
    told_otherwise.told(2, 4);
    told_otherwise.has_seen(2, 1, Some(5));
    assert_eq!(announced(&told_otherwise.later(PERIOD * 9)), []);
}

#[test]
fn a_silent_leader_that_the_election_has_given_up_is_nobodys_rival() {
    for (silent_for, is_rival) in [(1, true), (3, false)] {
        let mut alone = Alone::new(&[2, 3]);
        alone.named(2);
        alone.hears(2, lead(5));
        alone.now = alone.now + PERIOD * silent_for;
        assert!(alone.hears(3, CLAIM).contains(&elsewhere(3, 2)), "it still follows that one");
        alone.named(3);
        assert_eq!(alone.hears(3, CLAIM).contains(&elsewhere(3, 2)), is_rival);
    }
}

#[test]
fn who_said_that_it_goes_is_nobodys_rival() {
    let mut alone = Alone::new(&[2, 3]);
    alone.named(2);
    alone.hears(2, lead(5));
    alone.hears(2, LeadershipMsg::HandOver { to: NodeId(3) });
    alone.named(3);
    assert!(!alone.hears(3, CLAIM).contains(&elsewhere(3, 2)));
}

#[test]
fn of_two_that_claim_the_one_with_the_larger_id_waits_for_the_other() {
    let mut smaller = Alone::new(&[2, 3]);
    smaller.named(1);
    assert_eq!(smaller.hears(2, CLAIM).last(), Some(&elsewhere(2, 1)));
    assert_eq!(announced(&smaller.later(SETTLE)), [(Some(1), 1)], "and it does not wait");

    let mut larger = Alone::new(&[2, 3]);
    larger.layer.me = NodeId(5);
    larger.named(5);
    assert!(!larger.hears(2, CLAIM).contains(&elsewhere(2, 5)));
    larger.told(2, 2);
    assert_eq!(announced(&larger.later(SETTLE * 2)), []);
    larger.told(2, 5);
    assert_eq!(announced(&larger.later(SETTLE)), [(Some(5), 1)], "the other claims no more");
}

#[test]
fn who_claims_tells_those_with_a_larger_id_that_claimed_before() {
    let mut alone = Alone::new(&[2, 3]);
    alone.hears(2, CLAIM);
    assert!(alone.named(1).contains(&elsewhere(2, 1)));
    let mut named = alone.named(3);
    named.extend(alone.reviewed());
    assert!(named.contains(&elsewhere(2, 2)), "it claims no more: {named:?}");
}

#[test]
fn who_may_not_lead_keeps_no_claimant_waiting() {
    let mut alone = Alone::new(&[2, 3]);
    alone.named(1);
    alone.hears(2, CLAIM);
    assert_eq!(alone.told(3, 4), [elsewhere(2, 2)], "it waits itself");
    assert!(!alone.hears(2, CLAIM).contains(&elsewhere(2, 1)));
}

#[test]
fn a_claimant_that_follows_is_told_nothing_more() {
    let mut alone = Alone::new(&[2]);
    alone.named(1);
    alone.hears(2, CLAIM);
    assert_eq!(announced(&alone.has_seen(2, 0, None)), [(Some(1), 1)]);
    let mut ceases = alone.named(3);
    ceases.extend(alone.reviewed());
    assert!(!ceases.contains(&elsewhere(2, 2)), "{ceases:?}");
}
