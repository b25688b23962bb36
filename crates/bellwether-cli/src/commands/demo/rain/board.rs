//! The screen, in lines of at most 80 columns.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Instant;

use bellwether_rain::picture::{TILE_HEIGHT, Tile};

use super::model::{Activity, Model, Node};
use super::request::needed;
use super::setup::Setup;
use crate::duration::rough;
use crate::fleet::Process;
use crate::fleet::board::{self, keys_line, process_cells};
use crate::output::invocation;
use crate::terminal::line::{Line, Tone, line, note_lines};
use crate::terminal::notes::{NOTES_MAX, Notes};
use crate::words::plural;

/// How long the bar is.
const BAR: u32 = 36;
/// A map of more lines would leave no room for the rest.
const MAP_LINES_MAX: u32 = 12;
/// A map that leaves less room for news is left out.
const NEWS_MIN: usize = 4;
/// Lines that are neither workers nor map nor news: titles, bar, keys, and blank lines.
const OTHER_LINES: usize = 7;

/// The board: the workers, the picture, the events, the keys. If there is no room for all of it the map is left out; if
/// that is not enough, some news.
pub(super) fn lines(
    model: &Model,
    notes: &Notes,
    selected: Option<u32>,
    room: usize,
    now: Instant,
) -> Vec<Line> {
    let workers = model.nodes.iter().map(|(id, node)| (*id, row(model, *id, node), tone(model, *id, node)));
    let bar = line(&bar(model, now), if model.is_stalled() { Tone::Dim } else { Tone::Bright });
    let empty = || line("", Tone::Plain);
    let rest = room.saturating_sub(model.nodes.len() + OTHER_LINES);
    let map = Some(map(model)).filter(|map| map.len() + NEWS_MIN <= rest).unwrap_or_default();
    let news = latest(notes, NOTES_MAX.min(rest.saturating_sub(map.len())));
    let mut lines = board::rows(ROW_TITLES, selected, workers);
    lines.push(empty());
    lines.extend(map.iter().map(|row| line(row, Tone::Plain)));
    lines.extend([bar, empty()]);
    lines.extend(news.iter().map(|text| line(text, Tone::Plain)));
    lines.extend([empty(), keys_line(model.nodes.len())]);
    lines
}

/// The latest news, broken where it is too long for a line.
fn latest(notes: &Notes, lines_max: usize) -> Vec<String> {
    let mut lines: Vec<_> = notes.latest().flat_map(note_lines).collect();
    lines.split_off(lines.len().saturating_sub(lines_max))
}

/// Only the workers, and the addresses of their agents, for another terminal.
pub(super) fn list(model: &Model, apis: &BTreeMap<u32, SocketAddr>) -> String {
    let api = |id: &u32| apis.get(id).map_or_else(String::new, SocketAddr::to_string);
    let rows = model.nodes.iter().map(|(id, node)| format!("{}  {}", row(model, *id, node), api(id)));
    board::list(&format!("{ROW_TITLES}  API"), rows)
}

/// Printed once, at the beginning. It names one of the agents as an example.
pub(super) fn introduction(setup: &Setup, asked: u32) -> Vec<String> {
    let (job, name) = (&setup.job.job, invocation());
    let (nodes, data, pace) = (job.code.nodes(), job.code.data(), setup.job.pace.to_string());
    let mut entries = vec![
        (
            "workers",
            format!(
                "{nodes} on loopback, real agents that run fb-omega; each computes {pace} {} a second, as if it had a \
                 machine of its own",
                plural(pace.parse().unwrap_or_default(), "tile row")
            ),
        ),
        (
            "shards",
            format!(
                "every row is kept as {nodes} shards, one with each worker, and any {data} rebuild it; with fewer than \
                 {} workers nothing goes on",
                needed(&job.code)
            ),
        ),
        ("files", setup.dir.display().to_string()),
    ];
    entries.extend(setup.apis.get(&asked).map(|api| ("ask", format!("{name} status --api {api}"))));
    entries.push(("break", format!("{name} up kill 1")));
    board::introduction(&entries)
}

const ROW_TITLES: &str = " node      pid  state     standing           view  rows done  rows left  shards";

fn row(model: &Model, id: u32, node: &Node) -> String {
    let (pid, state) = process_cells(node.process.as_ref());
    let manages = model.manager() == Some(id);
    let (activity, view) = match node.activity {
        _ if !matches!(node.process, Some(Process::Up(_))) => ("-", None),
        Activity::Unknown => ("-", None),
        Activity::Out => ("reorganizing", None),
        Activity::Works(view) if manages => ("★ fault manager", Some(view)),
        Activity::Works(view) => ("works", Some(view)),
        Activity::Waits(view) => ("waits for others", Some(view)),
        Activity::Dead => ("dead", None),
    };
    let view = view.map_or_else(|| "-".to_owned(), |view| view.to_string());
    let (done, held) = (node.rows, node.held);
    let left = rows_left(model, id);
    format!("{id:<4}  {pid:>7}  {state:<8}  {activity:<17}  {view:>4}  {done:>9}  {left:>9}  {held:>6}")
}

