//! What happens, for people and for machines.

use std::fmt;

use serde::Serialize;

/// Something worth telling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(super) enum Happening {
    /// A worker's process was started.
    Started { node: u32, pid: u32 },
    /// Something was done to a worker's process: `killed`, `stopped`, `continued`.
    Done { node: u32, what: &'static str },
    /// A worker's process has ended by itself.
    Ended { node: u32, how: String },
    /// A worker has come up with what its disk still had.
    Up { node: u32, held: u32 },
    /// A view is in service.
    View { view: u64, leader: u32, members: Vec<u32> },
    /// The leader of a new view has found out what is known.
    Recovered(Recovery),
    /// The leader of a new view could not.
    RecoveryFailed { node: u32, view: u64, why: String },
    /// A worker has noticed that it is dead.
    Dead { node: u32 },
    /// A worker has rejected shards for their checksum.
    Rejected { node: u32, damaged: u32 },
    /// Nothing goes on.
    Stalled { left: u32, needed: u32, why: String },
    /// It goes on.
    GoesOn { workers: u32 },
    /// So much of the picture is safe.
    Progress { percent: u32, rows: u32 },
    /// Something else went wrong.
    Trouble { node: u32, what: String },
    /// An order could not be carried out.
    Problem { what: String },
}

/// What a fault manager did before its view was in service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Recovery {
    pub(super) view: u64,
    pub(super) manager: u32,
    pub(super) failed: Vec<u32>,
    pub(super) readmitted: Vec<u32>,
    /// Rows of the failed that it rebuilt.
    pub(super) rows: u32,
    /// Rows that could not be rebuilt.
    pub(super) lost: u32,
    /// Shards that it replaced.
    pub(super) replaced: u32,
    pub(super) ms: u64,
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started { node, pid } => write!(f, "node {node} started, process {pid}"),
            Self::Done { node, what } => write!(f, "node {node} {what}"),
            Self::Ended { node, how } => {
                write!(f, "node {node} ended ({how}); its log is in node-{node}/log")
            }
            Self::Up { node, held } => write!(f, "node {node} is up again, with {held} shards on its disk"),
            Self::View { view, leader, members } => {
                write!(f, "view {view} in service: {}; fault manager {leader}", list(members))
            }
            Self::Recovered(recovery) => recovery.fmt(f),
            Self::RecoveryFailed { node, view, why } => {
                write!(f, "node {node} could not recover view {view}: {why}")
            }
            Self::Dead { node } => write!(f, "node {node} notices that it is dead, and stops"),
            Self::Rejected { node, damaged } => {
                write!(f, "node {node} rejected {damaged} shards: wrong checksum")
            }
            Self::Stalled { why, .. } => write!(f, "stalled: {why}"),
            Self::GoesOn { workers } => write!(f, "it goes on, with {workers} workers"),
            Self::Progress { percent, rows } => write!(f, "{percent} % done, {rows} rows are safe"),
            Self::Trouble { node, what } => write!(f, "node {node}: {what}"),
            Self::Problem { what } => f.write_str(what),
        }
    }
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { view, manager, failed, readmitted, rows, lost, replaced, ms } = self;
        write!(f, "node {manager} recovered view {view} in {ms} ms")?;
        if !failed.is_empty() {
            write!(f, "; rebuilt {rows} rows of {}", list(failed))?;
        }
        if !readmitted.is_empty() {
            write!(f, "; readmitted {}", list(readmitted))?;
        }
        match (replaced, lost) {
            (0, 0) => Ok(()),
            (replaced, 0) => write!(f, "; {replaced} shards replaced"),
            (replaced, lost) => write!(f, "; {replaced} shards replaced, {lost} rows lost"),
        }
    }
}

/// `1 2 5`
pub(super) fn list(nodes: &[u32]) -> String {
    nodes.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}
