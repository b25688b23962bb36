//! `check --trace`: what nodes recorded, judged.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{Outcome, Scratch, bellwether};

const CRASH: &str = r#"protocol = "fjr"
nodes = 3
until = "20s"
event = [{ at = "2s", crash = [1] }, { at = "4s", recover = [1] }]
"#;

const SETUP: &str = r#"{"v":1,"t_us":0,"node":1,"inc":1,"ev":"setup","setup":{"cluster":"demo","protocol":"fjr","variant":"repaired","nodes":[1,2,3],"delta_us":2000,"tau_us":100000,"step_us":2000,"detector":null}}
"#;

/// Records the scenario; returns the path and the text of its trace.
fn record(scratch: &Scratch) -> (String, String) {
    let (file, trace) = (scratch.file("crash.toml", CRASH), scratch.path("run.jsonl"));
    bellwether(&["sim", &file, "--trace", &trace]).done();
    let text = fs::read_to_string(&trace).unwrap();
    (trace, text)
}

fn check(args: &[&str]) -> Outcome {
    bellwether(&[&["check"], args].concat())
}

fn check_json(args: &[&str]) -> (i32, Value) {
    let outcome = check(&[args, &["--json"]].concat());
    assert_eq!(outcome.err, "");
    let mut value: Value = serde_json::from_str(&outcome.out).expect("JSON");
    assert!(value["wall_ms"].is_u64());
    value["wall_ms"] = Value::Null;
    (outcome.code, value)
}

#[test]
fn a_run_that_keeps_the_promises_is_judged_so() {
    let scratch = Scratch::new("check-holds");
    let (trace, text) = record(&scratch);
    let (code, value) =
        check_json(&["--trace", &trace, "--truth", &trace, "--protocol", "fjr", "--nodes", "3"]);
    let holds = |name| json!({"name": name, "holds": true, "violation": null});
    assert_eq!(code, 0);
    assert_eq!(
        value,
        json!({
            "mode": "trace", "files": [trace], "torn": [], "protocol": "fjr", "variant": "repaired", "nodes": 3,
            "events": text.lines().count(), "wall_ms": null, "violations": [],
            "properties": [holds("OMEGA"), holds("SINGLE-SENDER")], "not_judged": [], "reached": {},
        })
    );
    let shown = check(&["--trace", &trace, "--truth", &trace, "--protocol", "fjr", "--nodes", "3"]).done();
    assert!(shown.contains("OMEGA            holds\n"), "{shown}");
    assert!(shown.contains("  2 hold\n"), "{shown}");
}

/// Whoever goes down in the end leaves nothing of "in the end" to judge.
#[test]
fn what_was_not_judged_is_counted_and_says_why() {
    let scratch = Scratch::new("check-not-judged");
    let file = scratch.file("end.toml", CRASH.replace("\"4s\", recover = [1]", "\"19s\", crash = [2]"));
    let trace = scratch.path("run.jsonl");
    bellwether(&["sim", &file, "--trace", &trace]).done();
    let args = ["--trace", &trace, "--truth", &trace, "--protocol", "fjr", "--nodes", "3"];
    let (code, value) = check_json(&args);
    assert_eq!((code, &value["properties"]), (0, &json!([])));
    let names: Vec<_> = value["not_judged"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["OMEGA", "SINGLE-SENDER"]);
    let why = value["not_judged"][0]["why"].as_str().unwrap();
    assert!(why.starts_with("it needs "), "{why}");
    let shown = check(&args).done();
    assert!(shown.contains("  2 not judged\n"), "{shown}");
    let said = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(&format!("OMEGA not judged: {why}")), "{shown}");
}

#[test]
fn a_setup_line_says_what_need_not_be_typed() {
    let scratch = Scratch::new("check-setup");
    let (trace, text) = record(&scratch);
    let outcome = check(&["--trace", &trace]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.err.contains("expected --protocol P and --nodes N"), "{}", outcome.err);
    let live = scratch.file("live.jsonl", format!("{SETUP}{text}"));
    assert_eq!(check_json(&["--trace", &live, "--truth", &trace]).0, 0);
    for (args, words) in [
        (["--protocol", "lfa"], "--protocol is lfa, but the traces are of fjr"),
        (["--nodes", "4"], "--nodes is 4, but the traces are of 3 nodes"),
    ] {
        let outcome = check(&[&["--trace", &live][..], &args].concat());
        assert_eq!(outcome.code, 2);
        assert!(outcome.err.contains(words), "{}", outcome.err);
    }
}

#[test]
fn a_run_that_breaks_a_promise_is_found() {
    let scratch = Scratch::new("check-broken");
    let (trace, text) = record(&scratch);
    let dissent = r#"{"v":1,"t_us":18000000,"node":3,"inc":1,"ev":"state","post":{"status":"normal","leader":3,"group":null}}"#;
    let edited = scratch.file("edited.jsonl", format!("{SETUP}{text}{dissent}\n"));
    let (code, value) = check_json(&["--trace", &edited, "--truth", &trace]);
    assert_eq!(code, 1);
    let violation = &value["violations"][0];
    assert_eq!((&violation["property"], &violation["at_us"]), (&json!("OMEGA"), &json!(18_000_000)));
    assert_eq!(value["properties"][0]["holds"], false);
    let outcome = check(&["--trace", &edited, "--truth", &trace]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.out.contains("OMEGA            BROKEN at 18.000000s: 3 follows 3"), "{}", outcome.out);
}

#[test]
fn without_the_truth_it_is_said_that_nothing_could_be_judged() {
    let scratch = Scratch::new("check-no-truth");
    let (trace, _) = record(&scratch);
    let out = check(&["--trace", &trace, "--protocol", "fjr", "--nodes", "3"]).done();
    assert!(out.ends_with("Nothing could be judged.\n"), "{out}");
    assert!(
        out.contains("OMEGA            not judged: it needs the truth about what befell the nodes"),
        "{out}"
    );
}

#[test]
fn a_torn_end_is_tolerated_and_told() {
    let scratch = Scratch::new("check-torn");
    let (trace, text) = record(&scratch);
    let torn = scratch.file("torn.jsonl", &text[..text.len() - 9]);
    let args = ["--trace", &torn, "--truth", &trace, "--protocol", "fjr", "--nodes", "3"];
    let (code, value) = check_json(&args);
    assert_eq!((code, &value["torn"]), (0, &json!([torn])));
    let out = check(&args).done();
    assert!(out.contains(&format!("incomplete       {torn} ends in")), "{out}");
}

#[test]
fn a_wrong_line_is_located() {
    let scratch = Scratch::new("check-wrong");
    let (_, text) = record(&scratch);
    let wrong = scratch.file("wrong.jsonl", format!("{SETUP}not a line\n{text}"));
    let outcome = check(&["--trace", &wrong]);
    assert_eq!((outcome.code, outcome.out.as_str()), (2, ""));
    assert!(outcome.err.starts_with(&format!("error: {wrong}:2: ")), "{}", outcome.err);
    let missing = scratch.path("missing.jsonl");
    let outcome = check(&["--trace", &missing]);
    assert_eq!(
        (outcome.code, outcome.err),
        (2, format!("error: {missing}: there is no such file, expected a trace\n"))
    );
}
