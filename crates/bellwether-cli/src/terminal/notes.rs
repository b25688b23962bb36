//! News in order: the latest for a board, all of it for a pipe.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How much of it is kept for the board.
pub(crate) const NOTES_MAX: usize = 8;

/// What happened since the beginning.
#[derive(Debug)]
pub(crate) struct Notes {
    began: Instant,
    latest: VecDeque<Note>,
    count: u64,
}

/// A piece of news: when it was, since the beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) at: Duration,
    pub(crate) text: String,
}

impl Notes {
    pub(crate) fn new(began: Instant) -> Self {
        Self { began, latest: VecDeque::new(), count: 0 }
    }

    pub(crate) fn add(&mut self, text: &str, now: Instant) {
        if self.latest.len() == NOTES_MAX {
            self.latest.pop_front();
        }
        self.latest.push_back(Note { at: now.saturating_duration_since(self.began), text: text.to_owned() });
        self.count += 1;
    }

    /// The latest, oldest first.
    pub(crate) fn latest(&self) -> impl Iterator<Item = &Note> {
        self.latest.iter()
    }

    /// How many there were in all.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Those after the first so many, as far as they are kept.
    pub(crate) fn after(&self, told: u64) -> impl Iterator<Item = &Note> {
        let fresh = usize::try_from(self.count.saturating_sub(told)).unwrap_or(usize::MAX);
        self.latest.iter().skip(self.latest.len().saturating_sub(fresh))
    }
}
