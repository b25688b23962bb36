//! Fault plans: from a seed to a scenario in which faults rage, and then stop.
//!
//! Each plan draws its own size, network, detector and mix of faults, so that rare combinations come up (swarm
//! testing). Safety is judged throughout. At some point everything heals, and the run goes on long enough for the
//! promised convergence to fall due. What is judged follows from the promises alone: a plan that breaks an
//! algorithm's assumptions simply leaves fewer properties to judge.

pub mod model;

use bellwether_proto::detector::DetectorKind;
use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::ident::NodeId;
use bellwether_proto::leadership;
use bellwether_proto::promise::Assumption;
use bellwether_proto::time::{Span, Time};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use crate::net::below;
use crate::run::facts;
use crate::scenario::{Fault, Latency, Planned, Scenario};

/// Faults happen before this.
const RAGE: Span = Span::secs(10);
/// The slowest link that a plan makes.
const SLOWEST: Span = Span::secs(2);
const EVENTS_MAX: u64 = 24;

/// The plan of that seed for an algorithm.
pub fn draw(protocol: Protocol, variant: Variant, seed: u64) -> Scenario {
    Drawing::new(protocol, variant, seed).finish()
}

/// As [`draw`], of nodes that are run as an agent runs them. About half of the messages that a fault waits for are of the
/// leadership layer.
pub fn draw_in_agent(protocol: Protocol, seed: u64) -> Scenario {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x6167_656e);
    let mut scenario = Scenario { agent: true, ..draw(protocol, Variant::Repaired, seed) };
    for planned in &mut scenario.events {
        if let Fault::DropNext { kind, .. } | Fault::CrashBeforeSend { kind, .. } = &mut planned.fault
            && below(2, &mut rng) == 0
        {
            leadership::KINDS[below(leadership::KINDS.len() as u64, &mut rng) as usize]
                .name()
                .clone_into(kind);
        }
    }
    scenario
}

/// What a plan's faults may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mood {
    /// Only what a synchronous system allows: crashes and recoveries, every message within δ.
    Synchronous,
    /// Loss, duplication, reordering, delay, pauses, cuts and partitions as well.
    Hostile,
}

#[derive(Debug)]
struct Drawing {
    rng: ChaCha8Rng,
    scenario: Scenario,
    mood: Mood,
    /// Nodes that a `crash_before_send` still waits for.
    trapped: Vec<NodeId>,
}

