//! SLE1 and ALE1.

use bellwether_proto::promise::Property::{Ale1, Sle1};

use super::{Holds, Trace, Vacuous, Violated};

#[test]
fn one_name_is_agreement() {
    let trace = Trace::led(3).at(5).crash(1).electing(2).at(9).electing(3).normal(2, 2, 2).normal(3, 2, 2);
    assert_eq!((trace.found(Sle1, 10), trace.found(Ale1, 10)), (Holds, Holds));
}

#[test]
fn two_names_are_not() {
    let trace = Trace::led(3).at(7).normal(3, 2, 1).at(8).normal(3, 1, 1);
    assert_eq!((trace.found(Sle1, 10), trace.found(Ale1, 10)), (Violated(7), Violated(7)));
}

#[test]
fn nobody_normal_is_nothing_to_judge() {
    let trace = Trace::started(3).electing(1).electing(2);
    assert_eq!((trace.found(Sle1, 10), trace.found(Ale1, 10)), (Vacuous, Vacuous));
}

#[test]
fn two_names_in_two_groups_break_sle1_only() {
    let trace = Trace::led(3).at(7).normal(3, 3, 2);
    assert_eq!((trace.found(Sle1, 10), trace.found(Ale1, 10)), (Violated(7), Holds));
}

#[test]
fn the_crashed_and_the_undecided_name_nobody() {
    let trace = Trace::led(3).at(5).crash(1).electing(2).electing(3).at(6).normal(3, 3, 1).recover(1);
    assert_eq!((trace.found(Sle1, 10), trace.found(Ale1, 10)), (Holds, Holds));
}

#[test]
fn a_name_counts_until_its_last_holder_gives_it_up() {
    let trace = Trace::led(3).at(5).crash(1).at(6).electing(2).normal(2, 2, 1);
    assert_eq!(trace.found(Sle1, 10), Violated(6), "3 still follows 1");
}

#[test]
fn a_dispute_names_both_sides() {
    let trace = Trace::led(3).at(7).normal(3, 2, 1);
    let what = |property| trace.violation(property, 10).flatten().map(|violation| violation.what);
    assert_eq!(what(Sle1).as_deref(), Some("1 and 3 are both normal, but 1 follows 1 and 3 follows 2"));
    assert_eq!(
        what(Ale1).as_deref(),
        Some("1 and 3 are both normal in group 1.1.1, but 1 follows 1 and 3 follows 2")
    );
}
