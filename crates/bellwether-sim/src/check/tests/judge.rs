//! What all properties have in common.

use bellwether_proto::promise::Property;
use bellwether_proto::time::Time;
use bellwether_proto::trace::What;

use super::{Trace, msg, time};

#[test]
fn findings_come_in_the_order_asked_for_and_the_vacuous_are_absent() {
    let trace = Trace::led(3).at(10).watch(2, 1).at(45).crash(1).at(46).down(2, 1).electing(2).electing(3);
    let mut judge = trace.judge(&[Property::FdLatency, Property::Ale2, Property::Sle1]);
    trace.events.iter().for_each(|event| judge.observe(event));
    let findings = judge.finish(time(50));
    let properties: Vec<Property> = findings.iter().map(|finding| finding.property).collect();
    assert_eq!(properties, [Property::FdLatency, Property::Sle1]);
}

#[test]
fn every_property_can_be_judged_and_says_nothing_of_nothing() {
    let trace = Trace::new(3);
    let judge = trace.judge(&Property::ALL);
    assert!(judge.finish(Time::ZERO).is_empty());
}

#[test]
fn only_what_nothing_can_excuse_is_called_violated_before_the_end() {
    let violated = |trace: &Trace| {
        let mut judge = trace.judge(&Property::ALL);
        trace.events.iter().for_each(|event| judge.observe(event));
        judge.violated()
    };
    assert!(!violated(&Trace::led(3)));
    assert!(violated(&Trace::led(3).normal(3, 2, 1)));
    assert!(violated(&Trace::led(3).down(1, 2)));
    // A message from 2 may be under way, and late.
    assert!(!violated(&Trace::led(3).watch(1, 2).at(50).down(1, 2)));
    // Likewise; and messages may be late for reasons that end.
    assert!(!violated(&Trace::led(3).at(500).electing(2).at(600).electing(3)));
}

#[test]
fn names_of_nodes_that_do_not_exist_do_no_harm() {
    let trace =
        Trace::led(3).normal(2, 0, 1).normal(3, 9, 1).watch(1, 0).watch(1, 9).at(50).down(1, 0).down(1, 9);
    let mut judge = trace.judge(&Property::ALL);
    trace.events.iter().for_each(|event| judge.observe(event));
    assert!(!judge.finish(time(500)).is_empty());
}

#[test]
fn a_message_on_time_is_no_event() {
    let trace = Trace::led(3).at(5).what(1, What::Send(msg(1, 2))).at(6).recv(1, 2, 5);
    let mut judge = trace.judge(&Property::ALL);
    trace.events.iter().for_each(|event| judge.observe(event));
    assert_eq!(judge.known.now(), Time::ZERO);
}
