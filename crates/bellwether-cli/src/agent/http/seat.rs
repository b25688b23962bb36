//! Whose connection makes room when one more comes than there is room for. One on which a request is being answered, such
//! as a watcher's, goes last; of the others the one that was answered longest ago, or came longest ago.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::time::Instant;

/// What a connection is missed for, as far as it has a place.
#[derive(Debug)]
pub(super) struct Seat {
    began: Instant,
    /// When something was written last, or else when it came, in microseconds since the beginning.
    answered: AtomicU64,
    /// How many requests are being answered.
    serving: AtomicUsize,
    /// Whether the agent has closed the connection.
    sent_away: AtomicBool,
    /// Who waits until something can be written, while nothing can.
    blocked: Mutex<Blocked>,
}

/// Whether the client takes what is written.
#[derive(Debug, Default)]
struct Blocked {
    is_blocked: bool,
    waits: Option<Waker>,
}

impl Seat {
    /// Of a connection that has just come. Times count from `began`, which all have in common.
    pub(super) fn new(began: Instant) -> Arc<Self> {
        let seat = Self {
            began,
            answered: AtomicU64::default(),
            serving: AtomicUsize::default(),
            sent_away: AtomicBool::default(),
            blocked: Mutex::default(),
        };
        seat.note();
        Arc::new(seat)
    }

    /// Something was written.
    pub(super) fn note(&self) {
        let since = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.answered.store(since, Ordering::Relaxed);
    }

    fn blocked(&self) -> MutexGuard<'_, Blocked> {
        // It is whole between any two lines that change it.
        self.blocked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client does not take what is written, or takes it again.
    pub(super) fn block(&self, is_blocked: bool) {
        let mut blocked = self.blocked();
        blocked.is_blocked = is_blocked;
        if !is_blocked && let Some(waits) = blocked.waits.take() {
            waits.wake();
        }
    }

    /// Whether the client takes what is written. What has more for it waits until it does: by itself the server would take it, and
    /// keep it.
    pub(super) fn poll_unblocked(&self, cx: &Context<'_>) -> Poll<()> {
        let mut blocked = self.blocked();
        if !blocked.is_blocked {
            return Poll::Ready(());
        }
        blocked.waits = Some(cx.waker().clone());
        Poll::Pending
    }

    /// A request is being answered while the returned value exists.
    pub(super) fn serve(self: &Arc<Self>) -> Serving {
        self.serving.fetch_add(1, Ordering::Relaxed);
        Serving(Arc::clone(self))
    }

    /// The agent closes the connection: whoever is at the other end may not know.
    pub(super) fn send_away(&self) {
        self.sent_away.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_sent_away(&self) -> bool {
        self.sent_away.load(Ordering::Relaxed)
    }

    /// The least goes first.
    pub(super) fn merit(&self) -> (bool, u64) {
        (self.serving.load(Ordering::Relaxed) > 0, self.answered.load(Ordering::Relaxed))
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct Serving(Arc<Seat>);

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.serving.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered_at(micros: u64) -> Arc<Seat> {
        let seat = Seat::new(Instant::now());
        seat.answered.store(micros, Ordering::Relaxed);
        seat
    }

    #[test]
    fn who_does_not_take_what_is_written_is_waited_for() {
        let seat = answered_at(1);
        let cx = Context::from_waker(Waker::noop());
        assert!(seat.poll_unblocked(&cx).is_ready());
        seat.block(true);
        assert!(seat.poll_unblocked(&cx).is_pending());
        seat.block(false);
        assert!(seat.poll_unblocked(&cx).is_ready() && seat.blocked().waits.is_none());
    }

    #[test]
    fn who_is_served_goes_last_and_then_who_was_answered_last() {
        let (watcher, old, new) = (answered_at(1), answered_at(2), answered_at(3));
        let serving = (watcher.serve(), watcher.serve());
        assert!(old.merit() < new.merit() && new.merit() < watcher.merit());
        drop(serving.0);
        assert!(new.merit() < watcher.merit());
        drop(serving.1);
        assert!(watcher.merit() < old.merit());
    }
}
