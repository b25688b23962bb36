//! Members that tell where they come from once they are told that they are members.

use super::super::lineage::ROOT;
use super::*;

/// One of three, over consistent links.
fn linked(me: u32) -> Group {
    let roster = Roster::new(id(me), (1..=3).map(NodeId), Priority::LowestId);
    Group::new(&roster, Incarnation(1), Variant::Repaired, Telling::WhenFormed, T)
}

/// A fault manager with an application, which has just formed that view.
fn manager(seq: u64, members: &[u32]) -> Group {
    let mut group = linked(1);
    group.ask_application(T);
    group.form(SENT, formation(1, seq, members));
    group
}

fn from(head: u64, members: &[u32], away: bool) -> Past {
    let members = members.iter().copied().map(NodeId).collect();
    let parents = alloc::vec![ROOT];
    let record = Record { group: number(1, head), coordinator: id(1), generation: head, members, parents };
    Past { head: Some(number(1, head)), away, lineage: Lineage::of([record]), doubts: Vec::new() }
}

fn request(group: &mut Group) -> PlanRequest {
    let request = group.drain().find_map(|action| match action {
        Action::Plan(request) => Some(request),
        _ => None,
    });
    request.expect("all have told")
}

#[test]
fn a_member_tells_its_leader_first_of_all() {
    let mut member = linked(2);
    member.form(SENT, formation(1, 1, &[]));
    assert_eq!(actions(&mut member), [("Member", 1)]);
}

#[test]
fn a_leader_waits_until_all_have_told() {
    let mut leader = manager(1, &[2, 3]);
    assert_eq!((actions(&mut leader), leader.deadline()), (Vec::new(), Time::NEVER));
    let member = |group| GroupMsg::Member { group: Some(number(1, group)), past: Box::default() };
    leader.handle(SENT, id(2), member(1));
    leader.handle(SENT, id(2), member(1));
    leader.handle(SENT, id(3), member(9));
    assert_eq!(actions(&mut leader), [], "one told twice, and one of another view");
    leader.handle(SENT, id(3), member(1));
    assert_eq!(actions(&mut leader), [("plan", 3)]);
}

/// It was in view 4 of all three; 3 is gone.
#[test]
fn who_was_in_the_view_before_and_is_not_now_has_failed() {
    let mut leader = manager(5, &[2]);
    leader.kept = Arc::new(Kept { head: Some(number(1, 4)), ..Kept::default() });
    let past = from(4, &[1, 2, 3], false);
    leader.handle(SENT, id(2), GroupMsg::Member { group: Some(number(1, 5)), past: Box::new(past) });
    let request = request(&mut leader);
    assert_eq!((request.failed, request.readmitted), (alloc::vec![id(3)], alloc::vec![id(1)]));
}

#[test]
fn who_has_been_away_is_readmitted_and_what_its_last_view_lost_is_no_news() {
    let mut leader = manager(5, &[2, 3]);
    let told = [(2, from(4, &[1, 2], false)), (3, from(4, &[1, 2], true))];
    for (member, past) in told {
        leader.handle(SENT, id(member), GroupMsg::Member { group: Some(number(1, 5)), past: Box::new(past) });
    }
    let request = request(&mut leader);
    assert_eq!((request.failed, request.readmitted), (Vec::new(), alloc::vec![id(1), id(3)]));
}

/// 3 comes back from view 2, which had a fourth member; that was settled with view 4.
#[test]
fn a_view_that_was_followed_already_has_no_losses_left() {
    let mut leader = manager(5, &[2, 3]);
    let mut later = from(4, &[1, 2], false);
    let earlier = from(2, &[1, 2, 3, 4], true);
    let mut records = earlier.lineage.records().to_vec();
    records.extend(
        later
            .lineage
            .records()
            .iter()
            .map(|record| Record { parents: alloc::vec![number(1, 2)], ..Record::clone(record) })
            .map(Arc::new),
    );
    later.lineage = Lineage::of(records);
    for (member, past) in [(2, later), (3, earlier)] {
        leader.handle(SENT, id(member), GroupMsg::Member { group: Some(number(1, 5)), past: Box::new(past) });
    }
    let request = request(&mut leader);
    assert_eq!((request.failed, request.readmitted), (Vec::new(), alloc::vec![id(1), id(3)]));
}

#[test]
fn a_node_is_away_until_its_task_is_in_place_and_after_it_left() {
    let mut group = linked(1);
    assert!(group.past().away);
    group.form(SENT, formation(1, 1, &[]));
    assert!(!group.past().away);
    group.form(SENT, formation(1, 2, &[2]));
    assert!(!group.past().away, "from one view to the next");
    group.disband();
    assert!(group.past().away);
}

