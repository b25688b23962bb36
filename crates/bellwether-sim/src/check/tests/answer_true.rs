//! ANSWER-TRUE.

use bellwether_proto::ident::NodeId;
use bellwether_proto::promise::Property::AnswerTrue;
use bellwether_proto::tenure::{Command, Hold, Ticket};
use bellwether_proto::trace::Program;

use super::{Found, Holds, Trace, Vacuous, Violated};

const END: u64 = 1_000;

const RESIGN: Command = Command::Resign { hold: Hold::Default };
const TRANSFER: Command = Command::Transfer { to: NodeId(2) };

fn found(trace: &Trace) -> Found {
    trace.found(AnswerTrue, END)
}

fn asked(node: u32, command: Command) -> Trace {
    Trace::settled(3).at(100).program(node, Program::Asked { ticket: Ticket(7), command })
}

fn answered(trace: Trace, node: u32, refused: Option<&'static str>) -> Trace {
    trace.program(node, Program::Answered { ticket: Ticket(7), refused })
}

#[test]
fn who_has_resigned_has_ceased_to_lead() {
    let ceased = asked(1, RESIGN).at(110).announces_nobody(1, 1);
    assert_eq!(found(&answered(ceased.clone(), 1, None)), Holds);
    assert_eq!(found(&answered(ceased.at(120).announces(1, 1, 2), 1, None)), Holds, "and may lead again");
    assert_eq!(found(&answered(asked(2, RESIGN), 2, None)), Holds, "it did not lead");
    let leads = answered(asked(1, RESIGN).at(110).announces_nobody(2, 1), 1, None);
    assert_eq!(found(&leads), Violated(110));
    let what = leads.violation(AnswerTrue, END).flatten().expect("it is broken").what;
    assert_eq!(what, "1 answers that it has resigned, and leads: it was asked at 0.100000s");
}

#[test]
fn who_took_over_has_announced_itself() {
    let taken = asked(1, TRANSFER).at(110).announces_nobody(1, 1).announces(2, 2, 2);
    assert_eq!(found(&answered(taken.clone().announces(1, 2, 2), 1, None)), Holds);
    assert_eq!(
        found(&answered(taken.at(120).crash(2), 1, None)),
        Holds,
        "what becomes of it is another matter"
    );
    let by_another = asked(1, TRANSFER).at(110).announces_nobody(1, 1).announces(3, 3, 2);
    assert_eq!(found(&answered(by_another, 1, None)), Violated(110));
    let hearsay = asked(1, TRANSFER).at(110).announces(1, 2, 2);
    assert_eq!(found(&answered(hearsay, 1, None)), Violated(110), "it must say so itself");
}

#[test]
fn a_refusal_says_nothing() {
    for command in [RESIGN, TRANSFER] {
        assert_eq!(found(&answered(asked(1, command), 1, Some("given-back"))), Vacuous);
    }
    assert_eq!(found(&answered(asked(1, Command::Stand), 1, None)), Vacuous);
}
