//! One node's rules. What several do together is in the simulator's paper tests.

use super::super::raynal::rig::{DELTA, Rig, TAU, id};
use super::*;
use alloc::vec;

use crate::ident::Incarnation;

/// A round trip: twice δ.
const T: Span = Span::millis(DELTA.as_micros() / 500);
const ALMOST_T: Span = Span::micros(T.as_micros() - 1);
const MICRO: Span = Span::micros(1);

fn node(me: u32, size: u32, variant: Variant) -> Rig<Bully> {
    Rig::in_order_of(Priority::HighestId, me, size, variant, 0)
}

fn repaired(me: u32, size: u32) -> Rig<Bully> {
    node(me, size, Variant::Repaired)
}

/// The n-th call of a node.
fn call(caller: u32, n: u64) -> CallNo {
    CallNo::new(id(caller), Incarnation(2), n)
}

fn e(node: u32, seq: u64) -> ElectionId {
    ElectionId { node: id(node), incarnation: Incarnation(2), seq }
}

fn formed(rig: &Rig<Bully>) -> Vec<(u32, Vec<u32>)> {
    let formations = rig.did.iter().filter_map(|action| match action {
        Action::Form(formation) => Some(formation),
        _ => None,
    });
    formations.map(|f| (f.leader.0, f.members.iter().map(|member| member.0).collect())).collect()
}

fn status(rig: &Rig<Bully>) -> Status {
    rig.election.opinion().status
}

/// Halted by 3, and told that 3 is the coordinator.
fn follower(variant: Variant) -> Rig<Bully> {
    let mut rig = node(1, 3, variant);
    rig.message(3, Msg::Halt(call(3, 1), e(3, 1)));
    rig.message(3, Msg::NewCoordinator(call(3, 2), e(3, 1)));
    assert_eq!(formed(&rig), [(3, vec![])]);
    rig.input(Input::Reorganized);
    rig
}

#[test]
fn one_stronger_node_after_the_other_is_probed_and_any_answer_ends_it() {
    let mut rig = repaired(1, 4);
    assert_eq!(rig.sent(), [(2, Msg::AreYouThere(call(1, 1)))]);
    rig.advance(ALMOST_T);
    assert_eq!(rig.election.deadline(), rig.now + MICRO);
    rig.advance(MICRO);
    assert_eq!(rig.sent(), [(3, Msg::AreYouThere(call(1, 2)))]);
    rig.message(3, Msg::AreYouThereReply(call(1, 2)));
    assert_eq!((rig.sent(), status(&rig)), (vec![], Status::Down), "it gives up, and is as it was");
    rig.message(3, Msg::AreYouThereReply(call(1, 2)));
    assert_eq!(rig.sent(), []);
}

#[test]
fn the_weaker_are_halted_one_after_the_other_and_those_who_obey_are_told() {
    let mut rig = repaired(3, 3);
    assert_eq!(rig.sent(), [(2, Msg::Halt(call(3, 1), e(3, 1)))]);
    assert_eq!(status(&rig), Status::Election);
    rig.advance(T);
    assert_eq!(rig.sent(), [(1, Msg::Halt(call(3, 2), e(3, 1)))], "2 is down");
    rig.message(1, Msg::HaltReply(call(3, 2)));
    assert_eq!(rig.sent(), [(1, Msg::NewCoordinator(call(3, 3), e(3, 1)))]);
    assert_eq!(rig.election.opinion().leader, Some(id(3)), "the election point");
    rig.message(1, Msg::NewCoordinatorReply(call(3, 3), Answer::Yes));
    assert_eq!((formed(&rig), status(&rig)), (vec![(3, vec![1])], Status::Reorganizing));
    rig.input(Input::Reorganized);
    assert_eq!(rig.leader(), Some(3));
}

