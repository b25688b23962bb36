//! The rules of Fig. 3, one by one, each guard true and false, and what each repair changes.

use alloc::vec::Vec;

use super::*;
use crate::election::Variant::{Printed, Repaired};
use crate::election::stoller::Membership::{Member, Stranger};
use crate::election::stoller::Msg::{Ack, Halt, Ldr, NormQ, NotNorm, Rej};
use crate::election::stoller::rig::{self, DELTA, TAU, id, old_incarnation, send, t};
use crate::election::{Choices, Protocol, Timing, Variant};
use crate::ident::Incarnation;
use crate::opinion::Status;
use crate::roster::Roster;
use crate::time::Span;
use Action::{PlayAlive, PlayDead, Start, StopAll};

type Rig = rig::Rig<AsyncBully>;

const STAGES: [fn(Variant) -> Rig; 4] = [Rig::elec2, Rig::waiting, Rig::following, Rig::leading];

#[test]
fn recovery_organises_at_once() {
    let mut two = Rig::up(2, 4);
    assert_eq!(two.did, [PlayAlive, Start(id(3)), send(3, Halt(t(2, 1)))]);
    assert_eq!(two.status(), Status::Election);
    two.message(3, Ack(t(2, 1)));
    assert_eq!(two.did, [Start(id(4)), send(4, Halt(t(2, 1)))]);
    two.message(4, Rej(t(2, 1)));
    assert_eq!(two.did, [StopAll, send(3, Ldr(t(2, 1)))], "only those who acknowledged are told");
    assert_eq!(two.leader(), Some(2));
}

#[test]
fn the_weakest_leads_at_once() {
    assert_eq!(Rig::up(3, 3).leader(), Some(3));
    assert_eq!(Rig::up(1, 1).leader(), Some(1));
}

#[test]
fn a_halt_from_one_stronger_is_obeyed_in_every_stage() {
    for variant in Variant::ALL {
        for prepare in STAGES {
            let mut two = prepare(variant);
            two.message(1, Halt(t(1, 9)));
            assert_eq!(two.did, [PlayDead, Start(id(1)), send(1, Ack(t(1, 9)))], "{variant:?}");
            assert_eq!(two.status(), Status::Waiting);
            assert_eq!(two.election.deadline(), Time::NEVER, "neither Norm? nor Halt is due");
        }
    }
}

#[test]
fn a_halt_from_one_weaker_than_the_leader_is_rejected() {
    let mut three = Rig::up(3, 3);
    three.message(1, Halt(t(1, 1)));
    for stage in [Status::Waiting, Status::Normal] {
        let before = three.election.opinion();
        assert_eq!(before.status, stage);
        three.message(2, Halt(t(2, 1)));
        assert_eq!(three.did, [send(2, Rej(t(2, 1)))]);
        assert_eq!(three.election.opinion(), before);
        three.message(1, Ldr(t(1, 1)));
    }
    let mut leader = Rig::leading(Repaired);
    leader.message(3, Halt(t(3, 1)));
    assert_eq!(leader.did, [send(3, Rej(t(3, 1)))], "it leads itself, and is stronger");
}

/// C33.
#[test]
fn a_follower_changes_over_to_a_stronger_leader() {
    let mut three = Rig::up(3, 3);
    three.message(2, Halt(t(2, 1)));
    three.message(2, Ldr(t(2, 1)));
    three.message(1, Halt(t(1, 1)));
    assert_eq!(three.did, [PlayDead, Start(id(1)), send(1, Ack(t(1, 1)))]);
}

#[test]
fn r5_a_halt_already_obeyed_is_only_acknowledged_again() {
    for prepare in [Rig::waiting, Rig::following] {
        let mut two = prepare(Repaired);
        let before = two.election.opinion();
        two.message(1, Halt(t(1, 1)));
        assert_eq!(two.did, [send(1, Ack(t(1, 1)))]);
        assert_eq!(two.election.opinion(), before);
        let mut two = prepare(Printed);
        two.message(1, Halt(t(1, 1)));
        assert_eq!(two.did, [PlayDead, Start(id(1)), send(1, Ack(t(1, 1)))]);
        assert_eq!(two.status(), Status::Waiting, "printed: back to waiting");
    }
}

