//! `sim --trace`: every event a line, in a stable format.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::harness::{Scratch, report, scenarios};

/// Every word for an event, and the keys that its line has besides those that all have.
const EVENTS: &[(&str, &[&str])] = &[
    ("send", &["msg"]),
    ("recv", &["msg"]),
    ("late", &["msg"]),
    ("drop", &["msg", "reason"]),
    ("deadline", &[]),
    ("state", &["post"]),
    ("persist", &[]),
    ("crash", &[]),
    ("recover", &[]),
    ("pause", &[]),
    ("resume", &[]),
    ("cut", &["peer"]),
    ("mend", &["peer"]),
    ("slow", &["peer"]),
    ("reborn", &[]),
    ("task", &["task"]),
    ("recorded", &["group", "record"]),
    ("member", &["peer"]),
    ("parent", &["group"]),
    ("voted", &["op", "group", "attempt"]),
    ("committed", &["op", "group", "attempt"]),
    ("aborted", &["op", "group", "attempt"]),
    ("declined", &["op", "reason"]),
    ("announce", &["leader", "epoch", "cause", "peer", "successor"]),
    ("granted", &["token", "peer", "round", "by", "of", "write"]),
    ("valid", &["epoch", "until_us"]),
    ("given-up", &[]),
    ("unlinked", &["peer"]),
    ("asked", &["ticket", "command"]),
    ("asked", &["ticket", "command", "hold"]),
    ("asked", &["ticket", "command", "peer"]),
    ("answered", &["ticket", "done"]),
    ("answered", &["ticket", "done", "reason"]),
    ("work-begins", &["epoch"]),
    ("asked-back", &["epoch"]),
    ("work-ends", &[]),
    ("left", &[]),
    ("watch", &["peer"]),
    ("unwatch", &["peer"]),
    ("unwatch-all", &[]),
    ("downsig", &["peer"]),
    ("play-dead", &[]),
    ("play-alive", &[]),
    ("link-up", &["peer", "peer_inc", "seen"]),
    ("link-down", &["peer", "peer_inc", "seen"]),
    ("members", &["members"]),
    ("pending", &["pending"]),
    ("refused", &["peer", "reason"]),
];

#[test]
fn lines_have_the_documented_keys() {
    let scratch = Scratch::new("trace-keys");
    for file in scenarios() {
        for line in traced(&scratch, &file).1 {
            let word = line["ev"].as_str().unwrap();
            let documented = EVENTS.iter().filter(|(event, _)| *event == word).map(|(_, more)| more);
            let all = |more: &[&'static str]| sorted(&[&["v", "t_us", "node", "inc", "ev"], more].concat());
            let mut documented = documented.filter(|more| keys(&line) == all(more));
            let more = documented.next().unwrap_or_else(|| panic!("{line}"));
            assert!(line["v"] == 1 && ["t_us", "node", "inc"].iter().all(|key| line[key].is_u64()), "{line}");
            if more.contains(&"msg") {
                assert_eq!(keys(&line["msg"]), sorted(&["id", "kind", "from", "to"]), "{line}");
            }
            if more.contains(&"post") {
                assert_eq!(keys(&line["post"]), sorted(&["status", "leader", "group"]), "{line}");
            }
        }
    }
}

#[test]
fn a_trace_accounts_for_every_message_of_the_report() {
    let scratch = Scratch::new("trace-counts");
    for file in scenarios() {
        let (report, lines) = traced(&scratch, &file);
        let count = |word: &str| lines.iter().filter(|line| line["ev"] == word).count() as u64;
        let messages = &report["messages"];
        assert_eq!(messages["sent"], count("send"), "{file}");
        assert_eq!(messages["delivered"], count("recv"), "{file}");
        assert_eq!(messages["lost"], count("drop"), "{file}");
        let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
        for line in lines.iter().filter(|line| line["ev"] == "send") {
            *kinds.entry(line["msg"]["kind"].as_str().unwrap()).or_default() += 1;
        }
        let told = messages["by_kind"].as_object().unwrap();
        assert!(kinds.iter().all(|(kind, count)| told[*kind] == *count), "{file}: {kinds:?}");
    }
}

#[test]
fn a_trace_begins_with_the_first_node_and_goes_forward_in_time() {
    let scratch = Scratch::new("trace-order");
    let (report, lines) = traced(&scratch, "scenarios/partition-and-merge.toml");
    let first = &lines[0];
    assert_eq!((&first["ev"], &first["node"], &first["t_us"]), (&"recover".into(), &1.into(), &0.into()));
    assert!(lines.is_sorted_by_key(|line| line["t_us"].as_u64()));
    assert!(lines.last().unwrap()["t_us"].as_u64() <= report["ended_at_us"].as_u64());
    let count = |word: &str| lines.iter().filter(|line| line["ev"] == word).count();
    assert_eq!((count("cut"), count("mend")), (12, 12), "2 nodes from 3, both ways");
}

#[test]
fn tracing_does_not_change_the_run() {
    let scratch = Scratch::new("trace-same");
    let file = "scenarios/partition-and-merge.toml";
    assert_eq!(traced(&scratch, file).0, report(&[file]).1);
    let longer = fs::read_to_string(scratch.path("trace.jsonl")).unwrap();
    traced(&scratch, "scenarios/s02-path.toml");
    let shorter = fs::read_to_string(scratch.path("trace.jsonl")).unwrap();
    assert!(shorter.len() < longer.len() && shorter.ends_with("}\n"), "a new trace replaces the old one");
}

fn traced(scratch: &Scratch, file: &str) -> (Value, Vec<Value>) {
    let path = scratch.path("trace.jsonl");
    let (code, report) = report(&[file, "--trace", &path]);
    assert_eq!(code, 0, "{file}");
    let lines = fs::read_to_string(path).unwrap();
    (report, lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect())
}

fn keys(object: &Value) -> Vec<&str> {
    let mut keys: Vec<_> = object.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn sorted<'a>(keys: &[&'a str]) -> Vec<&'a str> {
    let mut keys = keys.to_vec();
    keys.sort_unstable();
    keys
}
