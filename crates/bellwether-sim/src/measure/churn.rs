//! An hour in which nodes restart at random.

use bellwether_proto::election::Protocol;
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{TraceEvent, What};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

use super::leadership::Leadership;
use crate::run;
use crate::scenario::{Fault, Planned, Scenario};

/// How restless a cluster is.
#[derive(Clone, Copy, Debug)]
pub struct Churn {
    /// How many nodes it has.
    pub nodes: u32,
    /// How long the run takes.
    pub length: Span,
    /// How long a node stays up, on average.
    pub up: Span,
    /// How long it stays down, on average.
    pub down: Span,
}

impl Default for Churn {
    fn default() -> Self {
        Self { nodes: 5, length: Span::secs(3600), up: Span::secs(60), down: Span::secs(2) }
    }
}

/// What an hour of churn came to. A leader is a node that names itself and is named by more than half of those that are up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How often a node crashed.
    pub crashes: u64,
    /// How often it was the leader.
    pub leader_crashes: u64,
    /// How often another life led than the one that had led last.
    pub changes: u64,
    /// How many of these ousted a leader that was up.
    pub preemptions: u64,
    /// For how long nobody led.
    pub leaderless: Span,
}

/// Runs an algorithm through the churn of that seed.
pub fn measure(protocol: Protocol, churn: &Churn, seed: u64) -> Outcome {
    let scenario = scenario(protocol, churn, seed);
    let mut observer = Observer::new(churn.nodes);
    drop(run::run_with(&scenario, Box::new(|event| observer.observe(event))));
    observer.finish(scenario.until)
}

/// Times up and down are exponential; nodes are independent.
fn scenario(protocol: Protocol, churn: &Churn, seed: u64) -> Scenario {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x6368_7572_6e00);
    let mut scenario = Scenario::calm(protocol, churn.nodes, Time::ZERO + churn.length);
    scenario.name = format!("{} in churn {seed}", protocol.name());
    scenario.seed = seed;
    scenario.timing.tau = Span::millis(50);
    scenario.detector.period = scenario.timing.tau;
    for node in scenario.ids() {
        let mut at = Time::ZERO + exponential(churn.up, &mut rng);
        while at < scenario.until {
            scenario.events.push(Planned { at, fault: Fault::Crash(vec![node]) });
            at = at + exponential(churn.down, &mut rng);
            if at < scenario.until {
                scenario.events.push(Planned { at, fault: Fault::Recover(vec![node]) });
            }
            at = at + exponential(churn.up, &mut rng);
        }
    }
    scenario
}

fn exponential(mean: Span, rng: &mut ChaCha8Rng) -> Span {
    // In (0, 1], so that its logarithm is finite.
    let uniform = ((rng.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    Span::micros((-uniform.ln() * mean.as_micros() as f64) as u64 + 1)
}

#[derive(Debug)]
struct Observer {
    now: Time,
    leadership: Leadership,
    /// Who led last, and still does if there is no `since`.
    last: Option<(NodeId, Incarnation)>,
    /// Since when nobody has led.
    leaderless_since: Option<Time>,
    outcome: Outcome,
}

impl Observer {
    fn new(nodes: u32) -> Self {
        Self {
            now: Time::ZERO,
            leadership: Leadership::new(nodes),
            last: None,
            leaderless_since: Some(Time::ZERO),
            outcome: Outcome::default(),
        }
    }

    fn observe(&mut self, event: &TraceEvent) {
        if event.at > self.now {
            self.conclude();
            self.now = event.at;
        }
        if event.what == What::Crash {
            self.outcome.crashes += 1;
            let leads =
                self.leaderless_since.is_none() && self.last.map(|(leader, _)| leader) == Some(event.node);
            self.outcome.leader_crashes += u64::from(leads);
        }
        self.leadership.observe(event);
    }

    /// Judges an instant that is over: what nodes say in its course need not last until its end.
    fn conclude(&mut self) {
        match self.leadership.acting() {
            Some(leader) => self.leads(leader),
            None => self.leaderless_since = self.leaderless_since.or(Some(self.now)),
        }
    }

    fn leads(&mut self, leader: (NodeId, Incarnation)) {
        if let Some(since) = self.leaderless_since.take() {
            self.outcome.leaderless = self.outcome.leaderless + self.now.since(since);
        }
        if self.last == Some(leader) {
            return;
        }
        if let Some((before, life)) = self.last.replace(leader) {
            self.outcome.changes += 1;
            self.outcome.preemptions += u64::from(self.leadership.life(before) == Some(life));
        }
    }

    fn finish(mut self, end: Time) -> Outcome {
        self.conclude();
        if let Some(since) = self.leaderless_since {
            self.outcome.leaderless = self.outcome.leaderless + end.since(since);
        }
        self.outcome
    }
}
