//! How long failovers take, and how long there is no leader, or two: a line for each algorithm and size.

use super::scale::{Scale, number};
use super::{MARGIN, Page, WIDTH};
use crate::measure::compare::Row;
use crate::svg::width;

/// For the names of algorithms, and for sizes.
const NAMES: f64 = 96.0;
const SIZES: f64 = 62.0;
const GAP: f64 = 26.0;
/// For the number beside a bar.
const BESIDE: f64 = 62.0;
/// For how many failovers did not end.
const BESIDE_NEVER: f64 = 84.0;
const HEADER: f64 = 46.0;

/// A column of the picture.
struct Column {
    title: &'static str,
    unit: &'static str,
    /// How much of the room it gets.
    share: f64,
    shows: Shows,
}

enum Shows {
    /// How values are distributed: from the shortest to the longest.
    Times,
    /// A value, and what follows the number.
    Value(fn(&Row) -> Option<f64>, &'static str),
}

/// What the marks of a failover mean.
pub(super) const LEGEND: &str = "Failover: the dot is the median, the thick bar goes from the 10th to the 90th percentile, the thin line over all.";

/// Draws them all, and what traffic costs if nothing else does.
pub(super) fn draw(page: &mut Page, rows: &[Row], grows: bool) {
    let columns = columns(rows, grows);
    let names = NAMES + if grows { SIZES } else { 0.0 };
    let room = WIDTH - 2.0 * MARGIN - names - GAP * (columns.len() - 1) as f64;
    let shares: f64 = columns.iter().map(|column| column.share).sum();
    let lines = Lines::new(rows, page.y + HEADER, grows);
    lines.names(page, grows);
    let mut left = MARGIN + names;
    for column in &columns {
        let width = room * column.share / shares;
        column.draw(page, &lines, left, width);
        left += width + GAP;
    }
    page.y = lines.bottom + 34.0;
}

fn columns(rows: &[Row], grows: bool) -> Vec<Column> {
    let mut columns = Vec::new();
    if !grows {
        columns.push(Column {
            title: "Messages",
            unit: "per second",
            share: 1.0,
            shows: Shows::Value(|row| Some(row.messages_per_s()), ""),
        });
    }
    if rows.iter().any(|row| !row.failovers.is_empty()) {
        columns.push(Column {
            title: "Failover",
            unit: "ms, median",
            share: if grows { 2.0 } else { 1.8 },
            shows: Shows::Times,
        });
    }
    columns.push(Column {
        title: "Nobody leads",
        unit: "% of the time",
        share: 1.0,
        shows: Shows::Value(|row| Some(row.leaderless_percent()), " %"),
    });
    columns.push(Column {
        title: "Two lead at once",
        unit: "% of the time",
        share: 1.0,
        shows: Shows::Value(|row| Some(row.split_percent()), " %"),
    });
    columns
}

/// Where the lines are, from top to bottom.
struct Lines<'a> {
    rows: &'a [Row],
    /// The middle of each.
    middles: Vec<f64>,
    top: f64,
    bottom: f64,
    thick: f64,
}

impl<'a> Lines<'a> {
    fn new(rows: &'a [Row], top: f64, grows: bool) -> Self {
        let (height, between) = if grows { (17.0, 9.0) } else { (30.0, 0.0) };
        let mut y = top;
        let mut middles = Vec::new();
        for (place, row) in rows.iter().enumerate() {
            if place > 0 && rows[place - 1].protocol != row.protocol {
                y += between;
            }
            middles.push(y + height / 2.0);
            y += height;
        }
        Self { rows, middles, top: top - 4.0, bottom: y + 4.0, thick: height * 0.56 }
    }

    fn names(&self, page: &mut Page, grows: bool) {
        for (place, (row, y)) in self.all().enumerate() {
            if place == 0 || self.rows[place - 1].protocol != row.protocol {
                page.text("name", (MARGIN, y + 4.5), "start", row.protocol.name());
            }
            if grows {
                let nodes = format!("{} nodes", row.nodes);
                page.text("tick", (MARGIN + NAMES + SIZES - 10.0, y + 4.0), "end", &nodes);
            }
        }
    }

    fn all(&self) -> impl Iterator<Item = (&'a Row, f64)> {
        self.rows.iter().zip(self.middles.clone())
    }
}

impl Column {
    fn draw(&self, page: &mut Page, lines: &Lines<'_>, left: f64, width: f64) {
        page.text("head", (left, lines.top - 26.0), "start", self.title);
        page.text("unit", (left, lines.top - 9.0), "start", self.unit);
        let values = lines.rows.iter().filter_map(|row| self.largest(row));
        let scale = Scale::linear(values, left, left + width - self.beside(lines.rows));
        for tick in scale.ticks() {
            let x = scale.place(tick);
            page.line("grid", (x, lines.top), (x, lines.bottom));
            page.text("tick", (x, lines.bottom + 16.0), "middle", &number(tick));
        }
        page.line("axis", (left, lines.top), (left, lines.bottom));
        for (row, y) in lines.all() {
            page.open_series(row.protocol);
            match self.shows {
                Shows::Times => times(page, row, &scale, (left, y), lines.thick),
                Shows::Value(value, unit) => {
                    let value = value(row);
                    let end = scale.place(value.unwrap_or(0.0));
                    page.rect("bar", (left, y - lines.thick / 2.0), (end - left, lines.thick));
                    let text = value.map_or("–".to_owned(), |value| format!("{}{unit}", number(value)));
                    page.text("value", (end + 6.0, y + 4.0), "start", &text);
                }
            }
            page.svg.close();
        }
    }

    /// How much room there must be beside the longest bar.
    fn beside(&self, rows: &[Row]) -> f64 {
        match self.shows {
            Shows::Times if rows.iter().any(|row| row.unsettled() > 0) => BESIDE + BESIDE_NEVER,
            Shows::Times | Shows::Value(..) => BESIDE,
        }
    }

    /// The largest value that must have a place.
    fn largest(&self, row: &Row) -> Option<f64> {
        match self.shows {
            Shows::Times => row.failover_ms(100),
            Shows::Value(value, _) => value(row),
        }
    }
}

fn times(page: &mut Page, row: &Row, scale: &Scale, (left, y): (f64, f64), thick: f64) {
    let mut x = left + 6.0;
    if let Some([shortest, tenth, median, ninetieth, longest]) = spots(row) {
        let place = |value| scale.place(value);
        page.line("whisker", (place(shortest), y), (place(longest), y));
        let wide = (place(ninetieth) - place(tenth)).max(1.0);
        page.rect("bar", (place(tenth), y - thick / 2.0), (wide, thick));
        page.median((place(median), y), thick * 0.34);
        let text = number(median);
        x = place(longest) + 6.0;
        page.text("value", (x, y + 4.0), "start", &text);
        x += width(&text) * 12.0 + 4.0;
    }
    let (never, all) = (row.unsettled(), row.failovers.len());
    if never > 0 {
        page.text("never", (x, y + 4.0), "start", &format!("{never} of {all} never"));
    }
}

fn spots(row: &Row) -> Option<[f64; 5]> {
    let at = |percent| row.failover_ms(percent);
    Some([at(0)?, at(10)?, at(50)?, at(90)?, at(100)?])
}

impl Page {
    fn median(&mut self, (x, y): (f64, f64), radius: f64) {
        use crate::svg::Px;
        self.svg.empty("circle", &[("class", &"median"), ("cx", &Px(x)), ("cy", &Px(y)), ("r", &Px(radius))]);
    }
}
