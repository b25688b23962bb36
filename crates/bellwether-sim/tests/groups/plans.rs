//! An application that answers, fails, stalls, or takes its time.

use std::cell::Cell;

use bellwether_proto::group::{Content, Plan, PlanRequest, TASK_MAX};
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::opinion::Status;
use bellwether_proto::promise::Property;
use bellwether_proto::time::Span;
use bellwether_proto::trace::{TraceEvent, What};
use bellwether_sim::check::Judge;
use bellwether_sim::journal::Journal;
use bellwether_sim::run::facts;
use bellwether_sim::world::World;

use super::gather::Gather;
use super::{at, calm, holds, play};

const PATIENCE: Span = Span::millis(50);

/// What the application makes of a group: its size.
fn size(request: &PlanRequest) -> Plan {
    Some(Content::new(vec![request.members.len() as u8]).expect("it is short"))
}

#[test]
fn what_the_application_computes_is_in_place_everywhere() {
    let scenario = calm(3, at(1_000));
    let journal = Journal::new(Judge::new(facts(&scenario), &[Property::History]), None);
    let mut world: World<'_, Gather> = World::new(&scenario, journal);
    world.set_application(PATIENCE, |_, request| Some((Span::millis(7), size(request))));
    let mut in_place = 0;
    while world.now() < scenario.until {
        world.step();
        for id in (1..=3).map(NodeId) {
            let node = world.node(id).expect("nobody crashes");
            if node.opinion().status == Status::Normal {
                let members = node.lineage().and_then(|lineage| lineage.record(node.opinion().group?));
                let members = members.expect("a group in place is recorded").members.len();
                assert_eq!(
                    node.task_in_place().map(|task| task.content().to_vec()),
                    Some(vec![members as u8])
                );
                in_place += usize::from(members == 3);
            }
        }
    }
    assert!(in_place > 0, "all three were together");
}

/// When each reorganization of that node asked, failed, or was done.
fn ends(events: &[TraceEvent], node: u32) -> Vec<(u64, Status)> {
    let opinions =
        events.iter().filter(|event| event.node == NodeId(node)).filter_map(|event| match event.what {
            What::Node(Event::Opinion(opinion)) => Some((event.at.as_micros() / 1_000, opinion.status)),
            _ => None,
        });
    opinions.collect()
}

#[test]
fn an_application_that_fails_or_stalls_is_asked_again_within_the_bound() {
    // Two nodes whose application never answers, or fails at once; each failed attempt ends, and another begins.
    let t = 4; // T = 2δ, δ = 2 ms.
    for (answer, bound) in [(None, 50), (Some((Span::ZERO, None)), t)] {
        let asked = Cell::new(Vec::new());
        let (_, events) = play(&calm(2, at(500)), &[], |world| {
            world.set_application(PATIENCE, |node, request| {
                let mut all = asked.take();
                all.push((node, request.no));
                asked.set(all);
                answer.clone()
            });
        });
        let asked: Vec<_> = asked.take().into_iter().filter(|(node, _)| *node == NodeId(1)).collect();
        assert!(asked.len() as u64 >= 500 / bound - 2, "{} times", asked.len());
        assert!(asked.len() as u64 <= 500 / bound + 1, "{} times: not as fast as it can fail", asked.len());
        assert!(asked.windows(2).all(|pair| pair[0].1.seq < pair[1].1.seq), "each is another");
        assert!(ends(&events, 1).iter().all(|(_, status)| *status != Status::Normal));
    }
}

#[test]
fn one_failure_is_one_reorganization() {
    let tries = Cell::new(0);
    let (findings, events) = play(&calm(2, at(1_000)), &[Property::History], |world| {
        world.set_application(PATIENCE, |node, request| {
            tries.set(tries.get() + u32::from(node == NodeId(1)));
            let fails = node == NodeId(1) && tries.get() <= 2;
            Some((Span::millis(1), if fails { None } else { size(request) }))
        });
    });
    holds(&findings);
    let normal = ends(&events, 1).into_iter().find(|(_, status)| *status == Status::Normal);
    let (millis, _) = normal.expect("the third attempt works");
    assert!((8..20).contains(&millis), "after two times T: {millis} ms");
}

#[test]
fn an_application_that_is_slower_than_its_bound_has_failed() {
    let (_, events) = play(&calm(1, at(300)), &[], |world| {
        world.set_application(PATIENCE, |_, request| Some((Span::millis(60), size(request))));
    });
    assert!(
        ends(&events, 1).iter().all(|(_, status)| *status != Status::Normal),
        "each answer came too late"
    );
}

#[test]
fn a_task_that_is_too_long_is_an_error_to_its_author() {
    let refused = Cell::new(0);
    let (_, events) = play(&calm(2, at(300)), &[], |world| {
        world.set_application(PATIENCE, |_, request| {
            let alone = request.members.len() == 1;
            let content = Content::new(vec![0; if alone { 1 } else { TASK_MAX + 1 }]);
            refused.set(refused.get() + u32::from(content.is_err()));
            Some((Span::ZERO, content.ok()))
        });
    });
    assert!(refused.get() > 0, "the author was told");
    let ready =
        events.iter().filter(|event| matches!(event.what, What::Send(msg) if msg.kind.name() == "Ready"));
    assert_eq!(ready.count(), 0, "and no member ever was");
}
