//! Restricted operations, one node at a time.

use super::*;

const OP: OpId = OpId(7);

/// Node 3 coordinates a group of these, in place.
fn leader(members: &[u32]) -> Group {
    let (mut group, task) = coordinator(Variant::Repaired, members);
    for member in members {
        group.handle(SENT, id(*member), GroupMsg::ReadyReply { call: task.made_by(), in_place: true });
    }
    actions(&mut group);
    group
}

/// Node 1 in the group `seq` of node 3, in place.
fn member(seq: u64) -> Group {
    let mut member = layer(1, Variant::Repaired);
    enter(&mut member, seq);
    member
}

fn enter(member: &mut Group, seq: u64) {
    member.form(SENT, formation(3, seq, &[]));
    let task = Task::new(ElectionId { seq, ..number(3, 1).0 }, Content::default());
    let ready = GroupMsg::Ready { group: Some(number(3, seq)), task, lineage: Lineage::default() };
    member.handle(SENT, id(3), ready);
    drop(member.drain());
}

fn ballot(seq: u64, attempt: u64) -> Ballot {
    Ballot { group: number(3, seq), attempt }
}

fn decide(ballot: Ballot, outcome: Outcome) -> GroupMsg {
    GroupMsg::Decide { op: OP, ballot, outcome }
}

