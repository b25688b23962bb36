//! Changes of elections, as they become known here: of one, or of all.

use std::sync::Arc;

use tokio::sync::watch;

use super::{Election, Name};
use crate::board::ENDED;
use crate::shared::Shared;

/// A stream of what is known of one election.
#[derive(Debug)]
pub struct Watching {
    name: Name,
    changed: watch::Receiver<u64>,
    shared: Arc<Shared>,
    /// Whether what is known now was told.
    told: bool,
}

impl Watching {
    pub(crate) fn new(name: Name, shared: Arc<Shared>) -> Self {
        let changed = shared.elections.watch(&name);
        Self { name, changed, shared, told: false }
    }

    /// What is known: at first at once, then whenever that has changed. The inner `None`: there is no such election. The outer one: the
    /// member has ended. What was different in between is not told.
    pub async fn next(&mut self) -> Option<Option<Election>> {
        if std::mem::replace(&mut self.told, true) {
            self.changed.changed().await.ok()?;
        }
        self.changed.borrow_and_update();
        Some(self.shared.elections.get(&self.name))
    }
}

/// So many names are told at a time.
const NAMES_MAX: usize = 1_000;

/// A stream of the names of which something has become known.
#[derive(Debug)]
pub struct WatchingAll {
    latest: watch::Receiver<u64>,
    shared: Arc<Shared>,
    /// The number of what was told last.
    told: u64,
}

impl WatchingAll {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { latest: shared.elections.latest.subscribe(), shared, told: 0 }
    }

    /// The names of elections that are there, that have changed since they were told, or that are not there any more: at first all that are
    /// known. [`Member::known_election`](crate::Member::known_election) says how each is now. `None`: the member has ended.
    pub async fn next(&mut self) -> Option<Vec<Name>> {
        let told = self.told;
        let latest = *self.latest.wait_for(|latest| *latest > told).await.ok()?;
        if latest == ENDED {
            return None;
        }
        let (names, last) = self.shared.elections.learnt_after(told, NAMES_MAX);
        self.told = if names.is_empty() { latest } else { last };
        Some(names)
    }
}
