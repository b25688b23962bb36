//! Agents, searched: small searches that are complete, and planted bugs in the leadership layer that must be found. Whatever a
//! search finds, the checkers of traces find on its path.

use bellwether_proto::election::{AnyElection, Protocol};
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::{Event, Output};
use bellwether_proto::leadership::{Announcement, Cause, LeadershipMsg};
use bellwether_proto::message::Body;
use bellwether_proto::promise::Property;
use bellwether_proto::tenure::{Refused, Tenure};
use bellwether_proto::time::Span;
use bellwether_sim::check::Judge;
use bellwether_sim::explore::{
    Ask, Bounds, Broken, Counterexample, Extent, Fault, Flow, Origin, State, System, Transition,
    can_search_agents, explore, promised_by_agents, story,
};
use bellwether_sim::run::facts;

use super::{limits, states_with_one_future};

type Agents = System<AnyElection>;

fn bounds(protocol: Protocol, crashes: u8, commands: u8, early: u8) -> Bounds {
    Bounds { crashes, commands, early, ..Bounds::suited_to_agents(protocol) }
}

fn agents(protocol: Protocol, nodes: u32, bounds: Bounds, preferred: Option<u32>) -> Agents {
    System::of_agents(protocol, nodes, bounds, Origin::Settled, preferred.map(NodeId))
}

#[test]
fn agents_keep_their_promises_within_small_bounds() {
    let fjr = |crashes, commands, early| bounds(Protocol::Fjr, crashes, commands, early);
    let fb_omega = |crashes, commands, early| bounds(Protocol::FbOmega, crashes, commands, early);
    let searches = [
        (Protocol::Fjr, 3, fjr(0, 1, 0), Some(3), 4_000),
        (Protocol::Fjr, 3, fjr(0, 1, 0), None, 4_000),
        (Protocol::Fjr, 3, fjr(1, 0, 1), Some(3), 500),
        (Protocol::Fjr, 2, fjr(1, 1, 1), Some(2), 4_000),
        (Protocol::FbOmega, 3, fb_omega(1, 0, 1), None, 500),
        (Protocol::FbOmega, 2, fb_omega(0, 2, 0), None, 8_000),
    ];
    for (protocol, nodes, bounds, preferred, least) in searches {
        let system = agents(protocol, nodes, bounds, preferred);
        let judged = promised_by_agents(protocol, nodes, bounds);
        assert!(judged.contains(&Property::EpochOnce) && judged.contains(&Property::Settled));
        let outcome = explore(&system, &judged, limits(2), |_| Flow::GoOn);
        let what = format!("{}, {nodes} nodes, {bounds}", protocol.name());
        assert!(outcome.violations.is_empty(), "{what}: {:#?}", outcome.violations);
        assert_eq!((outcome.extent, outcome.undecided), (Extent::All, 0), "{what}");
        assert!(outcome.states > least, "{what}: {} states", outcome.states);
    }
}

/// They start, and are left alone.
#[test]
fn agents_that_start_settle() {
    let bounds = bounds(Protocol::Fjr, 0, 0, 0);
    let system: Agents = System::of_agents(Protocol::Fjr, 3, bounds, Origin::Start, Some(NodeId(3)));
    let judged = promised_by_agents(Protocol::Fjr, 3, bounds);
    let outcome = explore(&system, &judged, limits(2), |_| Flow::GoOn);
    assert!(outcome.violations.is_empty(), "{:#?}", outcome.violations);
    assert_eq!(outcome.extent, Extent::All);
}

/// What counts as one state of agents has one future.
#[test]
fn agents_in_one_state_have_one_future() {
    let searches = [
        (Protocol::Fjr, 2, bounds(Protocol::Fjr, 0, 1, 1), Some(2)),
        (Protocol::Fjr, 3, bounds(Protocol::Fjr, 0, 1, 0), Some(3)),
        (Protocol::FbOmega, 2, bounds(Protocol::FbOmega, 0, 1, 0), None),
    ];
    for (protocol, nodes, bounds, preferred) in searches {
        let states = states_with_one_future(&agents(protocol, nodes, bounds, preferred));
        assert!(states > 300, "{}: {states} states", protocol.name());
    }
}

#[test]
fn only_agents_without_a_detector_can_be_searched() {
    assert!(can_search_agents(Protocol::Fjr) && can_search_agents(Protocol::FbOmega));
    assert!(!can_search_agents(Protocol::AsyncBully), "its detector is an agent's");
    assert!(!can_search_agents(Protocol::Bully), "no agent runs it");
}

#[test]
fn leadership_that_is_given_back_before_work_has_ended_is_found() {
    let system = agents(Protocol::Fjr, 3, bounds(Protocol::Fjr, 0, 1, 0), None).with_hasty_nodes();
    let found = finds(&system, Property::WorkEndsFirst);
    assert!(found.what.contains("goes on 0s after it was to end"), "{}", found.what);
    let system = agents(Protocol::FbOmega, 3, bounds(Protocol::FbOmega, 0, 1, 0), None).with_hasty_nodes();
    finds(&system, Property::WorkEndsFirst);
}

