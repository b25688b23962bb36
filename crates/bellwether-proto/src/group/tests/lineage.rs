//! The graph of groups: what a node knows of it, and can tell of it.

use super::super::lineage::{Ancestry, Concurrent, MEMBERS_MAX, PARENTS_MAX, RECORDS_MAX, ROOT};
use super::*;
use crate::election::{AnyMsg, lockstep};
use crate::link::consistent::{Carried, ConsistentMsg, Membership};
use crate::message::{Body, Frame, Joining, Letter};
use crate::wire::{Channel, FRAME_MAX, encode};

fn record(node: u32, seq: u64, generation: u64, parents: &[GroupId]) -> Record {
    let (members, parents) = (alloc::vec![id(node)], parents.to_vec());
    Record { group: number(node, seq), coordinator: id(node), generation, members, parents }
}

/// Two groups that each come from the root, one that comes from both, and one that comes from the second alone.
fn diamond() -> Lineage {
    let mut lineage = Lineage::default();
    lineage.add(record(1, 1, 1, &[ROOT]));
    lineage.add(record(2, 1, 1, &[ROOT]));
    lineage.add(record(2, 2, 2, &[number(2, 1)]));
    lineage.add(record(3, 1, 2, &[number(1, 1), number(2, 1)]));
    lineage
}

/// A chain of so many groups of node 1.
fn chain(len: u64) -> Lineage {
    let mut lineage = Lineage::default();
    for seq in 1..=len {
        let parent = if seq == 1 { ROOT } else { number(1, seq - 1) };
        lineage.add(record(1, seq, seq, &[parent]));
    }
    lineage
}

#[test]
fn a_group_knows_which_groups_it_came_from() {
    let lineage = diamond();
    let from = |group| lineage.ancestors(group);
    assert_eq!(
        from(number(3, 1)),
        Ancestry { groups: alloc::vec![number(1, 1), number(2, 1)], complete: true }
    );
    assert_eq!(from(number(2, 2)).groups, [number(2, 1)]);
    assert_eq!(from(number(1, 1)).groups, []);
    assert!(!from(number(9, 9)).complete, "nothing is known of that one");
    assert_eq!(from(ROOT), Ancestry { groups: Vec::new(), complete: true });
}

#[test]
fn groups_of_which_neither_came_from_the_other_are_concurrent() {
    let lineage = diamond();
    let ask = |a, b| (lineage.concurrent(a, b), lineage.concurrent(b, a));
    let both = |answer| (answer, answer);
    assert_eq!(ask(number(1, 1), number(2, 1)), both(Concurrent::Yes));
    assert_eq!(ask(number(1, 1), number(2, 2)), both(Concurrent::Yes));
    assert_eq!(ask(number(3, 1), number(2, 2)), both(Concurrent::Yes));
    assert_eq!(ask(number(3, 1), number(1, 1)), both(Concurrent::No));
    assert_eq!(ask(number(3, 1), number(3, 1)), both(Concurrent::No));
    assert_eq!(ask(number(3, 1), ROOT), both(Concurrent::No));
    assert_eq!(ask(number(3, 1), number(9, 9)), both(Concurrent::Unknown));
}

#[test]
fn the_oldest_are_forgotten_and_a_query_says_what_it_cannot_know() {
    let len = RECORDS_MAX as u64 + 6;
    let mut lineage = chain(len);
    assert_eq!(lineage.records().len(), RECORDS_MAX);
    assert_eq!(lineage.records()[0].group, number(1, 7));
    let Ancestry { groups, complete } = lineage.ancestors(number(1, len));
    assert_eq!((groups.len(), complete), (RECORDS_MAX, false), "all that are left, and one more by name");
    // By name it is known that the last forgotten one is an ancestor; of those before it nothing is.
    assert_eq!(lineage.concurrent(number(1, len), number(1, 6)), Concurrent::No);
    assert_eq!(lineage.concurrent(number(1, len), number(1, 5)), Concurrent::Unknown);
    // A group of a late generation cannot be among the forgotten; one of an early generation can.
    lineage.add(record(2, 1, len, &[number(1, 20)]));
    assert_eq!(lineage.concurrent(number(1, len), number(2, 1)), Concurrent::Yes);
    lineage.unite(&Lineage::of([record(3, 1, 3, &[ROOT])]));
    assert_eq!(lineage.concurrent(number(1, len), number(3, 1)), Concurrent::Unknown);
}

