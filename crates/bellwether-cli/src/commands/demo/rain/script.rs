//! What happens to the workers, and when. The time is given by how much of the picture is safe, so that it is the
//! same on every machine.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use super::request::third;
use crate::fleet::control::{Order, Verb};

/// How long nothing goes on before help comes earlier than it would.
const PATIENCE: Duration = Duration::from_secs(3);

/// What happens to the workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Story {
    /// A third is killed and revived, then one is paused and resumed.
    Whole,
    /// A third is killed.
    NoReturn,
    /// Nothing.
    Calm,
    /// What a person does.
    ByHand,
}

/// How things are.
#[derive(Clone, Debug)]
pub(super) struct Look {
    /// How much of the picture is safe.
    pub(super) percent: u32,
    /// For how long nothing has gone on.
    pub(super) stalled: Option<Duration>,
    /// The fault manager, if all running workers are in its view.
    pub(super) manager: Option<u32>,
    pub(super) running: Vec<u32>,
    pub(super) paused: Vec<u32>,
    pub(super) down: Vec<u32>,
}

/// The rest of the story.
#[derive(Clone, Debug)]
pub(super) struct Script {
    acts: VecDeque<(u32, Act)>,
    nodes: u32,
    chance: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    KillThird,
    Revive,
    Pause,
    Resume,
}

impl Script {
    pub(super) fn new(story: Story, nodes: u32, seed: u64) -> Self {
        let acts: &[(u32, Act)] = match story {
            Story::Whole => &[(20, Act::KillThird), (50, Act::Revive), (65, Act::Pause), (80, Act::Resume)],
            Story::NoReturn => &[(20, Act::KillThird)],
            Story::Calm | Story::ByHand => &[],
        };
        Self { acts: acts.iter().copied().collect(), nodes, chance: seed }
    }

    /// A worker to which nothing happens: the one with the highest id; if there is none, the worker with the highest id. It
    /// is not known beforehand who will be the fault manager when one of the others is paused.
    pub(super) fn spared(&self) -> u32 {
        let mut hurt = BTreeSet::new();
        for later in 1..=self.nodes {
            let mut script = self.clone();
            while let Some((percent, act)) = script.acts.front().copied() {
                // The lightest leads the first view.
                let manager = if act == Act::KillThird { 1 } else { later };
                let all = (1..=self.nodes).collect();
                let (paused, down) = (Vec::new(), Vec::new());
                let look =
                    Look { percent, stalled: None, manager: Some(manager), running: all, paused, down };
                hurt.extend(script.next(&look).iter().filter_map(|order| order.node));
            }
        }
        (1..=self.nodes).rev().find(|node| !hurt.contains(node)).unwrap_or(self.nodes)
    }

    /// What is to be done now.
    pub(super) fn next(&mut self, look: &Look) -> Vec<Order> {
        let Some((percent, act)) = self.acts.front().copied() else { return Vec::new() };
        let is_late = look.stalled.is_some_and(|stalled| stalled >= PATIENCE);
        let is_time = look.percent >= percent;
        let orders = match (act, look.manager) {
            (Act::KillThird, Some(manager)) if is_time => self.third(manager, look),
            (Act::Revive, _) if is_time || is_late => orders(Verb::Start, &look.down),
            // Not the manager: that was killed before, and this one is to be given up by it.
            (Act::Pause, Some(manager)) if is_time => {
                let others: Vec<_> = look.running.iter().copied().filter(|node| *node != manager).collect();
                orders(Verb::Stop, &self.draw(others, 1))
            }
            (Act::Resume, _) if is_time || is_late => orders(Verb::Cont, &look.paused),
            _ => return Vec::new(),
        };
        self.acts.pop_front();
        orders
    }

    /// The fault manager, and as many others as make a third.
    fn third(&mut self, manager: u32, look: &Look) -> Vec<Order> {
        let others = look.running.iter().copied().filter(|node| *node != manager).collect();
        let mut victims = vec![manager];
        victims.extend(self.draw(others, third(self.nodes).saturating_sub(1)));
        victims.sort_unstable();
        orders(Verb::Kill, &victims)
    }

