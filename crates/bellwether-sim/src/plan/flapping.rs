//! Plans for algorithms over consistent links: links that flap, some faster than anybody can tell; nodes that only seem to
//! fail; cuts after which not all who can speak with one can speak with each other; crashes, and restarts that nobody notices.

use bellwether_proto::election::Protocol;
use bellwether_proto::ident::NodeId;
use bellwether_proto::link::consistent::Pace;
use bellwether_proto::time::{Span, Time};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use crate::chance::below;
use crate::scenario::{Fault, Latency, Planned, Scenario};

/// When the last fault is over. The rest, more than half, is for what is promised in the end.
const CALM: Span = Span::secs(12);
const UNTIL: Span = Span::secs(30);

/// The plan of that seed.
pub fn draw(protocol: Protocol, seed: u64) -> Scenario {
    // Streams of one seed differ, so that these plans have nothing to do with the others.
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(4);
    let mut draw = Draw { rng, nodes: 0, patience: Span::ZERO };
    draw.scenario(protocol, seed)
}

struct Draw {
    rng: ChaCha8Rng,
    nodes: u32,
    /// A link that is cut for longer goes down.
    patience: Span,
}

impl Draw {
    fn scenario(&mut self, protocol: Protocol, seed: u64) -> Scenario {
        self.nodes = 3 + self.below(5) as u32;
        let mut scenario = Scenario::calm(protocol, self.nodes, Time::ZERO + UNTIL);
        scenario.name = format!("flapping links of {}, seed {seed}", protocol.name());
        scenario.seed = seed;
        let base = &mut scenario.network.base;
        base.latency = Latency { low: Span::millis(1), high: Span::millis(1 + self.below(9)) };
        base.loss = [0.0, 0.0, 0.02, 0.2][self.below(4) as usize];
        base.duplicate = [0.0, 0.1][self.below(2) as usize];
        base.fifo = self.below(2) == 0;
        scenario.timing.delta = base.latency.high + Span::millis(1);
        self.patience = Pace::of(scenario.timing).patience;
        scenario.events = self.events();
        scenario
    }

    fn events(&mut self) -> Vec<Planned> {
        let mut events = Vec::new();
        for _ in 0..1 + self.below(4) {
            self.flap(&mut events);
        }
        for _ in 0..self.below(4) {
            self.pass_for_dead(&mut events);
        }
        for _ in 0..self.below(4) {
            self.restart(&mut events);
        }
        for _ in 0..self.below(3) {
            let (at, pair) = (self.moment(), self.pair());
            events.push(Planned { at, fault: Fault::Cut(vec![pair]) });
            let mended = at + self.patience + self.up_to(self.patience * 8);
            events.push(Planned { at: mended, fault: Fault::Mend(vec![pair]) });
        }
        let calm = Time::ZERO + CALM;
        events.retain(|planned| planned.at < calm);
        let network = Fault::Network { latency: None, loss: Some(0.0), duplicate: Some(0.0), fifo: None };
        let all = (1..=self.nodes).map(NodeId).collect();
        let last = [network, Fault::Heal, Fault::Recover(all)];
        events.extend(last.map(|fault| Planned { at: calm, fault }));
        events
    }

    /// One link goes down and up again, each time for less than its patience, or more.
    fn flap(&mut self, events: &mut Vec<Planned>) {
        let (mut at, pair) = (self.moment(), self.pair());
        for _ in 0..2 + self.below(30) {
            events.push(Planned { at, fault: Fault::Cut(vec![pair]) });
            at = at + self.up_to(self.patience * 2);
            events.push(Planned { at, fault: Fault::Mend(vec![pair]) });
            at = at + self.up_to(self.patience * 2);
        }
    }

    /// A node is cut off from some of the others, or all: those who miss it, and those who do not, find out that they differ.
    fn pass_for_dead(&mut self, events: &mut Vec<Planned>) {
        let (node, at) = (self.node(), self.moment());
        let others: Vec<NodeId> = (1..=self.nodes).map(NodeId).filter(|other| *other != node).collect();
        let missing = others.into_iter().filter(|_| self.below(3) > 0);
        let cuts: Vec<(NodeId, NodeId)> = missing.map(|other| (node, other)).collect();
        if cuts.is_empty() {
            return;
        }
        events.push(Planned { at, fault: Fault::Cut(cuts.clone()) });
        // Those who missed it hear of it one after the other.
        for cut in cuts {
            let mended = at + self.up_to(self.patience * 3);
            events.push(Planned { at: mended, fault: Fault::Mend(vec![cut]) });
        }
    }

    /// Often before anybody has missed the node.
    fn restart(&mut self, events: &mut Vec<Planned>) {
        let (node, at) = (self.node(), self.moment());
        events.push(Planned { at, fault: Fault::Crash(vec![node]) });
        let most = self.patience * [1, 1, 4][self.below(3) as usize];
        let down = self.up_to(most);
        events.push(Planned { at: at + down, fault: Fault::Recover(vec![node]) });
    }

    fn pair(&mut self) -> (NodeId, NodeId) {
        let one = self.node();
        let other = NodeId(1 + (one.0 + self.below(u64::from(self.nodes) - 1) as u32) % self.nodes);
        (one, other)
    }

    fn node(&mut self) -> NodeId {
        NodeId(1 + self.below(u64::from(self.nodes)) as u32)
    }

    fn moment(&mut self) -> Time {
        Time::ZERO + self.up_to(CALM)
    }

    fn up_to(&mut self, most: Span) -> Span {
        Span::micros(self.below(most.as_micros()))
    }

    fn below(&mut self, bound: u64) -> u64 {
        below(bound, &mut self.rng)
    }
}