#[test]
fn the_parents_of_the_newest_group_are_forgotten_last() {
    let mut lineage = chain(RECORDS_MAX as u64 - 1);
    lineage.add(record(2, 1, 1, &[ROOT]));
    lineage.add(record(3, 1, 70, &[number(1, RECORDS_MAX as u64 - 1), number(2, 1)]));
    assert!(lineage.record(number(2, 1)).is_some());
    assert!(lineage.record(number(1, 1)).is_none());
}

#[test]
fn members_bring_their_graphs_along_and_all_get_the_whole() {
    let (mut one, mut three) = (layer(1, Variant::Repaired), layer(3, Variant::Repaired));
    one.form(SENT, formation(1, 1, &[]));
    three.form(SENT, formation(3, 1, &[]));
    three.joined(id(1), SAID, one.past());
    three.form(SENT, formation(3, 2, &[1, 2]));
    let ready = three.drain().find_map(|action| match action {
        Action::Send(NodeId(1), msg @ GroupMsg::Ready { .. }) => Some(msg),
        _ => None,
    });
    let merged = three.lineage().record(number(3, 2)).cloned().expect("it is its coordinator's");
    assert_eq!(merged.parents, [ROOT, number(1, 1), number(3, 1)], "node 2 has been in no group");
    assert_eq!(merged.members, [id(1), id(2), id(3)]);
    assert_eq!(merged.generation, 2);
    one.form(SENT, formation(3, 2, &[]));
    one.handle(SENT, id(3), ready.expect("node 1 is told"));
    assert_eq!(one.lineage(), three.lineage());
    assert_eq!(one.past().head, Some(number(3, 2)));
    let on_disk =
        Kept::from_bytes(&one.kept().expect("there is something").to_bytes()).expect("it was written");
    assert_eq!(on_disk.past(), one.past());
    assert_eq!(on_disk.task.as_ref(), one.task_in_place());
}

#[test]
fn what_is_on_disk_survives_the_incarnation_and_nothing_else_does() {
    let (mut group, _) = coordinator(Variant::Repaired, &[]);
    let before = group.past();
    group = group.reborn(Incarnation(2), SENT);
    assert_eq!(group.past(), Past { away: true, ..before });
    assert_eq!(group.task_in_place(), None);
}

#[test]
fn groups_without_numbers_have_no_history() {
    let mut group = layer(3, Variant::Printed);
    group.form(SENT, Formation { group: None, ..formation(3, 1, &[]) });
    assert_eq!(actions(&mut group), [("installed", 0), ("reorganized", 0)]);
    assert_eq!(group.kept(), None);
}

#[test]
fn a_search_keeps_nothing_of_past_groups() {
    let mut group = layer(3, Variant::Repaired);
    group.forget_groups();
    group.form(SENT, formation(3, 1, &[]));
    assert_eq!(actions(&mut group), [("installed", 0), ("reorganized", 0)]);
    assert_eq!((group.kept(), group.past()), (None, Past::default()));
}

#[test]
fn a_past_that_nobody_can_have_is_no_past() {
    let sound = diamond();
    let of = |change: fn(&mut Vec<Record>)| {
        let mut records: Vec<Record> = sound.records().iter().map(|record| Record::clone(record)).collect();
        change(&mut records);
        Past { head: Some(number(3, 1)), away: false, lineage: Lineage::of(records), doubts: Vec::new() }
    };
    assert!(of(|_| {}).is_sound());
    assert!(!of(|records| records[3].generation = 1).is_sound(), "no younger than its parents");
    assert!(!of(|records| records[3].parents.clear()).is_sound(), "another root");
    assert!(!of(|records| records[3].parents = alloc::vec![number(3, 1)]).is_sound(), "its own parent");
    assert!(!of(|records| records[3].group = number(2, 2)).is_sound(), "a number twice");
    assert!(!of(|records| records[3].members.clear()).is_sound(), "without its coordinator");
    assert!(!of(|records| records[3].generation = u64::MAX).is_sound());
    assert!(!of(|records| records.swap(0, 3)).is_sound(), "out of order");
    assert!(!of(|records| records.truncate(3)).is_sound(), "the head is not in it");
    let mut group = layer(3, Variant::Repaired);
    group.joined(id(1), SAID, of(|records| records[3].parents.clear()));
    assert_eq!(group.past_of(id(1)), Past::default());
}

