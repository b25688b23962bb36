//! Work that takes a while, in the background or with a person who waits for it.

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

/// Begins work that goes on beside everything else, and ends with the process at the latest.
pub(crate) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map(drop).map_err(|error| format!("cannot start a thread: {error}"))
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
