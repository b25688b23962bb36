//! `check --exhaustive`: what it covers, what it finds, and what it refuses.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{Outcome, Scratch, bellwether};

fn exhaustive(args: &[&str]) -> Outcome {
    bellwether(&[&["check", "--exhaustive"], args].concat())
}

#[test]
fn it_says_what_it_covered() {
    let text = exhaustive(&["lfa", "--nodes", "2"]).done();
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected =
        "states with 2 nodes, 1 crash, 1 recovery, 1 loss, 2 expiries, 2 in flight per channel: no violation";
    assert!(said.starts_with("lfa repaired: all ") && said.contains(expected), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("judged           OMEGA, SINGLE-SENDER"), "{text}");
}

#[test]
fn a_search_that_was_cut_short_says_so_and_fails() {
    let outcome = exhaustive(&["lfa", "--states-max", "100"]);
    assert_eq!(outcome.code, 3);
    assert!(outcome.out.starts_with("lfa repaired: only the first 100 states, "), "{}", outcome.out);
}

#[test]
fn what_is_named_twice_is_judged_once() {
    let text = exhaustive(&["lfa", "--nodes", "2", "--judge", "OMEGA,SINGLE-SENDER,OMEGA"]).done();
    assert!(text.contains("judged           OMEGA, SINGLE-SENDER\n"), "{text}");
}

#[test]
fn a_known_flaw_is_found_told_and_kept() {
    let scratch = Scratch::new("exhaustive");
    let folder = scratch.path("found");
    let args = ["bully-fd", "--variant", "printed", "--nodes", "2", "--json", "--out", &folder];
    let outcome = exhaustive(&args);
    assert_eq!((outcome.code, outcome.err.as_str()), (1, ""));
    let value: Value = serde_json::from_str(&outcome.out).expect("JSON");
    assert_eq!((&value["mode"], &value["complete"]), (&json!("exhaustive"), &json!(false)));
    let violation = &value["violations"][0];
    assert_eq!((&violation["property"], &violation["steps"]), (&json!("SLE2"), &json!(3)));
    let path = ["2 crashes", "1 -> 2 Halt arrives: it is down", "2 recovers: 2 holds an election"];
    assert_eq!(violation["path"], json!(path));
    let steps = fs::read_to_string(violation["files"][0].as_str().unwrap()).unwrap();
    assert!(steps.contains("1  2 crashes"), "{steps}");
    let trace = fs::read_to_string(violation["files"][1].as_str().unwrap()).unwrap();
    let events: Vec<Value> = trace.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let crash = events.iter().find(|event| event["ev"] == "crash").expect("2 crashes");
    assert_eq!(crash["node"], 2);
    let picture = fs::read_to_string(violation["files"][2].as_str().unwrap()).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("SLE2"), "{picture}");
}

#[test]
fn the_first_violation_is_drawn_where_it_was_asked_for() {
    let scratch = Scratch::new("exhaustive-diagram");
    let picture = scratch.path("flaw.svg");
    let args = ["bully-fd", "--variant", "printed", "--nodes", "2", "--diagram", &picture];
    let outcome = exhaustive(&args);
    assert_eq!(outcome.code, 1, "{}", outcome.err);
    assert!(outcome.out.contains(&picture), "{}", outcome.out);
    assert!(fs::read_to_string(&picture).unwrap().contains("SLE2"));
}

/// The first view takes more than may be on its way later.
#[test]
fn views_are_searched_within_the_narrowest_bounds() {
    let outcome = exhaustive(&["fb-omega", "--crashes", "0", "--in-flight", "1"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(outcome.out.contains("1 lie, 1 in flight"), "{}", outcome.out);
}

#[test]
fn steps_fit_every_terminal_and_tell_a_group_from_its_leader() {
    let outcome = exhaustive(&["invitation", "--variant", "printed", "--nodes", "3", "--judge", "A4"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (1, ""));
    // The command that finds it again is to be copied, and so in one line.
    let mut lines = outcome.out.lines().filter(|line| !line.starts_with("  again "));
    assert!(lines.all(|line| line.chars().count() <= 80), "{}", outcome.out);
    let said = outcome.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("A4 is broken after 8 steps: with nothing happening"), "{said}");
    assert!(said.contains(": 2 reorganizes its group, 2 leads, "), "{said}");
}

#[test]
fn agents_are_searched_with_their_commands() {
    let text = exhaustive(&["fb-omega", "--agent", "--nodes", "2"]).done();
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.starts_with("fb-omega agent: all "), "{said}");
    assert!(
        said.contains("states with 2 nodes, 1 crash, 1 command, any number of expiries, 0 early"),
        "{said}"
    );
    assert!(said.contains("EPOCH-ONCE, WORK-ENDS-FIRST, ANSWERED, LED"), "{said}");
    let text = exhaustive(&["fjr", "--agent", "--nodes", "2", "--early", "0", "--json"]).done();
    let value: Value = serde_json::from_str(&text).expect("an object");
    assert_eq!((&value["agent"], &value["preferred"]), (&json!(true), &json!(2)));
    assert_eq!((&value["complete"], &value["bounds"]["expiries"]), (&json!(true), &Value::Null));
    assert_eq!(value["violations"], json!([]));
}

#[test]
fn what_makes_no_sense_is_refused_before_any_work() {
    for (args, said) in [
        (&["lfa", "--lies", "1"][..], "lfa has neither a failure detector that may lie nor links"),
        (
            &["fb-omega", "--losses", "1"],
            "on a link of fb-omega nothing is lost or doubled while it is up; --lies",
        ),
        (&["lfa", "--crashes", "0", "--recoveries", "1"], "nobody is ever down"),
        (&["lfa", "--nodes", "3..=5"], "expected 1 to 15"),
        (&["lfa", "--nodes", "0"], "expected 1 to 15"),
        (&["gamma", "--crashes", "1"], "promises nothing within these bounds"),
        (&["lockstep", "--judge", "OMEGA"], "lockstep needs clocks that agree"),
        (&["lfa", "--judge", "EPOCH"], "EPOCH, but that is judged with --agent"),
        (&["fjr", "--agent", "--judge", "OMEGA"], "OMEGA, but that is judged without --agent"),
        (
            &["async-bully", "--agent"],
            "agents of async-bully cannot be searched state by state, only those of",
        ),
        (&["bully", "--agent"], "agents of bully cannot be searched"),
        (&["fjr", "--commands", "1"], "--commands is a bound of --agent, which is missing"),
        (&["fjr", "--agent", "--losses", "1"], "agents are connected"),
        (&["fjr", "--agent", "--variant", "printed"], "agents run the repaired variant"),
        (&["fjr", "--agent", "--preferred", "4"], "expected a node from 1 to 3, or 0"),
        (&["fb-omega", "--agent", "--preferred", "1"], "fb-omega cannot hand over to a node of its choice"),
        (&["lfa", "--seed", "3"], "--seed"),
        (&["lfa", "--in-flight", "0"], "--in-flight"),
    ] {
        let outcome = exhaustive(args);
        assert_eq!((outcome.code, outcome.out.as_str()), (2, ""), "{args:?}");
        assert!(outcome.err.contains(said), "{args:?}: {}", outcome.err);
    }
    let outcome = bellwether(&["check", "lfa", "--losses", "1"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.err.contains("--exhaustive"), "{}", outcome.err);
}
