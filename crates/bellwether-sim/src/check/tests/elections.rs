//! SLE2, ALE2' and ALE2.

use bellwether_proto::ident::NodeId;
use bellwether_proto::promise::Property::{Ale2, Ale2Prime, Sle2};
use bellwether_proto::time::Span;
use bellwether_proto::trace::{DropReason, What};

use super::{Holds, Trace, Vacuous, Violated};
use crate::check::sle2::c_s;
use crate::check::while_stable::c_a;

/// For three nodes, from a settled state; twice this from others.
const C_S: u64 = 19;
/// For three nodes.
const C_A: u64 = 90;

/// Three nodes settled under node 1, which crashes at 100; node 2 takes over after `later`.
fn succession(later: u64) -> Trace {
    Trace::led(3).at(100).crash(1).electing(2).electing(3).at(100 + later).normal(2, 2, 2).normal(3, 2, 2)
}

#[test]
fn the_constants_are_those_of_the_papers() {
    let facts = Trace::new(3).facts;
    assert_eq!(c_s(&facts), Span::millis(C_S));
    assert_eq!(c_a(&facts), Span::millis(C_A));
}

#[test]
fn sle2_holds_up_to_its_bound_and_not_beyond() {
    assert_eq!(succession(C_S).found(Sle2, 300), Holds);
    assert_eq!(succession(C_S + 1).found(Sle2, 300), Violated(100 + C_S));
    let never = Trace::led(3).at(100).crash(1).electing(2).electing(3);
    assert_eq!(never.found(Sle2, 100 + C_S), Violated(100 + C_S));
}

#[test]
fn sle2_allows_twice_the_bound_at_the_start_and_after_several_faults() {
    let late = |at| {
        let trace = Trace::started(3).at(at);
        trace.normal(1, 1, 1).normal(2, 1, 1).normal(3, 1, 1)
    };
    assert_eq!(late(2 * C_S).found(Sle2, 300), Holds);
    assert_eq!(late(2 * C_S + 1).found(Sle2, 300), Violated(2 * C_S));
    let two = |later| Trace::led(3).at(100).crash(1).crash(2).at(100 + later).normal(3, 3, 2);
    assert_eq!(two(2 * C_S).found(Sle2, 300), Holds);
    assert_eq!(two(2 * C_S + 1).found(Sle2, 300), Violated(100 + 2 * C_S));
    let unsettled = |later| {
        let trace = Trace::led(3).at(100).crash(2).at(110).crash(1);
        trace.at(110 + later).normal(3, 3, 2)
    };
    assert_eq!(unsettled(2 * C_S).found(Sle2, 300), Holds, "the interval before the second was too short");
}

#[test]
fn sle2_has_nothing_to_judge_in_a_short_interval() {
    let trace = Trace::started(3);
    assert_eq!(trace.found(Sle2, 2 * C_S - 1), Vacuous);
    assert_eq!(trace.found(Sle2, 2 * C_S), Violated(2 * C_S));
    assert_eq!(Trace::new(3).found(Sle2, 300), Vacuous, "nobody is up");
}

#[test]
fn a_fault_begins_the_interval_anew() {
    let trace = Trace::started(3).at(30).crash(3).at(60).recover(3).at(90).crash(3);
    assert_eq!(trace.found(Sle2, 100), Vacuous);
}

#[test]
fn an_interval_that_a_fault_ends_at_the_bound_has_no_instant_to_judge() {
    let trace = Trace::started(3).at(2 * C_S).crash(3);
    assert_eq!(trace.found(Sle2, 2 * C_S + 1), Vacuous);
    let trace = Trace::started(3).at(2 * C_S + 1).crash(3);
    assert_eq!(trace.found(Sle2, 2 * C_S + 2), Violated(2 * C_S));
}

#[test]
fn elected_once_is_not_enough() {
    let flicker = Trace::led(3).at(200).electing(2).at(201).normal(2, 1, 1);
    assert_eq!(flicker.found(Sle2, 300), Violated(200));
    assert_eq!(flicker.found(Ale2Prime, 300), Violated(200));
    assert_eq!(flicker.found(Ale2, 300), Violated(200));
}

#[test]
fn what_an_instant_passes_through_does_not_count() {
    let trace = Trace::led(3).at(200).electing(2).normal(2, 1, 1);
    assert_eq!(trace.found(Sle2, 300), Holds);
    assert_eq!(trace.found(Ale2Prime, 300), Holds);
}

