//! Each way in which an operation can end.

use bellwether_proto::group::Unwilling;
use bellwether_proto::ident::{ElectionId, GroupId, Incarnation};
use bellwether_proto::time::Time;

use super::*;

fn ballot(coordinator: u32) -> Ballot {
    let election = ElectionId { node: NodeId(coordinator), incarnation: Incarnation(1), seq: 4 };
    Ballot { group: GroupId(election), attempt: 1 }
}

fn told(events: impl IntoIterator<Item = (u32, GroupEvent)>) -> Operation {
    let mut operations = Operations::default();
    for (t, (node, event)) in (1..).zip(events) {
        operations.note(&TraceEvent {
            at: Time::from_micros(t),
            node: NodeId(node),
            incarnation: Incarnation(1),
            what: What::Node(Event::Group(event)),
        });
    }
    operations.0.get(&OP).map_or_else(|| Told::default().account(OP), |told| told.account(OP))
}

const OP: OpId = OpId(7);
const DECLINED: GroupEvent = GroupEvent::Declined { op: OP, why: Unwilling::NoMajority };

fn voted(coordinator: u32) -> GroupEvent {
    GroupEvent::Voted { op: OP, ballot: ballot(coordinator) }
}

fn committed(coordinator: u32) -> GroupEvent {
    GroupEvent::Committed { op: OP, ballot: ballot(coordinator) }
}

fn aborted(coordinator: u32) -> GroupEvent {
    GroupEvent::Aborted { op: OP, ballot: ballot(coordinator) }
}

#[test]
fn a_commit_is_the_answer_of_its_coordinator_and_known_to_whoever_is_told() {
    let operation = told([(1, DECLINED), (2, voted(3)), (3, committed(3)), (2, committed(3))]);
    assert_eq!((operation.outcome, operation.group.as_deref()), (Outcome::Committed, Some("3.1.4")));
    assert_eq!(operation.known_to, [2, 3]);
    let said: Vec<_> = operation.answers.iter().map(|said| (said.t_us, said.node, said.answer)).collect();
    assert_eq!(said, [(1, 1, Outcome::Declined), (3, 3, Outcome::Committed)]);
    assert_eq!(operation.answers[0].reason, Some("no-majority"));
}

#[test]
fn an_operation_ends_as_the_best_that_is_known_of_it() {
    let outcome = |events: &[(u32, GroupEvent)]| told(events.iter().copied()).outcome;
    assert_eq!(outcome(&[]), Outcome::Open, "nobody heard of it");
    assert_eq!(outcome(&[(1, DECLINED)]), Outcome::Declined);
    assert_eq!(outcome(&[(1, DECLINED), (3, aborted(3))]), Outcome::Aborted);
    assert_eq!(outcome(&[(2, voted(3)), (3, aborted(3))]), Outcome::Aborted);
    assert_eq!(outcome(&[(2, voted(3)), (2, DECLINED)]), Outcome::Open, "2 is in doubt of what 3 decided");
    assert_eq!(outcome(&[(2, voted(3)), (4, aborted(4))]), Outcome::Open, "that was another attempt");
    assert_eq!(outcome(&[(3, aborted(3)), (4, committed(4))]), Outcome::Committed);
}
