//! From the layout to the document.

mod arrows;
mod lanes;
mod legend;

use super::frame::{BANNER, LEADING, SMALL};
use super::layout::{Banner, BannerOf, Content, Label, Layout, Side};
use super::style::CSS;
use super::words;
use crate::diagram::{Mark, Subject};
use crate::svg::{Px, Svg};

/// The document.
pub(super) fn document(
    subject: &Subject,
    content: Content<'_>,
    heading: &Heading,
    layout: &Layout,
) -> String {
    let mut painter = Painter { svg: Svg::default(), content, layout };
    let legend = legend::Legend::new(content, layout);
    let (width, height) = (layout.frame.width(), legend.bottom() + 8.0);
    let view = format!("0 0 {} {}", Px(width), Px(height));
    painter.svg.open(
        "svg",
        &[
            ("xmlns", &"http://www.w3.org/2000/svg"),
            ("width", &Px(width)),
            ("height", &Px(height)),
            ("viewBox", &view),
            ("role", &"img"),
        ],
    );
    painter.svg.title(&subject.name);
    painter.svg.text("style", &[], CSS);
    painter.hatching();
    painter.svg.empty("rect", &[("class", &"bg"), ("width", &Px(width)), ("height", &Px(height))]);
    heading.paint(&mut painter.svg, layout);
    painter.all();
    legend.paint(&mut painter.svg);
    painter.svg.close();
    painter.svg.finish()
}

/// What is written above the picture.
#[derive(Debug)]
pub(super) struct Heading {
    /// Class, size, line.
    lines: Vec<(&'static str, f64, String)>,
}

impl Heading {
    pub(super) fn new(subject: &Subject, content: Content<'_>) -> Self {
        let frame = super::frame::Frame::new(content.drawing.lanes.len(), !content.drawing.links.is_empty());
        let mut lines = Vec::new();
        let mut add = |class, size: f64, text: &str| {
            lines.extend(frame.wrap_page(text, size).into_iter().map(|line| (class, size, line)));
        };
        add("title", 18.0, &subject.name);
        add("sub", 12.0, &subject.about);
        let broken = |mark: &Mark| format!("{} broken at {}", mark.property, words::clock(mark.at));
        if !content.marks.is_empty() {
            add("sub", 12.0, &content.marks.iter().map(broken).collect::<Vec<_>>().join(" · "));
        }
        if let Some(replay) = &subject.replay {
            // Wider than others: all its letters are as wide as the widest.
            add("replay", 12.5, &format!("$ {replay}"));
        }
        Self { lines }
    }

    /// Where it ends.
    pub(super) fn bottom(&self) -> f64 {
        14.0 + self.lines.iter().map(|(_, size, _)| size * 1.35).sum::<f64>() + 14.0
    }

    fn paint(&self, svg: &mut Svg, layout: &Layout) {
        let (x, mut y) = (layout.frame.margin(), 14.0);
        for (class, size, line) in &self.lines {
            y += size * 1.35;
            svg.text("text", &[("class", class), ("x", &Px(x)), ("y", &Px(y - size * 0.35))], line);
        }
    }
}

struct Painter<'a> {
    svg: Svg,
    content: Content<'a>,
    layout: &'a Layout,
}