#[test]
fn down_sig_of_the_leader_or_the_halter_starts_an_election_and_of_another_does_not() {
    for variant in Variant::ALL {
        for prepare in [Rig::waiting, Rig::following] {
            let mut two = prepare(variant);
            two.down(3);
            assert_eq!(two.did, [], "C34");
            two.down(1);
            assert_eq!(two.did, [PlayAlive, Start(id(3)), send(3, Halt(t(2, 2)))]);
        }
        let mut two = Rig::leading(variant);
        two.down(1);
        two.down(3);
        assert_eq!((two.did.as_slice(), two.leader()), ([].as_slice(), Some(2)), "C34");
    }
}

#[test]
fn down_sig_of_the_pending_node_goes_on_and_of_another_does_not() {
    let mut one = Rig::up(1, 3);
    one.down(3);
    assert_eq!(one.did, []);
    one.down(2);
    assert_eq!(one.did, [Start(id(3)), send(3, Halt(t(1, 1)))]);
}

/// C25.
#[test]
fn an_ack_counts_only_from_the_pending_node_for_the_present_election_in_stage_2() {
    let mut one = Rig::up(1, 3);
    for (from, t) in [(2, t(1, 2)), (2, t(2, 1)), (3, t(1, 1)), (2, old_incarnation(1))] {
        one.message(from, Ack(t));
        assert_eq!(one.did, []);
    }
    for prepare in [Rig::waiting, Rig::following, Rig::leading] {
        let mut two = prepare(Repaired);
        two.message(3, Ack(t(2, 1)));
        assert_eq!(two.did, []);
    }
}

/// R4, E-ST7.
#[test]
fn r4_rej_counts_only_for_the_election_it_names() {
    for (variant, goes_on) in [(Repaired, false), (Printed, true)] {
        let mut two = Rig::elec2(variant);
        two.message(1, Rej(t(2, 1)));
        assert_eq!(two.did, [], "not the pending node");
        two.message(3, Rej(t(2, 7)));
        assert_eq!(two.leader().is_some(), goes_on, "{variant:?}");
    }
    for prepare in [Rig::waiting, Rig::following, Rig::leading] {
        let mut two = prepare(Repaired);
        two.message(3, Rej(t(2, 1)));
        assert_eq!(two.did, []);
    }
}

/// C25, C28.
#[test]
fn ldr_counts_only_while_waiting_for_that_election() {
    let mut two = Rig::waiting(Repaired);
    for t in [t(1, 2), t(2, 1), old_incarnation(1)] {
        two.message(1, Ldr(t));
        assert_eq!((two.did.as_slice(), two.leader()), ([].as_slice(), None));
    }
    two.message(1, Ldr(t(1, 1)));
    assert_eq!(two.did, [StopAll, Start(id(1))]);
    assert_eq!(two.leader(), Some(1), "E-ST2");
    for prepare in [Rig::elec2, Rig::following, Rig::leading] {
        let mut two = prepare(Repaired);
        let before = two.election.opinion();
        two.message(1, Ldr(t(1, 1)));
        assert_eq!((two.did.as_slice(), two.election.opinion()), ([].as_slice(), before));
    }
}

#[test]
fn a_leader_asks_norm_every_tau_and_nobody_else_does() {
    let mut two = Rig::leading(Repaired);
    two.deadline(TAU / 2);
    assert_eq!(two.did, []);
    for question in 1..=3 {
        two.now = two.election.deadline();
        two.deadline(Span::ZERO);
        assert_eq!(two.did, [send(3, NormQ(t(2, 1), question, Member))]);
        two.deadline(Span::ZERO);
        assert_eq!(two.did, []);
    }
    for prepare in [Rig::waiting, Rig::following] {
        let mut two = prepare(Repaired);
        two.deadline(TAU * 10);
        assert_eq!(two.did, []);
    }
}

