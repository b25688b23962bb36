//! Where everything is: rows from top to bottom, arrows between the lanes, and words where there is room for them.
//!
//! Rows are as close as arrows can still slant and words beside a lane do not meet. If a label still finds no room,
//! the row before it is stretched, a few times. If there is no room then, only the tooltip has the text.

mod arrows;
mod margins;

use bellwether_proto::time::Time;

use super::drawing::Drawing;
use super::frame::{BANNER, Frame, LEADER_BAND, LEADING, SMALL};
use super::labels::{Line, Rect, Sheet};
use super::rows::{Break, Row, row_of, rows};
use super::select::Selection;
use super::words;
use crate::diagram::Mark;

pub(super) use arrows::{Arrow, Stroke, StrokeEnd};
pub(super) use margins::LinkNote;

/// How often rows are stretched for labels that find no room.
const STRETCHES: usize = 12;
/// By how much.
const STRETCH: f64 = 8.0;

/// What is to be laid out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content<'a> {
    pub(super) nodes: u32,
    pub(super) drawing: &'a Drawing,
    pub(super) selection: &'a Selection,
    pub(super) marks: &'a [Mark],
    pub(super) end: Time,
}

/// Everything in its place.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) frame: Frame,
    pub(super) rows: Vec<Row>,
    /// By row.
    pub(super) ys: Vec<f64>,
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) arrows: Vec<Arrow>,
    pub(super) labels: Vec<Label>,
    pub(super) banners: Vec<Banner>,
}

/// Some words.
#[derive(Clone, Debug)]
pub(super) struct Label {
    pub(super) class: &'static str,
    pub(super) side: Side,
    pub(super) rect: Rect,
    pub(super) lines: Vec<String>,
    /// Follows the last line, less prominent.
    pub(super) tail: Option<String>,
}

/// From which side of its rectangle a text runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Middle,
    Right,
}

/// Words across all lanes.
#[derive(Debug)]
pub(super) struct Banner {
    pub(super) of: BannerOf,
    pub(super) rect: Rect,
    pub(super) lines: Vec<String>,
}

/// What a banner is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BannerOf {
    /// That mark.
    Mark(usize),
    /// What the axis leaves out after that row.
    Break(usize),
}

impl Layout {
    /// Lays out below `top`.
    pub(super) fn new(content: Content<'_>, top: f64) -> Self {
        let marked: Vec<Time> = content.marks.iter().map(|mark| mark.at).collect();
        let rows = rows(content.drawing, content.selection, &marked, content.end);
        let frame = Frame::new(content.drawing.lanes.len(), !content.drawing.links.is_empty());
        let mut stretched = vec![0.0; rows.len()];
        let mut round = 0;
        loop {
            let attempt = Attempt::new(content, frame, &rows, &stretched, top);
            let (layout, homeless) = attempt.fill();
            if homeless.is_empty() || round == STRETCHES {
                return Self { rows, ..layout };
            }
            for row in homeless {
                stretched[row] = (stretched[row] + STRETCH).min(STRETCH * (round + 1) as f64);
            }
            round += 1;
        }
    }

    /// The vertical position of an instant. Instants within a break are in its middle.
    pub(super) fn y(&self, at: Time) -> f64 {
        let after = self.rows.partition_point(|row| row.at <= at);
        let Some(before) = after.checked_sub(1) else { return self.ys[0] };
        if after == self.rows.len() || self.rows[before].at == at {
            return self.ys[before];
        }
        let middle = |banner: &&Banner| banner.of == BannerOf::Break(before);
        if let Some(banner) = self.banners.iter().find(middle) {
            return banner.rect.y + banner.rect.height / 2.0;
        }
        let part = at.since(self.rows[before].at).as_micros() as f64
            / self.rows[after].at.since(self.rows[before].at).as_micros() as f64;
        self.ys[before] + part * (self.ys[after] - self.ys[before])
    }
}

/// One way to lay things out, in the making.
struct Attempt<'a> {
    content: Content<'a>,
    frame: Frame,
    rows: &'a [Row],
    ys: Vec<f64>,
    top: f64,
    banners: Vec<Banner>,
    sheet: Sheet,
    labels: Vec<Label>,
    /// Rows after which more room is wanted.
    homeless: Vec<usize>,
}

impl<'a> Attempt<'a> {
    fn new(content: Content<'a>, frame: Frame, rows: &'a [Row], stretched: &[f64], top: f64) -> Self {
        let mut attempt = Self {
            content,
            frame,
            rows,
            ys: Vec::new(),
            top,
            banners: Vec::new(),
            sheet: Sheet::default(),
            labels: Vec::new(),
            homeless: Vec::new(),
        };
        attempt.set_rows(stretched);
        attempt
    }

    fn row_of(&self, at: Time) -> Option<usize> {
        row_of(self.rows, at)
    }

