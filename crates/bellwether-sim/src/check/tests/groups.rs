//! A3, A4, A4' and GROUP-ONCE.

use bellwether_proto::promise::Property::{A3, A4, A4Prime, Ale1, Ale2, GroupOnce};
use bellwether_proto::time::Span;

use super::{Holds, Trace, Vacuous, Violated};
use crate::check::while_stable::c_g;

/// For three nodes.
const C_G: u64 = 180;

#[test]
fn the_constant_is_the_documented_one() {
    assert_eq!(c_g(&Trace::new(3).facts), Span::millis(C_G));
}

#[test]
fn a3_asks_who_reorganizes_as_well() {
    let trace = Trace::started(3).normal(1, 1, 1).at(5).reorganizing(2, 3, 1);
    assert_eq!((trace.found(A3, 9), trace.found(Ale1, 9)), (Violated(5), Holds));
    let apart = Trace::started(3).normal(1, 1, 1).at(5).reorganizing(2, 3, 2);
    assert_eq!(apart.found(A3, 9), Holds, "in another group");
    assert_eq!(Trace::started(3).electing(1).found(A3, 9), Vacuous);
}

#[test]
fn a3_asks_the_normal_for_their_tasks() {
    let one = Trace::started(3).installed(1, 7).normal(1, 1, 1).at(5).installed(2, 8);
    assert_eq!(one.clone().reorganizing(2, 1, 1).found(A3, 9), Holds, "not yet normal");
    assert_eq!(one.clone().normal(2, 1, 1).found(A3, 9), Violated(5));
    assert_eq!(one.normal(2, 1, 2).found(A3, 9), Holds, "in another group");
    let later = Trace::led(2).at(5).installed(1, 7);
    assert_eq!(later.found(A3, 9), Violated(5), "2 is normal, and has none");
}

/// Three nodes on a path 1-2-3, led so from the start.
fn path(leaders: [u32; 3]) -> Trace {
    let trace = Trace::started(3).cut(1, 3);
    let groups = leaders.map(u64::from);
    [1, 2, 3]
        .into_iter()
        .zip(leaders.into_iter().zip(groups))
        .fold(trace, |trace, (node, (leader, group))| trace.normal(node, leader, group))
}

/// E-GM9: whatever 2 does, one of {1, 2} and {2, 3} is not one group.
#[test]
fn a4_cannot_be_had_where_cliques_overlap() {
    for leaders in [[1, 1, 3], [1, 3, 3], [2, 2, 2], [1, 2, 3]] {
        let trace = path(leaders);
        let fine = leaders == [2, 2, 2];
        assert_eq!(trace.found(A4, C_G) == Holds, fine, "{leaders:?}");
    }
    assert_eq!(path([1, 1, 3]).found(A4Prime, C_G), Holds);
    assert_eq!(path([1, 1, 3]).found(Ale2, C_G), Holds);
    assert_eq!(path([1, 2, 3]).found(A4Prime, C_G), Violated(C_G), "one more than cliques needed");
}

#[test]
fn a4_holds_of_whoever_can_speak_with_each_other() {
    assert_eq!(Trace::led(3).found(A4, C_G), Holds);
    assert_eq!(Trace::led(3).found(A4, C_G - 1), Vacuous);
    let split = Trace::started(3).cut(1, 3).cut(2, 3).normal(1, 1, 1).normal(2, 1, 1).normal(3, 3, 3);
    assert_eq!(split.found(A4, C_G), Holds);
    let elsewhere = Trace::started(3).cut(1, 3).cut(2, 3).normal(1, 3, 3).normal(2, 3, 3).normal(3, 3, 3);
    assert_eq!(elsewhere.found(A4, C_G), Violated(C_G), "their leader is not among them");
    let apart = Trace::started(2).normal(1, 1, 1).normal(2, 1, 1).at(150).normal(2, 2, 2);
    assert_eq!(apart.found(A4, 200), Violated(150));
}

#[test]
fn a4_prime_wants_a_leader_within_reach() {
    let through = path([1, 1, 1]);
    assert_eq!(through.found(A4Prime, C_G), Holds, "3 reaches 1 through 2");
    let lost = Trace::started(3).cut(1, 3).cut(2, 3).normal(1, 1, 1).normal(2, 1, 1).normal(3, 1, 1);
    assert_eq!((lost.found(A4Prime, C_G), lost.found(Ale2, C_G)), (Violated(C_G), Holds));
    let relay_down = path([1, 1, 1]).crash(2);
    assert_eq!(relay_down.found(A4Prime, C_G), Violated(C_G), "2 relays nothing any more");
}

#[test]
fn a_number_has_one_coordinator_for_ever() {
    let trace = Trace::led(3).at(3).electing(1).electing(2).electing(3);
    assert_eq!(trace.clone().at(5).normal(2, 2, 1).found(GroupOnce, 9), Violated(5));
    assert_eq!(trace.clone().at(5).normal(2, 2, 2).found(GroupOnce, 9), Holds);
    assert_eq!(trace.at(5).normal(2, 1, 1).found(GroupOnce, 9), Holds, "a member may come back");
    assert_eq!(Trace::started(3).electing(1).found(GroupOnce, 9), Vacuous);
}

#[test]
fn a_coordinator_does_not_come_back_to_a_number() {
    let again = |trace: Trace| trace.at(5).reorganizing(1, 1, 1).found(GroupOnce, 9);
    assert_eq!(again(Trace::led(3).at(3)), Holds, "it never left");
    assert_eq!(again(Trace::led(3).at(3).electing(1)), Violated(5));
    assert_eq!(again(Trace::led(3).at(3).crash(1).recover(1)), Violated(5));
    assert_eq!(again(Trace::led(3).at(3).normal(1, 2, 9)), Violated(5));
}

#[test]
fn a_number_has_one_task_for_ever() {
    let trace = Trace::started(3).installed(1, 7).normal(1, 1, 1).at(2).crash(1);
    assert_eq!(trace.clone().at(5).installed(2, 7).normal(2, 1, 1).found(GroupOnce, 9), Holds);
    assert_eq!(trace.clone().at(5).installed(2, 8).normal(2, 1, 1).found(GroupOnce, 9), Violated(5));
    assert_eq!(trace.at(5).installed(2, 8).reorganizing(2, 1, 1).found(GroupOnce, 9), Holds);
}
