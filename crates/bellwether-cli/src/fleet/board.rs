//! What the boards of all fleets have in common: a row for each node, the introduction, the keys.

use super::Process;
use super::keys::KEYS;
use crate::layout::hanging;
use crate::terminal::line::{Line, Tone, line};

/// A row for each node under its titles; the selected one is marked.
pub(crate) fn rows(
    titles: &str,
    selected: Option<u32>,
    rows: impl Iterator<Item = (u32, String, Tone)>,
) -> Vec<Line> {
    let row = |(id, row, tone): (u32, String, Tone)| {
        let mark = if selected == Some(id) { ">" } else { " " };
        line(&format!("{mark}{row}"), tone)
    };
    [line("", Tone::Plain), line(titles, Tone::Dim)].into_iter().chain(rows.map(row)).collect()
}

/// The rows without the rest, for another terminal.
pub(crate) fn list(titles: &str, rows: impl Iterator<Item = String>) -> String {
    let rows = rows.map(|row| format!(" {row}"));
    let lines: Vec<_> =
        [titles.to_owned()].into_iter().chain(rows).map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}

/// A process as a row shows it: its number, and how it is.
pub(crate) fn process_cells(process: Option<&Process>) -> (String, String) {
    match process {
        None => (String::new(), "starting".to_owned()),
        Some(Process::Up(pid)) => (pid.to_string(), "up".to_owned()),
        Some(Process::Stopped(pid)) => (pid.to_string(), "stopped".to_owned()),
        Some(Process::Down(how)) => (String::new(), how.clone()),
    }
}

/// The last line: which keys there are.
pub(crate) fn keys_line(nodes: usize) -> Line {
    line(&format!("1-{nodes} {KEYS}"), Tone::Dim)
}

/// Printed once, at the beginning: labels, each with a text.
pub(crate) fn introduction(entries: &[(&str, String)]) -> Vec<String> {
    let entry = |(label, text): &(&str, String)| hanging(&format!("{label:<10}"), text);
    entries.iter().flat_map(|said| entry(said).lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}
