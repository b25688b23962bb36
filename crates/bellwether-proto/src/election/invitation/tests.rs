//! One node, driven by hand. The roster's strongest is 1: which end of the ids that is, is a policy.

use alloc::vec;

use super::super::raynal::rig::{DELTA, Rig, TAU, id};
use super::*;
use crate::election::Variant;
use crate::ident::{ElectionId, Incarnation};
use crate::opinion::Status;

const T: Span = Span::millis(20);
/// τ + T, and T for the answer.
const SILENCE: Span = Span::millis(120);

/// Node `me` of `size`, alone in its first group, whose first Check has begun.
fn alone(me: u32, size: u32, variant: Variant) -> Rig<Invitation> {
    let mut rig = Rig::new(me, size, variant, 0);
    assert_eq!(formed(&rig), Some((me, vec![])), "Recovery");
    rig.input(Input::Reorganized);
    rig
}

/// The same, a member of node 1's group, normal.
fn member(me: u32, size: u32, variant: Variant) -> Rig<Invitation> {
    let mut rig = alone(me, size, variant);
    rig.message(1, Msg::Invitation { group: group(1, 7) });
    if variant == Variant::Printed {
        let call = accepted(&rig);
        rig.message(1, Msg::AcceptReply { call, taken: true });
    }
    rig.input(Input::Reorganized);
    assert_eq!(rig.leader(), Some(1));
    rig
}

fn group(node: u32, seq: u64) -> GroupId {
    GroupId(ElectionId { node: id(node), incarnation: Incarnation(2), seq })
}

/// The group that was formed: its leader and members.
fn formed(rig: &Rig<Invitation>) -> Option<(u32, Vec<u32>)> {
    rig.did.iter().find_map(|action| match action {
        Action::Form(formation) => {
            Some((formation.leader.0, formation.members.iter().map(|member| member.0).collect()))
        }
        _ => None,
    })
}

/// The call of the Accept that was sent.
fn accepted(rig: &Rig<Invitation>) -> CallNo {
    let call = rig.did.iter().find_map(|action| match action {
        Action::Join { msg: Msg::Accept { call, .. }, .. } => Some(*call),
        _ => None,
    });
    call.expect("it has accepted")
}

/// Whom it asked whether they coordinate, and under which numbers.
fn asked(rig: &Rig<Invitation>) -> Vec<(u32, CallNo)> {
    let asked = rig.sent().into_iter().filter_map(|(to, msg)| match msg {
        Msg::AreYouCoordinator { call, .. } => Some((to, call)),
        _ => None,
    });
    asked.collect()
}

/// Answers the present Check: these coordinate, the others do not.
fn answer(rig: &mut Rig<Invitation>, coordinators: &[u32]) {
    for (j, call) in asked(rig) {
        let yes = coordinators.contains(&j).then_some(0);
        rig.message(j, Msg::AreYouCoordinatorReply { call, yes, with_you: false });
    }
}

fn invited(rig: &Rig<Invitation>) -> Vec<u32> {
    let invited = |(to, msg): (u32, Msg)| matches!(msg, Msg::Invitation { .. }).then_some(to);
    rig.sent().into_iter().filter_map(invited).collect()
}

#[test]
fn whoever_comes_up_is_a_group_of_its_own_and_looks_for_others() {
    let mut rig = alone(2, 3, Variant::Repaired);
    assert_eq!((rig.leader(), asked(&rig).len()), (Some(2), 2));
    assert_eq!(rig.election.opinion().group, Some(group(2, 1)));
    answer(&mut rig, &[]);
    assert_eq!(invited(&rig), []);
    rig.advance(TAU);
    assert_eq!(asked(&rig).len(), 2, "and again every period");
}

#[test]
fn the_strongest_merges_at_once_and_the_others_wait_two_periods_for_each_that_is_stronger() {
    for variant in Variant::ALL {
        let mut first = alone(1, 3, variant);
        answer(&mut first, &[2, 3]);
        assert_eq!(invited(&first), [2, 3]);
        assert_eq!(first.election.opinion().group, Some(group(1, 2)), "a fresh number");

        let mut third = alone(3, 3, variant);
        answer(&mut third, &[1, 2]);
        let due = third.now + TAU * 4;
        while third.now + TAU < due {
            third.advance(TAU);
            answer(&mut third, &[1, 2]);
            assert_eq!(invited(&third), [], "{variant:?}");
        }
        third.advance(TAU);
        assert_eq!(invited(&third), [1, 2], "{variant:?}");
    }
}

