//! What programs add to a plan of agents: what they ask of their members, how long their work takes to end, whom their
//! operators prefer. Connections that end with a goodbye belong here too: only agents have them.

use std::collections::BTreeSet;

use bellwether_proto::ident::NodeId;
use bellwether_proto::leadership;
use bellwether_proto::promise::Assumption;
use bellwether_proto::time::{Span, Time};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use super::PERIODS_TO_LEARN;
use super::limits::{FaultClass, Limits, presumes};
use crate::chance::below;
use crate::environment::over_by;
use crate::run::{facts, slowest_bound};
use crate::scenario::{Fault, Planned, Scenario};

const COMMANDS_MAX: u64 = 6;
/// So many things may be asked of members, or befall what connects them.
const COMMANDS: u64 = 6;
/// After the first so many everybody is there.
const REVERSIBLE: u64 = 4;

/// Makes a plan one of nodes that are run as an agent runs them.
pub(super) fn add(mut scenario: Scenario, limits: &Limits) -> Scenario {
    scenario.agent = true;
    let rng = ChaCha8Rng::seed_from_u64(scenario.seed ^ 0x6167_656e);
    let classes = limits.classes(scenario.protocol, scenario.variant);
    Programs { rng, scenario, classes, left: BTreeSet::new() }.finish(limits)
}

struct Programs {
    rng: ChaCha8Rng,
    scenario: Scenario,
    classes: BTreeSet<FaultClass>,
    /// Who was asked to leave.
    left: BTreeSet<NodeId>,
}

impl Programs {
    fn finish(mut self, limits: &Limits) -> Scenario {
        if limits.kinds.is_none() {
            self.wait_for_leadership();
        }
        self.policy();
        self.work();
        let healed = self.healed();
        for _ in 0..self.below(COMMANDS_MAX) {
            let at = Time::ZERO + Span::micros(self.below(healed.as_micros()));
            let what = self.below(COMMANDS);
            self.command(at, what, 50);
        }
        self.disks(healed);
        self.bring_back(healed);
        self.ask_once_more();
        self.give_time();
        self.scenario
    }

    /// About half of the messages that a fault waits for are of the leadership layer.
    fn wait_for_leadership(&mut self) {
        for planned in &mut self.scenario.events {
            if let Fault::DropNext { kind, .. } | Fault::CrashBeforeSend { kind, .. } = &mut planned.fault
                && below(2, &mut self.rng) == 0
            {
                let drawn = below(leadership::KINDS.len() as u64, &mut self.rng) as usize;
                leadership::KINDS[drawn].name().clone_into(kind);
            }
        }
    }

    /// Shorter than agents have it, so that plans need not be long.
    fn policy(&mut self) {
        self.scenario.policy.release_timeout = self.one_of([100, 300, 1_000]);
        self.scenario.policy.resign_hold = self.one_of([200, 1_000, 2_000]);
        if self.chance(50) {
            return;
        }
        let (preempts, delay) = (self.chance(50), self.one_of([0, 100, 1_000]));
        for node in self.scenario.ids() {
            let priority = 5 * self.below(3) as u32;
            if priority > 0 {
                self.scenario.policy.priority.insert(node, priority);
            }
            if preempts && self.chance(80) {
                self.scenario.policy.preempt.insert(node, delay);
            }
        }
    }

    /// At once, in time, too late, or never.
    fn work(&mut self) {
        let timeout = self.scenario.policy.release_timeout;
        for node in self.scenario.ids() {
            let ends_after = match self.below(6) {
                0 => Some(timeout / 10),
                1 => Some(timeout / 2),
                2 => Some(timeout * 2),
                3 => None,
                _ => continue,
            };
            self.plan(Time::ZERO, Fault::Work { node, ends_after });
        }
    }

