//! Arrows: from where to where, and their names.

use std::collections::BTreeMap;

use bellwether_proto::trace::DropReason;

use super::{Attempt, Label, Side};
use crate::diagram::drawing::{End, Fate, Message, Weight, is_background};
use crate::diagram::frame::{BAND, SMALL, small};
use crate::diagram::labels::{Line, Rect};

/// How much of the way to the next lane an arrow goes that is broken off.
const BROKEN_OFF: f64 = 0.22;

/// With more messages than this only those that decide something are sure to have their names.
const LABELS_ALL: usize = 70;

/// A message.
#[derive(Debug)]
pub(in crate::diagram) struct Arrow {
    /// Its place among the messages.
    pub(in crate::diagram) message: usize,
    /// One for each copy.
    pub(in crate::diagram) strokes: Vec<Stroke>,
}

/// One copy of a message.
#[derive(Clone, Copy, Debug)]
pub(in crate::diagram) struct Stroke {
    pub(in crate::diagram) line: Line,
    pub(in crate::diagram) end: StrokeEnd,
}

/// How a stroke ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::diagram) enum StrokeEnd {
    /// At its receiver.
    Head,
    /// At its receiver, which does nothing with it.
    Refused,
    /// At its receiver, which is down.
    CrossAtReceiver,
    /// On the way.
    Cross,
    /// On the way, at the end of the run.
    UnderWay,
}

