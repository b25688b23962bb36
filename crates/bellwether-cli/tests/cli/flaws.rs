//! `flaws`: what is in `docs` is what the machine finds, and what it says is so.

use std::fs;

use serde_json::Value;

use crate::harness::{Outcome, Scratch, bellwether, report, root};
use crate::interrupt::interrupted_when;

/// One that is found at once.
const SMALL: &str = r#"
erratum  = "E-X1"
title    = "one Halt is lost"
protocol = "async-bully"
property = "ALE2'"
story    = "A Halt is lost."

[search]
seed   = 1
runs   = 200
nodes  = [3]
faults = ["loss"]
kinds  = ["Halt"]

[fixed]
loss = 0.0

[shows]
ends = "election"
"#;

/// Replays every plan that is in the table, shrinks it again, and compares.
#[test]
fn what_docs_say_is_what_is_found() {
    let said = bellwether(&["flaws", "--verify", "docs"]).done();
    assert!(said.ends_with(" flaws are as they were found\n"), "{said}");
}

#[test]
fn every_scenario_of_a_flaw_breaks_what_it_says_and_the_repaired_algorithm_does_not() {
    let mut contrasts = 0;
    for entry in fs::read_dir(root().join("docs/flaws")).unwrap() {
        let name = entry.unwrap().file_name().to_str().unwrap().to_owned();
        let Some(erratum) = name.strip_suffix(".toml") else { continue };
        let file = format!("docs/flaws/{name}");
        let (code, printed) = report(&[&file]);
        assert_eq!(code, 0, "{file}: {printed}");
        assert!(printed["expectations"].as_array().is_some_and(|all| !all.is_empty()), "{file}");
        let flaw = fs::read_to_string(root().join("flaws").join(&name)).unwrap();
        if flaw.contains("contrast = false") {
            continue;
        }
        contrasts += 1;
        let (_, repaired) = report(&["--variant", "repaired", &file]);
        let unmet = |report: &Value| {
            report["expectations"].as_array().unwrap().iter().any(|expected| expected["met"] == false)
        };
        assert!(unmet(&repaired), "{erratum}: the repaired algorithm breaks it too");
    }
    assert!(contrasts >= 10, "{contrasts}");
}

#[test]
fn a_flaw_is_found_shrunk_written_and_verified() {
    let scratch = Scratch::new("flaws-found");
    let (dir, out) = (folder(&scratch, SMALL), scratch.path("out"));
    let said = bellwether(&["flaws", "--dir", &dir, "--out", &out]).done();
    assert!(said.contains("E-X1") && said.contains("clean in 1"), "{said}");
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    let scenario = fs::read_to_string(format!("{out}/flaws/E-X1.toml")).unwrap();
    assert!(scenario.contains("drop_next = { from = 1, to = 2, kind = \"Halt\" }"), "{scenario}");
    assert!(fs::read_to_string(format!("{out}/flaws.md")).unwrap().contains("one Halt is lost"));
    bellwether(&["flaws", "--dir", &dir, "--verify", &out]).done();
    fs::write(format!("{out}/flaws/E-X1.toml"), scenario.replace("Halt", "Ack")).unwrap();
    let stale = bellwether(&["flaws", "--dir", &dir, "--verify", &out]);
    assert_eq!(stale.code, 1);
    assert!(stale.err.contains("E-X1.toml is not what would be written today"), "{}", stale.err);
}

/// What was found is kept, and the command that is told goes on with the rest.
#[test]
fn who_interrupts_a_hunt_learns_how_to_go_on() {
    let scratch = Scratch::new("flaws-interrupted");
    let (dir, out) = (folder(&scratch, SMALL), scratch.path("out"));
    let endless = SMALL.replace("E-X1", "E-X2").replace("ALE2'", "ALE1").replace("= 200", "= 1000000");
    scratch.file("flaws/E-X2.toml", endless);
    let written = format!("{out}/flaws/E-X1.svg");
    let outcome =
        interrupted_when(&["flaws", "--dir", &dir, "--out", &out], |_| fs::exists(&written).unwrap());
    assert_eq!((outcome.code, outcome.err.as_str()), (130, ""), "{}", outcome.out);
    assert!(outcome.out.contains("\nE-X1     async-bully  ALE2' "), "{}", outcome.out);
    let go_on = format!("Interrupted. To go on:\n  bellwether flaws E-X2 --dir {dir} --out {out}\n");
    assert!(outcome.out.ends_with(&go_on), "{}", outcome.out);
    bellwether(&["sim", &format!("{out}/flaws/E-X1.toml")]).done();
    assert!(!fs::exists(format!("{out}/flaws.md")).unwrap(), "half a table is none");
}

/// Whatever the number of threads, it is the same plan and the same scenario.
#[test]
fn what_is_found_does_not_depend_on_threads() {
    let scratch = Scratch::new("flaws-threads");
    let dir = folder(&scratch, SMALL);
    let found = |threads: &str| {
        let said = bellwether(&["flaws", "--dir", &dir, "--threads", threads, "--json"]).done();
        let mut found: Value = serde_json::from_str(&said).unwrap();
        let timed = found.as_object_mut().unwrap();
        assert!(timed.remove("find_ms").is_some() && timed.remove("shrink_ms").is_some());
        found
    };
    assert_eq!(found("1"), found("3"));
    assert_eq!(found("2")["events"], 1);
}