#[test]
fn norm_is_answered_when_the_asker_would_be_a_stronger_leader() {
    for variant in Variant::ALL {
        for prepare in [Rig::elec2, Rig::leading] {
            let mut two = prepare(variant);
            two.message(1, NormQ(t(1, 4), 1, Stranger));
            assert_eq!(two.did, [send(1, NotNorm(t(1, 4), 1))]);
            two.message(3, NormQ(t(3, 4), 1, Stranger));
            assert_eq!(two.did, [], "one weaker");
        }
        let mut three = Rig::new(3, 3, Priority::LowestId, variant);
        three.input(Input::Recovery);
        three.message(2, Halt(t(2, 1)));
        for _ in 0..2 {
            three.message(1, NormQ(t(1, 4), 1, Stranger));
            assert_eq!(three.did, [send(1, NotNorm(t(1, 4), 1))], "waiting for, then following, one weaker");
            three.message(2, Ldr(t(2, 1)));
        }
    }
}

/// E-ST6 (b).
#[test]
fn r2_a_node_that_waits_for_the_asker_says_so() {
    for (variant, answer) in [(Repaired, 1), (Printed, 0)] {
        let mut two = Rig::waiting(variant);
        two.message(1, NormQ(t(1, 1), 1, Stranger));
        assert_eq!(two.did.len(), answer, "{variant:?}");
    }
}

/// E-ST6 (c).
#[test]
fn r3_a_follower_in_an_older_group_of_the_asker_says_so() {
    for (variant, answer) in [(Repaired, 1), (Printed, 0)] {
        let mut two = Rig::following(variant);
        two.message(1, NormQ(t(1, 1), 1, Stranger));
        assert_eq!(two.did, [], "the same group");
        two.message(1, NormQ(t(1, 2), 1, Stranger));
        assert_eq!(two.did.len(), answer, "{variant:?}");
    }
}

#[test]
fn not_norm_moves_only_the_leader_of_that_very_election() {
    for variant in Variant::ALL {
        let mut two = Rig::leading(variant);
        two.message(3, NotNorm(t(2, 7), 0));
        assert_eq!(two.did, []);
        for prepare in [Rig::elec2, Rig::waiting, Rig::following] {
            let mut two = prepare(variant);
            let t = two.election.organiser.elid;
            two.message(3, NotNorm(t, 0));
            assert_eq!(two.did, []);
        }
    }
    let mut two = Rig::elec2(Repaired);
    two.down(3);
    two.message(3, NotNorm(t(2, 1), 0));
    assert_eq!(two.did, [PlayAlive, Start(id(3)), send(3, Halt(t(2, 2)))], "it never acknowledged");
}

#[test]
fn r7_norm_stands_for_a_lost_ldr_to_those_who_acknowledged() {
    for (variant, leader) in [(Repaired, Some(1)), (Printed, None)] {
        let mut two = Rig::waiting(variant);
        two.message(1, NormQ(t(1, 1), 1, Member));
        assert_eq!(two.leader(), leader, "{variant:?}");
    }
    let mut two = Rig::waiting(Repaired);
    two.message(1, NormQ(t(1, 1), 1, Stranger));
    assert_eq!((two.did.as_slice(), two.leader()), ([send(1, NotNorm(t(1, 1), 1))].as_slice(), None));
    two.message(1, NormQ(t(1, 2), 1, Member));
    assert_eq!(two.leader(), None, "of another election");
}

#[test]
fn a_leader_tells_members_from_strangers() {
    let mut one = Rig::up(1, 4);
    one.message(2, Ack(t(1, 1)));
    one.down(3);
    one.message(4, Ack(t(1, 1)));
    one.now = one.election.deadline();
    one.deadline(Span::ZERO);
    let asked = [(2, Member), (3, Stranger), (4, Member)].map(|(to, m)| send(to, NormQ(t(1, 1), 1, m)));
    assert_eq!(one.did, asked);
}

