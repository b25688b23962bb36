//! One node's rules. What several do together is in the simulator's paper tests.

use alloc::vec;

use super::super::raynal::rig::{DELTA as T, Rig, id};
use super::*;
use crate::ident::Incarnation;

fn node(me: u32, size: u32, variant: Variant) -> Rig<SoutoBully> {
    Rig::new(me, size, variant, 0)
}

/// Up for long enough to obey anybody; whatever it sent is lost.
fn settled(me: u32, size: u32, variant: Variant) -> Rig<SoutoBully> {
    let mut rig = node(me, size, variant);
    rig.now = rig.now + T + Span::micros(1);
    rig
}

fn e(node: u32, seq: u64) -> ElectionId {
    ElectionId { node: id(node), incarnation: Incarnation(2), seq }
}

fn halt(node: u32, seq: u64) -> Msg {
    Msg::Halt { election: e(node, seq), answers: None }
}

fn status(rig: &Rig<SoutoBully>) -> Status {
    rig.election.opinion().status
}

/// Halted by 1, and told that 1 leads.
fn follower(me: u32, variant: Variant) -> Rig<SoutoBully> {
    let mut rig = settled(me, 4, variant);
    rig.message(1, halt(1, 1));
    assert!(rig.did.contains(&Action::Start(id(1))), "the candidate is watched");
    rig.message(1, Msg::NewLeader(e(1, 1)));
    assert_eq!(rig.leader(), Some(1));
    rig
}

/// The phases, and T, 2T and T of them.
#[test]
fn all_stronger_are_asked_then_all_weaker_halted_and_told() {
    let mut rig = node(3, 4, Variant::Repaired);
    assert_eq!(rig.sent(), [1, 2].map(|j| (j, Msg::AreUThere(e(3, 1)))));
    assert_eq!(rig.election.deadline(), rig.now + T * 2);
    rig.advance(T * 2);
    assert_eq!((rig.sent(), status(&rig)), (vec![(4, halt(3, 1))], Status::Election));
    assert_eq!(rig.election.deadline(), rig.now + T);
    rig.advance(T);
    assert_eq!((rig.sent(), rig.leader()), (vec![(4, Msg::NewLeader(e(3, 1)))], Some(3)));
    assert_eq!(rig.election.deadline(), Time::NEVER);
}

#[test]
fn whoever_is_answered_backs_off_and_starts_over_if_nothing_comes_of_it() {
    for (variant, patience) in [(Variant::Printed, 5), (Variant::Repaired, 6)] {
        let mut rig = node(2, 3, variant);
        rig.advance(T);
        rig.message(1, Msg::Yes(e(2, 1)));
        assert_eq!(status(&rig), Status::Waiting);
        assert_eq!(rig.election.deadline(), Time::ZERO + T * patience, "after its ARE-U-THERE");
        rig.advance(T * (patience - 1));
        assert_eq!(rig.sent(), [(1, Msg::AreUThere(e(2, 2)))]);
        rig.message(1, Msg::Yes(e(2, 1)));
        let waits = if variant == Variant::Printed { Status::Waiting } else { Status::Election };
        assert_eq!(status(&rig), waits, "an answer to the last one");
    }
}

/// E-SO1
#[test]
fn a_new_leader_counts_only_if_it_halted_its_receiver_unless_as_printed() {
    for (variant, leader) in [(Variant::Printed, Some(2)), (Variant::Repaired, None)] {
        let mut rig = settled(4, 4, variant);
        rig.message(1, halt(1, 1));
        rig.message(2, Msg::NewLeader(e(2, 1)));
        assert_eq!(rig.leader(), leader, "{variant:?}");
        rig.message(1, Msg::NewLeader(e(1, 1)));
        assert_eq!(rig.leader(), Some(1));
    }
}

/// E-SO4
#[test]
fn a_halted_node_stays_with_the_stronger_candidate() {
    let mut rig = settled(4, 4, Variant::Repaired);
    rig.message(2, halt(2, 1));
    rig.message(1, halt(1, 1));
    rig.message(3, halt(3, 1));
    rig.message(3, Msg::NewLeader(e(3, 1)));
    rig.message(2, Msg::NewLeader(e(2, 1)));
    assert_eq!(rig.leader(), None);
    rig.message(1, Msg::NewLeader(e(1, 1)));
    assert_eq!(rig.leader(), Some(1));
    rig.message(2, halt(2, 2));
    assert_eq!(status(&rig), Status::Waiting, "one that has a leader obeys whoever is stronger than itself");
}

#[test]
fn whom_a_node_that_came_up_was_halted_by_before_it_does_not_follow() {
    let mut rig = node(4, 4, Variant::Repaired);
    rig.advance(T);
    rig.message(2, halt(2, 1));
    assert_eq!(status(&rig), Status::Waiting, "it gives up all the same");
    rig.message(2, Msg::NewLeader(e(2, 1)));
    assert_eq!(rig.leader(), None);
    rig.now = rig.now + Span::micros(1);
    rig.message(3, halt(3, 1));
    rig.message(3, Msg::NewLeader(e(3, 1)));
    assert_eq!(rig.leader(), None, "the stronger candidate comes first even so");
    rig.message(2, Msg::Halt { election: e(2, 1), answers: Some(e(4, 1)) });
    rig.message(2, Msg::NewLeader(e(2, 1)));
    assert_eq!(rig.leader(), Some(2), "an answer is new");
}

