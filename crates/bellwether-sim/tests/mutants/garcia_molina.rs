//! Bugs of Garcia-Molina's algorithms, and of what is left of them when a step is left out.

use bellwether_proto::election::bully::{Answer, Bully, Msg};
use bellwether_proto::election::souto_bully::{self, SoutoBully};
use bellwether_proto::election::{AnyElection, AnyMsg, Input, Protocol, Variant};
use bellwether_proto::group::{Content, GroupMsg, Task};
use bellwether_proto::ident::NodeId;
use bellwether_proto::message::{Body, Frame};
use bellwether_proto::promise::Property;
use bellwether_proto::roster::Roster;
use bellwether_proto::time::Span;
use bellwether_sim::scenario::{Fault, Latency};

use super::bug::{Bug, Mutant, NoBug};
use super::{catches, leadership, scenario};

/// It says that it does, and goes on as it was. It coordinates while the strongest is down, and goes on to when that is back.
#[test]
pub(super) fn a1_notices_a_node_that_does_not_halt() {
    struct Unstoppable;
    impl Bug<Msg> for Unstoppable {
        fn lets_in(roster: &Roster, input: &Input<Msg>) -> bool {
            roster.me() != NodeId(3) || !matches!(input, Input::Message { msg: Msg::Halt(..), .. })
        }

        fn says_instead(input: &Input<Msg>) -> Option<(NodeId, Msg)> {
            match input {
                Input::Message { from, msg: Msg::Halt(call, _) } => Some((*from, Msg::HaltReply(*call))),
                _ => None,
            }
        }
    }
    catches::<Bully, Unstoppable>(Protocol::Bully, Property::A1);
}

/// Part b): what arrives is not what was handed out.
#[test]
fn a1_notices_members_with_another_task_than_their_coordinator() {
    let alter = |mut frame: Frame<AnyMsg>| {
        if let Body::Group(msg) = &mut frame.body
            && let GroupMsg::Ready { task, .. } = &mut **msg
        {
            *task = Task::new(task.made_by(), Content::new(b"something else".to_vec()).expect("it is short"));
        }
        frame
    };
    let scenario = scenario(Protocol::Bully);
    assert!(!leadership::breaks::<AnyElection>(&scenario, Property::A1, |_| {}), "without the bug");
    let breaks = leadership::breaks::<AnyElection>(&scenario, Property::A1, |world| world.set_relay(alter));
    assert!(breaks, "not noticed");
}

#[test]
pub(super) fn a2_notices_a_node_that_takes_no_coordinator() {
    struct Proud;
    impl Bug<Msg> for Proud {
        fn lets_in(_: &Roster, input: &Input<Msg>) -> bool {
            !matches!(input, Input::Message { msg: Msg::NewCoordinator(..), .. })
        }

        fn says_instead(input: &Input<Msg>) -> Option<(NodeId, Msg)> {
            match input {
                Input::Message { from, msg: Msg::NewCoordinator(call, _) } => {
                    Some((*from, Msg::NewCoordinatorReply(*call, Answer::Yes)))
                }
                _ => None,
            }
        }
    }
    catches::<Bully, Proud>(Protocol::Bully, Property::A2);
}

/// "Is it possible to remove the HALT message?" It is not: while a stronger node that came back tells one after the other
/// that it leads, the others still follow the one before.
#[test]
fn without_halt_the_first_assertion_is_broken() {
    struct NoHalt;
    impl Bug<souto_bully::Msg> for NoHalt {
        fn lets_in(_: &Roster, input: &Input<souto_bully::Msg>) -> bool {
            !matches!(input, Input::Message { msg: souto_bully::Msg::Halt { .. }, .. })
        }
    }
    let mut scenario = scenario(Protocol::SoutoBully);
    scenario.variant = Variant::Printed; // Where NEW-LEADER needs no HALT.
    scenario.network.base.latency = Latency { low: Span::millis(1), high: Span::millis(5) };
    scenario.timing.delta = Span::millis(5);
    // The leader, and then it is back.
    scenario.events[0].fault = Fault::Crash(vec![NodeId(1)]);
    scenario.events[1].fault = Fault::Recover(vec![NodeId(1)]);
    let with = leadership::breaks::<Mutant<SoutoBully, NoBug>>(&scenario, Property::A1, |_| {});
    let without = leadership::breaks::<Mutant<SoutoBully, NoHalt>>(&scenario, Property::A1, |_| {});
    assert_eq!((with, without), (false, true));
}
