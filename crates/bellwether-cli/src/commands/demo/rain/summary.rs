//! What it came to.

use std::collections::VecDeque;
use std::path::Path;

use serde::Serialize;

use super::effort::AfterKill;
use super::happening::{Recovery, list};
use super::model::Model;
use crate::layout::hanging;

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
            ms: u64::try_from(model.took().as_millis()).unwrap_or(u64::MAX),
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
        let entry = |label: &str, text: String| hanging(&format!("{label:<12}"), &text);
        let Self { rows, computed, recomputed, recomputed_percent: percent, recovered, .. } = self;
        let seconds = |ms: u64| format!("{:.1} s", f64::from(u32::try_from(ms).unwrap_or(u32::MAX)) / 1000.0);
        let finished = match self.after_kill {
            Some(AfterKill { rows_done, .. }) => {
                format!("the {rows_done} that were finished at the first kill")
            }
            None => "all".to_owned(),
        };
        let mut lines = vec![
            entry(
                "picture",
                format!("{}, {}x{}, in {}", self.out, self.width, self.height, seconds(self.ms)),
            ),
            entry("rows", format!("{rows}; {computed} computed, {recovered} recovered from shards")),
            entry("recomputed", format!("{recomputed}, {percent} % of {finished}")),
        ];
        lines.extend(self.recoveries.iter().map(|recovery| entry("recovery", told(recovery))));
        let Rejected { checksum, old } = self.rejected;
        lines.push(entry(
            "rejected",
            format!("{checksum} shards with a wrong checksum, {old} of an older view"),
        ));
        if let Some(AfterKill { ms, rows_left, workers_left, ideal_ms, ratio, .. }) = self.after_kill {
            let text = format!(
                "{rows_left} rows were left, and at least {workers_left} workers; {}, {ratio:.2} times the {} of \
                 work left by workers left",
                seconds(ms),
                seconds(ideal_ms)
            );
            lines.push(entry("after kill", text));
        }
        lines.iter().flat_map(|entry| entry.lines()).map(str::to_owned).collect()
    }
}

fn told(recovery: &Recovery) -> String {
    let Recovery { view, manager, failed, readmitted, rows, lost, replaced, ms } = recovery;
    let nodes = |label: &str, nodes: &[u32]| match nodes {
        [] => String::new(),
        nodes => format!(", {label} {}", list(nodes)),
    };
    let (failed, readmitted) = (nodes("failed", failed), nodes("readmitted", readmitted));
    format!(
        "view {view}, by node {manager} in {ms} ms{failed}{readmitted}: {rows} rows recovered, {lost} lost, {replaced} \
         shards replaced"
    )
}
