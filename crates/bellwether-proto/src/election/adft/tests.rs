use super::super::raynal::rig::{PATIENCE, Rig, STEP, TAU, id};
use super::*;
use crate::cause::Cause;
use crate::election::{Action, SuspicionCount};
use crate::ident::Incarnation;

/// As printed: of no incarnation in particular.
fn alive(counts: [u64; 3]) -> Msg {
    in_incarnation(0, counts)
}

fn in_incarnation(incarnation: u64, counts: [u64; 3]) -> Msg {
    Msg::Alive(SuspicionCounts::of(
        counts.map(|count| SuspicionCount { incarnation: Incarnation(incarnation), count }),
    ))
}

fn counts(election: &Adft) -> [u64; 3] {
    [0, 1, 2].map(|rank| election.count.get(rank))
}

#[test]
fn everybody_tells_everybody_every_period() {
    let mut rig = Rig::<Adft>::printed(2, 3);
    assert_eq!(rig.sent(), [(1, alive([0; 3])), (3, alive([0; 3]))]);
    rig.message(1, alive([0; 3]));
    rig.message(3, alive([0; 3]));
    rig.advance(TAU);
    assert_eq!(rig.sent(), [(1, alive([0; 3])), (3, alive([0; 3]))]);
}

/// (202): the largest is kept, whoever says it. (211): the least suspected leads, ties by id.
#[test]
fn counts_are_merged_and_the_least_suspected_leads() {
    let mut rig = Rig::<Adft>::printed(2, 3);
    assert_eq!(rig.leader(), Some(1));
    rig.message(3, alive([2, 3, 2]));
    assert_eq!(rig.leader(), Some(1));
    rig.message(1, alive([3, 0, 0]));
    assert_eq!(rig.leader(), Some(3));
}

/// E-RA4: SUSPECT counts for its sender. n = 3, t = 1: two suspect the third, and one of the two is oneself.
#[test]
fn a_processs_own_suspicion_counts() {
    let mut rig = Rig::<Adft>::printed(2, 3);
    rig.advance(TAU + STEP); // α + 1
    assert!(rig.sent().contains(&(1, Msg::Suspect(id(1)))), "(205): to all others, the suspected included");
    assert_eq!(rig.leader(), Some(1), "one is not enough");
    rig.message(3, Msg::Suspect(id(1)));
    assert_eq!((rig.election.count.get(0), rig.leader()), (1, Some(2)));
    rig.message(3, Msg::Suspect(id(1)));
    assert_eq!(rig.election.count.get(0), 1, "(209): the set was emptied");
}

#[test]
fn a_suspicion_is_counted_once_for_each_process_and_not_for_strangers() {
    let mut rig = Rig::<Adft>::printed(2, 3);
    rig.message(3, Msg::Suspect(id(1)));
    rig.message(3, Msg::Suspect(id(1)));
    rig.message(9, Msg::Suspect(id(1)));
    rig.message(1, Msg::Suspect(id(9)));
    assert_eq!(rig.leader(), Some(1));
}

/// (204) (206): the timer is set again, for longer.
#[test]
fn a_silent_process_is_suspected_again_and_again_ever_more_slowly() {
    let mut rig = Rig::<Adft>::printed(1, 2);
    let mut at = Vec::new();
    for _ in 0..4 {
        rig.advance(rig.election.timer[1].since(rig.now));
        at.push(rig.now.as_micros() / 1_000);
    }
    assert_eq!(at, [107, 107 + 114, 107 + 114 + 121, 107 + 114 + 121 + 128]);
}

#[test]
fn only_a_mistake_teaches_patience() {
    let mut rig = Rig::<Adft>::repaired(1, 2);
    rig.message(2, alive([0; 3]));
    rig.advance(PATIENCE * 20);
    assert_eq!(rig.election.timeout[1].timeout(), PATIENCE, "as long as it may have crashed");
    let mut crashed = rig.clone();
    crashed.input(Input::NewIncarnation(id(2)));
    crashed.message(2, alive([0; 3]));
    assert_eq!(crashed.election.timer[1], rig.now + PATIENCE);
    rig.message(2, alive([0; 3]));
    assert_eq!(rig.election.timer[1], rig.now + PATIENCE + STEP, "it had not");
}

