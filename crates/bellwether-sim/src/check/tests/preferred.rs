//! PREFERRED. A node could lead when it has been there for 45; to make way may take 210, 5, 200, 116, and 100: 631.

use bellwether_proto::ident::NodeId;
use bellwether_proto::promise::Property::Preferred;
use bellwether_proto::tenure::{Command, Ticket};
use bellwether_proto::time::Span;
use bellwether_proto::trace::Program;

use super::{Found, Holds, Trace, Vacuous, Violated};

const END: u64 = 2_000;

fn found(trace: &Trace) -> Found {
    trace.found(Preferred, END)
}

/// Node 1 leads three that are all the same; node 3 is preferred.
fn preferring() -> Trace {
    let mut trace = Trace::settled(3);
    trace.facts.preference.priority.insert(NodeId(3), 5);
    trace.at(100)
}

#[test]
fn the_preferred_is_chosen() {
    assert_eq!(found(&preferring().crash(1).at(105).announces(3, 3, 2)), Holds);
    let wrong = preferring().crash(1).at(105).announces(2, 2, 2);
    assert_eq!(found(&wrong), Violated(105));
    let what = wrong.violation(Preferred, END).flatten().expect("it is broken").what;
    assert_eq!(what, "2 announces that it leads, with priority 0, although 3 with 5 could");
}

#[test]
fn who_is_not_there_for_long_is_not_preferred() {
    assert_eq!(found(&preferring().crash(3).at(110).crash(1).at(115).announces(2, 2, 2)), Vacuous);
    let back = preferring().crash(3).at(110).recover(3).at(120).crash(1);
    assert_eq!(found(&back.clone().at(125).announces(2, 2, 2)), Vacuous);
    assert_eq!(found(&back.at(300).announces(2, 2, 2)), Violated(300));
    assert_eq!(found(&preferring().stands_aside(3).crash(1).at(105).announces(2, 2, 2)), Vacuous);
}

#[test]
fn a_leader_that_goes_on_and_one_that_a_program_chose_are_not_chosen() {
    assert_eq!(found(&preferring().announces(1, 1, 2)), Vacuous);
    let command = Command::Transfer { to: NodeId(2) };
    let chosen = preferring().program(1, Program::Asked { ticket: Ticket(7), command });
    assert_eq!(found(&chosen.at(105).announces(2, 2, 2)), Vacuous);
}

#[test]
fn who_is_to_make_way_does() {
    let mut stays = preferring();
    assert_eq!(found(&stays), Vacuous, "nobody told it to");
    stays.facts.preference.preempt.insert(NodeId(1), Span::millis(5));
    assert_eq!(found(&stays), Violated(631));
    let taken = stays.at(150).announces(3, 3, 2).announces(1, 3, 2).announces(2, 3, 2);
    assert_eq!(found(&taken), Holds);
}
