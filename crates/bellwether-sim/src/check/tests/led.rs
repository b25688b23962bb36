//! LED. For three nodes, c_L is 210.

use bellwether_proto::ident::Incarnation;
use bellwether_proto::io::Event;
use bellwether_proto::promise::Property::Led;
use bellwether_proto::tenure::{Command, Hold, Ticket};
use bellwether_proto::trace::Program;

use super::{Found, Holds, Trace, Vacuous, Violated};

const RESIGN: Command = Command::Resign { hold: Hold::Default };

fn found(trace: &Trace) -> Found {
    trace.found(Led, 1_000)
}

#[test]
fn all_who_run_are_led_in_time_and_stay_so() {
    assert_eq!(found(&Trace::settled(3)), Holds);
    let succeeded = |at| Trace::settled(3).at(300).crash(1).at(at).announces(2, 2, 2).announces(3, 2, 2);
    assert_eq!(found(&succeeded(510)), Holds);
    assert_eq!(found(&succeeded(511)), Violated(510));
    assert_eq!(found(&Trace::settled(3).at(700).announces_nobody(3, 1)), Violated(700), "for a moment, even");
}

#[test]
fn who_announces_nobody_waits_too_long() {
    let waiting = Trace::started(3).at(5).announces(1, 1, 1).announces(2, 1, 1);
    assert_eq!(found(&waiting), Violated(210));
    let what = waiting.violation(Led, 1_000).flatten().expect("it is broken").what;
    assert_eq!(what, "3 announces no leader: not settled within 210ms after something befell the group");
}

#[test]
fn nobody_is_led_by_one_that_does_not_run() {
    assert_eq!(found(&Trace::settled(3).at(300).crash(1)), Violated(510));
    let paused = Trace::settled(3).at(300).pause(1);
    assert_eq!(found(&paused), Violated(510));
    let replaced = paused.at(400).announces(2, 2, 2).announces(3, 2, 2);
    assert_eq!(found(&replaced), Holds, "what the one that is paused announces is of no account");
}

#[test]
fn whatever_befalls_the_group_puts_it_off() {
    let unled = Trace::settled(3).at(300).announces_nobody(3, 1);
    assert_eq!(found(&unled), Violated(300));
    let asked = Program::Asked { ticket: Ticket(1), command: RESIGN };
    let excused = Trace::settled(3).at(300).program(1, asked).announces_nobody(3, 1);
    assert_eq!(found(&excused.clone().at(500).announces(3, 1, 1)), Holds);
    assert_eq!(found(&excused.at(500).crash(2).at(700).announces(3, 1, 1)), Holds);
}

#[test]
fn another_incarnation_is_no_excuse_unless_it_stood_aside() {
    let unled = Trace::settled(3).at(300).announces_nobody(3, 1);
    assert_eq!(found(&unled.node(3, Event::Reborn(Incarnation(2)))), Violated(300));
    let aside = Trace::settled(3).at(300).stands_aside(3).announces_nobody(3, 1);
    assert_eq!(found(&aside), Holds, "who stands aside is not there");
    let again = aside.at(600).node(3, Event::Reborn(Incarnation(2))).normal(3, 1, 1);
    assert_eq!(found(&again), Violated(810));
    assert_eq!(found(&again.at(800).announces(3, 1, 1)), Holds);
}

#[test]
fn where_too_few_are_left_nobody_can_lead() {
    let majority = |trace: Trace| {
        let mut trace = trace;
        trace.facts.leading.quorum = 2;
        trace
    };
    let crashed = majority(Trace::started(3).crash(1).crash(2));
    assert_eq!(found(&crashed), Vacuous);
    assert_eq!(found(&majority(Trace::started(3).crash(1))), Violated(210));
    assert_eq!(found(&majority(Trace::started(3).pause(1).stands_aside(2))), Vacuous);
    assert_eq!(found(&Trace::new(3)), Vacuous, "nobody is there");
}
