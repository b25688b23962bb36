//! FD-COMPLETE, FD-ACCURATE and FD-LATENCY.

use bellwether_proto::io::Event;
use bellwether_proto::opinion::{Opinion, Status};
use bellwether_proto::promise::Property::{FdAccurate, FdComplete, FdLatency};
use bellwether_proto::trace::DropReason;

use super::{Holds, Trace, Vacuous, Violated};

/// Node 1 crashes at 45 and node 2 begins to watch it at 50.
fn crashed_then_watched() -> Trace {
    Trace::started(3).at(45).crash(1).at(50).watch(2, 1)
}

/// Node 2 watches node 1 from 10 on, which crashes at 45.
fn watched_then_crashed() -> Trace {
    Trace::started(3).at(10).watch(2, 1).at(45).crash(1)
}

/// Stoller, section 2: the example of the latency of 3.
#[test]
fn latency_counts_from_the_later_of_crash_and_watch() {
    assert_eq!(crashed_then_watched().at(53).down(2, 1).found(FdLatency, 100), Holds);
    assert_eq!(crashed_then_watched().at(54).down(2, 1).found(FdLatency, 100), Violated(53));
    assert_eq!(watched_then_crashed().at(48).down(2, 1).found(FdLatency, 100), Holds);
    assert_eq!(watched_then_crashed().at(49).down(2, 1).found(FdLatency, 100), Violated(48));
}

#[test]
fn latency_is_judged_when_it_is_over() {
    assert_eq!(crashed_then_watched().found(FdLatency, 53), Vacuous);
    assert_eq!(crashed_then_watched().found(FdLatency, 54), Violated(53));
    assert_eq!(Trace::started(3).watch(2, 1).found(FdLatency, 100), Vacuous, "nobody was down");
}

#[test]
fn latency_is_not_owed_if_the_subject_recovers_first() {
    assert_eq!(crashed_then_watched().at(53).recover(1).found(FdLatency, 100), Vacuous);
    assert_eq!(crashed_then_watched().at(54).recover(1).found(FdLatency, 100), Violated(53));
}

#[test]
fn a_new_watch_grants_new_time() {
    let again = crashed_then_watched().at(52).watch(2, 1);
    assert_eq!(again.clone().at(55).down(2, 1).found(FdLatency, 100), Holds);
    assert_eq!(again.at(56).down(2, 1).found(FdLatency, 100), Violated(55));
}

#[test]
fn a_watcher_that_crashes_or_pauses_owes_nothing_in_time() {
    assert_eq!(crashed_then_watched().at(51).crash(2).found(FdLatency, 100), Vacuous);
    assert_eq!(crashed_then_watched().at(51).pause(2).found(FdLatency, 100), Vacuous);
    assert_eq!(crashed_then_watched().at(51).pause(2).resume(2).found(FdLatency, 100), Vacuous);
    let paused_before = Trace::started(3).at(10).watch(2, 1).pause(2).at(45).crash(1).at(46).resume(2);
    assert_eq!(paused_before.found(FdLatency, 100), Vacuous);
    assert_eq!(crashed_then_watched().at(54).pause(2).found(FdLatency, 100), Violated(53), "too late");
}

#[test]
fn latency_is_stretched_by_clocks_that_are_off() {
    let trace = crashed_then_watched().drift_ppm(200_000).at(54);
    assert_eq!(trace.down(2, 1).found(FdLatency, 100), Holds);
}

#[test]
fn a_report_needs_as_many_voices_as_it_is_said_to() {
    let two = |trace: Trace| trace.reporters(2).found(FdLatency, 100);
    assert_eq!(two(crashed_then_watched()), Violated(53), "3 could have joined in");
    assert_eq!(two(crashed_then_watched().at(51).crash(3)), Vacuous);
    assert_eq!(two(crashed_then_watched().at(51).pause(3).resume(3)), Vacuous);
    assert_eq!(two(crashed_then_watched().at(51).cut_one_way(3, 2)), Vacuous);
    assert_eq!(two(crashed_then_watched().at(51).drop(3, 2, DropReason::Lost)), Vacuous);
    assert_eq!(two(crashed_then_watched().at(52).recv(3, 2, 50)), Vacuous);
    assert_eq!(two(crashed_then_watched().at(60).recv(3, 2, 51)), Vacuous, "under way meanwhile");
    assert_eq!(two(crashed_then_watched().at(60).recv(3, 2, 54)), Violated(53));
    let one = crashed_then_watched().at(51).crash(3).drop(3, 2, DropReason::Lost);
    assert_eq!(one.found(FdLatency, 100), Violated(53), "one voice needs nobody");
}

#[test]
fn complete_if_reported_at_last() {
    assert_eq!(watched_then_crashed().at(90).down(2, 1).found(FdComplete, 100), Holds);
    assert_eq!(watched_then_crashed().at(90).recover(1).found(FdComplete, 100), Holds);
    assert_eq!(watched_then_crashed().at(90).unwatch(2, 1).found(FdComplete, 100), Holds);
    assert_eq!(watched_then_crashed().at(90).crash(2).found(FdComplete, 100), Holds);
}

