//! What a picture is made of, before it is written.

use std::fs;
use std::path::Path;

use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::io::Event;
use bellwether_proto::message::Kind;
use bellwether_proto::opinion::{Opinion, Status};
use bellwether_proto::time::Time;
use bellwether_proto::trace::{DropReason, MsgRef, TraceEvent, What};

use super::drawing::{Drawing, Weight};
use super::layout::{Content, Label, Layout};
use super::{marks, select};
use crate::plan;
use crate::run::run_with;
use crate::scenario::Scenario;

const HALT: Kind = Kind::protocol("Halt");
const BEAT: Kind = Kind::detector("Beat");

fn at(ms: u64, node: u32, what: What) -> TraceEvent {
    TraceEvent { at: Time::from_micros(ms * 1_000), node: NodeId(node), incarnation: Incarnation(1), what }
}

fn msg(id: u64, kind: Kind, from: u32, to: u32) -> MsgRef {
    MsgRef { id, kind, from: NodeId(from), to: NodeId(to) }
}

fn sent(ms: u64, msg: MsgRef) -> TraceEvent {
    at(ms, msg.from.0, What::Send(msg))
}

fn received(ms: u64, msg: MsgRef) -> TraceEvent {
    at(ms, msg.to.0, What::Recv(msg, Time::ZERO))
}

fn shows(ms: u64, node: u32, status: Status) -> TraceEvent {
    at(ms, node, What::Node(Event::Opinion(Opinion { status, ..Opinion::DOWN })))
}

#[test]
fn a_message_that_changes_its_receiver_decides() {
    let (asks, beat, answer, late) =
        (msg(1, HALT, 1, 2), msg(2, BEAT, 1, 2), msg(3, HALT, 2, 1), msg(4, HALT, 1, 2));
    let events = [
        sent(0, asks),
        sent(0, beat),
        received(1, beat),
        received(1, asks),
        shows(1, 2, Status::Waiting),
        sent(1, answer),
        received(2, answer),
        sent(2, late),
        sent(9, msg(5, HALT, 1, 2)),
    ];
    let weights: Vec<Weight> =
        Drawing::of(2, &events).messages.iter().map(|message| message.weight).collect();
    assert_eq!(weights, [Weight::Decides, Weight::Steady, Weight::Tells, Weight::Related, Weight::Steady]);
}

#[test]
fn what_is_dropped_on_purpose_decides_and_the_last_words_of_the_dead_are_kept() {
    let (dropped, last, first) = (msg(3, HALT, 1, 2), msg(2, HALT, 1, 2), msg(1, HALT, 1, 2));
    let events = [
        sent(0, first),
        sent(1, last),
        at(2, 1, What::Crash),
        sent(3, dropped),
        at(3, 1, What::Drop(dropped, DropReason::Dropped)),
    ];
    let weights: Vec<Weight> =
        Drawing::of(2, &events).messages.iter().map(|message| message.weight).collect();
    assert_eq!(weights, [Weight::Steady, Weight::Brink, Weight::Decides]);
}

#[test]
fn steady_traffic_is_left_out_of_a_long_run_and_drawn_in_a_window() {
    let mut events = vec![shows(0, 1, Status::Election)];
    for beat in 0..500 {
        events.push(sent(10 * beat, msg(beat, HALT, 1, 2)));
        events.push(received(10 * beat + 1, msg(beat, HALT, 1, 2)));
    }
    events.push(shows(2_001, 2, Status::Waiting));
    events.sort_by_key(|event| event.at);
    let drawing = Drawing::of(2, &events);
    let drawn = |window| select::choose(&drawing, &[], window).messages.into_iter().collect::<Vec<_>>();
    assert_eq!(drawn(None), [0, 200], "the first was sent when node 1 changed, the other changed node 2");
    let window = Some((Time::from_micros(1_000_000), Time::from_micros(1_305_000)));
    assert_eq!(drawn(window), (100..=130).collect::<Vec<_>>());
}

#[test]
fn labels_do_not_meet_in_any_scenario_that_can_be_drawn() {
    let mut pictures = 0;
    for scenario in scenarios().into_iter().chain(plans()) {
        if (3..=7).contains(&scenario.nodes) {
            let labels = labels(&scenario);
            for (place, one) in labels.iter().enumerate() {
                let clash = labels[place + 1..].iter().find(|other| other.rect.overlaps(&one.rect));
                assert!(clash.is_none(), "{}: {one:?} and {clash:?}", scenario.name);
            }
            pictures += 1;
        }
    }
    assert!(pictures > 50);
}

#[test]
fn what_decides_has_its_name_beside_it() {
    for scenario in scenarios().iter().filter(|scenario| scenario.nodes == 3) {
        let (drawing, all) = (drawing(scenario), labels(scenario));
        let marks: Vec<Time> = marks(scenario, &trace(scenario)).iter().map(|mark| mark.at).collect();
        let selection = select::choose(&drawing, &marks, None);
        let decide = |place: &&usize| drawing.messages[**place].weight == Weight::Decides;
        let deciding: Vec<_> =
            selection.messages.iter().filter(decide).map(|place| &drawing.messages[*place]).collect();
        let named = |id: u64| {
            let id = format!("#{id}");
            let is = |tail: &String| tail.split('→').next() == Some(&id);
            all.iter().any(|label| label.tail.as_ref().is_some_and(is))
        };
        let nameless = deciding.iter().filter(|message| !named(message.id)).count();
        // Two that arrive at one instant from one node have one place, so one may go without.
        assert!(
            nameless <= (deciding.len() / 20).max(1),
            "{}: {nameless} of {}",
            scenario.name,
            deciding.len()
        );
    }
}

fn labels(scenario: &Scenario) -> Vec<Label> {
    let events = trace(scenario);
    let drawing = Drawing::of(scenario.nodes, &events);
    let marks = marks(scenario, &events);
    let marked: Vec<Time> = marks.iter().map(|mark| mark.at).collect();
    let selection = select::choose(&drawing, &marked, None);
    let content = Content {
        nodes: scenario.nodes,
        drawing: &drawing,
        selection: &selection,
        marks: &marks,
        end: scenario.until,
    };
    Layout::new(content, 50.0).labels
}

fn drawing(scenario: &Scenario) -> Drawing {
    Drawing::of(scenario.nodes, &trace(scenario))
}

fn trace(scenario: &Scenario) -> Vec<TraceEvent> {
    let mut events = Vec::new();
    run_with(scenario, Box::new(|event| events.push(*event)));
    events
}

/// Every file in `scenarios`, in order.
fn scenarios() -> Vec<Scenario> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut files: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |file: &Path| Scenario::parse(&file.display().to_string(), &fs::read_to_string(file).unwrap());
    files.iter().map(|file| read(file).unwrap()).collect()
}

/// Some with more faults than a file has.
fn plans() -> Vec<Scenario> {
    let plan = |seed| plan::draw(Protocol::AsyncBully, Variant::Printed, seed);
    (1..=20).map(plan).chain((1..=20).map(|seed| plan::draw_in_agent(Protocol::Fjr, seed))).collect()
}