/// What a process was suspected while it was down does not stay with it, or the next leader would be far behind.
#[test]
fn a_later_incarnations_count_replaces_an_earlier_ones() {
    let mut rig = Rig::<Adft>::repaired(2, 3);
    rig.message(1, in_incarnation(5, [900, 1, 1]));
    assert_eq!(counts(&rig.election)[0], 900);
    rig.message(1, in_incarnation(6, [2, 1, 1]));
    assert_eq!(counts(&rig.election)[0], 2);
    rig.message(3, in_incarnation(5, [901, 1, 1]));
    assert_eq!(counts(&rig.election)[0], 2, "who has not heard of it yet does not bring it back");
}

/// Counts of members that are not there are of nobody; too few are as many as there are.
#[test]
fn odd_lists_of_counts_do_no_harm() {
    let mut rig = Rig::<Adft>::printed(2, 3);
    for counts in [&[][..], &[7], &[0, 0, 0, 9, 9]] {
        let counts = counts.iter().map(|count| SuspicionCount { incarnation: Incarnation(0), count: *count });
        rig.message(1, Msg::Alive(SuspicionCounts::of(counts)));
    }
    assert_eq!(rig.leader(), Some(2));
}

/// A counter at its maximum stays there, and the order of ids decides.
#[test]
fn counters_saturate() {
    let mut rig = Rig::<Adft>::printed(2, 3);
    rig.message(1, alive([u64::MAX; 3]));
    rig.message(1, Msg::Suspect(id(1)));
    rig.message(3, Msg::Suspect(id(1)));
    assert_eq!((rig.leader(), rig.election.count.get(0)), (Some(1), u64::MAX));
    let mut rig = Rig::<Adft>::new(2, 3, Variant::Repaired, u64::MAX);
    rig.advance(PATIENCE);
    assert_eq!(rig.election.count.get(1), u64::MAX);
}

/// The rule of rejoining: above its own count of before, above the leader's; persisted before anything is sent.
#[test]
fn who_comes_back_listens_first_and_returns_below_the_leader() {
    let mut rig = Rig::<Adft>::new(1, 3, Variant::Repaired, 2);
    assert_eq!((rig.leader(), rig.did.len()), (None, 0));
    rig.message(2, in_incarnation(1, [2, 5, 6]));
    assert_eq!(counts(&rig.election), [3, 5, 6], "others have more, so one more is enough");
    assert!(matches!(rig.did[0], Action::Note { count: 3 }), "{:?}", rig.did);
    assert_eq!(rig.sent().len(), 2, "and it takes part at once");

    let mut rig = Rig::<Adft>::new(1, 3, Variant::Repaired, 2);
    rig.message(2, in_incarnation(1, [2, 1, 1]));
    assert_eq!((rig.election.count.get(0), rig.leader()), (3, Some(2)));

    let mut rig = Rig::<Adft>::new(1, 3, Variant::Repaired, 2);
    rig.message(2, in_incarnation(1, [700, 1, 1]));
    assert_eq!(rig.election.count.get(0), 3, "what it was suspected while it was down is forgotten");

    let mut rig = Rig::<Adft>::new(1, 3, Variant::Repaired, 0);
    rig.message(2, in_incarnation(1, [0, 4, 4]));
    assert_eq!(rig.kept(), [1], "the least suspected is itself");
}

#[test]
fn who_hears_nothing_takes_part_after_a_timeout() {
    let mut rig = Rig::<Adft>::new(1, 3, Variant::Repaired, 2);
    rig.advance(Span::micros(119_999));
    assert_eq!(rig.leader(), None);
    rig.advance(Span::micros(1));
    assert_eq!(rig.kept(), [3]);
    assert_eq!(rig.sent().len(), 2, "nobody is suspected yet: {:?}", rig.did);
}

/// Otherwise the others, of which it knows nothing, would lead until they had been suspected a thousand times.
#[test]
fn who_comes_back_alone_soon_leads() {
    let mut rig = Rig::<Adft>::new(3, 3, Variant::Repaired, 1_000);
    rig.advance(PATIENCE);
    assert_eq!(counts(&rig.election), [1_000, 1_000, 1_001]);
    let mut healthy = Rig::<Adft>::repaired(2, 3);
    healthy.message(1, in_incarnation(1, [0, 4, 4]));
    healthy.message(3, rig.sent()[1].1.clone());
    assert_eq!(healthy.leader(), Some(1), "who knows better does not believe the guess");
    rig.election.setup.t = 2;
    rig.advance(PATIENCE * 3);
    assert_eq!(rig.leader(), Some(3));
}

