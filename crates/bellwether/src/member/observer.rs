//! Changes of leader, as they happen.

use std::sync::Arc;

use tokio::sync::watch;

use crate::shared::Shared;
use crate::status::Change;

/// A stream of changes of leader.
#[derive(Debug)]
pub struct Observer {
    /// The number of the last change that was given out.
    pub(super) seen: u64,
    pub(super) changed: watch::Receiver<u64>,
    pub(super) shared: Arc<Shared>,
}

impl Observer {
    /// The next change; `None` when the member has stopped. Whoever asks too seldom misses those that are forgotten meanwhile.
    pub async fn next(&mut self) -> Option<Change> {
        let mut ended = self.shared.ended.subscribe();
        loop {
            if let Some(change) = self.shared.change_after(self.seen) {
                self.seen = change.no;
                return Some(change);
            }
            tokio::select! {
                changed = self.changed.changed() => changed.ok()?,
                _ = ended.wait_for(Option::is_some) => return None,
            }
        }
    }
}