#[test]
fn a_halted_node_waits_and_accepts_only_whoever_halted_it() {
    let mut rig = node(1, 4, Variant::Printed);
    rig.message(3, Msg::Halt(call(3, 1), e(3, 1)));
    assert_eq!((rig.sent(), status(&rig)), (vec![(3, Msg::HaltReply(call(3, 1)))], Status::Waiting));
    rig.message(4, Msg::NewCoordinator(call(4, 9), e(4, 1)));
    assert_eq!(rig.sent(), [(4, Msg::NewCoordinatorReply(call(4, 9), Answer::No))]);
    rig.message(3, Msg::NewCoordinator(call(3, 2), e(3, 1)));
    assert_eq!(rig.sent(), [(3, Msg::NewCoordinatorReply(call(3, 2), Answer::Yes))]);
    assert_eq!((status(&rig), rig.election.opinion().leader), (Status::Reorganizing, Some(id(3))));
    rig.message(3, Msg::NewCoordinator(call(3, 3), e(3, 1)));
    assert_eq!(rig.sent(), [(3, Msg::NewCoordinatorReply(call(3, 3), Answer::No))], "once");
}

/// E-GM1: of an earlier election of the same node.
#[test]
fn an_old_new_coordinator_counts_only_as_printed() {
    for (variant, answer) in [(Variant::Printed, Answer::Yes), (Variant::Repaired, Answer::No)] {
        let mut rig = node(1, 3, variant);
        rig.message(3, Msg::Halt(call(3, 5), e(3, 2)));
        rig.message(3, Msg::NewCoordinator(call(3, 2), e(3, 1)));
        assert_eq!(rig.sent(), [(3, Msg::NewCoordinatorReply(call(3, 2), answer))], "{variant:?}");
    }
}

/// E-GM3: whether a refusal is an answer.
#[test]
fn whose_word_is_refused_starts_over_unless_as_printed() {
    for variant in Variant::ALL {
        let mut rig = node(2, 2, variant);
        rig.message(1, Msg::HaltReply(call(2, 1)));
        rig.message(1, Msg::NewCoordinatorReply(call(2, 2), Answer::No));
        match variant {
            Variant::Printed => assert_eq!(formed(&rig), [(2, vec![1])]),
            Variant::Repaired => assert_eq!(rig.sent(), [(1, Msg::Halt(call(2, 3), e(2, 2)))]),
        }
    }
}

/// E-GM2: a stronger node answers, and never halts this one.
#[test]
fn whose_reorganization_failed_is_no_coordinator_unless_as_printed() {
    for (variant, ends) in [(Variant::Printed, Status::Reorganizing), (Variant::Repaired, Status::Election)] {
        let mut rig = node(2, 3, variant);
        rig.advance(T);
        rig.message(1, Msg::HaltReply(call(2, 2)));
        rig.advance(T);
        assert_eq!(rig.sent(), [(3, Msg::AreYouThere(call(2, 4)))], "1 did not answer NewCoordinator");
        rig.message(3, Msg::AreYouThereReply(call(2, 4)));
        assert_eq!(status(&rig), ends);
        rig.advance(TAU + T * 3);
        let again = [(3, Msg::AreYouThere(call(2, 5)))];
        assert_eq!(rig.sent(), if variant == Variant::Printed { &[][..] } else { &again[..] });
    }
}

#[test]
fn who_hears_nothing_asks_its_coordinator_and_stands_if_that_is_gone() {
    let mut rig = follower(Variant::Repaired);
    rig.advance(TAU + T * 2 + ALMOST_T);
    rig.message(2, Msg::AreYouThere(call(2, 1)));
    rig.advance(MICRO);
    assert_eq!(rig.sent(), [(3, Msg::AreYouThere(call(1, 2)))], "only the coordinator's word counts");
    rig.message(3, Msg::AreYouThereReply(call(1, 2)));
    rig.advance(TAU + T * 3);
    assert_eq!(rig.sent(), [(3, Msg::AreYouThere(call(1, 3)))], "as long again");
    rig.advance(T);
    assert_eq!(rig.sent(), [(2, Msg::AreYouThere(call(1, 4)))], "Election");
}

#[test]
fn a_word_of_the_coordinator_puts_timeout_off() {
    let mut rig = follower(Variant::Repaired);
    rig.advance(TAU);
    rig.message(3, Msg::AreYouNormal(call(3, 7)));
    assert_eq!(rig.sent(), [(3, Msg::AreYouNormalReply(call(3, 7), Answer::Yes))]);
    assert_eq!(rig.election.deadline(), rig.now + TAU + T * 3);
}

