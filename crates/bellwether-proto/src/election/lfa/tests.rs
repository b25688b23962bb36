use super::super::raynal::rig::{PATIENCE, Rig, STEP, TAU, id};
use super::*;
use crate::cause::Cause;
use crate::election::Variant;

/// E-RA2: p1 has nobody to wait for. If its timer were armed, it would take 2 for its leader.
#[test]
fn the_strongest_never_doubts_itself() {
    for mut rig in [Rig::<Lfa>::printed(1, 1), Rig::printed(1, 3), Rig::new(1, 3, Variant::Repaired, 0)] {
        rig.advance(TAU * 100);
        assert_eq!(rig.leader(), Some(1));
    }
}

/// (101): n - ℓ messages per α, to the weaker only, the first at once.
#[test]
fn the_leader_tells_the_weaker_every_period() {
    let mut rig = Rig::<Lfa>::printed(1, 4);
    let all = [(2, Msg::Alive), (3, Msg::Alive), (4, Msg::Alive)];
    assert_eq!(rig.sent(), all);
    rig.advance(Span::micros(99_999));
    assert_eq!(rig.election.deadline(), rig.now + Span::micros(1));
    rig.advance(Span::micros(1));
    assert_eq!(rig.sent(), all);
}

/// (108) (109): one after the other is given up, at the end oneself is left.
#[test]
fn silence_leads_to_the_next_in_order() {
    let mut rig = Rig::<Lfa>::repaired(3, 4);
    assert_eq!(rig.leader(), Some(2));
    rig.advance(PATIENCE);
    assert_eq!((rig.leader(), rig.sent()), (Some(3), [(4, Msg::Alive)].into()));
}

/// (103)–(105): back to the stronger one, and more patience with it.
#[test]
fn a_leader_that_was_given_up_too_early_is_taken_back_with_more_patience() {
    let mut rig = Rig::<Lfa>::repaired(2, 2);
    assert_eq!(rig.leader(), Some(2));
    rig.message(1, Msg::Alive);
    assert_eq!((rig.leader(), rig.election.deadline()), (Some(1), rig.now + PATIENCE + STEP));
    rig.message(1, Msg::Alive);
    assert_eq!(rig.election.deadline(), rig.now + PATIENCE + STEP, "(102): no mistake, no growth");
}

#[test]
fn a_real_crash_teaches_no_patience() {
    let mut rig = Rig::<Lfa>::repaired(2, 2);
    rig.input(Input::NewIncarnation(id(1)));
    rig.message(1, Msg::Alive);
    assert_eq!((rig.leader(), rig.election.deadline()), (Some(1), rig.now + PATIENCE));
}

/// Line 103 alone lets a timeout grow: one that stays down is passed over as quickly each time.
#[test]
fn the_dead_are_passed_over_as_quickly_each_time() {
    for variant in Variant::ALL {
        let mut rig = Rig::<Lfa>::new(3, 3, variant, 0);
        let mut passed = Vec::new();
        for _ in 0..3 {
            rig.message(1, Msg::Alive);
            rig.input(Input::Gone(id(1)));
            passed.push(rig.election.deadline().since(rig.now));
            rig.advance(PATIENCE);
            assert_eq!(rig.leader(), Some(3));
        }
        assert!(passed.windows(2).all(|pair| pair[0] == pair[1]), "{passed:?}");
    }
}

#[test]
fn evidence_of_a_crash_counts_as_silence_without_growing_the_timeout() {
    let mut rig = Rig::<Lfa>::new(2, 2, Variant::Repaired, 0);
    rig.input(Input::Gone(id(1)));
    assert_eq!(rig.leader(), Some(2));
    rig.message(1, Msg::Alive);
    assert_eq!(rig.election.deadline(), rig.now + PATIENCE);
    rig.input(Input::Gone(id(9)));
    assert_eq!(rig.leader(), Some(1), "nobody's end is no evidence");
}

/// (106), and what the paper says cannot be: only the stronger write.
#[test]
fn weaker_and_unknown_senders_are_ignored() {
    let mut rig = Rig::<Lfa>::printed(2, 4);
    for from in [2, 3, 4, 9] {
        rig.message(from, Msg::Alive);
        assert_eq!(rig.leader(), Some(1));
    }
    let mut rig = Rig::<Lfa>::printed(3, 4);
    rig.message(2, Msg::Alive);
    assert_eq!(rig.leader(), Some(1), "j > leader_i");
}

#[test]
fn each_invariant_can_be_broken_and_is_then_named() {
    let rig = Rig::<Lfa>::repaired(2, 3);
    let broken = |harm: &dyn Fn(&mut Lfa)| {
        let mut election = rig.election.clone();
        harm(&mut election);
        election.breach(&rig.election)
    };
    assert_eq!(broken(&|_| {}), None);
    assert_eq!(broken(&|lfa| lfa.leader = 2), Some("leader_i <= i"));
    assert_eq!(broken(&|lfa| lfa.leader = 0), Some("the timer is armed if and only if another leads"));
    assert_eq!(broken(&|lfa| lfa.timeout[0] = Patience::new(STEP)), Some("timeouts do not shrink"));
}

#[test]
fn it_says_why_it_gives_its_leader_up() {
    let mut rig = Rig::<Lfa>::repaired(2, 2);
    assert_eq!(rig.why, Some(Cause::Silent(id(1))));
    rig.message(1, Msg::Alive);
    assert_eq!(rig.why, Some(Cause::Outranked(id(2))), "the stronger is back");
    rig.input(Input::Gone(id(1)));
    assert_eq!(rig.why, Some(Cause::Gone(id(1))));
    rig.message(1, Msg::Alive);
    rig.input(Input::Resigned { who: id(1), next: None });
    assert_eq!(rig.why, Some(Cause::Resigned(id(1))));
}
