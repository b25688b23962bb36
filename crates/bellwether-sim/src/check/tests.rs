//! Traces made by hand, and what the judge must say of them.
//!
//! Times are milliseconds; δ = 1, τ = 10, τ_FD = 3. For three nodes that makes c_S = 19 and ALE2's constant 90. A claim may
//! take 2 to be settled, work 20 to end, and a successor is waited for 96: for three nodes c_L = 210.

mod agreement;
mod announced_once;
mod answer_true;
mod answered;
mod detectors;
mod elections;
mod epoch;
mod epochs;
mod exclusive;
mod garcia_molina;
mod group_history;
mod groups;
mod judge;
mod leads_alone;
mod led;
mod link_history;
mod omega;
mod preferred;
mod reference;
mod settled;
mod single_sender;
mod taken_over;
mod work_ends_first;

use bellwether_proto::election::Timing;
use bellwether_proto::group::{GroupEvent, TaskDigest};
use bellwether_proto::ident::{ElectionId, GroupId, Incarnation, NodeId};
use bellwether_proto::io::Event;
use bellwether_proto::leadership::{Announcement, Cause};
use bellwether_proto::message::Kind;
use bellwether_proto::opinion::{Opinion, Status};
use bellwether_proto::promise::Property;
use bellwether_proto::roster::Priority;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{DropReason, MsgRef, Program, TraceEvent, What};

use super::{Facts, Judge, Leading, Origin, Preference, Violation};

/// A trace under construction.
#[derive(Clone)]
struct Trace {
    facts: Facts,
    now: Time,
    events: Vec<TraceEvent>,
}

/// What the judge found.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Found {
    Vacuous,
    Holds,
    /// Violated, first at this millisecond.
    Violated(u64),
}

use Found::{Holds, Vacuous, Violated};

impl Trace {
    /// Nothing has happened to nodes 1 to n, and all are down.
    fn new(nodes: usize) -> Self {
        let timing = Timing { delta: Span::millis(1), tau: Span::millis(10), step: Span::millis(1) };
        let facts = Facts {
            nodes,
            priority: Priority::LowestId,
            timing,
            detector_latency: Span::millis(3),
            write: Span::ZERO,
            reporters: 1,
            drift_ppm: 0,
            origin: Origin::Simulated,
            leading: Leading {
                settle: Span::millis(2),
                release_timeout: Span::millis(20),
                successor_patience: Span::millis(96),
                lease: Span::ZERO,
                quorum: 1,
            },
            voters: Vec::new(),
            witnesses: Vec::new(),
            preference: Preference::default(),
        };
        Self { facts, now: Time::ZERO, events: Vec::new() }
    }

    /// All nodes came up at 0.
    fn started(nodes: usize) -> Self {
        (1..=nodes as u32).fold(Self::new(nodes), Self::recover)
    }

    /// All nodes came up at 0 and at once follow node 1.
    fn led(nodes: usize) -> Self {
        (1..=nodes as u32).fold(Self::started(nodes), |trace, id| trace.normal(id, 1, 1))
    }

    fn reporters(mut self, k: usize) -> Self {
        self.facts.reporters = k;
        self
    }

    fn drift_ppm(mut self, ppm: u32) -> Self {
        self.facts.drift_ppm = ppm;
        self
    }

    /// What follows happens then.
    fn at(mut self, ms: u64) -> Self {
        self.now = time(ms);
        self
    }

    fn what(mut self, node: u32, what: What) -> Self {
        self.events.push(TraceEvent { at: self.now, node: NodeId(node), incarnation: Incarnation(1), what });
        self
    }

    fn recover(self, node: u32) -> Self {
        self.what(node, What::Recover)
    }

    fn crash(self, node: u32) -> Self {
        self.what(node, What::Crash)
    }

    fn pause(self, node: u32) -> Self {
        self.what(node, What::Pause)
    }

    fn resume(self, node: u32) -> Self {
        self.what(node, What::Resume)
    }

    fn held_up(self, node: u32, ms: u64) -> Self {
        self.what(node, What::HeldUp(Span::millis(ms)))
    }

    fn cut_one_way(self, from: u32, to: u32) -> Self {
        self.what(from, What::Cut(NodeId(to)))
    }

    fn mend_one_way(self, from: u32, to: u32) -> Self {
        self.what(from, What::Mend(NodeId(to)))
    }

    fn cut(self, a: u32, b: u32) -> Self {
        self.cut_one_way(a, b).cut_one_way(b, a)
    }

    fn mend(self, a: u32, b: u32) -> Self {
        self.mend_one_way(a, b).mend_one_way(b, a)
    }