    /// Some of them, by the seed.
    fn draw(&mut self, mut from: Vec<u32>, count: u32) -> Vec<u32> {
        let mut drawn = Vec::new();
        while !from.is_empty() && drawn.len() < count as usize {
            let at = self.chance() % from.len() as u64;
            drawn.push(from.remove(usize::try_from(at).unwrap_or(0)));
        }
        drawn
    }

    /// Steele, Lea and Flood's SplitMix: enough to choose a victim.
    fn chance(&mut self) -> u64 {
        self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.chance;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }
}

fn orders(verb: Verb, nodes: &[u32]) -> Vec<Order> {
    nodes.iter().map(|node| Order { verb, node: Some(*node) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(percent: u32) -> Look {
        Look {
            percent,
            stalled: None,
            manager: Some(1),
            running: (1..=6).collect(),
            paused: Vec::new(),
            down: Vec::new(),
        }
    }

    fn nodes(orders: &[Order], verb: Verb) -> Vec<u32> {
        assert!(orders.iter().all(|order| order.verb == verb), "{orders:?}");
        orders.iter().filter_map(|order| order.node).collect()
    }

    #[test]
    fn the_whole_story_is_told_once_and_in_order() {
        let mut script = Script::new(Story::Whole, 6, 1);
        assert_eq!(script.next(&look(19)), []);
        let killed = nodes(&script.next(&look(99)), Verb::Kill);
        assert!(killed.len() == 2 && killed.contains(&1), "{killed:?}");
        assert_eq!(script.next(&look(30)), []);
        assert_eq!(nodes(&script.next(&Look { down: killed.clone(), ..look(50) }), Verb::Start), killed);
        assert_eq!(script.next(&Look { manager: None, ..look(70) }), [], "not while they are not together");
        let paused = nodes(&script.next(&look(70)), Verb::Stop);
        assert!(paused.len() == 1 && paused != [1]);
        assert_eq!(nodes(&script.next(&Look { paused: paused.clone(), ..look(80) }), Verb::Cont), paused);
        assert_eq!(script.next(&look(100)), []);
    }

    #[test]
    fn help_comes_earlier_if_nothing_goes_on() {
        let mut script = Script::new(Story::Whole, 6, 1);
        script.next(&look(20));
        let stalled = |ms| Look { down: vec![4], stalled: Some(Duration::from_millis(ms)), ..look(20) };
        assert_eq!(script.next(&stalled(2_999)), []);
        assert_eq!(nodes(&script.next(&stalled(3_000)), Verb::Start), [4]);
    }

    #[test]
    fn one_is_spared_whoever_manages_later() {
        for (nodes, seed) in (5..=9).flat_map(|nodes| (0..50).map(move |seed| (nodes, seed))) {
            let all = || Look { running: (1..=nodes).collect(), ..look(100) };
            let spared = Script::new(Story::Whole, nodes, seed).spared();
            for manager in 1..=nodes {
                let mut script = Script::new(Story::Whole, nodes, seed);
                let mut hurt = script.next(&all());
                hurt.extend(script.next(&Look { down: vec![1], ..all() }));
                hurt.extend(script.next(&Look { manager: Some(manager), ..all() }));
                assert!(
                    !hurt.is_empty() && hurt.iter().all(|order| order.node != Some(spared)),
                    "{nodes} {seed}"
                );
            }
        }
        assert_eq!(Script::new(Story::Calm, 6, 1).spared(), 6);
        assert_eq!(Script::new(Story::ByHand, 3, 1).spared(), 3);
    }

    #[test]
    fn the_seed_chooses_and_nothing_else_does() {
        let victims = |seed| nodes(&Script::new(Story::NoReturn, 9, seed).next(&look(20)), Verb::Kill);
        assert_eq!(victims(7), victims(7));
        assert!((1..20).any(|seed| victims(seed) != victims(0)), "not always the same");
        assert!((0..20).all(|seed| victims(seed).len() == 3));
        assert_eq!(Script::new(Story::Calm, 6, 1).next(&look(90)), []);
    }
}
