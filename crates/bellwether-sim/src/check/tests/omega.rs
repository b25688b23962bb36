//! OMEGA. Runs end at 100, so agreement must last from 75 on.

use bellwether_proto::promise::Property::Omega;

use super::{Found, Holds, Trace, Vacuous, Violated};

const END: u64 = 100;

fn found(trace: &Trace) -> Found {
    trace.found(Omega, END)
}

/// Node 1 crashes then, and node 2 leads the other two at once.
fn succeeded(at: u64) -> Trace {
    Trace::led(3).at(at).crash(1).normal(2, 2, 2).normal(3, 2, 2)
}

#[test]
fn one_leader_for_the_last_quarter_is_for_ever() {
    assert_eq!(found(&Trace::led(3)), Holds);
    assert_eq!(found(&succeeded(50)), Holds, "what was before does not matter");
    let disputed =
        Trace::led(3).at(20).normal(3, 2, 1).at(40).electing(2).at(60).normal(3, 1, 1).normal(2, 1, 1);
    assert_eq!(found(&disputed), Holds);
}

#[test]
fn the_last_quarter_begins_at_three_quarters_and_ends_with_the_run() {
    assert_eq!(found(&succeeded(75)), Holds);
    assert_eq!(found(&succeeded(76)), Violated(76));
    assert_eq!(found(&Trace::led(3).at(74).electing(3).at(75).normal(3, 1, 1)), Holds);
    assert_eq!(found(&Trace::led(3).at(74).electing(3).at(76).normal(3, 1, 1)), Violated(74));
    assert_eq!(found(&Trace::led(3).at(100).electing(3)), Violated(100));
}

#[test]
fn another_name_ends_agreement() {
    let trace = Trace::led(3).at(80).normal(3, 2, 1);
    assert_eq!(found(&trace), Violated(80));
    assert_eq!(found(&trace.at(90).normal(3, 1, 1)), Violated(80), "even if taken back");
}

#[test]
fn all_changing_to_another_leader_at_once_ends_agreement() {
    let trace = Trace::led(3).at(80).normal(1, 2, 2).normal(2, 2, 2).normal(3, 2, 2);
    assert_eq!(found(&trace), Violated(80));
}

#[test]
fn the_leader_s_crash_ends_agreement_and_a_follower_s_does_not() {
    assert_eq!(found(&Trace::led(3).at(80).crash(3)), Holds);
    assert_eq!(found(&Trace::led(3).at(80).crash(1)), Violated(80));
    let trace = Trace::led(1).at(80).crash(1).recover(1).normal(1, 1, 2);
    assert_eq!(found(&trace), Violated(80), "however soon it is back");
}

#[test]
fn a_node_that_names_nobody_ends_agreement() {
    let trace = Trace::led(3).at(20).crash(3).at(80).recover(3);
    assert_eq!(found(&trace), Violated(80));
    assert_eq!(found(&trace.normal(3, 1, 1)), Holds, "it learned of the leader at once");
    assert_eq!(found(&Trace::started(3)), Violated(0), "nobody ever did");
}

#[test]
fn what_passes_within_an_instant_does_no_harm() {
    assert_eq!(found(&Trace::led(3).at(80).electing(3).normal(3, 1, 1)), Holds);
}

#[test]
fn a_leader_that_is_down_or_does_not_exist_is_none() {
    assert_eq!(found(&Trace::started(2).normal(1, 9, 1).normal(2, 9, 1)), Violated(0));
    let trace = Trace::started(3).crash(3).normal(1, 3, 1).normal(2, 3, 1);
    assert_eq!(found(&trace), Violated(0));
}

#[test]
fn nobody_up_at_the_end_is_nothing_to_judge() {
    assert_eq!(found(&Trace::new(3)), Vacuous);
    assert_eq!(found(&Trace::led(2).at(80).crash(1).crash(2)), Vacuous);
}

#[test]
fn what_ended_agreement_is_told_and_what_came_of_it() {
    let what = |trace: Trace| trace.violation(Omega, END).flatten().expect("it is broken").what;
    assert_eq!(
        what(Trace::led(3).at(80).normal(3, 2, 1).at(90).normal(3, 1, 1)),
        "3 follows 2, where the others follow 1; agreement on 1 begins 10ms before the end; \
         agreement must last from 75ms on"
    );
    assert_eq!(
        what(Trace::led(3).at(80).crash(1).at(90).normal(3, 3, 1)),
        "1, whom all follow, crashes; at the end 3 follows 3 and 2 follows 1; \
         agreement must last from 75ms on"
    );
    assert_eq!(
        what(Trace::led(3).at(80).crash(1)),
        "1, whom all follow, crashes; at the end all follow 1, which is down; \
         agreement must last from 75ms on"
    );
    assert_eq!(
        what(Trace::started(3)),
        "there is no agreement yet; at the end nobody names a leader; agreement must last from 75ms on"
    );
}
