//! The summary.

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::effort::AfterKill;
use super::happening::{Outcome, Recovery};
use super::model::Model;
use crate::layout::hanging;
use crate::words::counted;

/// The last object that is printed for machines.
#[derive(Debug, Serialize)]
pub(super) struct Summary<'a> {
    event: &'static str,
    out: String,
    width: u32,
    height: u32,
    nodes: u32,
    data: u32,
    /// From the start to the last safe row.
    ms: u64,
    /// For how much of that nobody could work, because too few were there.
    stalled_ms: u64,
    rows: u32,
    computed: u32,
    recomputed: u32,
    /// Of the rows that were finished at the first kill; of all, if there was none.
    recomputed_percent: f64,
    recovered: u32,
    recoveries: &'a VecDeque<Recovery>,
    rejected: Rejected,
    after_kill: Option<AfterKill>,
}

#[derive(Debug, Serialize)]
struct Rejected {
    checksum: u32,
    old: u32,
}

impl<'a> Summary<'a> {
    pub(super) fn new(model: &'a Model, out: &Path) -> Self {
        let (picture, after_kill) = (&model.job.picture, model.after_kill());
        let finished = after_kill.map_or(picture.row_count(), |after| after.rows_done).max(1);
        let percent = f64::from(model.counts.recomputed) * 100.0 / f64::from(finished);
        Self {
            event: "summary",
            out: out.display().to_string(),
            width: picture.width(),
            height: picture.height(),
            nodes: model.job.code.nodes(),
            data: model.job.code.data(),
            ms: millis(model.took()),
            stalled_ms: millis(model.stalled()),
            rows: picture.row_count(),
            computed: model.counts.computed,
            recomputed: model.counts.recomputed,
            recomputed_percent: (percent * 100.0).round() / 100.0,
            recovered: model.counts.recovered,
            recoveries: &model.recoveries,
            rejected: Rejected { checksum: model.counts.damaged, old: model.counts.old },
            after_kill,
        }
    }

    /// For people.
    pub(super) fn lines(&self) -> Vec<String> {
        let entry = |label: &str, text: &str| hanging(&format!("{label:<12}"), text);
        let Self { rows, computed, recomputed, recomputed_percent: percent, recovered, .. } = self;
        let finished = match self.after_kill {
            Some(AfterKill { rows_done, .. }) => {
                format!("the {rows_done} that were finished at the first kill")
            }
            None => "all".to_owned(),
        };
        let took = seconds(self.ms);
        let mut lines = vec![
            entry("picture", &format!("{}, {}x{}, in {took}", self.out, self.width, self.height)),
            entry("rows", &format!("{rows}; {computed} computed, {recovered} recovered from shards")),
            entry("recomputed", &format!("{recomputed}, {percent} % of {finished}")),
        ];
        // Where nothing had been done there was nothing to recover.
        let recoveries = self.recoveries.iter().filter(|one| !matches!(one.outcome, Outcome::Begun { .. }));
        lines.extend(recoveries.map(|recovery| entry("recovery", &recovery.to_string())));
        let Rejected { checksum, old } = self.rejected;
        let checksum = counted(checksum, "shard");
        lines.push(entry("rejected", &format!("{checksum} with a wrong checksum, {old} of an older view")));
        if self.stalled_ms > 0 {
            lines.push(entry("stalled", &format!("{}, with too few workers", seconds(self.stalled_ms))));
        }
        lines.extend(self.after_kill.map(|after| entry("after kill", &told(after))));
        lines.iter().flat_map(|entry| entry.lines()).map(str::to_owned).collect()
    }
}

fn told(after: AfterKill) -> String {
    let AfterKill { ms, stalled_ms, rows_left, workers_left, ideal_ms, ratio, .. } = after;
    let (rows, workers) = (counted(rows_left, "row"), counted(workers_left, "worker"));
    let stalled = if stalled_ms > 0 { " without the stall" } else { "" };
    let (took, ideal) = (seconds(ms.saturating_sub(stalled_ms)), seconds(ideal_ms));
    format!(
        "{rows} to do, and never fewer than {workers}; {took}{stalled}, {ratio:.2} times the {ideal} of work left by \
         workers left"
    )
}

fn seconds(ms: u64) -> String {
    format!("{:.1} s", Duration::from_millis(ms).as_secs_f64())
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
