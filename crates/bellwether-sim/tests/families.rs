//! What `docs/reference/families.md` says of the smaller sizes is what is counted.

use std::fs;
use std::path::Path;

use bellwether_sim::measure::families::{FAMILIES, Row, measure};

/// As many orders as the document has.
const ORDERS: u64 = 20;

#[test]
fn the_documented_counts_are_what_is_counted() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/families.md");
    let text = fs::read_to_string(document).expect("the document is there");
    for (protocol, asks) in FAMILIES {
        for nodes in [4, 8] {
            let row = measure(protocol, asks, nodes, ORDERS);
            let documented = documented(&text, &row).unwrap_or_else(|| panic!("no line for {row:?}"));
            assert_eq!(documented, shown(&row), "compare --families --out docs/reference/families.md");
        }
    }
}

/// The figures of a line of the table, without those that follow from N alone.
fn documented(text: &str, row: &Row) -> Option<Vec<String>> {
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let mut lines = text.lines().map(cells).filter(|cells| cells.len() == 12);
    let line = lines.find(|cells| cells[1] == row.protocol && cells[2] == row.nodes.to_string())?;
    Some([3, 5, 6, 7, 8, 10].map(|at| line[at].clone()).into())
}

fn shown(row: &Row) -> Vec<String> {
    vec![
        format!("{:.1}", row.steady),
        row.at_once.to_string(),
        format!("{:.0}", row.average),
        row.worst.to_string(),
        row.worst_schedule.to_owned(),
        row.all.to_string(),
    ]
}
