//! What befell the nodes and the network, written down for whoever judges the run.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::network::Way;

#[derive(Debug)]
pub(crate) struct Truth {
    /// As a trace has it.
    pub(crate) lines: String,
    pub(crate) began_us: u64,
    /// When something befell somebody for the last time.
    pub(crate) last_us: u64,
}

impl Truth {
    /// From now on.
    pub(crate) fn begin() -> Self {
        let now = now();
        Self { lines: String::new(), began_us: now, last_us: now }
    }

    /// Nothing passes there from now on.
    pub(crate) fn cut(&mut self, ways: impl IntoIterator<Item = Way>) {
        self.note_ways("cut", ways);
    }

    /// What is sent there arrives again.
    pub(crate) fn mend(&mut self, ways: impl IntoIterator<Item = Way>) {
        self.note_ways("mend", ways);
    }

    /// What is sent there takes another time than before.
    pub(crate) fn slow(&mut self, ways: impl IntoIterator<Item = Way>) {
        self.note_ways("slow", ways);
    }

    /// That node is no more.
    pub(crate) fn crash(&mut self, node: u32) {
        self.note(node, "\"crash\"");
    }

    /// That node has been started. It says itself when it is up, and in which life.
    pub(crate) fn start(&mut self) {
        self.last_us = now();
    }

    fn note_ways(&mut self, what: &str, ways: impl IntoIterator<Item = Way>) {
        for (from, to) in ways {
            self.note(from, &format!("\"{what}\",\"peer\":{to}"));
        }
    }

    fn note(&mut self, node: u32, what: &str) {
        self.last_us = now();
        let _ = writeln!(self.lines, "{{\"v\":1,\"t_us\":{},\"node\":{node},\"ev\":{what}}}", self.last_us);
    }
}

/// Microseconds since 1970, as traces have them.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is set");
    u64::try_from(since.as_micros()).expect("it is not that late yet")
}
