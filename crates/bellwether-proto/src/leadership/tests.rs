//! Nodes with the leadership layer over a network of ours: connections that end when a process does, and delays that are
//! drawn.

mod alone;
mod barred;
mod crash;
mod disk;
mod rivals;
mod trouble;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use proptest::prelude::*;

use super::{Announcement, Cause, LeadershipConfig, Reluctance};
use crate::detector::{DetectorConfig, DetectorKind};
use crate::election::{AnyElection, AnyMsg, Choices, Protocol, Setup, Timing, Variant};
use crate::ident::{Incarnation, NodeId};
use crate::io::{Durable, Event, Input, Outbox, Output};
use crate::link::Peers;
use crate::message::Frame;
use crate::node::Node;
use crate::release::Patience;
use crate::roster::Roster;
use crate::tenure::{Command, Hold, Refused, Tenure, Ticket};
use crate::time::{Span, Time};

const TIMING: Timing = Timing { delta: Span::millis(100), tau: Span::millis(50), step: Span::millis(10) };
const SETTLE: Span = Span::millis(200);
const PATIENCE: Patience = Patience { work: Span::secs(1), successor: Span::secs(2), hold: Span::secs(10) };

/// A node's input, when it is due, and in which order it was put there.
type Queue = BTreeMap<(Time, u64), (NodeId, Input<AnyMsg>)>;

struct Cluster {
    now: Time,
    nodes: BTreeMap<NodeId, Node<AnyElection>>,
    /// Whether nothing that is sent arrives.
    cut: bool,
    /// Stopped, but connected.
    stopped: BTreeSet<NodeId>,
    /// What waits in their sockets.
    waiting: Vec<(NodeId, Input<AnyMsg>)>,
    queue: Queue,
    order: u64,
    /// When the last frame from one to the other arrives.
    arrives: BTreeMap<(NodeId, NodeId), Time>,
    /// Draws delays, from 100 us to a millisecond.
    random: u64,
    announced: Vec<(Time, NodeId, Announcement)>,
    /// Who was asked to give leadership back, and what became of commands.
    asked_back: Vec<NodeId>,
    answers: Vec<Result<(), Refused>>,
    /// Who has named itself, in its own election.
    contended: BTreeSet<NodeId>,
    disks: BTreeMap<NodeId, Durable>,
}

impl Cluster {
    fn new(protocol: Protocol, priorities: &[u32], preempt: Option<Span>, seed: u64) -> Self {
        let ids: Vec<NodeId> = (1..=priorities.len() as u32).map(NodeId).collect();
        let mut cluster = Self {
            now: Time::from_micros(5),
            nodes: BTreeMap::new(),
            cut: false,
            stopped: BTreeSet::new(),
            waiting: Vec::new(),
            queue: Queue::new(),
            order: 0,
            arrives: BTreeMap::new(),
            random: seed,
            announced: Vec::new(),
            asked_back: Vec::new(),
            answers: Vec::new(),
            contended: BTreeSet::new(),
            disks: BTreeMap::new(),
        };
        for (id, priority) in ids.iter().zip(priorities) {
            cluster.start(*id, node(protocol, *id, &ids, config(protocol, *priority, preempt)));
        }
        cluster.connect(&ids);
        cluster
    }

    fn start(&mut self, id: NodeId, node: Node<AnyElection>) {
        self.nodes.insert(id, node);
        self.give(id, Span::ZERO, Input::Start);
    }

    /// Connects these with each other.
    fn connect(&mut self, ids: &[NodeId]) {
        for one in ids {
            for other in ids.iter().filter(|other| *other != one) {
                let delay = self.delay();
                let Some(incarnation) = self.nodes.get(other).map(Node::incarnation) else { continue };
                self.give(*one, delay, Input::Connected { peer: *other, incarnation });
            }
        }
    }

    fn settled(priorities: &[u32], seed: u64) -> Self {
        let mut cluster = Self::new(Protocol::Fjr, priorities, None, seed);
        cluster.run(Span::secs(2));
        cluster
    }

    fn delay(&mut self) -> Span {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Span::micros(100 + (self.random >> 33) % 900)
    }

    /// A connection keeps the order.
    fn send(&mut self, to: NodeId, frame: Frame<AnyMsg>) {
        if self.cut {
            return;
        }
        let delay = self.delay();
        let last = self.arrives.entry((frame.from, to)).or_default();
        *last = (self.now + delay).max(*last);
        let after = last.since(self.now);
        self.give(to, after, Input::Frame(frame));
    }

