//! A node whose driver goes on while the disk works.

use super::members::member;
use super::*;
use crate::group::GroupEvent;
use crate::leadership::{Announcement, LeadershipMsg};
use crate::message::{Frame, Kind, Message};
use crate::tenure::{Command, Hold, Ticket};

/// What came out of a node, in a word each.
fn words(outputs: &[Output<AnyMsg>]) -> Vec<&'static str> {
    let word = |output: &Output<AnyMsg>| match output {
        Output::Persist(_) => Some("persist"),
        Output::Broadcast(_) => Some("heartbeat"),
        Output::Event(Event::Announced(Announcement { leader: Some(_), .. })) => Some("announced"),
        Output::Event(Event::Opinion(_)) => Some("opinion"),
        Output::Send { frame, .. } => Some(frame.body.kind().name()),
        _ => None,
    };
    outputs.iter().filter_map(word).collect()
}

fn wake(rig: &mut Rig) -> Vec<Output<AnyMsg>> {
    rig.now = rig.node.deadline().expect("there is something to wait for").max(rig.now);
    rig.input(Input::Deadline)
}

fn ask(rig: &mut Rig, ticket: u64, command: Command) -> Vec<Output<AnyMsg>> {
    rig.input(Input::Command { ticket: Ticket(ticket), command })
}

fn persisted(rig: &mut Rig, writes: u64) -> Vec<Output<AnyMsg>> {
    rig.input(Input::Persisted { writes })
}

#[test]
fn an_incarnation_that_is_not_on_disk_says_nothing() {
    let mut rig = Rig::of(Protocol::AsyncBully, DetectorKind::Heartbeat, Variant::Repaired, 2, 1);
    rig.node = rig.node.writing_behind();
    assert_eq!(words(&rig.input(Input::Start)), ["persist"]);
    assert_eq!(rig.node.deadline(), None);
    assert_eq!(rig.receive(1, 1, 1, halt(1, 1)), []);
    rig.now = rig.now + Span::secs(5);
    let born = words(&persisted(&mut rig, 1));
    assert!(born.contains(&"opinion"), "{born:?}");
    assert!(rig.node.deadline().is_some_and(|deadline| deadline > rig.now), "its time has just begun");
}

/// Its connections are there, and nobody says it again.
#[test]
fn what_leaders_say_before_an_incarnation_is_on_disk_counts_when_it_is() {
    let mut rig = member(Protocol::Fjr);
    rig.node = rig.node.writing_behind();
    rig.input(Input::Start);
    for peer in [1, 3] {
        rig.input(Input::Connected { peer: NodeId(peer), incarnation: Incarnation(1) });
    }
    let heartbeat = AnyMsg::Fjr(election::fjr::Msg::Heartbeat { count: 0, np_sn: 1 });
    let said = [
        (1, 1, Body::Leadership(LeadershipMsg::Lead { round: 1, epoch: 4, followers: 1 })),
        (1, 2, Body::Leadership(LeadershipMsg::Aside { next: Some(NodeId(3)) })),
        (3, 1, Body::Election(heartbeat)),
        (3, 2, Body::Leadership(LeadershipMsg::Claim { round: 1, epoch: 5 })),
    ];
    for (from, seq, body) in said {
        assert!(!words(&rig.receive(from, 1, seq, body)).contains(&"Follow"), "it says nothing");
    }
    let born = words(&persisted(&mut rig, u64::MAX));
    assert!(born.contains(&"Follow") && !born.contains(&"Elsewhere"), "{born:?}");
    assert_eq!(rig.node.opinion().normal_leader(), Some(NodeId(3)));
}

#[test]
fn an_epoch_is_announced_when_it_is_on_disk_and_heartbeats_do_not_wait_for_that() {
    let mut rig = member(Protocol::Fjr);
    rig.node = rig.node.writing_behind();
    rig.input(Input::Start);
    persisted(&mut rig, 1);
    let (mut writes, mut beats) = (1, 0);
    for _ in 0..50 {
        let outputs = wake(&mut rig);
        writes += words(&outputs).iter().filter(|word| **word == "persist").count() as u64;
        beats += words(&outputs).iter().filter(|word| **word == "heartbeat").count();
        assert!(!words(&outputs).contains(&"announced"), "{outputs:?}");
    }
    assert!(writes > 1 && beats > 20, "{writes} writes, {beats} heartbeats");
    assert_eq!(words(&persisted(&mut rig, writes)), ["announced"]);
}

