//! `compare`: algorithms side by side, and the table of the eventual leader protocols.

use std::env;
use std::fs;

use serde_json::Value;

use crate::harness::{Outcome, Scratch, bellwether, root};

/// The table in the documentation is what the code does.
#[test]
fn the_documented_table_is_what_is_measured() {
    let written = fs::read_to_string(root().join("docs/reference/omega.md")).expect("the file is there");
    let measured = bellwether(&["compare", "--models"]).done();
    assert!(
        measured == written,
        "run: cargo run --release -- compare --models --out docs/reference/omega.md"
    );
}

#[test]
fn what_is_promised_is_kept_and_what_the_paper_denies_does_not_happen() {
    let out = bellwether(&["compare", "--runs", "2", "--json"]).done();
    let rows: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(rows.len(), 5 * 10);
    for row in rows.iter().filter(|row| row["promised"] == true) {
        assert_eq!(row["converged"], row["runs"], "{row}");
    }
    let row = |protocol: &str, model: &str| {
        rows.iter().find(|row| row["protocol"] == protocol && row["model"] == model).expect("it is measured")
    };
    assert_eq!(row("adft", "t-moving-source")["converged"], 0, "section 4");
    for protocol in ["lockstep", "lfa", "adft", "mmrt", "fjr"] {
        assert_eq!(row(protocol, "adversary")["converged"], 0, "theorem 1");
    }
    for (protocol, model) in [("lfa", "gst"), ("fjr", "kcs")] {
        assert_eq!(row(protocol, model)["senders"], 1, "communication-efficient");
    }
    assert_eq!(row("lfa", "gst")["messages_per_s"], 30.0, "n - l = 3 in each of ten periods: 2 leads");
    assert_eq!(row("fjr", "kcs")["messages_per_s"], 40.0, "one broadcast to four in each of ten periods");
}

#[test]
fn what_cannot_be_written_or_asked_is_said() {
    let outcome = bellwether(&["compare", "--runs", "1", "--out", "no/such/folder/omega.md"]);
    assert_eq!(outcome.code, 3);
    assert!(outcome.err.starts_with("error: no/such/folder/omega.md: "), "{}", outcome.err);
    for runs in ["0", "-1", "many", "10001"] {
        assert_eq!(bellwether(&["compare", "--runs", runs]).code, 2, "{runs}");
    }
}

/// The figures in the documentation are what the command says, and the picture what it draws. `REWRITE=1` accepts what is
/// new.
#[test]
fn the_documented_comparison_is_what_is_measured() {
    let file = root().join("docs/guides/compare.md");
    let text = fs::read_to_string(&file).expect("the file is there");
    let (before, rest) = text.split_once("```text\n$ bellwether ").expect("it shows a command");
    let (command, rest) = rest.split_once('\n').expect("a line");
    let (written, after) = rest.split_once("```\n").expect("a block ends");
    let plot = Scratch::new("documented_comparison").path("compare.svg");
    let args: Vec<&str> = command
        .split(' ')
        .map(|arg| if arg == "docs/guides/compare.svg" { plot.as_str() } else { arg })
        .collect();
    let measured = bellwether(&args).done();
    let drawn = fs::read_to_string(&plot).expect("it is drawn");
    let picture = root().join("docs/guides/compare.svg");
    if env::var_os("REWRITE").is_some() {
        fs::write(&file, format!("{before}```text\n$ bellwether {command}\n{measured}```\n{after}")).unwrap();
        fs::write(&picture, &drawn).unwrap();
        return;
    }
    let stale =
        "docs/guides/compare.md is not what is measured: REWRITE=1 cargo test -p bellwether-cli --test cli";
    assert!(measured == written, "{stale}\n{measured}");
    assert!(fs::read_to_string(&picture).expect("the picture is there") == drawn, "{stale}");
}

const SMALL: [&str; 7] = ["compare", "--nodes", "3,4", "--runs", "4", "--protocols", "lfa,fjr"];

#[test]
fn figures_are_printed_as_tables_that_fit_and_as_objects() {
    let text = bellwether(&SMALL).done();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for title in ["Traffic: ", "Failover: ", "Leadership: "] {
        assert!(text.contains(title), "{text}");
    }
    let json = bellwether(&[&SMALL[..], &["--json"]].concat()).done();
    let rows: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of: Vec<_> =
        rows.iter().map(|row| (row["protocol"].as_str().unwrap(), row["nodes"].as_u64())).collect();
    assert_eq!(of, [("lfa", Some(3)), ("lfa", Some(4)), ("fjr", Some(3)), ("fjr", Some(4))]);
    for row in &rows {
        let n = row["nodes"].as_f64().unwrap();
        assert_eq!(row["messages_per_s"].as_f64(), Some((n - 1.0) / 0.05), "{row}");
        assert_eq!((row["failovers"].as_u64(), row["unsettled"].as_u64()), (Some(4), Some(0)), "{row}");
    }
    let threads = bellwether(&[&SMALL[..], &["--json", "--threads", "3"]].concat()).done();
    assert_eq!(threads, json, "the same on any number of threads");
}

