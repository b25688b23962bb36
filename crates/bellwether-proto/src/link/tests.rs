//! What a node takes from whom, as connections come and go.

use super::*;
use crate::roster::Priority;

const ME: NodeId = NodeId(1);
const PEER: NodeId = NodeId(2);

/// The links of node 1, to those that are listed and to those that are met.
fn links(guard: Guard) -> [Link; 2] {
    let roster = Roster::new(ME, [ME, PEER, NodeId(3)], Priority::LowestId);
    [Peers::Listed, Peers::Met].map(|peers| Link::new(&roster, peers, guard))
}

/// What the peer sends in that incarnation, with that number.
fn take(link: &mut Link, incarnation: u64, nth: impl Into<Option<u64>>) -> Result<Admitted, Refusal> {
    link.admit(PEER, Incarnation(incarnation), nth.into())
}

#[test]
fn what_was_sent_before_the_connection_ended_is_refused_until_there_is_another() {
    for mut link in links(Guard::IncarnationsAndOrder) {
        assert_eq!(
            link.introduce(PEER, Incarnation(4)),
            Ok(Admitted::SameIncarnation),
            "the first that is heard of it"
        );
        assert_eq!(take(&mut link, 4, 1), Ok(Admitted::SameIncarnation));
        link.part(PEER);
        assert_eq!(take(&mut link, 4, 2), Err(Refusal::Parted));
        assert_eq!(take(&mut link, 4, None), Err(Refusal::Parted), "a sign of life above all");
        assert_eq!(link.introduce(PEER, Incarnation(4)), Ok(Admitted::SameIncarnation));
        assert_eq!(take(&mut link, 4, 4), Ok(Admitted::SameIncarnation));
        assert_eq!(take(&mut link, 4, 2), Err(Refusal::OutOfOrder), "the order is that of before");
    }
}

#[test]
fn a_new_incarnation_is_taken_whether_or_not_it_was_introduced() {
    for mut link in links(Guard::Incarnations) {
        link.introduce(PEER, Incarnation(4)).expect("it is a peer");
        link.part(PEER);
        assert_eq!(take(&mut link, 5, 1), Ok(Admitted::NewIncarnation), "it is not the one that ended");
        assert_eq!(take(&mut link, 4, 9), Err(Refusal::StaleIncarnation));
        link.part(PEER);
        assert_eq!(link.introduce(PEER, Incarnation(6)), Ok(Admitted::NewIncarnation));
        assert_eq!(take(&mut link, 6, 1), Ok(Admitted::SameIncarnation));
        assert_eq!(link.incarnation(PEER), Incarnation(6));
    }
}

/// A connection that was made in an earlier incarnation than is known cannot take back what is known.
#[test]
fn an_introduction_in_an_earlier_incarnation_changes_no_incarnation() {
    for mut link in links(Guard::Incarnations) {
        link.introduce(PEER, Incarnation(6)).expect("it is a peer");
        assert_eq!(link.introduce(PEER, Incarnation(5)), Ok(Admitted::SameIncarnation));
        assert_eq!(link.incarnation(PEER), Incarnation(6));
        assert_eq!(take(&mut link, 5, 1), Err(Refusal::StaleIncarnation));
    }
}

#[test]
fn only_those_who_may_write_are_introduced() {
    let [mut listed, mut met] = links(Guard::Incarnations);
    assert_eq!(listed.introduce(NodeId(9), Incarnation(1)), Err(Refusal::NotAPeer));
    assert_eq!(met.introduce(NodeId(9), Incarnation(1)), Ok(Admitted::SameIncarnation));
    for mut link in [listed, met] {
        assert_eq!(link.introduce(ME, Incarnation(1)), Err(Refusal::NotAPeer), "nobody in its own name");
        link.introduce(PEER, Incarnation(1)).expect("it is a peer");
        let beyond = Incarnation(Incarnation::CLOCK_MAX.0 + (1 << 32) + 1);
        assert_eq!(link.introduce(PEER, beyond), Err(Refusal::ImplausibleIncarnation));
    }
}

/// Whom it is connected with a node can write to, though it never heard a word.
#[test]
fn an_introduction_makes_an_acquaintance() {
    let [_, mut met] = links(Guard::Incarnations);
    assert_eq!(met.next_seq(PEER), None, "a stranger");
    met.introduce(PEER, Incarnation(1)).expect("it may be met");
    assert_eq!((met.next_seq(PEER), met.next_seq(PEER)), (Some(1), Some(2)));
}

#[test]
fn parting_from_a_stranger_or_twice_is_harmless() {
    for mut link in links(Guard::Incarnations) {
        link.part(NodeId(9));
        link.introduce(PEER, Incarnation(1)).expect("it is a peer");
        link.part(PEER);
        link.part(PEER);
        assert_eq!(take(&mut link, 1, 1), Err(Refusal::Parted));
    }
}

/// The papers' channels are taken at their word.
#[test]
fn as_printed_nothing_is_refused() {
    for mut link in links(Guard::Nothing) {
        link.introduce(PEER, Incarnation(4)).expect("it is a peer");
        link.part(PEER);
        assert_eq!(take(&mut link, 4, 1), Ok(Admitted::SameIncarnation));
    }
}
