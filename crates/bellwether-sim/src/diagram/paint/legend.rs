//! What colours and lines mean, and what is not in the picture.

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::opinion::Status;

use super::lanes::{UNLED, band_class};
use crate::diagram::drawing::{Drawing, is_background};
use crate::diagram::frame::{Frame, SMALL, small};
use crate::diagram::layout::{Content, Layout, StrokeEnd};
use crate::diagram::words;
use crate::svg::{Px, Svg};

const LINE: f64 = 17.0;
const SWATCH: f64 = 26.0;

/// The legend, line by line.
#[derive(Debug)]
pub(super) struct Legend {
    top: f64,
    left: f64,
    samples: Vec<Vec<(f64, Sample)>>,
    notes: Vec<String>,
}

/// Something drawn, and what it means.
#[derive(Clone, Debug)]
struct Sample {
    shows: Shows,
    means: String,
}

#[derive(Clone, Copy, Debug)]
enum Shows {
    /// A band of that class, so wide.
    Band(&'static str, f64),
    /// A line of that class, with a cross at its end or not.
    Line(&'static str, bool),
}

impl Legend {
    pub(super) fn new(content: Content<'_>, layout: &Layout) -> Self {
        let frame = layout.frame;
        let notes = notes(content).iter().flat_map(|note| frame.wrap_page(note, SMALL)).collect();
        Self {
            top: layout.bottom + 30.0,
            left: frame.margin(),
            samples: flow(samples(content, layout), frame),
            notes,
        }
    }

    /// Where it ends.
    pub(super) fn bottom(&self) -> f64 {
        self.top + LINE * (self.samples.len() + self.notes.len()) as f64
    }

    pub(super) fn paint(&self, svg: &mut Svg) {
        svg.open("g", &[("class", &"legends")]);
        let mut y = self.top;
        for line in &self.samples {
            for (x, sample) in line {
                sample.paint(svg, self.left + x, y);
            }
            y += LINE;
        }
        for note in &self.notes {
            svg.text("text", &[("class", &"legend"), ("x", &Px(self.left)), ("y", &Px(y + 4.0))], note);
            y += LINE;
        }
        svg.close();
    }
}

impl Sample {
    fn new(shows: Shows, means: impl Into<String>) -> Self {
        Self { shows, means: means.into() }
    }

    fn paint(&self, svg: &mut Svg, x: f64, y: f64) {
        match self.shows {
            Shows::Band(class, width) => {
                let mut rect = |class: &str| {
                    let place: [(&str, &dyn std::fmt::Display); 5] = [
                        ("class", &class),
                        ("x", &Px(x)),
                        ("y", &Px(y - width / 2.0)),
                        ("width", &Px(SWATCH - 6.0)),
                        ("height", &Px(width)),
                    ];
                    svg.empty("rect", &place);
                };
                if class == "paused" {
                    rect("normal");
                }
                rect(class);
            }
            Shows::Line(class, crossed) => {
                svg.open("g", &[("class", &class)]);
                let path = format!("M{} {}h{}", Px(x), Px(y), Px(SWATCH - 6.0));
                svg.empty(
                    "path",
                    &[("class", &if class == "down" { "lane" } else { "arrow" }), ("d", &path)],
                );
                let (end, up, down) = (x + SWATCH - 6.0, y - 3.0, y + 3.0);
                if crossed {
                    let [left, right, up, down] = [end - 3.0, end + 3.0, up, down].map(Px);
                    let path = format!("M{left} {up}L{right} {down}M{left} {down}L{right} {up}");
                    svg.empty("path", &[("class", &"cross"), ("d", &path)]);
                } else if class != "down" && class != "flying" {
                    let path = format!("M{} {}l-6 -3v6Z", Px(end), Px(y));
                    svg.empty("path", &[("class", &"head"), ("d", &path)]);
                }
                svg.close();
            }
        }
        svg.text("text", &[("class", &"legend"), ("x", &Px(x + SWATCH)), ("y", &Px(y + 4.0))], &self.means);
    }
}

/// From left to right, and on the next line when one is full.
fn flow(samples: Vec<Sample>, frame: Frame) -> Vec<Vec<(f64, Sample)>> {
    let mut lines: Vec<Vec<(f64, Sample)>> = vec![Vec::new()];
    let mut x = 0.0;
    for sample in samples {
        let width = SWATCH + small(&sample.means) + 14.0;
        if x > 0.0 && x + width > frame.width() - 2.0 * frame.margin() {
            lines.push(Vec::new());
            x = 0.0;
        }
        lines.last_mut().expect("there is always one").push((x, sample));
        x += width;
    }
    lines
}

/// What occurs in the picture.
fn samples(content: Content<'_>, layout: &Layout) -> Vec<Sample> {
    let conditions =
        content.drawing.lanes.iter().flat_map(|lane| &lane.conditions).map(|(_, condition)| condition);
    let bands: BTreeSet<&str> = conditions
        .clone()
        .filter(|condition| condition.up)
        .map(|condition| band_class(content.drawing, condition))
        .collect();
    let statuses = [Status::Election, Status::Waiting, Status::Reorganizing, Status::Normal, Status::Dead];
    let mut samples: Vec<Sample> = statuses
        .into_iter()
        .filter(|status| bands.contains(status.name()))
        .map(|status| Sample::new(Shows::Band(status.name(), 8.0), status.name()))
        .collect();
    if bands.contains(UNLED) {
        samples.push(Sample::new(Shows::Band(UNLED, 8.0), "normal, without a leader"));
    }
    samples.push(Sample::new(Shows::Band("normal", 14.0), "★ leads"));
    if conditions.clone().any(|condition| condition.paused) {
        samples.push(Sample::new(Shows::Band("paused", 8.0), "paused"));
    }
    if conditions.clone().any(|condition| !condition.up) {
        samples.push(Sample::new(Shows::Line("down", false), "down"));
    }
    if content
        .drawing
        .links
        .iter()
        .any(|(_, change)| matches!(change, crate::diagram::drawing::LinkChange::Cut(..)))
    {
        samples.push(Sample::new(Shows::Band("cut", 8.0), "links cut (a | b: blocks apart)"));
    }
    samples.push(Sample::new(Shows::Line("message", false), "message, #id"));
    samples.push(Sample::new(Shows::Line("decides", false), "message that changed its receiver"));
    samples.extend(strokes(content, layout));
    samples
}

/// The kinds of arrows that occur, the usual one aside.
fn strokes(content: Content<'_>, layout: &Layout) -> Vec<Sample> {
    let occurs = |ends: &[StrokeEnd]| {
        layout.arrows.iter().flat_map(|arrow| &arrow.strokes).any(|stroke| ends.contains(&stroke.end))
    };
    let background =
        layout.arrows.iter().any(|arrow| is_background(content.drawing.messages[arrow.message].kind));
    let kinds = [
        (occurs(&[StrokeEnd::Cross, StrokeEnd::CrossAtReceiver]), Shows::Line("lost", true), "lost"),
        (
            layout.arrows.iter().any(|arrow| arrow.strokes.len() > 1),
            Shows::Line("copy", false),
            "its duplicate",
        ),
        (occurs(&[StrokeEnd::Refused]), Shows::Line("refused", false), "refused by the receiver"),
        (occurs(&[StrokeEnd::UnderWay]), Shows::Line("flying", false), "under way at the end"),
        (background, Shows::Line("back", false), "detector's message"),
    ];
    kinds
        .into_iter()
        .filter(|(there, ..)| *there)
        .map(|(_, shows, means)| Sample::new(shows, means))
        .collect()
}

fn notes(content: Content<'_>) -> Vec<String> {
    let (all, drawn) = (content.drawing.messages.len(), content.selection.messages.len());
    let mut notes = vec![if drawn == all {
        format!("Every message is drawn, {all} in all.")
    } else {
        format!("{drawn} of {} are drawn; not drawn: {}.", words::count(all, "message"), left_out(content))
    }];
    let skipped = content.drawing.moments.len() - content.selection.moments.len();
    if skipped > 0 {
        notes.push(format!(
            "Not drawn either: {} at which something changed.",
            words::count(skipped, "instant")
        ));
    }
    let groups = groups_occur(content.drawing);
    let group = if groups { " Three numbers such as 2.1.4 are a group." } else { "" };
    notes.push(format!(
        "Time runs down and is not to scale; ⋯ is a break.{group} Deadlines, disk writes and what detectors are told to \
         watch are not drawn."
    ));
    notes
}

fn left_out(content: Content<'_>) -> String {
    let mut kinds: BTreeMap<(bool, &str), usize> = BTreeMap::new();
    for (place, message) in content.drawing.messages.iter().enumerate() {
        if !content.selection.messages.contains(&place) {
            *kinds.entry((is_background(message.kind), message.kind.name())).or_default() += 1;
        }
    }
    let name = |((background, kind), count): (&(bool, &str), &usize)| {
        format!("{count} {kind}{}", if *background { " (detector)" } else { "" })
    };
    kinds.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn groups_occur(drawing: &Drawing) -> bool {
    let mut conditions = drawing.lanes.iter().flat_map(|lane| &lane.conditions);
    conditions.any(|(_, condition)| condition.opinion.group.is_some())
}
