//! What befell a process of a fleet, for people and for programs.

use std::fmt;

use serde::Serialize;

/// Something about a process that is worth telling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum Befell {
    /// It was started.
    Started { node: u32, pid: u32 },
    /// Something was done to it: `killed`, `stopped`, `continued`.
    Done { node: u32, what: &'static str },
    /// It has ended by itself.
    Ended { node: u32, how: String },
    /// An order could not be carried out.
    Problem { what: String },
}

impl fmt::Display for Befell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started { node, pid } => write!(f, "node {node} started, process {pid}"),
            Self::Done { node, what } => write!(f, "node {node} {what}"),
            Self::Ended { node, how } => {
                write!(f, "node {node} ended ({how}); its log is in node-{node}/log")
            }
            Self::Problem { what } => f.write_str(what),
        }
    }
}