/// The largest numbers, in a group of 64 that each come from somewhere else, in a full graph.
#[test]
fn the_longest_ready_and_the_longest_join_fit_into_a_frame() {
    let large = |n: u64| {
        let incarnation = Incarnation(Incarnation::MAX.0 - n);
        GroupId(ElectionId { node: NodeId(u32::MAX), incarnation, seq: u64::MAX - n })
    };
    let members: Vec<NodeId> = (0..64).map(|n| NodeId(u32::MAX - 63 + n)).collect();
    assert_eq!((members.len() * RECORDS_MAX, PARENTS_MAX / RECORDS_MAX), (MEMBERS_MAX, 8));
    let mut records: Vec<Record> = (0..RECORDS_MAX as u64)
        .map(|n| Record {
            group: large(n),
            coordinator: NodeId(u32::MAX),
            generation: (1 << 62) - 1,
            members: members.clone(),
            parents: (0..8).map(|parent| large(10_000 - parent - n * 8)).collect(),
        })
        .collect();
    records.sort_by_key(|record| record.group);
    let lineage = Lineage::of(records);
    assert!(lineage.is_sound());
    let call = large(0).0;
    let content = Content::new(alloc::vec![0xff; TASK_MAX]).expect("it is no longer than allowed");
    let ballot = Ballot { group: large(0), attempt: u64::MAX };
    let doubts = (0..DOUBTS_MAX as u64).map(|n| (OpId(u64::MAX - n), ballot)).collect();
    let task = Task::new(call, content);
    let ready = GroupMsg::Ready { group: Some(large(0)), task: task.clone(), lineage: lineage.clone() };
    let past = Past { head: Some(large(0)), away: true, lineage: lineage.clone(), doubts };
    let member = GroupMsg::Member { group: Some(large(0)), past: Box::new(past.clone()) };
    let msg = AnyMsg::Lockstep(lockstep::Msg::Round(u64::MAX));
    let join = Body::Join(Box::new(Joining { msg, past }));
    let carried = |msg: &GroupMsg| {
        let max = u64::MAX;
        let carries = Some(Carried { nth: max, msg: Letter::Group(Box::new(msg.clone())) });
        let membership = Membership { view: Some(large(0)), dead: true };
        let to = Incarnation(max);
        Body::Consistent(Box::new(ConsistentMsg {
            to,
            seen: max,
            no: max,
            echo: max,
            taken: max,
            membership,
            carries,
        }))
    };
    for body in [carried(&ready), carried(&member), Body::Group(Box::new(ready)), join] {
        let channel = Channel { cluster: u64::MAX, election: u32::MAX };
        let frame =
            Frame { from: call.node, incarnation: call.incarnation, seq: u64::MAX, rides: None, body };
        let bytes = encode(channel, &frame);
        assert!(bytes.len() <= FRAME_MAX, "{} bytes", bytes.len());
        assert_eq!(crate::wire::decode(channel, &bytes), Ok(frame));
    }
    let mut ledger = Ledger::default();
    for n in 0..COMMITS_MAX as u64 {
        ledger.commit(OpId(u64::MAX - n), ballot);
        ledger.vote(OpId(u64::MAX - 1000 - n), ballot);
    }
    let kept = Kept { head: Some(large(0)), task: Some(task), lineage, ledger };
    let bytes = kept.to_bytes();
    assert!(bytes.len() <= Kept::LEN_MAX, "{} bytes", bytes.len());
    assert_eq!(Kept::from_bytes(&bytes), Some(kept));
    assert_eq!(Kept::from_bytes(&bytes[..bytes.len() - 1]), None);
}

/// An Accept of long ago may overtake nobody, but still arrive.
#[test]
fn what_a_member_said_last_of_its_past_counts_whatever_comes_last() {
    let mut one = layer(1, Variant::Repaired);
    let mut past = |seq| {
        one.form(SENT, formation(1, seq, &[]));
        one.past()
    };
    let (old, new) = (past(1), past(2));
    let mut three = layer(3, Variant::Repaired);
    three.joined(id(1), (Incarnation(1), 7), new);
    three.joined(id(1), (Incarnation(1), 4), old);
    three.form(SENT, formation(3, 1, &[1]));
    let record = three.lineage().record(number(3, 1)).expect("it is recorded");
    assert!(record.parents.contains(&number(1, 2)) && !record.parents.contains(&number(1, 1)), "{record:?}");
}
