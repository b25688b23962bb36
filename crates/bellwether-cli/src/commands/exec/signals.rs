//! Signals that are the command's.

use std::fs;
use std::future::poll_fn;
use std::io;
use std::task::Poll;

use nix::sys::signal::Signal as Number;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Those that are passed on.
const PASSED_ON: [Number; 7] = [
    Number::SIGHUP,
    Number::SIGINT,
    Number::SIGQUIT,
    Number::SIGTERM,
    Number::SIGUSR1,
    Number::SIGUSR2,
    Number::SIGWINCH,
];

/// Signals, as they come.
pub(super) struct Signals(Vec<(Number, Signal)>);

impl Signals {
    /// From here on they do not end this process by themselves. What whoever started it had it ignore, the command ignores, too.
    pub(super) fn listen() -> io::Result<Self> {
        let ignored = ignored();
        let heard = PASSED_ON.into_iter().filter(|number| ignored & bit(*number) == 0);
        let heard = heard.map(|number| Ok((number, signal(SignalKind::from_raw(number as i32))?)));
        heard.collect::<io::Result<_>>().map(Self)
    }

    /// The next one. If the call is dropped, nothing is lost.
    pub(super) async fn next(&mut self) -> Number {
        poll_fn(|context| {
            for (number, signal) in &mut self.0 {
                if let Poll::Ready(Some(())) = signal.poll_recv(context) {
                    return Poll::Ready(*number);
                }
            }
            Poll::Pending
        })
        .await
    }

    /// The next one that ends a process that does nothing about it.
    pub(super) async fn next_end(&mut self) -> Number {
        loop {
            match self.next().await {
                Number::SIGWINCH => {}
                number => return number,
            }
        }
    }
}

/// The exit code of a process that a signal ended, as in shells.
pub(super) fn code(number: Number) -> u8 {
    128 + u8::try_from(number as i32).expect("signals have small numbers")
}

fn bit(number: Number) -> u64 {
    1 << (number as i32 - 1)
}

/// One bit for each signal that this process ignores.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
