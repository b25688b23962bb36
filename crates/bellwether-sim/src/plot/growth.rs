//! Cost as the cluster grows: a line for each algorithm, its name at its end.

use bellwether_proto::election::Protocol;

use super::scale::{Scale, number};
use super::{MARGIN, Page, WIDTH};
use crate::measure::compare::Row;
use crate::svg::Px;

const HEIGHT: f64 = 270.0;
const GAP: f64 = 28.0;
/// For the numbers at the axis, and for names.
const LEFT: f64 = 62.0;
const RIGHT: f64 = 104.0;
/// From one name to the next, at least.
const APART: f64 = 16.0;

/// Draws the panels side by side.
pub(super) fn draw(page: &mut Page, rows: &[Row], sizes: &[u32]) {
    let mut panels =
        vec![Panel::new("Messages per second, nothing happening", rows, |row| Some(row.messages_per_s()))];
    if rows.iter().any(|row| row.messages_per_failover().is_some()) {
        panels.push(Panel::new("Messages per failover", rows, Row::messages_per_failover));
    } else {
        panels.push(Panel::new("Bytes per second, nothing happening", rows, |row| Some(row.bytes_per_s())));
    }
    let width = (WIDTH - 2.0 * MARGIN - GAP) / 2.0;
    let top = page.y;
    for (place, panel) in panels.iter().enumerate() {
        panel.draw(page, (MARGIN + (width + GAP) * place as f64, top), width, sizes);
    }
    page.y = top + HEIGHT + 92.0;
}

/// One quantity.
struct Panel {
    title: &'static str,
    series: Vec<Series>,
}

/// One algorithm: the number of nodes, and the value.
struct Series {
    protocol: Protocol,
    points: Vec<(f64, f64)>,
}

