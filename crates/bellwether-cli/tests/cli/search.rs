//! `check PROTOCOL`: what is searched for, found, kept and said.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Outcome, Scratch, bellwether};
use crate::interrupt::{has_worked_for, interrupted_when};

fn check(args: &[&str]) -> Outcome {
    bellwether(&[&["check"], args].concat())
}

/// The objects that `--json` prints, without the time that it took, and the exit code.
#[track_caller]
fn check_json(args: &[&str]) -> (i32, Vec<Value>) {
    let outcome = check(&[args, &["--json"]].concat());
    assert_eq!(outcome.err, "");
    let mut values: Vec<Value> =
        outcome.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for value in &mut values {
        assert!(value["wall_ms"].is_u64());
        value["wall_ms"] = Value::Null;
    }
    (outcome.code, values)
}

/// Nothing was broken, because nothing could be: that is no answer.
#[test]
fn a_search_in_which_nothing_is_promised_says_so() {
    let outcome = check(&["mmrt", "--faults", "loss,partition", "--runs", "20"]);
    assert_eq!(outcome.code, 3, "{}", outcome.out);
    assert!(outcome.out.contains("\nEMPTY "), "{}", outcome.out);
}

#[test]
fn the_flaw_of_the_printed_algorithm_is_found_and_replays() {
    let scratch = Scratch::new("search-printed");
    let dir = scratch.path("found/here");
    let (code, values) = check_json(&["async-bully", "--variant", "printed", "--runs", "100", "--out", &dir]);
    assert_eq!((code, values.len()), (1, 1));
    let found = &values[0];
    for (key, value) in [
        ("protocol", json!("async-bully")),
        ("variant", json!("printed")),
        ("mode", json!("swarm")),
        ("nodes", json!([3, 4, 5])),
        ("runs", json!(100)),
        ("states", json!(null)),
        ("go_on", json!(null)),
    ] {
        assert_eq!(found[key], value, "{key}");
    }
    let violation = &found["violations"][0];
    assert_eq!(violation["property"], "ALE2'");
    let (seed, steps) = (violation["seed"].as_u64().unwrap(), violation["steps"].as_u64().unwrap());
    assert!((1..=100).contains(&seed) && steps > 0 && steps < found["events"].as_u64().unwrap());
    let shrunk = &violation["shrunk"];
    assert_eq!(
        (&shrunk["nodes"], &shrunk["events"], &shrunk["finished"]),
        (&json!(2), &json!(1), &json!(true))
    );
    assert!(shrunk["from_events"].as_u64() > Some(1), "{shrunk}");
    assert!(found["reached"]["Halt received"].as_u64().unwrap() > 0, "{found}");

    // What is kept is the run that was found: `sim` agrees that it breaks what it says.
    let files: Vec<_> = violation["files"].as_array().unwrap().iter().map(|f| f.as_str().unwrap()).collect();
    let stem = format!("{dir}/async-bully-printed-ale2-prime-{seed}");
    assert_eq!(files, ["toml", "jsonl", "svg"].map(|kind| format!("{stem}.{kind}")));
    assert_eq!(fs::read_to_string(files[0]).unwrap(), violation["scenario"].as_str().unwrap());
    let shown = bellwether(&["sim", files[0]]).done();
    assert!(shown.contains("ALE2'            broken, as expected"), "{shown}");
    let trace = fs::read_to_string(files[1]).unwrap();
    let before = |line: &&str| {
        let event: Value = serde_json::from_str(line).expect("JSON");
        event["t_us"].as_u64() <= violation["at_us"].as_u64()
    };
    assert_eq!(trace.lines().filter(before).count() as u64, steps);

    // The same picture can be had by itself.
    let picture = scratch.path("flaw.svg");
    let (code, _) =
        check_json(&["async-bully", "--variant", "printed", "--runs", "100", "--diagram", &picture]);
    assert_eq!((code, fs::read_to_string(&picture).unwrap()), (1, fs::read_to_string(files[2]).unwrap()));

    // The command that is told finds it again.
    let replay = violation["replay"].as_str().unwrap();
    let words: Vec<_> = replay.split(' ').collect();
    assert_eq!(words[..2], ["bellwether", "check"]);
    let (code, again) = check_json(&words[2..]);
    assert_eq!((code, &again[0]["runs"]), (1, &json!(1)));
    assert_eq!(again[0]["violations"][0]["scenario"], violation["scenario"]);
}

