//! How many messages a leader's crash costs, and the time between crashes, in Garcia-Molina's family and in
//! Stoller's (Stoller, section 7).
//!
//! The paper compares the Invitation and the Asynchronous Bully algorithm by the messages with which nodes find out who is
//! there: AreYouCoordinator and Halt, and the answers to them. That depends on when the survivors notice the crash, so this
//! is varied: all at once, or one after the other in some order.

use std::cell::RefCell;

use bellwether_proto::election::{Protocol, Timing};
use bellwether_proto::ident::NodeId;
use bellwether_proto::message::Layer;
use bellwether_proto::time::{Span, Time};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use serde::Serialize;

use super::leadership::Agreement;
use crate::chance::below;
use crate::journal::Accounts;
use crate::run;
use crate::scenario::{Fault, Latency, Planned, Scenario};

/// The algorithms that are compared, and the kinds of message by which each finds out who is there.
pub const FAMILIES: [(Protocol, &[&str]); 2] = [
    (Protocol::Invitation, &["AreYouCoordinator", "AreYouCoordinatorReply"]),
    (Protocol::AsyncBully, &["Halt", "Ack", "Rej"]),
];

/// How many nodes there are.
pub const SIZES: [u32; 5] = [4, 8, 16, 32, 64];

/// How long a message takes: next to nothing, so that an election is over before the next survivor notices.
pub const LATENCY: Span = Span::micros(10);
/// How long after one another survivors notice that the leader is gone, if not at once.
pub const APART: Span = Span::millis(4);

/// When the leader crashes, and how long a run is, in periods: time for every survivor to have its turn.
const CRASH: u64 = 20;
const LENGTH: u64 = 400;
/// How many periods the cost of the time between crashes is counted in.
const STEADY: u64 = 20;

/// When the survivors notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// All at once.
    AtOnce,
    /// One after the other, from the weakest to the strongest.
    WeakestFirst,
    /// One after the other, from the strongest to the weakest.
    StrongestFirst,
    /// One after the other, in the order of that seed.
    Shuffled(u64),
}

impl Schedule {
    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AtOnce => "at once",
            Self::WeakestFirst => "weakest first",
            Self::StrongestFirst => "strongest first",
            Self::Shuffled(_) => "in some order",
        }
    }
}

/// What one algorithm costs with that many nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The algorithm.
    pub protocol: &'static str,
    /// N.
    pub nodes: u32,
    /// Messages of all layers in a period in which nothing happens.
    pub steady: f64,
    /// After the leader's crash, if all notice at once: messages by which nodes find out who is there.
    pub at_once: u64,
    /// The same, on average over the orders in which survivors notice one after the other.
    pub average: f64,
    /// The same, in the worst of all schedules that were tried.
    pub worst: u64,
    /// Which that was.
    pub worst_schedule: &'static str,
    /// All messages of the algorithm from the crash until the survivors agree, in the schedule that has most of them.
    pub all: u64,
}

/// Counts the messages of an algorithm: with all at once, in order, in reverse, and in as many orders as are asked for.
///
/// # Panics
/// If the survivors of a crash do not agree in time, though nothing is lost.
pub fn measure(protocol: Protocol, asks: &[&str], nodes: u32, orders: u64) -> Row {
    let cost = |schedule| Cost::after_crash(protocol, asks, nodes, schedule);
    let (shuffled, at_once) = ((1..=orders).map(Schedule::Shuffled), cost(Schedule::AtOnce));
    let serial: Vec<(Schedule, Cost)> = [Schedule::WeakestFirst, Schedule::StrongestFirst]
        .into_iter()
        .chain(shuffled)
        .map(|schedule| (schedule, cost(schedule)))
        .collect();
    let drawn = serial.iter().filter(|(schedule, _)| matches!(schedule, Schedule::Shuffled(_)));
    let average = drawn.map(|(_, cost)| cost.asking as f64).sum::<f64>() / orders as f64;
    let all: Vec<(Schedule, Cost)> = [(Schedule::AtOnce, at_once)].into_iter().chain(serial).collect();
    let (worst_schedule, worst) = all.iter().max_by_key(|(_, cost)| cost.asking).expect("there are some");
    Row {
        protocol: protocol.name(),
        nodes,
        steady: steady(protocol, nodes),
        at_once: at_once.asking,
        average,
        worst: worst.asking,
        worst_schedule: worst_schedule.name(),
        all: all.iter().map(|(_, cost)| cost.all).max().expect("there are some"),
    }
}