    fn give(&mut self, to: NodeId, after: Span, input: Input<AnyMsg>) {
        self.order += 1;
        self.queue.insert((self.now + after, self.order), (to, input));
    }

    /// The process is killed: its peers learn of it when their ends of the connections do.
    fn kill(&mut self, id: NodeId) {
        let incarnation = self.nodes.remove(&id).expect("it was up").incarnation();
        for other in self.nodes.keys().copied().collect::<Vec<_>>() {
            let delay = self.delay();
            self.give(other, delay, Input::Gone { peer: id, incarnation });
        }
    }

    /// It goes on, and reads what has waited, in order.
    fn resume(&mut self, id: NodeId) {
        self.stopped.remove(&id);
        let waited: Vec<_> = self.waiting.extract_if(.., |(to, _)| *to == id).collect();
        waited.into_iter().for_each(|(to, input)| self.give(to, Span::ZERO, input));
    }

    fn run(&mut self, span: Span) {
        let end = self.now + span;
        loop {
            let due = self.nodes.iter().filter(|(id, _)| !self.stopped.contains(id));
            let due = due.filter_map(|(id, node)| Some((node.deadline()?, *id))).min();
            let next = self.queue.first_key_value().map(|((at, _), _)| *at);
            match (next, due) {
                (Some(at), due) if at <= end && due.is_none_or(|(deadline, _)| at <= deadline) => {
                    let (_, (to, input)) = self.queue.pop_first().expect("looked at above");
                    self.now = self.now.max(at);
                    if self.stopped.contains(&to) {
                        self.waiting.push((to, input));
                    } else {
                        self.action(to, input);
                    }
                }
                (_, Some((deadline, id))) if deadline <= end => {
                    self.now = self.now.max(deadline);
                    self.action(id, Input::Deadline);
                }
                _ => break,
            }
        }
        self.now = end;
    }

    fn action(&mut self, id: NodeId, input: Input<AnyMsg>) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let mut outbox = Outbox::new();
        node.handle(self.now, input, &mut outbox);
        let others: Vec<NodeId> = self.nodes.keys().copied().filter(|other| *other != id).collect();
        for output in outbox.drain() {
            match output {
                Output::Send { to, frame } => self.send(to, frame),
                Output::Broadcast(frame) => others.iter().for_each(|to| self.send(*to, frame.clone())),
                Output::Event(Event::Announced(announced)) => self.announced.push((self.now, id, announced)),
                // Nobody works here.
                Output::Tenure(Tenure::AskedBack { .. }) => {
                    self.asked_back.push(id);
                    self.give(id, Span::ZERO, Input::Released);
                }
                Output::Tenure(Tenure::None) => self.give(id, Span::ZERO, Input::Released),
                Output::Answer { outcome, .. } => self.answers.push(outcome),
                Output::Event(Event::Opinion(opinion)) if opinion.normal_leader() == Some(id) => {
                    self.contended.insert(id);
                }
                Output::Persist(durable) => drop(self.disks.insert(id, durable)),
                Output::Plan(_) | Output::Event(_) | Output::Tenure(_) | Output::Left => {}
                Output::Keep(_) | Output::Valid { .. } | Output::Members(_) | Output::News(_) => {}
            }
        }
    }

    /// A program asks for something.
    fn ask(&mut self, id: NodeId, command: Command) {
        self.action(id, Input::Command { ticket: Ticket(0), command });
    }

    /// The leader that all who are up and run have announced last, and its epoch.
    fn agreed(&self) -> Option<(NodeId, u64)> {
        let mut last = self.nodes.keys().filter(|id| !self.stopped.contains(id)).map(|id| {
            let (_, _, announced) = self.announced.iter().rev().find(|(_, node, _)| node == id)?;
            Some((announced.leader?, announced.epoch))
        });
        let first = last.next()??;
        last.all(|other| other == Some(first)).then_some(first)
    }

    /// Who announced itself since then.
    fn began_since(&self, since: Time) -> Vec<(NodeId, u64, Cause)> {
        let since = self.announced.iter().filter(|(at, ..)| *at > since);
        since.filter(|(_, id, a)| a.leader == Some(*id)).map(|(_, id, a)| (*id, a.epoch, a.cause)).collect()
    }

    /// The cause of the first change that this node announced since then.
    fn shown_why(&self, id: NodeId, since: Time) -> Cause {
        let first = self.announced.iter().find(|(at, who, _)| *at > since && *who == id);
        first.expect("it has announced something").2.cause
    }
}

