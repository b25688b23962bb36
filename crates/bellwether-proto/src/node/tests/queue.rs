//! What one layer has for another waits its turn: no layer is entered while it is running.

use super::*;
use crate::election::{self, Action, Membership};
use crate::io::Turn;
use crate::link::consistent::OUTSTANDING_MAX;
use crate::message::{Kind, Message};

/// A link takes no more than it can hold: one that is full goes down, and the election is told of that in the middle of
/// sending. What it makes of that is newer than what it sent, and must be what counts in the end.
#[test]
fn a_link_that_breaks_under_a_send_does_not_bring_an_older_view_back() {
    let (mut pair, broken) = (Pair::linked(), |turn: &Turn| !turn.is_up());
    let outputs = pair.flood();
    let turns = outputs.iter().filter_map(|output| match output {
        Output::Event(Event::Link(turn)) => Some(*turn),
        _ => None,
    });
    assert_eq!(turns.filter(broken).count(), 1, "the link was full");
    let names = outputs.iter().filter_map(|output| match output {
        Output::Event(Event::Opinion(opinion)) => Some(opinion.leader),
        _ => None,
    });
    assert_eq!(names.collect::<Vec<_>>(), [Some(NodeId(2)), Some(NodeId(1))], "in the order of the election");
    let announced = outputs.iter().filter_map(announced).chain(pair.announced_within(Span::secs(3))).last();
    assert_eq!(announced, Some(Some(NodeId(1))), "it names itself since its link broke");
    assert_eq!(pair.nodes[0].opinion().leader, Some(NodeId(1)));
}

/// Names its peer while the link to it is up, and floods it once; names itself otherwise.
#[derive(Clone, Debug)]
struct Flooder {
    me: NodeId,
    leader: Option<NodeId>,
    floods_at: Time,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Drop;

impl Message for Drop {
    fn kind(&self) -> Kind {
        Kind::protocol("Drop")
    }

    fn canonical(&self, _: &mut Form) {}
}

const FLOOD: Time = Time::from_micros(2_000_000);

impl Election for Flooder {
    type Msg = Drop;

    fn new(setup: Setup, _: Span) -> Self {
        let me = setup.roster.me();
        Self { me, leader: None, floods_at: if me == NodeId(1) { FLOOD } else { Time::NEVER } }
    }

    fn reorganizes(_: Protocol) -> bool {
        false
    }

    fn handle(&mut self, now: Time, input: election::Input<Drop>, out: &mut Actions<Drop>) {
        match input {
            election::Input::Recovery => out.push(Action::Stand(Membership::default())),
            election::Input::Deadline if self.floods_at <= now => {
                (self.leader, self.floods_at) = (Some(NodeId(2)), Time::NEVER);
                (0..=OUTSTANDING_MAX).for_each(|_| out.send(NodeId(2), Drop));
            }
            election::Input::Link { up: None, .. } => self.leader = Some(self.me),
            _ => {}
        }
    }

    fn deadline(&self) -> Time {
        self.floods_at
    }

    fn opinion(&self) -> Opinion {
        Opinion { status: Status::Normal, leader: self.leader, group: None }
    }

    fn canonical(&self, _: Time, _: &mut Form) {}
}

/// Two nodes, and a network that takes no time.
struct Pair {
    nodes: [Node<Flooder>; 2],
    now: Time,
}

impl Pair {
    fn linked() -> Self {
        let mut pair = Self { nodes: [1, 2].map(node), now: Time::ZERO };
        (0..2).for_each(|at| pair.input(at, Input::Start));
        while pair.now + TAU < FLOOD {
            pair.now = pair.now + TAU / 4;
            (0..2).for_each(|at| pair.input(at, Input::Deadline));
        }
        assert!(pair.nodes[0].linked_with(NodeId(2)).is_some());
        pair
    }

    /// Gives a node an input, and everybody what comes of it.
    fn input(&mut self, at: usize, input: Input<Drop>) {
        let mut out = Outbox::new();
        self.nodes[at].handle(self.now, input, &mut out);
        for output in out.drain() {
            if let Output::Send { to, frame } = output {
                self.input(to.0 as usize - 1, Input::Frame(frame));
            }
        }
    }

    /// From here on the second node is not heard any more.
    fn flood(&mut self) -> Vec<Output<Drop>> {
        self.now = FLOOD;
        let mut out = Outbox::new();
        self.nodes[0].handle(self.now, Input::Deadline, &mut out);
        out.drain().collect()
    }

    /// Whom the first node announces.
    fn announced_within(&mut self, span: Span) -> Vec<Option<NodeId>> {
        let (until, mut leaders) = (self.now + span, Vec::new());
        while self.now < until {
            self.now = self.now + TAU / 4;
            let mut out = Outbox::new();
            self.nodes[0].handle(self.now, Input::Deadline, &mut out);
            leaders.extend(out.drain().filter_map(|output| announced(&output)));
        }
        leaders
    }
}

fn announced(output: &Output<Drop>) -> Option<Option<NodeId>> {
    match output {
        Output::Event(Event::Announced(announcement)) => Some(announcement.leader),
        _ => None,
    }
}

fn node(me: u32) -> Node<Flooder> {
    let timing = Timing { delta: DELTA, tau: TAU, step: DELTA };
    let setup = Setup {
        protocol: Protocol::FbOmega,
        variant: Variant::Repaired,
        roster: Roster::new(NodeId(me), [1, 2].map(NodeId), Priority::LowestId),
        incarnation: Incarnation(1),
        count: 0,
        t: 0,
        timing,
        choices: Choices::default(),
    };
    let config = LeadershipConfig {
        period: TAU,
        settle: DELTA,
        meet: DELTA,
        priority: 0,
        preempt: None,
        hands_over: false,
        min_peers: 0,
        quorum: 1,
        epoch: 0,
    };
    let detector = DetectorConfig::new(DetectorKind::Heartbeat, timing);
    Node::new(setup, detector, Time::ZERO).with_leadership(config, PATIENCE, Time::ZERO)
}