#[test]
fn figures_are_written_as_csv_and_drawn() {
    let scratch = Scratch::new("compare_files");
    let (csv, plot) = (scratch.path("figures.csv"), scratch.path("figures.svg"));
    let json =
        bellwether(&[&SMALL[..], &["--json", "--loss", "0.01", "--csv", &csv, "--plot", &plot]].concat());
    let rows: Vec<Value> =
        json.done().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let text = fs::read_to_string(csv).unwrap();
    let lines: Vec<Vec<String>> = text.lines().map(cells).collect();
    assert_eq!(lines.len(), 1 + rows.len());
    for (line, row) in lines[1..].iter().zip(&rows) {
        assert_eq!(lines[0].len(), line.len(), "{line:?}");
        assert_eq!(lines[0].len(), row.as_object().unwrap().len());
        for (name, cell) in lines[0].iter().zip(line) {
            let value = match &row[name] {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                other => other.to_string(),
            };
            assert_eq!(*cell, value, "{name}");
        }
        assert!(row["not_kept"].as_str().unwrap().starts_with("OMEGA: "), "loss is not hidden: {row}");
    }
    let picture = fs::read_to_string(plot).unwrap();
    assert!(picture.starts_with("<svg ") && picture.trim_end().ends_with("</svg>"));
    assert!(picture.contains("not promised here"), "nor in the picture");
}

/// The cells of a line of CSV.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                cells.last_mut().unwrap().extend(letters.next());
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            letter => cells.last_mut().unwrap().push(letter),
        }
    }
    cells
}

#[test]
fn a_scenario_is_played_with_every_protocol() {
    let file = "scenarios/partition-and-merge.toml";
    let text = bellwether(&["compare", "--scenario", file, "--runs", "2"]).done();
    assert!(
        text.contains("a partition, and its end: 5 nodes, repaired protocols, 30.0 s long, 2 runs each"),
        "{text}"
    );
    for protocol in ["async-bully", "lfa", "adft", "fjr"] {
        assert!(text.lines().any(|line| line.starts_with(protocol)), "{protocol} runs in agents: {text}");
    }
    let json =
        bellwether(&["compare", "--scenario", file, "--runs", "2", "--protocols", "bully-fd", "--json"]);
    let row: Value = serde_json::from_str(&json.done()).unwrap();
    assert!(row["not_kept"].as_str().unwrap().contains("no loss"), "cuts lose messages: {row}");
    assert!(row["split_ms"].as_f64().is_some());
}

#[test]
fn what_cannot_be_compared_is_refused_before_any_work() {
    let refused = |args: &[&str], code: i32, why: &str| {
        let Outcome { code: found, out, err } = bellwether(&[&["compare"], args].concat());
        assert_eq!((found, out.as_str()), (code, ""), "{args:?}: {err}");
        assert!(err.contains(why), "{args:?}: {err}");
    };
    refused(&["--nodes", "0"], 2, "found 0 nodes, expected from 2 to 256");
    refused(&["--nodes", "3,x"], 2, "expected a number");
    refused(&["--nodes", "3", "--protocols", "paxos"], 2, "paxos");
    refused(&["--nodes", "3", "--scenario", "scenarios/s02-path.toml"], 2, "cannot be used with");
    refused(&["--nodes", "3", "--models"], 2, "cannot be used with");
    refused(&["--protocols", "lfa"], 2, "--scenario");
    refused(&["--nodes", "3", "--faults", "recover"], 2, "recover without crash");
    refused(&["--nodes", "3", "--faults", "crash,gremlins"], 2, "gremlins");
    refused(&["--scenario", "scenarios/s02-path.toml", "--loss", "0.1"], 2, "cannot be used with");
    refused(&["--models", "--faults", "crash"], 2, "cannot be used with");
    refused(&["--loss", "0.1"], 2, "--nodes");
    refused(&["--nodes", "3", "--loss", "1.5"], 2, "expected a probability");
    refused(&["--nodes", "3", "--latency", "5ms..1ms"], 2, "upside down");
    refused(&["--nodes", "3", "--period", "0ms"], 2, "expected a period");
    refused(&["--nodes", "3", "--agent", "--protocols", "mmrt"], 2, "agents do not run mmrt");
    refused(&["--nodes", "3", "--seed", "18446744073709551615"], 2, "not that many seeds");
    refused(&["--nodes", "3", "--csv", "no/such/folder/x.csv"], 3, "cannot write no/such/folder/x.csv: ");
    refused(&["--nodes", "3", "--plot", "docs"], 3, "cannot write docs: ");
    refused(&["--nodes", "3", "--plot", "same", "--csv", "same"], 2, "expected two files");
    refused(&["--scenario", "no/such/file.toml"], 2, "there is no such file");
    let halts = "scenarios/est06a-lost-halt-repaired.toml";
    refused(&["--scenario", halts], 2, "waits for a message Halt, which lfa never sends");
}