impl Attempt<'_> {
    /// By row: the rows from which messages come that arrive then, and how far below these that must be.
    pub(super) fn slants(&self) -> Vec<Vec<(usize, f64)>> {
        let mut slants = vec![Vec::new(); self.rows.len()];
        for message in self.drawn() {
            let Some(sent) = self.row_of(message.sent) else { continue };
            for arrived in message.ends.iter().filter_map(|end| self.row_of(end.at)).filter(|row| *row > sent)
            {
                let lanes = message.from.abs_diff(message.to) as f64;
                slants[arrived].push((sent, (12.0 + 5.0 * lanes).min(36.0)));
            }
        }
        slants
    }

    /// The room that arrows which are broken off need below the row from which they come.
    pub(super) fn broken_off_below(&self, row: usize) -> f64 {
        let at = self.rows[row].at;
        let broken_off = self.drawn().filter(|message| message.sent == at && is_broken_off(message));
        let mut fans: BTreeMap<(usize, bool), usize> = BTreeMap::new();
        broken_off
            .for_each(|message| *fans.entry((message.from, message.from < message.to)).or_default() += 1);
        fans.into_values().max().map_or(0.0, |most| broken_off_by(most - 1) + 4.0)
    }

    fn drawn(&self) -> impl Iterator<Item = &Message> {
        self.content.selection.messages.iter().map(|place| &self.content.drawing.messages[*place])
    }

    pub(super) fn arrows(&self) -> Vec<Arrow> {
        let mut fans: BTreeMap<(usize, usize, bool), usize> = BTreeMap::new();
        let arrow = |place: &usize| {
            let message = &self.content.drawing.messages[*place];
            let sent = self.row_of(message.sent)?;
            let turn = if is_broken_off(message) {
                let fan = fans.entry((sent, message.from, message.from < message.to)).or_default();
                *fan += 1;
                *fan - 1
            } else {
                0
            };
            let mut strokes: Vec<Stroke> =
                message.ends.iter().filter_map(|end| self.stroke(message, sent, end, turn)).collect();
            if strokes.is_empty() {
                strokes.push(self.broken_off(message, sent, turn, StrokeEnd::UnderWay));
            }
            Some(Arrow { message: *place, strokes })
        };
        self.content.selection.messages.iter().filter_map(arrow).collect()
    }

    fn stroke(&self, message: &Message, sent: usize, end: &End, turn: usize) -> Option<Stroke> {
        let how = match end.fate {
            Fate::Received => StrokeEnd::Head,
            Fate::Refused(_) => StrokeEnd::Refused,
            Fate::Lost(DropReason::Down) => StrokeEnd::CrossAtReceiver,
            Fate::Lost(DropReason::Lost | DropReason::Dropped | DropReason::Cut) => {
                return Some(self.broken_off(message, sent, turn, StrokeEnd::Cross));
            }
        };
        let y = self.ys[self.row_of(end.at)?];
        let to = self.frame.lane(message.to) - direction(message) * (BAND + 1.0);
        Some(Stroke { line: Line { from: self.origin(message, sent), to: (to, y) }, end: how })
    }

    /// One that never arrives. Several that leave a lane at once are spread.
    fn broken_off(&self, message: &Message, sent: usize, turn: usize, end: StrokeEnd) -> Stroke {
        let from = self.origin(message, sent);
        let to = (from.0 + direction(message) * self.frame.gap() * BROKEN_OFF, from.1 + broken_off_by(turn));
        Stroke { line: Line { from, to }, end }
    }

    fn origin(&self, message: &Message, sent: usize) -> (f64, f64) {
        (self.frame.lane(message.from) + direction(message) * (BAND + 1.0), self.ys[sent])
    }

    /// Gives arrows their names, those that decide first.
    pub(super) fn name_arrows(&mut self, arrows: &[Arrow]) {
        let mut order: Vec<&Arrow> = arrows.iter().collect();
        order.sort_by_key(|arrow| {
            let message = &self.content.drawing.messages[arrow.message];
            let lost = arrow.strokes.iter().any(|stroke| stroke.end != StrokeEnd::Head);
            (is_background(message.kind), !lost, std::cmp::Reverse(message.weight), message.id)
        });
        for arrow in order {
            self.name_arrow(arrow);
        }
    }

    fn name_arrow(&mut self, arrow: &Arrow) {
        let message = &self.content.drawing.messages[arrow.message];
        let stroke = arrow.strokes[0];
        let (id, to) = (message.id, message.to + 1);
        // One that is broken off does not show where it was to go.
        let tails = match stroke.end {
            StrokeEnd::Cross | StrokeEnd::UnderWay => vec![format!("#{id}→{to}"), format!("→{to}")],
            StrokeEnd::Head | StrokeEnd::Refused | StrokeEnd::CrossAtReceiver => vec![format!("#{id}")],
        };
        let named = tails.into_iter().any(|tail| self.name_arrow_with(message, stroke, tail));
        let few = self.content.selection.messages.len() <= LABELS_ALL;
        let wanted = !is_background(message.kind) && (few || message.weight == Weight::Decides);
        if !named && wanted {
            self.homeless.extend(self.row_of(message.sent));
        }
    }

    fn name_arrow_with(&mut self, message: &Message, stroke: Stroke, tail: String) -> bool {
        let width = small(message.kind.name()) + 3.0 + small(&tail) * TAIL;
        let places = match stroke.end {
            StrokeEnd::Cross | StrokeEnd::UnderWay => beyond(stroke.line, width),
            StrokeEnd::Head | StrokeEnd::Refused | StrokeEnd::CrossAtReceiver => {
                self.along(message, stroke.line, width)
            }
        };
        let class = match stroke.end {
            StrokeEnd::Cross | StrokeEnd::CrossAtReceiver => "m lost",
            StrokeEnd::Head | StrokeEnd::Refused | StrokeEnd::UnderWay if is_background(message.kind) => {
                "m back"
            }
            StrokeEnd::Head | StrokeEnd::Refused | StrokeEnd::UnderWay => "m",
        };
        let label = Label {
            class,
            side: Side::Middle,
            rect: Rect { x: 0.0, y: 0.0, width, height: SMALL },
            lines: vec![message.kind.name().to_owned()],
            tail: Some(tail),
        };
        self.put(label, &places, Some(stroke.line))
    }

    /// On the line, between two lanes; near the receiver, where arrows from one sender are apart.
    fn along(&self, message: &Message, line: Line, width: f64) -> Vec<(Side, Rect)> {
        let (first, last) = (message.from.min(message.to), message.from.max(message.to));
        let mut gaps: Vec<usize> = (first..last).collect();
        if message.from < message.to {
            gaps.reverse();
        }
        let mut places = Vec::new();
        for gap in gaps {
            for part in [0.5, 0.4, 0.6, 0.3, 0.7, 0.45, 0.55, 0.35, 0.65] {
                let x = self.frame.lane(gap) + part * self.frame.gap();
                let along = (x - line.from.0) / (line.to.0 - line.from.0);
                let y = line.from.1 + along * (line.to.1 - line.from.1);
                places.push((Side::Middle, rect_around(x, y, width)));
            }
        }
        places
    }
}

/// The size of what follows a name, in that of the name.
pub(in crate::diagram) const TAIL: f64 = 0.82;

/// After the end of a line that leads nowhere.
fn beyond(line: Line, width: f64) -> Vec<(Side, Rect)> {
    let (x, y) = line.to;
    let right = line.from.0 < line.to.0;
    let at = |dy: f64| {
        let rect =
            rect_around(if right { x + 8.0 + width / 2.0 } else { x - 8.0 - width / 2.0 }, y + dy, width);
        (if right { Side::Left } else { Side::Right }, rect)
    };
    vec![at(0.0), at(-7.0), at(7.0)]
}

fn rect_around(x: f64, y: f64, width: f64) -> Rect {
    Rect { x: x - width / 2.0, y: y - SMALL * 0.55, width, height: SMALL * 1.1 }
}

fn is_broken_off(message: &Message) -> bool {
    let on_the_way =
        |end: &End| matches!(end.fate, Fate::Lost(DropReason::Lost | DropReason::Dropped | DropReason::Cut));
    message.ends.is_empty() || message.ends.iter().any(on_the_way)
}

/// How far down the next of several goes.
fn broken_off_by(turn: usize) -> f64 {
    8.0 + 12.5 * turn as f64
}

fn direction(message: &Message) -> f64 {
    if message.from < message.to { 1.0 } else { -1.0 }
}
