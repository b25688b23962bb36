//! What waits to be written to one peer.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::record::{self, Record};

/// At most this many frames wait. The oldest makes room for the newest, because old frames are out of date.
pub(super) const FRAMES_MAX: usize = 256;

/// At most this many answers wait. A peer that asks faster than it takes answers gets the latest.
const PONGS_MAX: usize = 8;

/// About this many bytes are written at once, if there are that many.
const BATCH: usize = 16 * 1024;

#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    ready: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    frames: VecDeque<Arc<[u8]>>,
    pongs: VecDeque<u64>,
}

/// What became of the oldest frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// There was room.
    Enough,
    /// It was dropped.
    Made,
}

impl Queue {
    pub(super) fn push(&self, frame: Arc<[u8]>) -> Room {
        let mut waiting = self.lock();
        let full = waiting.frames.len() == FRAMES_MAX;
        if full {
            waiting.frames.pop_front();
        }
        waiting.frames.push_back(frame);
        drop(waiting);
        self.ready.notify_one();
        if full { Room::Made } else { Room::Enough }
    }

    pub(super) fn pong(&self, no: u64) {
        let mut waiting = self.lock();
        if waiting.pongs.len() == PONGS_MAX {
            waiting.pongs.pop_front();
        }
        waiting.pongs.push_back(no);
        drop(waiting);
        self.ready.notify_one();
    }

    /// Waits until there is something, and puts several records at once into `bytes`, answers first.
    pub(super) async fn take_batch(&self, bytes: &mut Vec<u8>) {
        loop {
            self.fill(bytes);
            if !bytes.is_empty() {
                return;
            }
            self.ready.notified().await;
        }
    }

    /// How many frames wait.
    pub(super) fn len(&self) -> usize {
        self.lock().frames.len()
    }

    fn fill(&self, bytes: &mut Vec<u8>) {
        let mut waiting = self.lock();
        for no in waiting.pongs.drain(..) {
            record::append(&Record::Pong { no }, bytes);
        }
        while bytes.len() < BATCH
            && let Some(frame) = waiting.frames.pop_front()
        {
            record::append(&Record::Frame(&frame), bytes);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Nothing panics half-way through a change of it.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn batch(queue: &Queue) -> Vec<u8> {
        let mut bytes = Vec::new();
        queue.take_batch(&mut bytes).await;
        bytes
    }

    fn records<'a>(records: impl IntoIterator<Item = Record<'a>>) -> Vec<u8> {
        let mut bytes = Vec::new();
        records.into_iter().for_each(|record| record::append(&record, &mut bytes));
        bytes
    }

    #[tokio::test]
    async fn when_it_is_full_the_oldest_goes() {
        let queue = Queue::default();
        for n in 0..FRAMES_MAX + 3 {
            let room = queue.push([n as u8].into());
            assert_eq!(room, if n < FRAMES_MAX { Room::Enough } else { Room::Made });
        }
        assert_eq!(queue.len(), FRAMES_MAX);
        let left: Vec<[u8; 1]> = (3..FRAMES_MAX + 3).map(|n| [n as u8]).collect();
        assert_eq!(batch(&queue).await, records(left.iter().map(|frame| Record::Frame(frame))));
    }

    #[tokio::test]
    async fn answers_overtake_frames_and_are_bounded_too() {
        let queue = Queue::default();
        queue.push([1].into());
        (0..100).for_each(|no| queue.pong(no));
        let pongs = (100 - PONGS_MAX as u64..100).map(|no| Record::Pong { no });
        assert_eq!(batch(&queue).await, records(pongs.chain([Record::Frame(&[1])])));
    }

    #[tokio::test]
    async fn long_frames_go_in_several_batches() {
        let queue = Queue::default();
        for _ in 0..3 {
            queue.push(vec![0; BATCH].into());
        }
        for left in [2, 1, 0] {
            batch(&queue).await;
            assert_eq!(queue.len(), left);
        }
    }
}
