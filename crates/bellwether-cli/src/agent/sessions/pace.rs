//! The clock of all streams: it tells those who hold something until when they may act, and all others that somebody is there. However
//! many there are, it is one.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::Registry;
use super::feed::ALIVE;

/// Validity is told so often in a `ttl`, which is more often than promised: in each third of it.
const VALID_IN_TTL: (u32, u32) = (10, 3);

/// Keeps the time, until the process ends.
pub(super) async fn keep(registry: Arc<Registry>) {
    let (most, part) = VALID_IN_TTL;
    let (valid_every, alive_every) = (registry.terms.ttl * part / most, ALIVE / 5);
    loop {
        if !has_readers(&registry) {
            registry.stirred.notified().await;
        }
        let start = Instant::now();
        let (mut valid, mut alive) = (start + valid_every, start + alive_every);
        while has_readers(&registry) {
            sleep_until(valid.min(alive)).await;
            let now = Instant::now();
            if now >= valid {
                extend(&registry);
                valid = next(valid, valid_every, now);
            }
            if now >= alive {
                stay_alive(&registry);
                alive = next(alive, alive_every, now);
            }
        }
    }
}

/// One that was slept through is not made up for.
fn next(due: Instant, every: Duration, now: Instant) -> Instant {
    (due + every).max(now)
}

/// Whether there are any. Those that have gone are forgotten.
fn has_readers(registry: &Registry) -> bool {
    let mut feeds = registry.feeds();
    feeds.retain(|feed| feed.strong_count() > 0);
    !feeds.is_empty()
}

fn extend(registry: &Registry) {
    let Some(until) = registry.member.lease_valid_until() else { return };
    for session in registry.sessions() {
        session.extend(until);
    }
}

fn stay_alive(registry: &Registry) {
    let feeds: Vec<_> = registry.feeds().iter().filter_map(Weak::upgrade).collect();
    let now = std::time::Instant::now();
    feeds.iter().for_each(|feed| feed.stay_alive(now));
}
