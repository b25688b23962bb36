//! The summary: what the file proves, and what was done to the writers.

use std::time::Duration;

use bellwether::GrantKind;
use serde::Serialize;

use super::judge::{Account, Wrong};
use super::model::Model;
use super::store::Fence;
use crate::duration::rough;
use crate::layout::hanging;
use crate::words::counted;

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename = "summary")]
pub(super) struct Summary {
    kind: &'static str,
    fence: bool,
    ms: u64,
    /// Lines in the file.
    lines: u64,
    refused: u64,
    /// How often another leader went on.
    changes: u64,
    killed: u64,
    stopped: u64,
    longest_gap_ms: u64,
    /// The first thing in the file that must not be.
    pub(super) wrong: Option<Wrong>,
}

impl Summary {
    pub(super) fn new(model: &Model, account: &Account, kind: GrantKind, fence: Fence) -> Self {
        let ms = model.began.elapsed().as_millis();
        Self {
            kind: kind.name(),
            fence: fence == Fence::Closed,
            ms: u64::try_from(ms).unwrap_or(u64::MAX),
            lines: account.lines,
            refused: model.refused(),
            changes: account.changes,
            killed: model.killed,
            stopped: model.stopped,
            longest_gap_ms: account.longest_gap_ms,
            wrong: account.wrong,
        }
    }

    pub(super) fn in_words(&self) -> Vec<String> {
        let Self { lines, refused, changes, killed, stopped, .. } = self;
        let took = rough(Duration::from_millis(self.ms));
        let gap = rough(Duration::from_millis(self.longest_gap_ms));
        let proof = match self.wrong {
            None => "tokens never go backwards, each has one writer, and no number is left out or used twice"
                .to_owned(),
            Some(wrong) => format!("BROKEN: {wrong}"),
        };
        let entries = [
            ("written", format!("{} in {took}", counted(*lines, "line"))),
            ("refused", format!("{} with an old token", counted(*refused, "request"))),
            ("leaders", format!("{}; {killed} killed, {stopped} stopped", counted(*changes, "change"))),
            ("longest gap", format!("{gap} between two lines")),
            ("the file", proof),
        ];
        let entry = |(label, text): &(&str, String)| hanging(&format!("{label:<13}"), text);
        entries.iter().flat_map(|said| entry(said).lines().map(str::to_owned).collect::<Vec<_>>()).collect()
    }
}
