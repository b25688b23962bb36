//! Events, for people and for programs.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::duration::rough;
use crate::fleet::befell::Befell;

/// Something worth telling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(super) enum Happening {
    /// A node's first line with a token, and how long there was no line before it.
    Writes { node: u32, token: u64, number: u64, gap_ms: Option<u64> },
    /// The store has refused a line, or to be opened.
    Refused { node: u32, token: u64, number: Option<u64>, seen: u64 },
    /// A store without a fence has taken a line with an old token.
    Backwards { node: u32, token: u64, number: u64, seen: u64 },
    /// A node has found that it no longer leads.
    Stops { node: u32, token: u64 },
    /// Something befell a node's process.
    #[serde(untagged)]
    Process(Befell),
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Writes { node, token, number, gap_ms } => {
                write!(f, "node {node} writes with token {token}, from line {number} on")?;
                let gap = gap_ms.map(|ms| rough(Duration::from_millis(ms)));
                gap.map_or(Ok(()), |gap| write!(f, "; {gap} without a line"))
            }
            Self::Refused { node, token, number: Some(number), seen } => {
                write!(f, "REFUSED: line {number} of node {node}, token {token}; the store has seen {seen}")
            }
            Self::Refused { node, token, number: None, seen } => {
                write!(f, "REFUSED: node {node} with token {token}; the store has seen {seen}")
            }
            Self::Backwards { node, token, number, seen } => {
                write!(f, "BACKWARDS: line {number} of node {node} has token {token}, after {seen}")
            }
            Self::Stops { node, token } => {
                write!(f, "node {node} finds that token {token} is over, and stops")
            }
            Self::Process(befell) => befell.fmt(f),
        }
    }
}
