//! HISTORY and RESTRICTED-ONCE: what coordinators record of their groups, and what nodes know of operations.

use bellwether_proto::group::lineage::ROOT;
use bellwether_proto::group::{Ballot, GroupEvent, OpId, RecordDigest};
use bellwether_proto::promise::Property;

use super::*;

fn number(node: u32, seq: u64) -> GroupId {
    GroupId(ElectionId { node: NodeId(node), incarnation: Incarnation(1), seq })
}

impl Trace {
    fn records(self, node: u32, group: GroupId, digest: u64) -> Self {
        self.node(node, Event::Group(GroupEvent::Recorded { group, record: RecordDigest(digest) }))
    }

    /// The coordinator of the group records it, and says who is in it and where they come from.
    fn forms(self, group: GroupId, members: &[u32], parents: &[GroupId]) -> Self {
        let GroupId(ElectionId { node: NodeId(node), seq, .. }) = group;
        let members = members.iter().map(|member| Event::Group(GroupEvent::Member(NodeId(*member))));
        let parents = parents.iter().map(|parent| Event::Group(GroupEvent::Parent(*parent)));
        members.chain(parents).fold(self.records(node, group, seq), |trace, event| trace.node(node, event))
    }

    fn voted(self, node: u32, op: u64, ballot: Ballot) -> Self {
        self.node(node, Event::Group(GroupEvent::Voted { op: OpId(op), ballot }))
    }

    fn committed(self, node: u32, op: u64, ballot: Ballot) -> Self {
        self.node(node, Event::Group(GroupEvent::Committed { op: OpId(op), ballot }))
    }
}

/// Two alone, then together.
fn merged() -> Trace {
    let alone = Trace::started(2).forms(number(1, 1), &[1], &[ROOT]).forms(number(2, 1), &[2], &[ROOT]);
    alone.at(10).forms(number(2, 2), &[1, 2], &[number(1, 1), number(2, 1)]).at(11).records(
        1,
        number(2, 2),
        2,
    )
}

fn history(trace: &Trace) -> Found {
    trace.found(Property::History, 100)
}

fn what(trace: &Trace, property: Property) -> String {
    trace.violation(property, 100).flatten().expect("it is broken").what
}

#[test]
fn a_history_goes_back_to_the_initial_group() {
    assert_eq!(history(&merged()), Holds);
    assert_eq!(history(&Trace::led(3)), Vacuous, "nobody records groups");
}

#[test]
fn two_records_of_one_number_break_it() {
    let trace = merged().at(20).records(1, number(2, 2), 3);
    assert_eq!(history(&trace), Violated(20));
    assert_eq!(what(&trace, Property::History), "1 keeps another record of group 2.1.2 than 2");
}

#[test]
fn another_root_breaks_it() {
    let trace = merged().at(20).forms(number(1, 2), &[1], &[]);
    assert_eq!(history(&trace), Violated(20));
    assert_eq!(what(&trace, Property::History), "group 1.1.2 came from no group: another root");
}

#[test]
fn a_parent_that_nobody_knows_breaks_it_unless_it_is_told_of_later() {
    let trace = merged().at(20).forms(number(1, 2), &[1], &[number(2, 9)]);
    assert_eq!(history(&trace), Violated(20));
    assert_eq!(what(&trace, Property::History), "group 1.1.2 came from 2.1.9, which nobody has recorded");
    assert_eq!(history(&trace.at(21).forms(number(2, 9), &[2], &[number(2, 2)])), Holds);
}

#[test]
fn a_cycle_breaks_it() {
    let trace = merged().at(20).forms(number(1, 2), &[1], &[number(2, 9)]);
    let trace = trace.at(21).forms(number(2, 9), &[2], &[number(1, 2)]);
    assert_eq!(history(&trace), Violated(20));
    assert_eq!(what(&trace, Property::History), "group 1.1.2 came from itself");
}

fn restricted(trace: &Trace) -> Found {
    trace.found(Property::RestrictedOnce, 100)
}

/// An attempt in the group of both.
fn ballot(attempt: u64) -> Ballot {
    Ballot { group: number(2, 2), attempt }
}

#[test]
fn an_operation_may_be_known_everywhere_but_from_one_attempt() {
    assert_eq!(restricted(&merged()), Vacuous);
    let once = merged().at(20).voted(1, 7, ballot(1)).committed(2, 7, ballot(1)).at(21);
    let once = once.committed(1, 7, ballot(1));
    assert_eq!(restricted(&once), Holds);
    let another = once.clone().at(30).voted(1, 8, ballot(2)).committed(2, 8, ballot(2));
    assert_eq!(restricted(&another), Holds, "another operation");
    let again = once.clone().at(30).voted(1, 7, ballot(2)).committed(2, 7, ballot(2));
    assert_eq!(restricted(&again), Violated(30), "in the same group");
    let elsewhere = Ballot { group: number(1, 1), attempt: 1 };
    let twice = once.at(30).crash(1).at(31).recover(1).committed(1, 7, elsewhere);
    assert_eq!(restricted(&twice), Violated(31));
    let words =
        "operation 7 is committed by attempt 1 in group 1.1.1 (1) and by attempt 1 in group 2.1.2 (2)";
    assert_eq!(what(&twice, Property::RestrictedOnce), words);
}

#[test]
fn an_operation_needs_the_votes_of_a_majority_for_that_attempt() {
    let trace = merged().at(20).voted(1, 7, ballot(1)).at(22).committed(2, 7, ballot(2));
    assert_eq!(restricted(&trace), Violated(22));
    let words = "operation 7 is committed by attempt 2 in group 2.1.2 with 1 of 2 votes";
    assert_eq!(what(&trace, Property::RestrictedOnce), words);
}