#[test]
fn who_is_not_named_any_more_when_the_epoch_is_on_disk_does_not_lead() {
    let mut rig = member(Protocol::Lfa);
    rig.node = rig.node.writing_behind();
    rig.input(Input::Start);
    persisted(&mut rig, 1);
    let mut writes = 1;
    while writes == 1 {
        writes += words(&wake(&mut rig)).iter().filter(|word| **word == "persist").count() as u64;
    }
    let alive = Body::Election(AnyMsg::Lfa(election::lfa::Msg::Alive));
    rig.receive(1, 1, 1, alive);
    assert_eq!(rig.node.opinion().normal_leader(), Some(NodeId(1)));
    assert_eq!(words(&persisted(&mut rig, writes)), Vec::<&str>::new());
}

/// What it says next must not be heard before its count is on disk.
#[test]
fn an_election_that_keeps_something_stands_still_until_it_is_on_disk() {
    let like = Rig::of(Protocol::Lfa, DetectorKind::Heartbeat, Variant::Repaired, 2, 1).node;
    let mut node: Node<Keeper> = Node::new(like.setup, like.detector_config, Time::ZERO).writing_behind();
    let mut take = |at: u64, input| {
        let mut out = Outbox::new();
        node.handle(Time::ZERO + Span::secs(at), input, &mut out);
        let sent = |output: &Output<Counted>| match output {
            Output::Send { frame: Frame { body: Body::Election(Counted(count)), .. }, .. } => Some(*count),
            _ => None,
        };
        out.drain().filter_map(|output| sent(&output)).collect::<Vec<_>>()
    };
    assert_eq!(take(0, Input::Start), []);
    assert_eq!(take(0, Input::Persisted { writes: 1 }), []);
    assert_eq!(take(1, Input::Deadline), [], "it writes that it counts 1");
    assert_eq!(take(2, Input::Deadline), [], "it stands still");
    assert_eq!(take(3, Input::Persisted { writes: 2 }), [1]);
    assert_eq!(take(4, Input::Deadline), [], "it writes that it counts 2");
    assert_eq!(take(4, Input::Persisted { writes: 3 }), [2]);
}

/// Counts its deadlines, keeps that, and tells it.
#[derive(Clone, Debug)]
struct Keeper(u64, Time);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Counted(u64);

impl Message for Counted {
    fn kind(&self) -> Kind {
        Kind::protocol("Counted")
    }

    fn canonical(&self, _: &mut Form) {}
}

impl Election for Keeper {
    type Msg = Counted;

    fn new(_: Setup, _: Span) -> Self {
        Self(0, Time::ZERO)
    }

    fn reorganizes(_: Protocol) -> bool {
        false
    }

    fn handle(&mut self, now: Time, input: election::Input<Counted>, out: &mut Actions<Counted>) {
        if let election::Input::Deadline = input {
            *self = Self(self.0 + 1, now + Span::secs(1));
            out.push(election::Action::Persist { count: self.0 });
            out.send(NodeId(1), Counted(self.0));
        }
    }

    fn deadline(&self) -> Time {
        self.1
    }

    fn opinion(&self) -> Opinion {
        Opinion::DOWN
    }

    fn canonical(&self, _: Time, _: &mut Form) {}
}

/// Others wait for its answer. What it forgets in a crash is a group in which it has done nothing.
#[test]
fn a_group_does_not_wait_for_the_disk() {
    let mut rig = member(Protocol::Invitation);
    rig.node = rig.node.writing_behind();
    rig.input(Input::Start);
    let mut outputs = persisted(&mut rig, 1);
    while !words(&outputs).contains(&"persist") {
        outputs = wake(&mut rig);
    }
    let installed =
        |output: &Output<AnyMsg>| matches!(output, Output::Event(Event::Group(GroupEvent::Installed(_))));
    assert!(outputs.iter().any(installed), "{outputs:?}");
}

/// What is parked would bring back an election that it takes no part in any more.
#[test]
fn who_stands_aside_while_its_election_waits_does_not_go_on_with_that() {
    let Rig { node: like, .. } = member(Protocol::Lfa);
    let mut node: Node<Keeper> = Node::new(like.setup, like.detector_config, Time::ZERO);
    node.leadership = like.leadership;
    let (mut node, mut out) = (node.writing_behind(), Outbox::new());
    for input in [Input::Start, Input::Persisted { writes: 1 }, Input::Deadline] {
        node.handle(Time::ZERO, input, &mut out);
        out.drain();
    }
    assert!(!node.parked.is_empty(), "its message");
    node.stand_aside(Time::ZERO, Time::NEVER, &mut out);
    out.drain();
    node.handle(Time::ZERO, Input::Persisted { writes: 2 }, &mut out);
    let said =
        out.drain().find(|output| matches!(output, Output::Send { .. } | Output::Event(Event::Opinion(_))));
    assert_eq!(said, None);
}

