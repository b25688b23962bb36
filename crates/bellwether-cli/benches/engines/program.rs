//! Programs that hold a name or wait for it, as processes of their own, and print what becomes of that.

use std::io::{BufRead, BufReader};
use std::process::{ChildStdout, Command, Stdio};
use std::time::Instant;

use nix::sys::signal::Signal;

use super::cluster::Process;

/// Killed, if it still runs when this goes.
pub(crate) struct Program {
    says: BufReader<ChildStdout>,
    process: Process,
}

impl Program {
    pub(crate) fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = Process::start(command);
        let says = BufReader::new(process.child().stdout.take().expect("it is piped"));
        Self { says, process }
    }

    #[allow(dead_code, reason = "only the tests of arbiters ask one to end")]
    pub(crate) fn interrupt(&self) {
        self.process.signal(Signal::SIGINT);
    }

    /// Waits until it prints a line with that in it. The line, and when it was read.
    pub(crate) fn until(&mut self, what: &str) -> (String, Instant) {
        let mut line = String::new();
        while !line.contains(what) {
            line.clear();
            let read = self.says.read_line(&mut line).expect("it prints text");
            assert_ne!(read, 0, "it ended, and did not say {what:?}");
        }
        (line, Instant::now())
    }
}
