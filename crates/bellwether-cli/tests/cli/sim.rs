//! `sim`: the same file gives the same run, options override it, and the exit code is the answer.

use std::fs;

use crate::harness::{LEAST, Scratch, bellwether, report, root, scenarios};

/// The largest seed there is.
const MOST: &str = "18446744073709551615";

#[test]
fn every_scenario_of_the_repository_passes() {
    let files = scenarios();
    let args: Vec<_> = ["sim"].into_iter().chain(files.iter().map(String::as_str)).collect();
    let out = bellwether(&args).done();
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines.len(), 1 + files.len(), "a line for each, and the header:\n{out}");
    assert!(lines[1..].iter().all(|line| line.starts_with("ok  ")), "{out}");
}

#[test]
fn the_same_file_and_seed_give_the_same_run() {
    let file = "scenarios/partition-and-merge.toml";
    let (code, first) = report(&[file]);
    assert_eq!(code, 0);
    assert_eq!(report(&[file]), (0, first.clone()));
    assert_eq!(report(&[file, "--seed", "1"]), (0, first.clone()), "1 is the default");
    let (_, other) = report(&[file, "--seed", "2"]);
    assert_eq!(other["seed"], 2);
    assert_ne!(other["trace_hash"], first["trace_hash"]);
}

#[test]
fn options_override_the_file() {
    let file = "scenarios/est06a-lost-halt-printed.toml";
    let (code, repaired) = report(&[file, "--variant", "repaired"]);
    assert_eq!((code, &repaired["variant"]), (1, &"repaired".into()), "the flaw it expects is not there");

    let scratch = Scratch::new("overrides");
    let (_, other) = report(&[&scratch.file("least.toml", LEAST), "--protocol", "bully-fd", "--seed", MOST]);
    assert_eq!((&other["protocol"], &other["seed"]), (&"bully-fd".into(), &u64::MAX.into()));
    let names: Vec<_> =
        other["properties"].as_array().unwrap().iter().map(|judged| &judged["name"]).collect();
    assert!(names.contains(&&"SLE1".into()), "judged by what it promises: {names:?}");
}

/// A file may be run with an algorithm that knows nothing of what it expects.
#[test]
fn what_another_algorithm_never_promises_is_said_to_be_so() {
    let file = "scenarios/est06a-lost-halt-printed.toml";
    let outcome = bellwether(&["sim", file, "--protocol", "fjr"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (1, ""));
    for words in [
        "\nALE2'            holds; only [expect] names it, fjr never promises it\n",
        "\nexpect violates  NOT met: ALE2' holds; fjr never promises ALE2'\n",
    ] {
        assert!(outcome.out.contains(words), "{}", outcome.out);
    }
    assert!(!bellwether(&["sim", file]).done().contains("never promises"));
}

#[test]
fn where_leadership_is_announced_the_table_shows_it_and_the_json_stays_as_it_is() {
    let file = "scenarios/agent-crash.toml";
    let out = bellwether(&["sim", file]).done();
    assert!(out.contains("node  status  leader  group  announces  epoch\n"), "{out}");
    assert!(out.contains("\n   1  down         -  -              -      -\n"), "{out}");
    assert!(out.contains("\n 2-5  normal       2  -              2      2\n"), "{out}");
    let (_, json) = report(&[file]);
    let keys: Vec<_> = json["final"][1].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["group", "leader", "node", "status", "up"]);
}

#[test]
fn an_epoch_that_is_not_announced_is_told() {
    let scratch = Scratch::new("epochs");
    let file = |name: &str, agent| {
        scratch.file(name, format!("{agent}{LEAST}[expect]\nepoch = {{ 1 = 4, 2 = 1 }}\n"))
    };
    let outcome = bellwether(&["sim", &file("announced.toml", "agent = true\n")]);
    assert_eq!(outcome.code, 1);
    let told = "expect epoch     NOT met: node 1 announces 1 with epoch 1, not 4\n";
    assert!(outcome.out.contains(told), "{}", outcome.out);
    let outcome = bellwether(&["sim", &file("silent.toml", "")]);
    let told = "expect epoch     NOT met: node 1 announces nobody, not epoch 4; node 2";
    assert!(outcome.out.contains(told), "{}", outcome.out);
}

#[test]
fn a_history_that_is_not_kept_is_not_drawn() {
    let scratch = Scratch::new("no-history");
    let picture = scratch.path("history.svg");
    for file in ["egm03-refused-printed.toml", "s05-souto-two-groups-merge.toml", "s02-path.toml"] {
        let outcome = bellwether(&["sim", &format!("scenarios/{file}"), "--history", &picture]);
        assert_eq!((outcome.code, outcome.out.as_str()), (2, ""), "{file}");
        assert!(outcome.err.contains("draws the lineage of groups"), "{}", outcome.err);
        assert!(!std::path::Path::new(&picture).exists(), "{file}");
    }
    bellwether(&["sim", "scenarios/egm03-refused-repaired.toml", "--history", &picture]).done();
}

