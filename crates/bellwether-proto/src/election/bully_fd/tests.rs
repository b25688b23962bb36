//! The rules of Fig. 1, one by one, each guard true and false.

use super::*;
use crate::election::Variant;
use crate::election::stoller::Membership::{Member, Stranger};
use crate::election::stoller::Msg::{Ack, Halt, Ldr, NormQ, NotNorm, Rej};
use crate::election::stoller::rig::{self, TAU, id, old_incarnation, send, t};
use crate::opinion::Status;
use crate::time::Span;
use Action::{Start, StopAll};

type Rig = rig::Rig<BullyFd>;

#[test]
fn recovery_of_the_strongest_goes_straight_to_stage_2() {
    let mut one = Rig::up(1, 3);
    assert_eq!(one.did, [Start(id(2)), send(2, Halt(t(1, 1)))]);
    assert_eq!(one.status(), Status::Election);
    one.message(2, Ack(t(1, 1)));
    assert_eq!(one.did, [Start(id(3)), send(3, Halt(t(1, 1)))], "one after the other");
    one.message(3, Ack(t(1, 1)));
    assert_eq!(one.did, [StopAll, send(2, Ldr(t(1, 1))), send(3, Ldr(t(1, 1)))]);
    assert_eq!(one.leader(), Some(1));
}

#[test]
fn recovery_of_another_first_asks_after_the_stronger() {
    let mut three = Rig::up(3, 4);
    assert_eq!(three.did, [Start(id(1)), Start(id(2))]);
    three.down(2);
    assert_eq!(three.did, []);
    three.down(2);
    assert_eq!(three.did, [], "twice the same is not both");
    three.down(1);
    assert_eq!(three.did, [Start(id(4)), send(4, Halt(t(3, 1)))], "down covers all that are stronger");
    three.down(4);
    assert_eq!(three.did, [StopAll], "nobody acknowledged: nobody to tell");
    assert_eq!(three.leader(), Some(3));
}

#[test]
fn the_weakest_leads_when_all_others_are_down() {
    let mut two = Rig::up(2, 2);
    two.down(1);
    assert_eq!((two.did.as_slice(), two.leader()), ([StopAll].as_slice(), Some(2)));
}

#[test]
fn a_halt_is_always_obeyed() {
    for prepare in [Rig::elec1, Rig::elec2, Rig::waiting, Rig::following, Rig::leading] {
        let mut two = prepare();
        two.message(1, Halt(t(1, 9)));
        assert_eq!(two.did, [Start(id(1)), send(1, Ack(t(1, 9)))]);
        assert_eq!(two.status(), Status::Waiting);
        assert_eq!(two.election.deadline(), Time::NEVER, "no leader, no Norm?");
    }
}

#[test]
fn a_halt_takes_its_sender_out_of_down() {
    let mut three = Rig::up(3, 3);
    three.down(1);
    three.message(1, Halt(t(1, 9)));
    three.message(2, Halt(t(2, 9)));
    three.down(2);
    assert_eq!(three.did, [Start(id(1)), Start(id(2))], "its halter is down: stage 1");
    three.down(2);
    assert_eq!(three.did, []);
    three.down(1);
    assert_eq!(three.leader(), Some(3));
}

#[test]
fn down_sig_of_the_leader_or_the_halter_starts_an_election_and_of_another_does_not() {
    for prepare in [Rig::waiting, Rig::following] {
        let mut two = prepare();
        two.down(3);
        assert_eq!(two.did, []);
        two.down(1);
        assert_eq!(two.did, [Start(id(1))]);
        assert_eq!(two.status(), Status::Election);
    }
    let mut three = Rig::up(3, 3);
    three.message(2, Halt(t(2, 1)));
    three.down(1);
    assert_eq!((three.did.as_slice(), three.status()), ([].as_slice(), Status::Waiting));
}

#[test]
fn down_sig_of_the_node_whose_ack_is_pending_goes_on_and_of_another_does_not() {
    let mut one = Rig::up(1, 3);
    one.down(3);
    assert_eq!(one.did, []);
    one.down(2);
    assert_eq!(one.did, [Start(id(3)), send(3, Halt(t(1, 1)))]);
    one.down(2);
    assert_eq!(one.did, []);
    one.message(3, Ack(t(1, 1)));
    assert_eq!(one.did, [StopAll, send(3, Ldr(t(1, 1)))], "only those who acknowledged are told");
}

/// C25.
#[test]
fn an_ack_counts_only_from_the_pending_node_for_the_present_election_in_stage_2() {
    let mut one = Rig::up(1, 3);
    for (from, t) in [(2, t(1, 2)), (2, t(2, 1)), (3, t(1, 1)), (2, old_incarnation(1))] {
        one.message(from, Ack(t));
        assert_eq!(one.did, []);
    }
    for prepare in [Rig::elec1, Rig::waiting, Rig::following, Rig::leading] {
        let mut two = prepare();
        two.message(3, Ack(t(2, 1)));
        assert_eq!(two.did, []);
    }
}

/// C25.
#[test]
fn ldr_counts_only_while_waiting_for_that_election() {
    let mut two = Rig::waiting();
    for t in [t(1, 2), t(2, 1), old_incarnation(1)] {
        two.message(1, Ldr(t));
        assert_eq!((two.did.as_slice(), two.leader()), ([].as_slice(), None));
    }
    two.message(1, Ldr(t(1, 1)));
    assert_eq!(two.did, [StopAll, Start(id(1))]);
    assert_eq!(two.leader(), Some(1), "E-ST2");
    for prepare in [Rig::elec1, Rig::elec2, Rig::following, Rig::leading] {
        let mut two = prepare();
        let before = two.election.opinion();
        two.message(1, Ldr(t(1, 1)));
        assert_eq!((two.did.as_slice(), two.election.opinion()), ([].as_slice(), before));
    }
}

