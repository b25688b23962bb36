//! Each situation in a run that has it, and a calm run that has none. Traces are made by hand where no short scenario gives
//! the situation for certain.

use std::collections::BTreeSet;

use bellwether_proto::ident::{ElectionId, GroupId, Incarnation, NodeId};
use bellwether_proto::io::{Event, Refusal};
use bellwether_proto::leadership::{Announcement, Cause};
use bellwether_proto::message::Kind;
use bellwether_proto::opinion::{Opinion, Status};
use bellwether_proto::tenure::{Command, Ticket};
use bellwether_proto::time::Time;
use bellwether_proto::trace::{DropReason, MsgRef, Program, TraceEvent, What, Written};

use super::*;
use crate::plan::{Allowed, Limits};
use crate::scenario::Scenario;
use crate::swarm::play;

fn reached(what: &[(u64, u32, What)]) -> BTreeSet<Situation> {
    let scenario = Scenario::calm(Protocol::AsyncBully, 4, Time::from_micros(10_000_000));
    let mut spotter = Spotter::new(&scenario);
    for (ms, node, what) in what {
        let (at, node) = (Time::from_micros(ms * 1_000), NodeId(*node));
        spotter.observe(&TraceEvent { at, node, incarnation: Incarnation(1), what: *what });
    }
    spotter.finish().1.iter().collect()
}

fn shows(status: Status, leader: Option<u32>) -> What {
    let group = leader
        .map(|leader| GroupId(ElectionId { node: NodeId(leader), incarnation: Incarnation(1), seq: 1 }));
    What::Node(Event::Opinion(Opinion { status, leader: leader.map(NodeId), group }))
}

fn follows(leader: u32) -> What {
    shows(Status::Normal, Some(leader))
}

const ELECTS: What =
    What::Node(Event::Opinion(Opinion { status: Status::Election, leader: None, group: None }));
const WAITS: What =
    What::Node(Event::Opinion(Opinion { status: Status::Waiting, leader: None, group: None }));

fn message(id: u64, from: u32, to: u32) -> MsgRef {
    MsgRef { id, kind: Kind::protocol("Halt"), from: NodeId(from), to: NodeId(to) }
}

fn received(id: u64, from: u32, to: u32) -> What {
    What::Recv(message(id, from, to), Time::ZERO)
}

/// Shows that the first trace has the situation, and the second, which differs little from it, has not.
#[track_caller]
fn tells(situation: Situation, has: &[(u64, u32, What)], has_not: &[(u64, u32, What)]) {
    assert!(reached(has).contains(&situation), "{situation}");
    assert!(!reached(has_not).contains(&situation), "{situation}");
}

#[test]
fn programs() {
    let announces = |leader: Option<u32>, cause| {
        What::Node(Event::Announced(Announcement { leader: leader.map(NodeId), epoch: 1, cause }))
    };
    let resigned = Cause::Resigned(NodeId(1));
    tells(Situation::Resigned, &[(0, 1, announces(None, resigned))], &[(0, 2, announces(None, resigned))]);
    let handed = Cause::HandedOver(NodeId(1), NodeId(2));
    tells(Situation::HandedOver, &[(0, 2, announces(Some(2), handed))], &[(0, 1, announces(None, handed))]);
    let asked = What::Program(Program::Asked { ticket: Ticket(1), command: Command::Leave });
    let back = What::Program(Program::AskedBack { epoch: 1 });
    tells(Situation::MadeWay, &[(0, 1, back)], &[(0, 1, asked), (0, 1, back)]);
    tells(Situation::WorkGivenUp, &[(0, 1, What::Node(Event::GivenUp))], &[(0, 1, back)]);
    tells(Situation::Left, &[(0, 1, What::Program(Program::Left))], &[(0, 1, asked)]);
    tells(Situation::Unlinked, &[(0, 1, What::Unlinked(NodeId(2)))], &[(0, 1, What::Cut(NodeId(2)))]);
}

