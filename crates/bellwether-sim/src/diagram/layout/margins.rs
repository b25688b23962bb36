//! Words beside the lanes: a node's opinion, what happened to it, the state of the links, and the time.

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::ident::NodeId;
use bellwether_proto::opinion::Opinion;
use bellwether_proto::time::Time;

use super::{Attempt, Label, Side, block};
use crate::diagram::drawing::{Condition, Drawing, LinkChange, Note};
use crate::diagram::frame::{LEADER_BAND, LEADING, SMALL, small};
use crate::diagram::labels::Rect;
use crate::diagram::words;

/// Between a lane and the words beside it.
const BESIDE: f64 = LEADER_BAND + 4.0;

/// The state of the links from an instant on.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::diagram) struct LinkNote {
    pub(in crate::diagram) at: Time,
    pub(in crate::diagram) text: String,
    /// Whether any is cut.
    pub(in crate::diagram) cut: bool,
}

impl LinkNote {
    /// One for each instant at which something happened to links.
    pub(in crate::diagram) fn all(nodes: u32, drawing: &Drawing) -> Vec<Self> {
        let mut cut = BTreeSet::new();
        let at_once = drawing.links.chunk_by(|one, other| one.0 == other.0);
        let note = |changes: &[(Time, LinkChange)]| {
            let before = cut.clone();
            changes.iter().for_each(|(_, change)| words::apply(&mut cut, *change));
            let delayed = changes.iter().filter_map(|(_, change)| match change {
                LinkChange::Delayed(from, to) => Some(format!("{from}→{to}")),
                LinkChange::Cut(..) | LinkChange::Mended(..) => None,
            });
            let delayed: Vec<String> = delayed.collect();
            let mut parts = Vec::new();
            if before != cut {
                parts.push(words::links(nodes, &cut));
            }
            if !delayed.is_empty() {
                parts.push(format!("other delay {}", delayed.join(", ")));
            }
            Self { at: changes[0].0, text: parts.join("; "), cut: !cut.is_empty() }
        };
        at_once.map(note).filter(|note| !note.text.is_empty()).collect()
    }
}

