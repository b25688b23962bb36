//! The last changes of leader, with their causes: in memory, and in a file that outlives the process.

mod file;

use std::collections::VecDeque;
use std::time::SystemTime;

use bellwether_proto::ident::Incarnation;
use bellwether_proto::leadership::Announcement;

use crate::status::Change;

pub(crate) use file::{HistoryFile, Writer, writer};

/// How many changes are remembered.
pub(crate) const HISTORY_MAX: usize = 1_000;

#[derive(Debug)]
pub(crate) struct History {
    changes: VecDeque<Change>,
    /// The number of the last change of earlier processes: what comes after it is news.
    past: u64,
}

/// A change that has just happened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occurrence {
    pub(crate) at: SystemTime,
    pub(crate) incarnation: Incarnation,
    pub(crate) announced: Announcement,
}

impl History {
    /// After what earlier processes have seen.
    pub(crate) fn after_those(changes: VecDeque<Change>) -> Self {
        let past = changes.back().map_or(0, |change| change.no);
        Self { changes, past }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter()
    }

    /// The first change after that number that this process has seen.
    pub(crate) fn after(&self, no: u64) -> Option<&Change> {
        let no = no.max(self.past);
        self.changes.get(self.changes.partition_point(|change| change.no <= no))
    }

    /// The number of the last change.
    pub(crate) fn last_no(&self) -> u64 {
        self.changes.back().map_or(0, |change| change.no)
    }

    /// Adds a change, with the next number.
    pub(crate) fn push(&mut self, Occurrence { at, incarnation, announced }: Occurrence) -> Change {
        let Announcement { leader, epoch, cause } = announced;
        let no = self.last_no().saturating_add(1);
        let change = Change { no, at, incarnation, leader, epoch, cause };
        if self.changes.len() == HISTORY_MAX {
            self.changes.pop_front();
        }
        self.changes.push_back(change.clone());
        change
    }
}
