//! The lanes: a band in the colour of a node's status, and what happened to it.

use bellwether_proto::ident::NodeId;
use bellwether_proto::opinion::Status;
use bellwether_proto::time::Time;

use super::Painter;
use crate::diagram::drawing::{Condition, Drawing, Note};
use crate::diagram::frame::{BAND, LEADER_BAND};
use crate::diagram::layout::LinkNote;
use crate::diagram::words;
use crate::svg::Px;

/// The class of a band.
pub(in crate::diagram) fn band_class(drawing: &Drawing, condition: &Condition) -> &'static str {
    match (condition.opinion.status, drawing.leader(condition)) {
        (Status::Normal, None) => UNLED,
        (status, _) => status.name(),
    }
}

/// The class of the band of a node that goes about its work and has no leader.
pub(in crate::diagram) const UNLED: &str = "unled";

impl Painter<'_> {
    pub(super) fn lanes(&mut self) {
        for lane in 0..self.content.drawing.lanes.len() {
            self.lane(lane);
        }
    }

    fn lane(&mut self, lane: usize) {
        let layout = self.layout;
        let (x, name) = (layout.frame.lane(lane), format!("node {}", lane + 1));
        self.svg.open("g", &[("class", &"node-lane"), ("data-node", &(lane + 1))]);
        for y in [layout.top + 4.0, layout.bottom + 14.0] {
            let attributes: [(&str, &dyn std::fmt::Display); 4] =
                [("class", &"node"), ("x", &Px(x)), ("y", &Px(y)), ("text-anchor", &"middle")];
            self.svg.text("text", &attributes, &name);
        }
        self.line("lane", (x, layout.ys[0]), (x, layout.bottom));
        let conditions = &self.content.drawing.lanes[lane].conditions;
        for (place, (from, condition)) in conditions.iter().enumerate() {
            let to = conditions.get(place + 1).map(|(to, _)| *to);
            self.band(lane, *from, to, condition);
        }
        self.svg.close();
    }

    /// How a node was for a while, or to the end.
    fn band(&mut self, lane: usize, from: Time, to: Option<Time>, condition: &Condition) {
        let layout = self.layout;
        let (top, bottom) = (layout.y(from), to.map_or(layout.bottom, |to| layout.y(to)));
        if bottom - top < 0.1 || !condition.up {
            return;
        }
        let node = NodeId(lane as u32 + 1);
        let leads = self.content.drawing.leader(condition) == Some(node);
        let half = if leads { LEADER_BAND } else { BAND };
        let x = layout.frame.lane(lane);
        let until = to.map_or("the end".to_owned(), words::clock);
        let rect = |painter: &mut Self, class: &str| {
            painter.svg.empty(
                "rect",
                &[
                    ("class", &class),
                    ("x", &Px(x - half)),
                    ("y", &Px(top)),
                    ("width", &Px(2.0 * half)),
                    ("height", &Px(bottom - top)),
                ],
            );
        };
        self.svg.open("g", &[("class", &"band")]);
        self.svg.title(&format!(
            "node {node}: {}, from {} to {until}",
            words::condition(condition),
            words::clock(from)
        ));
        rect(self, band_class(self.content.drawing, condition));
        if condition.paused {
            rect(self, "paused");
        }
        self.svg.close();
    }

    /// The band of the links: there while any is cut.
    pub(super) fn links(&mut self) {
        let layout = self.layout;
        let Some(x) = layout.frame.links() else { return };
        let attributes: [(&str, &dyn std::fmt::Display); 4] = [
            ("class", &"node"),
            ("x", &Px(x - 4.0)),
            ("y", &Px(layout.top + 4.0)),
            ("text-anchor", &"start"),
        ];
        self.svg.text("text", &attributes, "links");
        self.line("lane", (x, layout.ys[0]), (x, layout.bottom));
        let notes = LinkNote::all(self.content.nodes, self.content.drawing);
        for (place, note) in notes.iter().enumerate() {
            let end = notes.get(place + 1).map(|next| next.at);
            let (top, bottom) = (layout.y(note.at), end.map_or(layout.bottom, |end| layout.y(end)));
            let until = end.map_or("the end".to_owned(), words::clock);
            self.svg.open("g", &[("class", &"links")]);
            self.svg.title(&format!("links: {}, from {} to {until}", note.text, words::clock(note.at)));
            if note.cut {
                self.svg.empty(
                    "rect",
                    &[
                        ("class", &"cut"),
                        ("x", &Px(x - BAND)),
                        ("y", &Px(top)),
                        ("width", &Px(2.0 * BAND)),
                        ("height", &Px(bottom - top)),
                    ],
                );
            }
            self.line("row", (x - 9.0, top), (x + 9.0, top));
            self.svg.close();
        }
    }

    /// A mark on a lane wherever something happened to its node or was reported by it.
    pub(super) fn notes(&mut self) {
        for (lane, story) in self.content.drawing.lanes.iter().enumerate() {
            for here in story.notes.chunk_by(|one, other| one.0 == other.0) {
                self.note(lane, here);
            }
        }
    }

    fn note(&mut self, lane: usize, here: &[(Time, Note)]) {
        let layout = self.layout;
        let (at, node) = (here[0].0, NodeId(lane as u32 + 1));
        let announces = self.content.drawing.announces;
        let told: Vec<String> =
            here.iter().filter_map(|(_, note)| words::note(node, note, announces)).collect();
        if told.is_empty() || layout.rows.binary_search_by_key(&at, |row| row.at).is_err() {
            return;
        }
        let (x, y) = (layout.frame.lane(lane), layout.y(at));
        self.svg.open("g", &[("class", &"note")]);
        self.svg.title(&format!("node {node}, {}: {}", words::clock(at), told.join(", ")));
        if here.iter().any(|(_, note)| *note == Note::Crashed) {
            self.cross("crash", x, y, 6.0);
        } else {
            self.svg.empty("circle", &[("class", &"dot"), ("cx", &Px(x)), ("cy", &Px(y)), ("r", &Px(3.0))]);
        }
        self.svg.close();
    }

    pub(super) fn cross(&mut self, class: &str, x: f64, y: f64, half: f64) {
        let [left, right, up, down] = [x - half, x + half, y - half, y + half].map(Px);
        let path = format!("M{left} {up}L{right} {down}M{left} {down}L{right} {up}");
        self.svg.empty("path", &[("class", &class), ("d", &path)]);
    }
}
