//! Bugs of algorithms that form groups by invitation.

use bellwether_proto::election::invitation::Msg;
use bellwether_proto::election::{AnyElection, AnyMsg, Input, Protocol};
use bellwether_proto::group::{Content, GroupMsg, Task};
use bellwether_proto::ident::{ElectionId, GroupId, NodeId};
use bellwether_proto::message::{Body, Frame};
use bellwether_proto::opinion::Opinion;
use bellwether_proto::promise::Property;
use bellwether_proto::roster::Roster;

use super::bug::Bug;
use super::{catches, leadership, scenario};

/// Part a).
#[test]
pub(super) fn a3_notices_a_member_that_names_itself() {
    struct Vain;
    impl Bug for Vain {
        fn shows(&self, me: NodeId, opinion: Opinion) -> Opinion {
            Opinion { leader: opinion.leader.map(|_| me), ..opinion }
        }
    }
    catches(&Vain, &scenario(Protocol::Invitation), Property::A3);
}

/// Part b): what arrives is not what was handed out.
#[test]
fn a3_notices_members_with_another_task_than_their_coordinator() {
    let alter = |mut frame: Frame<AnyMsg>| {
        if let Body::Group(msg) = &mut frame.body
            && let GroupMsg::Ready { task, .. } = &mut **msg
        {
            let content = Content::new(b"something else".to_vec()).expect("it is short");
            *task = Task::new(task.made_by(), content);
        }
        frame
    };
    let scenario = scenario(Protocol::Invitation);
    for property in [Property::A3, Property::GroupOnce] {
        assert!(!leadership::breaks::<AnyElection>(&scenario, property, |_| {}), "without the bug");
        let breaks = leadership::breaks::<AnyElection>(&scenario, property, |world| world.set_relay(alter));
        assert!(breaks, "{property} does not notice");
    }
}

/// It coordinates itself and is found by all, but never comes along.
struct Unsociable;

impl Bug for Unsociable {
    fn lets_in(&self, roster: &Roster, input: &Input<AnyMsg>) -> bool {
        let invited = matches!(input, Input::Message { msg: AnyMsg::Invitation(Msg::Invitation { .. }), .. });
        let found = matches!(
            input,
            Input::Message { msg: AnyMsg::Invitation(Msg::AreYouCoordinatorReply { .. }), .. }
        );
        roster.me() != NodeId(2) || !(invited || found)
    }
}

#[test]
pub(super) fn a4_notices_a_node_that_declines_every_invitation() {
    catches(&Unsociable, &scenario(Protocol::Invitation), Property::A4);
}

#[test]
pub(super) fn a4_prime_notices_a_node_that_declines_every_invitation() {
    catches(&Unsociable, &scenario(Protocol::Invitation), Property::A4Prime);
}

/// A counter that is kept nowhere: every group of a node has the number of its first.
#[test]
pub(super) fn group_once_notices_numbers_that_are_used_again() {
    struct Forgetful;
    impl Bug for Forgetful {
        fn shows(&self, _: NodeId, opinion: Opinion) -> Opinion {
            let first = |GroupId(id): GroupId| GroupId(ElectionId { seq: 1, ..id });
            Opinion { group: opinion.group.map(first), ..opinion }
        }
    }
    catches(&Forgetful, &scenario(Protocol::Invitation), Property::GroupOnce);
}
