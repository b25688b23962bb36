//! The cluster falls apart, and comes together again.

use crate::world::World;

/// For so long that the connections between them are given up.
pub(crate) fn each_half_has_its_leader() {
    falls_apart("fjr", World::wait_for_links);
}

/// For a moment: the connections between them are only late.
pub(crate) fn even_if_it_is_not_for_long() {
    falls_apart("fjr", |_| {});
}

pub(crate) fn each_half_of_lfa() {
    falls_apart("lfa", World::wait_for_links);
}

pub(crate) fn each_half_of_adft() {
    falls_apart("adft", World::wait_for_links);
}

pub(crate) fn each_half_of_async_bully() {
    falls_apart("async-bully", World::wait_for_links);
}

fn falls_apart(protocol: &'static str, for_long: fn(&World)) {
    let mut world = World::start_with(protocol, 5);
    let halves: [&[u32]; 2] = [&[1, 2], &[3, 4, 5]];
    world.cut(&World::between(&halves));
    for_long(&world);
    let led = halves.map(|half| world.wait_for_leader_of(half));
    assert_ne!(led[0].by, led[1].by);
    world.heal();
    world.wait_for_one_after(&led);
    world.wait_for_links();
    world.judge();
}

/// Each half is a group by itself. When they are one again, all know that it came from both, and so does whoever asks.
pub(crate) fn each_half_is_a_group() {
    let mut world = World::start_with("invitation", 5);
    let halves: [&[u32]; 2] = [&[1, 2], &[3, 4, 5]];
    world.cut(&World::between(&halves));
    world.wait_for_links();
    let led = halves.map(|half| world.wait_for_leader_of(half));
    let groups = halves.map(|half| world.wait_for_group_of(half));
    world.heal();
    world.wait_for_links();
    let one = world.wait_for_group_of(&[1, 2, 3, 4, 5]);
    world.wait_for_one_after(&led);
    for id in 1..=5 {
        let came_from = world.ancestors(id, &one);
        assert!(
            groups.iter().all(|half| came_from.contains(half)),
            "{one} came from {came_from:?}, not {groups:?}"
        );
        let (_, shown, _) = world.cluster.ask(id, &["history"]);
        assert!(groups.iter().chain([&one]).all(|group| shown.contains(group)), "{shown}");
    }
    world.judge();
}

/// With `fb-omega` two of five are too few. The leader is one of them, and leads no more.
pub(crate) fn only_the_larger_part_has_a_leader() {
    let mut world = World::start_with("fb-omega", 5);
    let first = world.cluster.wait_for_view(&[1, 2, 3, 4, 5]);
    let (few, most): ([u32; 2], [u32; 3]) = ([1, 2], [3, 4, 5]);
    world.cut(&World::between(&[&few, &most]));
    let second = world.cluster.wait_for_view(&most);
    assert!((first.leader, second.leader) == (1, 3) && second.epoch > first.epoch, "{first:?}, {second:?}");
    world.cluster.wait_for_nobody_to_lead(&few);
    world.wait_for_links();
    assert_eq!(world.cluster.wait_for_view(&most), second, "nothing has changed since");
    world.cluster.wait_for_nobody_to_lead(&few);
    world.heal();
    world.wait_for_links();
    let whole = world.cluster.wait_for_view(&[1, 2, 3, 4, 5]);
    assert!(whole.epoch > second.epoch, "{second:?}, {whole:?}");
    for id in 1..=5 {
        let came_from = world.ancestors(id, &whole.number);
        assert!(came_from.contains(&second.number), "{whole:?} came from {came_from:?}");
    }
    world.judge();
}

/// What it sends is lost, and with it every answer: it hears the others, but cannot keep a connection.
pub(crate) fn a_leader_that_nobody_hears() {
    let mut world = World::start(5);
    let first = world.wait_for_leader_of(&[1, 2, 3, 4, 5]);
    let others: Vec<u32> = (1..=5).filter(|id| *id != first.by).collect();
    let unheard: Vec<_> = others.iter().map(|other| (first.by, *other)).collect();
    world.cut(&unheard);
    let second = world.wait_for_leader_of(&others);
    assert!(second.epoch > first.epoch, "{first:?}, then {second:?}");
    world.wait_for_links();
    let alone = world.wait_for_leader_of(&[first.by]);
    world.heal();
    world.wait_for_one_after(&[first, second, alone]);
    world.judge();
}

/// With exclusive leadership two of five are too few, whether the leader is among them or not: it leads on only until its lease is over, and the
/// next one begins after that.
pub(crate) fn only_a_majority_leads_exclusively() {
    let mut world = World::start_exclusive(5);
    let first = world.wait_for_leader_of(&[1, 2, 3, 4, 5]);
    let other = if first.by == 1 { 2 } else { 1 };
    let (few, most): (Vec<u32>, Vec<u32>) = (1..=5).partition(|id| [first.by, other].contains(id));
    world.cut(&World::between(&[&few, &most]));
    let second = world.wait_for_leader_of(&most);
    assert!(second.epoch > first.epoch, "{first:?}, then {second:?}");
    world.wait_for_links();
    for id in few {
        let answer = world.cluster.get(id, "/leader");
        let told = &answer.json()["exclusive"];
        assert_eq!(
            (answer.status, &told["reachable"], &told["needed"]),
            (503, &2.into(), &3.into()),
            "{}",
            answer.body
        );
        assert!(answer.json()["leader"].is_null(), "{}", answer.body);
    }
    assert_eq!(world.wait_for_leader_of(&most), second, "nothing has changed since");
    world.heal();
    world.wait_for_links();
    assert_eq!(world.wait_for_leader_of(&[1, 2, 3, 4, 5]), second, "who comes back changes nothing");
    let judgement = world.cluster.records(second.by).check();
    assert_eq!(judgement.code, 0, "{:#}", judgement.said);
    for promise in ["TOKEN-GROWS", "TOKEN-ONCE", "ONE-HOLDER"] {
        assert_eq!(judgement.finds_that(promise), Some(true), "{promise}: {:#}", judgement.said);
    }
}
