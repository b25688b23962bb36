//! How many workers there are, and why that is not enough.

use std::fmt;
use std::time::Duration;

use super::happening::nodes;
use crate::words::counted;

/// The workers, counted at one moment, so that the figures fit together.
#[derive(Clone, Debug)]
pub(super) struct Force {
    /// How many run.
    pub(super) left: u32,
    /// How many must run so that the picture can go on.
    pub(super) needed: u32,
    /// How many shards a row needs.
    pub(super) data: u32,
    /// How many are at work.
    pub(super) working: u32,
    /// How many are in a view of too few, and wait for others.
    pub(super) waiting: u32,
    /// Which of those that run have a disk that takes no shards.
    pub(super) failing: Vec<u32>,
}

/// A fault manager that did not get through.
#[derive(Clone, Debug)]
pub(super) struct FailedRecovery {
    pub(super) node: u32,
    pub(super) view: u64,
    pub(super) why: String,
}

impl Force {
    /// Whether fewer are left than are needed.
    pub(super) fn is_short(&self) -> bool {
        self.left < self.needed
    }

    /// Whether nobody works, because too few are there.
    pub(super) fn is_stalled(&self) -> bool {
        self.is_short() && self.working == 0
    }

    /// Why nothing goes on, if no row became safe for so long.
    pub(super) fn why(&self, failed: Option<&FailedRecovery>, quiet: Duration) -> String {
        let (workers, needed) = (counted(self.left, "worker"), self.needed);
        let good = self.left.saturating_sub(u32::try_from(self.failing.len()).unwrap_or(u32::MAX));
        match (failed, self.working) {
            _ if self.is_short() => format!("{workers} left, {needed} needed"),
            _ if good < self.data => {
                let (disks, failing) = (counted(good, "good disk"), nodes(&self.failing));
                format!("{disks} left, {} needed; {failing} can keep no shards", self.data)
            }
            (Some(failed), _) => failed.to_string(),
            (None, 0) => format!("{workers} left, which would do, but no view of {needed} is in service"),
            (None, working) => {
                let (working, seconds) = (counted(working, "worker"), quiet.as_secs());
                format!("{working} at work, but no row became safe for {seconds} s")
            }
        }
    }
}

impl fmt::Display for FailedRecovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, view, why } = self;
        write!(f, "node {node} could not recover view {view}: {why}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Duration = Duration::from_secs(5);

    fn force(left: u32, working: u32, failing: Vec<u32>) -> Force {
        Force { left, needed: 3, data: 2, working, waiting: 0, failing }
    }

    #[test]
    fn the_reason_is_told_in_one_look() {
        let failed = FailedRecovery { node: 1, view: 2, why: "node 3 does not answer".to_owned() };
        for (force, failed, why) in [
            (force(1, 0, vec![]), Some(&failed), "1 worker left, 3 needed"),
            (force(2, 2, vec![1, 2]), None, "2 workers left, 3 needed"),
            (force(3, 3, vec![1, 2]), None, "1 good disk left, 2 needed; nodes 1 and 2 can keep no shards"),
            (force(4, 0, vec![]), Some(&failed), "node 1 could not recover view 2: node 3 does not answer"),
            (force(4, 0, vec![4]), None, "4 workers left, which would do, but no view of 3 is in service"),
            (force(4, 1, vec![]), None, "1 worker at work, but no row became safe for 5 s"),
        ] {
            assert_eq!(force.why(failed, QUIET), why);
        }
    }

    #[test]
    fn who_is_left_and_enough_is_not_called_too_few() {
        for left in 0..=6 {
            let force = force(left, 0, vec![]);
            assert_eq!(force.why(None, QUIET).ends_with(" left, 3 needed"), left < 3, "{left}");
        }
    }
}