/// How many rows are still to be made safe by that worker.
fn rows_left(model: &Model, id: u32) -> u32 {
    let Some(view) = &model.view else { return 0 };
    let picture = &model.job.picture;
    let tiles = picture.tiles().zip(&view.owners).filter(|(_, owner)| **owner == id);
    tiles.map(|(tile, _)| picture.tile_height(tile) - model.safe.rows(tile).count()).sum()
}

fn tone(model: &Model, id: u32, node: &Node) -> Tone {
    match (&node.process, node.activity) {
        (Some(Process::Down(_) | Process::Stopped(_)) | None, _)
        | (_, Activity::Dead | Activity::Unknown) => Tone::Dim,
        _ if model.manager() == Some(id) => Tone::Bright,
        _ => Tone::Plain,
    }
}

/// The tiles: `█` finished, a number for who works on one that is begun, `·` to be done.
fn map(model: &Model) -> Vec<String> {
    let picture = &model.job.picture;
    if picture.height().div_ceil(TILE_HEIGHT) > MAP_LINES_MAX {
        return Vec::new();
    }
    let owner =
        |tile: Tile| model.view.as_ref().and_then(|view| view.owners.get(usize::from(tile.0)).copied());
    let sign = |tile: Tile| match (model.safe.rows(tile).count(), owner(tile)) {
        (rows, _) if rows == picture.tile_height(tile) => "█".to_owned(),
        (1.., Some(owner @ 1..)) => owner.to_string(),
        (1.., _) => "▒".to_owned(),
        (0, _) => "·".to_owned(),
    };
    let tiles: Vec<_> = picture.tiles().map(|tile| sign(tile).repeat(2)).collect();
    tiles.chunks(picture.columns() as usize).map(|row| format!("   {}", row.concat())).collect()
}

/// How far it is.
fn bar(model: &Model, now: Instant) -> String {
    let (rows, all) = (model.rows(), model.job.picture.row_count());
    let full = rows * BAR / all;
    let state = if model.is_stalled() { "  stalled" } else { "" };
    format!(
        "   [{}{}] {rows} of {all} rows  {}{state}",
        "#".repeat(full as usize),
        " ".repeat((BAR - full) as usize),
        rough(now.saturating_duration_since(model.began))
    )
}

#[cfg(test)]
mod tests {
    use bellwether_rain::code::Code;
    use bellwether_rain::job::Job;
    use bellwether_rain::picture::Picture;

    use super::*;

    fn board(nodes: u32, room: usize) -> Vec<String> {
        let now = Instant::now();
        let job = Job { picture: Picture::new(480, 320).unwrap(), code: Code::new(nodes, 2).unwrap() };
        let mut notes = Notes::new(now);
        (0..NOTES_MAX).for_each(|_| notes.add(&"news ".repeat(20), now));
        let lines = lines(&Model::new(job, 10.0, now), &notes, None, room, now);
        lines.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn the_list_tells_where_each_can_be_asked() {
        let now = Instant::now();
        let job = Job { picture: Picture::new(480, 320).unwrap(), code: Code::new(3, 2).unwrap() };
        let apis = (1..=3).map(|id| (id, SocketAddr::from(([127, 0, 0, 1], 20_000 + id as u16)))).collect();
        let list = list(&Model::new(job, 10.0, now), &apis);
        let lines: Vec<_> = list.lines().collect();
        assert!(lines[0].ends_with("  API") && lines[3].ends_with("  127.0.0.1:20003"), "{list}");
        assert!(lines.iter().all(|line| line.chars().count() <= 100), "{list}");
    }

    #[test]
    fn the_board_fits_the_terminal() {
        for (nodes, room) in (3..=9).flat_map(|nodes| (20..=50).map(move |room| (nodes, room))) {
            let board = board(nodes, room);
            assert!(board.len() <= room, "{nodes} {room}: {board:#?}");
            assert!(board.iter().any(|line| line.contains("of 2560 rows")));
            assert!(board.iter().any(|line| line.contains("news")));
            assert!(board.last().unwrap().starts_with(&format!("1-{nodes} ")));
        }
        let has_map = |room| board(6, room).iter().any(|line| line.contains("··"));
        assert!(has_map(50) && !has_map(23));
    }
}
