//! Nodes that must not lead although their elections name them.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::super::{Action, Bar, Cause, Reception};
use super::alone::{Alone, announced};
use super::{SETTLE, TIMING};
use crate::ident::NodeId;
use crate::time::{Span, Time};

const REFUSED: Reception = Reception { unheard: 0, refusing: 1 };
const UNHEARD: Reception = Reception { unheard: 2, refusing: 0 };
const SILENCE: Reception = Reception { unheard: 0, refusing: 0 };

impl Alone {
    fn received(&mut self, reception: Reception) -> Vec<Action> {
        self.layer.receive(self.now, reception);
        self.reconsiders()
    }

    fn reconsiders(&mut self) -> Vec<Action> {
        self.layer.reconsider(self.now);
        self.actions()
    }

    fn meets(&mut self, peer: u32) -> Vec<Action> {
        self.layer.connect(self.now, NodeId(peer));
        self.reconsiders()
    }

    fn loses(&mut self, peer: u32) -> Vec<Action> {
        self.layer.gone(self.now, NodeId(peer));
        self.reconsiders()
    }

    /// It wakes up whenever it wants to, for a long time. Who was announced?
    fn in_the_end(&mut self) -> Vec<(Option<u32>, u64)> {
        let (mut found, end) = (Vec::new(), self.now + Span::secs(60));
        while self.layer.deadline() < end && found.is_empty() {
            let wait = self.layer.deadline().since(self.now);
            found.extend(announced(&self.wakes_after(wait)));
        }
        found
    }
}

#[test]
fn who_is_answered_by_nobody_leads_itself() {
    let mut alone = Alone::new(&[]);
    alone.received(SILENCE);
    assert_eq!(announced(&alone.named(1)), [(Some(1), 1)]);
}

#[test]
fn who_is_refused_does_not_lead_until_the_refusal_is_over() {
    let mut alone = Alone::new(&[]);
    alone.received(REFUSED);
    alone.named(1);
    assert_eq!(alone.in_the_end(), []);
    assert_eq!(alone.layer.bar(), Some(Bar::Refused { by: 1 }));
    assert_eq!(alone.layer.deadline(), Time::NEVER, "nothing is left to wait for but the driver's word");
    assert_eq!(announced(&alone.received(SILENCE)), [], "whoever accepts it has a moment to be connected");
    assert_eq!(alone.layer.deadline(), alone.now + SETTLE);
    assert_eq!(alone.in_the_end(), [(Some(1), 1)]);
}

#[test]
fn a_leader_that_is_refused_and_alone_leads_no_more() {
    let mut alone = Alone::leading(&[]);
    let actions = alone.received(REFUSED);
    assert_eq!(announced(&actions), [(None, 1)]);
    let why = Cause::Refused(NodeId(1));
    assert!(actions.iter().any(|action| matches!(action, Action::Announce(last) if last.cause == why)));
    assert_eq!(alone.in_the_end(), []);
}

#[test]
fn one_peer_that_accepts_is_enough_while_it_is_there() {
    let mut alone = Alone::leading(&[2]);
    assert_eq!(alone.received(REFUSED), [], "another refuses it");
    assert_eq!(announced(&alone.loses(2)), [(None, 1)]);
    alone.meets(2);
    assert_eq!(announced(&alone.has_seen(2, 1, None)), [(Some(1), 2)]);
}

/// Else a member would lead from its start until the first refusal comes.
#[test]
fn a_node_that_starts_hears_from_its_peers_or_gives_them_up_before_it_leads_alone() {
    let mut alone = Alone::new(&[]);
    alone.received(UNHEARD);
    alone.named(1);
    assert_eq!(alone.in_the_end(), []);
    assert_eq!(alone.layer.bar(), Some(Bar::Unheard { peers: 2 }));
    alone.received(REFUSED);
    assert_eq!(alone.in_the_end(), []);
    alone.received(SILENCE);
    assert_eq!(alone.in_the_end(), [(Some(1), 1)]);
}

#[test]
fn a_leader_stays_while_another_address_is_tried() {
    let mut alone = Alone::leading(&[]);
    assert_eq!(alone.received(UNHEARD), []);
}

#[test]
fn a_first_election_waits_for_its_peers() {
    let mut alone = Alone::needing(2, 0);
    alone.named(1);
    alone.meets(2);
    alone.has_seen(2, 0, None);
    assert_eq!(alone.in_the_end(), [], "one of two is there");
    assert_eq!(alone.layer.bar(), Some(Bar::TooFew { connected: 1, needed: 2 }));
    alone.meets(3);
    alone.has_seen(2, 0, None);
    assert_eq!(announced(&alone.has_seen(3, 0, None)), [(Some(1), 1)]);
    alone.loses(2);
    assert_eq!(alone.loses(3), [], "the last survivor leads on");
}

#[test]
fn the_last_survivor_that_restarts_waits_for_nobody() {
    let mut alone = Alone::needing(2, 7);
    assert_eq!(announced(&alone.named(1)), [(Some(1), 8)]);
}

#[test]
fn one_peer_that_knows_an_epoch_makes_it_no_first_election() {
    let mut alone = Alone::needing(2, 0);
    alone.named(1);
    alone.meets(2);
    alone.wakes_after(TIMING.tau * 100);
    assert_eq!(alone.layer.bar(), Some(Bar::TooFew { connected: 1, needed: 2 }));
    alone.hears(2, super::super::LeadershipMsg::Seen { epoch: 7, of: Some(NodeId(3)) });
    alone.reconsiders();
    assert_eq!(announced(&alone.has_seen(2, 7, None)), [(Some(1), 8)]);
}

#[test]
fn a_bar_is_told_in_words() {
    let words = Bar::TooFew { connected: 0, needed: 1 }.to_string();
    assert_eq!(words, "before a first election 1 peer must be connected; 0 are");
    let words = Bar::Refused { by: 2 }.to_string();
    assert_eq!(words, "2 peers answer and refuse this member, and none accepts it");
    let words = Bar::Unheard { peers: 1 }.to_string();
    assert_eq!(words, "1 peer has neither answered nor been given up");
}

/// It has waited for so long that its claim is long overdue. Whoever comes is asked all the same, and may have a leader.
#[test]
fn who_comes_to_one_that_was_barred_is_given_its_time_to_answer() {
    let mut alone = Alone::new(&[]);
    alone.received(REFUSED);
    alone.named(1);
    assert_eq!(alone.in_the_end(), []);
    alone.now = alone.now + Span::secs(60);
    let met = alone.meets(2);
    assert!(met.iter().any(|action| matches!(action, Action::Send(NodeId(2), _))), "it is asked: {met:?}");
    assert_eq!(alone.layer.deadline(), alone.now + SETTLE);
    assert_eq!(announced(&alone.has_seen(2, 4, Some(2))), [(Some(1), 5)]);
}
