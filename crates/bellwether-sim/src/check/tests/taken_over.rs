//! TAKEN-OVER. A group has been left alone for long enough after 56.

use bellwether_proto::ident::NodeId;
use bellwether_proto::promise::Property::TakenOver;
use bellwether_proto::tenure::{Command, Ticket};
use bellwether_proto::trace::Program;

use super::{Found, Holds, Trace, Vacuous, Violated};

const END: u64 = 1_000;

fn found(trace: &Trace) -> Found {
    trace.found(TakenOver, END)
}

fn asks(trace: Trace) -> Trace {
    let command = Command::Transfer { to: NodeId(2) };
    let asked = trace.program(1, Program::Asked { ticket: Ticket(7), command });
    asked.program(1, Program::AskedBack { epoch: 1 })
}

fn asked() -> Trace {
    asks(Trace::settled(3).at(100))
}

fn answered(trace: Trace, refused: Option<&'static str>) -> Trace {
    trace.at(200).program(1, Program::Answered { ticket: Ticket(7), refused })
}

#[test]
fn a_settled_group_takes_over() {
    assert_eq!(found(&answered(asked(), None)), Holds);
    let not_taken = answered(asked(), Some("not-taken"));
    assert_eq!(found(&not_taken), Violated(200));
    let what = not_taken.violation(TakenOver, END).flatten().expect("it is broken").what;
    assert_eq!(what, "1 was asked at 0.100000s to hand over to 2, which did not take over");
}

#[test]
fn a_refusal_before_anything_was_handed_over_says_nothing() {
    assert_eq!(found(&answered(asked(), Some("leaving"))), Vacuous);
}

#[test]
fn what_else_befalls_the_group_is_an_excuse() {
    for trace in [asked().at(110).crash(3), asked().at(110).crash(2), asked().at(110).stands_aside(2)] {
        assert_eq!(found(&answered(trace, Some("not-taken"))), Vacuous);
    }
    let unsettled = asks(Trace::settled(3).at(80).crash(3).at(100));
    assert_eq!(found(&answered(unsettled, Some("not-taken"))), Vacuous);
}
