//! Draws the board on a terminal, or prints the news to a pipe.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode, size};

use super::line::{Line, Tone, note_line};
use super::notes::Notes;
use crate::output::Printer;

/// The board is not drawn more often: nobody sees more, and a flood of changes must not become a flood of writing.
const FRAME: Duration = Duration::from_millis(40);

/// The output: a terminal or a pipe.
#[derive(Debug)]
pub(crate) struct Screen<'a> {
    out: &'a Printer,
    terminal: Option<Terminal>,
    /// How many news have been printed.
    told: u64,
}

/// A terminal in raw mode, while this exists.
#[derive(Debug)]
struct Terminal {
    colours: bool,
    /// How many lines the board has now.
    height: usize,
    drawn: Option<Instant>,
}

impl<'a> Screen<'a> {
    /// A terminal that cannot be put into raw mode is treated as a pipe.
    pub(crate) fn open(on_terminal: bool, out: &'a Printer) -> Self {
        let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let terminal = (on_terminal && enable_raw_mode().is_ok()).then_some(Terminal {
            colours,
            height: 0,
            drawn: None,
        });
        Self { out, terminal, told: 0 }
    }

    /// Prints the introduction.
    pub(crate) fn introduce(&self, lines: Vec<String>) {
        let end = if self.terminal.is_some() { "\r\n" } else { "\n" };
        self.out.draw(lines.into_iter().fold(String::new(), |text, line| text + &line + end));
    }

    /// Shows what there is to show.
    pub(crate) fn show(&mut self, notes: &Notes, board: impl FnOnce() -> Vec<Line>, now: Instant) {
        match &mut self.terminal {
            Some(terminal) => terminal.draw(board, now, self.out),
            None => self.tell(notes),
        }
    }

    /// Shows how things are for the last time, however short ago that was done.
    pub(crate) fn show_last(&mut self, notes: &Notes, board: impl FnOnce() -> Vec<Line>, now: Instant) {
        if let Some(terminal) = &mut self.terminal {
            terminal.drawn = None;
        }
        self.show(notes, board, now);
    }

    /// Whether there is a board.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal.is_some()
    }

    /// Whether nobody looks any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.out.is_closed()
    }

    /// Prints new lines to a pipe. A terminal has its board.
    pub(crate) fn tell(&mut self, notes: &Notes) {
        if self.terminal.is_some() {
            return;
        }
        for note in notes.after(self.told) {
            self.out.line(note_line(note));
        }
        self.told = notes.count();
    }
}

impl Terminal {
    fn draw(&mut self, board: impl FnOnce() -> Vec<Line>, now: Instant, out: &Printer) {
        if self.drawn.is_some_and(|drawn| now - drawn < FRAME) {
            return;
        }
        self.drawn = Some(now);
        let mut lines = board();
        // A line that the terminal breaks would be two, and the next frame would not find its beginning.
        let width = size().map_or(usize::MAX, |(columns, _)| usize::from(columns));
        lines.truncate(room());
        let mut text = String::from("\x1b[?25l");
        if self.height > 0 {
            let _ = write!(text, "\x1b[{}A", self.height);
        }
        for line in &lines {
            let (on, off) = match (self.colours, line.tone) {
                (true, Tone::Bright) => ("\x1b[1;32m", "\x1b[0m"),
                (true, Tone::Dim) => ("\x1b[2m", "\x1b[0m"),
                (true, Tone::Plain) | (false, _) => ("", ""),
            };
            let _ =
                write!(text, "\r\x1b[K{on}{}{off}\r\n", line.text.chars().take(width).collect::<String>());
        }
        text.push_str("\x1b[J");
        self.height = lines.len();
        out.draw(text);
    }
}

/// How many lines a board may have. If it were higher than the terminal, the next frame could not find its beginning; the
/// last line is for the cursor.
pub(crate) fn room() -> usize {
    size().map_or(usize::MAX, |(_, rows)| usize::from(rows).saturating_sub(1))
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        if self.terminal.is_some() {
            let _ = disable_raw_mode();
            self.out.draw("\x1b[?25h");
        }
    }
}