impl Attempt<'_> {
    /// By row: the lanes with words beside them, and how high these are. The links come after the last lane.
    pub(super) fn note_heights(&self) -> Vec<Vec<(usize, f64)>> {
        let mut heights = vec![Vec::new(); self.rows.len()];
        for ((lane, row), lines) in self.notes() {
            heights[row].push((lane, lines.len() as f64 * SMALL * LEADING));
        }
        for (row, lines) in self.link_notes() {
            heights[row].push((self.frame.lanes(), lines.len() as f64 * SMALL * LEADING));
        }
        heights
    }

    /// By lane and row: what is to be said, the more important first.
    fn notes(&self) -> BTreeMap<(usize, usize), Vec<String>> {
        let mut notes: BTreeMap<(usize, usize), Vec<(u8, String)>> = BTreeMap::new();
        for (lane, story) in self.content.drawing.lanes.iter().enumerate() {
            for (at, note) in &story.notes {
                let Some(row) = self.row_of(*at) else { continue };
                let Some(text) = words::note(NodeId(lane as u32 + 1), note, self.content.drawing.announces)
                else {
                    continue;
                };
                let here = notes.entry((lane, row)).or_default();
                // Of what it shows at an instant only the last lasts.
                here.retain(|(rank, _)| *rank != rank_of(note) || !matches!(note, Note::Showed(_)));
                here.push((rank_of(note), text));
            }
        }
        self.add_standing(&mut notes);
        let sorted = |mut lines: Vec<(u8, String)>| {
            lines.sort_by_key(|(rank, _)| *rank);
            lines.into_iter().flat_map(|(_, text)| self.frame.wrap_note(&text, 2.0 * BESIDE)).collect()
        };
        notes.into_iter().map(|(place, lines)| (place, sorted(lines))).collect()
    }

    /// After a break in which something changed: how nodes are since then.
    fn add_standing(&self, notes: &mut BTreeMap<(usize, usize), Vec<(u8, String)>>) {
        let changed = |row: &usize| self.rows[*row].broken.as_ref().is_some_and(|broken| broken.changes > 0);
        for row in (0..self.rows.len().saturating_sub(1)).filter(changed) {
            let (before, after) = (self.rows[row].at, self.rows[row + 1].at);
            for (lane, story) in self.content.drawing.lanes.iter().enumerate() {
                let mut within = story.conditions.iter().filter(|(at, _)| before < *at && *at < after);
                let Some((_, condition)) = within.next_back() else { continue };
                let here = notes.entry((lane, row + 1)).or_default();
                let rank = rank_of(&Note::Showed(condition.opinion));
                if condition.up && !here.iter().any(|(other, _)| *other == rank || *other == 0) {
                    here.push((rank, self.standing(NodeId(lane as u32 + 1), condition)));
                }
            }
        }
    }

    /// Who leads, as a node sees it.
    fn standing(&self, node: NodeId, condition: &Condition) -> String {
        if !self.content.drawing.announces {
            return words::shown(node, &condition.opinion, false);
        }
        let announced = Opinion { leader: condition.announced, ..condition.opinion };
        words::shown(node, &announced, false)
    }

    pub(super) fn place_notes(&mut self) {
        for ((lane, row), mut lines) in self.notes() {
            let mut homeless = false;
            while !lines.is_empty() && !self.place_note(lane, row, &lines) {
                homeless = true;
                lines.pop();
            }
            if homeless {
                self.homeless.push(row);
            }
        }
    }

    fn place_note(&mut self, lane: usize, row: usize, lines: &[String]) -> bool {
        let ((width, height), x, y) = (block(lines), self.frame.lane(lane), self.ys[row]);
        let mut places = Vec::new();
        for dy in [-height + 3.0, 0.0, -height / 2.0, -height - 4.0, 6.0] {
            let right = Rect { x: x + BESIDE, y: y + dy, width, height };
            if right.x + width <= self.frame.right() {
                places.push((Side::Left, right));
            }
            let left = Rect { x: x - BESIDE - width, ..right };
            if left.x >= self.frame.left() {
                places.push((Side::Right, left));
            }
        }
        let rect = Rect { x, y, width, height };
        let label = Label { class: "s", side: Side::Left, rect, lines: lines.to_vec(), tail: None };
        self.put(label, &places, None)
    }

    fn link_notes(&self) -> BTreeMap<usize, Vec<String>> {
        let notes = LinkNote::all(self.content.nodes, self.content.drawing);
        let placed = notes
            .into_iter()
            .filter_map(|note| Some((self.row_of(note.at)?, self.frame.wrap_links(&note.text))));
        placed.collect()
    }

    pub(super) fn place_link_notes(&mut self) {
        let Some(x) = self.frame.links() else { return };
        for (row, lines) in self.link_notes() {
            let (width, height) = block(&lines);
            let rect = Rect { x: x + 10.0, y: self.ys[row] - SMALL * 0.6, width, height };
            let label = Label { class: "n", side: Side::Left, rect, lines, tail: None };
            self.put(label, &[(Side::Left, rect)], None);
        }
    }

    /// The clock at the left: first beside marks and faults, then beside changes, then anywhere.
    pub(super) fn place_clock(&mut self) {
        let marked = |at: Time| self.content.marks.iter().any(|mark| mark.at == at);
        let importance = |row: usize| {
            let at = self.rows[row].at;
            let beside_break =
                self.rows[row].broken.is_some() || row > 0 && self.rows[row - 1].broken.is_some();
            let moment = self.content.drawing.moments.get(&at);
            (!marked(at), !beside_break, std::cmp::Reverse(moment.copied()), row)
        };
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|row| importance(*row));
        for row in order {
            let text = words::clock(self.rows[row].at);
            let width = small(&text);
            let x = self.frame.left() - 8.0 - width;
            let rect = Rect { x, y: self.ys[row] - SMALL * 0.6, width, height: SMALL * 1.15 };
            let label = Label { class: "t", side: Side::Right, rect, lines: vec![text], tail: None };
            self.put(label, &[(Side::Right, rect)], None);
        }
    }
}

fn rank_of(note: &Note) -> u8 {
    match note {
        Note::Crashed | Note::CameUp(_) | Note::Paused | Note::Resumed => 0,
        Note::Asked(_) | Note::Left => 0,
        Note::Suspected(_) => 1,
        Note::Showed(_) => 2,
        Note::Announced(_) | Note::Granted(..) | Note::GivenUp | Note::Operation(..) | Note::Reborn(_) => 3,
        Note::Work(_) | Note::Answered(_) | Note::Unlinked(_) => 3,
        Note::PlaysDead | Note::PlaysAlive => 4,
    }
}
