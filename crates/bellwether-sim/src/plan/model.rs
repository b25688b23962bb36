//! Plans in the assumption models: from a seed to a run in which a model promises what an algorithm needs, and nothing
//! more.
//!
//! Size, timing, source and the time at which the promise begins are drawn; some nodes crash, and in the repaired
//! variant some of them come back. Then the network stays as hostile as the model allows until the end.

use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::ident::NodeId;
use bellwether_proto::promise::{Assumption, Property};
use bellwether_proto::time::{Span, Time};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use crate::chance::below;
use crate::environment;
use crate::scenario::{Fault, Latency, Model, ModelKind, Planned, Scenario};

/// How long a run takes. Hostile spells grow, and an algorithm may need several to learn whom to avoid.
const LENGTH: Span = Span::secs(200);
/// The promise begins, and faults end, before this.
const TROUBLE: Span = Span::secs(30);
/// A model that keeps a promise in so many plans does so by what it is, not by what was drawn.
const PLANS: u64 = 50;

/// The models in which an algorithm promises an eventual leader: every plan in them keeps what that takes.
pub fn promised(protocol: Protocol, variant: Variant) -> Vec<ModelKind> {
    let applies = |plan: &Scenario| environment::promised(plan, Property::Omega, &[]);
    let in_all = |kind: &ModelKind| (1..=PLANS).all(|seed| applies(&draw(protocol, variant, *kind, seed)));
    ModelKind::ALL.into_iter().filter(in_all).collect()
}

/// The plan of that seed for an algorithm in a model.
pub fn draw(protocol: Protocol, variant: Variant, kind: ModelKind, seed: u64) -> Scenario {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x6d6f_6465_6c00);
    let nodes = [3, 5, 7][below(3, &mut rng) as usize];
    let mut scenario = Scenario::calm(protocol, nodes, Time::ZERO + LENGTH);
    scenario.name = format!("{} {} in {} {seed}", protocol.name(), variant.name(), kind.name());
    scenario.variant = variant;
    scenario.seed = seed;
    let mut drawing = Drawing { rng, scenario };
    drawing.timing();
    let model = drawing.model(kind);
    drawing.scenario.network.model = Some(model);
    drawing.crashes(model.source);
    drawing.scenario
}

#[derive(Debug)]
struct Drawing {
    rng: ChaCha8Rng,
    scenario: Scenario,
}

impl Drawing {
    /// What the algorithms are told need not be what the network does, except where they say they need it.
    fn timing(&mut self) {
        let high = Span::millis([1, 5, 20][self.below(3) as usize]);
        self.scenario.network.base.latency = Latency { low: Span::micros(500), high };
        let knows = self.needs(Assumption::BoundedDelay) || self.chance(50);
        let timing = &mut self.scenario.timing;
        timing.delta = if knows { high + Span::millis(1) } else { Span::millis(1) };
        self.scenario.timing.step = [high, Span::millis(10)][self.below(2) as usize];
        self.scenario.timing.tau = Span::millis([50, 100, 200][self.below(3) as usize]);
        self.scenario.detector.period = self.scenario.timing.tau;
    }

    fn model(&mut self, kind: ModelKind) -> Model {
        let nodes = u64::from(self.scenario.nodes);
        let most = if self.needs(Assumption::MessagePattern) { nodes - 2 } else { nodes - 1 };
        let t = 1 + self.below(most) as u32;
        let source = NodeId(1 + self.below(nodes) as u32);
        // Where suspicions are lost as well, counts take longer to part: the trouble before must not take too long.
        let trouble = if kind == ModelKind::Kcs { TROUBLE / 3 } else { TROUBLE };
        let gst = Time::ZERO + Span::micros(self.below(trouble.as_micros()));
        let loss = [0.1, 0.5, 0.7][self.below(3) as usize];
        self.scenario.parameters.t = Some(t);
        let delta = self.scenario.network.base.latency.high;
        Model { kind, source, t: t.min(kind.t_max(self.scenario.nodes)), gst, delta, loss }.as_read()
    }

    /// At most t others than the source are down at the end, or any number; those that outrank it, where it must lead.
    fn crashes(&mut self, source: NodeId) {
        let few = self.needs(Assumption::FewCrashes);
        let most = if few { self.scenario.few() } else { self.scenario.nodes - 1 };
        let is_kcs = self.scenario.network.model.is_some_and(|model| model.kind == ModelKind::Kcs);
        let source_must_lead = is_kcs && self.needs(Assumption::StrongestReachesAll);
        let mut left = most;
        for node in self.scenario.ids() {
            let must_go = source_must_lead && node < source;
            let goes = node != source && left > 0 && self.chance(40);
            if must_go || goes {
                left = left.saturating_sub(1);
                self.crash(node);
            } else if self.repaired() && self.chance(30) {
                self.restart(node);
            }
        }
    }

    /// For good; the repaired variant may see it come and go before.
    fn crash(&mut self, node: NodeId) {
        let last = self.moment();
        if self.repaired() && self.chance(30) {
            let at = Time::from_micros(self.below(last.as_micros()));
            let back = Time::from_micros(at.as_micros() + self.below(last.as_micros() - at.as_micros()));
            self.befall(at, Fault::Crash(vec![node]));
            self.befall(back, Fault::Recover(vec![node]));
        }
        self.befall(last, Fault::Crash(vec![node]));
    }

    fn restart(&mut self, node: NodeId) {
        let back = self.moment();
        let at = Time::from_micros(self.below(back.as_micros()));
        self.befall(at, Fault::Crash(vec![node]));
        self.befall(back, Fault::Recover(vec![node]));
    }

    fn befall(&mut self, at: Time, fault: Fault) {
        self.scenario.events.push(Planned { at, fault });
    }

    fn moment(&mut self) -> Time {
        Time::from_micros(2 + self.below(TROUBLE.as_micros()))
    }

    fn repaired(&self) -> bool {
        self.scenario.variant == Variant::Repaired
    }

    /// Whether some promise of the algorithm takes that for granted.
    fn needs(&self, assumption: Assumption) -> bool {
        let promises = self.scenario.protocol.spec().promises(self.scenario.variant);
        promises.iter().any(|promise| promise.under.contains(&assumption))
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn below(&mut self, bound: u64) -> u64 {
        below(bound, &mut self.rng)
    }
}