    fn drop(self, from: u32, to: u32, reason: DropReason) -> Self {
        self.what(from, What::Drop(msg(from, to), reason))
    }

    /// A message of the algorithm.
    fn send(self, from: u32, to: u32) -> Self {
        self.what(from, What::Send(msg(from, to)))
    }

    /// A message arrives that was sent then.
    fn recv(self, from: u32, to: u32, sent: u64) -> Self {
        self.what(to, What::Recv(msg(from, to), time(sent)))
    }

    fn node(self, node: u32, event: Event) -> Self {
        self.what(node, What::Node(event))
    }

    /// The node is normal, follows that leader and is in the group of that number.
    fn normal(self, node: u32, leader: u32, group: u64) -> Self {
        let group = GroupId(ElectionId { node: NodeId(1), incarnation: Incarnation(1), seq: group });
        let opinion = Opinion { status: Status::Normal, leader: Some(NodeId(leader)), group: Some(group) };
        self.node(node, Event::Opinion(opinion))
    }

    /// The same, but not yet normal.
    fn reorganizing(self, node: u32, leader: u32, group: u64) -> Self {
        let mut trace = self.normal(node, leader, group);
        if let Some(What::Node(Event::Opinion(opinion))) =
            trace.events.last_mut().map(|event| &mut event.what)
        {
            opinion.status = Status::Reorganizing;
        }
        trace
    }

    /// That task description is in place.
    fn installed(self, node: u32, task: u64) -> Self {
        self.node(node, Event::Group(GroupEvent::Installed(TaskDigest(task))))
    }

    fn electing(self, node: u32) -> Self {
        self.node(node, Event::Opinion(Opinion { status: Status::Election, leader: None, group: None }))
    }

    /// The node announces that leader, with that epoch.
    fn announces(self, node: u32, leader: u32, epoch: u64) -> Self {
        let announced = Announcement { leader: Some(NodeId(leader)), epoch, cause: Cause::Started };
        self.node(node, Event::Announced(announced))
    }

    /// The node announces that the leadership of that epoch is over.
    fn announces_nobody(self, node: u32, epoch: u64) -> Self {
        self.node(node, Event::Announced(Announcement { leader: None, epoch, cause: Cause::Started }))
    }

    /// The same, because of that.
    fn announces_because(self, node: u32, leader: Option<u32>, epoch: u64, cause: Cause) -> Self {
        let leader = leader.map(NodeId);
        self.node(node, Event::Announced(Announcement { leader, epoch, cause }))
    }

    /// All nodes came up at 0 and announced at 5 that node 1 leads.
    fn settled(nodes: u32) -> Self {
        let started = Self::started(nodes as usize).at(5);
        (1..=nodes).fold(started, |trace, id| trace.announces(id, 1, 1))
    }

    fn program(self, node: u32, told: Program) -> Self {
        self.what(node, What::Program(told))
    }

    /// The node shows that it is not there.
    fn stands_aside(self, node: u32) -> Self {
        self.node(node, Event::Opinion(Opinion::DOWN))
    }

    fn watch(self, watcher: u32, subject: u32) -> Self {
        self.node(watcher, Event::Watch(NodeId(subject)))
    }

    fn unwatch(self, watcher: u32, subject: u32) -> Self {
        self.node(watcher, Event::Unwatch(NodeId(subject)))
    }

    fn down(self, watcher: u32, subject: u32) -> Self {
        self.node(watcher, Event::Down(NodeId(subject)))
    }

    /// What the judge finds if the run ends then.
    fn found(&self, property: Property, end: u64) -> Found {
        match self.violation(property, end) {
            None => Vacuous,
            Some(None) => Holds,
            Some(Some(violation)) => Violated(violation.at.as_micros() / 1_000),
        }
    }

    fn violation(&self, property: Property, end: u64) -> Option<Option<Violation>> {
        let mut judge = self.judge(&[property]);
        self.events.iter().for_each(|event| judge.observe(event));
        let mut findings = judge.finish(time(end));
        findings.pop().map(|finding| {
            assert_eq!(finding.property, property);
            finding.violation
        })
    }

    fn judge(&self, properties: &[Property]) -> Judge {
        Judge::new(self.facts.clone(), properties)
    }
}

fn time(ms: u64) -> Time {
    Time::ZERO + Span::millis(ms)
}

fn msg(from: u32, to: u32) -> MsgRef {
    MsgRef { id: 0, kind: Kind::protocol("Halt"), from: NodeId(from), to: NodeId(to) }
}
