//! Work that goes on while the member leads.

use std::future::Future;

use tokio::task::JoinHandle;

use super::{Hold, Leadership, Member};
use crate::error::Ended;

impl Member {
    /// Runs `lead` whenever this member leads, until the member ends. Losing leadership is no error: the task is stopped, at
    /// its next `await`, and has come to its end before another can be handed leadership; then the member campaigns again. If
    /// the task ends by itself, the member resigns.
    ///
    /// To be told and stop in your own time instead, use [`Member::campaign`] and [`Leadership::ended`].
    ///
    /// # Errors
    /// If the member ended because of a fault, or the task panicked; the member has left then.
    pub async fn run<F, Fut>(&self, mut lead: F) -> Result<(), Ended>
    where
        F: FnMut(Leadership) -> Fut,
        Fut: Future<Output = ()> + Send + 'static,
    {
        loop {
            let leadership = match self.campaign().await {
                Ok(leadership) => leadership,
                Err(Ended::Left) => return Ok(()),
                Err(ended) => return Err(ended),
            };
            // What `lead` does with its guard is its own affair: leadership is not released before its task has ended.
            let (ended, keeper) = (leadership.watch(), leadership.clone());
            let work = lead(leadership);
            let mut task = AbortOnDrop(tokio::spawn(async move {
                let keeper = keeper;
                work.await;
                keeper
            }));
            let finished = tokio::select! {
                finished = &mut task.0 => Some(finished),
                () = ended => None,
            };
            match finished {
                Some(Ok(keeper)) if keeper.is_held() => {
                    drop(keeper);
                    // If it is not taken, it has lost leadership meanwhile.
                    let _ = self.resign(Hold::For(self.resign_hold)).await;
                }
                Some(Ok(keeper)) => drop(keeper),
                Some(Err(panicked)) => {
                    self.leave().await;
                    return Err(Ended::Panicked(panicked.to_string()));
                }
                None => {
                    task.0.abort();
                    let _ = (&mut task.0).await;
                }
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
