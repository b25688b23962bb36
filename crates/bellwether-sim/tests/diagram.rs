//! Pictures as a reader of XML sees them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::message::Kind;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{DropReason, MsgRef, TraceEvent, What};
use bellwether_sim::diagram::{self, Mark, Options, Subject};
use bellwether_sim::run::trace;
use bellwether_sim::scenario::Scenario;
use roxmltree::{Document, Node};

#[test]
fn every_scenario_gives_a_picture_with_a_lane_for_each_node_and_no_more_than_was_sent() {
    for scenario in scenarios() {
        let events = trace(&scenario);
        let svg = diagram::draw_run(&scenario, &events, &Options::default());
        let picture = Document::parse(&svg).unwrap_or_else(|error| panic!("{}: {error}", scenario.name));
        let lanes: Vec<u32> =
            with_class(&picture, "node-lane").map(|lane| number(lane, "data-node")).collect();
        assert_eq!(lanes, (1..=scenario.nodes).collect::<Vec<_>>(), "{}", scenario.name);
        let title = picture.root_element().children().find(|node| node.has_tag_name("title"));
        assert_eq!(title.and_then(|title| title.text()), Some(scenario.name.as_str()));
        let drawn: Vec<u64> = ids(&picture).collect();
        let unique: BTreeSet<u64> = drawn.iter().copied().collect();
        assert_eq!(unique.len(), drawn.len(), "{}: each message is drawn once", scenario.name);
        assert!(unique.is_subset(&sent(&events)), "{}", scenario.name);
        assert!(!unique.is_empty() || sent(&events).is_empty(), "{}", scenario.name);
        let all = sent(&events).len();
        let stated = if all == drawn.len() {
            format!("Every message is drawn, {all} in all.")
        } else {
            format!("{} of {all} message", drawn.len())
        };
        assert!(svg.contains(&stated), "{}: expected {stated}", scenario.name);
    }
}

#[test]
fn every_message_of_a_window_is_drawn_once_and_lost_ones_look_lost() {
    let scenario = named("est06a-lost-halt-printed");
    let events = trace(&scenario);
    let window = (Time::ZERO, Time::from_micros(5_000_000));
    let svg = diagram::draw_run(&scenario, &events, &Options { window: Some(window), ..Options::default() });
    let picture = Document::parse(&svg).unwrap();
    let protocol = |event: &&TraceEvent| {
        matches!(event.what, What::Send(msg) if ["Halt", "Ack", "Ldr", "Norm?"].contains(&msg.kind.name()))
            && event.at <= window.1
    };
    let expected = sent(&events.iter().filter(protocol).copied().collect::<Vec<_>>());
    assert_eq!(ids(&picture).collect::<BTreeSet<_>>(), expected);
    let lost: Vec<u64> =
        with_class(&picture, "lost").filter_map(|node| node.attribute("data-id")?.parse().ok()).collect();
    assert_eq!(lost, [2], "the Halt that the file drops");
}

#[test]
fn a_violation_is_marked_with_its_name_and_text() {
    let scenario = named("est06a-lost-halt-printed");
    let svg = diagram::draw(&scenario, &Options::default());
    let picture = Document::parse(&svg).unwrap();
    let marks: Vec<String> = with_class(&picture, "mark").map(text).collect();
    assert_eq!(marks.len(), 1);
    assert!(marks[0].contains("ALE2' is broken at 1.248 s: node 1 is still electing"), "{marks:?}");
    assert_eq!(with_class(&picture, "markline").count(), 1, "a line across the lanes");
    let repaired = diagram::draw(&named("est06a-lost-halt-repaired"), &Options::default());
    assert_eq!(with_class(&Document::parse(&repaired).unwrap(), "mark").count(), 0);
}

#[test]
fn the_same_scenario_gives_the_same_bytes() {
    let scenario = named("partition-and-merge");
    let draw = || diagram::draw(&scenario, &Options::default());
    assert_eq!(draw(), draw());
}