/// A link that takes longer than a stable network would otherwise cost an election for every answer that comes over it.
#[test]
fn r8_an_answer_that_took_too_long_is_ignored() {
    for (variant, late) in [(Repaired, Status::Normal), (Printed, Status::Election)] {
        for (asked, answers, status) in [
            (1, 1, Status::Election),
            (2, 1, Status::Election),
            (3, 1, late),
            (3, 2, Status::Election),
            (1, 2, late),
        ] {
            let mut two = Rig::elec2(variant);
            two.down(3);
            for _ in 0..asked {
                two.now = two.election.deadline();
                two.deadline(Span::ZERO);
            }
            two.message(3, NotNorm(t(2, 1), answers));
            assert_eq!(two.status(), status, "{variant:?}: an answer to question {answers} of {asked}");
        }
    }
}

/// Questions that follow each other more quickly than a round trip share a number: none of their answers is late.
#[test]
fn r8_leaves_every_answer_a_round_trip() {
    let timing = Timing { delta: TAU, tau: TAU, step: TAU };
    let roster = Roster::new(id(1), [id(1), id(2)], Priority::LowestId);
    let (protocol, incarnation) = (Protocol::AsyncBully, Incarnation(2));
    let setup = Setup {
        protocol,
        variant: Repaired,
        roster,
        incarnation,
        count: 0,
        t: 0,
        timing,
        choices: Choices::default(),
    };
    let mut one =
        rig::Rig { election: AsyncBully::new(setup, TAU), now: Time::ZERO, did: Vec::new(), why: None };
    one.input(Input::Recovery);
    one.down(2);
    let numbers = [(); 5].map(|()| {
        one.now = one.election.deadline();
        one.deadline(Span::ZERO);
        one.election.organiser.question
    });
    assert_eq!(numbers, [1, 1, 2, 2, 3]);
}

/// E-ST10.
#[test]
fn r6_a_leader_watches_nobody() {
    for (variant, stops) in [(Repaired, true), (Printed, false)] {
        assert_eq!(Rig::leading(variant).did.contains(&StopAll), stops, "{variant:?}");
    }
}

/// E-ST6 (a).
#[test]
fn r1_halt_is_sent_again_every_round_trip_until_answered() {
    let mut one = Rig::up(1, 3);
    one.deadline(DELTA);
    assert_eq!(one.did, [], "early");
    one.deadline(DELTA);
    assert_eq!(one.did, [send(2, Halt(t(1, 1)))]);
    one.deadline(Span::ZERO);
    assert_eq!(one.did, [], "repeated");
    one.deadline(DELTA * 5);
    assert_eq!(one.did, [send(2, Halt(t(1, 1)))], "late: once, not five times");
    one.deadline(DELTA);
    one.message(2, Ack(t(1, 1)));
    one.deadline(DELTA);
    assert_eq!(one.did, [], "the next node has a round trip of its own");
    one.deadline(DELTA);
    assert_eq!(one.did, [send(3, Halt(t(1, 1)))]);
    one.message(2, Ack(t(1, 1)));
    assert_eq!(one.election.deadline(), one.now + DELTA * 2, "what changes nothing puts nothing off");
    one.message(3, Ack(t(1, 1)));
    assert_eq!(one.election.deadline(), one.now + TAU, "it leads: only Norm? is due");
}

#[test]
fn r1_ends_with_the_election_and_begins_with_the_next() {
    let mut two = Rig::elec2(Repaired);
    two.message(1, Halt(t(1, 1)));
    two.deadline(DELTA * 9);
    assert_eq!(two.did, []);
    two.down(1);
    assert_eq!(two.election.deadline(), two.now + DELTA * 2);
    let mut printed = Rig::elec2(Printed);
    assert_eq!(printed.election.deadline(), Time::NEVER);
    printed.deadline(DELTA * 9);
    assert_eq!(printed.did, []);
}