/// What was asked before is refused then. That is a step like any other; what is refused itself is none.
#[test]
fn leaving_goes_first() {
    let system = agents(Protocol::Fjr, 2, bounds(Protocol::Fjr, 0, 2, 0), None);
    let ask =
        |state: &State<AnyElection>, what| system.after(state, Transition::Ask { node: 0, what, cut: 0 });
    let resigns = ask(&system.initial(), Ask::Resign).expect("it leads");
    assert!(ask(&resigns, Ask::Transfer(1)).is_none(), "one command at a time");
    assert!(ask(&resigns, Ask::Leave).is_some());
}

/// Whoever works as the leader is not told to stop.
#[test]
fn work_that_is_not_asked_to_end_is_found() {
    let fault: Fault<AnyElection> = |_, output| {
        Some(output).filter(|output| !matches!(output, Output::Tenure(tenure) if is_asked_back(tenure)))
    };
    let system = agents(Protocol::Fjr, 3, bounds(Protocol::Fjr, 0, 1, 0), None).with_fault(fault);
    let found = finds(&system, Property::WorkEndsFirst);
    assert!(found.what.contains("was never to end"), "{}", found.what);
}

/// A hand-over that the other did not take is not answered.
#[test]
fn a_hand_over_that_is_never_answered_is_found() {
    let fault: Fault<AnyElection> = |_, output| {
        let not_taken = Err(Refused::NotTaken { to: NodeId(1) });
        Some(output)
            .filter(|output| !matches!(output, Output::Answer { outcome, .. } if *outcome == not_taken))
    };
    let system = agents(Protocol::Fjr, 3, bounds(Protocol::Fjr, 1, 1, 0), Some(3)).with_fault(fault);
    let outcome = explore(&system, &[Property::Answered], limits(2), |_| Flow::GoOn);
    let [found] = &outcome.violations[..] else { panic!("one: {:#?}", outcome.violations) };
    assert!(found.what.contains("3 has not answered what it was asked for"), "{}", found.what);
    let told = story(&system, &found.steps).lines;
    assert!(told.iter().any(|line| line.starts_with("3 is asked to hand over to 1")), "{told:#?}");
    assert!(told.iter().any(|line| line.starts_with("1 crashes")), "{told:#?}");
}

/// A leader that hands over announces itself once more.
#[test]
fn a_leader_that_announces_itself_after_it_handed_over_is_found() {
    let fault: Fault<AnyElection> = |node, mut output| {
        if let Output::Event(Event::Announced(Announcement { leader, epoch, cause })) = &mut output
            && matches!(cause, Cause::HandedOver(from, _) if *from == node)
        {
            (*leader, *epoch) = (Some(node), *epoch + 1);
        }
        Some(output)
    };
    let system = agents(Protocol::Fjr, 3, bounds(Protocol::Fjr, 0, 1, 0), None).with_fault(fault);
    finds(&system, Property::AnnouncedOnce);
}

/// A member says that it is preferred, and gives way to others all the same.
#[test]
fn a_priority_that_is_not_the_members_own_is_found() {
    let fault: Fault<AnyElection> = |node, mut output| {
        if let Output::Send { frame, .. } = &mut output
            && let Body::Leadership(LeadershipMsg::Follow { priority, .. }) = &mut frame.body
            && node == NodeId(1)
        {
            *priority = 9;
        }
        Some(output)
    };
    let bounds = bounds(Protocol::Fjr, 0, 0, 0);
    let system: Agents =
        System::of_agents(Protocol::Fjr, 3, bounds, Origin::Start, Some(NodeId(3))).with_fault(fault);
    let outcome = explore(&system, &[Property::Settled], limits(2), |_| Flow::GoOn);
    let [found] = &outcome.violations[..] else { panic!("one: {:#?}", outcome.violations) };
    assert!(found.what.contains("it never comes to rest"), "{}", found.what);
}

fn is_asked_back(tenure: &Tenure) -> bool {
    matches!(tenure, Tenure::AskedBack { .. })
}

/// The search finds it broken, and so does the checker of traces on the path.
fn finds(system: &Agents, property: Property) -> Counterexample {
    let outcome = explore(system, &[property], limits(2), |_| Flow::GoOn);
    let [found] = &outcome.violations[..] else { panic!("one: {:#?}", outcome.violations) };
    assert_eq!(found.broken, Broken::Property(property));
    let story = story(system, &found.steps);
    assert_eq!(story.lines.len(), found.steps.len());
    let mut judge = Judge::new(facts(system.scenario()), &[property]);
    story.trace.iter().for_each(|event| judge.observe(event));
    let end = story.trace.last().expect("something happened").at + Span::micros(1);
    let finding = judge.finish(end).into_iter().next().expect("it was judged");
    let violation = finding.violation.unwrap_or_else(|| panic!("{}: {:#?}", found.what, story.lines));
    let words = |text: &str| text.split([',', ':']).next().map(str::to_owned);
    assert_eq!(words(&violation.what), words(&found.what));
    found.clone()
}
