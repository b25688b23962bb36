//! A node that was given no list of members: whom it hears, what it remembers, whom it refuses.

use super::*;
use crate::election::fjr;
use crate::link::ACQUAINTANCES_MAX;

fn heartbeat(count: u64, np_sn: u64) -> Body<AnyMsg> {
    Body::Election(AnyMsg::Fjr(fjr::Msg::Heartbeat { count, np_sn }))
}

/// Up, and past the time in which it listens: with count 6, since it had 5.
fn started(me: u32) -> Rig {
    let mut rig = Rig::of(Protocol::Fjr, DetectorKind::Heartbeat, Variant::Repaired, me, 1);
    rig.input(Input::Start);
    rig.advance(TAU + DELTA * 2);
    rig
}

fn leader(rig: &Rig) -> Option<u32> {
    rig.node.opinion().normal_leader().map(|leader| leader.0)
}

fn refused(from: u32, why: Refusal) -> Output<AnyMsg> {
    Output::Event(Event::Refused { from: NodeId(from), why })
}

#[test]
fn whoever_speaks_is_heard_however_large_its_id() {
    let mut rig = started(7);
    assert_eq!(leader(&rig), Some(7));
    rig.receive(u32::MAX, 1, 1, heartbeat(2, 1));
    assert_eq!(leader(&rig), Some(u32::MAX));
    rig.receive(0, 1, 1, heartbeat(2, 1));
    assert_eq!(leader(&rig), Some(0), "ids are just compared");
}

/// Two nodes with one id refuse each other: neither follows, obeys or answers itself.
#[test]
fn a_broadcast_in_ones_own_name_has_no_effect() {
    let mut rig = started(7);
    let form = rig.form();
    for (incarnation, count) in [(1, 0), (2, 0), (1, u64::MAX)] {
        assert_eq!(rig.receive(7, incarnation, 9, heartbeat(count, 9)), [refused(7, Refusal::NotAPeer)]);
    }
    assert_eq!(rig.form(), form);
}

#[test]
fn frames_need_not_come_in_order() {
    let mut rig = started(7);
    rig.receive(1, 1, 9, heartbeat(0, 1));
    let outputs = rig.receive(1, 1, 3, heartbeat(0, 1));
    assert!(!outputs.contains(&refused(1, Refusal::OutOfOrder)), "{outputs:?}");
}

#[test]
fn a_stranger_in_an_earlier_incarnation_is_told_so() {
    let mut rig = started(7);
    rig.receive(1, 5, 1, heartbeat(0, 1));
    let outputs = rig.receive(1, 4, 1, heartbeat(0, 1));
    assert_eq!(outputs[0], refused(1, Refusal::StaleIncarnation));
    let known = Incarnation(5);
    assert!(
        matches!(&outputs[1..], [Output::Send { to: NodeId(1), frame }]
            if frame.body == Body::Link(LinkMsg::Outlived { known })),
        "{outputs:?}"
    );
}

/// What it knew of the old incarnation is void, so a lost disk does not matter: the new count is lower and
/// counts.
#[test]
fn a_new_incarnation_of_a_stranger_begins_anew() {
    let mut rig = started(7);
    rig.receive(1, 1, 1, heartbeat(50, 8));
    assert_eq!(leader(&rig), Some(7));
    rig.receive(1, 2, 1, heartbeat(3, 1));
    assert_eq!(leader(&rig), Some(1));
}

/// A member that made room for others and comes back in a later incarnation is met anew; one that claims an
/// incarnation beyond any clock is refused, and takes no room.
#[test]
fn a_future_incarnation_of_a_forgotten_member_is_met_anew() {
    let mut rig = started(7);
    rig.receive(1, 3, 1, heartbeat(50, 8));
    rig.receive(1, 3, 2, Body::Election(AnyMsg::Fjr(fjr::Msg::StopLeader { count: 50, np_sn: 8 })));
    let silent = NodeId(9);
    for k in 0..ACQUAINTANCES_MAX as u32 {
        let body = Body::Election(AnyMsg::Fjr(fjr::Msg::Suspicion { count: 60, silent }));
        rig.receive(100 + k, 1, 1, body);
    }
    let form = rig.form();
    assert_eq!(rig.receive(1, 1 << 60, 1, heartbeat(0, 1)), [refused(1, Refusal::ImplausibleIncarnation)]);
    assert_eq!(rig.form(), form);
    rig.receive(1, 4, 1, heartbeat(2, 1));
    assert_eq!(leader(&rig), Some(1));
    rig.receive(1, 3, 3, heartbeat(2, 2));
    assert_eq!(leader(&rig), Some(1), "and its old incarnation is over");
}

#[test]
fn evidence_of_the_end_of_an_incarnation_counts_only_for_that_incarnation() {
    let mut rig = started(7);
    rig.receive(1, 2, 1, heartbeat(0, 1));
    for (peer, incarnation) in [(1, 1), (1, 3), (7, 1), (9, 1)] {
        rig.input(Input::Gone { peer: NodeId(peer), incarnation: Incarnation(incarnation) });
        assert_eq!(leader(&rig), Some(1));
    }
    rig.input(Input::Gone { peer: NodeId(1), incarnation: Incarnation(2) });
    assert_eq!(leader(&rig), Some(7));
}

/// A node that is told of an incarnation of its own that it does not remember starts over, and keeps its
/// count.
#[test]
fn a_lost_disk_is_noticed() {
    let mut rig = started(7);
    let outputs = rig.receive(1, 1, 1, outlived(41));
    let reborn = Incarnation(42);
    assert_eq!(outputs[0], Output::Event(Event::Reborn(reborn)));
    assert_eq!(outputs[1], Output::Persist(Durable { incarnation: reborn, count: 6, epoch: 0, group: None }));
    assert_eq!(leader(&rig), None, "it listens first");
}

#[test]
fn detector_messages_of_strangers_mean_nothing() {
    let mut rig = started(7);
    rig.receive(1, 1, 1, heartbeat(9, 1));
    let form = rig.form();
    for msg in [DetectorMsg::Ping { no: WatchNo(1), n: 1 }, DetectorMsg::Beat { no: WatchNo(1) }] {
        assert_eq!(rig.receive(1, 1, 2, Body::Detector(msg)), []);
    }
    assert_eq!(rig.form(), form);
}
