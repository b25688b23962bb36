//! A run as an observer of the whole cluster sees it: the traffic, the leader, and how long a failover takes.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use bellwether_proto::election::{AnyElection, AnyMsg};
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::message::Frame;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{TraceEvent, What};
use bellwether_proto::wire::{self, Channel};

use super::leadership::Leadership;
use crate::journal::Listener;
use crate::run;
use crate::scenario::Scenario;
use crate::world::World;

/// The figures of some time. A leader is a node that names itself and is named by more than half of the running
/// nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How long it was.
    pub length: Span,
    /// How many messages were sent.
    pub messages: u64,
    /// Their bytes, as the wire format has them.
    pub bytes: u64,
    /// How often a node crashed.
    pub crashes: u64,
    /// How often it was the leader.
    pub leader_crashes: u64,
    /// How often the leader changed; a new incarnation counts as another leader.
    pub changes: u64,
    /// How many of these ousted a leader that was up.
    pub preemptions: u64,
    /// For how long nobody led.
    pub leaderless: Span,
    /// For how long two nodes or more led at once: each named itself.
    pub split: Span,
    /// The failover after each crash of a leader.
    pub failovers: Vec<Failover>,
}

/// From a crash of the leader until all that run name one live leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failover {
    /// How long it took; `None` if it was not over by the end.
    pub took: Option<Span>,
    /// How many messages were sent in this time.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Failover {
    /// There was no leader that could have crashed.
    pub(super) const NEVER: Self = Self { took: None, messages: 0, bytes: 0 };
}

impl Outcome {
    /// Adds the figures of another time.
    pub fn join(&mut self, other: Self) {
        self.length = self.length + other.length;
        self.messages += other.messages;
        self.bytes += other.bytes;
        self.crashes += other.crashes;
        self.leader_crashes += other.leader_crashes;
        self.changes += other.changes;
        self.preemptions += other.preemptions;
        self.leaderless = self.leaderless + other.leaderless;
        self.split = self.split + other.split;
        self.failovers.extend(other.failovers);
    }
}

/// Plays a scenario to its end and returns the figures.
pub(super) fn observe(scenario: &Scenario) -> Outcome {
    let (mut world, observer) = watched(scenario, run::world_unjudged);
    world.run_until(scenario.until);
    observer.take(scenario.until)
}

/// The world of a scenario, with somebody who looks at it.
pub(super) fn watched(
    scenario: &Scenario,
    world: impl FnOnce(&Scenario, Option<Listener<'static>>) -> World<'static, AnyElection>,
) -> (World<'static, AnyElection>, Handle) {
    let weight = Rc::new(Cell::new(0));
    let handle = Handle(Rc::new(RefCell::new(Observer::new(scenario, Rc::clone(&weight)))));
    let listening = handle.clone();
    let listener = move |event: &TraceEvent| listening.0.borrow_mut().observe(event);
    let mut world = world(scenario, Some(Box::new(listener)));
    world.set_relay(move |frame| {
        weight.set(bytes(&frame));
        frame
    });
    (world, handle)
}

/// The length of a frame, as the wire format has it.
pub(super) fn bytes(frame: &Frame<AnyMsg>) -> u64 {
    wire::encode(Channel::of_cluster("measured"), frame).len() as u64
}

/// Asks the observer of a world, while that goes on.
#[derive(Clone, Debug)]
pub(super) struct Handle(Rc<RefCell<Observer>>);

impl Handle {
    /// The figures since the last call, up to `now`; then begins anew.
    pub(super) fn take(&self, now: Time) -> Outcome {
        self.0.borrow_mut().take(now)
    }

    /// Who leads.
    pub(super) fn leader(&self) -> Option<NodeId> {
        self.0.borrow().leadership.acting().map(|(leader, _)| leader)
    }
}

#[derive(Debug)]
struct Observer {
    began: Time,
    now: Time,
    leadership: Leadership,
    /// Whether it has changed since it was last looked at.
    stale: bool,
    /// Who led last.
    last: Option<(NodeId, Incarnation)>,
    /// Whether somebody leads.
    led: bool,
    split: bool,
    /// When the leader crashed, and what had been sent by then, while not all agree on another.
    failing_over: Option<(Time, u64, u64)>,
    /// The bytes of the message that is about to be sent.
    weight: Rc<Cell<u64>>,
    outcome: Outcome,
}

impl Observer {
    fn new(scenario: &Scenario, weight: Rc<Cell<u64>>) -> Self {
        Self {
            began: Time::ZERO,
            now: Time::ZERO,
            leadership: Leadership::of(scenario),
            stale: false,
            last: None,
            led: false,
            split: false,
            failing_over: None,
            weight,
            outcome: Outcome::default(),
        }
    }

    fn observe(&mut self, event: &TraceEvent) {
        self.pass(event.at);
        match event.what {
            What::Send(_) => {
                self.outcome.messages += 1;
                self.outcome.bytes += self.weight.get();
            }
            What::Crash => self.crashed(event.node),
            _ => {}
        }
        self.stale |= self.leadership.observe(event);
    }

    fn crashed(&mut self, node: NodeId) {
        self.outcome.crashes += 1;
        if self.led && self.last.map(|(leader, _)| leader) == Some(node) {
            self.outcome.leader_crashes += 1;
            let since = (self.now, self.outcome.messages, self.outcome.bytes);
            self.failing_over = self.failing_over.or(Some(since));
        }
    }

    /// Lets time pass. What nodes say in the course of an instant need not last until its end.
    fn pass(&mut self, to: Time) {
        if to <= self.now {
            return;
        }
        if std::mem::take(&mut self.stale) {
            self.conclude();
        }
        let span = to.since(self.now);
        if !self.led {
            self.outcome.leaderless = self.outcome.leaderless + span;
        }
        if self.split {
            self.outcome.split = self.outcome.split + span;
        }
        self.now = to;
    }

    fn conclude(&mut self) {
        let acting = self.leadership.acting();
        self.led = acting.is_some();
        self.split = self.leadership.is_split();
        if let Some(leader) = acting
            && self.last != Some(leader)
            && let Some((before, incarnation)) = self.last.replace(leader)
        {
            self.outcome.changes += 1;
            self.outcome.preemptions += u64::from(self.leadership.incarnation(before) == Some(incarnation));
        }
        if self.leadership.agreed().is_some() {
            self.failed_over(Some(self.now));
        }
    }

    /// All agree again; or nobody looks any longer.
    fn failed_over(&mut self, at: Option<Time>) {
        if let Some((since, messages, bytes)) = self.failing_over.take() {
            self.outcome.failovers.push(Failover {
                took: at.map(|at| at.since(since)),
                messages: self.outcome.messages - messages,
                bytes: self.outcome.bytes - bytes,
            });
        }
    }

    fn take(&mut self, now: Time) -> Outcome {
        self.pass(now);
        if std::mem::take(&mut self.stale) {
            self.conclude();
        }
        self.failed_over(None);
        let length = now.since(self.began);
        self.began = now;
        Outcome { length, ..std::mem::take(&mut self.outcome) }
    }
}
