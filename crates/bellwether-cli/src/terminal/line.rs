//! Lines of a board, and how they stand out.

use super::notes::Note;
use crate::layout::{WIDTH, hanging};

/// A line, and how it is to stand out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) tone: Tone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    /// The leader.
    Bright,
    /// What is down, or only explains.
    Dim,
}

pub(crate) fn line(text: &str, tone: Tone) -> Line {
    Line { text: text.trim_end().chars().take(WIDTH).collect(), tone }
}

/// News, as it stands in a pipe, and on the board if there is room.
pub(crate) fn note_line(note: &Note) -> String {
    format!("{}{}", note_time(note), note.text)
}

/// News, as it stands on the board: broken where it is too long for a line.
pub(crate) fn note_lines(note: &Note) -> Vec<String> {
    hanging(&note_time(note), &note.text).lines().map(str::to_owned).collect()
}

fn note_time(note: &Note) -> String {
    format!("{:>8.3}s  ", note.at.as_secs_f64())
}
