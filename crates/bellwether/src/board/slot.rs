//! How one campaign stands, for its driver to say and its handle to see. There may be a hundred thousand: it is small.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::State;

#[derive(Debug)]
pub(crate) struct Slot(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    state: State,
    /// How often it has changed.
    times: u64,
    /// Whoever waits for the next time: there is one handle.
    waiter: Option<Waker>,
}

impl Slot {
    pub(crate) fn new() -> Self {
        let state = State::Waiting { before: None, lost: None };
        Self(Mutex::new(Inner { state, times: 0, waiter: None }))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self) -> State {
        self.inner().state
    }

    /// If that is news, whoever waits is told.
    pub(crate) fn set(&self, next: State) {
        self.turn(|_| next);
    }

    /// The same, as it follows from how it stands. What is over stays so.
    pub(crate) fn turn(&self, next: impl FnOnce(&State) -> State) {
        let mut inner = self.inner();
        if matches!(inner.state, State::Over | State::Unfit { .. }) {
            return;
        }
        let next = next(&inner.state);
        if inner.state != next {
            (inner.state, inner.times) = (next, inner.times + 1);
            let waiter = inner.waiter.take();
            drop(inner);
            waiter.into_iter().for_each(Waker::wake);
        }
    }

    /// Whether it has changed since it was seen so often. If not, whoever asks is told when it does.
    pub(crate) fn poll_changed(&self, seen: &mut u64, cx: &Context<'_>) -> Poll<State> {
        let mut inner = self.inner();
        if inner.times != *seen {
            *seen = inner.times;
            return Poll::Ready(inner.state);
        }
        inner.waiter = Some(cx.waker().clone());
        Poll::Pending
    }
}