#[test]
fn events_that_change_nothing_do_not_hide_a_failure() {
    let trace = Trace::started(3).at(2 * C_S).watch(1, 2).at(2 * C_S + 1).watch(1, 3);
    assert_eq!(trace.found(Sle2, 300), Violated(2 * C_S));
}

#[test]
fn the_leader_must_be_up() {
    let trace = Trace::led(3).at(100).crash(1);
    assert_eq!(trace.found(Sle2, 300), Violated(100 + C_S));
    assert_eq!(trace.found(Ale2Prime, 300), Violated(100 + C_A));
    let what = trace.violation(Sle2, 300).flatten().map(|violation| violation.what);
    assert_eq!(
        what.as_deref(),
        Some("node 2 follows 1, which is down: not settled within 19ms after the last crash or recovery")
    );
    // It was settled, and did not stay so.
    let trace = Trace::led(3).at(100).crash(3).at(150).normal(2, 3, 1);
    let what = trace.violation(Sle2, 300).flatten().map(|violation| violation.what);
    assert_eq!(
        what.as_deref(),
        Some(
            "node 2 follows 3, which is down, 50ms after the last crash or recovery: not settled from 19ms on"
        )
    );
}

#[test]
fn clocks_that_are_off_stretch_bounds_upwards() {
    // 19 ms at 2 · 30,000 ppm are 20.14 ms.
    assert_eq!(succession(20).drift_ppm(30_000).found(Sle2, 300), Holds);
    assert_eq!(succession(21).drift_ppm(30_000).found(Sle2, 300), Violated(120));
}

#[test]
fn ale2_prime_holds_up_to_its_bound_and_not_beyond() {
    let late = |at| {
        let trace = Trace::started(3).at(at);
        trace.normal(1, 1, 1).normal(2, 1, 1).normal(3, 1, 1)
    };
    assert_eq!(late(C_A).found(Ale2Prime, 300), Holds);
    assert_eq!(late(C_A + 1).found(Ale2Prime, 300), Violated(C_A));
    assert_eq!(late(C_A).found(Ale2Prime, C_A - 1), Vacuous);
    assert_eq!(late(C_A).found(Ale2, 300), Holds);
    assert_eq!(late(C_A + 1).found(Ale2, 300), Violated(C_A));
    assert_eq!(late(C_A).found(Ale2, C_A - 1), Vacuous);
}

#[test]
fn a_leader_of_another_group_is_not_enough_for_ale2_prime() {
    let trace = Trace::led(3).at(10).normal(1, 1, 2);
    assert_eq!(trace.found(Ale2Prime, 300), Violated(C_A));
    assert_eq!(trace.found(Sle2, 300), Holds);
}

/// Everything that makes a system unstable, at 50 and over at once.
#[test]
fn every_disturbance_begins_the_stable_interval_anew() {
    let disturbances: [fn(Trace) -> Trace; 9] = [
        |trace| trace.crash(3).recover(3),
        |trace| trace.pause(3).resume(3),
        |trace| trace.cut(1, 3),
        |trace| trace.cut(1, 3).mend(1, 3),
        |trace| trace.cut_one_way(1, 3).mend_one_way(1, 3),
        |trace| trace.what(1, What::Slow(NodeId(3))),
        |trace| trace.drop(1, 3, DropReason::Lost),
        |trace| trace.drop(1, 3, DropReason::Dropped),
        |trace| trace.recv(1, 3, 48),
    ];
    for (i, disturb) in disturbances.into_iter().enumerate() {
        let trace = disturb(Trace::started(3).at(50));
        assert_eq!(trace.found(Ale2Prime, 50 + C_A - 1), Vacuous, "disturbance {i}");
        assert_eq!(trace.found(Ale2Prime, 50 + C_A), Violated(50 + C_A), "disturbance {i}");
    }
}

#[test]
fn what_is_no_disturbance_does_not() {
    let harmless: [fn(Trace) -> Trace; 4] = [
        |trace| trace.drop(1, 3, DropReason::Cut),
        |trace| trace.drop(1, 3, DropReason::Down),
        |trace| trace.recv(1, 3, 49).recv(1, 3, 49),
        |trace| trace.watch(1, 3).down(1, 3),
    ];
    for (i, happen) in harmless.into_iter().enumerate() {
        let trace = happen(Trace::started(3).at(50));
        assert_eq!(trace.found(Ale2Prime, 300), Violated(C_A), "event {i}");
    }
}

