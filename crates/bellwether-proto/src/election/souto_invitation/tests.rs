//! One node, driven by hand. Its rules are tested in `invitation`; here are the messages.

use super::super::raynal::rig::{DELTA, Rig, TAU, id};
use super::*;
use crate::election::Variant;
use crate::ident::{ElectionId, Incarnation};

fn group(node: u32, seq: u64) -> GroupId {
    GroupId(ElectionId { node: id(node), incarnation: Incarnation(2), seq })
}

fn rig(me: u32, variant: Variant) -> Rig<SoutoInvitation> {
    Rig::new(me, 3, variant, 0)
}

/// Node 2 in node 1's group.
fn member(variant: Variant) -> Rig<SoutoInvitation> {
    let mut rig = rig(2, variant);
    rig.message(1, Msg::Invitation(group(1, 7)));
    assert_eq!(rig.sent(), [(1, Msg::Accept(group(1, 7)))]);
    rig.message(1, Msg::Ready(group(1, 7)));
    assert_eq!((rig.leader(), rig.sent()), (Some(1), [(1, Msg::Ack(group(1, 7)))].into()));
    rig
}

/// Node 1 that leads 2 and 3, which have acknowledged or not.
fn leader(acknowledge: &[u32]) -> Rig<SoutoInvitation> {
    let mut rig = rig(1, Variant::Repaired);
    rig.message(2, Msg::AreULeaderReply(group(1, 1)));
    rig.message(3, Msg::AreULeaderReply(group(1, 1)));
    rig.advance(DELTA * 2);
    let number = group(1, 2);
    assert_eq!(rig.sent(), [(2, Msg::Invitation(number)), (3, Msg::Invitation(number))]);
    rig.message(2, Msg::Accept(number));
    rig.message(3, Msg::Accept(number));
    rig.advance(DELTA * 4);
    let ready = [(2, Msg::Ready(number)), (3, Msg::Ready(number))];
    assert_eq!((rig.leader(), &rig.sent()[..2]), (Some(1), &ready[..]), "NORMAL once READY is sent");
    acknowledge.iter().for_each(|j| rig.message(*j, Msg::Ack(number)));
    rig.advance(DELTA * 2);
    rig
}

#[test]
fn only_who_leads_and_is_normal_says_that_it_leads() {
    let asks = Msg::AreULeader(group(3, 1));
    let mut alone = rig(2, Variant::Repaired);
    alone.message(3, asks);
    assert_eq!(alone.sent(), [(3, Msg::AreULeaderReply(group(3, 1)))]);
    let mut follower = member(Variant::Repaired);
    follower.message(3, asks);
    assert_eq!(follower.sent(), []);
}

#[test]
fn a_leader_that_is_invited_takes_its_members_along() {
    let mut rig = leader(&[2, 3]);
    rig.message(3, Msg::Invitation(group(3, 9)));
    let number = group(3, 9);
    assert_eq!(rig.sent(), [(2, Msg::Invitation(number)), (3, Msg::Accept(number))]);
}

#[test]
fn who_is_not_told_that_the_group_is_complete_gives_up() {
    let mut rig = rig(2, Variant::Repaired);
    rig.message(1, Msg::Invitation(group(1, 7)));
    rig.message(3, Msg::Ready(group(1, 7)));
    rig.message(1, Msg::Ready(group(1, 6)));
    assert_eq!(rig.leader(), None, "neither is READY of its leader for its group");
    rig.advance(DELTA * 5);
    assert_eq!((rig.leader(), rig.election.opinion().group), (Some(2), Some(group(2, 2))));
}

#[test]
fn a_leader_that_does_not_answer_is_left() {
    for variant in Variant::ALL {
        let mut rig = member(variant);
        rig.advance(TAU);
        assert_eq!(rig.sent(), [(1, Msg::AreUThere(group(1, 7)))]);
        rig.message(1, Msg::AreUThereReply(group(1, 7), Answer::Member));
        rig.advance(TAU);
        assert_eq!(rig.leader(), Some(1));
        rig.advance(DELTA * 2);
        assert_eq!(rig.leader(), Some(2));
    }
}

/// E-SO5: as printed, that it is alive is enough.
#[test]
fn a_leader_of_another_group_is_left() {
    for (variant, leader) in [(Variant::Repaired, 2), (Variant::Printed, 1)] {
        let mut rig = member(variant);
        rig.advance(TAU);
        rig.message(1, Msg::AreUThereReply(group(1, 7), Answer::Stranger));
        assert_eq!(rig.leader(), Some(leader));
    }
}

#[test]
fn who_does_not_acknowledge_is_no_member() {
    let mut rig = leader(&[3]);
    for (j, answer) in [(2, Answer::Stranger), (3, Answer::Member)] {
        rig.message(j, Msg::AreUThere(group(1, 2)));
        assert_eq!(rig.sent(), [(j, Msg::AreUThereReply(group(1, 2), answer))]);
    }
}

#[test]
fn it_says_why_it_gives_its_leader_up() {
    let mut rig = member(Variant::Repaired);
    assert_eq!(rig.why, Some(Cause::Merged), "it was invited");
    rig.input(Input::Gone(id(1)));
    assert_eq!(rig.why, Some(Cause::Gone(id(1))));
    let mut rig = member(Variant::Repaired);
    rig.advance(TAU + DELTA * 2);
    assert_eq!(rig.why, Some(Cause::Silent(id(1))));
    let mut rig = member(Variant::Repaired);
    rig.advance(TAU);
    rig.message(1, Msg::AreUThereReply(group(1, 7), Answer::Stranger));
    assert_eq!(rig.why, Some(Cause::Dropped(id(1))));
    assert_eq!(leader(&[2, 3]).why, Some(Cause::Merged), "it invited");
}
