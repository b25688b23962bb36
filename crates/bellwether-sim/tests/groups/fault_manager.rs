//! The fault manager (Franceschetti and Bruck 1998, section 1): who leads a view hears who failed and who is back, and the view
//! does not work before it has answered.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use bellwether_proto::election::{AnyElection, Protocol};
use bellwether_proto::group::{Content, GroupEvent, PlanRequest};
use bellwether_proto::ident::{GroupId, NodeId};
use bellwether_proto::io::Event;
use bellwether_proto::opinion::{Opinion, Status};
use bellwether_proto::promise::Property;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{TraceEvent, What};
use bellwether_sim::check::Judge;
use bellwether_sim::journal::Journal;
use bellwether_sim::plan;
use bellwether_sim::run::facts;
use bellwether_sim::scenario::{Fault, Planned, Scenario};
use bellwether_sim::world::World;

use super::{at, holds};

/// Who was asked, about whom: the manager, the members, who failed, who was re-admitted.
type Asked = (u32, Vec<u32>, Vec<u32>, Vec<u32>);

/// When an application answers, if it does, and whether it succeeds.
type Answer = Option<(Span, bool)>;

const SOON: Answer = Some((Span::millis(5), true));

/// What managers were asked in a run of five nodes with these faults, each answered like that; and whether all who are up are in
/// service in the end, under whom.
fn asked(faults: &[(u64, Fault)], answer: impl Fn(&Asked) -> Answer) -> (Vec<Asked>, Option<u32>) {
    let planned = |(millis, fault): &(u64, Fault)| Planned { at: at(*millis), fault: fault.clone() };
    let scenario = Scenario {
        events: faults.iter().map(planned).collect(),
        ..Scenario::calm(Protocol::FbOmega, 5, at(10_000))
    };
    let views = [Property::ViewAgree, Property::OneViewOrDead, Property::FakeClean];
    let groups = [Property::History, Property::A3];
    let judge = Judge::new(facts(&scenario), &[&views[..], &groups].concat());
    let mut world: World<'_, AnyElection> = World::new(&scenario, Journal::new(judge, None));
    let all = Rc::new(RefCell::new(Vec::new()));
    let heard = Rc::clone(&all);
    world.set_application(Span::secs(2), move |manager, request| {
        let asked = in_numbers(manager, request);
        let answer = answer(&asked);
        heard.borrow_mut().push(asked);
        let content = Content::new(vec![7]).expect("it is short");
        answer.map(|(after, succeeds)| (after, succeeds.then_some(content)))
    });
    world.run_until(scenario.until);
    let leaders: Vec<_> = (1..=5)
        .filter_map(|id| Some(world.node(NodeId(id))?.opinion().normal_leader().map(|led| led.0)))
        .collect();
    let agreed = leaders.windows(2).all(|pair| pair[0] == pair[1]);
    holds(&world.into_journal().verdicts(scenario.until));
    assert!(agreed, "{leaders:?}");
    (all.take(), leaders[0])
}

fn in_numbers(manager: NodeId, request: &PlanRequest) -> Asked {
    let numbers = |ids: &[NodeId]| ids.iter().map(|id| id.0).collect();
    let members = request.members.iter().map(|member| member.node.0).collect();
    (manager.0, members, numbers(&request.failed), numbers(&request.readmitted))
}

fn ids(ids: &[u32]) -> Vec<NodeId> {
    ids.iter().copied().map(NodeId).collect()
}

#[test]
fn the_manager_hears_who_failed_and_who_is_back() {
    let faults = [(2_000, Fault::Crash(ids(&[5]))), (5_000, Fault::Recover(ids(&[5])))];
    let (asked, leader) = asked(&faults, |_| SOON);
    let all = vec![1, 2, 3, 4, 5];
    assert_eq!(
        asked,
        [
            (1, all.clone(), vec![], all.clone()),
            (1, vec![1, 2, 3, 4], vec![5], vec![]),
            (1, all, vec![], vec![5]),
        ]
    );
    assert_eq!(leader, Some(1));
}

/// It has not answered when it fails itself: nothing was recovered yet, and the next is told of both.
#[test]
fn what_a_manager_did_not_finish_is_the_next_ones() {
    let faults = [(2_000, Fault::Crash(ids(&[5]))), (3_000, Fault::Crash(ids(&[1])))];
    let (asked, leader) =
        asked(
            &faults,
            |(manager, _, failed, _)| {
                if *manager == 1 && !failed.is_empty() { Some((Span::secs(60), true)) } else { SOON }
            },
        );
    let last = asked.last().expect("somebody was asked");
    assert_eq!((last.0, &last.1, &last.2), (2, &vec![2, 3, 4], &vec![1, 5]), "{asked:?}");
    assert_eq!(leader, Some(2));
}

/// One that restarts before anybody has missed it has lost what it knew, and all are told.
#[test]
fn a_quick_restart_is_a_readmission() {
    let faults = [(2_000, Fault::Crash(ids(&[3]))), (2_020, Fault::Recover(ids(&[3])))];
    let (asked, _) = asked(&faults, |_| SOON);
    let last = asked.last().expect("somebody was asked");
    assert_eq!((&last.1, &last.2, &last.3), (&vec![1, 2, 3, 4, 5], &vec![], &vec![3]), "{asked:?}");
}

/// Whoever cannot manage does not lead: it is dead, and admitted again by the next.
#[test]
fn a_manager_that_fails_or_stalls_is_followed_by_another() {
    for bad in [Some((Span::ZERO, false)), None] {
        let (asked, leader) = asked(&[], |(manager, ..)| if *manager == 1 { bad } else { SOON });
        assert_eq!(asked.iter().map(|asked| asked.0).collect::<Vec<_>>(), [1, 2], "{asked:?}");
        assert_eq!((asked[1].1.len(), leader), (5, Some(2)));
    }
}