#[test]
fn what_became_of_operations_is_told() {
    let file = "scenarios/c11-a-majority-performs.toml";
    let out = bellwether(&["sim", file]).done();
    let told = "operations       7: committed in group 5.1.2, known to 3, 4, 5; declined by 2,\n";
    assert!(out.contains(told) && out.contains("4 (no-majority) and 5 (not-coordinator)\n"), "{out}");
    assert!(out.contains("expect outcome   met\n"), "{out}");
    let (_, json) = report(&[file]);
    let operation = &json["operations"][0];
    assert_eq!((&operation["op"], &operation["outcome"]), (&7.into(), &"committed".into()));
    assert_eq!((&operation["group"], &operation["known_to"]), (&"5.1.2".into(), &vec![3, 4, 5].into()));
    let keys: Vec<_> = operation["answers"][0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["answer", "node", "reason", "t_us"]);
    let (_, json) = report(&["scenarios/s02-path.toml"]);
    assert_eq!(json["operations"], serde_json::json!([]), "nothing was asked for");
}

#[test]
fn another_outcome_or_group_than_expected_is_told() {
    let scratch = Scratch::new("outcomes");
    let text = fs::read_to_string(root().join("scenarios/egm06-in-up-but-gone-printed.toml")).unwrap();
    let text = text.replace("7 = \"aborted\"", "7 = \"open\"") + "group = { 1 = \"9.1.9\", 2 = \"1.1.1\" }\n";
    let outcome = bellwether(&["sim", &scratch.file("other.toml", text)]);
    assert_eq!(outcome.code, 1);
    let flat = outcome.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("expect outcome NOT met: operation 7 is aborted, not open"), "{flat}");
    let groups =
        "expect group NOT met: node 1 is in 3.1.3, not in 9.1.9; node 2 is in no group, not in 1.1.1";
    assert!(flat.contains(groups), "{flat}");
}

#[test]
fn an_expectation_that_is_not_met_is_a_no() {
    let scratch = Scratch::new("not-met");
    let file = scratch.file("wrong.toml", format!("{LEAST}[expect]\nleader = {{ 1 = 2 }}\n"));
    let outcome = bellwether(&["sim", &file]);
    assert_eq!((outcome.code, outcome.err.as_str()), (1, ""));
    assert!(outcome.out.contains("FAILED  wrong"), "{}", outcome.out);
    assert!(outcome.out.contains("expect leader    NOT met: node 1 names 1, not 2"), "{}", outcome.out);

    let outcome = bellwether(&["sim", &file, "scenarios/s02-path.toml", "--seed", "3"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (1, ""));
    assert!(outcome.out.contains("\nFAILED: wrong (seed 3)\n"), "{}", outcome.out);
    assert!(outcome.out.contains(&format!("  replay: bellwether sim {file} --seed 3\n")), "{}", outcome.out);
}

#[test]
fn a_property_that_fails_is_a_no_unless_the_file_says_so() {
    let scratch = Scratch::new("broken");
    let flawed = fs::read_to_string(root().join("scenarios/est06a-lost-halt-printed.toml")).unwrap();
    let (before, _) = flawed.split_once("[expect]").unwrap();
    let outcome = bellwether(&["sim", &scratch.file("unexpected.toml", before)]);
    assert_eq!((outcome.code, outcome.err.as_str()), (1, ""));
    assert!(outcome.out.contains("BROKEN at "), "{}", outcome.out);
}

#[test]
fn one_scenario_is_told_in_detail() {
    let out = bellwether(&["sim", "scenarios/s02-path.toml"]).done();
    for start in [
        "ok      S2: the path 1-2-3  async-bully      3  1, 3 ",
        " 1-2  normal       1  1.1.",
        "   3  normal       3  3.1.",
        "ALE2             holds",
        "expect leader    met",
    ] {
        assert!(out.lines().any(|line| line.starts_with(start)), "no line begins with {start:?}:\n{out}");
    }
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
}

/// The longest name of a property makes its column.
#[test]
fn verdicts_stand_below_each_other() {
    let sim = bellwether(&["sim", "scenarios/efb07-second-failure.toml"]).done();
    let check = bellwether(&["check", "fb-omega", "--runs", "2"]).done();
    for (out, verdict) in [(sim, "holds"), (check, "holds in all ")] {
        let of_properties =
            out.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_uppercase()));
        let columns: Vec<_> = of_properties.filter_map(|line| line.find(verdict)).collect();
        assert!(out.contains("\nONE-LEADER-PER-VIEW holds") && columns.len() > 3, "{out}");
        assert!(columns.iter().all(|column| *column == columns[0]), "{out}");
        assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    }
}

/// The example of the design does what it expects.
#[test]
fn the_example_of_the_design_runs() {
    let (code, report) = report(&["crates/bellwether-sim/src/scenario/tests/design.toml"]);
    assert_eq!(code, 0, "{report}");
}