fn config(protocol: Protocol, priority: u32, preempt: Option<Span>) -> LeadershipConfig {
    let hands_over = protocol.spec().hands_over;
    LeadershipConfig {
        period: TIMING.tau,
        settle: SETTLE,
        meet: SETTLE,
        priority,
        preempt,
        hands_over,
        min_peers: 0,
        epoch: 0,
        quorum: 1,
    }
}

fn node(protocol: Protocol, id: NodeId, ids: &[NodeId], config: LeadershipConfig) -> Node<AnyElection> {
    node_in((Incarnation(1), 0), Time::ZERO, protocol, id, ids, config)
}

/// In that incarnation, with that count.
fn node_in(
    (incarnation, count): (Incarnation, u64),
    now: Time,
    protocol: Protocol,
    id: NodeId,
    ids: &[NodeId],
    config: LeadershipConfig,
) -> Node<AnyElection> {
    let spec = protocol.spec();
    let members = match spec.peers {
        Peers::Met => alloc::vec![id],
        Peers::Listed => ids.to_vec(),
    };
    let setup = Setup {
        protocol,
        variant: Variant::Repaired,
        roster: Roster::new(id, members, spec.priority),
        incarnation,
        count,
        t: ids.len().saturating_sub(1), // As agents have it: any survivor leads.
        timing: TIMING,
        choices: Choices::default(),
    };
    let detector = DetectorConfig::new(spec.detector.unwrap_or(DetectorKind::Heartbeat), TIMING);
    Node::new(setup, detector, now).with_leadership(config, PATIENCE, now)
}

proptest! {
    #[test]
    fn after_a_crash_exactly_one_survivor_announces_itself(
        seed: u64, nodes in 3usize..8, extra in 0u64..60_000, protocol in prop::sample::select(&ONE_GROUP[..]),
    ) {
        let mut cluster = Cluster::new(protocol, &alloc::vec![0; nodes], None, seed);
        cluster.run(Span::secs(3) + Span::micros(extra));
        let (leader, epoch) = cluster.agreed().expect("a leader");
        let killed_at = cluster.now;
        cluster.kill(leader);
        cluster.run(Span::secs(3));
        let began = cluster.began_since(killed_at);
        prop_assert_eq!(began.len(), 1, "{:?}", began);
        prop_assert_eq!(cluster.agreed(), Some((began[0].0, epoch + 1)));
        // It comes back, with what its disk remembers, and knows nobody at first.
        let ids: Vec<NodeId> = (1..=nodes as u32).map(NodeId).collect();
        let config = LeadershipConfig { epoch, ..config(protocol, 0, None) };
        let back = node_in((Incarnation(2), 0), cluster.now, protocol, leader, &ids, config);
        cluster.start(leader, back);
        cluster.connect(&ids);
        cluster.run(Span::secs(3));
        prop_assert!(cluster.agreed().is_some());
        let epochs: Vec<u64> = cluster.began_since(Time::ZERO).iter().map(|(_, epoch, _)| *epoch).collect();
        prop_assert!(epochs.is_sorted_by(|one, next| one < next), "{:?}", epochs);
    }

    #[test]
    fn at_the_start_one_leader_is_announced_once(seed: u64, nodes in 1usize..8) {
        let mut cluster = Cluster::new(Protocol::Fjr, &alloc::vec![0; nodes], None, seed);
        cluster.run(Span::secs(3));
        prop_assert_eq!(cluster.agreed().map(|(_, epoch)| epoch), Some(1));
        prop_assert_eq!(cluster.began_since(Time::ZERO).len(), 1);
    }
}

/// Those with which nodes that are connected are one group. With `invitation` they may be several for a while, which merge
/// one after the other, and each has a leader that counts for itself.
const ONE_GROUP: [Protocol; 4] = [Protocol::Fjr, Protocol::Lfa, Protocol::Adft, Protocol::AsyncBully];

const IN_AGENT: [Protocol; 5] =
    [Protocol::Fjr, Protocol::Lfa, Protocol::Adft, Protocol::AsyncBully, Protocol::Invitation];

