//! The instants that have a place on the axis of time, and the breaks between them.
//!
//! Time is not to scale: in most runs everything happens within milliseconds, once in a while. Instants keep their
//! order, and longer times take a little more room. Where much time passes, or steady traffic is left out, the axis is
//! broken and says so.

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::time::{Span, Time};

use super::drawing::{Drawing, Fate};
use super::select::{Selection, instants};

/// Whatever messages take, so much time may pass without a break.
const UNBROKEN: Span = Span::millis(10);
/// If nothing happens, so much may.
const QUIET: Span = Span::secs(1);
/// And this many times the usual delay of a message.
const UNBROKEN_LATENCIES: u64 = 10;

/// An instant.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) at: Time,
    /// What the axis leaves out after it.
    pub(super) broken: Option<Break>,
}

/// What the axis leaves out.
#[derive(Debug, Default)]
pub(super) struct Break {
    pub(super) length: Span,
    /// Messages that were sent, by kind.
    pub(super) messages: BTreeMap<&'static str, usize>,
    /// How many of them were lost.
    pub(super) lost: usize,
    /// Instants at which something changed.
    pub(super) changes: usize,
}

impl Break {
    fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.changes == 0
    }
}

/// The instants to show, in order: of everything selected, of every mark, and the end.
pub(super) fn rows(drawing: &Drawing, selection: &Selection, marks: &[Time], end: Time) -> Vec<Row> {
    let drawn = selection.messages.iter().flat_map(|place| instants(&drawing.messages[*place]));
    let times: BTreeSet<Time> = drawn
        .chain(selection.moments.iter().copied())
        .chain(marks.iter().copied())
        .chain([Time::ZERO, end])
        .collect();
    let mut rows: Vec<Row> = times.into_iter().map(|at| Row { at, broken: None }).collect();
    let mut gaps = left_out(drawing, selection, &rows);
    let unbroken = UNBROKEN.max(usual_latency(drawing, selection) * UNBROKEN_LATENCIES);
    for place in 1..rows.len() {
        let length = rows[place].at.since(rows[place - 1].at);
        let gap = gaps.remove(&(place - 1)).unwrap_or_default();
        if length > if gap.is_empty() { QUIET.max(unbroken) } else { unbroken } {
            rows[place - 1].broken = Some(Break { length, ..gap });
        }
    }
    rows
}

/// The row of an instant.
pub(super) fn row_of(rows: &[Row], at: Time) -> Option<usize> {
    rows.binary_search_by_key(&at, |row| row.at).ok()
}

/// By row: what happens from then on until the next and is not drawn.
fn left_out(drawing: &Drawing, selection: &Selection, rows: &[Row]) -> BTreeMap<usize, Break> {
    let mut gaps: BTreeMap<usize, Break> = BTreeMap::new();
    let before = |at: Time| rows.partition_point(|row| row.at <= at).saturating_sub(1);
    for (place, message) in drawing.messages.iter().enumerate() {
        if !selection.messages.contains(&place) {
            let gap = gaps.entry(before(message.sent)).or_default();
            *gap.messages.entry(message.kind.name()).or_default() += 1;
            gap.lost += usize::from(message.ends.iter().any(|end| matches!(end.fate, Fate::Lost(_))));
        }
    }
    for at in drawing.moments.keys().filter(|at| !selection.moments.contains(at)) {
        gaps.entry(before(*at)).or_default().changes += 1;
    }
    gaps
}

/// The median delay of the messages that are drawn.
fn usual_latency(drawing: &Drawing, selection: &Selection) -> Span {
    let messages = selection.messages.iter().map(|place| &drawing.messages[*place]);
    let received = messages.flat_map(|message| {
        let ends = message.ends.iter().filter(|end| !matches!(end.fate, Fate::Lost(_)));
        ends.map(|end| end.at.since(message.sent))
    });
    let mut latencies: Vec<Span> = received.collect();
    latencies.sort_unstable();
    latencies.get(latencies.len() / 2).copied().unwrap_or_default()
}