/// A Check that has not heard from everybody waits T, and not longer.
#[test]
fn a_check_does_not_wait_for_the_dead() {
    let mut rig = alone(1, 3, Variant::Repaired);
    let (_, call) = asked(&rig)[0];
    rig.message(2, Msg::AreYouCoordinatorReply { call, yes: Some(0), with_you: false });
    assert_eq!(invited(&rig), []);
    rig.advance(T);
    assert_eq!(invited(&rig), [2]);
}

/// E-GM7: STOP cancels a merge that is put off.
#[test]
fn who_joins_another_group_does_not_merge_any_more() {
    for variant in Variant::ALL {
        let mut rig = alone(2, 3, variant);
        answer(&mut rig, &[1]);
        rig.message(1, Msg::Invitation { group: group(1, 5) });
        assert_eq!(rig.election.inviter.merge_due(), Time::NEVER);
        rig.advance(TAU * 2);
        assert_eq!(invited(&rig), [], "{variant:?}");
    }
}

/// E-GM7: what is invited is what the latest Check found. As printed it is what the first did.
#[test]
fn a_merge_that_was_put_off_goes_by_the_latest_check() {
    for (variant, expected) in [(Variant::Repaired, vec![3]), (Variant::Printed, vec![1, 3])] {
        let mut rig = alone(2, 3, variant);
        answer(&mut rig, &[1, 3]);
        rig.advance(TAU);
        answer(&mut rig, &[3]);
        if variant == Variant::Printed {
            rig.advance(TAU);
        }
        assert_eq!(invited(&rig), expected, "{variant:?}: 1 coordinates no more");
    }
}

/// C8: two that merge at once decline each other's invitations.
#[test]
fn who_merges_declines() {
    for (variant, said) in [(Variant::Repaired, 1), (Variant::Printed, 0)] {
        let mut rig = alone(1, 2, variant);
        answer(&mut rig, &[2]);
        rig.message(2, Msg::Invitation { group: group(2, 9) });
        let reply = (2, Msg::InvitationReply { group: group(2, 9) });
        assert_eq!(rig.sent(), [reply; 1][..said], "{variant:?}");
        assert_eq!(rig.election.opinion().status, Status::Election);
        rig.advance(DELTA * 4);
        assert_eq!(formed(&rig), Some((1, vec![])));
    }
}

/// R7: whoever declines is not waited for.
#[test]
fn who_is_declined_by_all_is_alone_at_once() {
    let mut rig = alone(1, 3, Variant::Repaired);
    answer(&mut rig, &[2, 3]);
    let number = rig.election.opinion().group.expect("it is in one");
    rig.message(2, Msg::InvitationReply { group: group(1, 1) });
    rig.message(3, Msg::InvitationReply { group: number });
    assert_eq!(formed(&rig), None, "2 has declined another invitation");
    rig.message(2, Msg::InvitationReply { group: number });
    assert_eq!(formed(&rig), Some((1, vec![])));
}

/// R8: the other has just become a coordinator. Of two that do not know each other the one that goes first looks, and only if
/// it does not do so anyway.
#[test]
fn who_is_asked_by_a_coordinator_that_it_goes_before_looks_at_once() {
    let asks = |rig: &mut Rig<Invitation>, j: u32, of: u32, members: u32| {
        let call = CallNo::new(id(j), Incarnation(2), 1);
        rig.message(j, Msg::AreYouCoordinator { call, group: group(of, 2), member: false, members });
        asked(rig).len()
    };
    for (variant, looks) in [(Variant::Repaired, 2), (Variant::Printed, 0)] {
        let mut rig = alone(2, 3, variant);
        assert_eq!(asks(&mut rig.clone(), 3, 3, 0), 0, "the answer of 3 will tell");
        answer(&mut rig, &[]);
        assert_eq!(asks(&mut rig, 1, 1, 0), 0, "1 goes first");
        assert_eq!(asks(&mut rig, 3, 3, 1), 0, "3 has a member, and goes first");
        assert_eq!(asks(&mut rig, 3, 1, 0), 0, "3 is no coordinator");
        assert_eq!(asks(&mut rig, 3, 3, 0), looks, "{variant:?}");
    }
    let mut put_off = alone(2, 3, Variant::Repaired);
    answer(&mut put_off, &[1, 3]);
    assert_eq!(asks(&mut put_off, 3, 3, 0), 0, "it is known");
}