    /// From the top: each row below the last one, below what its words and arrows need, and below its banners.
    fn set_rows(&mut self, stretched: &[f64]) {
        let slants = self.slants();
        let notes = self.note_heights();
        let mut floors = vec![0.0_f64; self.frame.lanes() + 1];
        let mut y = self.top + 22.0;
        for row in 0..self.rows.len() {
            for (sent, slant) in &slants[row] {
                y = y.max(self.ys[*sent] + slant);
            }
            for (lane, height) in &notes[row] {
                y = y.max(floors[*lane] + 2.0);
                floors[*lane] = y + height;
            }
            self.ys.push(y);
            y += stretched[row] + self.broken_off_below(row);
            y = self.add_banners(row, y);
            if self.rows[row].broken.is_some() {
                y += 10.0;
            } else if let Some(next) = self.rows.get(row + 1) {
                y += apart(next.at.since(self.rows[row].at).as_micros());
            }
        }
    }

    /// Adds the banners that follow a row, and returns the position below them.
    fn add_banners(&mut self, row: usize, mut y: f64) -> f64 {
        let at = self.rows[row].at;
        let marks = self.content.marks.iter().enumerate().filter(|(_, mark)| mark.at == at);
        let marks: Vec<_> = marks.map(|(place, mark)| (BannerOf::Mark(place), mark_text(mark))).collect();
        let broken = self.rows[row].broken.as_ref().map(|broken| (BannerOf::Break(row), break_text(broken)));
        for (of, text) in marks.into_iter().chain(broken) {
            let lines = self.frame.wrap_banner(&text);
            let height = lines.len() as f64 * BANNER * LEADING + 6.0;
            let (x, right) = (self.frame.left(), self.frame.right());
            y += if matches!(of, BannerOf::Break(_)) { 8.0 } else { 3.0 };
            let rect = Rect { x, y, width: right - x, height };
            y += height + 4.0;
            self.banners.push(Banner { of, rect, lines });
        }
        y
    }

    /// Puts arrows and words in, the more important first, and gives the rows after which there is too little room.
    fn fill(mut self) -> (Layout, Vec<usize>) {
        let bottom = self.ys.last().copied().unwrap_or(self.top) + 14.0;
        for lane in 0..self.frame.lanes() {
            let (x, half) = (self.frame.lane(lane), LEADER_BAND + 1.0);
            self.sheet.take(Rect { x: x - half, y: self.top, width: 2.0 * half, height: bottom - self.top });
        }
        for banner in &self.banners {
            self.sheet.take(banner.rect);
        }
        let arrows = self.arrows();
        for stroke in arrows.iter().flat_map(|arrow| &arrow.strokes) {
            self.sheet.avoid(stroke.line);
        }
        self.place_notes();
        self.place_link_notes();
        self.place_clock();
        self.name_arrows(&arrows);
        let Self { frame, ys, top, banners, labels, homeless, .. } = self;
        (Layout { frame, rows: Vec::new(), ys, top, bottom, arrows, labels, banners }, homeless)
    }

    /// Puts a label into the first free of some places, if there is one.
    fn put(&mut self, label: Label, places: &[(Side, Rect)], own: Option<Line>) -> bool {
        let inside =
            |rect: &Rect| rect.y >= self.top && rect.x >= 2.0 && rect.x + rect.width <= self.frame.width();
        let places: Vec<(Side, Rect)> = places.iter().filter(|(_, rect)| inside(rect)).copied().collect();
        let rects: Vec<Rect> = places.iter().map(|(_, rect)| *rect).collect();
        let Some(place) = self.sheet.place(&rects, own) else { return false };
        let (side, rect) = places[place];
        self.labels.push(Label { side, rect, ..label });
        true
    }
}

/// How far apart two rows are at least, by the time between them.
fn apart(micros: u64) -> f64 {
    6.0 + 2.5 * f64::from((1 + micros / 64).ilog2().min(8))
}

fn mark_text(mark: &Mark) -> String {
    format!("✗ {} broken: {}", mark.property, mark.text)
}

fn break_text(broken: &Break) -> String {
    let mut parts: Vec<String> =
        broken.messages.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    if broken.lost > 0 {
        let last = parts.pop().unwrap_or_default();
        parts.push(format!("{last} ({} of these lost)", broken.lost));
    }
    if broken.changes > 0 {
        parts.push(words::count(broken.changes, "change"));
    }
    let parts = if parts.is_empty() {
        "nothing happens".to_owned()
    } else {
        format!("not drawn: {}", parts.join(", "))
    };
    format!("⋯ {} ⋯ {parts}", words::length(broken.length))
}

/// The rectangle of lines of small text.
fn block(lines: &[String]) -> (f64, f64) {
    let width = lines.iter().map(|line| super::frame::small_bold(line)).fold(0.0, f64::max);
    (width, lines.len() as f64 * SMALL * LEADING)
}
