//! A name that was deleted costs room until it is dropped.

use super::*;
use crate::exclusive::grant::Accepted;

const NOW: Time = Time::from_micros(1_000_000);

fn backup() -> Name {
    Name::new("backup").expect("a name")
}

/// Three voters of which some hear of it that `backup` was held, given back and deleted. All know that it was held.
fn deleted(is_lost: impl Fn(NodeId, &Ask) -> bool) -> (Coordinator, Vec<Voter>) {
    let (mut coordinator, mut voters) = three(NOW);
    let holder = waits(&mut coordinator, NOW, 2);
    converse(&mut coordinator, &mut voters, NOW);
    coordinator.wish(NOW, NodeId(2), Wish::Release { name: backup(), token: None, holder, next: None });
    coordinator.wish(NOW, NodeId(2), Wish::Delete { by: life(2), no: 1, name: backup() });
    let told = converse_without(&mut coordinator, &mut voters, NOW, is_lost);
    assert!(told.iter().any(|telling| matches!(telling, Telling::Gone { .. })), "{told:?}");
    (coordinator, voters)
}

/// The next ballot, in which an agent asks which names there are.
fn lists_again(
    coordinator: &mut Coordinator,
    voters: &mut [Voter],
    is_lost: impl Fn(NodeId, &Ask) -> bool + Copy,
) {
    coordinator.nominate(NOW, false);
    coordinator.nominate(NOW, true);
    let at = coordinator.deadline();
    coordinator.wake(at);
    converse_without(coordinator, voters, at, is_lost);
    assert!(coordinator.is_ready());
    coordinator.wish(at, NodeId(2), Wish::List { after: None });
    converse_without(coordinator, voters, at, is_lost);
    assert!(coordinator.is_surveyed(), "a majority is enough for whoever asks");
}

/// What each voter holds of it: nothing, that it was deleted, or something else.
fn held(voters: &[Voter]) -> Vec<Option<bool>> {
    let held = |voter: &Voter| voter.kept().accepted.get(&backup()).map(is_deleted);
    voters.iter().map(held).collect()
}

fn is_deleted(accepted: &Accepted) -> bool {
    accepted.content == Content::Deleted
}

fn all_is_heard(_: NodeId, _: &Ask) -> bool {
    false
}

fn the_third_is_silent(voter: NodeId, _: &Ask) -> bool {
    voter == NodeId(3)
}

/// The third is heard after the two that are enough to go on.
#[test]
fn three_voters_drop_what_all_of_them_know_to_be_deleted() {
    let (mut coordinator, mut voters) = deleted(all_is_heard);
    assert_eq!(held(&voters), [Some(true); 3]);
    lists_again(&mut coordinator, &mut voters, all_is_heard);
    assert_eq!(held(&voters), [None; 3]);
}

#[test]
fn nothing_is_dropped_while_a_voter_is_silent_and_all_is_when_it_is_back() {
    let (mut coordinator, mut voters) = deleted(all_is_heard);
    lists_again(&mut coordinator, &mut voters, the_third_is_silent);
    assert_eq!(held(&voters), [Some(true); 3]);
    let later = NOW + coordinator.terms.period() * 2;
    coordinator.wake(later);
    converse(&mut coordinator, &mut voters, later);
    assert_eq!(held(&voters), [None; 3]);
}

/// It has what was deleted: it is told so, and all drop it in the next ballot.
#[test]
fn what_one_voter_does_not_know_to_be_deleted_it_is_told_before_all_drop_it() {
    let (mut coordinator, mut voters) = deleted(the_third_is_silent);
    assert_eq!(held(&voters), [Some(true), Some(true), Some(false)]);
    lists_again(&mut coordinator, &mut voters, all_is_heard);
    assert_eq!(held(&voters), [Some(true); 3]);
    lists_again(&mut coordinator, &mut voters, all_is_heard);
    assert_eq!(held(&voters), [None; 3]);
}

#[test]
fn what_one_voter_alone_did_not_drop_all_drop_later() {
    let (mut coordinator, mut voters) = deleted(all_is_heard);
    lists_again(&mut coordinator, &mut voters, |voter, ask| {
        voter == NodeId(3) && matches!(ask, Ask::Drop { .. })
    });
    assert_eq!(held(&voters), [None, None, Some(true)]);
    lists_again(&mut coordinator, &mut voters, all_is_heard);
    assert_eq!(held(&voters), [Some(true); 3]);
    lists_again(&mut coordinator, &mut voters, all_is_heard);
    assert_eq!(held(&voters), [None; 3]);
}
