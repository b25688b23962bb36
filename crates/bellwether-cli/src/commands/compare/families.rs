//! `bellwether compare --families`: what a leader's crash costs in messages, by when the survivors notice it.

use bellwether_sim::measure::families::{self, FAMILIES, Row, SIZES};

use super::models::told;
use crate::Status;
use crate::args::compare::CompareArgs;
use crate::layout::{Column, markdown};
use crate::output::Printer;

/// The default number of random orders in which survivors notice.
const ORDERS: u32 = 20;

pub(super) fn run(args: &CompareArgs, out: &Printer) -> Status {
    let orders = args.runs.unwrap_or(ORDERS);
    let rows = measure(orders, out);
    told(args, out, &rows, || document(&rows, orders))
}

fn measure(orders: u32, out: &Printer) -> Vec<Row> {
    let all = FAMILIES.into_iter().flat_map(|family| SIZES.map(|nodes| (family, nodes)));
    let row = |(done, ((protocol, asks), nodes))| {
        out.progress(format_args!("{done} of {}", FAMILIES.len() * SIZES.len()));
        families::measure(protocol, asks, nodes, u64::from(orders))
    };
    let rows = all.enumerate().map(row).collect();
    out.progress_done();
    rows
}

fn document(rows: &[Row], orders: u32) -> String {
    let table = markdown(&COLUMNS, rows.iter().map(cells).collect());
    format!(
        "# Two families, counted\n\n\
         The leader of N nodes crashes. Messages take {latency}, and nothing is lost. The survivors notice all at once, or \
         {apart} after one\nanother: from the weakest to the strongest, the other way round, and in {orders} random orders \
         (seeds 1 to {orders}).\nThe period is N times T, the time after which a call has failed; the paper's count assumes \
         that.\n\n\
         - **steady**: messages of all layers in a period in which nothing happens; the paper has 2(N-1).\n\
         - **at once**, **average**, **worst**: AreYouCoordinator and its answers (`invitation`), Halt and its answers \
         (`async-bully`),\n  from the crash until the survivors agree: if all notice at once, on average over the random \
         orders, and in the worst of all\n  schedules. That is what the paper counts (Stoller, section 7).\n\
         - **all**: all messages of the algorithm in that time, in the schedule that has most of them.\n\
         - **paper**: its average and its worst case, N² and 2N² for `invitation`, N²/2 and N² for `async-bully`, \
         both less O(N).\n\n{table}\n\n{NOTES}",
        latency = families::LATENCY,
        apart = families::APART,
    )
}

const NOTES: &str = "\
Worth seeing:

- `invitation` costs 2(N-1)² if all notice at once: every survivor asks all others, and is asked by them. The average is not
  much higher, because a node that notices late is asked all the same. The paper's N² assumes that half of the nodes are members
  of a group before they ask.
- If the weakest notice first, it is worse than the paper's 2N²: they merge, a stronger one appears and is waited for, and all
  coordinators look around again before the strongest has its turn.
- `async-bully` costs half of `invitation` on average, as the paper says, and next to nothing if all notice at once. Its own
  average is twice what the paper has (E-ST13, [divergence.md](../concepts/divergence.md)).

Made by `bellwether compare --families --out docs/reference/families.md`; a test compares this file with a new count of the smaller
sizes.";

const COLUMNS: [Column; 10] = [
    Column::Text("protocol"),
    Column::Number("N"),
    Column::Number("steady"),
    Column::Number("2(N-1)"),
    Column::Number("at once"),
    Column::Number("average"),
    Column::Number("worst"),
    Column::Text("when they notice"),
    Column::Number("paper"),
    Column::Number("all"),
];

fn cells(row: &Row) -> Vec<String> {
    let n = u64::from(row.nodes);
    let (average, worst) = if row.protocol == "invitation" { (n * n, 2 * n * n) } else { (n * n / 2, n * n) };
    vec![
        row.protocol.to_owned(),
        n.to_string(),
        format!("{:.1}", row.steady),
        (2 * (n - 1)).to_string(),
        row.at_once.to_string(),
        format!("{:.0}", row.average),
        row.worst.to_string(),
        row.worst_schedule.to_owned(),
        format!("{average}, {worst}"),
        row.all.to_string(),
    ]
}