#[test]
fn a_violation_is_shown_with_the_way_back_to_it() {
    let outcome = check(&["async-bully", "--variant", "printed", "--runs", "100"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (1, ""));
    for words in [
        "FAILED  async-bully printed   100 ",
        "\nALE2'            BROKEN in ",
        "\nasync-bully printed breaks ALE2' at ",
        "\n  shrunk         to 2 nodes, 1 event, from ",
        "\n  again          bellwether check async-bully --variant printed --seed ",
    ] {
        assert!(outcome.out.contains(words), "{words:?} is not in\n{}", outcome.out);
    }
}

#[test]
fn a_search_that_finds_nothing_says_how_far_it_looked() {
    let out = check(&["fjr", "--runs", "50", "--nodes", "4"]).done();
    for words in [
        "\nok      fjr ",
        "\nnodes            4\n",
        "\nfaults           crash, recover, loss, duplicate, delay, pause, partition\n",
        "\nseeds            1 to 50\n",
        "\nOMEGA            holds in all ",
        "\nreached, in runs leader crashed ",
    ] {
        assert!(out.contains(words), "{words:?} is not in\n{out}");
    }
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    let out = check(&["fjr", "--runs", "1"]).done();
    assert!(out.contains("\nnever reached    "), "one plan does not reach everything:\n{out}");
}

#[test]
fn every_algorithm_is_searched_in_one_table() {
    let out = check(&["--all", "--runs", "20", "--seed", "5"]).done();
    let protocols: Vec<_> = bellwether(&["protocols", "--json"])
        .done()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["name"].as_str().unwrap().to_owned())
        .collect();
    let rows: Vec<_> = out.lines().skip(1).take(protocols.len()).collect();
    for (row, protocol) in rows.iter().zip(&protocols) {
        assert!(row.starts_with(&format!("ok      {protocol} ")), "{out}");
    }
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    let (code, values) = check_json(&["--all", "--runs", "2", "--agent"]);
    assert_eq!(code, 0);
    let names: Vec<_> = values.iter().map(|value| value["protocol"].as_str().unwrap()).collect();
    assert!(names.contains(&"fjr") && !names.contains(&"mmrt"), "{names:?}");
    assert!(values.iter().all(|value| value["agent"] == true && value["judged"]["EPOCH"].is_u64()));
}

#[test]
fn the_number_of_threads_makes_no_difference() {
    let args = ["async-bully", "--variant", "printed", "--runs", "100", "--faults", "loss,crash,recover"];
    let with = |threads| check_json(&[&args[..], &["--threads", threads]].concat());
    let one = with("1");
    assert_eq!(one.0, 1, "there is something to differ in");
    assert_eq!(one.1[0]["faults"], json!(["crash", "recover", "loss"]));
    assert_eq!(one, with("2"));
    assert_eq!(one, with("3"));
}

/// What is typed; the exit code; what is said.
const BAD: &[(&[&str], i32, &str)] = &[
    (&[], 2, "<PROTOCOL|--all|--trace <FILE>...>"),
    (&["raft"], 2, "invalid value 'raft' for '[PROTOCOL]'"),
    (&["fjr", "--all"], 2, "cannot be used with"),
    (&["fjr", "--trace", "run.jsonl"], 2, "cannot be used with"),
    (&["--trace", "run.jsonl", "--runs", "5"], 2, "cannot be used with"),
    (&["fjr", "--truth", "run.jsonl"], 2, "cannot be used with"),
    (&["--all", "--protocol", "fjr"], 2, "cannot be used with"),
    (&["fjr", "--nodes", "0"], 2, "found 0 nodes, expected from 2 to 64"),
    (&["fjr", "--nodes", "3,65"], 2, "found 65 nodes, expected from 2 to 64"),
    (&["fjr", "--nodes", "5..=3"], 2, "the range is upside down, expected 3..=5"),
    (&["fjr", "--nodes", "few"], 2, "a range such as 3..=5"),
    (&["fjr", "--runs", "0"], 2, "0 is not in 1.."),
    (&["fjr", "--seed", "-1"], 2, "expected a whole number from 0 to"),
    (&["fjr", "--seed", "18446744073709551615", "--runs", "2"], 2, "there are not that many seeds"),
    (&["fjr", "--faults", "fire"], 2, "invalid value 'fire' for '--faults"),
    (&["fjr", "--faults", ""], 2, "a value is required for '--faults"),
    (&["fjr", "--faults", "recover,loss"], 2, "recover without crash"),
    (&["--all", "--faults", "duplicate"], 2, "duplicate is not a fault that bully-fd can meet"),
    (&["fjr", "--variant", "fixed"], 2, "possible values: repaired, printed"),
    (&["fjr", "--threads", "0"], 2, "0 is not in 1..=1024"),
    (&["mmrt", "--agent"], 2, "agents do not run mmrt: it needs the message pattern"),
    (&["fjr", "--agent", "--variant", "printed"], 2, "agents do not run the printed variant"),
    (&["fjr", "--out", "/proc/none/such"], 3, "cannot write to /proc/none/such: "),
    (&["fjr", "--diagram", "/proc/none/such.svg"], 3, "cannot write /proc/none/such.svg: "),
    (&["fjr", "--crashes", "1"], 2, "--crashes is a bound of --exhaustive, which is missing"),
    (&["fjr", "--judge", "SLE1"], 2, "--judge is a bound of --exhaustive"),
    (&["fjr", "--diagram", "/proc"], 3, "cannot write /proc: it is a directory"),
    (&["fjr", "--out", "/dev/null"], 3, "cannot write to /dev/null: "),
];

