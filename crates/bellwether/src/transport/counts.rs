//! What the transport counts.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::status::Counters;

#[derive(Debug, Default)]
pub(super) struct Counts {
    /// In bytes, before they are encrypted.
    pub(super) sent_bytes: Count,
    pub(super) received: Count,
    pub(super) dropped: Count,
    pub(super) refused_frames: Count,
    pub(super) refused_connections: Count,
    pub(super) refusals: Count,
    pub(super) duplicate_ids: Count,
    pub(super) gone: Count,
}

/// A number that only grows.
#[derive(Debug, Default)]
pub(super) struct Count(AtomicU64);

impl Count {
    pub(super) fn add(&self, more: usize) {
        self.0.fetch_add(more as u64, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counts {
    /// What the transport does not count is 0.
    pub(super) fn counters(&self) -> Counters {
        Counters {
            sent_bytes: self.sent_bytes.get(),
            received: self.received.get(),
            dropped: self.dropped.get(),
            refused_frames: self.refused_frames.get(),
            refused_connections: self.refused_connections.get(),
            refusals: self.refusals.get(),
            duplicate_ids: self.duplicate_ids.get(),
            gone: self.gone.get(),
            ..Counters::default()
        }
    }
}
