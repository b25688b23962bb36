//! The application's say in what a group is to do.

use super::*;

const LONG: Span = Span::millis(100);

/// A coordinator of these whose application was asked, and the question.
fn asked(members: &[u32]) -> (Group, PlanRequest) {
    let mut group = layer(3, Variant::Repaired);
    group.form(SENT, formation(3, 1, &[]));
    group.ask_application(LONG);
    let mut member = layer(1, Variant::Repaired);
    member.form(SENT, formation(1, 5, &[]));
    group.joined(id(1), SAID, member.past());
    drop(group.drain());
    group.form(SENT, formation(3, 2, members));
    match &group.drain().collect::<Vec<_>>()[..] {
        [Action::Plan(request)] => (group, request.clone()),
        other => panic!("{other:?}"),
    }
}

fn content() -> Content {
    Content::new(b"shards".to_vec()).expect("it is short")
}

#[test]
fn the_application_hears_who_is_in_the_group_and_where_they_come_from() {
    let (_, request) = asked(&[1, 2]);
    let members: Vec<_> = request.members.iter().map(|member| (member.node, member.head)).collect();
    let from = [(id(1), Some(number(1, 5))), (id(2), None), (id(3), Some(number(3, 1)))];
    assert_eq!((request.group, members), (Some(number(3, 2)), from.to_vec()));
}

#[test]
fn what_the_application_answers_is_handed_out() {
    let (mut group, request) = asked(&[1]);
    group.planned(SENT, ElectionId { seq: 7, ..request.no }, Some(Content::default()));
    assert_eq!(actions(&mut group), [], "an answer to another question");
    group.planned(SENT, request.no, Some(content()));
    let told = group.drain().find_map(|action| match action {
        Action::Send(NodeId(1), GroupMsg::Ready { task, .. }) => Some(task),
        _ => None,
    });
    assert_eq!(told.expect("node 1 is told").content(), b"shards");
    group.planned(SENT, request.no, Some(Content::default()));
    assert_eq!(actions(&mut group), [], "it has answered");
}

#[test]
fn an_application_that_fails_ends_the_reorganization_after_t() {
    let (mut group, request) = asked(&[1]);
    group.planned(SENT, request.no, None);
    assert_eq!(actions(&mut group), [], "not at once, or it would be asked as fast as it can fail");
    assert_eq!(group.deadline(), SENT + T);
    group.wake(SENT + T);
    assert_eq!(actions(&mut group), [("failed", 3)]);
    group.planned(SENT + T, request.no, Some(content()));
    assert_eq!(actions(&mut group), [], "too late");
}

#[test]
fn an_application_that_does_not_answer_ends_the_reorganization_in_time() {
    let (mut group, _) = asked(&[1]);
    assert_eq!(group.deadline(), SENT + LONG);
    group.wake(SENT + Span::millis(99));
    assert_eq!(actions(&mut group), []);
    group.wake(SENT + LONG);
    assert_eq!(actions(&mut group), [("failed", 3)]);
    assert_eq!(group.deadline(), Time::NEVER);
}

#[test]
fn a_group_that_is_left_needs_no_plan() {
    let (mut group, request) = asked(&[1]);
    group.disband();
    group.planned(SENT, request.no, Some(content()));
    assert_eq!((actions(&mut group), group.deadline()), (Vec::new(), Time::NEVER));
}
