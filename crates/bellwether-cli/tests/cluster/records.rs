//! What the nodes of a cluster recorded, and what `bellwether check` says of it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::process::bellwether;

/// What is promised of views, of the links under them, and of the layers above, whatever befalls agents. OMEGA and SETTLED are judged
/// as well, unless something was late: a busy machine is enough for that.
pub(crate) const VIEWS_KEPT: [&str; 8] = [
    "VIEW-AGREE",
    "ONE-LEADER-PER-VIEW",
    "ONE-VIEW-OR-DEAD",
    "FAKE-CLEAN",
    "LINK-HISTORY",
    "A3",
    "HISTORY",
    "EPOCH",
];

/// Copies of traces and truth: those of a cluster go on being written.
#[derive(Clone, Debug)]
pub(crate) struct Records {
    dir: PathBuf,
    /// In the order in which they were copied.
    nodes: Vec<u32>,
}

/// What `bellwether check` says.
#[derive(Clone, Debug)]
pub(crate) struct Judgement {
    pub(crate) code: i32,
    /// What it prints.
    pub(crate) said: Value,
}

impl Records {
    /// Copies into that directory what there is: the traces of these nodes, in this order, and the truth.
    pub(super) fn copy(dir: PathBuf, truth: &str, traces: impl Iterator<Item = (u32, PathBuf)>) -> Self {
        let mut records = Self { dir, nodes: Vec::new() };
        fs::write(records.truth(), truth).unwrap();
        for (node, trace) in traces {
            fs::copy(trace, records.trace(node)).expect("the node has written a trace");
            records.nodes.push(node);
        }
        records
    }

    /// A node's trace.
    pub(crate) fn trace(&self, node: u32) -> PathBuf {
        self.dir.join(format!("trace-{node}.jsonl"))
    }

    /// What befell the nodes.
    pub(crate) fn truth(&self) -> PathBuf {
        self.dir.join("truth.jsonl")
    }

    /// What a node recorded under that name.
    pub(crate) fn events(&self, node: u32, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.trace(node)).unwrap();
        // A last line that is not finished yet is none.
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let events = whole.map(|line| serde_json::from_str::<Value>(line).expect("a line of a trace"));
        events.filter(|event| event["ev"] == name).collect()
    }

    /// Has it judged.
    pub(crate) fn check(&self) -> Judgement {
        let mut command = bellwether();
        command.args(["check", "--json", "--truth"]).arg(self.truth());
        for node in &self.nodes {
            command.arg("--trace").arg(self.trace(*node));
        }
        let output = command.output().expect("the command runs");
        let err = String::from_utf8_lossy(&output.stderr);
        let said = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {err}"));
        Judgement { code: output.status.code().expect("it ends by itself"), said }
    }
}

impl Judgement {
    /// Whether that property was judged, and holds.
    pub(crate) fn finds_that(&self, property: &str) -> Option<bool> {
        let all = self.said["properties"].as_array()?;
        all.iter().find(|found| found["name"] == property)?["holds"].as_bool()
    }
}

/// Adds a line to a record, as somebody might who wants to deceive.
pub(crate) fn add_line(record: &Path, line: &str) {
    let mut text = fs::read_to_string(record).unwrap();
    // What was not finished when it was copied is left out.
    text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
    fs::write(record, format!("{text}{line}\n")).unwrap();
}