#[test]
fn copies_losses_and_what_is_under_way_are_told_apart_and_names_cannot_break_the_document() {
    let [twice, lost, down, flying] = [1, 2, 3, 4].map(|id| MsgRef {
        id,
        kind: Kind::protocol("<Norm?&\"'>"),
        from: NodeId(1),
        to: NodeId(2),
    });
    let at = |us, node, what| TraceEvent {
        at: Time::from_micros(us),
        node: NodeId(node),
        incarnation: Incarnation(1),
        what,
    };
    let events = [
        at(0, 1, What::Recover),
        at(0, 1, What::Send(twice)),
        at(10, 2, What::Recv(twice, Time::ZERO)),
        at(20, 2, What::Recv(twice, Time::ZERO)),
        at(30, 1, What::Send(lost)),
        at(30, 1, What::Drop(lost, DropReason::Lost)),
        at(40, 1, What::Send(down)),
        at(50, 2, What::Drop(down, DropReason::Down)),
        at(60, 1, What::Send(flying)),
    ];
    let subject = Subject {
        name: "</svg> & \u{1b}[31m".to_owned(),
        about: "<about>".to_owned(),
        replay: Some("sh -c \"<x>\" && 'y'".to_owned()),
        nodes: 2,
        ended: Time::from_micros(100),
    };
    let mark = Mark {
        at: Time::from_micros(30),
        property: "<P>".to_owned(),
        nodes: vec![NodeId(2)],
        text: "]]> & so on".to_owned(),
    };
    let svg = diagram::draw_trace(&subject, &events, &[mark], None);
    let picture = Document::parse(&svg).unwrap();
    let classes: BTreeMap<u64, &str> = with_class(&picture, "message")
        .filter_map(|node| Some((node.attribute("data-id")?.parse().ok()?, node.attribute("class")?)))
        .collect();
    let expected = [(1, "message"), (2, "message lost"), (3, "message lost"), (4, "message flying")];
    assert_eq!(classes, BTreeMap::from(expected));
    let arrow = |id: &str| {
        with_class(&picture, "message").find(|node| node.attribute("data-id") == Some(id)).unwrap()
    };
    let lines = |id| arrow(id).descendants().filter(|node| node.has_tag_name("line")).count();
    assert_eq!((lines("1"), lines("2")), (2, 1), "a duplicate is drawn twice");
    assert!(text(arrow("2")).starts_with("<Norm?&\"'> #2 from 1 to 2: sent 0.00003 s, lost"));
    assert_eq!(with_class(&picture, "markline").count(), 2, "the line, and a ring around the node to blame");
}

fn sent(events: &[TraceEvent]) -> BTreeSet<u64> {
    let id = |event: &TraceEvent| match event.what {
        What::Send(msg) => Some(msg.id),
        _ => None,
    };
    events.iter().filter_map(id).collect()
}

fn ids<'a>(picture: &'a Document<'a>) -> impl Iterator<Item = u64> {
    with_class(picture, "message").filter_map(|node| node.attribute("data-id")?.parse().ok())
}

fn with_class<'a>(picture: &'a Document<'a>, class: &'a str) -> impl Iterator<Item = Node<'a, 'a>> {
    picture.descendants().filter(move |node| {
        node.attribute("class").is_some_and(|classes| classes.split(' ').any(|c| c == class))
    })
}

fn number(node: Node<'_, '_>, attribute: &str) -> u32 {
    node.attribute(attribute).and_then(|number| number.parse().ok()).expect("a number")
}

fn text(node: Node<'_, '_>) -> String {
    node.descendants().filter_map(|node| node.text()).collect::<Vec<_>>().join(" ").trim().to_owned()
}

fn named(name: &str) -> Scenario {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.toml"));
    Scenario::parse(name, &fs::read_to_string(file).unwrap()).unwrap()
}

fn scenarios() -> Vec<Scenario> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names.iter().map(|name| named(name)).collect()
}
