//! Arrows.

use super::Painter;
use crate::diagram::drawing::{Weight, is_background};
use crate::diagram::labels::Line;
use crate::diagram::layout::{Arrow, Stroke, StrokeEnd};
use crate::diagram::words;
use crate::svg::Px;

const HEAD: f64 = 7.0;

impl Painter<'_> {
    pub(super) fn arrows(&mut self) {
        let layout = self.layout;
        for arrow in &layout.arrows {
            self.arrow(arrow);
        }
    }

    fn arrow(&mut self, arrow: &Arrow) {
        let message = &self.content.drawing.messages[arrow.message];
        let ends = |end: StrokeEnd| arrow.strokes.iter().any(|stroke| stroke.end == end);
        let mut class = "message".to_owned();
        for (applies, word) in [
            (is_background(message.kind), " back"),
            (message.weight == Weight::Decides, " decides"),
            (ends(StrokeEnd::Cross) || ends(StrokeEnd::CrossAtReceiver), " lost"),
            (ends(StrokeEnd::Refused), " refused"),
            (ends(StrokeEnd::UnderWay), " flying"),
        ] {
            class.push_str(if applies { word } else { "" });
        }
        self.svg.open("g", &[("class", &class), ("data-id", &message.id)]);
        self.svg.title(&words::message(message));
        for (copy, stroke) in arrow.strokes.iter().enumerate() {
            if copy > 0 {
                self.svg.open("g", &[("class", &"copy")]);
            }
            self.stroke(stroke);
            if copy > 0 {
                self.svg.close();
            }
        }
        self.svg.close();
    }

    pub(in crate::diagram::paint) fn stroke(&mut self, stroke: &Stroke) {
        let Line { from, to } = stroke.line;
        self.line("arrow", from, to);
        match stroke.end {
            StrokeEnd::Head | StrokeEnd::Refused => self.head(stroke.line),
            StrokeEnd::Cross | StrokeEnd::CrossAtReceiver => self.cross("cross", to.0, to.1, 4.0),
            StrokeEnd::UnderWay => {}
        }
    }

    fn head(&mut self, line: Line) {
        let (dx, dy) = (line.to.0 - line.from.0, line.to.1 - line.from.1);
        let length = (dx * dx + dy * dy).sqrt().max(1.0);
        let (dx, dy) = (dx / length * HEAD, dy / length * HEAD);
        let (x, y) = line.to;
        let corner = |side: f64| format!("{} {}", Px(x - dx + side * dy * 0.4), Px(y - dy - side * dx * 0.4));
        let path = format!("M{} {}L{}L{}Z", Px(x), Px(y), corner(1.0), corner(-1.0));
        self.svg.empty("path", &[("class", &"head"), ("d", &path)]);
    }
}
