//! What a simulator records, read back and judged as if it came from elsewhere.

use std::fmt::Write;
use std::slice::from_ref;

use bellwether_proto::detector::DetectorKind;
use bellwether_proto::election::Timing;
use bellwether_proto::ident::Incarnation;
use bellwether_proto::io::Event;
use bellwether_proto::time::Span;
use bellwether_proto::trace::{self, What};

use super::*;
use crate::run::run_with;
use crate::scenario::{Fault, Planned};
use crate::trace_file::TraceError;

/// Three nodes; the leader crashes and comes back.
fn scenario(protocol: Protocol) -> Scenario {
    let at = |seconds| Time::ZERO + Span::secs(seconds);
    let mut scenario = Scenario::calm(protocol, 3, at(20));
    scenario.events = vec![
        Planned { at: at(2), fault: Fault::Crash(vec![NodeId(1)]) },
        Planned { at: at(4), fault: Fault::Recover(vec![NodeId(1)]) },
    ];
    scenario
}

fn recorded(scenario: &Scenario) -> Vec<TraceEvent> {
    let mut events = Vec::new();
    run_with(scenario, Box::new(|event| events.push(*event)));
    events
}

fn lines(events: &[TraceEvent]) -> String {
    events.iter().fold(String::new(), |mut text, event| {
        writeln!(text, "{}", event.json()).expect("there is room");
        text
    })
}