#[test]
fn r9_the_end_of_a_connection_is_as_good_as_a_report() {
    for (variant, counts) in [(Repaired, true), (Printed, false)] {
        for prepare in [Rig::waiting, Rig::following] {
            let mut two = prepare(variant);
            two.input(Input::Gone(id(3)));
            assert_eq!(two.did, [], "C34");
            two.input(Input::Gone(id(1)));
            let election = [PlayAlive, Start(id(3)), send(3, Halt(t(2, 2)))];
            assert_eq!(two.did, if counts { &election[..] } else { &[] }, "{variant:?}");
        }
        let mut two = Rig::elec2(variant);
        two.input(Input::Gone(id(3)));
        assert_eq!(two.leader().is_some(), counts, "{variant:?}: its answer was pending");
    }
}

#[test]
fn r9_a_halt_that_was_rejected_for_the_sake_of_one_that_is_gone_is_obeyed() {
    let rejecting = |prepare: fn(Variant) -> Rig| {
        let mut three = prepare(Repaired);
        for organiser in [3, 2, 3] {
            three.message(organiser, Halt(t(organiser, 5)));
            assert_eq!(three.did, [send(organiser, Rej(t(organiser, 5)))]);
        }
        three
    };
    for prepare in [Rig::last_waiting, Rig::last_following] {
        let mut four = rejecting(prepare);
        four.input(Input::Gone(id(1)));
        assert_eq!(four.did, [PlayDead, Start(id(2)), send(2, Ack(t(2, 5)))], "that of the strongest");
        four.input(Input::Gone(id(2)));
        assert_eq!(four.leader(), Some(4), "once");

        let mut four = rejecting(prepare);
        four.message(1, Halt(t(1, 9)));
        four.input(Input::Gone(id(1)));
        assert_eq!(four.leader(), Some(4), "an election later, nothing is owed");
    }
    let mut four = rejecting(Rig::last_following);
    four.input(Input::Gone(id(1)));
    assert_eq!(four.why, Some(Cause::Gone(id(1))));
}

#[test]
fn r9_whoever_obeys_after_all_is_taken_in() {
    let organising = |variant| {
        let mut one = Rig::new(1, 4, Priority::LowestId, variant);
        one.input(Input::Recovery);
        one.message(2, Rej(t(1, 1)));
        one.message(3, Rej(t(1, 1)));
        one
    };
    let mut one = organising(Repaired);
    one.message(3, Ack(t(1, 1)));
    assert_eq!(one.did, [], "4 is asked meanwhile");
    one.message(4, Ack(t(1, 1)));
    assert_eq!(one.did, [StopAll, send(3, Ldr(t(1, 1))), send(4, Ldr(t(1, 1)))]);
    one.message(2, Ack(t(1, 1)));
    assert_eq!(one.did, [send(2, Ldr(t(1, 1)))]);
    one.message(2, Ack(t(1, 1)));
    one.message(2, Ack(t(1, 7)));
    assert_eq!(one.did, [], "once, and only of this election");
    one.now = one.election.deadline();
    one.deadline(Span::ZERO);
    assert_eq!(one.did, [2, 3, 4].map(|to| send(to, NormQ(t(1, 1), 1, Member))));

    let mut printed = organising(Printed);
    printed.message(3, Ack(t(1, 1)));
    printed.message(4, Ack(t(1, 1)));
    assert_eq!(printed.did, [send(4, Ldr(t(1, 1)))]);
}

#[test]
fn the_policy_and_not_the_id_decides_who_is_stronger() {
    let mut two = Rig::new(2, 3, Priority::HighestId, Repaired);
    two.input(Input::Recovery);
    assert_eq!(two.did, [PlayAlive, Start(id(1)), send(1, Halt(t(2, 1)))]);
    two.message(3, NormQ(t(3, 1), 1, Stranger));
    assert_eq!(two.did, [send(3, NotNorm(t(3, 1), 1))]);
    two.message(1, Ack(t(2, 1)));
    two.message(1, Halt(t(1, 1)));
    assert_eq!(two.did, [send(1, Rej(t(1, 1)))]);
    two.message(3, Halt(t(3, 1)));
    assert_eq!(two.did, [PlayDead, Start(id(3)), send(3, Ack(t(3, 1)))]);
}