#[test]
fn a_pause_or_a_one_way_cut_lasts_until_it_ends() {
    let paused = Trace::started(3).at(50).pause(3);
    assert_eq!(paused.found(Ale2Prime, 1_000), Vacuous);
    assert_eq!(paused.clone().at(500).resume(3).found(Ale2Prime, 1_000), Violated(500 + C_A));
    assert_eq!(paused.at(500).crash(3).found(Ale2Prime, 1_000), Violated(500 + C_A), "a crash ends it");
    let one_way = Trace::started(3).at(50).cut_one_way(1, 3);
    assert_eq!(one_way.found(Ale2Prime, 1_000), Vacuous);
    assert_eq!(one_way.clone().at(500).mend_one_way(1, 3).found(Ale2Prime, 1_000), Violated(500 + C_A));
    assert_eq!(one_way.at(500).cut_one_way(3, 1).found(Ale2Prime, 1_000), Violated(500 + C_A));
}

#[test]
fn a_message_that_turns_out_late_takes_back_what_was_judged_meanwhile() {
    let trace =
        Trace::started(3).at(200).recv(1, 3, 20).at(210).normal(1, 1, 1).normal(2, 1, 1).normal(3, 1, 1);
    assert_eq!(trace.found(Ale2Prime, 250), Vacuous);
    assert_eq!(trace.found(Ale2Prime, 300), Holds);
    let sent_after = Trace::started(3).at(200).recv(1, 3, 150);
    assert_eq!(sent_after.found(Ale2Prime, 250), Violated(C_A));
}

/// Stoller's six nodes (section 7): a triangle with a node hanging from each corner.
fn six_nodes() -> Trace {
    let edges = [(1, 2), (1, 3), (2, 3), (1, 4), (2, 5), (3, 6)];
    let pairs = (1..=6).flat_map(|a| (a + 1..=6).map(move |b| (a, b)));
    pairs.filter(|pair| !edges.contains(pair)).fold(Trace::started(6), |trace, (a, b)| trace.cut(a, b))
}

#[test]
fn ale2_allows_as_many_groups_as_cliques() {
    let right = six_nodes().normal(1, 1, 1).normal(2, 1, 1).normal(3, 1, 1).normal(4, 1, 1);
    let right = right.normal(5, 5, 5).normal(6, 6, 6);
    assert_eq!(right.found(Ale2, 1_000), Holds);
    // What the paper says would happen.
    let wrong = right.at(1).normal(4, 4, 4);
    assert_eq!(wrong.found(Ale2, 1_000), Violated(2 * 6 * 15));
    assert_eq!(wrong.found(Ale2Prime, 1_000), Holds);
    let what = wrong.violation(Ale2, 1_000).flatten().map(|violation| violation.what);
    assert_eq!(
        what.as_deref(),
        Some(
            "there are 4 groups, led by 1, 4, 5, 6, where 3 cliques cover all: not settled within 180ms after \
             the system became stable"
        )
    );
}

#[test]
fn ale2_counts_cliques_of_the_nodes_that_are_up() {
    // Two cliques are needed for 1-2-3, but only one for 1-2.
    let path = Trace::started(3).cut(1, 3).normal(1, 1, 1).normal(2, 2, 2).normal(3, 2, 2);
    assert_eq!(path.found(Ale2, 300), Holds);
    let shorter = path.at(200).crash(3);
    assert_eq!(shorter.found(Ale2, 300), Violated(200 + C_A));
}

#[test]
fn ale2_does_not_mind_a_group_across_a_cut() {
    assert_eq!(Trace::led(3).cut(1, 3).found(Ale2, 300), Holds);
}

#[test]
fn ale2_leaves_open_what_is_too_large_to_compute() {
    // A ring of 21 takes eleven cliques, but no more than ten of its nodes are pairwise unconnected.
    let n = 21;
    let neighbours = |a: u32, b: u32| a + 1 == b || (a, b) == (1, n);
    let pairs = (1..=n).flat_map(|a| (a + 1..=n).map(move |b| (a, b)));
    let apart = pairs.filter(|(a, b)| !neighbours(*a, *b));
    let ring = apart.fold(Trace::started(n as usize), |trace, (a, b)| trace.cut(a, b));
    let led_by = |leader: fn(u32) -> u32| {
        (1..=n).fold(ring.clone(), |trace, id| trace.normal(id, leader(id), u64::from(leader(id))))
    };
    let in_pairs = led_by(|id| id - (id + 1) % 2);
    assert_eq!(in_pairs.found(Ale2, 10_000), Vacuous, "1 and 21 are neighbours, and both lead");
    let alone = led_by(|id| id);
    assert_eq!(alone.found(Ale2, 10_000), Violated(2 * 21 * 15));
}
