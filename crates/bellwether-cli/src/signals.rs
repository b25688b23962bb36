//! Signals that ask the process to end.

use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use crate::work::spawn;

/// The exit code of an interrupted process, as in shells: 128 plus the number of the signal.
const INTERRUPTED: i32 = 130;

/// Set when the process is asked to end. A second request ends it at once and discards the results.
pub(crate) fn stop_when_asked() -> Result<Arc<AtomicBool>, String> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    #[allow(clippy::exit, reason = "the second Ctrl-C is meant so")]
    when_asked_to_end(move || {
        if asked.swap(true, Ordering::Relaxed) {
            exit(INTERRUPTED);
        }
    })?;
    Ok(stop)
}

/// Calls `then` whenever the process is asked to end: by Ctrl-C, a kill, or its terminal's end. Signals are caught before
/// this returns, so that none ends the process half-way.
pub(crate) fn when_asked_to_end(mut then: impl FnMut() + Send + 'static) -> Result<(), String> {
    let failed = |error| format!("cannot listen for signals: {error}");
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let guard = runtime.enter();
    let [mut interrupt, mut terminate, mut hangup] = {
        let caught: Result<Vec<_>, _> = kinds.into_iter().map(signal).collect();
        <[_; 3]>::try_from(caught.map_err(failed)?).expect("there are three kinds")
    };
    drop(guard);
    spawn("signals", move || {
        loop {
            runtime.block_on(async {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                    _ = hangup.recv() => {}
                }
            });
            then();
        }
    })
}