#[test]
fn incomplete_if_never_reported() {
    assert_eq!(watched_then_crashed().found(FdComplete, 100), Violated(100));
    assert_eq!(watched_then_crashed().found(FdComplete, 48), Holds, "there is still time");
    assert_eq!(watched_then_crashed().found(FdComplete, 49), Violated(49));
    let what = watched_then_crashed().violation(FdComplete, 100).flatten().map(|violation| violation.what);
    assert_eq!(what.as_deref(), Some("1 is down and watched by 2 since 0.045000s, and was never reported"));
}

#[test]
fn an_obstacle_delays_completeness() {
    let paused = watched_then_crashed().at(46).pause(2);
    assert_eq!(paused.found(FdComplete, 100), Holds);
    assert_eq!(paused.clone().at(98).resume(2).found(FdComplete, 100), Holds);
    assert_eq!(paused.at(90).resume(2).found(FdComplete, 100), Violated(100));
    let alone = watched_then_crashed().reporters(2).at(46).cut(2, 3);
    assert_eq!(alone.found(FdComplete, 100), Holds);
    assert_eq!(alone.clone().at(98).mend(2, 3).found(FdComplete, 100), Holds);
    assert_eq!(alone.at(90).mend(2, 3).found(FdComplete, 100), Violated(100));
    let lossy = watched_then_crashed().reporters(2).at(98).drop(3, 2, DropReason::Lost);
    assert_eq!(lossy.found(FdComplete, 100), Holds);
    assert_eq!(lossy.found(FdComplete, 102), Violated(102));
}

/// E-ST4: what the printed formula asks for and its prose does not.
#[test]
fn a_watch_that_was_stopped_obliges_to_nothing() {
    let stopped = Trace::started(3).at(10).watch(2, 1).at(20).unwatch(2, 1).at(45).crash(1);
    assert_eq!((stopped.found(FdComplete, 100), stopped.found(FdLatency, 100)), (Vacuous, Vacuous));
    let all = Trace::started(3).at(10).watch(2, 1).at(20).node(2, Event::UnwatchAll).at(45).crash(1);
    assert_eq!((all.found(FdComplete, 100), all.found(FdLatency, 100)), (Vacuous, Vacuous));
}

/// E-ST4.
#[test]
fn one_report_is_enough() {
    let once = watched_then_crashed().at(47).down(2, 1);
    assert_eq!((once.found(FdComplete, 100), once.found(FdLatency, 100)), (Holds, Holds));
    let crashed_again = once.at(60).recover(1).at(70).crash(1);
    assert_eq!((crashed_again.found(FdComplete, 100), crashed_again.found(FdLatency, 100)), (Holds, Holds));
    let watched_again = crashed_again.at(75).watch(2, 1);
    assert_eq!(watched_again.found(FdComplete, 100), Violated(100));
    assert_eq!(watched_again.found(FdLatency, 100), Violated(78));
}

#[test]
fn a_report_of_a_node_that_was_down_is_accurate() {
    assert_eq!(watched_then_crashed().at(47).down(2, 1).found(FdAccurate, 100), Holds);
    assert_eq!(crashed_then_watched().at(51).down(2, 1).found(FdAccurate, 100), Holds);
    let long_since_up = watched_then_crashed().at(46).recover(1).at(90).down(2, 1);
    assert_eq!(long_since_up.found(FdAccurate, 100), Holds, "down since the watch began");
}

#[test]
fn a_report_of_a_node_that_was_up_is_not() {
    let down_before = Trace::started(3).at(45).crash(1).at(46).recover(1).at(50).watch(2, 1);
    assert_eq!(down_before.clone().at(52).down(2, 1).found(FdAccurate, 100), Violated(52));
    assert_eq!(down_before.at(51).watch(2, 1).at(52).down(2, 1).found(FdAccurate, 100), Violated(52));
}

#[test]
fn no_report_is_nothing_to_judge() {
    assert_eq!(watched_then_crashed().found(FdAccurate, 100), Vacuous);
}

#[test]
fn at_one_instant_what_comes_first_counts() {
    let watched_after = Trace::new(2).recover(1).recover(2).watch(2, 1).at(50).down(2, 1);
    assert_eq!(watched_after.found(FdAccurate, 100), Violated(50));
    let watched_before = Trace::new(2).recover(2).watch(2, 1).recover(1).at(50).down(2, 1);
    assert_eq!(watched_before.found(FdAccurate, 100), Holds);
}

#[test]
fn only_a_watched_node_is_reported() {
    let never = Trace::started(3).at(45).crash(1).at(46).down(2, 1);
    assert_eq!(never.found(FdAccurate, 100), Violated(46));
    let stopped = watched_then_crashed().unwatch(2, 1).at(46).down(2, 1);
    assert_eq!(stopped.found(FdAccurate, 100), Violated(46));
    let twice = watched_then_crashed().at(46).down(2, 1).at(47).down(2, 1);
    assert_eq!(twice.found(FdAccurate, 100), Violated(47));
    let in_a_former_incarnation = watched_then_crashed().at(46).crash(2).recover(2).at(47).down(2, 1);
    assert_eq!(in_a_former_incarnation.found(FdAccurate, 100), Violated(47));
}

