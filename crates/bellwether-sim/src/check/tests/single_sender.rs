//! SINGLE-SENDER. Runs end at 100, so one node alone may send from 75 on.

use bellwether_proto::message::Kind;
use bellwether_proto::promise::Property::{Omega, SingleSender};
use bellwether_proto::trace::{DropReason, MsgRef, What};

use super::{Found, Holds, Trace, Vacuous, Violated, msg};

const END: u64 = 100;

fn found(trace: &Trace) -> Found {
    trace.found(SingleSender, END)
}

/// Node 1 sends from the beginning to the end.
fn led_by_one() -> Trace {
    (0..=END / 10).fold(Trace::led(3), |trace, tenth| trace.at(tenth * 10).send(1, 2).send(1, 3))
}

/// Node 2 sends then, and node 1 later.
fn other_at(ms: u64) -> Trace {
    Trace::led(3).at(ms).send(2, 1).at(90).send(1, 2)
}

#[test]
fn one_sender_is_enough() {
    assert_eq!(found(&led_by_one()), Holds);
    assert_eq!(found(&other_at(50)), Holds, "what was before does not matter");
}

#[test]
fn two_senders_are_one_too_many() {
    let trace = Trace::led(3).at(80).send(1, 2).at(85).send(2, 1).at(90).send(1, 2);
    assert_eq!(found(&trace), Violated(85));
    assert_eq!(found(&Trace::led(3).at(80).send(1, 2).send(2, 1)), Violated(80), "at one instant, too");
}

#[test]
fn the_last_quarter_begins_at_three_quarters_and_ends_with_the_run() {
    assert_eq!(found(&other_at(74)), Holds);
    assert_eq!(found(&other_at(75)), Violated(75));
    assert_eq!(found(&Trace::led(3).at(90).send(2, 1).at(100).send(1, 2)), Violated(90));
}

#[test]
fn one_who_follows_another_is_a_second_sender() {
    let trace = Trace::led(3).at(80).send(1, 2).at(85).crash(1).at(90).send(2, 3);
    assert_eq!(found(&trace), Violated(80));
}

#[test]
fn what_is_lost_was_sent() {
    let trace = Trace::led(3).at(80).send(2, 1).drop(2, 1, DropReason::Lost).at(90).send(1, 2);
    assert_eq!(found(&trace), Violated(80));
}

#[test]
fn detectors_may_say_what_they_like() {
    let beat = What::Send(MsgRef { kind: Kind::detector("Beat"), ..msg(2, 1) });
    assert_eq!(found(&led_by_one().what(2, beat)), Holds);
    assert_eq!(found(&Trace::led(3).at(80).what(2, beat)), Violated(75), "which is not to send");
}

/// Whoever has company and is not heard cannot be told from one that crashed.
#[test]
fn somebody_must_send_unless_nobody_is_left_to_hear_it() {
    assert_eq!(found(&Trace::led(3)), Violated(75));
    assert_eq!(found(&Trace::led(3).at(74).send(1, 2).send(2, 1)), Violated(75));
    assert_eq!(found(&Trace::led(3).at(80).crash(1).crash(2)), Vacuous);
    assert_eq!(found(&Trace::led(3).at(76).send(3, 1).at(80).crash(1).crash(2)), Holds);
    assert_eq!(found(&Trace::led(3).at(90).send(1, 2).crash(1)), Violated(90), "not for ever");
}

#[test]
fn one_that_falls_silent_does_not_send_for_ever() {
    // Periods of 10 ms: a run of a second.
    let until = |last: u64| {
        let beats = (0..=last / 10).fold(Trace::led(3), |trace, tenth| trace.at(tenth * 10).send(1, 2));
        beats.found(SingleSender, 1_000)
    };
    assert_eq!(until(980), Holds);
    assert_eq!(until(970), Violated(970));
}

#[test]
fn both_senders_are_named() {
    let violation = other_at(80).violation(SingleSender, END).flatten().expect("it is broken");
    assert_eq!(
        violation.what,
        "2 sends, and so does 1 at 0.090000s; one must send for ever and alone from 75ms on"
    );
}

#[test]
fn only_those_who_ask_are_told_of_what_is_sent() {
    let trace = Trace::led(3).at(80).send(1, 2);
    let matters = |properties: &[_]| trace.judge(properties).matters(&trace.events[trace.events.len() - 1]);
    assert!(matters(&[Omega, SingleSender]));
    assert!(!matters(&[Omega]));
}