#[test]
fn a_group_is_who_has_accepted_in_time() {
    let mut rig = alone(1, 4, Variant::Repaired);
    answer(&mut rig, &[2, 3, 4]);
    let number = rig.election.opinion().group.expect("it is in one");
    let call = CallNo::new(id(3), Incarnation(2), 1);
    rig.message(3, Msg::Accept { call, group: number, brings: 0 });
    assert_eq!(rig.sent(), [(3, Msg::AcceptReply { call, taken: true })]);
    rig.message(2, Msg::Accept { call, group: group(1, 1), brings: 0 });
    assert_eq!(rig.sent(), [(2, Msg::AcceptReply { call, taken: false })], "of a group that is over");
    rig.advance(DELTA * 4);
    assert_eq!(formed(&rig), Some((1, vec![3])));
    assert_eq!(rig.election.opinion().status, Status::Reorganizing);
    rig.message(4, Msg::Accept { call, group: number, brings: 0 });
    assert_eq!(rig.sent(), [(4, Msg::AcceptReply { call, taken: false })], "too late");
    rig.input(Input::Reorganized);
    assert_eq!(rig.leader(), Some(1));
    let members = rig.sent().into_iter().filter_map(|(to, msg)| match msg {
        Msg::AreYouCoordinator { member, .. } => Some((to, member)),
        _ => None,
    });
    assert_eq!(members.collect::<Vec<_>>(), [(2, false), (3, true), (4, false)]);
}

#[test]
fn a_coordinator_takes_its_members_along() {
    let mut rig = alone(2, 4, Variant::Repaired);
    answer(&mut rig, &[3]);
    let number = rig.election.opinion().group.expect("it is in one");
    rig.message(3, Msg::Accept { call: CallNo::new(id(3), Incarnation(2), 1), group: number, brings: 0 });
    rig.advance(DELTA * 4);
    rig.input(Input::Reorganized);
    rig.message(1, Msg::Invitation { group: group(1, 5) });
    assert_eq!(invited(&rig), [3]);
    let joins = rig.did.iter().filter(|action| matches!(action, Action::Join { to, .. } if *to == id(1)));
    assert_eq!(joins.count(), 1);
}

/// E-GM5: repaired, it is reorganizing before it says that it accepts, so that it cannot miss Ready.
#[test]
fn who_accepts_waits_for_ready() {
    let mut rig = alone(2, 2, Variant::Repaired);
    rig.message(1, Msg::Invitation { group: group(1, 5) });
    assert_eq!(formed(&rig), Some((1, vec![])));
    let mut rig = alone(2, 2, Variant::Printed);
    rig.message(1, Msg::Invitation { group: group(1, 5) });
    assert_eq!((formed(&rig), rig.election.opinion().status), (None, Status::Waiting));
    let call = accepted(&rig);
    rig.message(1, Msg::AcceptReply { call, taken: false });
    assert_eq!(formed(&rig), Some((1, vec![])), "E-GM6: as printed an answer is an answer");
}

#[test]
fn who_is_not_taken_in_or_not_answered_recovers() {
    let mut rig = alone(2, 2, Variant::Repaired);
    rig.message(1, Msg::Invitation { group: group(1, 5) });
    let call = accepted(&rig);
    rig.message(1, Msg::AcceptReply { call, taken: false });
    assert_eq!(formed(&rig), Some((2, vec![])));
    for variant in Variant::ALL {
        let mut rig = alone(2, 2, variant);
        rig.message(1, Msg::Invitation { group: group(1, 5) });
        rig.advance(T);
        assert_eq!((formed(&rig), rig.election.opinion().group), (Some((2, vec![])), Some(group(2, 2))));
    }
}

#[test]
fn a_silent_coordinator_is_asked_and_without_a_good_answer_left() {
    for (answer, leader) in [(Some(true), Some(1)), (Some(false), None), (None, None)] {
        let mut rig = member(2, 2, Variant::Repaired);
        rig.advance(SILENCE);
        let [(1, Msg::AreYouThere { call, group: asked })] = rig.sent()[..] else { panic!("{:?}", rig.did) };
        assert_eq!(asked, group(1, 7));
        match answer {
            Some(yes) => rig.message(1, Msg::AreYouThereReply { call, yes }),
            None => rig.advance(T),
        }
        assert_eq!(rig.leader(), leader);
        assert_eq!(formed(&rig).is_some(), leader.is_none());
    }
}