fn read(text: &str) -> TraceFile {
    TraceFile::read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

fn broken(recorded: &Recorded) -> Vec<Property> {
    let broken = recorded.findings.iter().filter(|(finding, _)| finding.violation.is_some());
    broken.map(|(finding, _)| finding.property).collect()
}

fn judged(recorded: &Recorded) -> Vec<Property> {
    recorded.findings.iter().map(|(finding, _)| finding.property).collect()
}

#[test]
fn what_was_written_is_read() {
    for protocol in Protocol::ALL {
        let events = recorded(&scenario(protocol));
        let file = read(&lines(&events));
        assert_eq!(file.events.len(), events.len());
        for (read, written) in file.events.iter().zip(&events) {
            assert_eq!(read.json().to_string(), written.json().to_string());
        }
    }
}

#[test]
fn a_message_was_sent_when_its_sender_says() {
    let events = recorded(&scenario(Protocol::Fjr));
    let mut merged = merge::all(&[read(&lines(&events))], None);
    // What became durable, and which incarnation was begun, the lines do not say.
    merged.retain(|event| !matches!(event.what, What::Persist(_) | What::Node(Event::Reborn(_))));
    let kept =
        events.iter().filter(|event| !matches!(event.what, What::Persist(_) | What::Node(Event::Reborn(_))));
    assert!(merged.iter().eq(kept));
}

#[test]
fn the_verdict_on_a_recorded_run_is_that_on_the_run() {
    use Protocol::{Adft, AsyncBully, Fjr, Invitation, Lfa};
    for protocol in [Fjr, Lfa, Adft, AsyncBully, Invitation] {
        let scenario = scenario(protocol);
        let file = read(&lines(&recorded(&scenario)));
        let recorded = judge(from_ref(&file), Some(&file), &default_setup(protocol, 3)).unwrap();
        assert_eq!(broken(&recorded), [], "{protocol:?}");
        let mut promised = crate::environment::judged(&scenario);
        promised.retain(|property| *property != Property::RestrictedOnce); // Nobody asked for such an operation.
        assert_eq!(judged(&recorded), promised, "{protocol:?}");
    }
}

#[test]
fn without_the_truth_little_can_be_said() {
    let file = read(&lines(&recorded(&scenario(Protocol::AsyncBully))));
    let recorded = judge(&[file], None, &default_setup(Protocol::AsyncBully, 3)).unwrap();
    assert_eq!(judged(&recorded), [Property::Ale1]);
    assert_eq!(
        recorded.not_judged[0],
        (Property::Ale2Prime, "it needs the truth about what befell the nodes".to_owned())
    );
}

#[test]
fn live_traces_show_who_came_up() {
    let scenario = scenario(Protocol::Fjr);
    let events = recorded(&scenario);
    // Each node has a file of its own with times of a wall clock, and says nothing of crashes and recoveries.
    let wall = Span::secs(1_800_000_000);
    let later = |event: &TraceEvent| TraceEvent { at: event.at + wall, ..*event };
    let own = |id: u32| -> Vec<_> {
        let own = events.iter().filter(|event| event.node == NodeId(id) && !merge::befalls(&event.what));
        own.map(later).collect()
    };
    let traces: Vec<_> = (1..=3).map(|id| read(&lines(&own(id)))).collect();
    let crash = events.iter().filter(|event| event.what == What::Crash).map(later).collect::<Vec<_>>();
    let truth = read(&lines(&crash));
    let setup = default_setup(Protocol::Fjr, 3);
    let recorded = judge(&traces, Some(&truth), &setup).unwrap();
    assert_eq!(
        (judged(&recorded), broken(&recorded)),
        (vec![Property::Omega, Property::SingleSender], vec![])
    );
    // It makes no difference if node 1 does not come back.
    let mut gone = traces;
    gone[0].events.retain(|event| event.at < Time::ZERO + wall + Span::secs(3));
    assert_eq!(broken(&judge(&gone, Some(&truth), &setup).unwrap()), []);
}

#[test]
fn a_leader_that_is_down_is_found() {
    let file = read(&lines(&recorded(&scenario(Protocol::Fjr))));
    let leader = file.events.iter().rev().find_map(|event| match event.what {
        What::Node(Event::Opinion(opinion)) => opinion.leader,
        _ => None,
    });
    let crash = TraceEvent {
        at: Time::ZERO + Span::secs(8),
        node: leader.unwrap(),
        incarnation: Incarnation(0),
        what: What::Crash,
    };
    let mut truth = file.clone();
    truth.events.push(crash);
    let recorded = judge(&[file], Some(&truth), &default_setup(Protocol::Fjr, 3)).unwrap();
    assert!(broken(&recorded).contains(&Property::Omega), "{recorded:?}");
    let (finding, steps) = &recorded.findings[0];
    assert_eq!(finding.violation.as_ref().unwrap().at, crash.at);
    assert!(*steps < recorded.events);
}

/// A leader is killed just after it was announced, by somebody whose clock is a little slow.
#[test]
fn what_a_node_records_it_does_before_it_crashes() {
    let Scenario { events, .. } = scenario(Protocol::Fjr);
    let agents = Scenario { agent: true, events, ..scenario(Protocol::Fjr) };
    let events = recorded(&agents);
    let leads = events.iter().position(|event| match event.what {
        What::Node(Event::Announced(announced)) => {
            announced.leader == Some(event.node) && event.node != NodeId(1)
        }
        _ => false,
    });
    let announced = events[leads.expect("another leads when the first has crashed")];
    // What becomes of the others afterwards is not looked at: in the run it does not crash.
    let is_invented = |early: Span| {
        let at = Time::from_micros(announced.at.as_micros() - early.as_micros());
        let crash = TraceEvent { at, what: What::Crash, ..announced };
        let own = events.iter().filter(|event| event.node != announced.node || event.at <= announced.at);
        let file = read(&lines(&own.copied().collect::<Vec<_>>()));
        let mut truth = file.clone();
        truth.events.push(crash);
        let recorded = judge(&[file], Some(&truth), &default_setup(Protocol::Fjr, 3)).unwrap();
        broken(&recorded).contains(&Property::Epoch)
    };
    assert!(!is_invented(Span::ZERO));
    assert!(!is_invented(Span::millis(20)), "it was not dead before it said its last word");
    assert!(is_invented(Span::secs(1)), "so far apart no two clocks are");
}

#[test]
fn a_leader_that_another_does_not_follow_is_found() {
    let text = lines(&recorded(&scenario(Protocol::Fjr)));
    let quarter = r#"{"v":1,"t_us":18000000,"node":2,"inc":1,"ev":"state","post":{"status":"normal","leader":3,"group":null}}"#;
    let file = read(&format!("{text}{quarter}\n"));
    let recorded = judge(from_ref(&file), Some(&file), &default_setup(Protocol::Fjr, 3)).unwrap();
    assert_eq!(broken(&recorded), [Property::Omega]);
}

#[test]
fn ids_may_be_any() {
    let text = lines(&recorded(&scenario(Protocol::Fjr)));
    let mut file = read(&text);
    let other = |id: &mut NodeId| *id = NodeId(id.0 * 100);
    for event in &mut file.events {
        other(&mut event.node);
        match &mut event.what {
            What::Send(msg) | What::Recv(msg, _) | What::Drop(msg, _) | What::Late(msg) => {
                other(&mut msg.from);
                other(&mut msg.to);
            }
            What::Node(Event::Opinion(opinion)) => opinion.leader.iter_mut().for_each(other),
            _ => {}
        }
    }
    let setup = Setup { nodes: Vec::new(), ..default_setup(Protocol::Fjr, 3) };
    let recorded = judge(&[file.clone()], Some(&file), &setup).unwrap();
    assert_eq!((recorded.nodes, broken(&recorded)), (3, vec![]));
    file.events.retain(|event| event.at < Time::ZERO + Span::secs(3));
    let recorded = judge(&[file.clone()], None, &setup).unwrap();
    assert_eq!(recorded.nodes, 3);
    let strangers = judge(&[file], None, &default_setup(Protocol::Fjr, 3)).unwrap_err();
    assert_eq!(strangers, "something happens at node 100, expected one of 1, 2, 3");
}

#[test]
fn ranks_are_explained() {
    let at = |id| TraceEvent {
        at: Time::ZERO,
        node: NodeId(id),
        incarnation: Incarnation(1),
        what: What::Recover,
    };
    assert_eq!(Ranks::of(&[at(2), at(1)], &[]).legend(), "");
    assert_eq!(Ranks::of(&[at(30), at(7)], &[]).legend(), " (nodes by rank: 1 is 7, 2 is 30)");
}

#[test]
fn a_setup_line_is_read() {
    let timing = Timing { delta: Span::millis(100), tau: Span::millis(50), step: Span::millis(10) };
    let nodes = [NodeId(3), NodeId(9)];
    let said = trace::Setup {
        cluster: "demo",
        protocol: Protocol::AsyncBully,
        variant: Variant::Repaired,
        nodes: &nodes,
        timing,
        detector: Some(DetectorKind::Heartbeat),
        release_timeout: Span::secs(3),
    };
    let text = format!("{}\n", trace::setup_json(Time::ZERO, NodeId(3), Incarnation(1), &said));
    let expected = Setup {
        cluster: "demo".to_owned(),
        protocol: Protocol::AsyncBully,
        variant: Variant::Repaired,
        nodes: nodes.to_vec(),
        timing,
        detector: Some(DetectorKind::Heartbeat),
        release_timeout: Some(Span::secs(3)),
    };
    assert_eq!(common_setup(&[read(&text), read(&text)]).unwrap(), Some(expected));
    let other = text.replace("demo", "prod");
    assert!(common_setup(&[read(&text), read(&other)]).unwrap_err().contains("expected those of one run"));
}

#[test]
fn only_the_last_line_may_be_torn() {
    let text = lines(&recorded(&scenario(Protocol::Fjr)));
    let torn = &text[..text.len() - 7];
    let file = TraceFile::read(torn.as_bytes()).unwrap();
    assert!(file.torn && file.events.len() + 1 == text.lines().count());
    let TraceError::Line { line, .. } = TraceFile::read(format!("{torn}\n").as_bytes()).unwrap_err() else {
        panic!("it can be read");
    };
    assert_eq!(line, text.lines().count());
}

#[test]
fn a_line_that_is_none_is_explained() {
    for (line, said) in [
        ("{", "EOF while parsing an object, expected an event of a trace as JSON"),
        (r#"{"v":2,"t_us":0,"node":1,"inc":1,"ev":"crash"}"#, "found version 2, expected 1"),
        (r#"{"v":1,"t_us":0,"node":0,"inc":1,"ev":"crash"}"#, "found node 0, expected an id of 1 or more"),
        (
            r#"{"v":1,"t_us":0,"node":1,"inc":1,"ev":"dance"}"#,
            "found the event \"dance\", which no trace has",
        ),
        (r#"{"v":1,"t_us":0,"node":1,"inc":1,"ev":"cut"}"#, "found a \"cut\" without `peer`"),
        (
            r#"{"v":1,"t_us":0,"node":1,"inc":1,"ev":"state","post":{"status":"happy","leader":1,"group":null}}"#,
            "found the status \"happy\", which no node has",
        ),
        (
            r#"{"v":1,"t_us":0,"node":1,"inc":1,"ev":"send","msg":{"id":1,"kind":"Hi","from":1,"to":2}}"#,
            "found the message \"Hi\", which no protocol has",
        ),
    ] {
        let error = TraceFile::read(format!("{line}\n").as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), format!("line 1: {said}"));
    }
}
