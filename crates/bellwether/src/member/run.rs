//! Work that goes on while the member leads.

use std::future::Future;

use tokio::task::{JoinError, JoinHandle};
use tokio::time::{Instant, sleep};

use super::{Leadership, Member, Outcome};
use crate::backoff::Backoff;
use crate::error::Ended;
use crate::tied::Guarding;

impl Member {
    /// Runs `lead` whenever this member leads, until the member ends.
    ///
    /// - Losing leadership is no error: the task is stopped, at its next `await`, and has come to its end before another can be
    ///   handed leadership, for `release_timeout` at most; then the member campaigns again. So has what was started through the guard:
    ///   [`Leadership::spawn_blocking`] and [`Leadership::child`]. Of other tasks, threads and processes that it began, nothing is known:
    ///   they go on, unless they hold a clone of the guard.
    /// - Work that returns while the member leads is begun again, after a pause of 100 ms that doubles each time, up to 10 s, and is
    ///   short again once the work has gone on for 10 s. If it returns an error, that is logged. The member leads on meanwhile.
    /// - Work that wants another to lead asks for it: with [`Leadership::resign`], or with [`Member::resign`] of a clone. It is
    ///   stopped as soon as leadership is given back, perhaps before that call has returned.
    ///
    /// To be told and stop in your own time instead, use [`Member::campaign`] and [`Leadership::ended`].
    ///
    /// # Errors
    /// If the member ended because of a fault, or the task panicked; the member has left then.
    pub async fn run<F, Fut>(&self, mut lead: F) -> Result<(), Ended>
    where
        F: FnMut(Leadership) -> Fut,
        Fut: Future<Output: Outcome> + Send + 'static,
    {
        let mut backoff = Backoff::new();
        loop {
            let leadership = match self.campaign().await {
                Ok(leadership) => leadership,
                Err(Ended::Left) => return Ok(()),
                Err(ended) => return Err(ended),
            };
            let (over, began) = (leadership.watch(), Instant::now());
            match work(leadership, &mut lead).await {
                Work::Stopped => backoff = Backoff::new(),
                Work::Returned => tokio::select! {
                    () = sleep(backoff.after(began.elapsed())) => {}
                    () = over => {}
                },
                Work::Panicked(panicked) => {
                    self.leave().await;
                    return Err(Ended::Panicked(panicked.to_string()));
                }
            }
        }
    }
}

/// What has become of the work.
enum Work {
    /// Leadership ended, and so did the work.
    Stopped,
    Returned,
    Panicked(JoinError),
}

/// Runs `lead` until it returns or leadership ends.
async fn work<F, Fut>(leadership: Leadership, lead: &mut F) -> Work
where
    F: FnMut(Leadership) -> Fut,
    Fut: Future<Output: Outcome> + Send + 'static,
{
    // What `lead` does with its guard is its own affair: leadership is not released before its task has ended.
    let (ended, keeper) = (leadership.watch(), leadership.clone());
    let work = lead(leadership);
    let mut task = AbortOnDrop(tokio::spawn(async move {
        let _keeper = keeper;
        match work.await.failure() {
            None => tracing::debug!("the leader's work returned; it is begun again"),
            Some(why) => tracing::warn!("the leader's work failed: {why}; it is begun again"),
        }
    }));
    tokio::select! {
        finished = &mut task.0 => match finished {
            Ok(()) => Work::Returned,
            Err(panicked) => Work::Panicked(panicked),
        },
        () = ended => {
            task.0.abort();
            match (&mut task.0).await {
                Err(error) if error.is_panic() => Work::Panicked(error),
                _ => Work::Stopped,
            }
        }
    }
}

/// A task that does not go on without whoever waits for it.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