#[test]
fn a_coordinator_knows_its_members_by_their_group() {
    let mut rig = alone(1, 3, Variant::Repaired);
    answer(&mut rig, &[2]);
    let number = rig.election.opinion().group.expect("it is in one");
    let call = CallNo::new(id(2), Incarnation(2), 1);
    rig.message(2, Msg::Accept { call, group: number, brings: 0 });
    for (j, asked, yes) in [(2, number, true), (3, number, false), (2, group(1, 1), false)] {
        rig.message(j, Msg::AreYouThere { call, group: asked });
        assert_eq!(rig.sent(), [(j, Msg::AreYouThereReply { call, yes })]);
    }
}

/// E-GM10: a member that its coordinator does not count as one is not content to hear its voice, unless as printed.
#[test]
fn who_is_no_member_recovers_when_it_hears_so() {
    let call = CallNo::new(id(1), Incarnation(2), 1);
    for (heard, counted, left) in [(7, true, false), (7, false, true), (8, false, true), (6, false, false)] {
        let msg = Msg::AreYouCoordinator { call, group: group(1, heard), member: counted, members: 1 };
        let mut rig = member(2, 3, Variant::Repaired);
        rig.message(1, msg);
        assert_eq!(formed(&rig).is_some(), left, "{heard}, {counted}");
        let mut printed = member(2, 3, Variant::Printed);
        printed.message(1, msg);
        assert_eq!(printed.leader(), Some(1), "{heard}, {counted}");
    }
}

/// E-GM7: as printed anybody may.
#[test]
fn only_its_coordinator_takes_a_member_along() {
    for (variant, follows) in [(Variant::Repaired, true), (Variant::Printed, false)] {
        let mut rig = member(2, 3, variant);
        rig.message(3, Msg::Invitation { group: group(3, 5) });
        assert_eq!(rig.leader() == Some(1), follows);
        let mut rig = member(2, 3, variant);
        rig.message(1, Msg::Invitation { group: group(3, 5) });
        assert_eq!(rig.leader(), None, "its coordinator follows 3, and so does it");
    }
}

#[test]
fn no_group_is_joined_twice_and_nobody_is_invited_by_itself_or_a_stranger() {
    let mut rig = member(2, 3, Variant::Repaired);
    for unwanted in [group(1, 7), group(2, 1), group(9, 1)] {
        rig.message(1, Msg::Invitation { group: unwanted });
        assert_eq!((rig.leader(), rig.did.len()), (Some(1), 0), "{unwanted}");
    }
}

#[test]
fn the_end_of_the_coordinator_is_the_end_of_the_group() {
    for input in
        [Input::Gone(id(1)), Input::NewIncarnation(id(1)), Input::Resigned { who: id(1), next: None }]
    {
        let mut rig = member(2, 3, Variant::Repaired);
        rig.input(Input::Gone(id(3)));
        assert_eq!(rig.leader(), Some(1));
        rig.input(input);
        assert_eq!(formed(&rig), Some((2, vec![])));
    }
}

#[test]
fn whoever_is_gone_is_neither_asked_nor_counted() {
    let mut rig = alone(1, 3, Variant::Repaired);
    let (_, call) = asked(&rig)[0];
    rig.message(2, Msg::AreYouCoordinatorReply { call, yes: Some(0), with_you: false });
    rig.input(Input::Gone(id(3)));
    assert_eq!(invited(&rig), [2], "the Check is over");
    rig.input(Input::Gone(id(2)));
    assert_eq!(formed(&rig), Some((1, vec![])), "and so is the wait for Accept");
    rig.input(Input::Reorganized);
    assert_eq!(asked(&rig).len(), 2, "they are asked all the same");
    rig.advance(TAU);
    assert_eq!(asked(&rig).len(), 2, "and the next Check does not wait for them");
    rig.message(2, Msg::Invitation { group: group(2, 9) });
    assert_eq!(rig.election.opinion().leader, Some(id(2)), "one that is back is back");
}

#[test]
fn a_failed_reorganization_leaves_a_group_of_one() {
    let mut rig = alone(1, 2, Variant::Repaired);
    answer(&mut rig, &[2]);
    rig.advance(DELTA * 4);
    rig.input(Input::ReorganizationFailed(id(2)));
    assert_eq!((formed(&rig), rig.election.opinion().group), (Some((1, vec![])), Some(group(1, 3))));
}