#[test]
fn a_flaw_that_is_not_there_is_not_found() {
    let scratch = Scratch::new("flaws-missed");
    let dir = folder(&scratch, &SMALL.replace("ALE2'", "ALE1"));
    let missed = bellwether(&["flaws", "--dir", &dir]);
    assert_eq!(missed.code, 1);
    assert!(missed.out.contains("NOT FOUND"), "{}", missed.out);
}

#[test]
fn a_mark_that_is_not_true_any_more_is_told() {
    let scratch = Scratch::new("flaws-stale");
    let marked = SMALL.replace("story ", "unrepaired = \"it is hard\"\nstory ");
    let outcome = bellwether(&["flaws", "--dir", &folder(&scratch, &marked)]);
    assert_eq!((outcome.code, outcome.err.as_str()), (1, ""), "{}", outcome.out);
    let words = "E-X1: `unrepaired` says that the repaired algorithm breaks it too, but it breaks";
    assert!(outcome.out.contains(words), "{}", outcome.out);
}

#[test]
fn a_bad_file_is_told_by_file_line_and_key() {
    let told = |from: &str, to: &str| {
        assert!(SMALL.contains(from));
        let scratch = Scratch::new("flaws-bad");
        let outcome = bellwether(&["flaws", "--dir", &folder(&scratch, &SMALL.replace(from, to))]);
        assert_eq!(outcome.code, 2, "{to}");
        outcome.err
    };
    let err = told("property = \"ALE2'\"", "property = \"ALE9\"");
    assert!(err.contains("E-X1.toml:5:12: unknown property `ALE9`"), "{err}");
    let err = told("kinds  =", "sorts  =");
    assert!(err.contains("E-X1.toml:13:1: unknown key `sorts`"), "{err}");
    let err = told("story    = \"A Halt is lost.\"", "");
    assert!(err.contains("E-X1.toml:2:12: no `story`"), "{err}");
    let err = told("title    =", "reason   = \"none\"\ntitle    =");
    assert!(err.contains("`protocol` beside `reason`"), "{err}");
    let err = told("faults = [\"loss\"]", "faults = [\"recover\"]");
    assert!(err.contains("recover without crash"), "{err}");
    let err = told("erratum  = \"E-X1\"", "erratum  = \"E-X2\"");
    assert!(err.contains("E-X1.toml: the erratum is E-X2, expected the name of the file"), "{err}");
    let err = told("ends = \"election\"", "blame = \"fate\"");
    assert!(err.contains("unknown cause `fate`"), "{err}");
    let err = told("property = \"ALE2'\"", "cost = { Halt = \"<= 3\" }");
    assert!(err.contains("a `cost` without `until`"), "{err}");
}

#[test]
fn a_flaw_may_be_named_in_small_letters() {
    let out = bellwether(&["flaws", "e-st10"]).done();
    assert!(out.contains("E-ST10") && !out.contains("E-ST5"), "{out}");
}

/// Whoever sees that a repair breaks it, too, is told why, and what the figures are.
#[test]
fn what_is_not_repaired_says_why() {
    let out = bellwether(&["flaws", "E-FB4"]).done();
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    let said = out.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "E-FB4 a node that loses a link leads at once Not repaired, broken in ",
        " of 2000 plans: no algorithm can have at most one leader at every instant: ",
        " plan the seed of the first plan of faults that shows it; ",
    ] {
        assert!(said.contains(words), "{words}: {out}");
    }
    assert!(!bellwether(&["flaws", "e-st10"]).done().contains("Not repaired"));
}

#[test]
fn who_asks_for_what_no_search_shows_is_told_why() {
    let out = bellwether(&["flaws", "E-FB9"]).done();
    let said = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.starts_with("E-FB9 who leads after a repair No search shows it: The paper leaves "),
        "{out}"
    );
    let json: Value = serde_json::from_str(&bellwether(&["flaws", "E-FB9", "--json"]).done()).unwrap();
    assert_eq!((&json["erratum"], &json["found"]), (&"E-FB9".into(), &Value::Null));
    assert!(json["why"].as_str().unwrap().starts_with("The paper leaves "), "{json}");
    assert!(said.ends_with(" bellwether sim scenarios/fb-five-processes.toml"), "{out}");
}

#[test]
fn what_cannot_be_is_told_before_any_work() {
    let refused = |args: &[&str], code: i32, what: &str| {
        let Outcome { code: found, err, .. } = bellwether(&[&["flaws"], args].concat());
        assert_eq!((found, err.contains(what)), (code, true), "{err}");
    };
    refused(&["E-ST99"], 2, "no flaw E-ST99, expected one of E-FB1, E-FB2, ");
    refused(&["E-ST99", "--verify", "docs"], 2, "no flaw E-ST99, expected one of ");
    refused(&["--verify", "nope"], 2, "--verify nope: no flaws were written there");
    refused(&["--verify", "nope"], 2, "to verify one of E-FB1, E-FB2, ");
    refused(&["--dir", "nowhere"], 2, "nowhere: there is no such folder");
    refused(&["--dir", "crates"], 2, "there is no flaw here");
    refused(&["E-ST5", "--out", "README.md"], 3, "cannot write README.md");
}

fn folder(scratch: &Scratch, flaw: &str) -> String {
    fs::create_dir_all(scratch.path("flaws")).unwrap();
    scratch.file("flaws/E-X1.toml", flaw);
    scratch.path("flaws")
}
