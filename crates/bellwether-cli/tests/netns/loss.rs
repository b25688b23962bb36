//! A network that loses a good part of what it carries.

use std::time::Duration;

use crate::cluster::{Views, agreed, wait_until};
use crate::run::say;
use crate::world::World;

const NODES: u32 = 5;
/// On such a network everything takes its time.
const PATIENCE: Duration = Duration::from_secs(60);

/// Connections stall for seconds and break. Nobody can promise a leader for all at every moment of that; but most find
/// one, again and again, and when it is over there is one for all.
pub(crate) fn three_packets_of_ten_are_lost() {
    let mut world = World::start(NODES);
    world.lose(30);
    let first = leader_of_most(&world);
    world.cluster.kill(first);
    assert_ne!(leader_of_most(&world), first);
    world.start_node(first);
    leader_of_most(&world);
    world.heal();
    world.wait_for_links();
    world.cluster.wait_for_leader();
    world.judge();
}

/// How often the leader changes in a minute, once the members have had one to learn. One packet of a hundred is nothing; five are a change a
/// minute at most.
pub(crate) fn changes_of_leader() {
    let too_many = LOSSY.into_iter().filter(|(protocol, percent, allowed)| {
        let mut world = World::start_with(protocol, NODES);
        world.lose(*percent);
        let minutes: Vec<Vec<String>> = (0..3).map(|_| changes_in_a_minute(&world)).collect();
        say(&format!(
            "{protocol}, {percent} of 100 packets lost, changes in each of three minutes: {minutes:#?}"
        ));
        minutes[1..].iter().any(|changes| changes.len() > *allowed)
    });
    assert_eq!(too_many.collect::<Vec<_>>(), []);
}

/// The algorithm, how many packets of a hundred are lost, and how many changes a minute may bring.
const LOSSY: [(&str, u32, usize); 4] = [("fjr", 5, 1), ("fjr", 1, 0), ("fb-omega", 1, 0), ("fb-omega", 5, 1)];

fn changes_in_a_minute(world: &World) -> Vec<String> {
    let before = leaderships(world);
    // Nothing is waited for: what happens in that time is what is asked.
    wait_until(Duration::from_secs(60), || false);
    leaderships(world).split_off(before.len())
}

/// Everybody's leaderships, as it announced them itself, in the order in which they began, and why each did.
fn leaderships(world: &World) -> Vec<String> {
    let of = |id: u32| {
        let history = world.cluster.get(id, "/v1/history").json();
        let changes = history["changes"].as_array().cloned().unwrap_or_default();
        let own = changes.into_iter().filter(move |change| change["leader"] == id);
        own.map(move |change| (change["at_us"].as_u64(), format!("{id}: {}", change["cause"]["text"])))
    };
    let mut all: Vec<_> = (1..=NODES).flat_map(of).collect();
    all.sort();
    all.into_iter().map(|(_, why)| why).collect()
}

/// Waits until most of all nodes follow one that leads, or lead.
#[track_caller]
fn leader_of_most(world: &World) -> u32 {
    let mut leader = None;
    let found = wait_until(PATIENCE, || {
        leader = of_most(&world.cluster.views());
        leader.is_some()
    });
    assert!(found, "most do not follow one leader: {:#?}", world.cluster.views());
    leader.unwrap()
}

fn of_most(views: &Views) -> Option<u32> {
    let followed = |leader: &u32| {
        let names = |view: &&_| {
            Option::as_ref(*view).is_some_and(|view: &serde_json::Value| view["leader"] == *leader)
        };
        let followers: Views =
            views.iter().filter(|(_, view)| names(view)).map(|(id, view)| (*id, view.clone())).collect();
        2 * followers.len() > NODES as usize && agreed(&followers) == Some(*leader)
    };
    views.keys().copied().find(|leader| followed(leader))
}