#[test]
fn elections() {
    let first = [(0, 1, follows(1)), (1, 2, ELECTS), (2, 3, ELECTS)];
    tells(Situation::ConcurrentElections, &first, &first[1..]);
    tells(
        Situation::OrganiserCrashed,
        &[(0, 1, ELECTS), (1, 1, What::Crash)],
        &[(0, 1, WAITS), (1, 1, What::Crash)],
    );
    tells(
        Situation::HaltedCrashed,
        &[(0, 1, WAITS), (1, 1, What::Crash)],
        &[(0, 1, ELECTS), (1, 1, What::Crash)],
    );
    let back = |ms| [(0, 1, ELECTS), (1, 1, What::Crash), (ms, 1, What::Recover)];
    tells(Situation::OrganiserBack, &back(20), &back(5_000));
    let halt = What::Send(message(1, 1, 2));
    tells(
        Situation::AskedAgain,
        &[(0, 1, ELECTS), (1, 1, halt), (2, 1, halt)],
        &[(0, 1, ELECTS), (1, 1, halt), (2, 1, ELECTS), (3, 1, halt)],
    );
}

#[test]
fn leaders() {
    tells(
        Situation::LeaderCrashed,
        &[(0, 1, follows(1)), (1, 1, What::Crash)],
        &[(0, 1, follows(2)), (1, 1, What::Crash)],
    );
    tells(
        Situation::LeaderDemoted,
        &[(0, 2, follows(2)), (1, 2, follows(1))],
        &[(0, 2, follows(1)), (1, 2, follows(2))],
    );
    tells(
        Situation::TwoLeaders,
        &[(0, 1, follows(1)), (1, 2, follows(2))],
        &[(0, 1, follows(1)), (1, 2, follows(1))],
    );
    let cut = [(0, 1, What::Cut(NodeId(2))), (0, 2, What::Cut(NodeId(1)))];
    let lead = [(1, 1, follows(1)), (2, 2, follows(2))];
    let mend = [(3, 1, What::Mend(NodeId(2))), (3, 2, What::Mend(NodeId(1)))];
    tells(Situation::SplitBrain, &[cut, lead].concat(), &[&cut[..1], &lead[..]].concat());
    tells(Situation::SplitHealed, &[cut, lead, mend].concat(), &[&cut[..], &lead[..], &mend[..1]].concat());
    let three = [(0, 1, follows(1)), (1, 2, follows(2)), (2, 3, follows(3))];
    let merge = [(3, 3, follows(1)), (4, 2, follows(1))];
    tells(Situation::ThreeMerged, &[&three[..], &merge[..]].concat(), &[&three[..2], &merge[..]].concat());
    let announced = |leader| {
        let cause = Cause::Started;
        What::Node(Event::Announced(Announcement { leader: Some(NodeId(leader)), epoch: 1, cause }))
    };
    tells(
        Situation::AnnouncedAnother,
        &[(0, 1, announced(1)), (1, 1, announced(2))],
        &[(0, 1, announced(1)), (1, 1, announced(1)), (2, 2, announced(2))],
    );
}

#[test]
fn incarnations() {
    let rejoins = [(0, 1, follows(1)), (1, 2, What::Crash), (2, 2, What::Recover)];
    tells(Situation::JoinedRunning, &rejoins, &[rejoins[0], rejoins[2]]);
    let crashes: Vec<_> = (1..=4).map(|node| (0, node, What::Crash)).collect();
    let up: Vec<_> = (1..=4).map(|node| (0, node, What::Recover)).collect();
    tells(Situation::AllDown, &[&up[..], &crashes[..]].concat(), &[&up[..], &crashes[1..]].concat());
    let persists = (1, 1, What::Persist(Written::default()));
    let sends = (1, 1, What::Send(message(1, 1, 2)));
    let crashes = (1, 1, What::Crash);
    tells(Situation::CrashAfterPersist, &[persists, crashes], &[persists, sends, crashes]);
    tells(Situation::CrashAfterPersist, &[persists, crashes], &[persists, (2, 1, What::Crash)]);
    let restart =
        |ms| [(0, 2, What::Node(Event::Watch(NodeId(1)))), (1, 1, What::Crash), (ms, 1, What::Recover)];
    tells(Situation::QuickRestart, &restart(20), &restart(5_000));
    tells(Situation::QuickRestart, &restart(20), &restart(20)[1..]);
    let refused = |why| [(0, 1, What::Node(Event::Refused { from: NodeId(2), why }))];
    tells(
        Situation::OldIncarnationRefused,
        &refused(Refusal::StaleIncarnation),
        &refused(Refusal::OutOfOrder),
    );
}

