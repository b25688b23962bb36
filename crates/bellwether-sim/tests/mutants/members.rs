//! Bugs of members: in what they tell each other about leading, in what they keep, and in how they give leadership back.

use bellwether_proto::election::{AnyElection, AnyMsg, Protocol};
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Durable;
use bellwether_proto::leadership::LeadershipMsg;
use bellwether_proto::message::{Body, Frame};
use bellwether_proto::promise::Property;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{Program, TraceEvent, What};
use bellwether_sim::check::Judge;
use bellwether_sim::run::{facts, trace};
use bellwether_sim::scenario::{Fault, Planned, Scenario};
use bellwether_sim::world::World;

use super::broken;
use super::leadership::breaks;

#[test]
pub(super) fn epoch_grows_notices_followers_that_do_not_tell_what_they_have_seen() {
    let scenario = members(Protocol::Lfa, &[(5, Fault::Crash(ids([1]))), (10, Fault::Recover(ids([1])))]);
    is_caught(&scenario, Property::EpochGrows, |world| {
        world.set_relay(altering(|msg| match msg {
            LeadershipMsg::Follow { round, priority, count, .. } => {
                LeadershipMsg::Follow { round, epoch: 0, of: None, priority, count }
            }
            LeadershipMsg::Seen { .. } => LeadershipMsg::Seen { epoch: 0, of: None },
            other => other,
        }));
    });
}

#[test]
pub(super) fn epoch_once_notices_disks_that_forget() {
    let faults = [(5, Fault::Crash(ids([1, 2, 3]))), (10, Fault::Recover(ids([2, 3])))];
    let scenario = members(Protocol::FbOmega, &faults);
    is_caught(&scenario, Property::EpochOnce, |world| {
        world.set_disks(|durable| Durable { epoch: 0, ..durable });
    });
}

#[test]
pub(super) fn leads_alone_notices_members_that_hide_who_leads() {
    let mut scenario = members(Protocol::Fjr, &[(5, Fault::Cut(vec![(NodeId(1), NodeId(2))]))]);
    scenario.nodes = 4;
    is_caught(&scenario, Property::LeadsAlone, |world| {
        world.set_relay(altering(|msg| match msg {
            LeadershipMsg::Elsewhere { .. } => LeadershipMsg::Seen { epoch: 0, of: None },
            other => other,
        }));
    });
}

#[test]
pub(super) fn announced_once_notices_followers_that_have_seen_too_much() {
    let scenario = members(Protocol::Fjr, &[(5, Fault::Crash(ids([1])))]);
    is_caught(&scenario, Property::AnnouncedOnce, |world| {
        world.set_relay(altering(|msg| match msg {
            LeadershipMsg::Follow { round, epoch, of, priority, count } => {
                LeadershipMsg::Follow { round, epoch: epoch + 1, of, priority, count }
            }
            other => other,
        }));
    });
}

#[test]
pub(super) fn work_ends_first_notices_a_program_that_speaks_too_soon() {
    for fault in
        [Fault::Resign(ids([1])), Fault::Transfer { from: NodeId(1), to: NodeId(3) }, Fault::Leave(ids([1]))]
    {
        let late = Fault::Work { node: NodeId(1), ends_after: Some(Span::secs(2)) };
        let scenario = members(Protocol::Fjr, &[(1, late), (5, fault)]);
        is_caught(&scenario, Property::WorkEndsFirst, |world| world.set_hasty_programs());
    }
}

#[test]
pub(super) fn answered_notices_a_member_that_keeps_silent() {
    let scenario = members(Protocol::Fjr, &[(5, Fault::Resign(ids([1])))]);
    let judged = |trace: &[TraceEvent]| {
        let mut judge = Judge::new(facts(&scenario), &[Property::Answered]);
        trace.iter().for_each(|event| judge.observe(event));
        broken(&judge.finish(scenario.until), Property::Answered)
    };
    let mut trace = trace(&scenario);
    assert!(!judged(&trace), "it answers");
    trace.retain(|event| !matches!(event.what, What::Program(Program::Answered { .. })));
    assert!(judged(&trace), "not noticed");
}