/// The link between the two was down for a moment.
#[test]
fn what_a_link_may_have_lost_is_said_again() {
    let mut member = linked(2);
    member.form(SENT, formation(1, 1, &[]));
    drop(member.drain());
    member.relinked(id(3));
    assert_eq!(actions(&mut member), [], "not its leader");
    member.relinked(id(1));
    assert_eq!(actions(&mut member), [("Member", 1)]);

    let mut leader = linked(1);
    leader.form(SENT, formation(1, 1, &[2, 3]));
    for member in [2, 3] {
        let past = Box::default();
        leader.handle(SENT, id(member), GroupMsg::Member { group: Some(number(1, 1)), past });
    }
    drop(leader.drain());
    let call = leader.latest;
    leader.handle(SENT, id(3), GroupMsg::ReadyReply { call, in_place: true });
    leader.relinked(id(3));
    assert_eq!(actions(&mut leader), [], "it has answered");
    leader.relinked(id(2));
    assert_eq!(actions(&mut leader), [("Ready", 2)]);
    assert_eq!(leader.deadline(), Time::NEVER, "the link will tell");
}

/// Where all must know before anybody begins, having the task is not yet to be in service: a view that never was is no view
/// to come from.
#[test]
fn nobody_begins_before_all_have_the_task() {
    let mut leader = linked(1);
    leader.form(SENT, formation(1, 1, &[2, 3]));
    for member in [2, 3] {
        let past = Box::default();
        leader.handle(SENT, id(member), GroupMsg::Member { group: Some(number(1, 1)), past });
    }
    let ready = leader.drain().find_map(|action| match action {
        Action::Send(to, ready @ GroupMsg::Ready { .. }) if to == id(2) => Some(ready),
        _ => None,
    });
    assert_eq!((leader.past().head, leader.task_in_place()), (None, None));

    let mut member = linked(2);
    member.form(SENT, formation(1, 1, &[]));
    drop(member.drain());
    member.handle(SENT, id(1), ready.clone().expect("it was handed out"));
    assert_eq!(actions(&mut member), [("in place", 1)]);
    assert_eq!((member.past().head, member.past().away, member.task_in_place()), (None, true, None));
    member.handle(SENT, id(3), GroupMsg::InService { call: leader.latest });
    assert_eq!(actions(&mut member), [], "not its leader's word");

    let call = leader.latest;
    for member in [2, 3] {
        leader.handle(SENT, id(member), GroupMsg::ReadyReply { call, in_place: true });
    }
    let said = actions(&mut leader);
    assert_eq!(said.first(), Some(&("persist", 0)));
    assert_eq!(said[said.len() - 3..], [("InService", 2), ("InService", 3), ("reorganized", 0)]);
    assert_eq!((leader.past().head, leader.past().away), (Some(number(1, 1)), false));

    member.handle(SENT, id(1), GroupMsg::InService { call });
    assert_eq!(actions(&mut member), [("persist", 0), ("installed", 0), ("recorded", 0), ("reorganized", 0)]);
    assert_eq!((member.past().head, member.past().away), (Some(number(1, 1)), false));
    member.handle(SENT, id(1), GroupMsg::InService { call });
    member.handle(SENT, id(1), ready.expect("it was handed out"));
    assert_eq!(actions(&mut member), [("in place", 1)], "once is enough");

    leader.relinked(id(2));
    assert_eq!(actions(&mut leader), [("InService", 2)], "it may have been lost");
}

/// A member that is gone, or in another view, is the election's business, and no failure of the leader.
#[test]
fn a_member_that_does_not_take_part_is_no_failure_of_its_leader() {
    let mut leader = linked(1);
    leader.form(SENT, formation(1, 1, &[2]));
    leader.handle(SENT, id(2), GroupMsg::Member { group: Some(number(1, 1)), past: Box::default() });
    drop(leader.drain());
    leader.gone(id(2));
    leader.handle(SENT, id(2), GroupMsg::ReadyReply { call: leader.latest, in_place: false });
    assert_eq!(actions(&mut leader), []);
}

/// A member that was away for more views than are remembered brings along one that nobody else knows.
#[test]
fn who_was_away_for_long_brings_up_nothing_that_is_settled() {
    let mut leader = manager(90, &[2, 3]);
    let told = [(2, from(89, &[1, 2, 4], false)), (3, from(2, &[1, 2, 3, 4, 5], true))];
    for (member, past) in told {
        let past = Box::new(past);
        leader.handle(SENT, id(member), GroupMsg::Member { group: Some(number(1, 90)), past });
    }
    let request = request(&mut leader);
    assert_eq!((request.failed, request.readmitted), (alloc::vec![id(4)], alloc::vec![id(1), id(3)]));
}