/// If nobody can, all try in turn, and not as fast as they fail.
#[test]
fn if_nobody_can_manage_all_try_in_turn() {
    let (asked, leader) = asked(&[], |_| Some((Span::ZERO, false)));
    assert_eq!(leader, None);
    assert!((4..100).contains(&asked.len()), "{} times in ten seconds", asked.len());
    let managers: BTreeSet<u32> = asked.iter().map(|asked| asked.0).collect();
    assert!(managers.len() > 1, "{managers:?}");
}

/// What somebody who sees everything knows: who was in the view that was last in service, and who has been away since.
#[derive(Default)]
struct Truth {
    /// The members of each view, by its leader's word.
    members: BTreeMap<GroupId, BTreeSet<NodeId>>,
    /// The views that came into service: their leaders knew that all members had the task.
    complete: BTreeSet<GroupId>,
    /// The view in which each node was last in service, until it crashes or is dead.
    serves: BTreeMap<NodeId, GroupId>,
    /// Who has been away since it was last in service.
    away: BTreeSet<NodeId>,
}

impl Truth {
    fn observe(&mut self, event: &TraceEvent) {
        match event.what {
            What::Node(Event::Group(GroupEvent::Recorded { group, .. })) => {
                self.complete.extend((group.0.node == event.node).then_some(group));
                if self.complete.contains(&group) {
                    self.serves.insert(event.node, group);
                    self.away.remove(&event.node);
                }
            }
            What::Crash | What::Node(Event::Opinion(Opinion { status: Status::Dead, .. })) => {
                self.away.insert(event.node);
            }
            _ => {}
        }
    }

    /// Who must be told to have failed, and to be back: as seen from the latest view that somebody who is asked was in all the time.
    fn owed(&self, members: &BTreeSet<NodeId>) -> Option<(BTreeSet<NodeId>, BTreeSet<NodeId>)> {
        let present = members.iter().filter(|member| !self.away.contains(member));
        let latest = present.filter_map(|member| self.serves.get(member)).max_by_key(|view| view.0.seq)?;
        let before = self.members.get(latest)?;
        let away = members.iter().filter(|member| self.away.contains(member) || !before.contains(member));
        Some((before.difference(members).copied().collect(), away.copied().collect()))
    }
}

/// The same, and from time to time somebody crashes before it sends what a reorganization takes.
fn crashing_at_every_step(mut scenario: Scenario, seed: u64) -> Scenario {
    let (nodes, millis) = (u64::from(scenario.nodes), |n: u64| Time::ZERO + Span::millis(n));
    for n in 0..6 {
        let kind = ["Member", "Ready", "ReadyReply", "InService"][((seed + n) % 4) as usize].to_owned();
        let node = NodeId(1 + ((seed / 4 + n * n) % nodes) as u32);
        let crash = Fault::CrashBeforeSend { node, kind };
        scenario.events.push(Planned { at: millis(1_000 + n * 1_700), fault: crash });
        scenario.events.push(Planned { at: millis(2_400 + n * 1_700), fault: Fault::Recover(vec![node]) });
    }
    let all = (1..=scenario.nodes).map(NodeId).collect();
    scenario.events.push(Planned { at: millis(13_000), fault: Fault::Recover(all) });
    scenario
}

/// Whatever befalls links, nodes and managers: nobody who failed, and nobody who is back, is kept from the manager.
#[test]
fn no_failure_and_no_return_is_kept_from_a_manager() {
    let mut judged = 0;
    for seed in 1..=400 {
        let scenario = crashing_at_every_step(plan::flapping::draw(Protocol::FbOmega, seed), seed);
        let truth = Rc::new(RefCell::new(Truth::default()));
        let (seen, heard) = (Rc::clone(&truth), Rc::new(RefCell::new(Vec::new())));
        let judge =
            Judge::new(facts(&scenario), &[Property::A3, Property::ViewAgree, Property::OneViewOrDead]);
        let journal = Journal::new(judge, Some(Box::new(move |event| seen.borrow_mut().observe(event))));
        let mut world: World<'_, AnyElection> = World::new(&scenario, journal);
        let (asked, known) = (Rc::clone(&heard), Rc::clone(&truth));
        world.set_application(Span::secs(1), move |manager, request| {
            let members: BTreeSet<NodeId> = request.members.iter().map(|member| member.node).collect();
            let owed = known.borrow().owed(&members);
            asked.borrow_mut().push((manager, request.clone(), owed));
            known.borrow_mut().members.extend(request.group.map(|group| (group, members)));
            // Some answer at once, some slowly, some fail and some never answer.
            let content = Content::new(vec![7]).expect("it is short");
            match (seed + request.no.seq + u64::from(manager.0)) % 8 {
                0 => None,
                1 => Some((Span::millis(20), None)),
                2 | 3 => Some((Span::millis(300), Some(content))),
                _ => Some((Span::millis(3), Some(content))),
            }
        });
        world.run_until(scenario.until);
        holds(&world.into_journal().verdicts(scenario.until));
        for (manager, request, owed) in heard.take() {
            let Some((failed, away)) = owed else { continue };
            judged += failed.len() + away.len();
            let told = |all: &[NodeId], owed: &BTreeSet<NodeId>| owed.iter().all(|node| all.contains(node));
            assert!(told(&request.failed, &failed), "{seed}: {manager} misses {failed:?}: {request:?}");
            assert!(told(&request.readmitted, &away), "{seed}: {manager} misses {away:?}: {request:?}");
        }
    }
    assert!(judged > 1_000, "{judged}");
}
