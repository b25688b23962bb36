//! Every eventual leader protocol in every model.

use std::cell::RefCell;
use std::collections::BTreeSet;

use bellwether_proto::election::{AnyMsg, Protocol};
use bellwether_proto::ident::NodeId;
use bellwether_proto::message::{Body, Frame, Message};
use bellwether_proto::promise::Property;
use bellwether_proto::time::{Span, Time};
use serde::Serialize;

use super::leadership::Agreement;
use super::observer;
use crate::environment::judged;
use crate::run;
use crate::scenario::{Fault, Latency, Model, ModelKind, Planned, Scenario};

/// The protocols that are compared.
pub const PROTOCOLS: [Protocol; 5] =
    [Protocol::Lockstep, Protocol::Lfa, Protocol::Adft, Protocol::Mmrt, Protocol::Fjr];

/// The length of each run. Figures are measured in the last quarter.
pub const LENGTH: Span = Span::secs(240);
/// When a model's promise begins.
pub const GST: Span = Span::secs(20);
/// Node 1 crashes then.
pub const CRASH: Span = Span::secs(10);
/// The process that the models' promises are about. Not the strongest: that would be too easy.
pub const SOURCE: NodeId = NodeId(3);
/// How many nodes there are.
pub const NODES: u32 = 5;
/// How many crashes the protocols are to tolerate, and to how many others the promises extend.
pub const T: u32 = 2;
/// Links, where they are timely.
pub const LATENCY: Latency = Latency { low: Span::micros(500), high: Span::millis(5) };

/// The worlds in which they are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// No model: every link takes a time that is drawn uniformly.
    Uniform,
    /// A model.
    In(ModelKind),
}

impl Place {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        [Self::Uniform].into_iter().chain(ModelKind::ALL.into_iter().map(Self::In))
    }

    /// The model's name, or that there is none.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform latency",
            Self::In(kind) => kind.name(),
        }
    }
}

/// The results of some runs of one protocol in one world.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The protocol.
    pub protocol: &'static str,
    /// The world.
    pub model: &'static str,
    /// Whether it promises to converge there.
    pub promised: bool,
    /// How many runs there were.
    pub runs: u32,
    /// In how many all named one live leader throughout the last quarter.
    pub converged: u32,
    /// After how many seconds they did, in the slowest of these.
    pub slowest_s: Option<f64>,
    /// Messages per second in the last quarter, on average.
    pub messages_per_s: f64,
    /// Bytes per second, as the wire format has them.
    pub bytes_per_s: f64,
    /// How many nodes sent anything in the last quarter, at most.
    pub senders: usize,
    /// The largest counter that any message carried then.
    pub largest_counter: u64,
    /// How often a node began to lead in the last quarter, on average.
    pub changes: f64,
}

/// Plays the seeds 1 to `runs` of a protocol in a world.
pub fn measure(protocol: Protocol, place: Place, runs: u32) -> Row {
    let all: Vec<One> = (1..=runs).map(|seed| one(&scenario(protocol, place, u64::from(seed)))).collect();
    let seconds = LENGTH.as_micros() as f64 / 4e6 * f64::from(runs);
    let agreed: Vec<Time> = all.iter().filter_map(|one| one.agreed_since).collect();
    Row {
        protocol: protocol.name(),
        model: place.name(),
        promised: judged(&scenario(protocol, place, 1)).contains(&Property::Omega),
        runs,
        converged: u32::try_from(agreed.len()).expect("no more than there were runs"),
        slowest_s: agreed.iter().max().map(|at| at.as_micros() as f64 / 1e6),
        messages_per_s: all.iter().map(|one| one.messages).sum::<u64>() as f64 / seconds,
        bytes_per_s: all.iter().map(|one| one.bytes).sum::<u64>() as f64 / seconds,
        senders: all.iter().map(|one| one.senders.len()).max().unwrap_or(0),
        largest_counter: all.iter().map(|one| one.largest_counter).max().unwrap_or(0),
        changes: all.iter().map(|one| one.changes).sum::<u64>() as f64 / f64::from(runs),
    }
}

/// The run of that seed.
pub fn scenario(protocol: Protocol, place: Place, seed: u64) -> Scenario {
    let mut scenario = Scenario::calm(protocol, NODES, Time::ZERO + LENGTH);
    scenario.name = format!("{} in {}", protocol.name(), place.name());
    scenario.seed = seed;
    scenario.network.base.latency = LATENCY;
    scenario.timing.delta = LATENCY.high + Span::millis(1);
    scenario.timing.step = scenario.timing.delta;
    scenario.parameters.t = Some(T);
    scenario.network.model = match place {
        Place::Uniform => None,
        Place::In(kind) => Some(model(kind)),
    };
    scenario.events.push(Planned { at: Time::ZERO + CRASH, fault: Fault::Crash(vec![NodeId(1)]) });
    scenario
}

fn model(kind: ModelKind) -> Model {
    let gst = Time::ZERO + GST;
    Model { kind, source: SOURCE, t: T, gst, delta: LATENCY.high, loss: 0.5 }.as_read()
}

/// The result of one run.
#[derive(Debug)]
struct One {
    /// Since when all have named one live leader, if that was so throughout the last quarter.
    agreed_since: Option<Time>,
    messages: u64,
    bytes: u64,
    senders: BTreeSet<NodeId>,
    largest_counter: u64,
    changes: u64,
}

/// The traffic since the last look.
#[derive(Debug, Default)]
struct Meter {
    messages: u64,
    bytes: u64,
    senders: BTreeSet<NodeId>,
    largest_counter: u64,
}

impl Meter {
    fn count(&mut self, frame: &Frame<AnyMsg>) {
        self.messages += 1;
        self.bytes += observer::bytes(frame);
        self.senders.insert(frame.from);
        if let Body::Election(msg) = &frame.body {
            self.largest_counter = self.largest_counter.max(msg.largest_counter());
        }
    }
}

fn one(scenario: &Scenario) -> One {
    let meter = RefCell::new(Meter::default());
    let agreement = RefCell::new(Agreement::new(scenario.nodes));
    let mut world = run::world(scenario, Some(Box::new(|event| agreement.borrow_mut().observe(event))));
    world.set_relay(|frame| {
        meter.borrow_mut().count(&frame);
        frame
    });
    let last_quarter = Time::ZERO + LENGTH * 3 / 4;
    world.run_until(last_quarter);
    meter.take();
    let before = world.journal().leader_changes();
    world.run_until(scenario.until);
    let changes = world.journal().leader_changes() - before;
    drop(world);
    let Meter { messages, bytes, senders, largest_counter } = meter.into_inner();
    let agreed_since = agreement.into_inner().since().filter(|since| *since <= last_quarter);
    One { agreed_since, messages, bytes, senders, largest_counter, changes }
}
