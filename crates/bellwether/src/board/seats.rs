//! Names that programs hold through guards: a member that leaves has them given back first.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use crate::uptime::Uptime;

/// How many there are, and whether the member leaves.
#[derive(Debug, Default)]
pub(crate) struct Seats {
    taken: watch::Sender<usize>,
    /// Until when names may be kept, once it does.
    leaving: watch::Sender<Option<Duration>>,
}

impl Seats {
    pub(crate) fn take(&self) {
        self.taken.send_modify(|taken| *taken += 1);
    }

    pub(crate) fn free(&self) {
        self.taken.send_modify(|taken| *taken -= 1);
    }

    /// When names have to be given back, if they have.
    pub(crate) fn leaving(&self) -> watch::Receiver<Option<Duration>> {
        self.leaving.subscribe()
    }

    /// Asks all names back, and waits until they are given back, or that time has passed.
    pub(crate) async fn clear(&self, within: Duration, uptime: Uptime) {
        self.leaving.send_if_modified(|leaving| {
            let is_news = leaving.is_none();
            leaving.get_or_insert_with(|| uptime.now() + within);
            is_news
        });
        let mut taken = self.taken.subscribe();
        // Whoever takes longer loses the name all the same.
        let _ = timeout(within, taken.wait_for(|taken| *taken == 0)).await;
    }
}
