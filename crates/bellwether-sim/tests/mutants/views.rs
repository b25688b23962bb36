//! Bugs of consistent links, and of the views that are formed over them.

use bellwether_proto::election::franceschetti::{About, Msg};
use bellwether_proto::election::{AnyElection, AnyMsg, Input, Protocol};
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::{Durable, Event};
use bellwether_proto::link::consistent::Carried;
use bellwether_proto::message::{Body, Frame, Letter};
use bellwether_proto::opinion::Opinion;
use bellwether_proto::promise::Property;
use bellwether_proto::roster::Roster;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{TraceEvent, What};
use bellwether_sim::check::Judge;
use bellwether_sim::run::{self, facts};
use bellwether_sim::scenario::{Fault, Planned, Scenario};

use super::bug::Bug;
use super::catches;
use super::leadership::breaks;

/// One end of a link that goes up and down does not see it: the other runs ahead.
#[test]
pub(super) fn link_history_notices_an_end_that_runs_ahead() {
    tampering_is_caught(|event| match event.what {
        What::Node(Event::Link(turn)) => event.node != NodeId(2) || turn.peer != NodeId(3) || turn.seen < 2,
        _ => true,
    });
}

/// One end never sees that the link is up again.
#[test]
fn link_history_notices_an_end_that_misses_the_last_up() {
    let seen = run::trace(&flapping()).into_iter().filter_map(|event| match event.what {
        What::Node(Event::Link(turn)) => Some(turn.seen),
        _ => None,
    });
    let last = seen.max().expect("links go up");
    tampering_is_caught(|event| match event.what {
        What::Node(Event::Link(turn)) => {
            event.node != NodeId(2) || turn.peer != NodeId(3) || turn.seen < last
        }
        _ => true,
    });
}

#[test]
pub(super) fn view_agree_notices_a_member_that_some_leave_out() {
    let mut views = 0;
    relaying_is_caught(Property::ViewAgree, move |msg| match msg {
        Msg::View(mut next) => {
            views += 1;
            next.members.0 &= if views % 2 == 0 { !0 } else { !1 };
            Msg::View(next)
        }
        other => other,
    });
}

#[test]
pub(super) fn one_leader_per_view_notices_a_follower_that_leads_too() {
    struct Vain;
    impl Bug for Vain {
        fn shows(&self, me: NodeId, opinion: Opinion) -> Opinion {
            Opinion {
                leader: opinion.leader.map(|leader| if me == NodeId(3) { me } else { leader }),
                ..opinion
            }
        }
    }
    catches(&Vain, &scenario(), Property::OneLeaderPerView);
}

/// A node that forgets which views it was in takes itself for a member of the first.
#[test]
pub(super) fn one_view_or_dead_notices_a_disk_that_forgets_the_view() {
    let forgets = |durable| Durable { count: 0, ..durable };
    let (scenario, property) = (scenario(), Property::OneViewOrDead);
    assert!(!breaks::<AnyElection>(&scenario, property, |_| {}), "without the bug");
    assert!(breaks::<AnyElection>(&scenario, property, |world| world.set_disks(forgets)), "not noticed");
}

/// Cancels say something else, which means nothing to anybody.
#[test]
pub(super) fn fake_clean_notices_that_nothing_is_taken_back() {
    relaying_is_caught(Property::FakeClean, |msg| match msg {
        Msg::Cancel(about) => Msg::Accept(About { node: NodeId(u32::MAX), ..about }),
        other => other,
    });
}

/// Whoever is asked accepts, whatever it sees itself.
#[test]
fn fake_clean_notices_a_failure_that_not_all_have_seen() {
    struct Agreeable;
    impl Bug for Agreeable {
        fn lets_in(&self, _: &Roster, input: &Input<AnyMsg>) -> bool {
            !matches!(input, Input::Message { msg: AnyMsg::FbOmega(Msg::Cand(_)), .. })
        }

        fn says_instead(&self, input: &Input<AnyMsg>) -> Option<(NodeId, AnyMsg)> {
            match input {
                Input::Message { from, msg: AnyMsg::FbOmega(Msg::Cand(about)) } => {
                    Some((*from, AnyMsg::FbOmega(Msg::Accept(*about))))
                }
                _ => None,
            }
        }
    }
    catches(&Agreeable, &scenario(), Property::FakeClean);
}

/// Of four nodes the link between 1 and 3 fails for a while; then 4 restarts, and is cut off and back.
fn scenario() -> Scenario {
    let mut scenario = Scenario::calm(Protocol::FbOmega, 4, Time::ZERO + Span::secs(40));
    let alone =
        |node: u32| (1..=4).filter(|peer| *peer != node).map(|peer| (NodeId(node), NodeId(peer))).collect();
    let faults = [
        (3, Fault::Cut(vec![(NodeId(1), NodeId(3))])),
        (5, Fault::Heal),
        (10, Fault::Crash(vec![NodeId(4)])),
        (13, Fault::Recover(vec![NodeId(4)])),
        (18, Fault::Cut(alone(4))),
        (21, Fault::Heal),
        (26, Fault::Cut(vec![(NodeId(1), NodeId(4))])),
        (28, Fault::Cut(vec![(NodeId(2), NodeId(4))])),
        (29, Fault::Heal),
    ];
    scenario.events.extend(faults.map(planned));
    scenario
}

/// The link between 2 and 3 fails again and again.
fn flapping() -> Scenario {
    let mut scenario = Scenario::calm(Protocol::FbOmega, 4, Time::ZERO + Span::secs(40));
    let cut = (0..5).map(|n| (3 + 4 * n, Fault::Cut(vec![(NodeId(2), NodeId(3))])));
    let mended = (0..5).map(|n| (5 + 4 * n, Fault::Heal));
    scenario.events.extend(cut.chain(mended).map(planned));
    scenario
}

fn planned((at, fault): (u64, Fault)) -> Planned {
    Planned { at: Time::ZERO + Span::secs(at), fault }
}

/// Judges what a sound run left, and what is left of it when some of what nodes saw is not kept.
fn tampering_is_caught(keep: impl Fn(&TraceEvent) -> bool) {
    let scenario = flapping();
    let trace = run::trace(&scenario);
    let violated = |keep: &dyn Fn(&TraceEvent) -> bool| {
        let mut judge = Judge::new(facts(&scenario), &[Property::LinkHistory]);
        trace.iter().filter(|event| keep(event)).for_each(|event| judge.observe(event));
        super::broken(&judge.finish(scenario.until), Property::LinkHistory)
    };
    assert!(!violated(&|_| true), "before");
    assert!(violated(&keep), "not noticed");
}

/// Runs `fb-omega` with and without somebody who alters what nodes tell each other.
fn relaying_is_caught(property: Property, mut alter: impl FnMut(Msg) -> Msg + 'static) {
    let relay = move |mut frame: Frame<AnyMsg>| {
        if let Body::Consistent(msg) = &mut frame.body
            && let Some(Carried { msg: Letter::Election(AnyMsg::FbOmega(msg)), .. }) = &mut msg.carries
        {
            *msg = alter(msg.clone());
        }
        frame
    };
    let scenario = scenario();
    assert!(!breaks::<AnyElection>(&scenario, property, |_| {}), "{property} without the bug");
    assert!(
        breaks::<AnyElection>(&scenario, property, |world| world.set_relay(relay)),
        "{property} does not notice"
    );
}