/// What the layer votes when asked for that ballot.
fn vote(group: &mut Group, op: OpId, ballot: Ballot) -> bool {
    group.handle(SENT, id(3), GroupMsg::Prepare(op, ballot));
    match &group.drain().collect::<Vec<_>>()[..] {
        [.., Action::Send(NodeId(3), GroupMsg::PrepareReply { yes, .. })] => *yes,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_majority_commits_and_the_decision_is_on_disk_before_it_is_told() {
    let mut leader = leader(&[1, 2]);
    leader.perform(SENT, OP);
    assert_eq!(actions(&mut leader), [("Prepare", 1), ("Prepare", 2)]);
    let yes = GroupMsg::PrepareReply { op: OP, ballot: ballot(1, 1), yes: true };
    leader.handle(SENT, id(1), yes.clone());
    assert_eq!(actions(&mut leader), [("persist", 0), ("committed", 0), ("Decide", 1), ("Decide", 2)]);
    leader.handle(SENT, id(2), yes);
    assert_eq!(actions(&mut leader), [], "it is decided");
    leader.perform(SENT, OP);
    assert_eq!(actions(&mut leader), [("committed", 0)], "declined: it was committed");
}

#[test]
fn a_vote_is_on_disk_before_it_is_sent() {
    let mut member = member(1);
    member.handle(SENT, id(3), GroupMsg::Prepare(OP, ballot(1, 1)));
    assert_eq!(actions(&mut member), [("persist", 0), ("voted", 0), ("PrepareReply", 3)]);
    member.handle(SENT, id(3), GroupMsg::Prepare(OP, ballot(1, 1)));
    assert_eq!(actions(&mut member), [("PrepareReply", 3)], "again, and it is on disk");
}

#[test]
fn only_the_coordinator_of_a_majority_in_place_tries() {
    let declines = |mut group: Group, why: Unwilling| {
        group.perform(SENT, OP);
        assert_eq!(actions(&mut group), [(why.name(), 0)]);
    };
    declines(layer(3, Variant::Repaired), Unwilling::NotCoordinator);
    declines(member(1), Unwilling::NotCoordinator);
    let (mut distributing, _) = coordinator(Variant::Repaired, &[1, 2]);
    drop(distributing.drain());
    declines(distributing, Unwilling::NotCoordinator);
    declines(leader(&[]), Unwilling::NoMajority);
    let mut busy = leader(&[1]);
    busy.perform(SENT, OP);
    drop(busy.drain());
    declines(busy, Unwilling::Busy);
}

/// Two halves may both be a group.
#[test]
fn half_of_all_is_no_majority() {
    let of_four = |members: &[u32]| {
        let roster = Roster::new(id(3), (1..=4).map(NodeId), Priority::HighestId);
        let mut group = Group::new(&roster, Incarnation(1), Variant::Repaired, Telling::OnJoining, T);
        group.form(SENT, formation(3, 1, members));
        for member in members {
            let call = group.latest;
            group.handle(SENT, id(*member), GroupMsg::ReadyReply { call, in_place: true });
        }
        actions(&mut group);
        group.perform(SENT, OP);
        actions(&mut group)
    };
    assert_eq!(of_four(&[1]), [(Unwilling::NoMajority.name(), 0)]);
    assert_eq!(of_four(&[1, 2]), [("Prepare", 1), ("Prepare", 2)]);
}

/// Somebody knows that another group has committed it.
#[test]
fn an_attempt_at_what_is_known_to_be_committed_ends() {
    let mut leader = leader(&[1, 2]);
    leader.perform(SENT, OP);
    actions(&mut leader);
    let elsewhere = Ballot { group: number(2, 1), attempt: 1 };
    leader.handle(SENT, id(2), decide(elsewhere, Outcome::Committed));
    assert!(actions(&mut leader).contains(&("aborted", 0)));
}

#[test]
fn who_refuses_or_is_gone_or_silent_or_elsewhere_is_no_majority() {
    let running = || {
        let mut leader = leader(&[1]);
        leader.perform(SENT, OP);
        drop(leader.drain());
        leader
    };
    let aborted = [("aborted", 0), ("Decide", 1)];
    let mut refused = running();
    refused.handle(SENT, id(1), GroupMsg::PrepareReply { op: OP, ballot: ballot(1, 1), yes: false });
    assert_eq!(actions(&mut refused), aborted);
    let mut gone = running();
    gone.gone(id(1));
    assert_eq!(actions(&mut gone), aborted);
    let mut late = running();
    late.wake(SENT + Span::millis(19));
    assert_eq!(actions(&mut late), []);
    late.wake(SENT + T);
    assert_eq!(actions(&mut late), aborted);
    late.handle(SENT + T, id(1), GroupMsg::PrepareReply { op: OP, ballot: ballot(1, 1), yes: true });
    assert_eq!(actions(&mut late), [], "too late");
    let mut left = running();
    left.disband();
    assert_eq!(actions(&mut left), aborted);
    let mut strangers = running();
    strangers.handle(SENT, id(2), GroupMsg::PrepareReply { op: OP, ballot: ballot(1, 1), yes: true });
    strangers.handle(SENT, id(1), GroupMsg::PrepareReply { op: OP, ballot: ballot(1, 2), yes: true });
    assert_eq!(actions(&mut strangers), [], "of nobody that was asked, and of another attempt");
}

#[test]
fn a_member_votes_for_its_own_group_only_and_for_one_ballot_at_a_time() {
    let mut member = member(1);
    assert!(!vote(&mut member, OP, ballot(2, 1)), "of another group");
    assert!(vote(&mut member, OP, ballot(1, 2)));
    assert!(!vote(&mut member, OP, ballot(1, 1)), "an attempt that is over");
    assert!(vote(&mut member, OP, ballot(1, 3)), "its coordinator is done with the one before");
    enter(&mut member, 2);
    assert!(!vote(&mut member, OP, ballot(2, 4)), "in doubt since the group before");
    assert!(vote(&mut member, OpId(8), ballot(2, 5)), "another operation");
    member.handle(SENT, id(3), decide(ballot(1, 3), Outcome::Aborted));
    assert!(vote(&mut member, OP, ballot(2, 6)));
    member.handle(SENT, id(2), decide(ballot(2, 6), Outcome::Committed));
    assert!(!vote(&mut member, OP, ballot(2, 7)), "it was committed");
    member.disband();
    assert!(!vote(&mut member, OpId(9), ballot(2, 8)), "it has left");
}

#[test]
fn a_member_in_doubt_of_too_much_votes_for_nothing_more() {
    let mut member = member(1);
    for n in 0..DOUBTS_MAX as u64 {
        assert!(vote(&mut member, OpId(n), ballot(1, n)));
    }
    assert!(!vote(&mut member, OpId(1000), ballot(1, 1000)));
    member.handle(
        SENT,
        id(3),
        GroupMsg::Decide { op: OpId(3), ballot: ballot(1, 3), outcome: Outcome::Aborted },
    );
    assert!(vote(&mut member, OpId(1000), ballot(1, 1001)));
}

#[test]
fn a_vote_survives_the_incarnation_and_is_asked_about() {
    let mut member = member(1);
    assert!(vote(&mut member, OP, ballot(1, 1)));
    assert_eq!(member.deadline(), SENT + T * 2);
    member = member.reborn(Incarnation(2), SENT);
    enter(&mut member, 2);
    assert!(!vote(&mut member, OP, ballot(2, 2)));
    assert_eq!(member.past().doubts, [(OP, ballot(1, 1))], "nobody joins as if nothing were pending");
    member.wake(SENT);
    assert_eq!(actions(&mut member), [("Inquire", 3), ("Inquire", 2)]);
    assert_eq!(member.deadline(), SENT + T * 8);
    member.handle(SENT, id(2), decide(ballot(1, 1), Outcome::Committed));
    assert_eq!(actions(&mut member), [("persist", 0), ("committed", 0)]);
    assert_eq!(member.deadline(), Time::NEVER);
}

/// What node 3 answers to an inquiry about that ballot.
fn answer(group: &mut Group, ballot: Ballot) -> Option<Outcome> {
    group.handle(SENT, id(1), GroupMsg::Inquire(OP, ballot));
    match &group.drain().collect::<Vec<_>>()[..] {
        [] => None,
        [Action::Send(NodeId(1), GroupMsg::Decide { outcome, .. })] => Some(*outcome),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_coordinator_presumes_abort_when_it_can_never_commit() {
    let mut leader = leader(&[1]);
    assert_eq!(answer(&mut leader, ballot(1, 1)), None, "no such attempt was made yet");
    leader.perform(SENT, OP);
    drop(leader.drain());
    assert_eq!(answer(&mut leader, ballot(1, 1)), None, "it is running");
    let other = Ballot { group: number(2, 1), attempt: 1 };
    assert_eq!(answer(&mut leader, other), None, "not its own");
    let later = GroupId(ElectionId { incarnation: Incarnation(2), ..number(3, 1).0 });
    assert_eq!(answer(&mut leader, Ballot { group: later, attempt: 1 }), None, "of an incarnation to come");
    let mut crashed = leader.clone().reborn(Incarnation(2), SENT);
    assert_eq!(answer(&mut crashed, ballot(1, 1)), Some(Outcome::Aborted), "that incarnation is over");
    leader.wake(SENT + T);
    drop(leader.drain());
    assert_eq!(answer(&mut leader, ballot(1, 1)), Some(Outcome::Aborted));
}

#[test]
fn whoever_knows_what_was_committed_can_tell_how_every_attempt_ended() {
    let mut leader = leader(&[1]);
    leader.perform(SENT, OP);
    leader.handle(SENT, id(1), GroupMsg::PrepareReply { op: OP, ballot: ballot(1, 1), yes: true });
    drop(leader.drain());
    let mut crashed = leader.reborn(Incarnation(2), SENT);
    assert_eq!(answer(&mut crashed, ballot(1, 1)), Some(Outcome::Committed));
    let other = Ballot { group: number(2, 1), attempt: 1 };
    assert_eq!(answer(&mut crashed, other), Some(Outcome::Aborted));
    for n in 100..100 + COMMITS_MAX as u64 {
        crashed.handle(
            SENT,
            id(2),
            GroupMsg::Decide { op: OpId(n), ballot: other, outcome: Outcome::Committed },
        );
    }
    drop(crashed.drain());
    let forgotten = Some(Outcome::Forgotten);
    assert_eq!(answer(&mut crashed, ballot(1, 1)), forgotten, "and does not presume");
}

/// A coordinator that was stopped finds the votes of members that have long been in another group.
#[test]
fn votes_that_come_when_their_time_is_up_do_not_count() {
    let mut leader = leader(&[1, 2]);
    leader.perform(SENT, OP);
    actions(&mut leader);
    let yes = GroupMsg::PrepareReply { op: OP, ballot: ballot(1, 1), yes: true };
    leader.handle(SENT + T + Span::micros(1), id(1), yes.clone());
    assert_eq!(actions(&mut leader), [("aborted", 0), ("Decide", 1), ("Decide", 2)]);
    leader.handle(SENT + T + Span::micros(1), id(2), yes);
    assert_eq!(actions(&mut leader), []);
}

#[test]
fn what_nobody_can_tell_any_more_is_done_with_at_whoever_asks() {
    let mut asker = member(1);
    assert!(vote(&mut asker, OP, ballot(1, 1)));
    asker.handle(SENT, id(3), decide(ballot(1, 1), Outcome::Forgotten));
    drop(asker.drain());
    assert_eq!(asker.doubts(), [], "it asks no more");
    assert!(!vote(&mut asker, OP, ballot(1, 2)), "and never votes for it again");
}

#[test]
fn a_coordinator_tells_those_who_join_what_it_knows() {
    let mut leader = leader(&[1]);
    leader.perform(SENT, OP);
    leader.disband();
    drop(leader.drain());
    let past = Past { doubts: alloc::vec![(OP, ballot(1, 1))], ..Past::default() };
    leader.joined(id(1), SAID, past);
    leader.form(SENT, formation(3, 2, &[1]));
    let told = leader.drain().collect::<Vec<_>>();
    let aborted = decide(ballot(1, 1), Outcome::Aborted);
    assert!(
        told.iter().any(|action| matches!(action, Action::Send(NodeId(1), msg) if *msg == aborted)),
        "{told:?}"
    );
}
