//! Events, for people and for programs.

use std::fmt;

use serde::Serialize;

use crate::fleet::befell::Befell;
use crate::words::counted;

/// Something worth telling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(super) enum Happening {
    /// A worker has come up with what its disk still had.
    Up { node: u32, held: u32 },
    /// A view is in service.
    View { view: u64, leader: u32, members: Vec<u32> },
    /// The leader of a new view has found out which rows are known.
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
    /// Something befell a worker's process.
    #[serde(untagged)]
    Process(Befell),
}

/// What a fault manager did before its view was in service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Recovery {
    pub(super) view: u64,
    pub(super) manager: u32,
    /// How many workers are in the view.
    pub(super) members: u32,
    #[serde(flatten)]
    pub(super) outcome: Outcome,
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

/// What a fault manager found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub(super) enum Outcome {
    /// That nothing had been done: so many rows were dealt out.
    Begun { dealt: u32 },
    /// What had been done.
    Recovered,
    /// That too few are there to find out: so many are needed.
    Waits { needed: u32 },
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Up { node, held } => {
                write!(f, "node {node} is up again, with {} on its disk", counted(*held, "shard"))
            }
            Self::View { view, leader, members } => {
                write!(f, "view {view} in service: {}; fault manager: node {leader}", nodes(members))
            }
            Self::Recovered(recovery) => recovery.fmt(f),
            Self::RecoveryFailed { node, view, why } => {
                write!(f, "node {node} could not recover view {view}: {why}")
            }
            Self::Dead { node } => write!(f, "node {node} notices that it is dead, and stops"),
            Self::Rejected { node, damaged } => {
                write!(f, "node {node} rejected {}: wrong checksum", counted(*damaged, "shard"))
            }
            Self::Stalled { why, .. } => write!(f, "stalled: {why}"),
            Self::GoesOn { workers } => write!(f, "it goes on, with {}", counted(*workers, "worker")),
            Self::Progress { percent, rows } => write!(f, "{percent} % done, {} safe", counted(*rows, "row")),
            Self::Trouble { node, what } => write!(f, "node {node}: {what}"),
            Self::Process(befell) => befell.fmt(f),
        }
    }
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { view, manager, members, .. } = self;
        match self.outcome {
            Outcome::Begun { dealt } => {
                let (rows, workers) = (counted(dealt, "row"), counted(*members, "worker"));
                write!(f, "view {view}: node {manager} deals out {rows} to {workers}")
            }
            Outcome::Waits { needed } => write!(
                f,
                "view {view}: {members} of the {} needed; nothing can be rebuilt yet",
                counted(needed, "worker")
            ),
            Outcome::Recovered => {
                write!(f, "view {view}: fault manager {manager} was done in {} ms", self.ms)?;
                self.write_details(f)
            }
        }
    }
}

impl Recovery {
    fn write_details(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { failed, readmitted, rows, lost, replaced, .. } = self;
        match (failed.is_empty(), rows) {
            (false, rows) => write!(f, "; rebuilt {} of {}", counted(*rows, "row"), nodes(failed))?,
            // Of those that failed when there were too few to rebuild anything.
            (true, 1..) => write!(f, "; rebuilt {}", counted(*rows, "row"))?,
            (true, 0) => {}
        }
        if !readmitted.is_empty() {
            write!(f, "; readmitted {}", nodes(readmitted))?;
        }
        if *replaced > 0 {
            write!(f, "; replaced {}", counted(*replaced, "shard"))?;
        }
        if *lost > 0 {
            write!(f, "; lost {}", counted(*lost, "row"))?;
        }
        Ok(())
    }
}

/// `node 3`, `nodes 1, 2 and 5`
pub(super) fn nodes(ids: &[u32]) -> String {
    let names: Vec<_> = ids.iter().map(u32::to_string).collect();
    match names.as_slice() {
        [] => "no node".to_owned(),
        [one] => format!("node {one}"),
        [first @ .., last] => format!("nodes {} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recovery(outcome: Outcome) -> Recovery {
        Recovery {
            view: 7,
            manager: 2,
            members: 3,
            outcome,
            failed: vec![1],
            readmitted: Vec::new(),
            rows: 1,
            lost: 1,
            replaced: 1,
            ms: 12,
        }
    }

    #[test]
    fn what_a_fault_manager_did_is_told_as_what_it_was() {
        for (outcome, text) in [
            (Outcome::Begun { dealt: 1600 }, "view 7: node 2 deals out 1600 rows to 3 workers"),
            (Outcome::Waits { needed: 4 }, "view 7: 3 of the 4 workers needed; nothing can be rebuilt yet"),
            (
                Outcome::Recovered,
                "view 7: fault manager 2 was done in 12 ms; rebuilt 1 row of node 1; replaced 1 shard; lost 1 row",
            ),
        ] {
            assert_eq!(Happening::Recovered(recovery(outcome)).to_string(), text);
        }
    }

    #[test]
    fn what_is_rebuilt_after_a_stall_is_told_though_nobody_failed_since() {
        let back = Recovery {
            failed: Vec::new(),
            readmitted: vec![3],
            lost: 0,
            replaced: 0,
            rows: 170,
            ..recovery(Outcome::Recovered)
        };
        let text = "view 7: fault manager 2 was done in 12 ms; rebuilt 170 rows; readmitted node 3";
        assert_eq!(Happening::Recovered(back).to_string(), text);
    }

    #[test]
    fn machines_are_told_what_was_found() {
        let told = serde_json::json!(Happening::Recovered(recovery(Outcome::Waits { needed: 4 })));
        assert_eq!((&told["event"], &told["outcome"]), (&"recovered".into(), &"waits".into()));
        assert_eq!((&told["members"], &told["needed"], &told["view"]), (&3.into(), &4.into(), &7.into()));
    }

    #[test]
    fn one_is_told_as_one() {
        for (happening, text) in [
            (Happening::Up { node: 2, held: 1 }, "node 2 is up again, with 1 shard on its disk"),
            (Happening::Rejected { node: 2, damaged: 1 }, "node 2 rejected 1 shard: wrong checksum"),
            (Happening::GoesOn { workers: 1 }, "it goes on, with 1 worker"),
            (Happening::Progress { percent: 50, rows: 1 }, "50 % done, 1 row safe"),
            (
                Happening::View { view: 3, leader: 2, members: vec![2, 3, 5] },
                "view 3 in service: nodes 2, 3 and 5; fault manager: node 2",
            ),
        ] {
            assert_eq!(happening.to_string(), text);
        }
    }
}
