//! One node's group layer, told of formations and answers.

mod gathering;
mod lineage;
mod plans;
mod restricted;

use super::*;
use crate::roster::Priority;

const T: Span = Span::millis(20);
/// When a peer said what it brings along.
const SAID: Said = (Incarnation(1), 1);
const SENT: Time = Time::from_micros(5_000);

fn id(n: u32) -> NodeId {
    NodeId(n)
}

fn number(node: u32, seq: u64) -> GroupId {
    GroupId(ElectionId { node: id(node), incarnation: Incarnation(1), seq })
}

/// One of three.
fn layer(me: u32, variant: Variant) -> Group {
    let roster = Roster::new(id(me), (1..=3).map(NodeId), Priority::HighestId);
    Group::new(&roster, Incarnation(1), variant, Telling::OnJoining, T)
}

fn formation(leader: u32, seq: u64, members: &[u32]) -> Formation {
    let members = members.iter().copied().map(NodeId).collect();
    Formation { group: Some(number(leader, seq)), leader: id(leader), members }
}

/// A coordinator that has handed out its task to these, and the task.
fn coordinator(variant: Variant, members: &[u32]) -> (Group, Task) {
    let mut group = layer(3, variant);
    group.form(SENT, formation(3, 1, members));
    let task = group.task.clone().expect("a coordinator has what it hands out");
    (group, task)
}

/// What a layer wants, by name.
fn actions(group: &mut Group) -> Vec<(&'static str, u32)> {
    let name = |action: Action| match action {
        Action::Send(to, GroupMsg::Ready { .. }) => ("Ready", to.0),
        Action::Send(to, GroupMsg::ReadyReply { in_place: true, .. }) => ("in place", to.0),
        Action::Send(to, GroupMsg::ReadyReply { in_place: false, .. }) => ("not in place", to.0),
        Action::Send(to, msg) => (msg.kind().name(), to.0),
        Action::Persist | Action::Note => ("persist", 0),
        Action::Event(GroupEvent::Installed(_)) => ("installed", 0),
        Action::Event(GroupEvent::Recorded { .. }) => ("recorded", 0),
        Action::Event(GroupEvent::Member(member)) => ("member", member.0),
        Action::Event(GroupEvent::Parent(parent)) => ("parent", parent.0.node.0),
        Action::Event(GroupEvent::Voted { .. }) => ("voted", 0),
        Action::Event(GroupEvent::Committed { .. }) => ("committed", 0),
        Action::Event(GroupEvent::Aborted { .. }) => ("aborted", 0),
        Action::Event(GroupEvent::Declined { why, .. }) => (why.name(), 0),
        Action::Plan(request) => ("plan", request.members.len() as u32),
        Action::Reorganized => ("reorganized", 0),
        Action::Failed(peer) => ("failed", peer.0),
    };
    group.drain().map(name).collect()
}

#[test]
fn who_is_alone_is_reorganized_at_once() {
    let (mut group, _) = coordinator(Variant::Repaired, &[]);
    let recorded = [("persist", 0), ("installed", 0), ("recorded", 0), ("member", 3), ("parent", 0)];
    assert_eq!(actions(&mut group), [&recorded[..], &[("reorganized", 0)]].concat());
    assert_eq!(group.deadline(), Time::NEVER);
}

#[test]
fn a_group_is_reorganized_when_all_have_the_task_in_place() {
    let (mut group, task) = coordinator(Variant::Repaired, &[1, 2]);
    let before = actions(&mut group);
    assert_eq!(before[..2], [("persist", 0), ("installed", 0)], "on disk before it is sent");
    assert_eq!(before[before.len() - 2..], [("Ready", 1), ("Ready", 2)]);
    let reply = GroupMsg::ReadyReply { call: task.made_by(), in_place: true };
    group.handle(SENT, id(1), reply.clone());
    group.handle(SENT, id(1), reply.clone());
    group.handle(SENT, id(4), reply.clone());
    assert_eq!(actions(&mut group), [], "one of two has answered, more than once, and a stranger");
    group.handle(SENT, id(2), reply);
    assert_eq!(actions(&mut group), [("reorganized", 0)]);
}