#[test]
fn whatever_the_algorithm_a_cause_is_what_happened() {
    for protocol in IN_AGENT {
        let settled = || {
            let mut cluster = Cluster::new(protocol, &[0; 4], None, 3);
            cluster.run(Span::secs(3));
            assert_eq!(cluster.began_since(Time::ZERO)[0].2, Cause::Started, "{protocol:?}");
            let (leader, _) = cluster.agreed().expect("a leader");
            (cluster, leader)
        };
        let (mut cluster, leader) = settled();
        let killed_at = cluster.now;
        cluster.kill(leader);
        cluster.run(Span::secs(3));
        assert_eq!(cluster.began_since(killed_at)[0].2, Cause::Gone(leader), "{protocol:?}");

        let (mut cluster, leader) = settled();
        let stopped_at = cluster.now;
        cluster.stopped.insert(leader);
        cluster.run(Span::secs(3));
        assert_eq!(cluster.began_since(stopped_at)[0].2, Cause::Silent(leader), "{protocol:?}");
    }
}

/// Where priorities are fixed, whoever is stronger leads again when it is back.
#[test]
fn a_stronger_member_that_comes_back_outranks_the_leader() {
    let ids = [1, 2, 3].map(NodeId);
    for protocol in [Protocol::Lfa, Protocol::AsyncBully] {
        let mut cluster = Cluster::new(protocol, &[0; 3], None, 4);
        cluster.run(Span::secs(3));
        cluster.kill(NodeId(1));
        cluster.run(Span::secs(3));
        assert_eq!(cluster.agreed(), Some((NodeId(2), 2)), "{protocol:?}");
        let came_at = cluster.now;
        let config = config(protocol, 0, None);
        cluster
            .start(NodeId(1), node_in((Incarnation(2), 0), cluster.now, protocol, NodeId(1), &ids, config));
        cluster.connect(&ids);
        cluster.run(Span::secs(3));
        let leader = cluster.agreed().expect("a leader").0;
        assert_eq!((leader, cluster.shown_why(NodeId(3), came_at)), (NodeId(1), Cause::Outranked(NodeId(2))));
    }
}

/// Its connections are there again before anybody has missed it.
#[test]
fn a_leader_that_restarts_unnoticed_is_gone() {
    let ids = [1, 2, 3].map(NodeId);
    for protocol in [Protocol::Fjr, Protocol::AsyncBully, Protocol::Invitation] {
        let mut cluster = Cluster::new(protocol, &[0; 3], None, 4);
        cluster.run(Span::secs(3));
        let (leader, _) = cluster.agreed().expect("a leader");
        let other = if leader == NodeId(3) { NodeId(2) } else { NodeId(3) };
        let (back_at, config) = (cluster.now, config(protocol, 0, None));
        cluster.start(leader, node_in((Incarnation(2), 0), back_at, protocol, leader, &ids, config));
        cluster.connect(&ids);
        cluster.run(Span::secs(3));
        assert_eq!(cluster.shown_why(other, back_at), Cause::Gone(leader), "{protocol:?}");
    }
}

/// It finds its leader silent, and elects. The leader takes it in again by another election.
#[test]
fn a_follower_that_slept_meets_the_others_again() {
    let mut cluster = Cluster::new(Protocol::AsyncBully, &[0; 4], None, 5);
    cluster.run(Span::secs(3));
    cluster.stopped.insert(NodeId(4));
    cluster.run(Span::secs(2));
    cluster.resume(NodeId(4));
    let went_on = cluster.now;
    cluster.run(Span::secs(5));
    let (leader, _) = cluster.agreed().expect("a leader");
    assert_eq!((leader, cluster.began_since(went_on)[0].2), (NodeId(1), Cause::Merged));
    let of_3 = cluster.announced.iter().rfind(|(_, id, _)| *id == NodeId(3));
    assert_eq!(of_3.map(|(.., announced)| announced.cause), Some(Cause::Merged));
}