    /// In a third of the plans disks are slow, all or one of them. Where nodes may pause, disks stand still, too.
    fn disks(&mut self, healed: Time) {
        match self.below(6) {
            0 => self.scenario.disk.latency = self.one_of([20, 130, 400]),
            1 => {
                let (node, latency) = (self.node(), self.one_of([20, 130, 400]));
                self.scenario.disk.slow.insert(node, latency);
            }
            _ => {}
        }
        if self.classes.contains(&FaultClass::Pause) && self.chance(20) {
            let at = Time::ZERO + Span::micros(self.below(healed.as_micros()));
            let (node, lasts) = (self.node(), self.one_of([100, 500, 2_000]));
            self.plan(at, Fault::Stall { node, lasts });
        }
    }

    /// When the faults of the plan are over.
    fn healed(&self) -> Time {
        self.scenario
            .events
            .iter()
            .map(|planned| planned.at)
            .max()
            .unwrap_or_default()
            .max(Time::ZERO + Span::secs(1))
    }

    /// Only the leader can give leadership back, and nobody knows beforehand who that will be: as a rule all are asked.
    fn command(&mut self, at: Time, what: u64, until_told_percent: u64) {
        let asked = if self.chance(70) { self.scenario.ids().collect() } else { vec![self.node()] };
        match what {
            0 | 1 => self.plan(at, Fault::Resign(asked)),
            2 => {
                let hold = Some(self.one_of([50, 500, 2_000])).filter(|_| !self.chance(until_told_percent));
                asked.into_iter().for_each(|node| self.plan(at, Fault::ResignFor { node, hold }));
            }
            3 => {
                let to = self.node();
                let others = asked.into_iter().filter(|from| *from != to);
                others.for_each(|from| self.plan(at, Fault::Transfer { from, to }));
            }
            4 if self.may_leave() => {
                let leaves = self.node();
                self.left.insert(leaves);
                self.plan(at, Fault::Leave(vec![leaves]));
            }
            5 if self.classes.contains(&FaultClass::Partition) => {
                let (one, other) = (self.node(), self.node());
                if one != other {
                    self.plan(at, Fault::Unlink(vec![(one, other)]));
                }
            }
            _ => self.plan(at, Fault::Stand(asked)),
        }
    }

    /// Where nobody comes back, somebody must be left: that is drawn with the crashes.
    fn may_leave(&self) -> bool {
        self.classes.contains(&FaultClass::Crash) && self.recovers()
    }

    fn recovers(&self) -> bool {
        self.scenario.events.iter().any(|planned| matches!(planned.fault, Fault::Recover(_)))
    }

    /// Who left may have taken until after the healing to go. Who stands aside until it is told is told.
    fn bring_back(&mut self, healed: Time) {
        let by = over_by(&self.scenario).max(healed);
        if !self.left.is_empty() {
            let left = self.left.iter().copied().collect();
            self.plan(by, Fault::Recover(left));
        }
        if self.chance(70) {
            self.plan(by, Fault::Stand(self.scenario.ids().collect()));
        }
    }

    /// Something is asked of a group that has surely settled.
    fn ask_once_more(&mut self) {
        let settled = over_by(&self.scenario) + facts(&self.scenario).calm() + slowest_bound(&self.scenario);
        let what = self.below(REVERSIBLE);
        self.command(settled, what, 0);
    }

    /// What is promised has fallen due when the run ends.
    fn give_time(&mut self) {
        let over = over_by(&self.scenario);
        let due = over + slowest_bound(&self.scenario) + Span::secs(1);
        self.scenario.until = self.scenario.until.max(due);
        if presumes(self.scenario.protocol, Assumption::QuietEnd) {
            // The second half must be without faults, and long enough to learn.
            let learn = self.scenario.timing.tau * PERIODS_TO_LEARN;
            self.scenario.until = self.scenario.until.max(Time::ZERO + over.since(Time::ZERO) * 2 + learn);
        }
    }

    fn plan(&mut self, at: Time, fault: Fault) {
        self.scenario.events.push(Planned { at, fault });
    }

    fn node(&mut self) -> NodeId {
        NodeId(1 + self.below(u64::from(self.scenario.nodes)) as u32)
    }

    fn one_of(&mut self, millis: [u64; 3]) -> Span {
        Span::millis(millis[self.below(3) as usize])
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn below(&mut self, bound: u64) -> u64 {
        below(bound, &mut self.rng)
    }
}
