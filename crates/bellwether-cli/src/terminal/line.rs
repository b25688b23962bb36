//! Lines of a board, and how they are styled.

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
    /// For nodes that are down, and for explanations.
    Dim,
}

pub(crate) fn line(text: &str, tone: Tone) -> Line {
    Line { text: text.trim_end().chars().take(WIDTH).collect(), tone }
}

/// A piece of news as one line: for a pipe, and for the board if there is room.
pub(crate) fn note_line(note: &Note) -> String {
    format!("{}{}", note_time(note), note.text)
}

/// A piece of news on the board: broken into lines if it is too long.
pub(crate) fn note_lines(note: &Note) -> Vec<String> {
    hanging(&note_time(note), &note.text).lines().map(str::to_owned).collect()
}

fn note_time(note: &Note) -> String {
    format!("{:>8.3}s  ", note.at.as_secs_f64())
}
