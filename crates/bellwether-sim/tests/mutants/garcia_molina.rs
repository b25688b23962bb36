//! Bugs of Garcia-Molina's algorithms, and of what is left of them when a step is left out.

use bellwether_proto::election::bully::{Answer, Msg};
use bellwether_proto::election::{AnyElection, AnyMsg, Input, Protocol, Variant, souto_bully};
use bellwether_proto::group::{Content, GroupMsg, Task};
use bellwether_proto::ident::NodeId;
use bellwether_proto::message::{Body, Frame};
use bellwether_proto::promise::Property;
use bellwether_proto::roster::Roster;
use bellwether_proto::time::Span;
use bellwether_sim::scenario::{Fault, Latency};

use super::bug::Bug;
use super::{catches, leadership, scenario};

/// It says that it does, and goes on as it was. It coordinates while the strongest is down, and goes on to when that is back.
#[test]
pub(super) fn a1_notices_a_node_that_does_not_halt() {
    struct Unstoppable;
    impl Bug for Unstoppable {
        fn lets_in(&self, roster: &Roster, input: &Input<AnyMsg>) -> bool {
            roster.me() != NodeId(3)
                || !matches!(input, Input::Message { msg: AnyMsg::Bully(Msg::Halt(..)), .. })
        }

        fn says_instead(&self, input: &Input<AnyMsg>) -> Option<(NodeId, AnyMsg)> {
            match input {
                Input::Message { from, msg: AnyMsg::Bully(Msg::Halt(call, _)) } => {
                    Some((*from, AnyMsg::Bully(Msg::HaltReply(*call))))
                }
                _ => None,
            }
        }
    }
    catches(&Unstoppable, &scenario(Protocol::Bully), Property::A1);
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
    impl Bug for Proud {
        fn lets_in(&self, _: &Roster, input: &Input<AnyMsg>) -> bool {
            !matches!(input, Input::Message { msg: AnyMsg::Bully(Msg::NewCoordinator(..)), .. })
        }

        fn says_instead(&self, input: &Input<AnyMsg>) -> Option<(NodeId, AnyMsg)> {
            match input {
                Input::Message { from, msg: AnyMsg::Bully(Msg::NewCoordinator(call, _)) } => {
                    Some((*from, AnyMsg::Bully(Msg::NewCoordinatorReply(*call, Answer::Yes))))
                }
                _ => None,
            }
        }
    }
    catches(&Proud, &scenario(Protocol::Bully), Property::A2);
}

/// "Is it possible to remove the HALT message?" It is not: while a stronger node that came back tells one after the other
/// that it leads, the others still follow the one before.
#[test]
fn without_halt_the_first_assertion_is_broken() {
    struct NoHalt;
    impl Bug for NoHalt {
        fn lets_in(&self, _: &Roster, input: &Input<AnyMsg>) -> bool {
            !matches!(input, Input::Message { msg: AnyMsg::SoutoBully(souto_bully::Msg::Halt { .. }), .. })
        }
    }
    let mut scenario = scenario(Protocol::SoutoBully);
    scenario.variant = Variant::Printed; // Where NEW-LEADER needs no HALT.
    scenario.network.base.latency = Latency { low: Span::millis(1), high: Span::millis(5) };
    scenario.timing.delta = Span::millis(5);
    // The leader, and then it is back.
    scenario.events[0].fault = Fault::Crash(vec![NodeId(1)]);
    scenario.events[1].fault = Fault::Recover(vec![NodeId(1)]);
    catches(&NoHalt, &scenario, Property::A1);
}
