//! Everything is printed here.

use std::cell::Cell;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::exit;

/// How this command was called, for commands that a person may want to type next.
pub(crate) fn invocation() -> &'static str {
    if std::env::var_os("CARGO").is_some() { "cargo run --release --" } else { "bellwether" }
}

/// Prints text that nobody depends on. It may take for ever, if nobody reads.
pub(crate) fn print_if_possible(text: &str) {
    let mut out = io::stdout();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Standard output and standard error.
#[derive(Debug)]
pub(crate) struct Printer {
    out: io::Stdout,
    /// The reader has closed the pipe (`| head`). That is no error: the rest is done silently, and the exit code
    /// tells the result.
    closed: Cell<bool>,
}

impl Printer {
    pub(crate) fn new() -> Self {
        Self { out: io::stdout(), closed: Cell::new(false) }
    }

    /// A line of the answer.
    pub(crate) fn line(&self, line: impl Display) {
        self.draw(format_args!("{line}\n"));
    }

    /// Text as it is, for a screen that is drawn again and again.
    pub(crate) fn draw(&self, text: impl Display) {
        if self.closed.get() {
            return;
        }
        match write!(&self.out, "{text}").and_then(|()| (&self.out).flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::BrokenPipe => self.closed.set(true),
            Err(error) => self.give_up(&error),
        }
    }

    /// Whether nobody reads any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.get()
    }

    /// What went wrong.
    pub(crate) fn error(&self, what: impl Display) {
        // If even this cannot be said, the exit code still tells.
        let _ = writeln!(io::stderr(), "error: {what}");
    }

    /// What has happened, beside the answer.
    pub(crate) fn note(&self, what: impl Display) {
        // Whoever does not listen does not miss it.
        let _ = writeln!(io::stderr(), "note: {what}");
    }

    /// Progress, for a person who waits. It does not appear in captured output.
    pub(crate) fn progress(&self, what: impl Display) {
        let mut err = io::stderr();
        if err.is_terminal() {
            let _ = write!(err, "\r\x1b[K{what}").and_then(|()| err.flush());
        }
    }

    /// Takes the progress line back.
    pub(crate) fn progress_done(&self) {
        self.progress("");
    }

    /// The answer cannot be given: the disk is full, for instance.
    #[allow(clippy::exit, reason = "nothing more can be said, so nothing more is to be done")]
    fn give_up(&self, error: &io::Error) -> ! {
        self.error(format_args!("cannot print: {error}"));
        exit(3);
    }
}