/// A paused node is suspected once a period by everybody. Left alone it leads when it has found each of the others silent once.
#[test]
fn who_was_suspected_often_need_not_suspect_the_dead_as_often() {
    let mut rig = Rig::<Adft>::new(3, 3, Variant::Repaired, 0);
    rig.election.setup.t = 2;
    rig.message(1, in_incarnation(1, [0, 0, 0]));
    for _ in 0..40 {
        rig.message(1, Msg::Suspect(id(3)));
    }
    assert_eq!(counts(&rig.election), [0, 0, 41]);
    rig.input(Input::Gone(id(1)));
    assert_eq!((counts(&rig.election), rig.leader()), ([42, 0, 41], Some(2)));
    rig.input(Input::Gone(id(2)));
    assert_eq!((counts(&rig.election), rig.leader()), ([42, 42, 41], Some(3)));
}

/// n - t = 2 of them. The word of another, which may be in trouble itself, counts once and no more.
#[test]
fn who_is_suspected_goes_behind_this_node_if_that_suspects_it_too() {
    let mut rig = Rig::<Adft>::repaired(2, 3);
    rig.message(3, in_incarnation(1, [0, 0, 9]));
    rig.message(3, Msg::Suspect(id(1)));
    assert_eq!(counts(&rig.election), [0, 1, 9], "one is not enough");
    rig.input(Input::Gone(id(1)));
    assert_eq!((counts(&rig.election), rig.leader()), ([2, 1, 9], Some(2)));

    let mut rig = Rig::<Adft>::repaired(2, 3);
    rig.election.setup.t = 2;
    rig.message(3, in_incarnation(1, [0, 0, 9]));
    rig.message(3, Msg::Suspect(id(2)));
    rig.message(3, Msg::Suspect(id(1)));
    assert_eq!(counts(&rig.election), [1, 2, 9]);
}

#[test]
fn evidence_of_a_crash_is_a_suspicion() {
    let mut rig = Rig::<Adft>::repaired(2, 3);
    rig.input(Input::Gone(id(1)));
    assert_eq!(rig.sent(), [(1, Msg::Suspect(id(1))), (3, Msg::Suspect(id(1)))]);
    assert_eq!(rig.election.timer[0], rig.now + PATIENCE);
}

#[test]
fn each_invariant_can_be_broken_and_is_then_named() {
    let mut rig = Rig::<Adft>::repaired(2, 3);
    rig.message(1, alive([1; 3]));
    let broken = |harm: &dyn Fn(&mut Adft)| {
        let mut election = rig.election.clone();
        harm(&mut election);
        election.breach(&rig.election)
    };
    assert_eq!(broken(&|_| {}), None);
    assert_eq!(broken(&|adft| adft.count.set(0, Incarnation(0), 0)), Some("counts do not shrink"));
    let set = BTreeSet::from([1, 2]);
    assert_eq!(
        broken(&|adft| adft.suspect[0] = set.clone()),
        Some("n - t suspicions are counted, and forgotten")
    );
    assert_eq!(broken(&|adft| adft.timeout[0] = Patience::new(STEP)), Some("timeouts do not shrink"));
}

#[test]
fn it_says_why_it_gives_its_leader_up() {
    let leader_1 = || {
        let mut rig = Rig::<Adft>::new(2, 3, Variant::Repaired, 0);
        rig.message(1, in_incarnation(1, [0, 1, 0]));
        assert_eq!(rig.leader(), Some(1));
        rig
    };
    let mut rig = leader_1();
    rig.message(3, Msg::Suspect(id(1)));
    rig.input(Input::Gone(id(1)));
    assert_eq!(rig.why, Some(Cause::Gone(id(1))), "with that there are enough suspicions");
    let mut rig = leader_1();
    rig.input(Input::Gone(id(1)));
    rig.message(3, Msg::Suspect(id(1)));
    assert_eq!(rig.why, Some(Cause::Silent(id(1))), "to 3");
    let mut rig = leader_1();
    rig.message(3, in_incarnation(1, [5, 1, 1]));
    assert_eq!(rig.why, Some(Cause::Silent(id(1))), "to others, who told 3");
    let mut rig = leader_1();
    rig.message(1, in_incarnation(2, [5, 1, 1]));
    assert_eq!(rig.why, Some(Cause::Gone(id(1))), "its count is of another incarnation");
    let counts = [(2, 5), (2, 1), (3, 0)]
        .map(|(incarnation, count)| SuspicionCount { incarnation: Incarnation(incarnation), count });
    rig.message(3, Msg::Alive(SuspicionCounts::of(counts)));
    assert_eq!((rig.leader(), rig.why), (Some(3), Some(Cause::Outranked(id(2)))));
}
