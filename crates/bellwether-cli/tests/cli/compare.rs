//! `compare`: the table of the eventual leader protocols.

use std::fs;

use serde_json::Value;

use crate::harness::{bellwether, root};

/// The table in the documentation is what the code does.
#[test]
fn the_documented_table_is_what_is_measured() {
    let written = fs::read_to_string(root().join("docs/omega.md")).expect("the file is there");
    let measured = bellwether(&["compare"]).done();
    assert!(measured == written, "run: cargo run --release -- compare --out docs/omega.md");
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
