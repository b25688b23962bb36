//! How a demonstration is told: on a screen to people, in lines to programs.

use std::fmt::Display;
use std::time::Instant;

use serde::Serialize;
use serde_json::json;

use crate::output::Printer;
use crate::terminal::line::Line;
use crate::terminal::notes::Notes;
use crate::terminal::screen::Screen;

/// Where it is told.
#[derive(Debug)]
pub(crate) struct Telling<'a> {
    began: Instant,
    notes: Notes,
    /// The screen for people; programs get lines.
    screen: Option<Screen<'a>>,
    out: &'a Printer,
}

impl<'a> Telling<'a> {
    pub(crate) fn open(json: bool, on_terminal: bool, began: Instant, out: &'a Printer) -> Self {
        let screen = (!json).then(|| Screen::open(on_terminal, out));
        Self { began, notes: Notes::new(began), screen, out }
    }

    /// For people only.
    pub(crate) fn introduce(&self, lines: Vec<String>) {
        if let Some(screen) = &self.screen {
            screen.introduce(lines);
        }
    }

    /// Whether there is a board, which tells how far it is.
    pub(crate) fn has_board(&self) -> bool {
        self.screen.as_ref().is_some_and(Screen::is_terminal)
    }

    /// Whether nobody reads any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.out.is_closed()
    }

    pub(crate) fn tell(&mut self, happening: &(impl Display + Serialize), now: Instant) {
        if let Some(screen) = &mut self.screen {
            self.notes.add(&happening.to_string(), now);
            screen.tell(&self.notes);
        } else {
            let at_ms = now.saturating_duration_since(self.began).as_millis();
            let mut object = json!(happening);
            object["at_ms"] = json!(u64::try_from(at_ms).unwrap_or(u64::MAX));
            self.out.line(object);
        }
    }

    pub(crate) fn show(&mut self, board: impl FnOnce(&Notes) -> Vec<Line>, now: Instant) {
        let notes = &self.notes;
        if let Some(screen) = &mut self.screen {
            screen.show(notes, || board(notes), now);
        }
    }

    /// The board for the last time, and the summary under it.
    pub(crate) fn sum_up(
        mut self,
        board: impl FnOnce(&Notes) -> Vec<Line>,
        summary: &impl Serialize,
        in_words: Vec<String>,
    ) {
        let notes = &self.notes;
        match self.screen.take() {
            Some(mut screen) => {
                screen.show_last(notes, || board(notes), Instant::now());
                drop(screen);
                self.out.line("");
                in_words.iter().for_each(|line| self.out.line(line));
            }
            None => self.out.line(json!(summary)),
        }
    }
}