/// R6: a group at work takes in whoever comes up, and not the other way round. As printed the stronger takes over.
#[test]
fn the_larger_group_goes_first() {
    for (variant, waits) in [(Variant::Repaired, true), (Variant::Printed, false)] {
        let mut strongest = alone(1, 3, variant);
        for (j, call) in asked(&strongest) {
            let yes = (j == 3).then_some(1);
            strongest.message(j, Msg::AreYouCoordinatorReply { call, yes, with_you: false });
        }
        assert_eq!(invited(&strongest).is_empty(), waits, "{variant:?}");
    }
    let mut leads = alone(3, 4, Variant::Repaired);
    answer(&mut leads, &[4]);
    let number = leads.election.opinion().group.expect("it is in one");
    leads.message(4, Msg::Accept { call: CallNo::new(id(4), Incarnation(2), 1), group: number, brings: 0 });
    leads.advance(DELTA * 4);
    leads.input(Input::Reorganized);
    let mut left = leads.clone();
    for (j, call) in asked(&leads) {
        let yes = (j != 4).then_some(0);
        leads.message(j, Msg::AreYouCoordinatorReply { call, yes, with_you: j == 4 });
    }
    assert_eq!(invited(&leads), [1, 2, 4]);
    // It was stopped meanwhile, and its member has gone elsewhere.
    answer(&mut left, &[1, 2]);
    assert_eq!(invited(&left), [], "it is alone, and the weakest of those who are");
}

/// R7: with all who were invited and all whom they bring along, a group is complete. As printed it waits all the same.
#[test]
fn a_group_is_complete_when_all_have_come() {
    for (variant, early) in [(Variant::Repaired, true), (Variant::Printed, false)] {
        let mut rig = alone(1, 3, variant);
        answer(&mut rig, &[2]);
        let number = rig.election.opinion().group.expect("it is in one");
        let call = CallNo::new(id(2), Incarnation(2), 1);
        rig.message(2, Msg::Accept { call, group: number, brings: 1 });
        assert_eq!(formed(&rig), None, "3 is to come");
        rig.message(2, Msg::Accept { call, group: number, brings: 1 });
        assert_eq!(formed(&rig), None, "that was the same again");
        rig.message(3, Msg::Accept { call, group: number, brings: 0 });
        assert_eq!(formed(&rig), early.then_some((1, vec![2, 3])), "{variant:?}");
    }
    let mut rig = alone(1, 3, Variant::Repaired);
    answer(&mut rig, &[2]);
    let (number, call) =
        (rig.election.opinion().group.expect("it is in one"), CallNo::new(id(2), Incarnation(2), 1));
    rig.message(3, Msg::Accept { call, group: number, brings: 0 });
    rig.message(2, Msg::Accept { call, group: number, brings: 1 });
    assert_eq!(formed(&rig), Some((1, vec![2, 3])), "a member came before the one that brings it");
}

#[test]
fn it_says_why_it_gives_its_coordinator_up() {
    let why = |input: Input<Msg>| {
        let mut rig = member(2, 3, Variant::Repaired);
        rig.input(input);
        rig.why
    };
    let said = |msg: Msg| Input::Message { from: id(1), msg };
    assert_eq!(why(Input::Gone(id(1))), Some(Cause::Gone(id(1))));
    assert_eq!(why(Input::NewIncarnation(id(1))), Some(Cause::Gone(id(1))));
    assert_eq!(why(Input::Resigned { who: id(1), next: None }), Some(Cause::Resigned(id(1))));
    assert_eq!(why(said(Msg::Invitation { group: group(3, 5) })), Some(Cause::Merged));
    let call = CallNo::new(id(1), Incarnation(2), 1);
    let went_on = Msg::AreYouCoordinator { call, group: group(1, 8), member: false, members: 0 };
    assert_eq!(why(said(went_on)), Some(Cause::Dropped(id(1))));

    let mut rig = member(2, 2, Variant::Repaired);
    rig.advance(SILENCE + T);
    assert_eq!(rig.why, Some(Cause::Silent(id(1))));
    let mut rig = member(2, 2, Variant::Repaired);
    rig.advance(SILENCE);
    let [(1, Msg::AreYouThere { call, .. })] = rig.sent()[..] else { panic!("{:?}", rig.did) };
    rig.message(1, Msg::AreYouThereReply { call, yes: false });
    assert_eq!(rig.why, Some(Cause::Dropped(id(1))));
    let mut rig = alone(1, 2, Variant::Repaired);
    answer(&mut rig, &[2]);
    assert_eq!(rig.why, Some(Cause::Merged), "it invites");
}