#[test]
pub(super) fn answer_true_notices_a_member_that_says_yes_to_everything() {
    let scenario = members(Protocol::Fjr, &[(5, Fault::Transfer { from: NodeId(1), to: NodeId(2) })]);
    let judged = |trace: &[TraceEvent]| {
        let mut judge = Judge::new(facts(&scenario), &[Property::AnswerTrue]);
        trace.iter().for_each(|event| judge.observe(event));
        broken(&judge.finish(scenario.until), Property::AnswerTrue)
    };
    let mut trace = trace(&scenario);
    assert!(!judged(&trace), "it has handed over");
    let answered = |event: &TraceEvent| matches!(event.what, What::Program(Program::Answered { .. }));
    let asked = |event: &TraceEvent| matches!(event.what, What::Program(Program::Asked { .. }));
    let answer = trace.remove(trace.iter().position(answered).expect("it answers"));
    let asked = trace.iter().position(asked).expect("it was asked");
    trace.insert(asked + 1, TraceEvent { at: trace[asked].at, ..answer });
    assert!(judged(&trace), "not noticed");
}

#[test]
pub(super) fn taken_over_notices_a_hand_over_that_nobody_hears_of() {
    let scenario = members(Protocol::Fjr, &[(5, Fault::Transfer { from: NodeId(1), to: NodeId(2) })]);
    is_caught(&scenario, Property::TakenOver, |world| {
        world.set_relay(altering(|msg| match msg {
            LeadershipMsg::HandOver { .. } => LeadershipMsg::HandOver { to: NodeId(3) },
            other => other,
        }));
    });
}

#[test]
pub(super) fn preferred_notices_members_that_hide_their_priority() {
    let faults = [(5, Fault::Crash(ids([1]))), (6, Fault::Recover(ids([1]))), (15, Fault::Crash(ids([3])))];
    let mut scenario = members(Protocol::Fjr, &faults);
    scenario.policy.priority = [(NodeId(2), 5), (NodeId(3), 10)].into();
    is_caught(&scenario, Property::Preferred, |world| {
        world.set_relay(altering(|msg| match msg {
            LeadershipMsg::Follow { round, epoch, of, count, .. } => {
                LeadershipMsg::Follow { round, epoch, of, priority: 0, count }
            }
            other => other,
        }));
    });
}

#[test]
pub(super) fn led_notices_members_that_are_never_told_who_leads() {
    let scenario = members(Protocol::Fjr, &[]);
    is_caught(&scenario, Property::Led, |world| {
        world.set_relay(altering(|msg| match msg {
            LeadershipMsg::Lead { round, epoch, .. } => LeadershipMsg::Claim { round, epoch },
            other => other,
        }));
    });
}

/// Three members, to whom this happens at these seconds.
pub(super) fn members(protocol: Protocol, faults: &[(u64, Fault)]) -> Scenario {
    let mut scenario = Scenario::calm(protocol, 3, Time::ZERO + Span::secs(30));
    scenario.agent = true;
    let planned =
        |(at, fault): &(u64, Fault)| Planned { at: Time::ZERO + Span::secs(*at), fault: fault.clone() };
    scenario.events = faults.iter().map(planned).collect();
    scenario
}

pub(super) fn ids<const N: usize>(ids: [u32; N]) -> Vec<NodeId> {
    ids.map(NodeId).into()
}

/// Somebody who alters what members tell each other about leading.
fn altering(alter: fn(LeadershipMsg) -> LeadershipMsg) -> impl FnMut(Frame<AnyMsg>) -> Frame<AnyMsg> {
    move |frame| match frame.body {
        Body::Leadership(msg) => Frame { body: Body::Leadership(alter(msg)), ..frame },
        _ => frame,
    }
}

pub(super) fn is_caught(
    scenario: &Scenario,
    property: Property,
    plant: impl FnOnce(&mut World<'_, AnyElection>),
) {
    assert!(!breaks::<AnyElection>(scenario, property, |_| {}), "{property} without the bug");
    assert!(breaks(scenario, property, plant), "{property} does not notice");
}
