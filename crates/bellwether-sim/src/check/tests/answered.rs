//! ANSWERED. An answer may take 126: 20 for work to end, 96 for a successor, and 10.

use bellwether_proto::ident::NodeId;
use bellwether_proto::promise::Property::Answered;
use bellwether_proto::tenure::{Command, Hold, Ticket};
use bellwether_proto::trace::Program;

use super::{Found, Holds, Trace, Vacuous, Violated};

const END: u64 = 1_000;

const RESIGN: Command = Command::Resign { hold: Hold::Default };

fn found(trace: &Trace) -> Found {
    trace.found(Answered, END)
}

fn asked(command: Command) -> Trace {
    Trace::settled(3).at(100).program(1, Program::Asked { ticket: Ticket(7), command })
}

fn answered(trace: Trace, ticket: u64) -> Trace {
    let refused = (ticket == 7).then_some("no-successor");
    trace.program(1, Program::Answered { ticket: Ticket(ticket), refused })
}

#[test]
fn an_answer_in_time_is_one_whatever_it_says() {
    for command in [RESIGN, Command::Stand, Command::Transfer { to: NodeId(2) }] {
        assert_eq!(found(&answered(asked(command), 7)), Holds, "at once");
        assert_eq!(found(&answered(asked(command).at(226), 7)), Holds);
        assert_eq!(found(&answered(asked(command).at(227), 7)), Violated(226), "too late");
    }
}

#[test]
fn no_answer_is_a_violation_once_it_is_overdue() {
    let open = asked(Command::Transfer { to: NodeId(2) });
    assert_eq!(found(&open), Violated(226));
    let what = open.violation(Answered, END).flatten().expect("it is broken").what;
    assert_eq!(what, "1 was asked to transfer at 0.100000s, and has not answered within 126ms");
    assert_eq!(open.found(Answered, 226), Vacuous, "the run ended before");
    assert_eq!(found(&answered(open, 8)), Violated(226), "that answers something else");
}

#[test]
fn a_member_that_is_to_leave_answers_by_leaving() {
    assert_eq!(found(&asked(Command::Leave).at(200).program(1, Program::Left).crash(1)), Holds);
    assert_eq!(found(&asked(Command::Leave)), Violated(226));
    let leaves = asked(RESIGN).program(1, Program::Asked { ticket: Ticket(8), command: Command::Leave });
    assert_eq!(found(&leaves.at(200).program(1, Program::Left)), Holds, "nobody is left who could answer");
}

#[test]
fn who_does_not_run_owes_nothing() {
    assert_eq!(found(&asked(RESIGN).at(110).crash(1)), Vacuous);
    assert_eq!(found(&asked(RESIGN).at(110).pause(1)), Vacuous);
    assert_eq!(found(&asked(RESIGN).at(110).crash(2)), Violated(226), "another's crash is no excuse");
}

#[test]
fn a_leader_has_something_to_do_or_ceases_to_lead() {
    let idle = asked(RESIGN).at(110).program(1, Program::WorkEnds);
    let refused =
        |trace: Trace| trace.program(1, Program::Answered { ticket: Ticket(7), refused: Some("not-taken") });
    let idle = refused(idle);
    assert_eq!(found(&idle), Violated(236));
    let what = idle.violation(Answered, END).flatten().expect("it is broken").what;
    assert_eq!(
        what,
        "1 leads with nothing to do since 0.110000s: what was asked back is neither given back nor kept within 126ms"
    );
    assert_eq!(found(&idle.clone().at(200).program(1, Program::WorkBegins { epoch: 1 })), Holds);
    assert_eq!(found(&idle.clone().at(200).announces_nobody(1, 1)), Holds);
    assert_eq!(found(&idle.at(200).crash(1)), Holds);
}

#[test]
fn unless_something_is_asked_there_is_nothing_to_judge() {
    assert_eq!(found(&Trace::settled(3)), Vacuous);
}
