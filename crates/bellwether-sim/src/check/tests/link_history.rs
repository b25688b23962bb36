//! LINK-HISTORY: 2(4δ + 3τ) = 68, so links must have settled 68 after the network became stable.

use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::io::{Event, Turn};
use bellwether_proto::opinion::Opinion;
use bellwether_proto::promise::Property::LinkHistory;
use bellwether_proto::trace::What;

use super::{Found, Holds, Trace, Violated};

const END: u64 = 400;

fn found(trace: &Trace) -> Found {
    trace.found(LinkHistory, END)
}

/// Both ends of a link have seen so many transitions.
fn turn(trace: Trace, a: u32, b: u32, seen: u64) -> Trace {
    let turn = |peer| What::Node(Event::Link(Turn { peer: NodeId(peer), incarnation: Incarnation(1), seen }));
    trace.what(a, turn(b)).what(b, turn(a))
}

/// Two nodes that came up and were linked at once.
fn linked() -> Trace {
    turn(Trace::led(2), 1, 2, 1)
}

#[test]
fn who_can_speak_is_linked_in_time() {
    assert_eq!(found(&linked()), Holds);
    assert_eq!(found(&turn(Trace::led(2).at(67), 1, 2, 1)), Holds);
    assert_eq!(found(&turn(linked().at(100), 1, 2, 2)), Violated(100));
}

/// It says so, and nobody is to be linked with it until it stands again.
#[test]
fn who_stands_aside_is_linked_with_nobody() {
    let aside = |trace: Trace| trace.what(1, What::Node(Event::Opinion(Opinion::DOWN)));
    let parted = turn(aside(linked().at(100)), 1, 2, 2);
    assert_eq!(found(&parted), Holds);
    assert_eq!(found(&aside(linked().at(100))), Violated(168), "node 2 is linked with it");
    assert_eq!(found(&turn(parted.clone().at(200).normal(1, 1, 2).at(260), 1, 2, 3)), Holds);
    assert_eq!(found(&parted.at(200).normal(1, 1, 2)), Violated(268));
}
