//! Space-time diagrams: a run as a picture, from its trace.
//!
//! Time runs down the page, every node has a lane, messages are arrows from lane to lane.
//!
//! | step | file |
//! |---|---|
//! | the course of every message and node, and causes and effects | `drawing.rs` |
//! | the same event by event, for viewers that draw it themselves | `film.rs` |
//! | what of it is worth drawing | `select.rs` |
//! | which instants have a place, and where the axis of time is broken | `rows.rs` |
//! | from left to right, from top to bottom, and labels that do not meet | `frame.rs`, `layout.rs`, `labels.rs` |
//! | SVG | `paint.rs`, `style.rs`, and `svg.rs` above |
//!
//! Like the checkers it sees the trace, not the world, so that recorded runs can be drawn as well. The same trace gives
//! the same bytes: coordinates come only from sums and products, never from a platform's logarithm.

mod drawing;
mod film;
mod frame;
mod labels;
mod layout;
mod paint;
mod rows;
mod select;
mod style;
#[cfg(test)]
mod tests;
mod words;

use bellwether_proto::ident::NodeId;
use bellwether_proto::time::Time;
use bellwether_proto::trace::TraceEvent;

use crate::check::{Finding, Judge};
use crate::environment::judged;
use crate::run::{facts, trace};
use crate::scenario::Scenario;

use drawing::Drawing;
pub use film::{Fate, Film, Frame, LinkTurn, Pose, Trip};
use layout::{Content, Layout};
use paint::Heading;

/// More lanes than this nobody can follow.
pub const NODES_MAX: u32 = 32;

/// What to draw of a run, if that is not chosen automatically.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What to mark; by default all violations of the run.
    pub marks: Option<Vec<Mark>>,
    /// The time to draw; by default around the marks, or else around faults and changes.
    pub window: Option<(Time, Time)>,
    /// The command that replays the run, for the heading.
    pub replay: Option<String>,
}

/// Something that went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When.
    pub at: Time,
    /// The name of the property that is broken.
    pub property: String,
    /// Whose fault it is, if that is known.
    pub nodes: Vec<NodeId>,
    /// For people: what is wrong.
    pub text: String,
}

/// What a picture is of.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its name.
    pub name: String,
    /// The algorithm, the number of nodes, and whatever else tells runs apart.
    pub about: String,
    /// The command that replays it.
    pub replay: Option<String>,
    /// How many nodes there are. Their ids are 1 to this.
    pub nodes: u32,
    /// When it ended.
    pub ended: Time,
}

/// Plays a scenario and draws it.
pub fn draw(scenario: &Scenario, options: &Options) -> String {
    draw_run(scenario, &trace(scenario), options)
}

/// Draws a run of a scenario from its trace.
pub fn draw_run(scenario: &Scenario, events: &[TraceEvent], options: &Options) -> String {
    let found = || marks(scenario, events);
    let marks = options.marks.clone().unwrap_or_else(found);
    let Scenario { name, protocol, variant, nodes, seed, until, .. } = scenario;
    let agent = if scenario.agent { " · run as agents" } else { "" };
    let subject = Subject {
        name: name.clone(),
        about: format!(
            "{} {} · {nodes} nodes · seed {seed} · until {}{agent}",
            protocol.name(),
            variant.name(),
            words::clock(*until)
        ),
        replay: options.replay.clone(),
        nodes: *nodes,
        ended: *until,
    };
    draw_trace(&subject, events, &marks, options.window)
}

/// Draws any run from its trace.
///
/// # Panics
/// If something happened at a node that the subject does not allow for.
pub fn draw_trace(
    subject: &Subject,
    events: &[TraceEvent],
    marks: &[Mark],
    window: Option<(Time, Time)>,
) -> String {
    let drawing = Drawing::of(subject.nodes, events);
    let marked: Vec<Time> = marks.iter().map(|mark| mark.at).collect();
    let selection = select::choose(&drawing, &marked, window);
    let content =
        Content { nodes: subject.nodes, drawing: &drawing, selection: &selection, marks, end: subject.ended };
    let heading = Heading::new(subject, content);
    let layout = Layout::new(content, heading.bottom());
    paint::document(subject, content, &heading, &layout)
}

/// The violations in a run of a scenario.
pub fn marks(scenario: &Scenario, events: &[TraceEvent]) -> Vec<Mark> {
    let mut judge = Judge::new(facts(scenario), &judged(scenario));
    events.iter().for_each(|event| judge.observe(event));
    let mark = |finding: Finding| {
        let violation = finding.violation?;
        let property = finding.property.name().to_owned();
        Some(Mark { at: violation.at, property, nodes: Vec::new(), text: violation.what })
    };
    judge.finish(scenario.until).into_iter().filter_map(mark).collect()
}
