//! Plans for restricted operations: a few operations that everybody is asked for again and again, while groups split, merge and
//! lose what they say, and nodes crash at every step of a commit.

use bellwether_proto::election::Protocol;
use bellwether_proto::group::{OpId, RESTRICTED_KINDS};
use bellwether_proto::ident::NodeId;
use bellwether_proto::time::{Span, Time};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use crate::chance::below;
use crate::scenario::{Fault, Latency, Planned, Scenario};

/// When the last fault is over: from then on votes in doubt are to be resolved.
const HEALED: Span = Span::millis(2_400);
const UNTIL: Span = Span::millis(4_000);

/// What may befall a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Troubles {
    /// Crashes, partitions and losses: the plans of regressions, which never change.
    Losses,
    /// Pauses, slow links and links that are cut in one direction as well, so that votes and outcomes come late.
    Delays,
}

/// The plan of that seed.
pub fn draw(protocol: Protocol, troubles: Troubles, seed: u64) -> Scenario {
    // Streams of one seed differ, so that these plans have nothing to do with the others.
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(match troubles {
        Troubles::Losses => 3,
        Troubles::Delays => 4,
    });
    Draw { rng, troubles, nodes: 0 }.scenario(protocol, seed)
}

struct Draw {
    rng: ChaCha8Rng,
    troubles: Troubles,
    nodes: u32,
}

impl Draw {
    fn scenario(mut self, protocol: Protocol, seed: u64) -> Scenario {
        self.nodes = 3 + self.below(3) as u32;
        let mut scenario = Scenario::calm(protocol, self.nodes, Time::ZERO + UNTIL);
        scenario.name = format!("restricted operations of {}, seed {seed}", protocol.name());
        scenario.seed = seed;
        scenario.timing.tau = Span::millis(20);
        scenario.detector.period = scenario.timing.tau;
        let base = &mut scenario.network.base;
        base.latency = Latency { low: Span::millis(1), high: Span::millis(1 + self.below(4)) };
        scenario.timing.delta = base.latency.high + Span::millis(1);
        scenario.timing.step = scenario.timing.delta;
        base.loss = [0.0, 0.0, 0.05, 0.2][self.below(4) as usize];
        base.duplicate = [0.0, 0.05][self.below(2) as usize];
        base.fifo = self.below(2) == 0;
        scenario.events = self.events();
        scenario
    }

    fn events(&mut self) -> Vec<Planned> {
        let mut events = Vec::new();
        for op in 1..=1 + self.below(3) {
            // Whoever coordinates a group by then will try; in a partition, more than one.
            for _ in 0..4 + self.below(10) {
                let at = self.moment();
                let all = (1..=self.nodes).map(|node| Fault::Perform { node: NodeId(node), op: OpId(op) });
                events.extend(all.map(|fault| Planned { at, fault }));
            }
        }
        for _ in 0..2 + self.below(8) {
            let at = self.moment();
            let (begins, ends) = self.trouble();
            events.push(Planned { at, fault: begins });
            let after = at + Span::millis(20 + self.below(600));
            events.extend(ends.map(|fault| Planned { at: after, fault }));
        }
        let healed = Time::ZERO + HEALED;
        events.retain(|planned| planned.at < healed);
        let calm = Fault::Network { latency: None, loss: Some(0.0), duplicate: Some(0.0), fifo: None };
        let all: Vec<NodeId> = (1..=self.nodes).map(NodeId).collect();
        // Traps that nobody has run into yet are still there: whoever does comes back.
        let recovers =
            |n: u64| Planned { at: healed + Span::millis(n * 400), fault: Fault::Recover(all.clone()) };
        events.extend([calm, Fault::Heal].map(|fault| Planned { at: healed, fault }));
        if self.troubles == Troubles::Delays {
            events.push(Planned { at: healed, fault: Fault::Resume(all.clone()) });
        }
        events.extend((0..3).map(recovers));
        events
    }

    /// Something that befalls the cluster, and what ends it.
    fn trouble(&mut self) -> (Fault, Option<Fault>) {
        let node = NodeId(1 + self.below(u64::from(self.nodes)) as u32);
        let kind = RESTRICTED_KINDS[self.below(RESTRICTED_KINDS.len() as u64) as usize].name().to_owned();
        let recovers = Some(Fault::Recover(vec![node]));
        let kinds = match self.troubles {
            Troubles::Losses => 6,
            Troubles::Delays => 9,
        };
        match self.below(kinds) {
            0 => (Fault::Crash(vec![node]), recovers),
            1 | 2 => (Fault::CrashBeforeSend { node, kind }, recovers),
            3 | 4 => {
                let block: Vec<NodeId> =
                    (1..=self.nodes).map(NodeId).filter(|_| self.below(2) == 0).collect();
                match block.is_empty() {
                    true => (Fault::Heal, None),
                    false => (Fault::Partition(vec![block]), Some(Fault::Heal)),
                }
            }
            5 => (Fault::DropNext { from: node, to: self.other(node), kind }, None),
            6 => (Fault::Pause(vec![node]), Some(Fault::Resume(vec![node]))),
            7 => {
                let latency = Latency { low: Span::millis(1), high: Span::millis(10 + self.below(300)) };
                (Fault::Slow { from: node, to: self.other(node), latency }, Some(Fault::Heal))
            }
            _ => {
                let link = vec![(node, self.other(node))];
                (Fault::CutOneWay(link.clone()), Some(Fault::Mend(link)))
            }
        }
    }

    fn other(&mut self, node: NodeId) -> NodeId {
        NodeId(1 + (node.0 + self.below(u64::from(self.nodes) - 1) as u32) % self.nodes)
    }

    fn moment(&mut self) -> Time {
        Time::from_micros(self.below(HEALED.as_micros()))
    }

    fn below(&mut self, bound: u64) -> u64 {
        below(bound, &mut self.rng)
    }
}
