use alloc::vec;

use super::super::raynal::rig::{Rig, TAU, id};
use super::*;

#[test]
fn the_strongest_heard_in_a_round_leads_the_next() {
    let mut rig = Rig::<Lockstep>::printed(3, 4);
    assert_eq!(rig.sent().len(), 3);
    assert_eq!(rig.leader(), None);
    rig.message(4, Msg::Round(0));
    rig.message(2, Msg::Round(0));
    rig.message(1, Msg::Round(7));
    rig.message(9, Msg::Round(0));
    rig.advance(TAU);
    assert_eq!((rig.leader(), rig.sent().len()), (Some(2), 3));
    rig.message(2, Msg::Round(0));
    rig.advance(TAU);
    assert_eq!(rig.leader(), Some(3), "a message of another round does not count");
}

/// Whoever comes up late falls into step; the end of the clock is not the end of the node.
#[test]
fn rounds_are_cut_from_the_clock() {
    let mut rig = Rig::<Lockstep>::printed(1, 2);
    rig.now = Time::ZERO + TAU * 5 / 2;
    rig.input(Input::Recovery);
    assert_eq!(rig.sent(), [(2, Msg::Round(2))]);
    assert_eq!(rig.election.deadline(), Time::ZERO + TAU * 3);
}

/// Early wake-ups are harmless: what is said later in the round still counts.
#[test]
fn a_round_lasts_until_its_end() {
    let mut rig = Rig::<Lockstep>::printed(2, 3);
    rig.now = Time::ZERO + TAU / 2;
    rig.input(Input::Deadline);
    assert_eq!((rig.leader(), rig.sent()), (None, vec![]));
    rig.message(1, Msg::Round(0));
    rig.advance(TAU / 2);
    assert_eq!((rig.leader(), rig.sent().len()), (Some(1), 2));
}

/// What is sent at its beginning must arrive before its end, however short the period.
#[test]
fn a_round_is_as_long_as_the_longer_of_a_period_and_two_delays() {
    let mut rig = Rig::<Lockstep>::printed(1, 2);
    assert_eq!(rig.election.deadline(), Time::ZERO + TAU, "two delays are shorter");
    rig.election.setup.timing.delta = TAU;
    assert_eq!(rig.election.deadline(), Time::ZERO + TAU * 2);
}

#[test]
fn each_invariant_can_be_broken_and_is_then_named() {
    let mut rig = Rig::<Lockstep>::printed(1, 2);
    rig.advance(TAU);
    let broken = |harm: &dyn Fn(&mut Lockstep)| {
        let mut election = rig.election.clone();
        harm(&mut election);
        election.breach(&rig.election)
    };
    assert_eq!(broken(&|_| {}), None);
    assert_eq!(broken(&|it| it.leader = Some(1)), Some("nobody follows one that is weaker than itself"));
    assert_eq!(broken(&|it| it.round = 0), Some("rounds do not run backwards"));
}

#[test]
fn it_says_why_it_gives_its_leader_up() {
    let mut rig = Rig::<Lockstep>::printed(2, 2);
    rig.advance(TAU);
    rig.message(1, Msg::Round(1));
    rig.advance(TAU);
    assert_eq!((rig.leader(), rig.why), (Some(1), Some(Cause::Outranked(id(2)))));
    rig.advance(TAU);
    assert_eq!((rig.leader(), rig.why), (Some(2), Some(Cause::Silent(id(1)))));
}
