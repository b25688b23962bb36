//! The agent's log, on standard error.
//!
//! Whoever reads the log may be slow, or gone, and must not hold up the member: a line goes to a queue, and a thread writes it.
//! The queue has a bound. Lines beyond it are left out and counted, and the log says how many once it is read again.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use tracing::dispatcher::{self, Dispatch};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

use super::config::{LogConfig, LogFormat};
use crate::work::spawn;

/// So many bytes may wait to be written.
const WAITING_MAX: usize = 1 << 20;
/// What a line takes beside its text.
const LINE_COST: usize = 64;
/// How long the last lines may take when the agent ends.
const LAST_LINES: Duration = Duration::from_secs(1);

/// The log. All clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    queue: Sender<Item>,
    counts: Arc<Counts>,
}

#[derive(Debug)]
enum Item {
    Line(Vec<u8>),
    /// Dropped when everything before it has been written.
    End(Sender<()>),
}

#[derive(Debug, Default)]
struct Counts {
    /// How many bytes wait.
    waiting: AtomicUsize,
    /// How many lines were left out.
    left_out: AtomicU64,
    /// How many of those the log has not said yet.
    unsaid: AtomicU64,
}

impl Counts {
    fn leave_out(&self) {
        self.left_out.fetch_add(1, Ordering::Relaxed);
        self.unsaid.fetch_add(1, Ordering::Relaxed);
    }
}

impl Log {
    /// From now on what happens is logged.
    ///
    /// # Errors
    /// If the system gives no thread, or no file descriptor.
    pub(crate) fn start(config: &LogConfig) -> Result<Self, String> {
        // A writer of its own: the standard one is locked while it waits, and others have something to say there.
        let stderr = io::stderr().as_fd().try_clone_to_owned();
        let stderr = Arc::new(File::from(stderr.map_err(|error| format!("cannot start the log: {error}"))?));
        let (log, items) = Self::new();
        let direct = subscriber(config, Arc::clone(&stderr));
        let counts = Arc::clone(&log.counts);
        spawn("log", move || {
            write(&items, &counts, &*stderr, |left_out| say(&direct, left_out));
        })?;
        // Only one log can be started, and it is started here.
        let _ = dispatcher::set_global_default(subscriber(config, log.clone()));
        Ok(log)
    }

    fn new() -> (Self, Receiver<Item>) {
        let (queue, items) = mpsc::channel();
        (Self { queue, counts: Arc::default() }, items)
    }

    /// How many lines were left out because nobody read them in time.
    pub(crate) fn left_out(&self) -> u64 {
        self.counts.left_out.load(Ordering::Relaxed)
    }

    /// Adds a line as it is.
    pub(crate) fn line(&self, line: &str) {
        self.push(format!("{line}\n").into_bytes());
    }

    /// Waits until everything has been written, but not for long.
    pub(crate) fn finish(&self) {
        let (end, ended) = mpsc::channel();
        if self.queue.send(Item::End(end)).is_ok() {
            // It is never sent anything: it is dropped.
            let _ = ended.recv_timeout(LAST_LINES);
        }
    }

    fn push(&self, line: Vec<u8>) {
        let cost = line.len() + LINE_COST;
        let before = self.counts.waiting.fetch_add(cost, Ordering::Relaxed);
        if before + cost > WAITING_MAX || self.queue.send(Item::Line(line)).is_err() {
            self.counts.waiting.fetch_sub(cost, Ordering::Relaxed);
            self.counts.leave_out();
        }
    }
}

/// What is written at once is a line.
impl Write for Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.push(line.to_vec());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Writes what comes, and says how many lines were left out when it can write again.
fn write(items: &Receiver<Item>, counts: &Counts, mut to: impl Write, say: impl Fn(u64)) {
    for item in items {
        let line = match item {
            Item::Line(line) => line,
            Item::End(ended) => {
                drop(ended);
                continue;
            }
        };
        let written = to.write_all(&line);
        counts.waiting.fetch_sub(line.len() + LINE_COST, Ordering::Relaxed);
        match (written, counts.unsaid.load(Ordering::Relaxed)) {
            (Ok(()), 0) => {}
            (Ok(()), left_out) => {
                counts.unsaid.fetch_sub(left_out, Ordering::Relaxed);
                say(left_out);
            }
            (Err(_), _) => counts.leave_out(),
        }
    }
}

/// Past the queue, which may be full again.
fn say(direct: &Dispatch, left_out: u64) {
    dispatcher::with_default(direct, || {
        tracing::warn!(left_out, "the log was not read in time: lines were left out");
    });
}

/// What turns events into lines.
fn subscriber<W>(config: &LogConfig, writer: W) -> Dispatch
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let level: LevelFilter = config.level.parse().unwrap_or(LevelFilter::INFO);
    let log = tracing_subscriber::fmt().with_max_level(level).with_target(false);
    // It would say on standard error that standard error cannot be written to, and panic.
    let log = log.log_internal_errors(false).with_writer(writer);
    match config.format {
        LogFormat::Text => log.with_ansi(false).finish().into(),
        LogFormat::Json => log.json().flatten_event(true).finish().into(),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io::{Read, Seek, SeekFrom};

    use super::*;

    /// What is written when somebody begins to read, and how many lines are said to be missing.
    fn read(log: Log, items: &Receiver<Item>) -> (String, Vec<u64>) {
        let (mut text, said, counts) = (Vec::new(), RefCell::new(Vec::new()), Arc::clone(&log.counts));
        drop(log);
        write(items, &counts, &mut text, |left_out| said.borrow_mut().push(left_out));
        assert_eq!(counts.waiting.load(Ordering::Relaxed), 0);
        (String::from_utf8(text).unwrap(), said.into_inner())
    }

    #[test]
    fn lines_are_written_in_their_order() {
        let (mut log, items) = Log::new();
        log.write_all(b"one\n").unwrap();
        log.line("two");
        assert_eq!(log.left_out(), 0);
        assert_eq!(read(log, &items), ("one\ntwo\n".to_owned(), vec![]));
    }

    #[test]
    fn what_nobody_reads_is_bounded_and_what_is_left_out_is_said() {
        let (log, items) = Log::new();
        let line = "x".repeat(1000);
        (0..5000).for_each(|_| log.line(&line));
        let left_out = log.left_out();
        assert!(log.counts.waiting.load(Ordering::Relaxed) <= WAITING_MAX && left_out > 3000, "{left_out}");
        let (text, said) = read(log, &items);
        assert_eq!((text.lines().count() as u64, said), (5000 - left_out, vec![left_out]));
    }

    #[test]
    fn what_is_left_out_is_said_in_the_format_of_the_log() {
        for (format, words) in [(LogFormat::Text, "left_out=3"), (LogFormat::Json, "\"left_out\":3")] {
            let config = LogConfig { format, level: "info".to_owned() };
            let file = Arc::new(tempfile::tempfile().unwrap());
            say(&subscriber(&config, Arc::clone(&file)), 3);
            let mut text = String::new();
            (&*file).seek(SeekFrom::Start(0)).unwrap();
            (&*file).read_to_string(&mut text).unwrap();
            assert!(text.contains("WARN") && text.contains(words), "{text}");
        }
    }

    #[test]
    fn a_reader_that_has_gone_is_no_error() {
        let (log, items) = Log::new();
        log.line("lost");
        let (counts, mut room) = (Arc::clone(&log.counts), [0; 2]);
        drop(log);
        write(&items, &counts, &mut room[..], |_| panic!("nobody hears it"));
        assert_eq!(counts.left_out.load(Ordering::Relaxed), 1);
    }
}
