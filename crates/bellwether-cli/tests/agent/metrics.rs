//! What an agent counts and measures: all of it is in the table, and alerts are about nothing else.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cluster::{Cluster, Shape};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A metric: its name as Prometheus has it, its kind, and what it is.
type Metric = (String, String, String);

/// Those of an answer to `/metrics`.
fn metrics(answer: &str) -> BTreeSet<Metric> {
    let kind = |name: &str| {
        let line = answer.lines().find(|line| line.starts_with(&format!("# TYPE {name} ")));
        line.and_then(|line| line.rsplit(' ').next()).expect("each has a type").to_owned()
    };
    let helps = answer.lines().filter_map(|line| line.strip_prefix("# HELP ")?.split_once(' '));
    let metric = |(name, help): (&str, &str)| {
        let kind = kind(name);
        let ending = match kind.as_str() {
            "counter" => "_total",
            "info" => "_info",
            _ => "",
        };
        (format!("{name}{ending}"), kind, help.trim_end_matches('.').to_owned())
    };
    helps.map(metric).collect()
}

/// `REWRITE=1` writes it anew.
#[test]
fn every_metric_is_in_the_table_and_alerts_are_about_no_other() {
    let mut cluster = Cluster::prepare(&Shape { more: "mode = \"exclusive\"", ..Shape::of(1) });
    cluster.start_all();
    cluster.wait_for_leader();
    let metrics = metrics(&cluster.get(1, "/metrics").body);
    let mut table = "# Metrics\n\nWhat `/metrics` of an agent has, for Prometheus. Those of exclusive leadership are there only in that mode. A test writes this \
                     table.\n\n| metric | kind | what it is |\n|---|---|---|\n"
        .to_owned();
    for (name, kind, help) in &metrics {
        let _ = writeln!(table, "| `{name}` | {kind} | {help} |");
    }
    let file = root().join("docs/reference/metrics.md");
    if std::env::var("REWRITE").is_ok_and(|rewrite| rewrite == "1") {
        fs::write(&file, &table).unwrap();
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), table, "REWRITE=1 writes it anew");

    let alerts = fs::read_to_string(root().join("packaging/prometheus/alerts.yml")).unwrap();
    let expressions = alerts.lines().filter_map(|line| line.trim().strip_prefix("expr: "));
    let words =
        expressions.flat_map(|expression| expression.split(|c: char| !c.is_alphanumeric() && c != '_'));
    let used: BTreeSet<_> = words.filter(|word| word.starts_with("bellwether_")).collect();
    let there: BTreeSet<_> = metrics.iter().map(|(name, ..)| name.as_str()).collect();
    assert!(!used.is_empty() && used.is_subset(&there), "{:?}", used.difference(&there));
}
