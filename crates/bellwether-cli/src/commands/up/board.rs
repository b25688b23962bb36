//! How a cluster looks, in lines of at most 80 columns.

use std::time::Instant;

use super::files::Plan;
use super::fleet::Process;
use super::keys::KEYS;
use super::model::{Model, Node, Standing};
use super::notes::Note;
use crate::duration::rough;
use crate::layout::{WIDTH, hanging};
use crate::output::invocation;

/// A line, and how it is to stand out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commands) struct Line {
    pub(in crate::commands) text: String,
    pub(in crate::commands) tone: Tone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Tone {
    Plain,
    /// The leader.
    Bright,
    /// What is down, or only explains.
    Dim,
}

/// The board: who is there, what happened, which keys there are.
pub(super) fn lines(model: &Model, selected: Option<u32>, now: Instant) -> Vec<Line> {
    let mut lines = vec![line("", Tone::Plain), line(ROW_TITLES, Tone::Dim)];
    lines.extend(model.nodes.iter().map(|(id, node)| {
        let mark = if selected == Some(*id) { ">" } else { " " };
        line(&format!("{mark}{}", row(*id, node, now)), tone(node))
    }));
    lines.push(line("", Tone::Plain));
    lines.extend(model.notes.latest().map(|note| line(&note_line(note), Tone::Plain)));
    lines.push(line("", Tone::Plain));
    lines.push(line(&format!("1-{} {KEYS}", model.nodes.len()), Tone::Dim));
    lines
}

/// The nodes without the rest, for another terminal.
pub(super) fn list(model: &Model, now: Instant) -> String {
    let rows = model.nodes.iter().map(|(id, node)| format!(" {}", row(*id, node, now)));
    let lines: Vec<_> =
        [ROW_TITLES.to_owned()].into_iter().chain(rows).map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}

/// What is said once, at the beginning.
pub(super) fn introduction(model: &Model, plan: &Plan) -> Vec<String> {
    let name = invocation();
    let api = model.nodes.values().next().map_or_else(String::new, |node| node.api.to_string());
    let entry = |label: &str, text: &str| hanging(&format!("{label:<10}"), text);
    let agents = format!(
        "{} on loopback, real processes over mutual TLS; they run {}",
        model.nodes.len(),
        plan.protocol.name()
    );
    let entries = [
        entry("agents", &agents),
        entry("guarantee", plan.protocol.spec().mode.guarantee()),
        entry("files", &plan.dir.display().to_string()),
        entry("ask", &format!("{name} status --api {api}")),
        entry("", &format!("curl http://{api}/v1/status")),
        entry("change", &format!("{name} resign --api {api} --token-file {}", plan.token.display())),
        entry("break", &format!("{name} up kill 1")),
    ];
    entries.iter().flat_map(|entry| entry.lines()).map(str::to_owned).collect()
}

/// News, as it stands in a pipe, and on the board if there is room.
pub(in crate::commands) fn note_line(note: &Note) -> String {
    format!("{}{}", note_time(note), note.text)
}

/// News, as it stands on the board: broken where it is too long for a line.
pub(in crate::commands) fn note_lines(note: &Note) -> Vec<String> {
    hanging(&note_time(note), &note.text).lines().map(str::to_owned).collect()
}

fn note_time(note: &Note) -> String {
    format!("{:>8.3}s  ", note.at.as_secs_f64())
}

const ROW_TITLES: &str = " node      pid  state         standing    epoch  since       API";

fn row(id: u32, node: &Node, now: Instant) -> String {
    let (pid, state) = match &node.process {
        None => (String::new(), "starting".to_owned()),
        Some(Process::Up(pid)) => (pid.to_string(), "up".to_owned()),
        Some(Process::Stopped(pid)) => (pid.to_string(), "stopped".to_owned()),
        Some(Process::Down(how)) => (String::new(), how.clone()),
    };
    let stopped = matches!(node.process, Some(Process::Stopped(_)));
    let (standing, epoch, since) = match &node.says {
        Some(says) if !stopped => {
            let epoch = says.leader.map_or_else(|| "-".to_owned(), |leader| leader.epoch.to_string());
            (standing_name(says.standing), epoch, rough(now.saturating_duration_since(says.since)))
        }
        Some(_) | None => ("-", "-".to_owned(), "-".to_owned()),
    };
    format!("{id:<4}  {pid:>7}  {state:<12}  {standing:<10}  {epoch:>5}  {since:<10}  {}", node.api)
}

fn standing_name(standing: Standing) -> &'static str {
    match standing {
        Standing::Leader => "★ leader",
        Standing::Follower => "follower",
        Standing::Electing => "electing",
        Standing::Aside => "aside",
    }
}

fn tone(node: &Node) -> Tone {
    match (&node.process, &node.says) {
        (Some(Process::Down(_) | Process::Stopped(_)), _) | (_, None) => Tone::Dim,
        (_, Some(says)) if says.standing == Standing::Leader => Tone::Bright,
        (_, Some(_)) => Tone::Plain,
    }
}

pub(in crate::commands) fn line(text: &str, tone: Tone) -> Line {
    Line { text: text.trim_end().chars().take(WIDTH).collect(), tone }
}