/// PROCEDURE Check(i), from the weakest on.
#[test]
fn the_coordinator_asks_all_others_every_period_whether_they_are_normal() {
    let mut rig = repaired(2, 3);
    rig.advance(T * 2);
    assert_eq!(formed(&rig), [(2, vec![])], "alone");
    rig.input(Input::Reorganized);
    rig.advance(TAU);
    assert_eq!(rig.sent(), [(1, Msg::AreYouNormal(call(2, 3)))]);
    rig.advance(T);
    assert_eq!(rig.sent(), [(3, Msg::AreYouNormal(call(2, 4)))], "1 is down");
    rig.message(3, Msg::AreYouNormalReply(call(2, 4), Answer::Yes));
    rig.advance(TAU);
    rig.message(1, Msg::AreYouNormalReply(call(2, 5), Answer::No));
    assert_eq!(rig.sent(), [(3, Msg::AreYouThere(call(2, 6)))], "Election, at once");
}

/// Claim C5.
#[test]
fn stop_ends_whatever_a_node_was_doing() {
    let mut rig = repaired(2, 3);
    rig.advance(T);
    assert_eq!(rig.sent(), [(1, Msg::Halt(call(2, 2), e(2, 1)))]);
    rig.message(3, Msg::Halt(call(3, 1), e(3, 1)));
    assert!(rig.did.contains(&Action::Disband));
    rig.message(1, Msg::HaltReply(call(2, 2)));
    assert_eq!(rig.sent(), [], "its election is over");
    assert_eq!(rig.election.deadline(), rig.now + TAU + T * 3, "and what is left is to wait");
}

#[test]
fn evidence_that_a_peer_is_gone_is_as_good_as_its_silence() {
    let mut rig = repaired(1, 3);
    rig.input(Input::Gone(id(2)));
    assert_eq!(rig.sent(), [(3, Msg::AreYouThere(call(1, 2)))]);
    let mut rig = follower(Variant::Repaired);
    rig.input(Input::Gone(id(2)));
    assert_eq!(rig.sent(), []);
    rig.input(Input::Gone(id(3)));
    assert_eq!(rig.sent(), [(2, Msg::AreYouThere(call(1, 2)))], "its coordinator: Election");
}

#[test]
fn what_nobody_says_has_no_effect() {
    let mut rig = repaired(2, 3);
    let before = status(&rig);
    let lies = [
        (1, Msg::Halt(call(1, 1), e(1, 1))), // The weaker halt nobody,
        (3, Msg::Halt(call(3, 1), e(2, 1))), // and nobody halts in another's name,
        (3, Msg::AreYouThere(call(1, 1))),   // or calls in it.
        (3, Msg::NewCoordinator(call(1, 1), e(3, 1))),
    ];
    for (from, lie) in lies {
        rig.message(from, lie);
        assert_eq!((rig.sent(), status(&rig)), (vec![], before), "{lie:?}");
    }
}

#[test]
fn it_says_why_it_gives_its_coordinator_up() {
    let mut rig = follower(Variant::Repaired);
    rig.advance(TAU + T * 6);
    assert_eq!(rig.why, Some(Cause::Silent(id(3))));
    let mut rig = follower(Variant::Repaired);
    rig.message(2, Msg::Halt(call(2, 1), e(2, 1)));
    assert_eq!(rig.why, Some(Cause::Silent(id(3))), "to 2");
    let mut rig = follower(Variant::Repaired);
    rig.message(3, Msg::Halt(call(3, 3), e(3, 2)));
    assert_eq!(rig.why, Some(Cause::Merged), "it takes somebody in");

    let alone = || {
        let mut rig = repaired(2, 3);
        rig.advance(T * 2);
        rig.input(Input::Reorganized);
        assert_eq!(rig.leader(), Some(2));
        rig
    };
    let mut rig = alone();
    rig.message(3, Msg::Halt(call(3, 1), e(3, 1)));
    assert_eq!(rig.why, Some(Cause::Outranked(id(2))));
    let mut rig = alone();
    rig.advance(TAU);
    rig.message(1, Msg::AreYouNormalReply(call(2, 3), Answer::No));
    rig.advance(T);
    assert_eq!((rig.leader(), rig.why), (None, Some(Cause::Merged)));
}