/// The lemma of Appendix B, under any order of messages that honest nodes could send.
#[test]
fn a_normal_node_is_led_by_the_node_that_its_group_is_named_after() {
    for variant in Variant::ALL {
        for seed in 0..2_000_u64 {
            let mut random = crate::wire::tests::Random(seed);
            let mut two = Rig::elec2(variant);
            for _ in 0..40 {
                let from = [1, 3][random.below(2) as usize];
                let own = t(2, 1 + random.below(3));
                let theirs = t(from, 1 + random.below(3));
                match random.below(9) {
                    0 => two.message(from, Halt(theirs)),
                    1 => two.message(from, Ldr(theirs)),
                    2 => two.message(from, NormQ(theirs, 1, Stranger)),
                    3 => two.message(from, Ack(own)),
                    4 => two.message(from, Rej(own)),
                    5 => two.message(from, NotNorm(own, 0)),
                    6 => two.down(from),
                    7 => two.input(Input::Gone(id(from))),
                    _ => two.deadline(Span::millis(random.below(60))),
                }
                let opinion = two.election.opinion();
                if let Some(leader) = opinion.normal_leader() {
                    assert_eq!(opinion.group.map(|group| group.0.node), Some(leader), "seed {seed}");
                }
            }
        }
    }
}

/// Node 2 of 3 in each of its stages.
impl Rig {
    fn elec2(variant: Variant) -> Self {
        let mut rig = Self::new(2, 3, Priority::LowestId, variant);
        rig.input(Input::Recovery);
        rig
    }

    fn leading(variant: Variant) -> Self {
        let mut rig = Self::elec2(variant);
        rig.message(3, Ack(t(2, 1)));
        rig
    }

    fn waiting(variant: Variant) -> Self {
        let mut rig = Self::elec2(variant);
        rig.message(1, Halt(t(1, 1)));
        rig
    }

    fn following(variant: Variant) -> Self {
        let mut rig = Self::waiting(variant);
        rig.message(1, Ldr(t(1, 1)));
        rig
    }

    /// Node 4 of 4.
    fn last_waiting(variant: Variant) -> Self {
        let mut four = Self::new(4, 4, Priority::LowestId, variant);
        four.input(Input::Recovery);
        four.message(1, Halt(t(1, 1)));
        four
    }

    fn last_following(variant: Variant) -> Self {
        let mut four = Self::last_waiting(variant);
        four.message(1, Ldr(t(1, 1)));
        four
    }
}

/// Halt, Ldr and Norm? name the election of whoever sends them.
#[test]
fn nobody_speaks_for_another_organiser() {
    for prepare in STAGES {
        let mut two = prepare(Repaired);
        let before = two.election.opinion();
        for forged in [Halt(t(3, 9)), Ldr(t(3, 9)), NormQ(t(3, 9), 1, Member)] {
            two.message(1, forged);
            assert_eq!(two.did, [], "{forged:?}");
            assert_eq!(two.election.opinion(), before, "{forged:?}");
        }
    }
}

#[test]
fn it_says_why_it_gives_its_leader_up() {
    let mut rig = Rig::following(Repaired);
    rig.down(1);
    assert_eq!(rig.why, Some(Cause::Silent(id(1))));
    let mut rig = Rig::leading(Repaired);
    rig.message(1, Halt(t(1, 1)));
    assert_eq!(rig.why, Some(Cause::Outranked(id(2))));
    let mut rig = Rig::following(Repaired);
    rig.message(1, Halt(t(1, 2)));
    assert_eq!(rig.why, Some(Cause::Merged), "it takes somebody in");
    let mut rig = Rig::leading(Repaired);
    rig.message(3, NotNorm(t(2, 1), 0));
    assert_eq!(rig.why, Some(Cause::Merged));
}