/// Nobody hears from it until its new incarnation is on disk, and others take its place.
#[test]
fn a_leader_leads_no_more_while_its_next_incarnation_is_written() {
    let mut rig = member(Protocol::Fjr);
    rig.node = rig.node.writing_behind();
    rig.input(Input::Start);
    let mut outputs = persisted(&mut rig, 1);
    while !words(&outputs).contains(&"announced") {
        wake(&mut rig);
        outputs = persisted(&mut rig, u64::MAX);
    }
    let known = Incarnation(7);
    let outputs = rig.receive(1, 1, 1, Body::Link(LinkMsg::Outlived { known }));
    let ceased = |output: &Output<AnyMsg>| {
        matches!(output, Output::Event(Event::Announced(Announcement { leader: None, .. })))
    };
    assert!(outputs.iter().any(ceased), "{outputs:?}");
    assert_eq!(rig.node.opinion(), Opinion::DOWN);
}

/// Others can lead, and it is of no use to anybody.
#[test]
fn who_waits_for_a_disk_that_hangs_goes_aside() {
    let mut rig = member(Protocol::Fjr);
    rig.node = rig.node.writing_behind();
    rig.input(Input::Start);
    persisted(&mut rig, 1);
    let began = rig.now;
    while !rig.node.is_aside() {
        wake(&mut rig);
    }
    assert!(rig.now.since(began) < Span::secs(6), "{}", rig.now);
    while rig.node.deadline().is_some() {
        wake(&mut rig);
    }
    assert!(rig.now.since(began) < Span::secs(11), "{}", rig.now);
    assert_eq!(
        (rig.node.is_aside(), rig.node.incarnation()),
        (true, Incarnation(1)),
        "it waits for the disk"
    );
    let born = words(&persisted(&mut rig, u64::MAX));
    assert_eq!((rig.node.is_aside(), rig.node.incarnation()), (false, Incarnation(2)), "{born:?}");
    assert!(rig.node.deadline().is_some(), "{born:?}");
}

/// A leader with epoch 4 that has resigned, and has been asked to stand again: its disk works.
fn about_to_stand() -> Rig {
    let mut rig = member(Protocol::Fjr);
    rig.node = rig.node.writing_behind();
    rig.input(Input::Start);
    let mut outputs = persisted(&mut rig, 1);
    while !words(&outputs).contains(&"announced") {
        wake(&mut rig);
        outputs = persisted(&mut rig, u64::MAX);
    }
    ask(&mut rig, 1, Command::Resign { hold: Hold::UntilTold });
    rig.input(Input::Released);
    assert!(rig.node.is_aside());
    assert_eq!(words(&ask(&mut rig, 2, Command::Stand)), ["persist"]);
    rig
}

/// Nobody else may remember it.
#[test]
fn who_is_about_to_stand_again_tells_which_epochs_it_has_seen() {
    let mut rig = about_to_stand();
    let said = rig.receive(1, 1, 1, Body::Leadership(LeadershipMsg::Claim { round: 1, epoch: 4 }));
    let told = |output: &Output<AnyMsg>| match output {
        Output::Send {
            frame: Frame { incarnation, body: Body::Leadership(LeadershipMsg::Follow { epoch, .. }), .. },
            ..
        } => Some((*incarnation, *epoch)),
        _ => None,
    };
    assert_eq!(said.iter().find_map(told), Some((Incarnation(1), 4)), "{said:?}");
    persisted(&mut rig, u64::MAX);
    assert_eq!((rig.node.is_aside(), rig.node.incarnation()), (false, Incarnation(2)));
}

/// What is written meanwhile does not take that back.
#[test]
fn a_disk_does_not_go_back_to_an_earlier_incarnation() {
    let mut rig = about_to_stand();
    let outputs = rig.receive(1, 1, 1, Body::Leadership(LeadershipMsg::Claim { round: 1, epoch: 5 }));
    let kept = |output: &Output<AnyMsg>| match output {
        Output::Persist(durable) => Some((durable.incarnation, durable.epoch)),
        _ => None,
    };
    assert_eq!(outputs.iter().find_map(kept), Some((Incarnation(2), 5)), "{outputs:?}");
    ask(&mut rig, 3, Command::Resign { hold: Hold::UntilTold });
    let outputs = rig.receive(1, 1, 2, Body::Leadership(LeadershipMsg::Claim { round: 2, epoch: 6 }));
    assert_eq!(outputs.iter().find_map(kept), Some((Incarnation(2), 6)), "{outputs:?}");
}

#[test]
fn who_resigns_again_before_it_stands_does_not_stand() {
    let mut rig = about_to_stand();
    ask(&mut rig, 3, Command::Resign { hold: Hold::UntilTold });
    persisted(&mut rig, u64::MAX);
    assert_eq!((rig.node.is_aside(), rig.node.incarnation()), (true, Incarnation(1)));
    ask(&mut rig, 4, Command::Stand);
    persisted(&mut rig, u64::MAX);
    assert_eq!((rig.node.is_aside(), rig.node.incarnation()), (false, Incarnation(2)));
}
