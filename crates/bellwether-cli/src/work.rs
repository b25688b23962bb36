//! Work that takes a while, and a person who waits for it.

use std::fmt::Display;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::output::Printer;

/// How often the progress is drawn.
const TICK: Duration = Duration::from_millis(200);

/// How much can be done at a time.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Does the work; as long as it takes, a person at a terminal sees how far it is.
pub(crate) fn shown<T: Send>(
    out: &Printer,
    meter: &(impl Display + Sync),
    work: impl FnOnce() -> T + Send,
) -> T {
    let outcome = thread::scope(|scope| {
        let (done, over) = mpsc::channel();
        scope.spawn(move || {
            // Nobody waits for it only if the other side panicked.
            let _ = done.send(work());
        });
        loop {
            match over.recv_timeout(TICK) {
                Ok(outcome) => return Some(outcome),
                Err(RecvTimeoutError::Timeout) => out.progress(meter),
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    });
    out.progress_done();
    outcome.expect("work that panics ends the process")
}
