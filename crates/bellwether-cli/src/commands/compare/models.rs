//! `bellwether compare --models`: what the eventual leader protocols do in each model, measured.

use std::fs;

use bellwether_sim::measure::omega::{self, PROTOCOLS, Place, Row};
use serde::Serialize;

use crate::Status;
use crate::args::compare::CompareArgs;
use crate::layout::{Column, markdown};
use crate::output::Printer;

/// The default number of runs of each protocol in each model.
const RUNS: u32 = 5;

pub(super) fn run(args: &CompareArgs, out: &Printer) -> Status {
    let runs = args.runs.unwrap_or(RUNS);
    let rows = measure(runs, out);
    let told = told(args, out, &rows, || document(&rows, runs));
    if told != Status::Done {
        return told;
    }
    // A protocol that does not do what it promises is the answer no.
    let kept = rows.iter().all(|row| !row.promised || row.converged == row.runs);
    if kept { Status::Done } else { Status::No }
}

/// Prints rows, each as JSON or all as a document, and writes them to a file if one is named.
pub(super) fn told<R: Serialize>(
    args: &CompareArgs,
    out: &Printer,
    rows: &[R],
    document: impl FnOnce() -> String,
) -> Status {
    let text = if args.json {
        let lines = rows.iter().map(|row| serde_json::to_string(row).expect("a row is plain data"));
        lines.collect::<Vec<_>>().join("\n")
    } else {
        document()
    };
    out.line(&text);
    if let Some(file) = &args.out
        && let Err(error) = fs::write(file, format!("{text}\n"))
    {
        out.error(format_args!("{}: {error}", file.display()));
        return Status::Failed;
    }
    Status::Done
}

fn measure(runs: u32, out: &Printer) -> Vec<Row> {
    let pairs: Vec<_> =
        PROTOCOLS.into_iter().flat_map(|p| Place::all().map(move |place| (p, place))).collect();
    let all = pairs.len();
    let row = |(done, (protocol, place)): (usize, (_, Place))| {
        out.progress(format_args!("{done} of {all}"));
        omega::measure(protocol, place, runs)
    };
    let rows = pairs.into_iter().enumerate().map(row).collect();
    out.progress_done();
    rows
}

fn document(rows: &[Row], runs: u32) -> String {
    let head = format!(
        "# Eventual leaders, measured\n\n\
         {nodes} nodes, t = {t}; node 1 crashes at {crash} and stays down. Links that are timely take {low} to {high}; \
         α = η = 100ms,\nδ = step = 6ms. What a model promises ([scenarios.md](scenarios.md), `[network.model]`) begins at \
         {gst} and is about\nnode {source}; everything else is hostile. `uniform latency` is no model: every link takes \
         {low} to {high}, always.\nRuns of {length}, seeds 1 to {runs}.\n\n\
         - **promised**: whether the protocol promises to converge there. (`lfa` does in `kcs` if the source is the \
         smallest live\n  id; here that is node 2.)\n\
         - **converges**: in how many runs all named one live leader throughout the last quarter. **by**: when the slowest \
         of these\n  runs had converged.\n\
         - In the last quarter: **msg/s** and **bytes/s**, how much is sent on average, in the wire format; **senders**, \
         how many\n  nodes still send, at most; **counter**, the largest that any message carried (in `lockstep` the number \
         of the round,\n  in `mmrt` that of the query); **changes**, how often a node began to lead, on average per run.\n",
        nodes = omega::NODES,
        t = omega::T,
        crash = omega::CRASH,
        low = omega::LATENCY.low,
        high = omega::LATENCY.high,
        gst = omega::GST,
        source = omega::SOURCE,
        length = omega::LENGTH,
    );
    format!("{head}\n{}\n\n{NOTES}", markdown(&COLUMNS, rows.iter().map(cells).collect()))
}

const NOTES: &str = "\
Worth seeing:

- `adft` converges where it promises to, and not where a model promises less. In `t-moving-source` the timely links of a
  source that leads move on. Each receiver goes without for ever longer times, so the source is suspected like any other node
  (the paper, section 4, calls that assumption weaker than a t-source).
- `mmrt` with uniform latency: t is 2 and one node is down. No node's responses always win, so leaders come and go although
  every message arrives within milliseconds. In `mp` delays grow for ever, and it converges.
- `adversary`: no protocol converges (theorem 1). Channels lose nothing, but a leader is not heard until another leads.
- A protocol may converge even where it promises nothing, by luck or because it promises less than it keeps.

Made by `bellwether compare --models --out docs/reference/omega.md`; a test compares this file with a new measurement.";

const COLUMNS: [Column; 10] = [
    Column::Text("protocol"),
    Column::Text("model"),
    Column::Text("promised"),
    Column::Number("converges"),
    Column::Number("by"),
    Column::Number("msg/s"),
    Column::Number("bytes/s"),
    Column::Number("senders"),
    Column::Number("counter"),
    Column::Number("changes"),
];

fn cells(row: &Row) -> Vec<String> {
    vec![
        row.protocol.to_owned(),
        row.model.to_owned(),
        if row.promised { "yes" } else { "no" }.to_owned(),
        format!("{} of {}", row.converged, row.runs),
        row.slowest_s.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.1} s")),
        format!("{:.1}", row.messages_per_s),
        format!("{:.0}", row.bytes_per_s),
        row.senders.to_string(),
        row.largest_counter.to_string(),
        format!("{:.1}", row.changes),
    ]
}
