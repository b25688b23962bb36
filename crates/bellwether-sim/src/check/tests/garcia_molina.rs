//! A1 and A2.

use bellwether_proto::promise::Property::{A1, A2};
use bellwether_proto::time::Span;

use super::{Holds, Trace, Vacuous, Violated};
use crate::check::a2::c_gm;

/// For three nodes, from a settled state; twice this from others.
const C_GM: u64 = 34;

/// Three nodes that follow node 1 and work on task 7.
fn at_work() -> Trace {
    let started = (1..=3).fold(Trace::started(3), |trace, id| trace.reorganizing(id, 1, 1).installed(id, 7));
    (1..=3).fold(started, |trace, id| trace.normal(id, 1, 1))
}

#[test]
fn a1_holds_where_all_have_one_coordinator_and_one_task() {
    assert_eq!(at_work().found(A1, 10), Holds);
    assert_eq!(Trace::led(3).found(A1, 10), Holds, "without reorganization there is no task");
}

#[test]
fn a1_is_about_the_reorganizing_too() {
    assert_eq!(at_work().at(5).reorganizing(3, 2, 1).found(A1, 10), Violated(5));
    assert_eq!(
        at_work().at(5).reorganizing(3, 1, 1).installed(3, 8).found(A1, 10),
        Holds,
        "its task is not in place"
    );
    let what =
        at_work().at(5).reorganizing(3, 2, 1).violation(A1, 10).flatten().map(|violation| violation.what);
    let expected = "1 and 3 are both normal or reorganizing, but 1 follows 1 and 3 follows 2";
    assert_eq!(what.as_deref(), Some(expected));
}

#[test]
fn a1_notices_two_tasks() {
    let trace = at_work().at(5).reorganizing(3, 1, 1).installed(3, 8).at(6).normal(3, 1, 1);
    assert_eq!(trace.found(A1, 10), Violated(6));
    let what = trace.violation(A1, 10).flatten().map(|violation| violation.what);
    let expected = "1 and 3 are both normal, but 1 works on 0000000000000007 and 3 works on 0000000000000008";
    assert_eq!(what.as_deref(), Some(expected));
    assert_eq!(trace.at(7).crash(3).found(A1, 10), Violated(6));
    let halted =
        at_work().at(5).electing(1).electing(2).reorganizing(3, 1, 1).installed(3, 8).normal(3, 1, 1);
    assert_eq!(halted.found(A1, 10), Holds, "the others are not normal");
    let reborn = at_work().at(5).crash(3).recover(3).normal(3, 1, 1);
    assert_eq!(reborn.found(A1, 10), Violated(5), "the task did not survive");
}

#[test]
fn a1_has_nothing_to_judge_while_all_elect() {
    assert_eq!(Trace::started(3).electing(1).electing(2).found(A1, 10), Vacuous);
}

#[test]
fn the_constant_is_what_the_file_says() {
    assert_eq!(c_gm(&Trace::new(3).facts), Span::millis(C_GM), "10 + 3*2 + 2, and 4*2*2");
}

#[test]
fn a2_holds_up_to_its_bound_and_not_beyond() {
    let succession = |later| {
        let trace = Trace::led(3).at(100).crash(1).electing(2).electing(3);
        trace.at(100 + later).normal(2, 2, 2).normal(3, 2, 2)
    };
    assert_eq!(succession(C_GM).found(A2, 300), Holds);
    assert_eq!(succession(C_GM + 1).found(A2, 300), Violated(100 + C_GM));
    let start = |at| Trace::started(3).at(at).normal(1, 1, 1).normal(2, 1, 1).normal(3, 1, 1);
    assert_eq!(start(2 * C_GM).found(A2, 300), Holds);
    assert_eq!(start(2 * C_GM + 1).found(A2, 300), Violated(2 * C_GM));
    assert_eq!(Trace::started(3).found(A2, 2 * C_GM - 1), Vacuous);
}

#[test]
fn a2_wants_one_leader_for_all() {
    let two = Trace::led(3).at(100).normal(3, 3, 2);
    assert_eq!(two.found(A2, 300), Violated(100));
    assert_eq!(Trace::led(3).at(100).reorganizing(3, 1, 1).found(A2, 300), Violated(100));
    assert_eq!(Trace::led(3).at(100).crash(1).found(A2, 300), Violated(100 + C_GM), "it is down");
}
