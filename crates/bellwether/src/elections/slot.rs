//! How one campaign stands, for its driver to say and its handle to see. There may be a hundred thousand: it is small.

use std::pin::pin;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

use super::State;

#[derive(Debug)]
pub(super) struct Slot {
    /// And how often that has changed.
    state: Mutex<(State, u64)>,
    changed: Notify,
}

impl Slot {
    pub(super) fn new() -> Self {
        let state = State::Waiting { before: None, lost: None };
        Self { state: Mutex::new((state, 0)), changed: Notify::new() }
    }

    pub(super) fn get(&self) -> State {
        self.read().0
    }

    /// If that is news, whoever waits is told.
    pub(super) fn set(&self, next: State) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.0 != next {
            *state = (next, state.1 + 1);
            drop(state);
            self.changed.notify_waiters();
        }
    }

    /// Waits until it has changed since it was seen so often.
    pub(super) async fn changed(&self, seen: &mut u64) -> State {
        loop {
            // A change after this rings, wherever the look falls.
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            let (state, times) = self.read();
            if times != *seen {
                *seen = times;
                return state;
            }
            changed.await;
        }
    }

    fn read(&self) -> (State, u64) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