impl Panel {
    fn new(title: &'static str, rows: &[Row], value: impl Fn(&Row) -> Option<f64>) -> Self {
        let mut series: Vec<Series> = Vec::new();
        for row in rows {
            let point = value(row).map(|value| (f64::from(row.nodes), value));
            match series.iter_mut().find(|series| series.protocol == row.protocol) {
                Some(series) => series.points.extend(point),
                None => series.push(Series { protocol: row.protocol, points: point.into_iter().collect() }),
            }
        }
        series.retain(|series| !series.points.is_empty());
        for one in &mut series {
            one.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        Self { title, series }
    }

    fn draw(&self, page: &mut Page, (left, top): (f64, f64), width: f64, sizes: &[u32]) {
        page.text("head", (left, top + 14.0), "start", self.title);
        let (top, bottom) = (top + 34.0, top + 34.0 + HEIGHT);
        let (first, last) = (sizes[0].max(1), sizes[sizes.len() - 1]);
        let xs = Scale::log_between(f64::from(first), f64::from(last), left + LEFT, left + width - RIGHT);
        let values = self.series.iter().flat_map(|series| series.points.iter().map(|(_, value)| *value));
        let ys = Scale::log(values.collect::<Vec<_>>().into_iter(), bottom, top);
        for tick in ys.ticks() {
            let y = ys.place(tick);
            page.line("grid", (left + LEFT, y), (left + width - RIGHT, y));
            page.text("tick", (left + LEFT - 8.0, y + 4.0), "end", &number(tick));
        }
        for size in sizes {
            let x = xs.place(f64::from(*size));
            page.line("axis", (x, bottom), (x, bottom + 5.0));
            page.text("tick", (x, bottom + 19.0), "middle", &size.to_string());
        }
        page.line("axis", (left + LEFT, bottom), (left + width - RIGHT, bottom));
        page.text("unit", ((2.0 * left + LEFT + width - RIGHT) / 2.0, bottom + 36.0), "middle", "nodes");
        self.lines(page, &xs, &ys);
        self.names(page, &xs, &ys, left + width - RIGHT + 20.0, (top, bottom));
    }

    fn lines(&self, page: &mut Page, xs: &Scale, ys: &Scale) {
        for (place, series) in self.series.iter().enumerate() {
            let alike: Vec<_> =
                (0..self.series.len()).filter(|other| self.series[*other].points == series.points).collect();
            let turn = alike.iter().position(|other| *other == place).unwrap_or(0);
            page.open_series(series.protocol);
            page.svg.title(series.protocol.name());
            let places: Vec<_> =
                series.points.iter().map(|(n, value)| (xs.place(*n), ys.place(*value))).collect();
            page.stroke(&places, alike.len(), turn);
            for (n, value) in &series.points {
                let at = (xs.place(*n), ys.place(*value));
                // Of those at one place the first is the largest, so that something of each is seen.
                page.mark(
                    at,
                    4.0 + 2.5 * (alike.len() - 1 - turn) as f64,
                    &format!("{}, {n} nodes: {}", series.protocol.name(), number(*value)),
                );
            }
            page.svg.close();
        }
    }

    /// At the ends of the lines, as near as they can be without touching.
    fn names(&self, page: &mut Page, xs: &Scale, ys: &Scale, x: f64, (top, bottom): (f64, f64)) {
        let end = |series: &Series| {
            let (n, value) = series.points[series.points.len() - 1];
            (xs.place(n), ys.place(value))
        };
        let mut ends: Vec<_> = self.series.iter().map(|series| (series.protocol, end(series))).collect();
        ends.sort_by(|a, b| a.1.1.total_cmp(&b.1.1));
        let ys = spread(&ends.iter().map(|(_, (_, y))| *y).collect::<Vec<_>>(), APART, (top, bottom));
        for ((protocol, (from, at)), y) in ends.into_iter().zip(ys) {
            page.open_series(protocol);
            page.line("lead", (from + 7.0, at), (x - 4.0, y));
            page.text("name", (x, y + 4.5), "start", protocol.name());
            page.svg.close();
        }
    }
}

impl Page {
    /// A line through the places. Lines that are all the way at the same place take turns.
    fn stroke(&mut self, places: &[(f64, f64)], alike: usize, turn: usize) {
        let points: Vec<_> = places.iter().map(|(x, y)| format!("{},{}", Px(*x), Px(*y))).collect();
        let (dash, gap) = (9, 9 * (alike - 1));
        let dashes = if alike > 1 { format!("{dash} {gap}") } else { "none".to_owned() };
        self.svg.empty(
            "polyline",
            &[
                ("class", &"stroke"),
                ("points", &points.join(" ")),
                ("stroke-dasharray", &dashes),
                ("stroke-dashoffset", &(dash * (alike - turn))),
            ],
        );
    }

    fn mark(&mut self, (x, y): (f64, f64), radius: f64, title: &str) {
        self.svg.open("circle", &[("class", &"mark"), ("cx", &Px(x)), ("cy", &Px(y)), ("r", &Px(radius))]);
        self.svg.title(title);
        self.svg.close();
    }
}

/// Moves sorted places apart until none is nearer to the next than that, and keeps them between two ends.
fn spread(wanted: &[f64], apart: f64, (top, bottom): (f64, f64)) -> Vec<f64> {
    let mut places = wanted.to_vec();
    for _ in 0..100 {
        for at in 1..places.len() {
            let lacking = apart - (places[at] - places[at - 1]);
            if lacking > 0.0 {
                places[at - 1] -= lacking / 2.0;
                places[at] += lacking / 2.0;
            }
        }
        if let (Some(first), room) = (places.first_mut(), top) {
            *first = first.max(room);
        }
        if let (Some(last), room) = (places.last_mut(), bottom) {
            *last = last.min(room);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn names_do_not_touch() {
        let places = spread(&[100.0, 100.0, 100.0, 300.0], 16.0, (0.0, 305.0));
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] > 15.5), "{places:?}");
        assert_eq!(places[3], 300.0);
        let low = spread(&[299.0, 300.0], 16.0, (0.0, 300.0));
        assert!(low[1] <= 300.5 && low[1] - low[0] > 15.0, "{low:?}");
    }
}
