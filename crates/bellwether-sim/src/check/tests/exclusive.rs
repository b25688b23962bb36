//! TOKEN-GROWS, TOKEN-ONCE, ONE-HOLDER, FREED and GRANTED. Three nodes vote, and a lease is 100: c_X = 810 and c_F = 60.

use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::io::Event;
use bellwether_proto::leadership::Cause;
use bellwether_proto::promise::Property::{self, Freed, Granted, OneHolder, TokenGrows, TokenOnce};
use bellwether_proto::tenure::{Command, Hold, Ticket};
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::Program;

use super::{Found, Holds, Trace, Vacuous, Violated, time};

const END: u64 = 5_000;

fn found(trace: &Trace, property: Property) -> Found {
    trace.found(property, END)
}

/// Three voters that came up at 0.
fn voters() -> Trace {
    let mut trace = Trace::started(3);
    trace.facts.voters = (1..=3).map(NodeId).collect();
    trace.facts.leading.lease = Span::millis(100);
    trace
}

impl Trace {
    /// A coordinator learns that this was decided in its ballot of that round.
    fn granted(self, by: u32, round: u64, token: u64, to: Option<u32>) -> Self {
        let (to, of) = (to.map(NodeId), Incarnation(1));
        self.node(by, Event::Granted { token, to, round, by: NodeId(by), of, write: 1 })
    }

    /// The node may act with that token, until then.
    fn valid(self, node: u32, epoch: u64, until: u64) -> Self {
        self.program(node, Program::Valid { epoch, until: time(until) })
    }
}

#[test]
fn tokens_grow_in_the_order_of_ballots_whenever_that_is_learnt() {
    let grown = voters().at(5).granted(1, 1, 1, Some(1)).at(20).granted(2, 2, 2, Some(2));
    assert_eq!(found(&grown, TokenGrows), Holds);
    let late = voters().at(5).granted(2, 2, 2, Some(2)).at(20).granted(1, 1, 1, Some(1));
    assert_eq!(
        found(&late, TokenGrows),
        Holds,
        "the first coordinator learns of its grant when there is another"
    );
    assert_eq!(found(&voters(), TokenGrows), Vacuous);
}

#[test]
fn a_token_that_does_not_grow_is_noticed_in_either_order() {
    let same = voters().at(5).granted(1, 1, 1, Some(1)).at(20).granted(2, 2, 1, Some(2));
    assert_eq!((found(&same, TokenGrows), found(&same, TokenOnce)), (Violated(20), Violated(20)));
    let back = voters().at(5).granted(2, 2, 1, Some(2)).at(20).granted(1, 1, 2, Some(1));
    assert_eq!((found(&back, TokenGrows), found(&back, TokenOnce)), (Violated(20), Holds));
    let held = voters().at(5).valid(1, 4, 100).at(20).valid(1, 3, 120);
    assert_eq!(found(&held, TokenGrows), Violated(20), "a node holds a smaller token than before");
    let freed = voters().at(5).granted(1, 1, 1, Some(1)).at(20).granted(2, 2, 1, None);
    assert_eq!(found(&freed, TokenGrows), Holds, "given back, the token is still the last one");
}

#[test]
fn two_may_not_act_at_one_instant() {
    let apart = voters().at(5).valid(1, 1, 100).at(100).valid(2, 2, 200);
    assert_eq!(found(&apart, OneHolder), Holds);
    let both = voters().at(5).valid(1, 1, 100).at(99).valid(2, 2, 200);
    assert_eq!(found(&both, OneHolder), Violated(99));
    let stopped = voters().at(5).valid(1, 1, 100).at(10).pause(1).at(50).valid(2, 2, 200);
    assert_eq!(found(&stopped, OneHolder), Violated(50), "whoever is stopped may go on");
}

#[test]
fn whoever_crashed_or_gave_it_back_does_not_act() {
    let crashed = voters().at(5).valid(1, 1, 100).at(10).crash(1).at(50).valid(2, 2, 200);
    assert_eq!(found(&crashed, OneHolder), Holds);
    let given = voters().at(5).valid(1, 1, 100).at(10).announces_nobody(1, 1).at(50).valid(2, 2, 200);
    assert_eq!(found(&given, OneHolder), Holds);
}

#[test]
fn where_a_store_decides_nobody_else_does() {
    let token = |trace: Trace, node, epoch| trace.program(node, Program::Valid { epoch, until: Time::NEVER });
    let both = token(token(voters().at(5), 1, 1).at(20), 2, 2);
    assert_eq!(found(&both, OneHolder), Vacuous);
}

/// Node 1 leads, and resigns.
fn resigned() -> Trace {
    let led = voters().at(5).announces(1, 1, 1).announces(2, 1, 1).announces(3, 1, 1);
    let asked = Program::Asked { ticket: Ticket(1), command: Command::Resign { hold: Hold::Default } };
    led.at(100).program(1, asked).at(101).announces_because(1, None, 1, Cause::Resigned(NodeId(1)))
}

#[test]
fn what_was_given_back_is_granted_at_once() {
    assert_eq!(found(&resigned().at(160).announces(2, 2, 2), Freed), Holds);
    assert_eq!(found(&resigned().at(170).announces(2, 2, 2), Freed), Violated(161));
    assert_eq!(found(&resigned().at(120).crash(3), Freed), Vacuous, "something else befell the group");
    assert_eq!(found(&voters(), Freed), Vacuous);
}

#[test]
fn somebody_leads_in_the_end_if_a_majority_runs() {
    let all = |trace: Trace| (1..=3).fold(trace, |trace, id| trace.announces(id, 1, 1));
    assert_eq!(found(&all(voters().at(800)), Granted), Holds);
    assert_eq!(found(&all(voters().at(900)), Granted), Violated(810));
    let lost = all(voters().at(5)).granted(1, 1, 1, Some(1)).at(20).crash(1).at(21).crash(2);
    assert_eq!(found(&lost, Granted), Vacuous, "one of three voters is no majority");
}

#[test]
fn a_cluster_that_was_never_whole_need_not_have_a_leader() {
    assert_eq!(found(&voters().at(1).crash(3), Granted), Vacuous);
}
