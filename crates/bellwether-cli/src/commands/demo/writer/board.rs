//! The screen, in lines of at most 80 columns.

use std::time::Instant;

use super::model::{Model, Node};
use super::store::Fence;
use crate::duration::rough;
use crate::fleet::Process;
use crate::fleet::board::{self, keys_line, process_cells};
use crate::fleet::files::Plan;
use crate::output::invocation;
use crate::terminal::line::{Line, Tone, line, note_lines};
use crate::terminal::notes::Notes;

/// The board: the writers, the file, the events, the keys.
pub(super) fn lines(model: &Model, notes: &Notes, selected: Option<u32>, now: Instant) -> Vec<Line> {
    let rows = model.nodes.iter().map(|(id, node)| (*id, row(model, *id, node), tone(model, *id, node)));
    let mut lines = board::rows(ROW_TITLES, selected, rows);
    let empty = || line("", Tone::Plain);
    lines.extend([empty(), line(&file(model, now), Tone::Bright), empty()]);
    lines.extend(notes.latest().flat_map(note_lines).map(|text| line(&text, Tone::Plain)));
    lines.extend([empty(), keys_line(model.nodes.len())]);
    lines
}

/// The writers without the rest, for another terminal.
pub(super) fn list(model: &Model) -> String {
    board::list(ROW_TITLES, model.nodes.iter().map(|(id, node)| row(model, *id, node)))
}

/// Printed once, at the beginning.
pub(super) fn introduction(plan: &Plan, fence: Fence) -> Vec<String> {
    let name = invocation();
    let store = match fence {
        Fence::Closed => "it refuses a token smaller than the largest that it has seen",
        Fence::Open => "it takes every token, as most stores do",
    };
    board::introduction(&[
        ("agents", format!("{} on loopback, real processes; whoever leads writes", plan.nodes.len())),
        ("guarantee", plan.mode.guarantee().to_owned()),
        ("store", store.to_owned()),
        ("files", plan.dir.display().to_string()),
        ("break", format!("{name} up stop 1")),
    ])
}

const ROW_TITLES: &str = " node      pid  state         token    lines  refused  API";

fn row(model: &Model, id: u32, node: &Node) -> String {
    let (pid, state) = process_cells(node.process.as_ref());
    let token = model.writing.filter(|writing| writing.node == id).map(|writing| writing.token.to_string());
    let (token, Node { taken, refused, api, .. }) = (token.unwrap_or_else(|| "-".to_owned()), node);
    format!("{id:<4}  {pid:>7}  {state:<12}  {token:>5}  {taken:>7}  {refused:>7}  {api}")
}

fn file(model: &Model, now: Instant) -> String {
    match (model.last, model.writing) {
        (Some((number, at)), Some(writing)) => {
            let ago = rough(now.saturating_duration_since(at));
            format!("  line {number} with token {}, {ago} ago", writing.token)
        }
        (None, _) | (_, None) => "  no line yet".to_owned(),
    }
}

fn tone(model: &Model, id: u32, node: &Node) -> Tone {
    match &node.process {
        None | Some(Process::Down(_) | Process::Stopped(_)) => Tone::Dim,
        Some(Process::Up(_)) if model.writing.is_some_and(|writing| writing.node == id) => Tone::Bright,
        Some(Process::Up(_)) => Tone::Plain,
    }
}
