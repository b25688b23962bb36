//! What befell the nodes of a cluster, written down by whoever did it.

use std::fmt::Write as _;
use std::time::{Duration, Instant, SystemTime};

/// What happens to a node from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Befalls {
    Crash,
    Recover,
    Pause,
    Resume,
}

/// Everything so far, as the lines of a trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Truth {
    lines: String,
    began: Option<Instant>,
}

impl Truth {
    /// It happens to that node now.
    pub(super) fn note(&mut self, node: u32, what: Befalls) {
        self.began.get_or_insert_with(Instant::now);
        let _ = writeln!(self.lines, "{}", line(micros(SystemTime::now()), node, what));
    }

    /// How long ago the first of it happened.
    pub(super) fn age(&self) -> Duration {
        self.began.map_or(Duration::ZERO, |began| began.elapsed())
    }

    pub(super) fn lines(&self) -> &str {
        &self.lines
    }
}

/// One line of it.
pub(crate) fn line(t_us: u128, node: u32, what: Befalls) -> String {
    let ev = match what {
        Befalls::Crash => "crash",
        Befalls::Recover => "recover",
        Befalls::Pause => "pause",
        Befalls::Resume => "resume",
    };
    format!(r#"{{"v":1,"t_us":{t_us},"node":{node},"ev":"{ev}"}}"#)
}

/// Microseconds since 1970, as traces count.
pub(crate) fn micros(at: SystemTime) -> u128 {
    at.duration_since(SystemTime::UNIX_EPOCH).expect("it is later than 1970").as_micros()
}
