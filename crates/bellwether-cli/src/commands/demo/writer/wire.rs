//! What is asked of the store, and what it answers: one JSON object per line.

use serde::{Deserialize, Serialize};

/// No line is longer.
pub(super) const LINE_MAX: u64 = 256;

/// Whoever asks says with which token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) node: u32,
    pub(super) token: u64,
    pub(super) what: What,
}

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum What {
    /// To begin to write: smaller tokens are refused from now on, and the number of the last line is told.
    Open,
    /// A line with that number.
    Write(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Answer {
    /// The number of the last line; 0 if there is none.
    Opened { last: u64 },
    /// It is on disk.
    Taken,
    /// A larger token was seen.
    Refused { seen: u64 },
}