/// What was sent from the crash until all that are left agreed.
#[derive(Clone, Copy, Debug)]
struct Cost {
    asking: u64,
    all: u64,
}

impl Cost {
    fn after_crash(protocol: Protocol, asks: &[&str], nodes: u32, schedule: Schedule) -> Self {
        let mut scenario = calm(protocol, nodes);
        let crash = after(&scenario, CRASH);
        let (leader, _) = agreed(&scenario, crash).expect("there is a leader to crash");
        hold_up_last_signs(&mut scenario, leader, schedule);
        scenario.events.push(Planned { at: crash, fault: Fault::Crash(vec![leader]) });
        let (_, since) = agreed(&scenario, scenario.until).expect("those that are left agree");
        let (before, after) = (accounts(&scenario, crash), accounts(&scenario, since));
        let asking = |accounts: &Accounts| asks.iter().map(|kind| accounts.of_kind(kind)).sum::<u64>();
        Self {
            asking: asking(&after) - asking(&before),
            all: after.of_layer(Layer::Protocol) - before.of_layer(Layer::Protocol),
        }
    }
}

/// δ covers the last signs of life of the leader, which are held up to order the survivors. The period is as long as N calls
/// that time out, as the paper's count assumes: no survivor looks around twice before it is its turn.
fn calm(protocol: Protocol, nodes: u32) -> Scenario {
    let mut scenario = Scenario::calm(protocol, nodes, Time::ZERO);
    let delta = APART * u64::from(nodes + 1);
    scenario.network.base.latency = Latency::constant(LATENCY);
    scenario.timing = Timing { delta, tau: delta * 2 * u64::from(nodes), step: delta };
    scenario.detector.period = scenario.timing.tau;
    scenario.until = after(&scenario, LENGTH);
    scenario
}

/// When that many periods are over.
fn after(scenario: &Scenario, periods: u64) -> Time {
    Time::ZERO + scenario.timing.tau * periods
}

/// Survivors notice in the order in which the leader's last signs of life reach them.
fn hold_up_last_signs(scenario: &mut Scenario, leader: NodeId, schedule: Schedule) {
    let priority = scenario.protocol.spec().priority;
    let mut survivors: Vec<NodeId> = scenario.ids().filter(|id| *id != leader).collect();
    survivors.sort_by(|a, b| priority.stronger(*a, *b).cmp(&priority.stronger(*b, *a)));
    match schedule {
        Schedule::AtOnce => return,
        Schedule::WeakestFirst => {}
        Schedule::StrongestFirst => survivors.reverse(),
        Schedule::Shuffled(seed) => shuffle(&mut survivors, seed),
    }
    let at = after(scenario, CRASH / 2);
    for (place, survivor) in (1..).zip(survivors) {
        let latency = Latency::constant(LATENCY + APART * place);
        scenario.events.push(Planned { at, fault: Fault::Slow { from: leader, to: survivor, latency } });
    }
}

fn shuffle(ids: &mut [NodeId], seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for last in (1..ids.len()).rev() {
        ids.swap(last, below(last as u64 + 1, &mut rng) as usize);
    }
}

/// Messages in a period, late enough for everybody to agree.
fn steady(protocol: Protocol, nodes: u32) -> f64 {
    let scenario = calm(protocol, nodes);
    let sent = |at| {
        let accounts = accounts(&scenario, at);
        accounts.of_layer(Layer::Protocol) + accounts.of_layer(Layer::Overhead)
    };
    let more = sent(after(&scenario, CRASH + STEADY)) - sent(after(&scenario, CRASH));
    more as f64 / STEADY as f64
}

/// The node that all name at that time, and since when.
fn agreed(scenario: &Scenario, at: Time) -> Option<(NodeId, Time)> {
    let agreement = RefCell::new(Agreement::new(scenario.nodes));
    let listener = Box::new(|event: &_| agreement.borrow_mut().observe(event));
    run::world_unjudged(scenario, Some(listener)).run_until(at);
    agreement.into_inner().agreed()
}

fn accounts(scenario: &Scenario, until: Time) -> Accounts {
    let mut world = run::world_unjudged(scenario, None);
    world.run_until(until);
    world.journal().accounts().clone()
}
