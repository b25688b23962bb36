//! Fault plans: from a seed to a scenario in which faults rage, and then stop.
//!
//! Each plan draws its own size, network, detector and mix of faults, so that rare combinations come up (swarm
//! testing). Safety is judged throughout. At some point everything heals, and the run goes on long enough for the
//! promised convergence to fall due. What is judged follows from the promises alone: a plan that breaks an
//! algorithm's assumptions simply leaves fewer properties to judge.

mod exclusive;
pub mod flapping;
pub mod limits;
mod menu;
pub mod model;
mod programs;
pub mod restricted;

use std::collections::BTreeSet;

use bellwether_proto::detector::DetectorKind;
use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::ident::NodeId;
use bellwether_proto::promise::Assumption;
use bellwether_proto::time::{Span, Time};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use crate::chance::below;
use crate::run::slowest_bound;
use crate::scenario::{Fault, Latency, Planned, Runs, Scenario};
use menu::{MENU, MENU_SILENT, MENU_SYNCHRONOUS, Pick};

pub use limits::{Allowed, FaultClass, Limits, LimitsError};

/// Of a plan's rage: the slowest link that it makes.
const SLOWEST_PART: u64 = 5;
const EVENTS_MAX: u64 = 24;
/// The same where members are connected: what is promised there is promised once a group has settled, between two faults.
const EVENTS_CONNECTED_MAX: u64 = 4;
/// Periods of the leader after which adaptive timeouts have surely been learned.
const PERIODS_TO_LEARN: u64 = 50;

/// The plan of that seed for an algorithm, within the [widest limits](Limits::wide).
pub fn draw(protocol: Protocol, variant: Variant, seed: u64) -> Scenario {
    draw_within(protocol, variant, &Limits::wide(), seed)
}

/// As [`draw`], of nodes that are run as an agent runs them.
pub fn draw_in_agent(protocol: Protocol, seed: u64) -> Scenario {
    draw_within(protocol, Variant::Repaired, &Limits { runs: Runs::Agents, ..Limits::wide() }, seed)
}

/// The plan of that seed for an algorithm, within limits that [can be kept](Limits::check).
pub fn draw_within(protocol: Protocol, variant: Variant, limits: &Limits, seed: u64) -> Scenario {
    let scenario = Drawing::new(protocol, variant, limits, seed).finish();
    match limits.runs {
        Runs::Elections => scenario,
        Runs::Agents => programs::add(scenario, limits),
        Runs::Exclusive => programs::add(exclusive::add(scenario, limits), limits),
    }
}

/// What a plan's faults may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mood {
    /// Only what a synchronous system allows: crashes and recoveries, every message within δ.
    Synchronous,
    /// The same, but nodes may stop running for a while.
    Silent,
    /// Loss, duplication, reordering, delay, pauses, cuts and partitions as well.
    Hostile,
}

#[derive(Debug)]
struct Drawing<'a> {
    rng: ChaCha8Rng,
    scenario: Scenario,
    limits: &'a Limits,
    classes: BTreeSet<FaultClass>,
    /// Faults happen before this.
    rage: Span,
    mood: Mood,
    /// Who may crash: everybody, unless nobody comes back.
    mortal: Vec<NodeId>,
    /// Nodes that a `crash_before_send` still waits for.
    trapped: Vec<NodeId>,
}

impl<'a> Drawing<'a> {
    fn new(protocol: Protocol, variant: Variant, limits: &'a Limits, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x706c_616e);
        let nodes = limits.nodes[below(limits.nodes.len() as u64, &mut rng) as usize];
        let rage = match limits.rages[..] {
            [only] => only,
            ref several => several[below(several.len() as u64, &mut rng) as usize],
        };
        let mut scenario = Scenario::calm(protocol, nodes, Time::NEVER);
        scenario.name = format!("{} plan {seed}", protocol.name());
        scenario.variant = variant;
        scenario.seed = seed;
        let classes = limits.classes(protocol, variant);
        let (mortal, trapped) = (scenario.ids().collect(), Vec::new());
        Self { rng, scenario, limits, classes, rage, mood: Mood::Synchronous, mortal, trapped }
    }