#[test]
fn a_leader_that_stops_running_is_replaced_within_six_periods_and_does_not_come_back_as_leader() {
    let mut cluster = Cluster::settled(&[0; 5], 7);
    let (leader, _) = cluster.agreed().expect("a leader");
    let stopped_at = cluster.now;
    cluster.stopped.insert(leader);
    cluster.run(TIMING.tau * 6);
    let (next, epoch) = cluster.agreed().expect("the next leader");
    assert_eq!(cluster.began_since(stopped_at), [(next, 2, Cause::Silent(leader))]);
    cluster.run(Span::secs(5));
    cluster.resume(leader);
    let went_on = cluster.now;
    cluster.run(Span::secs(60));
    assert_eq!(cluster.agreed(), Some((next, epoch)));
    assert_eq!(cluster.began_since(went_on), [], "nobody else began to lead");
}

/// With priorities that are fixed it leads again; but not for a moment as if nothing had happened.
#[test]
fn a_leader_that_stopped_running_leads_no_more_until_the_others_agree_again() {
    for protocol in [Protocol::Lfa, Protocol::Adft, Protocol::AsyncBully] {
        let mut cluster = Cluster::new(protocol, &[0; 4], None, 5);
        cluster.run(Span::secs(3));
        let (leader, _) = cluster.agreed().expect("a leader");
        cluster.stopped.insert(leader);
        // Not much longer than it takes to replace it.
        cluster.run(TIMING.tau + TIMING.delta * 2);
        let next = (0..500).find_map(|_| {
            cluster.run(Span::millis(1));
            cluster.agreed().filter(|(next, _)| *next != leader)
        });
        let (_, epoch) = next.expect("the next leader");
        cluster.resume(leader);
        let went_on = cluster.now;
        cluster.run(Span::secs(70));
        let own = cluster.announced.iter().filter(|(at, id, _)| *at >= went_on && *id == leader);
        let own: Vec<_> = own.map(|(at, _, announced)| (*at, *announced)).collect();
        let over = Announcement { leader: None, epoch: 1, cause: Cause::Silent(leader) };
        assert_eq!(own[0], (went_on, over), "{protocol:?}");
        let again = own.iter().filter(|(_, announced)| announced.leader == Some(leader));
        assert!(again.clone().all(|(_, announced)| announced.epoch > epoch), "{protocol:?}: {own:?}");
        assert!(cluster.agreed().is_some());
    }
}

#[test]
fn a_claim_that_was_slept_over_is_not_settled_but_made_again() {
    let mut cluster = Cluster::new(Protocol::Lfa, &[0; 4], None, 6);
    cluster.run(Span::secs(3));
    cluster.stopped.insert(NodeId(4)); // It is waited for.
    cluster.kill(NodeId(1));
    cluster.run(Span::millis(20));
    cluster.stopped.insert(NodeId(2));
    cluster.run(Span::secs(5));
    [NodeId(2), NodeId(4)].into_iter().for_each(|id| cluster.resume(id));
    cluster.run(Span::secs(70));
    let began: Vec<_> = cluster.began_since(Time::ZERO).iter().map(|(id, epoch, _)| (id.0, *epoch)).collect();
    assert_eq!(began, [(1, 1), (3, 2), (2, 3)]);
}

#[test]
fn a_follower_that_stops_running_and_goes_on_disturbs_nobody() {
    let mut cluster = Cluster::settled(&[0; 5], 8);
    let (leader, epoch) = cluster.agreed().expect("a leader");
    let follower = if leader == NodeId(5) { NodeId(4) } else { NodeId(5) };
    let stopped_at = cluster.now;
    cluster.stopped.insert(follower);
    cluster.run(Span::secs(5));
    cluster.resume(follower);
    cluster.run(Span::secs(60));
    assert_eq!(cluster.agreed(), Some((leader, epoch)));
    assert_eq!(cluster.began_since(stopped_at), []);
}

#[test]
fn a_leader_that_resigns_is_replaced_at_once_and_stands_aside_for_as_long_as_it_said() {
    for protocol in IN_AGENT {
        let mut cluster = Cluster::new(protocol, &[0; 4], None, 3);
        cluster.run(Span::secs(3));
        let (leader, epoch) = cluster.agreed().expect("a leader");
        let resigned_at = cluster.now;
        cluster.ask(leader, Command::Resign { hold: Hold::Default });
        cluster.run(Span::secs(5));
        let (next, new_epoch) = cluster.agreed().expect("the next leader");
        assert!(next != leader && new_epoch > epoch, "{protocol:?}: {next} with {new_epoch}");
        assert_eq!(cluster.began_since(resigned_at)[0].2, Cause::Resigned(leader));
        assert_eq!(cluster.answers, [Ok(())]);
        assert!(cluster.nodes[&leader].is_aside());
        cluster.run(Span::secs(10));
        assert!(!cluster.nodes[&leader].is_aside());
        assert_eq!(cluster.nodes[&leader].incarnation(), Incarnation(2), "it came back in a new incarnation");
        let stays = cluster.agreed().expect("a leader").0;
        if protocol == Protocol::Fjr {
            assert_eq!(stays, next, "the default is stable");
        }
    }
}