#[test]
fn a_leader_asks_norm_every_tau_and_nobody_else_does() {
    let mut two = Rig::leading();
    two.deadline(TAU / 2);
    assert_eq!(two.did, [], "early");
    for question in 1..=3 {
        two.now = two.election.deadline();
        two.deadline(Span::ZERO);
        assert_eq!(two.did, [send(3, NormQ(t(2, 1), question, Member))], "only the weaker are asked");
        two.deadline(Span::ZERO);
        assert_eq!(two.did, [], "repeated");
    }
    for prepare in [Rig::elec1, Rig::elec2, Rig::waiting, Rig::following] {
        let mut two = prepare();
        two.deadline(TAU * 10);
        assert_eq!(two.did, []);
    }
}

#[test]
fn norm_is_answered_unless_normal() {
    for prepare in [Rig::elec1, Rig::elec2, Rig::waiting] {
        let mut two = prepare();
        two.message(1, NormQ(t(1, 4), 1, Stranger));
        assert_eq!(two.did, [send(1, NotNorm(t(1, 4), 1))], "with the asker's election");
    }
    for prepare in [Rig::following, Rig::leading] {
        let mut two = prepare();
        two.message(1, NormQ(t(1, 4), 1, Stranger));
        assert_eq!(two.did, []);
    }
}

#[test]
fn not_norm_moves_only_the_leader_of_that_very_election() {
    let mut two = Rig::leading();
    two.message(3, NotNorm(t(2, 7), 0));
    assert_eq!(two.did, []);
    two.message(3, NotNorm(t(2, 1), 0));
    assert_eq!((two.did.as_slice(), two.status()), ([Start(id(1))].as_slice(), Status::Election));
    for prepare in [Rig::elec1, Rig::elec2, Rig::waiting, Rig::following] {
        let mut two = prepare();
        let t = two.election.organiser.elid;
        two.message(3, NotNorm(t, 0));
        assert_eq!(two.did, []);
    }
}

#[test]
fn rej_is_not_in_this_figure() {
    let mut two = Rig::elec2();
    two.message(3, Rej(t(2, 1)));
    assert_eq!(two.did, []);
}

#[test]
fn elections_of_one_incarnation_are_numbered() {
    let mut two = Rig::following();
    two.down(1);
    assert_eq!(two.election.organiser.elid, t(2, 2));
}

/// E-ST10.
#[test]
fn the_printed_leader_goes_on_watching() {
    let mut one = Rig::new(1, 2, Priority::LowestId, Variant::Printed);
    one.input(Input::Recovery);
    one.message(2, Ack(t(1, 1)));
    assert_eq!(one.did, [send(2, Ldr(t(1, 1)))]);
}

#[test]
fn the_policy_and_not_the_id_decides_who_is_stronger() {
    let mut three = Rig::new(3, 3, Priority::HighestId, Variant::Repaired);
    three.input(Input::Recovery);
    assert_eq!(three.did, [Start(id(2)), send(2, Halt(t(3, 1)))]);
    let mut two = Rig::new(2, 3, Priority::HighestId, Variant::Repaired);
    two.input(Input::Recovery);
    assert_eq!(two.did, [Start(id(3))]);
    two.down(1);
    assert_eq!(two.did, []);
    two.down(3);
    assert_eq!(two.did, [Start(id(1)), send(1, Halt(t(2, 1)))]);
}

#[test]
fn a_cluster_of_one_leads_itself() {
    assert_eq!(Rig::up(1, 1).leader(), Some(1));
}

/// Node 2 of 3 in each of its stages.
impl Rig {
    fn elec1() -> Self {
        Self::up(2, 3)
    }

    fn elec2() -> Self {
        let mut rig = Self::elec1();
        rig.down(1);
        rig
    }

    fn leading() -> Self {
        let mut rig = Self::elec2();
        rig.message(3, Ack(t(2, 1)));
        rig
    }

    fn waiting() -> Self {
        let mut rig = Self::elec1();
        rig.message(1, Halt(t(1, 1)));
        rig
    }

    fn following() -> Self {
        let mut rig = Self::waiting();
        rig.message(1, Ldr(t(1, 1)));
        rig
    }
}

/// Halt, Ldr and Norm? name the election of whoever sends them.
#[test]
fn nobody_speaks_for_another_organiser() {
    let mut two = Rig::up(2, 4);
    let before = two.election.opinion();
    for forged in [Halt(t(3, 9)), Ldr(t(3, 9)), NormQ(t(3, 9), 1, Member)] {
        two.message(1, forged);
        assert_eq!(two.did, [], "{forged:?}");
        assert_eq!(two.election.opinion(), before, "{forged:?}");
    }
}

#[test]
fn it_says_why_it_gives_its_leader_up() {
    let mut rig = Rig::following();
    rig.down(1);
    assert_eq!(rig.why, Some(Cause::Silent(id(1))));
    let mut rig = Rig::leading();
    rig.message(1, Halt(t(1, 1)));
    assert_eq!(rig.why, Some(Cause::Outranked(id(2))));
    let mut rig = Rig::following();
    rig.message(1, Halt(t(1, 2)));
    assert_eq!(rig.why, Some(Cause::Merged), "it takes somebody in");
    let mut rig = Rig::leading();
    rig.message(3, NotNorm(t(2, 1), 0));
    assert_eq!(rig.why, Some(Cause::Merged));
    let mut rig = Rig::up(3, 3);
    rig.message(1, Halt(t(1, 1)));
    rig.message(1, Ldr(t(1, 1)));
    rig.message(2, Halt(t(2, 1)));
    assert_eq!(rig.why, Some(Cause::Silent(id(1))), "to 2");
}
