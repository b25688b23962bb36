//! Tables that fit a terminal.

use bellwether_sim::measure::compare::Row;

use super::request::Request;
use super::words;
use crate::layout::{Column, hanging, table};
use crate::output::Printer;

use Column::{Number, Whole};

pub(super) fn text(request: &Request, rows: &[Row], out: &Printer) {
    let staged = matches!(request, Request::Staged { .. });
    let name = if staged { format!("{}: ", words::title(request)) } else { String::new() };
    out.line(hanging("", &format!("{name}{}", words::about(request))));
    section("Traffic", if staged { "in all of each run" } else { "while nothing happens" }, out);
    out.line(traffic(rows));
    if rows.iter().any(|row| !row.failovers.is_empty()) {
        section("Failover", "from a crash of the leader until all that are left name one live leader", out);
        out.line(failovers(rows));
    }
    section("Leadership", &words::watched(request), out);
    out.line(leadership(rows));
    let notes = words::notes(request, rows);
    if !notes.is_empty() {
        out.line("");
    }
    notes.iter().for_each(|note| out.line(hanging("- ", note)));
}

fn section(title: &str, about: &str, out: &Printer) {
    out.line("");
    out.line(hanging(&format!("{title}: "), about));
}

fn traffic(rows: &[Row]) -> String {
    let columns = [
        Whole("protocol"),
        Number("nodes"),
        Number("msg/s"),
        Number("bytes/s"),
        Number("msg/failover"),
        Number("bytes/failover"),
    ];
    let cells = |row: &Row| {
        vec![
            row.protocol.name().to_owned(),
            row.nodes.to_string(),
            format!("{:.1}", row.messages_per_s()),
            format!("{:.0}", row.bytes_per_s()),
            one_decimal(row.messages_per_failover()),
            row.bytes_per_failover().map_or_else(nothing, |bytes| format!("{bytes:.0}")),
        ]
    };
    table(&columns, rows.iter().map(cells).collect())
}

fn failovers(rows: &[Row]) -> String {
    let columns = [
        Whole("protocol"),
        Number("nodes"),
        Number("crashes"),
        Number("min ms"),
        Number("median"),
        Number("p90"),
        Number("p99"),
        Number("max ms"),
        Number("never"),
    ];
    let cells = |row: &Row| {
        let times = [0, 50, 90, 99, 100].map(|percent| one_decimal(row.failover_ms(percent)));
        let mut cells =
            vec![row.protocol.name().to_owned(), row.nodes.to_string(), row.failovers.len().to_string()];
        cells.extend(times);
        cells.push(row.unsettled().to_string());
        cells
    };
    table(&columns, rows.iter().map(cells).collect())
}

fn leadership(rows: &[Row]) -> String {
    let columns = [
        Whole("protocol"),
        Number("nodes"),
        Number("changes/min"),
        Number("needless/min"),
        Number("nobody leads"),
        Number("two lead"),
    ];
    let cells = |row: &Row| {
        vec![
            row.protocol.name().to_owned(),
            row.nodes.to_string(),
            format!("{:.1}", row.changes_per_min()),
            format!("{:.1}", row.needless_per_min()),
            format!("{:.2} %", row.leaderless_percent()),
            format!("{:.2} %", row.split_percent()),
        ]
    };
    table(&columns, rows.iter().map(cells).collect())
}

fn one_decimal(number: Option<f64>) -> String {
    number.map_or_else(nothing, |number| format!("{number:.1}"))
}

fn nothing() -> String {
    "-".to_owned()
}
