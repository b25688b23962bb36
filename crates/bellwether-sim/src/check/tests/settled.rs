//! SETTLED: OMEGA of what was announced. Runs end at 100, so agreement must last from 75 on.

use bellwether_proto::promise::Property::{Omega, Settled};

use super::{Found, Holds, Trace, Vacuous, Violated};

const END: u64 = 100;

fn found(trace: &Trace) -> Found {
    trace.found(Settled, END)
}

/// All nodes came up at 0; all announced at once that node 1 leads.
fn settled(nodes: u32) -> Trace {
    (1..=nodes).fold(Trace::started(nodes as usize), |trace, id| trace.announces(id, 1, 1))
}

#[test]
fn one_announced_leader_for_the_last_quarter_is_for_ever() {
    assert_eq!(found(&settled(3)), Holds);
    let succession = |at| settled(3).at(at).crash(1).announces(2, 2, 2).announces(3, 2, 2);
    assert_eq!(found(&succession(75)), Holds);
    assert_eq!(found(&succession(76)), Violated(76));
}

#[test]
fn another_epoch_of_the_same_leader_is_no_other_leader() {
    let merged = settled(3).at(80).announces(1, 1, 2).announces(2, 1, 2).announces(3, 1, 2);
    assert_eq!(found(&merged), Holds);
}

#[test]
fn what_elections_name_is_another_matter() {
    assert_eq!(found(&settled(3).normal(1, 1, 1).normal(2, 2, 1).normal(3, 3, 1)), Holds);
    let named = Trace::led(3);
    assert_eq!((found(&named), named.found(Omega, END)), (Violated(0), Holds), "nothing was announced");
}

#[test]
fn who_announces_nobody_or_another_ends_agreement() {
    assert_eq!(found(&settled(3).at(80).announces_nobody(3, 1)), Violated(80));
    assert_eq!(
        found(&settled(3).at(80).announces_nobody(3, 1).announces(3, 1, 1)),
        Holds,
        "within an instant"
    );
    assert_eq!(found(&settled(3).at(80).announces(3, 3, 2).at(90).announces(3, 1, 1)), Violated(80));
}

#[test]
fn a_crash_of_the_leader_ends_agreement_and_one_of_a_follower_does_not() {
    assert_eq!(found(&settled(3).at(80).crash(1)), Violated(80));
    assert_eq!(found(&settled(3).at(80).crash(3)), Holds);
}

#[test]
fn who_comes_back_has_announced_nothing_yet() {
    let back = settled(3).at(20).crash(3).at(80).recover(3);
    assert_eq!(found(&back), Violated(80));
    let what = back.violation(Settled, END).flatten().expect("it is broken").what;
    assert_eq!(
        what,
        "3 names no leader, where the others follow 1; at the end 3 names no leader and 1 follows 1; \
         agreement must last from 75ms on"
    );
    assert_eq!(found(&settled(3).at(20).crash(3).at(60).recover(3).at(75).announces(3, 1, 1)), Holds);
}

#[test]
fn nobody_up_at_the_end_is_nothing_to_judge() {
    assert_eq!(found(&Trace::new(3)), Vacuous);
    assert_eq!(found(&settled(2).at(80).crash(1).crash(2)), Vacuous);
}