#[test]
fn detectors() {
    let watch = (0, 2, What::Node(Event::Watch(NodeId(1))));
    let (up, report) = ((0, 1, What::Recover), (9, 2, What::Node(Event::Down(NodeId(1)))));
    let (crash, back) = ((3, 1, What::Crash), (4, 1, What::Recover));
    tells(Situation::FalseSuspicion, &[up, watch, report], &[up, watch, crash, report]);
    tells(Situation::FalseSuspicion, &[up, watch, report], &[up, watch, crash, back, report]);
    let plays_dead = (5, 1, What::Node(Event::PlayDead));
    tells(Situation::FalseSuspicion, &[up, watch, report], &[up, watch, plays_dead, report]);
    let paused = |ms| [(0, 1, What::Pause), (ms, 1, What::Resume)];
    tells(Situation::PausedLong, &paused(5_000), &paused(5));
}

#[test]
fn messages() {
    let dropped = |reason| [(0, 1, What::Drop(message(1, 1, 2), reason))];
    tells(Situation::Lost, &dropped(DropReason::Dropped), &dropped(DropReason::Down));
    tells(Situation::Late, &[(0, 1, What::Late(message(1, 1, 2)))], &[(0, 2, received(1, 1, 2))]);
    tells(
        Situation::Duplicated,
        &[(0, 2, received(7, 1, 2)), (1, 2, received(8, 1, 2)), (2, 2, received(7, 1, 2))],
        &[(0, 2, received(7, 1, 2)), (1, 3, received(8, 1, 3))],
    );
    tells(
        Situation::Overtaken,
        &[(0, 2, received(8, 1, 2)), (1, 2, received(7, 1, 2))],
        &[(0, 2, received(8, 1, 2)), (1, 2, received(8, 1, 2)), (2, 2, received(7, 3, 2))],
    );
    tells(Situation::Received("Halt"), &[(0, 2, received(1, 1, 2))], &[(0, 1, What::Send(message(1, 1, 2)))]);
}

#[test]
fn nothing_of_note_happens_where_nothing_befalls() {
    for protocol in Protocol::ALL {
        let calm = Scenario::calm(protocol, 4, Time::from_micros(5_000_000));
        let reached: Vec<_> = play(&calm).reached.iter().collect();
        let notable = |situation: &&Situation| {
            !matches!(
                situation,
                // Where nobody knows anybody yet, everybody leads.
                Situation::Received(_)
                    | Situation::TwoLeaders
                    | Situation::LeaderDemoted
                    | Situation::ThreeMerged
                    | Situation::ConcurrentElections
            )
        };
        assert_eq!(reached.iter().find(notable), None, "{}: {reached:?}", protocol.name());
    }
}

#[test]
fn what_must_be_reached_follows_from_faults_and_promises() {
    let within = |protocol, variant, classes: &[FaultClass]| {
        let faults = Allowed::Only(classes.iter().copied().collect());
        required(protocol, variant, &Limits { faults, ..Limits::default() })
    };
    let crashes = within(Protocol::Fjr, Variant::Repaired, &[FaultClass::Crash]);
    let kinds = ["heartbeat", "stop_leader", "suspicion"].map(Situation::Received);
    assert_eq!(crashes, [&[Situation::LeaderCrashed][..], &kinds[..]].concat());
    let everything = |protocol, variant| required(protocol, variant, &Limits::default());
    let stoller = everything(Protocol::AsyncBully, Variant::Repaired);
    for situation in [Situation::Received("Rej"), Situation::ThreeMerged, Situation::AskedAgain] {
        assert!(stoller.contains(&situation), "{situation}");
    }
    let printed = everything(Protocol::AsyncBully, Variant::Printed);
    assert!(!printed.contains(&Situation::AskedAgain), "as printed nobody asks twice");
    let synchronous = everything(Protocol::BullyFd, Variant::Repaired);
    assert!(!synchronous.contains(&Situation::TwoLeaders), "its detector does not err");
}