impl Painter<'_> {
    /// From the back to the front.
    fn all(&mut self) {
        self.row_lines();
        self.lanes();
        self.links();
        self.mark_lines();
        self.arrows();
        let layout = self.layout;
        for banner in &layout.banners {
            self.banner(banner);
        }
        self.notes();
        for label in &layout.labels {
            self.label(label);
        }
    }

    fn hatching(&mut self) {
        self.svg.open("defs", &[]);
        self.svg.open(
            "pattern",
            &[
                ("id", &"hatch"),
                ("width", &"5"),
                ("height", &"5"),
                ("patternUnits", &"userSpaceOnUse"),
                ("patternTransform", &"rotate(45)"),
            ],
        );
        self.line("hatching", (0.0, 0.0), (0.0, 5.0));
        self.svg.close();
        self.svg.close();
    }

    /// A thin line at every instant that has its time beside it.
    fn row_lines(&mut self) {
        let layout = self.layout;
        let (left, right) = (layout.frame.left() - 4.0, layout.frame.right());
        for label in layout.labels.iter().filter(|label| label.class == "t") {
            let y = label.rect.y + SMALL * 0.6;
            self.line("row", (left, y), (right, y));
        }
    }

    fn mark_lines(&mut self) {
        let layout = self.layout;
        let (left, right) = (layout.frame.left() - 4.0, layout.frame.right());
        for mark in self.content.marks {
            let y = layout.y(mark.at);
            self.line("markline", (left, y), (right, y));
            for node in &mark.nodes {
                let x = layout.frame.lane(super::drawing::lane(*node));
                self.svg.empty(
                    "circle",
                    &[("class", &"markline"), ("cx", &Px(x)), ("cy", &Px(y)), ("r", &Px(11.0))],
                );
            }
        }
    }

    fn banner(&mut self, banner: &Banner) {
        let rect = banner.rect;
        let (class, text) = match banner.of {
            BannerOf::Mark(_) => ("markbox", "marktext"),
            BannerOf::Break(_) => ("gone", "break"),
        };
        let title = match banner.of {
            BannerOf::Mark(mark) => Some(&self.content.marks[mark]),
            BannerOf::Break(_) => None,
        };
        self.svg.open("g", &[("class", &if title.is_some() { "mark" } else { "gap" })]);
        if let Some(mark) = title {
            let at = words::clock(mark.at);
            self.svg.title(&format!("{} is broken at {at}: {}", mark.property, mark.text));
        }
        self.svg.empty(
            "rect",
            &[
                ("class", &class),
                ("x", &Px(rect.x)),
                ("y", &Px(rect.y)),
                ("width", &Px(rect.width)),
                ("height", &Px(rect.height)),
            ],
        );
        if title.is_none() {
            self.torn_edge(rect.y, rect.x, rect.x + rect.width);
            self.torn_edge(rect.y + rect.height, rect.x, rect.x + rect.width);
        }
        for (place, line) in banner.lines.iter().enumerate() {
            let y = rect.y + 3.0 + BANNER * (0.9 + LEADING * place as f64);
            self.svg.text("text", &[("class", &text), ("x", &Px(rect.x + 8.0)), ("y", &Px(y))], line);
        }
        self.svg.close();
    }

    fn torn_edge(&mut self, y: f64, left: f64, right: f64) {
        let mut path = format!("M{} {}", Px(left), Px(y));
        let teeth = ((right - left) / 8.0) as usize;
        for tooth in 1..=teeth {
            let dy = if tooth % 2 == 0 { 1.5 } else { -1.5 };
            path.push_str(&format!("L{} {}", Px(left + 8.0 * tooth as f64), Px(y + dy)));
        }
        self.svg.empty("path", &[("class", &"zig"), ("d", &path)]);
    }

    fn label(&mut self, label: &Label) {
        let (x, anchor) = match label.side {
            Side::Left => (label.rect.x, "start"),
            Side::Middle => (label.rect.x + label.rect.width / 2.0, "middle"),
            Side::Right => (label.rect.x + label.rect.width, "end"),
        };
        for (place, line) in label.lines.iter().enumerate() {
            let y = label.rect.y + SMALL * (0.92 + LEADING * place as f64);
            let attributes: [(&str, &dyn std::fmt::Display); 4] =
                [("class", &label.class), ("x", &Px(x)), ("y", &Px(y)), ("text-anchor", &anchor)];
            match &label.tail {
                Some(tail) => self.svg.text_with_tail(&attributes, line, ("id", tail)),
                None => self.svg.text("text", &attributes, line),
            }
        }
    }

    fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let attributes: [(&str, &dyn std::fmt::Display); 5] = [
            ("class", &class),
            ("x1", &Px(from.0)),
            ("y1", &Px(from.1)),
            ("x2", &Px(to.0)),
            ("y2", &Px(to.1)),
        ];
        self.svg.empty("line", &attributes);
    }
}