    fn finish(mut self) -> Scenario {
        self.network();
        self.mood_and_detector();
        self.timing();
        if !self.allows(FaultClass::Recover) {
            self.spare_some();
        }
        let menu = self.menu();
        for _ in 0..1 + self.below(self.events_max()) {
            if menu.is_empty() {
                break; // What the network does must do.
            }
            let pick = menu[self.below(menu.len() as u64) as usize];
            let fault = self.fault(pick);
            let at = Time::ZERO + Span::micros(self.below(self.rage.as_micros()));
            self.scenario.events.push(Planned { at, fault });
        }
        self.heal();
        self.scenario
    }

    fn events_max(&self) -> u64 {
        if self.limits.runs != Runs::Elections && self.mood != Mood::Hostile {
            EVENTS_CONNECTED_MAX
        } else {
            EVENTS_MAX
        }
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

    /// An algorithm that promises something only in a synchronous system gets one in most of its plans, and agents get one in
    /// half of theirs.
    fn mood_and_detector(&mut self) {
        use DetectorKind::{Adaptive, Cooperative, Heartbeat, Perfect, Ping, Ring};
        // Where no fault is left that a synchronous system knows, there is no point in one.
        let synchronous = self.allows(FaultClass::Crash);
        let connected = self.limits.runs != Runs::Elections && synchronous && self.chance(50);
        let hostile = !connected && (!self.needs(Assumption::Reliable) || !synchronous || self.chance(40));
        let kinds: &[DetectorKind] = match (self.needs(Assumption::AccurateDetector), hostile) {
            (true, true) => &[Perfect],
            (true, false) => &[Perfect, Perfect, Ping, Heartbeat, Ring, Adaptive, Cooperative],
            // The oracle knows of crashes alone: it neither sees a cut nor is fooled by a node that plays dead.
            (false, _) => &[Ping, Heartbeat, Heartbeat, Ring, Cooperative, Adaptive],
        };
        let kind = self.detector(kinds);
        self.scenario.detector.kind = kind;
        let others = self.scenario.nodes as usize - 1;
        self.scenario.detector.reporters = if kind == Cooperative { others.min(2) } else { 1 };
        if hostile {
            self.mood = Mood::Hostile;
            self.turn_hostile();
        } else if connected {
            self.connect();
        }
    }

    /// The leadership layer promises most where members are connected with each other all the time: some of them may not run
    /// for a while, or nobody comes back.
    fn connect(&mut self) {
        match self.below(3) {
            0 => self.mood = Mood::Silent,
            1 => drop(self.classes.remove(&FaultClass::Recover)),
            _ => {}
        }
    }

    fn detector(&mut self, suitable: &[DetectorKind]) -> DetectorKind {
        let mut kinds = suitable.to_vec();
        if let Some(wanted) = &self.limits.detectors {
            kinds.retain(|kind| wanted.contains(kind));
            if kinds.is_empty() {
                kinds.clone_from(wanted);
            }
        }
        kinds[self.below(kinds.len() as u64) as usize]
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
        let fifo_after = in_order || self.chance(80);
        let percent = |drawn: u64| [0.0, 0.0, 0.05, 0.3][drawn as usize];
        let (loss, duplicate, fifo) = (self.below(4), self.below(4), self.chance(60));
        let [loses, repeats, delays] =
            [FaultClass::Loss, FaultClass::Duplicate, FaultClass::Delay].map(|class| self.allows(class));
        if !(loses || repeats || delays) {
            return;
        }
        let base = &mut self.scenario.network.base;
        base.loss = if loses { percent(loss) } else { 0.0 };
        base.duplicate = if repeats && !in_order { percent(duplicate) } else { 0.0 };
        base.fifo = in_order || fifo || !delays;
        let calm = Fault::Network {
            latency: Some(base.latency),
            loss: Some(0.0),
            duplicate: Some(0.0),
            fifo: Some(fifo_after || !delays),
        };
        self.scenario.events.push(Planned { at: Time::ZERO + self.rage, fault: calm });
    }

    /// Whether some promise of the algorithm takes that for granted.
    fn needs(&self, assumption: Assumption) -> bool {
        limits::presumes(self.scenario.protocol, assumption)
    }

    fn fault(&mut self, pick: Pick) -> Fault {
        match pick {
            Pick::Crash => Fault::Crash(self.some_mortals()),
            Pick::Recover => Fault::Recover(self.some_nodes()),
            Pick::CrashBeforeSend => self.crash_before_send(),
            Pick::Pause => Fault::Pause(vec![self.node()]),
            Pick::Resume => Fault::Resume(self.some_nodes()),
            Pick::Cut => Fault::Cut(vec![self.pair()]),
            Pick::CutOneWay => Fault::CutOneWay(vec![self.pair()]),
            Pick::Partition => self.partition(),
            Pick::Heal => Fault::Heal,
            Pick::Slow => self.slow(),
            Pick::DropNext => {
                let (from, to) = self.pair();
                Fault::DropNext { from, to, kind: self.kind() }
            }
        }
    }

    /// What may be drawn in this mood, within the limits.
    fn menu(&self) -> Vec<Pick> {
        let mood = match self.mood {
            Mood::Synchronous => &MENU[..MENU_SYNCHRONOUS],
            Mood::Silent => &MENU[..MENU_SILENT],
            Mood::Hostile => &MENU[..],
        };
        mood.iter().copied().filter(|pick| self.offers(*pick)).collect()
    }

    fn offers(&self, pick: Pick) -> bool {
        use FaultClass::{Crash, Delay, Loss, Partition, Pause, Recover};
        match pick {
            Pick::Crash | Pick::CrashBeforeSend => self.allows(Crash) && !self.mortal.is_empty(),
            Pick::Recover => self.allows(Recover),
            Pick::Pause | Pick::Resume => self.allows(Pause),
            Pick::Cut | Pick::CutOneWay | Pick::Partition => self.allows(Partition),
            Pick::Heal => self.allows(Partition) || self.allows(Delay) || self.allows(Loss),
            Pick::Slow => self.allows(Delay),
            Pick::DropNext => self.allows(Loss),
        }
    }

    fn allows(&self, class: FaultClass) -> bool {
        self.classes.contains(&class)
    }

    /// Where nobody comes back, somebody must be left, and no fewer than the algorithm needs.
    fn spare_some(&mut self) {
        let few = self.needs(Assumption::FewCrashes);
        let most = if few { self.scenario.t() } else { self.scenario.nodes - 1 };
        let mortals = if most == 0 { 0 } else { 1 + self.below(u64::from(most)) as usize };
        self.mortal = self.in_a_row(mortals);
    }

    /// Ends every fault, and the run a while after the convergence has fallen due.
    fn heal(&mut self) {
        let at = Time::ZERO + self.rage;
        let everybody: Vec<NodeId> = self.scenario.ids().collect();
        let trapped = std::mem::take(&mut self.trapped);
        let up = if self.scenario.detector.kind == DetectorKind::Cooperative || self.chance(60) {
            everybody.clone()
        } else {
            self.some_nodes()
        };
        let mut last: Vec<Fault> = vec![Fault::Heal];
        if self.mood == Mood::Hostile && self.allows(FaultClass::Partition) && self.chance(30) {
            // What is left is not whole, but it is stable.
            let cuts = (0..1 + self.below(4)).map(|_| self.pair()).collect();
            last.push(Fault::Cut(cuts));
        }
        if self.allows(FaultClass::Pause) {
            last.push(Fault::Resume(everybody));
        }
        let recovers = self.allows(FaultClass::Recover);
        if recovers {
            last.push(Fault::Recover(up.clone()));
        }
        if !trapped.is_empty() {
            last.push(Fault::Crash(trapped));
            if recovers {
                last.push(Fault::Recover(up));
            }
        }
        last.extend(self.exactly_t_down());
        self.scenario.events.extend(last.into_iter().map(|fault| Planned { at, fault }));
        let due = slowest_bound(&self.scenario);
        self.scenario.until = at + self.slowest() + due + Span::secs(1);
        if self.needs(Assumption::QuietEnd) {
            let quiet = self.quiet();
            // The last quarter must be as it is to be for ever.
            self.scenario.until = self.scenario.until.max(Time::ZERO + (self.rage + quiet) * 4 / 3);
        }
    }

    /// What holds "from some time on" has no bound: it gets as long as there was trouble, and many periods of the leader,
    /// since it takes mistakes, and so periods, to learn how long to wait. The widest limits have no short plans, and go by
    /// the trouble alone.
    fn quiet(&self) -> Span {
        match self.limits.faults {
            Allowed::Everything => self.rage * 2,
            Allowed::Promised | Allowed::Only(_) => self.rage + self.scenario.timing.tau * PERIODS_TO_LEARN,
        }
    }

    /// A network without a model gives the message pattern if exactly t are down. A search within promises sees to it.
    fn exactly_t_down(&mut self) -> Vec<Fault> {
        let wanted = self.needs(Assumption::MessagePattern) && self.limits.faults != Allowed::Everything;
        if !wanted || !self.allows(FaultClass::Crash) {
            return Vec::new();
        }
        let t = self.scenario.t() as usize;
        let mut down = self.mortal.clone();
        if self.allows(FaultClass::Recover) {
            down = self.in_a_row(t);
        }
        for node in self.scenario.ids() {
            if down.len() < t && !down.contains(&node) {
                down.push(node);
            }
        }
        let up: Vec<_> = self.scenario.ids().filter(|node| !down.contains(node)).collect();
        let crash = (!down.is_empty()).then_some(Fault::Crash(down));
        let recover = self.allows(FaultClass::Recover).then_some(Fault::Recover(up));
        crash.into_iter().chain(recover).collect()
    }

    fn crash_before_send(&mut self) -> Fault {
        let drawn = self.node();
        let node = if self.mortal.contains(&drawn) { drawn } else { self.some_mortals()[0] };
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
        let high = Span::micros(1 + self.below(self.slowest().as_micros()));
        Fault::Slow { from, to, latency: Latency { low: high / 2, high } }
    }

    fn slowest(&self) -> Span {
        self.rage / SLOWEST_PART
    }

    fn kind(&mut self) -> String {
        if let Some(kinds) = &self.limits.kinds {
            return kinds[below(kinds.len() as u64, &mut self.rng) as usize].clone();
        }
        let kinds = self.scenario.protocol.spec().kinds;
        kinds[self.below(kinds.len() as u64) as usize].name().to_owned()
    }

    fn some_nodes(&mut self) -> Vec<NodeId> {
        let chosen: Vec<NodeId> = self.scenario.ids().filter(|_| below(3, &mut self.rng) == 0).collect();
        if chosen.is_empty() { vec![self.node()] } else { chosen }
    }

    fn some_mortals(&mut self) -> Vec<NodeId> {
        let mut chosen = self.some_nodes();
        chosen.retain(|node| self.mortal.contains(node));
        if chosen.is_empty() {
            let place = self.below(self.mortal.len() as u64) as usize;
            chosen.push(self.mortal[place]);
        }
        chosen
    }

    /// That many nodes, beginning with any.
    fn in_a_row(&mut self, count: usize) -> Vec<NodeId> {
        let first = self.node().0 - 1;
        (0..count as u32).map(|step| NodeId((first + step) % self.scenario.nodes + 1)).collect()
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
