//! Changes of one election, as they become known here.

use std::sync::Arc;

use tokio::sync::watch;

use super::{Election, Name};
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
