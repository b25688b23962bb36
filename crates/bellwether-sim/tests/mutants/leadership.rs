//! Bugs of what turns elections into leaderships: in what members tell each other, and in what they keep.

use bellwether_proto::election::{AnyElection, AnyMsg, Election, Protocol};
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Durable;
use bellwether_proto::leadership::LeadershipMsg;
use bellwether_proto::message::{Body, Frame};
use bellwether_proto::opinion::Opinion;
use bellwether_proto::promise::Property;
use bellwether_proto::time::{Span, Time};
use bellwether_sim::check::Judge;
use bellwether_sim::journal::Journal;
use bellwether_sim::run::facts;
use bellwether_sim::scenario::{Fault, Planned, Scenario};
use bellwether_sim::world::World;

use super::bug::Bug;
use super::catches;

#[test]
fn epoch_notices_a_leader_that_tells_the_others_another_epoch_than_its_own() {
    relaying_is_caught(Property::Epoch, |msg| match msg {
        LeadershipMsg::Lead { round, epoch, followers } => {
            LeadershipMsg::Lead { round, epoch: epoch + 1, followers }
        }
        other => other,
    });
}

#[test]
pub(super) fn epoch_notices_a_disk_that_forgets() {
    let forgets = |durable| Durable { epoch: 0, ..durable };
    let scenario = restart_alone();
    assert!(!breaks::<AnyElection>(&scenario, Property::Epoch, |_| {}), "without the bug");
    assert!(
        breaks::<AnyElection>(&scenario, Property::Epoch, |world| world.set_disks(forgets)),
        "not noticed"
    );
}

#[test]
pub(super) fn settled_notices_members_that_are_never_told_who_leads() {
    relaying_is_caught(Property::Settled, |msg| match msg {
        LeadershipMsg::Lead { round, epoch, .. } => LeadershipMsg::Claim { round, epoch },
        other => other,
    });
}

#[test]
fn settled_notices_numbers_that_begin_anew_with_each_leader() {
    relaying_is_caught(Property::Settled, |msg| match msg {
        LeadershipMsg::Lead { round, .. } => LeadershipMsg::Lead { round, epoch: 1, followers: 0 },
        other => other,
    });
}

#[test]
fn settled_notices_a_follower_that_clings_to_a_dead_leader() {
    struct Clinging;
    impl Bug for Clinging {
        fn shows(&self, me: NodeId, opinion: Opinion) -> Opinion {
            if me == NodeId(4) { Opinion { leader: Some(NodeId(1)), ..opinion } } else { opinion }
        }
    }
    catches(&Clinging, &in_agent(Protocol::AsyncBully), Property::Settled);
}

/// Runs the default algorithm as an agent does, with and without somebody who alters what members tell each other.
fn relaying_is_caught(property: Property, alter: fn(LeadershipMsg) -> LeadershipMsg) {
    let relay = move |frame: Frame<AnyMsg>| match frame.body {
        Body::Leadership(msg) => Frame { body: Body::Leadership(alter(msg)), ..frame },
        _ => frame,
    };
    let scenario = in_agent(Protocol::Fjr);
    assert!(!breaks::<AnyElection>(&scenario, property, |_| {}), "{property} without the bug");
    assert!(
        breaks::<AnyElection>(&scenario, property, |world| world.set_relay(relay)),
        "{property} does not notice"
    );
}

fn in_agent(protocol: Protocol) -> Scenario {
    Scenario { agent: true, ..super::scenario(protocol) }
}

/// Of two nodes that are cut off from each other, the second restarts.
fn restart_alone() -> Scenario {
    let mut scenario = Scenario::calm(Protocol::Fjr, 2, Time::ZERO + Span::secs(20));
    let faults = [
        (3, Fault::Partition(vec![vec![NodeId(1)], vec![NodeId(2)]])),
        (6, Fault::Crash(vec![NodeId(2)])),
        (7, Fault::Recover(vec![NodeId(2)])),
    ];
    scenario.agent = true;
    scenario.events.extend(faults.map(|(at, fault)| Planned { at: Time::ZERO + Span::secs(at), fault }));
    scenario
}

/// Whether the property was judged, and broken.
pub(super) fn breaks<E: Election>(
    scenario: &Scenario,
    property: Property,
    plant: impl FnOnce(&mut World<'_, E>),
) -> bool {
    let journal = Journal::new(Judge::new(facts(scenario), &[property]), None);
    let mut world: World<'_, E> = World::new(scenario, journal);
    plant(&mut world);
    world.run_until(scenario.until);
    super::broken(&world.into_journal().verdicts(scenario.until), property)
}
