//! A network that loses a good part of what it carries.

use std::time::Duration;

use crate::cluster::{Views, agreed, wait_until};
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