impl Drawing {
    fn new(protocol: Protocol, variant: Variant, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x706c_616e);
        let nodes = [3, 5, 7, 2, 4, 6, 8][below(7, &mut rng) as usize];
        let mut scenario = Scenario::calm(protocol, nodes, Time::NEVER);
        scenario.name = format!("{} plan {seed}", protocol.name());
        scenario.variant = variant;
        scenario.seed = seed;
        Self { rng, scenario, mood: Mood::Synchronous, trapped: Vec::new() }
    }

    fn finish(mut self) -> Scenario {
        self.network();
        self.mood_and_detector();
        self.timing();
        for _ in 0..1 + self.below(EVENTS_MAX) {
            let fault = self.fault();
            let at = Time::ZERO + Span::micros(self.below(RAGE.as_micros()));
            self.scenario.events.push(Planned { at, fault });
        }
        self.heal();
        self.scenario
    }

    fn network(&mut self) {
        let high = [1, 5, 20][self.below(3) as usize];
        let latency = Latency { low: Span::millis(1), high: Span::millis(high) };
        // Exact, with little to spare, and far too careful: longer than the leader's period even.
        let delta = [latency.high, latency.high + Span::millis(1), latency.high * 3][self.below(3) as usize];
        self.scenario.network.base.latency = latency;
        self.scenario.timing.delta = delta;
        self.scenario.timing.step = delta;
        if self.chance(25) {
            let drift = self.below(400) as i32 - 200;
            let node = self.node();
            self.scenario.drift_ppm.insert(node, drift);
        }
    }

    /// An algorithm that promises something only in a synchronous system gets one in most of its plans.
    fn mood_and_detector(&mut self) {
        use DetectorKind::{Adaptive, Cooperative, Heartbeat, Perfect, Ping, Ring};
        let hostile = !self.needs(Assumption::Reliable) || self.chance(40);
        let kinds: &[DetectorKind] = match (self.needs(Assumption::AccurateDetector), hostile) {
            (true, true) => &[Perfect],
            (true, false) => &[Perfect, Perfect, Ping, Heartbeat, Ring, Adaptive, Cooperative],
            // The oracle knows of crashes alone: it neither sees a cut nor is fooled by a node that plays dead.
            (false, _) => &[Ping, Heartbeat, Heartbeat, Ring, Cooperative, Adaptive],
        };
        let kind = kinds[self.below(kinds.len() as u64) as usize];
        self.scenario.detector.kind = kind;
        let others = self.scenario.nodes as usize - 1;
        self.scenario.detector.reporters = if kind == Cooperative { others.min(2) } else { 1 };
        if hostile {
            self.mood = Mood::Hostile;
            self.turn_hostile();
        }
    }

    /// Periods shorter and longer than a round trip.
    fn timing(&mut self) {
        self.scenario.timing.tau = Span::millis([20, 100, 100, 300][self.below(4) as usize]);
        let periods = [1, 1, 2, 4].map(|part| self.scenario.timing.tau / part);
        self.scenario.detector.period = periods[self.below(4) as usize];
    }

    /// Channels that lose, repeat and reorder until the healing; some keep reordering after it.
    fn turn_hostile(&mut self) {
        let in_order = self.needs(Assumption::Fifo);
        let calm = Fault::Network {
            latency: Some(self.scenario.network.base.latency),
            loss: Some(0.0),
            duplicate: Some(0.0),
            fifo: Some(in_order || self.chance(80)),
        };
        let percent = |drawn: u64| [0.0, 0.0, 0.05, 0.3][drawn as usize];
        let (loss, duplicate, fifo) = (self.below(4), self.below(4), self.chance(60));
        let base = &mut self.scenario.network.base;
        base.loss = percent(loss);
        base.duplicate = if in_order { 0.0 } else { percent(duplicate) };
        base.fifo = in_order || fifo;
        self.scenario.events.push(Planned { at: Time::ZERO + RAGE, fault: calm });
    }

    /// Whether some promise of the algorithm takes that for granted.
    fn needs(&self, assumption: Assumption) -> bool {
        self.scenario.protocol.spec().repaired.iter().any(|promise| promise.under.contains(&assumption))
    }

    fn fault(&mut self) -> Fault {
        let kinds = match self.mood {
            Mood::Synchronous => 5,
            Mood::Hostile => 14,
        };
        match self.below(kinds) {
            0 | 1 => Fault::Crash(self.some_nodes()),
            2 | 3 => Fault::Recover(self.some_nodes()),
            4 => self.crash_before_send(),
            5 => Fault::Pause(vec![self.node()]),
            6 | 7 => Fault::Resume(self.some_nodes()),
            8 => Fault::Cut(vec![self.pair()]),
            9 => Fault::CutOneWay(vec![self.pair()]),
            10 => self.partition(),
            11 => Fault::Heal,
            12 => self.slow(),
            _ => {
                let (from, to) = self.pair();
                Fault::DropNext { from, to, kind: self.kind() }
            }
        }
    }

    /// Ends every fault, and the run a while after the convergence has fallen due.
    fn heal(&mut self) {
        let at = Time::ZERO + RAGE;
        let everybody: Vec<NodeId> = self.scenario.ids().collect();
        let trapped = std::mem::take(&mut self.trapped);
        let up = if self.scenario.detector.kind == DetectorKind::Cooperative || self.chance(60) {
            everybody.clone()
        } else {
            self.some_nodes()
        };
        let mut last: Vec<Fault> = vec![Fault::Heal];
        if self.mood == Mood::Hostile && self.chance(30) {
            // What is left is not whole, but it is stable.
            let cuts = (0..1 + self.below(4)).map(|_| self.pair()).collect();
            last.push(Fault::Cut(cuts));
        }
        last.extend([Fault::Resume(everybody), Fault::Recover(up.clone())]);
        if !trapped.is_empty() {
            last.push(Fault::Crash(trapped));
            last.push(Fault::Recover(up));
        }
        self.scenario.events.extend(last.into_iter().map(|fault| Planned { at, fault }));
        let due = facts(&self.scenario).slowest_bound();
        self.scenario.until = at + SLOWEST + due + Span::secs(1);
        if self.needs(Assumption::QuietEnd) {
            // What holds "from some time on" has no bound: it gets as long as there was trouble, twice over.
            self.scenario.until = self.scenario.until.max(Time::ZERO + RAGE * 4);
        }
    }

    fn crash_before_send(&mut self) -> Fault {
        let node = self.node();
        self.trapped.push(node);
        Fault::CrashBeforeSend { node, kind: self.kind() }
    }

    fn partition(&mut self) -> Fault {
        let (one, other) = self.scenario.ids().partition(|_| below(2, &mut self.rng) == 0);
        let blocks: Vec<Vec<NodeId>> =
            [one, other].into_iter().filter(|block: &Vec<_>| !block.is_empty()).collect();
        Fault::Partition(blocks)
    }

    fn slow(&mut self) -> Fault {
        let (from, to) = self.pair();
        let high = Span::micros(1 + self.below(SLOWEST.as_micros()));
        Fault::Slow { from, to, latency: Latency { low: high / 2, high } }
    }

    fn kind(&mut self) -> String {
        let kinds = self.scenario.protocol.spec().kinds;
        kinds[self.below(kinds.len() as u64) as usize].name().to_owned()
    }

    fn some_nodes(&mut self) -> Vec<NodeId> {
        let chosen: Vec<NodeId> = self.scenario.ids().filter(|_| below(3, &mut self.rng) == 0).collect();
        if chosen.is_empty() { vec![self.node()] } else { chosen }
    }

    fn pair(&mut self) -> (NodeId, NodeId) {
        let (from, step) = (self.node(), 1 + self.below(u64::from(self.scenario.nodes) - 1) as u32);
        (from, NodeId((from.0 - 1 + step) % self.scenario.nodes + 1))
    }

    fn node(&mut self) -> NodeId {
        NodeId(1 + self.below(u64::from(self.scenario.nodes)) as u32)
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn below(&mut self, bound: u64) -> u64 {
        below(bound, &mut self.rng)
    }
}