#[test]
fn what_cannot_be_searched_is_said_before_any_work() {
    for (args, code, words) in BAD {
        // So many runs that it would be noticed if they were begun.
        let long: &[&str] = if args.contains(&"--runs") { &[] } else { &["--runs", "20000"] };
        let args = if args.contains(&"--trace") { args.to_vec() } else { [args, long].concat() };
        let outcome = check(&args);
        assert_eq!((outcome.code, outcome.out.as_str()), (*code, ""), "{args:?}: {}", outcome.err);
        assert!(
            outcome.err.starts_with("error: ") && outcome.err.contains(words),
            "{args:?}: {}",
            outcome.err
        );
    }
}

#[test]
fn who_interrupts_a_search_learns_what_was_found_and_how_to_go_on() {
    let scratch = Scratch::new("search-interrupted");
    let dir = scratch.path("found");
    let args = ["async-bully", "--variant", "printed", "--runs", "1000000000", "--seed", "7", "--out", &dir];
    let outcome = interrupted(&args);
    assert_eq!((outcome.code, outcome.err.as_str()), (1, ""), "{}", outcome.out);
    assert!(outcome.out.contains("\nFAILED  async-bully printed"), "{}", outcome.out);
    let scenario = fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|extension| extension == "toml"));
    bellwether(&["sim", scenario.expect("it was kept").to_str().unwrap()]).done();
    let go_on = outcome.out.lines().last().unwrap().trim();
    let words: Vec<_> = go_on.split(' ').collect();
    assert_eq!(words[..6], ["bellwether", "check", "async-bully", "--variant", "printed", "--seed"]);
    let (next, rest): (u64, u64) = (words[6].parse().unwrap(), words[8].parse().unwrap());
    assert_eq!((words[7], next + rest), ("--runs", 7 + 1_000_000_000));
    assert!(next > 7 + 80, "plans were played before it was interrupted");
}

/// One plan of many nodes, which is soon played and takes long to shrink.
#[test]
fn who_interrupts_shrinking_gets_the_shortest_so_far() {
    let scratch = Scratch::new("shrinking-interrupted");
    let dir = scratch.path("found");
    let plan = ["async-bully", "--variant", "printed", "--nodes", "48", "--seed", "21", "--runs", "1"];
    let args = [&plan[..], &["--threads", "1", "--out", &dir]].concat();
    let outcome = interrupted(&args);
    assert_eq!((outcome.code, outcome.err.as_str()), (1, ""), "{}", outcome.out);
    let said = outcome.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("; that was cut short: the command below shrinks it to the end "), "{said}");
    assert!(said.contains(&format!("again bellwether check {} written", plan.join(" "))), "{said}");
    assert!(!said.contains("Interrupted"), "every plan has been played: {said}");
    bellwether(&["sim", &format!("{dir}/async-bully-printed-ale2-prime-21.toml")]).done();
}

#[test]
fn an_interrupted_search_that_found_nothing_is_no_answer() {
    let outcome = interrupted(&["--all", "--runs", "1000000000", "--faults", "crash", "--json"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (130, ""), "{}", outcome.out);
    let value: Value = serde_json::from_str(&outcome.out).expect("one object: the others were not begun");
    assert_eq!(value["protocol"], "bully-fd");
    let go_on = value["go_on"].as_str().unwrap();
    assert!(go_on.starts_with("bellwether check bully-fd --faults crash --seed "), "{go_on}");
}

/// Interrupts a search once it has had time to find something.
fn interrupted(args: &[&str]) -> Outcome {
    interrupted_when(&[&["check"], args].concat(), has_worked_for(Duration::from_millis(1_500)))
}
