//! Nodes that reach some of the others, but not those that the others reach.

use std::cell::Cell;
use std::collections::BTreeSet;
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
    some_lead_and_nobody_reaches_two(world);
}

/// The leader is heard by all but one, whom it hears.
pub(crate) fn one_way_between_two() {
    let mut world = World::start(5);
    let first = world.wait_for_leader_of(&[1, 2, 3, 4, 5]).by;
    let deaf = if first == 5 { 4 } else { 5 };
    world.cut(&[(first, deaf)]);
    some_lead_and_nobody_reaches_two(world);
}

/// The leader and one other cannot speak with each other, and the rest can with both. That one does not lead, and knows why.
pub(crate) fn a_pair_with_the_leader() {
    for protocol in ["fjr", "lfa"] {
        let all = [1, 2, 3, 4];
        let mut world = World::start_with(protocol, 4);
        let first = world.wait_for_leader_of(&all);
        let other = all.into_iter().find(|id| *id != first.by).unwrap();
        world.cut(&World::between(&[&[first.by], &[other]]));
        world.wait_for_links();
        let knows_why = |views: &Views| {
            let view = views[&other].as_ref();
            view.is_some_and(|view| {
                view["leader"] == Value::Null && view["barred"]["kind"] == "another-leads"
            })
        };
        let follows = |view: &Option<Value>| view.as_ref().and_then(named) == Some(first);
        lasts("all others follow the leader, and who cannot reach it does not lead", &world, |views| {
            knows_why(views) && views.iter().all(|(id, view)| *id == other || follows(view))
        });
        world.heal();
        world.wait_for_leader_of(&all);
        world.wait_for_links();
        world.judge();
    }
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

/// Somebody leads, whoever reaches one that does follows it, and nobody reaches two. When the network is whole again all have one.
fn some_lead_and_nobody_reaches_two(mut world: World) {
    // Until the connections are gone through which nothing passes.
    world.wait_for_links();
    let views = lasts("some lead, and nobody reaches two", &world, |views| {
        let led = leaders(&world, views);
        let reached = |id: u32| led.iter().flatten().filter(|led| world.reach(id, led.by)).count();
        let as_it_should = |(id, view): (&u32, &Option<Value>)| match reached(*id) {
            0 => true,
            1 => view.as_ref().and_then(named).is_some(),
            _ => false,
        };
        led.as_ref().is_some_and(|led| !led.is_empty()) && views.iter().all(as_it_should)
    });
    let led = leaders(&world, &views).unwrap();
    world.heal();
    world.wait_for_one_after(&led);
    world.wait_for_links();
    world.judge();
}

/// Waits until something is so, and has been for a while.
#[track_caller]
fn lasts(what: &str, world: &World, is_so: impl Fn(&Views) -> bool) -> Views {
    let since: Cell<Option<Instant>> = Cell::new(None);
    world.cluster.wait_for(&format!("{what}, and it stays so"), |views| {
        since.set(is_so(views).then(|| since.get().unwrap_or_else(Instant::now)));
        since.get().is_some_and(|since| since.elapsed() > LASTING)
    })
}

/// Who leads, if everybody names one whom it reaches and who leads in the epoch that it names, or nobody.
fn leaders(world: &World, views: &Views) -> Option<BTreeSet<Led>> {
    let sound = |(id, view): (&u32, &Option<Value>)| {
        let Some(named) = named(view.as_ref()?) else { return Some(None) };
        let itself = views[&named.by].as_ref()?;
        (world.reach(*id, named.by) && itself["standing"] == "leading" && itself["epoch"] == named.epoch)
            .then_some(Some(named))
    };
    views.iter().map(sound).collect::<Option<Vec<_>>>().map(|led| led.into_iter().flatten().collect())
}

fn named(view: &Value) -> Option<Led> {
    Some(Led { by: u32::try_from(view["leader"].as_u64()?).ok()?, epoch: view["epoch"].as_u64()? })
}
