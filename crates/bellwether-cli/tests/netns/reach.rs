//! Nodes that reach some of the others, but not those that the others reach.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::cluster::Views;
use crate::world::{Led, World};

/// What has been so for so long is not about to change.
const LASTING: Duration = Duration::from_secs(1);

/// 1 ─ 2 ─ 3 ─ 4 ─ 5
pub(crate) fn a_chain_of_nodes() {
    let mut world = World::start(5);
    let apart: Vec<_> = world.ways().into_iter().filter(|(one, other)| one.abs_diff(*other) > 1).collect();
    world.cut(&apart);
    all_have_a_leader_whom_they_reach(world);
}

/// The leader is heard by all but one, whom it hears.
pub(crate) fn one_way_between_two() {
    let mut world = World::start(5);
    let first = world.wait_for_leader_of(&[1, 2, 3, 4, 5]).by;
    let deaf = if first == 5 { 4 } else { 5 };
    world.cut(&[(first, deaf)]);
    all_have_a_leader_whom_they_reach(world);
}

/// And when the network is whole again all have one.
fn all_have_a_leader_whom_they_reach(mut world: World) {
    // Until the connections are gone through which nothing passes.
    world.wait_for_links();
    let since: Cell<Option<Instant>> = Cell::new(None);
    let views = world.cluster.wait_for("all have a leader whom they reach, and keep it", |views| {
        let so = leaders(&world, views).is_some();
        since.set(so.then(|| since.get().unwrap_or_else(Instant::now)));
        since.get().is_some_and(|since| since.elapsed() > LASTING)
    });
    let led = leaders(&world, &views).unwrap();
    world.heal();
    world.wait_for_one_after(&led);
    world.wait_for_links();
    world.judge();
}

/// Who leads, if everybody names one whom it reaches and who leads in the epoch that it names.
fn leaders(world: &World, views: &Views) -> Option<Vec<Led>> {
    let leader = |(id, view): (&u32, &Option<_>)| {
        let named = named(view.as_ref()?)?;
        let itself = views[&named.by].as_ref()?;
        (world.reach(*id, named.by) && itself["standing"] == "leading" && itself["epoch"] == named.epoch)
            .then_some(named)
    };
    views.iter().map(leader).collect()
}

fn named(view: &serde_json::Value) -> Option<Led> {
    Some(Led { by: u32::try_from(view["leader"].as_u64()?).ok()?, epoch: view["epoch"].as_u64()? })
}
