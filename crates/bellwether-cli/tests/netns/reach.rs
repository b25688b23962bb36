//! Nodes that reach some of the others, but not those that the others reach.

use std::cell::Cell;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cluster::service::has_no_leader;
use crate::cluster::{Views, wait_until};
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

/// With `fb-omega` all must see the same before anything changes. A pair that cannot speak with each other keeps the view of
/// before, and its leader, whoever else fails; without its leader it has none, until they can (weak liveness).
pub(crate) fn a_pair_that_cannot_speak() {
    let all = [1, 2, 3, 4, 5];
    let mut world = World::start_with("fb-omega", 5);
    let first = world.cluster.wait_for_view(&all);
    world.cut(&World::between(&[&[4], &[5]]));
    world.wait_for_links();
    let is_as_before = |views: &Views, nodes: &[u32]| {
        nodes.iter().all(|id| {
            let shown =
                |view: &Value| view["group"]["group"] == first.number && view["leader"] == first.leader;
            views[id].as_ref().is_some_and(shown)
        })
    };
    keeps("all in the view of before", &world, |views| is_as_before(views, &all));
    world.cluster.kill(3);
    keeps("the others in the view of before", &world, |views| is_as_before(views, &[1, 2, 4, 5]));
    world.cluster.kill(1);
    let rest = [2, 4, 5];
    world.cluster.wait_for_nobody_to_lead(&rest);
    keeps("without a leader", &world, |views| has_no_leader(views, &rest));
    world.heal();
    let second = world.cluster.wait_for_view(&rest);
    assert!(second.leader == 2 && second.epoch > first.epoch, "{first:?}, {second:?}");
    [1, 3].into_iter().for_each(|id| world.start_node(id));
    world.wait_for_links();
    world.cluster.wait_for_view(&all);
    world.judge();
}

/// It is so, and has not ceased to be so after a while.
#[track_caller]
fn keeps(what: &str, world: &World, is_so: impl Fn(&Views) -> bool) {
    world.cluster.wait_for(what, &is_so);
    let changed = wait_until(LASTING, || !is_so(&world.cluster.views()));
    assert!(!changed, "no longer {what}: {:#?}", world.cluster.views());
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

fn named(view: &Value) -> Option<Led> {
    Some(Led { by: u32::try_from(view["leader"].as_u64()?).ok()?, epoch: view["epoch"].as_u64()? })
}
