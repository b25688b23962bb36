//! Measurements as a picture for a slide.
//!
//! | part | file |
//! |---|---|
//! | cost as the cluster grows, one line for each algorithm | `growth.rs` |
//! | failovers, time without a leader and with two, one line of bars for each algorithm and size | `bars.rs` |
//! | from values to places, with round ticks; numbers as people write them | `scale.rs` |
//! | colours | `style.rs` |
//!
//! The same rows give the same bytes.

mod bars;
mod growth;
mod scale;
mod style;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use bellwether_proto::election::Protocol;

use crate::measure::compare::Row;
use crate::svg::{Px, Svg, wrap};

const WIDTH: f64 = 1120.0;
const MARGIN: f64 = 32.0;

/// What is written around the picture.
#[derive(Clone, Debug, Default)]
pub struct Captions {
    /// Above it.
    pub title: String,
    /// What was measured, on which figures.
    pub about: String,
    /// Warnings, one line each.
    pub notes: Vec<String>,
}

/// Draws rows as an SVG document.
pub fn draw(rows: &[Row], captions: &Captions) -> String {
    let mut page = Page { svg: Svg::default(), y: MARGIN };
    page.heading(captions);
    let sizes: BTreeSet<u32> = rows.iter().map(|row| row.nodes).collect();
    let grows = sizes.len() > 1;
    if grows {
        growth::draw(&mut page, rows, &sizes.into_iter().collect::<Vec<_>>());
    }
    bars::draw(&mut page, rows, grows);
    let failovers = rows.iter().any(|row| !row.failovers.is_empty());
    page.notes(
        failovers.then_some(bars::LEGEND).into_iter().chain(captions.notes.iter().map(String::as_str)),
    );
    page.finish(&captions.title)
}

/// A document in the making, from top to bottom.
#[derive(Debug)]
struct Page {
    svg: Svg,
    /// How far down it is filled.
    y: f64,
}

impl Page {
    fn heading(&mut self, captions: &Captions) {
        self.paragraph("title", 22.0, &captions.title);
        self.paragraph("about", 14.0, &captions.about);
        self.y += 10.0;
    }

    fn notes<'a>(&mut self, notes: impl Iterator<Item = &'a str>) {
        self.y += 6.0;
        notes.for_each(|note| self.paragraph("note", 12.0, note));
    }

    fn paragraph(&mut self, class: &str, size: f64, text: &str) {
        for line in wrap(text, (WIDTH - 2.0 * MARGIN) / size) {
            self.y += size * 1.35;
            self.text(class, (MARGIN, self.y - size * 0.35), "start", &line);
        }
    }

    fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: &str, text: &str) {
        self.svg.text(
            "text",
            &[("class", &class), ("x", &Px(x)), ("y", &Px(y)), ("text-anchor", &anchor)],
            text,
        );
    }

    fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.svg.empty(
            "line",
            &[
                ("class", &class),
                ("x1", &Px(from.0)),
                ("y1", &Px(from.1)),
                ("x2", &Px(to.0)),
                ("y2", &Px(to.1)),
            ],
        );
    }

    fn rect(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        self.svg.empty(
            "rect",
            &[
                ("class", &class),
                ("x", &Px(x)),
                ("y", &Px(y)),
                ("width", &Px(width)),
                ("height", &Px(height)),
            ],
        );
    }

    /// What follows, up to the end of the element, is of that algorithm.
    fn open_series(&mut self, protocol: Protocol) {
        let class = format!("series p{}", style::colour(protocol));
        self.svg.open("g", &[("class", &class), ("data-protocol", &protocol.name())]);
    }

    fn finish(self, title: &str) -> String {
        let (body, height) = (self.svg.finish(), self.y + MARGIN * 0.6);
        let mut svg = Svg::default();
        svg.open(
            "svg",
            &[
                ("xmlns", &"http://www.w3.org/2000/svg"),
                ("width", &Px(WIDTH)),
                ("height", &Px(height)),
                ("viewBox", &format!("0 0 {} {}", Px(WIDTH), Px(height))),
                ("role", &"img"),
            ],
        );
        svg.title(title);
        svg.text("style", &[], &style::css());
        svg.empty("rect", &[("class", &"bg"), ("width", &Px(WIDTH)), ("height", &Px(height))]);
        svg.append(&body);
        svg.close();
        svg.finish()
    }
}