/// It went aside for those who are gone.
#[test]
fn a_leader_that_resigned_leads_again_when_all_others_have_gone() {
    for protocol in IN_AGENT {
        let mut cluster = Cluster::new(protocol, &[0; 3], None, 3);
        cluster.run(Span::secs(3));
        let (leader, _) = cluster.agreed().expect("a leader");
        cluster.ask(leader, Command::Resign { hold: Hold::For(Span::secs(60)) });
        cluster.run(Span::secs(2));
        let (_, epoch) = cluster.agreed().expect("the next leader");
        let others: Vec<_> = cluster.nodes.keys().copied().filter(|id| *id != leader).collect();
        others.into_iter().for_each(|id| cluster.kill(id));
        cluster.run(Span::secs(30));
        assert!(!cluster.nodes[&leader].is_aside(), "{protocol:?}");
        let again = cluster.agreed();
        let leads = again.is_some_and(|(id, after)| id == leader && after > epoch);
        assert!(leads, "{protocol:?}: {again:?}");
    }
}

/// Whoever comes back has been suspected once more in its books, so that everybody gets a turn.
#[test]
fn a_leader_that_resigns_says_who_is_next_and_nobody_else_contends() {
    let mut cluster = Cluster::settled(&[0; 5], 21);
    for _ in 0..12 {
        let (leader, epoch) = cluster.agreed().expect("a leader");
        cluster.contended.clear();
        cluster.ask(leader, Command::Resign { hold: Hold::For(Span::millis(300)) });
        cluster.run(Span::millis(6));
        let (next, new_epoch) = cluster.agreed().expect("the next leader");
        assert!(
            next != leader && new_epoch == epoch + 1,
            "{next} with {new_epoch} after {leader} with {epoch}"
        );
        assert_eq!(cluster.contended, [next].into());
        cluster.run(Span::secs(2));
    }
}

#[test]
fn leadership_is_handed_to_whom_the_leader_chooses() {
    for to in 2..=5 {
        let mut cluster = Cluster::settled(&[0; 5], 9);
        let (leader, epoch) = cluster.agreed().expect("a leader");
        let to = if NodeId(to) == leader { NodeId(1) } else { NodeId(to) };
        let began = cluster.now;
        cluster.ask(leader, Command::Transfer { to });
        cluster.run(Span::millis(6));
        assert_eq!(cluster.answers, [Ok(())]);
        assert_eq!(cluster.agreed(), Some((to, epoch + 1)));
        assert_eq!(cluster.began_since(began), [(to, epoch + 1, Cause::HandedOver(leader, to))]);
        cluster.run(Span::secs(10));
        assert_eq!(cluster.agreed(), Some((to, epoch + 1)), "it stays so");
    }
}

/// Followers are silent by design: whom a member was connected with it still is in its next incarnation, heard
/// or not.
#[test]
fn a_member_that_began_another_incarnation_can_lead_those_that_have_not_spoken_since() {
    let resign: fn(&mut Cluster) = |cluster| {
        cluster.ask(NodeId(1), Command::Resign { hold: Hold::For(Span::secs(1)) });
    };
    let oversleep: fn(&mut Cluster) = |cluster| {
        cluster.stopped.insert(NodeId(1));
        cluster.run(Span::secs(3));
        cluster.resume(NodeId(1));
    };
    for begin_another_incarnation in [resign, oversleep] {
        let mut cluster = Cluster::settled(&[0; 5], 14);
        assert_eq!(cluster.agreed().map(|(leader, _)| leader), Some(NodeId(1)));
        begin_another_incarnation(&mut cluster);
        cluster.run(Span::secs(70));
        assert_eq!(cluster.nodes[&NodeId(1)].incarnation(), Incarnation(2));
        let (leader, epoch) = cluster.agreed().expect("a leader");
        cluster.ask(leader, Command::Transfer { to: NodeId(1) });
        cluster.run(Span::millis(6));
        assert_eq!(cluster.agreed(), Some((NodeId(1), epoch + 1)));
    }
}

