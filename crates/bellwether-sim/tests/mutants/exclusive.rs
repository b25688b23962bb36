//! Bugs of exclusive leadership: in what voters say, in what coordinators write, and in what holders give back.

use bellwether_proto::election::{AnyMsg, Protocol};
use bellwether_proto::exclusive::grant::Name;
use bellwether_proto::exclusive::message::{Answer, Ask, ExclusiveMsg, Wish};
use bellwether_proto::exclusive::voter::VoterKept;
use bellwether_proto::ident::NodeId;
use bellwether_proto::message::{Body, Frame};
use bellwether_proto::promise::Property;
use bellwether_proto::time::Span;
use bellwether_sim::scenario::{Exclusive, Fault, Scenario};

use super::members::{ids, is_caught, members};

#[test]
pub(super) fn token_grows_notices_disks_that_forget() {
    is_caught(&restarted(), Property::TokenGrows, |world| world.set_votes(forget_grants));
}

#[test]
pub(super) fn token_once_notices_disks_that_forget() {
    is_caught(&restarted(), Property::TokenOnce, |world| world.set_votes(forget_grants));
}

/// The coordinator cannot speak with a holder that goes on, and voters bury its lease while it is renewed.
#[test]
pub(super) fn one_holder_notices_voters_that_bury_a_lease_that_runs() {
    let scenario = Scenario { nodes: 5, ..exclusive(Fault::Pause(ids([1]))) };
    let scenario =
        Scenario { exclusive: Some(Exclusive { ttl: Span::secs(3), ..Exclusive::of(5) }), ..scenario };
    is_caught(&scenario, Property::OneHolder, |world| {
        world.set_relay(altering(|msg| match msg {
            ExclusiveMsg::Answer(mut said) => {
                said.answer = match said.answer {
                    Answer::Runs { lease, .. } => Answer::Stopped { lease },
                    Answer::Lives { lease, no: u64::MAX } => Answer::Buried { lease },
                    other => other,
                };
                ExclusiveMsg::Answer(said)
            }
            ExclusiveMsg::Ask(mut asked) => {
                // A voter would refuse to bury it. So it is asked for something else, and its answer is altered.
                if let Ask::Bury { lease } = asked.ask {
                    asked.ask = Ask::IsDead { lease, no: u64::MAX };
                }
                ExclusiveMsg::Ask(asked)
            }
            other => other,
        }));
    });
}

#[test]
pub(super) fn freed_notices_a_release_that_nobody_hears_of() {
    // Whoever coordinates hears of its own release. So another leads.
    let transfer = Fault::Transfer { from: NodeId(1), to: NodeId(2) };
    let mut scenario = exclusive_with(&[(5, transfer), (15, Fault::Resign(ids([2])))]);
    scenario.exclusive = Some(Exclusive { ttl: Span::secs(4), ..Exclusive::of(3) });
    is_caught(&scenario, Property::Freed, |world| {
        world.set_relay(altering(|msg| match msg {
            ExclusiveMsg::Wish(Wish::Release { token, holder, next, .. }) => {
                let name = Name::new("another").expect("a name");
                ExclusiveMsg::Wish(Wish::Release { name, token, holder, next })
            }
            other => other,
        }));
    });
}

#[test]
pub(super) fn granted_notices_voters_that_bury_nobody() {
    let scenario = exclusive(Fault::Crash(ids([1])));
    is_caught(&scenario, Property::Granted, |world| {
        world.set_relay(altering(|msg| match msg {
            ExclusiveMsg::Ask(mut asked) => {
                if let Ask::Bury { lease } = asked.ask {
                    asked.ask = Ask::Runs { lease };
                }
                ExclusiveMsg::Ask(asked)
            }
            other => other,
        }));
    });
}

/// All crash, and another is granted the leadership before the first is back.
fn restarted() -> Scenario {
    exclusive_with(&[(5, Fault::Crash(ids([1, 2, 3]))), (10, Fault::Recover(ids([2, 3])))])
}

fn forget_grants(kept: &mut VoterKept) {
    kept.accepted.remove(&Name::leader());
}

/// Three members that vote, and something that befalls them.
fn exclusive(fault: Fault) -> Scenario {
    exclusive_with(&[(5, fault)])
}

fn exclusive_with(faults: &[(u64, Fault)]) -> Scenario {
    let scenario = members(Protocol::Fjr, faults);
    Scenario { exclusive: Some(Exclusive::of(scenario.nodes)), ..scenario }
}

fn altering(alter: fn(ExclusiveMsg) -> ExclusiveMsg) -> impl FnMut(Frame<AnyMsg>) -> Frame<AnyMsg> {
    move |frame| match frame.body {
        Body::Exclusive(msg) => Frame { body: Body::Exclusive(Box::new(alter(*msg))), ..frame },
        _ => frame,
    }
}