#[test]
fn a_challenged_leader_serves_the_challenger_and_as_printed_holds_another_election() {
    for variant in Variant::ALL {
        let mut rig = node(1, 3, variant);
        rig.advance(T);
        assert_eq!(rig.leader(), Some(1));
        rig.message(3, Msg::AreUThere(e(3, 7)));
        let yes = (3, Msg::Yes(e(3, 7)));
        match variant {
            Variant::Repaired => {
                let answer = Msg::Halt { election: e(1, 1), answers: Some(e(3, 7)) };
                assert_eq!((rig.sent(), rig.leader()), (vec![yes, (3, answer)], Some(1)));
                rig.advance(T);
                assert_eq!(rig.sent(), [(3, Msg::NewLeader(e(1, 1)))]);
            }
            Variant::Printed => assert_eq!(rig.sent(), [yes, (2, halt(1, 2)), (3, halt(1, 2))]),
        }
    }
}

/// S9 (d), (e): between HALT and NEW-LEADER.
#[test]
fn a_challenged_candidate_goes_on() {
    let mut rig = node(1, 3, Variant::Repaired);
    rig.advance(Span::micros(T.as_micros() / 2));
    rig.message(3, Msg::AreUThere(e(3, 7)));
    assert_eq!(rig.sent().len(), 2, "YES and HALT: {:?}", rig.sent());
    rig.advance(Span::micros(T.as_micros() / 2));
    assert_eq!((rig.sent(), rig.leader()), (vec![(2, Msg::NewLeader(e(1, 1)))], Some(1)));
    rig.advance(Span::micros(T.as_micros() / 2));
    assert_eq!(rig.sent(), [(3, Msg::NewLeader(e(1, 1)))], "T after its HALT");
}

#[test]
fn a_challenged_follower_stands_itself_and_one_that_takes_part_does_not() {
    let mut rig = follower(3, Variant::Repaired);
    rig.message(4, Msg::AreUThere(e(4, 1)));
    let expected = vec![(4, Msg::Yes(e(4, 1))), (1, Msg::AreUThere(e(3, 2))), (2, Msg::AreUThere(e(3, 2)))];
    assert_eq!(rig.sent(), expected);
    rig.message(4, Msg::AreUThere(e(4, 2)));
    assert_eq!(rig.sent(), [(4, Msg::Yes(e(4, 2)))]);
}

#[test]
fn only_the_death_of_the_leader_or_candidate_matters() {
    let mut rig = follower(3, Variant::Repaired);
    rig.input(Input::DownSig(id(2)));
    assert_eq!(rig.leader(), Some(1));
    rig.input(Input::DownSig(id(1)));
    assert_eq!(status(&rig), Status::Election);
    rig.message(2, halt(2, 1));
    rig.input(Input::DownSig(id(1)));
    assert_eq!(status(&rig), Status::Waiting);
    rig.input(Input::DownSig(id(2)));
    assert_eq!(status(&rig), Status::Election);
}

#[test]
fn who_was_halted_and_hears_no_more_starts_over_unless_as_printed() {
    for (variant, deadline) in [(Variant::Printed, None), (Variant::Repaired, Some(T * 3))] {
        let mut rig = settled(2, 2, variant);
        rig.message(1, halt(1, 1));
        assert_eq!(rig.election.deadline().as_deadline(), deadline.map(|after| rig.now + after));
    }
}

#[test]
fn what_nobody_says_has_no_effect() {
    let mut rig = settled(2, 3, Variant::Printed);
    let before = status(&rig);
    let lies = [
        (3, halt(3, 1)),              // The weaker halt nobody,
        (3, Msg::NewLeader(e(3, 1))), // nor lead the stronger,
        (1, halt(3, 1)),              // nobody speaks for another,
        (1, Msg::AreUThere(e(1, 1))), // the stronger do not ask,
        (1, Msg::Yes(e(3, 1))),       // and this is no answer to this node.
    ];
    for (from, lie) in lies {
        rig.message(from, lie);
        assert_eq!((rig.sent(), status(&rig)), (vec![], before), "{lie:?}");
    }
}

#[test]
fn it_says_why_it_gives_its_leader_up() {
    let mut rig = follower(3, Variant::Repaired);
    rig.input(Input::DownSig(id(1)));
    assert_eq!(rig.why, Some(Cause::Silent(id(1))));
    let mut rig = follower(3, Variant::Repaired);
    rig.message(4, Msg::AreUThere(e(4, 1)));
    assert_eq!(rig.why, Some(Cause::Merged), "4 is with nobody");
    let mut rig = settled(2, 2, Variant::Repaired);
    rig.advance(T * 3);
    assert_eq!(rig.leader(), Some(2));
    rig.message(1, halt(1, 1));
    assert_eq!(rig.why, Some(Cause::Outranked(id(2))));
}
