//! When an agent ends: at a signal, or with the process that started it. The end of its terminal is no reason: an agent
//! that was started there is to go on, and reads its files again as with any SIGHUP.

use std::io::{self, Read};
use std::thread;

use nix::sys::signal::Signal as Number;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{self, Receiver};

/// The reasons to end.
#[derive(Debug)]
pub(super) struct Stop {
    terminate: Signal,
    interrupt: Signal,
    /// Closed input, if that is a reason.
    input: Option<Receiver<()>>,
}

impl Stop {
    /// From here on signals do not end the process by themselves.
    pub(super) fn listen(end_with_stdin: bool) -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            input: if end_with_stdin { Some(follow_parent()?) } else { None },
        })
    }

    /// The next reason.
    pub(super) async fn next(&mut self) -> &'static str {
        let input = async {
            match &mut self.input {
                Some(input) => input.recv().await,
                None => std::future::pending().await,
            }
        };
        let why = tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
            _ = input => "standard input was closed",
        };
        // Closed stays closed: it is a reason once.
        self.input = None;
        why
    }
}

/// Tells when the other end of standard input is closed. On Linux the kernel ends this process with its parent, even
/// while it is stopped and could not notice.
fn follow_parent() -> io::Result<Receiver<()>> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_pdeathsig(Number::SIGKILL)?;
    let (sender, receiver) = mpsc::channel(1);
    thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        let mut input = io::stdin().lock();
        let mut byte = [0; 64];
        while matches!(input.read(&mut byte), Ok(1..)) {}
        drop(sender);
    })?;
    Ok(receiver)
}