#[test]
fn a_member_that_does_not_answer_in_time_ends_the_reorganization() {
    let (mut group, task) = coordinator(Variant::Repaired, &[1, 2]);
    group.handle(SENT, id(1), GroupMsg::ReadyReply { call: task.made_by(), in_place: true });
    actions(&mut group);
    assert_eq!(group.deadline(), SENT + T);
    group.wake(SENT + Span::millis(19));
    assert_eq!(actions(&mut group), []);
    group.wake(SENT + T);
    assert_eq!(actions(&mut group), [("failed", 2)]);
    group.handle(SENT, id(2), GroupMsg::ReadyReply { call: task.made_by(), in_place: true });
    assert_eq!(actions(&mut group), [], "an answer that comes after the timeout is ignored");
}

#[test]
fn evidence_that_a_member_is_gone_is_as_good_as_its_silence() {
    let (mut group, _) = coordinator(Variant::Repaired, &[1, 2]);
    actions(&mut group);
    group.gone(id(4));
    assert_eq!(actions(&mut group), []);
    group.gone(id(2));
    assert_eq!(actions(&mut group), [("failed", 2)]);
}

/// E-GM3: as printed, an answer to Ready does not tell whether the task was accepted.
#[test]
fn a_refusal_counts_as_an_answer_only_as_printed() {
    for (variant, outcome) in [(Variant::Printed, ("reorganized", 0)), (Variant::Repaired, ("failed", 1))] {
        let (mut group, task) = coordinator(variant, &[1]);
        actions(&mut group);
        group.handle(SENT, id(1), GroupMsg::ReadyReply { call: task.made_by(), in_place: false });
        assert_eq!(actions(&mut group), [outcome]);
    }
}

#[test]
fn an_answer_to_an_earlier_reorganization_is_none_to_this() {
    let (mut group, task) = coordinator(Variant::Repaired, &[1]);
    group.form(SENT, formation(3, 2, &[1]));
    actions(&mut group);
    group.handle(SENT, id(1), GroupMsg::ReadyReply { call: task.made_by(), in_place: true });
    assert_eq!(actions(&mut group), []);
}

#[test]
fn a_member_takes_the_task_of_its_own_group_from_its_coordinator_once() {
    let (_, task) = coordinator(Variant::Repaired, &[1]);
    let ready = |seq| GroupMsg::Ready {
        group: Some(number(3, seq)),
        task: task.clone(),
        lineage: Lineage::default(),
    };
    let mut member = layer(1, Variant::Repaired);
    member.handle(SENT, id(3), ready(1));
    assert_eq!(actions(&mut member), [("not in place", 3)], "it is in no group yet");
    member.form(SENT, formation(3, 1, &[]));
    member.handle(SENT, id(2), ready(1));
    assert_eq!(actions(&mut member), [], "that is no word of node 2");
    member.handle(SENT, id(3), ready(2));
    assert_eq!(actions(&mut member), [("not in place", 3)], "of another group");
    member.handle(SENT, id(3), ready(1));
    assert_eq!(actions(&mut member), [("installed", 0), ("reorganized", 0), ("in place", 3)]);
    member.handle(SENT, id(3), ready(1));
    assert_eq!(actions(&mut member), [("in place", 3)], "again");
    member.disband();
    member.handle(SENT, id(3), ready(1));
    assert_eq!(actions(&mut member), [("not in place", 3)], "it has left");
}

#[test]
fn no_two_tasks_are_taken_for_one_another() {
    let (mut group, first) = coordinator(Variant::Repaired, &[1]);
    group.form(SENT, formation(3, 2, &[1]));
    let second = group.task.clone().expect("it has another");
    assert_eq!(first.content(), second.content());
    assert_ne!(first.digest(), second.digest());
}

#[test]
fn a_task_that_is_too_long_is_its_authors_error() {
    assert!(Content::new(alloc::vec![0; TASK_MAX]).is_ok());
    let error = Content::new(alloc::vec![0; TASK_MAX + 1]);
    assert_eq!(error, Err(TaskTooLong { len: TASK_MAX + 1 }));
}
