//! What befell the nodes of a cluster, written down by whoever did it.

use std::fmt::Write as _;
use std::time::{Duration, Instant, SystemTime};

/// What happens to a node, or to what it sends to another, from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Befalls {
    Crash,
    Recover,
    Pause,
    Resume,
    /// Nothing reaches that one any more.
    Cut(u32),
    /// It does again.
    Mend(u32),
    /// It takes another time than before.
    Slow(u32),
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
    let (ev, peer) = match what {
        Befalls::Crash => ("crash", None),
        Befalls::Recover => ("recover", None),
        Befalls::Pause => ("pause", None),
        Befalls::Resume => ("resume", None),
        Befalls::Cut(peer) => ("cut", Some(peer)),
        Befalls::Mend(peer) => ("mend", Some(peer)),
        Befalls::Slow(peer) => ("slow", Some(peer)),
    };
    let peer = peer.map_or_else(String::new, |peer| format!(r#","peer":{peer}"#));
    format!(r#"{{"v":1,"t_us":{t_us},"node":{node},"ev":"{ev}"{peer}}}"#)
}

/// Microseconds since 1970, as traces count.
pub(crate) fn micros(at: SystemTime) -> u128 {
    at.duration_since(SystemTime::UNIX_EPOCH).expect("it is later than 1970").as_micros()
}