/// It says so itself, and its word may be under way when the watch begins.
#[test]
fn a_node_that_stood_aside_a_moment_ago_may_be_reported() {
    let there = Opinion { status: Status::Normal, leader: None, group: None };
    let aside = Trace::started(3).at(40).node(1, Event::Opinion(Opinion::DOWN));
    let watched = aside.at(50).node(1, Event::Opinion(there)).watch(2, 1);
    assert_eq!(watched.clone().at(51).down(2, 1).found(FdAccurate, 100), Holds);
    assert_eq!(watched.at(52).down(2, 1).found(FdAccurate, 100), Violated(52));
}

/// What makes a node seem down: it excuses a report for τ_FD, if it was since the watch began.
#[test]
fn what_seems_down_may_be_reported() {
    let troubles: [fn(Trace) -> Trace; 9] = [
        |trace| trace.cut_one_way(1, 2).mend_one_way(1, 2),
        |trace| trace.cut_one_way(2, 1).mend_one_way(2, 1),
        |trace| trace.node(1, Event::PlayDead).node(1, Event::PlayAlive),
        |trace| trace.pause(1).resume(1),
        |trace| trace.pause(2).resume(2),
        |trace| trace.drop(1, 2, DropReason::Lost),
        |trace| trace.recv(2, 1, 40),
        |trace| trace.held_up(1, 2),
        |trace| trace.held_up(2, 2),
    ];
    for (i, trouble) in troubles.into_iter().enumerate() {
        let trace = trouble(Trace::started(3).at(10).watch(2, 1).at(50));
        assert_eq!(trace.clone().at(53).down(2, 1).found(FdAccurate, 100), Holds, "trouble {i}");
        assert_eq!(trace.clone().at(54).down(2, 1).found(FdAccurate, 100), Violated(54), "trouble {i}");
        let watched_later = trace.at(51).watch(2, 1).at(53).down(2, 1);
        assert_eq!(watched_later.found(FdAccurate, 100), Violated(53), "trouble {i}");
    }
}

#[test]
fn trouble_that_lasts_excuses_as_long() {
    let troubles: [fn(Trace) -> Trace; 4] = [
        |trace| trace.cut_one_way(1, 2),
        |trace| trace.node(1, Event::PlayDead),
        |trace| trace.pause(1),
        |trace| trace.pause(2),
    ];
    for (i, trouble) in troubles.into_iter().enumerate() {
        let trace = trouble(Trace::started(3)).at(10).watch(2, 1).at(90).down(2, 1);
        assert_eq!(trace.found(FdAccurate, 100), Holds, "trouble {i}");
    }
}

/// Whoever was held up says so when it goes on again.
#[test]
fn who_is_held_up_meanwhile_may_be_reported() {
    let reported = || Trace::started(3).at(10).watch(2, 1).at(60).down(2, 1).at(65);
    assert_eq!(reported().held_up(1, 5).found(FdAccurate, 100), Holds);
    assert_eq!(reported().held_up(1, 4).found(FdAccurate, 100), Violated(60), "not before it was held up");
    assert_eq!(reported().held_up(3, 5).found(FdAccurate, 100), Violated(60), "another");
    assert_eq!(reported().held_up(3, 5).reporters(2).found(FdAccurate, 100), Holds, "one whose voice counts");
}

#[test]
fn a_node_plays_dead_to_the_weaker_only() {
    let stronger = Trace::started(3).at(10).watch(1, 2).at(50).node(2, Event::PlayDead).at(51).down(1, 2);
    assert_eq!(stronger.found(FdAccurate, 100), Violated(51));
}

#[test]
fn trouble_between_others_excuses_only_where_they_have_a_voice() {
    let trace = Trace::started(3).at(10).watch(2, 1).at(50).drop(3, 2, DropReason::Dropped).at(51).down(2, 1);
    assert_eq!(trace.found(FdAccurate, 100), Violated(51));
    assert_eq!(trace.reporters(2).found(FdAccurate, 100), Holds);
}

#[test]
fn a_message_that_turns_out_late_excuses_a_report_made_meanwhile() {
    let trace = Trace::started(3).at(10).watch(2, 1).at(50).down(2, 1).at(90);
    assert_eq!(trace.clone().recv(1, 2, 50).found(FdAccurate, 100), Holds);
    assert_eq!(trace.clone().recv(1, 2, 51).found(FdAccurate, 100), Violated(50));
    assert_eq!(trace.clone().recv(1, 3, 50).found(FdAccurate, 100), Violated(50));
    assert_eq!(trace.reporters(2).recv(1, 3, 50).found(FdAccurate, 100), Holds);
}