#[test]
fn leadership_is_not_handed_to_whom_it_cannot() {
    let mut cluster = Cluster::settled(&[0; 3], 9);
    let (leader, _) = cluster.agreed().expect("a leader");
    let follower = if leader == NodeId(1) { NodeId(2) } else { NodeId(1) };
    cluster.ask(leader, Command::Transfer { to: NodeId(9) });
    cluster.ask(leader, Command::Transfer { to: leader });
    cluster.ask(follower, Command::Transfer { to: leader });
    let reluctant = |to, why| Err(Refused::HandOver { to, why });
    assert_eq!(
        cluster.answers,
        [
            reluctant(NodeId(9), Reluctance::NotConnected),
            reluctant(leader, Reluctance::LeadsAlready),
            Err(Refused::NotLeader { me: follower, leader: Some(leader) }),
        ]
    );
    cluster = Cluster::new(Protocol::Lfa, &[0; 3], None, 1);
    cluster.run(Span::secs(3));
    cluster.ask(NodeId(1), Command::Transfer { to: NodeId(2) });
    assert_eq!(cluster.answers, [Err(Refused::FixedPriorities { algorithm: "lfa" })]);
    assert_eq!(cluster.asked_back, [], "nobody is asked to stop for what cannot be");
}

#[test]
fn of_the_survivors_the_one_with_the_highest_priority_leads_and_a_leader_is_not_ousted() {
    let mut cluster = Cluster::settled(&[0, 10, 0, 20, 5], 11);
    assert_eq!(cluster.agreed(), Some((NodeId(4), 1)));
    assert_eq!(cluster.began_since(Time::ZERO).len(), 1, "nobody was announced before it");
    cluster.kill(NodeId(4));
    cluster.run(Span::millis(20));
    assert_eq!(cluster.agreed(), Some((NodeId(2), 2)));
    assert_eq!(cluster.asked_back, [], "nobody is asked to give way unless told so");
}

#[test]
fn a_leader_that_was_told_to_gives_way_to_a_higher_priority_after_a_while() {
    let (ids, preempt) = ([NodeId(1), NodeId(2)], Some(Span::secs(3)));
    let mut cluster = Cluster::new(Protocol::Fjr, &[0], preempt, 12);
    cluster.run(Span::secs(1));
    assert_eq!(cluster.agreed(), Some((NodeId(1), 1)));
    let came_at = cluster.now;
    cluster.start(NodeId(2), node(Protocol::Fjr, NodeId(2), &ids, config(Protocol::Fjr, 10, preempt)));
    cluster.connect(&ids);
    cluster.run(Span::millis(2_900));
    assert_eq!(
        (cluster.agreed(), cluster.asked_back.len()),
        (Some((NodeId(1), 1)), 0),
        "not before its time"
    );
    cluster.run(Span::millis(700));
    assert_eq!(cluster.asked_back, [NodeId(1)]);
    cluster.run(Span::secs(1));
    assert_eq!(cluster.agreed(), Some((NodeId(2), 2)));
    let because = Cause::HandedOver(NodeId(1), NodeId(2));
    assert_eq!(cluster.began_since(came_at), [(NodeId(2), 2, because)]);
}

#[test]
fn when_two_groups_meet_the_leader_that_stays_takes_an_epoch_above_both() {
    let ids = [NodeId(1), NodeId(2)];
    for epochs in [[0, 41], [41, 0]] {
        let mut cluster = Cluster::new(Protocol::Fjr, &[], None, 13);
        for (id, epoch) in ids.into_iter().zip(epochs) {
            let config = LeadershipConfig { epoch, ..config(Protocol::Fjr, 0, None) };
            cluster.start(id, node(Protocol::Fjr, id, &ids, config));
        }
        cluster.cut = true;
        cluster.run(Span::secs(1));
        let began = cluster.began_since(Time::ZERO);
        assert_eq!(began, [(ids[0], epochs[0] + 1, Cause::Started), (ids[1], epochs[1] + 1, Cause::Started)]);
        cluster.cut = false;
        cluster.connect(&ids);
        cluster.run(Span::secs(3));
        let (leader, epoch) = cluster.agreed().expect("one leader of both");
        // It need not change its own if the other's was behind.
        assert!(epoch >= 42, "{leader} leads with {epoch}");
    }
}
