//! What the workers that are left could do after the first of them was killed, against what was left to do.

use std::time::{Duration, Instant};

use serde::Serialize;

/// From the first kill on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    began: Instant,
    rows_left: u32,
    rows_done: u32,
    workers_left: u32,
    /// How much all workers that run could have worked together, until the last change of their number.
    worked: Duration,
    since: Instant,
    workers: u32,
}

/// What it came to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct AfterKill {
    /// From the kill to the last safe row.
    pub(super) ms: u64,
    pub(super) rows_done: u32,
    pub(super) rows_left: u32,
    /// The fewest that there were.
    pub(super) workers_left: u32,
    /// What the work left takes, divided by the workers that were there; those that return count from then on.
    pub(super) ideal_ms: u64,
    /// How many times that it took.
    pub(super) ratio: f64,
}

impl Effort {
    pub(super) fn begin(now: Instant, rows_done: u32, rows_left: u32, workers: u32) -> Self {
        let (worked, workers_left) = (Duration::ZERO, workers);
        Self { began: now, rows_left, rows_done, workers_left, worked, since: now, workers }
    }

    /// So many run from now on.
    pub(super) fn workers(&mut self, now: Instant, workers: u32) {
        self.worked += now.saturating_duration_since(self.since) * self.workers;
        (self.since, self.workers) = (now, workers);
        self.workers_left = self.workers_left.min(workers);
    }

    pub(super) fn end(mut self, now: Instant, pace: f64) -> AfterKill {
        self.workers(now, self.workers);
        let took = now.saturating_duration_since(self.began).as_secs_f64();
        let ratio = self.worked.as_secs_f64() * pace / f64::from(self.rows_left.max(1));
        AfterKill {
            ms: millis(took),
            rows_done: self.rows_done,
            rows_left: self.rows_left,
            workers_left: self.workers_left,
            ideal_ms: millis(took / ratio),
            ratio: (ratio * 1000.0).round() / 1000.0,
        }
    }
}

fn millis(seconds: f64) -> u64 {
    Duration::try_from_secs_f64(seconds).map_or(0, |span| u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_ideal_is_work_left_by_workers_left() {
        let start = Instant::now();
        let effort = Effort::begin(start, 100, 800, 4);
        let after = effort.end(start + 11 * SECOND, 20.0);
        assert_eq!((after.ms, after.ideal_ms, after.ratio), (11_000, 10_000, 1.1));
    }

    #[test]
    fn those_that_return_count_from_then_on() {
        let start = Instant::now();
        let mut effort = Effort::begin(start, 0, 140, 2);
        effort.workers(start + 5 * SECOND, 4);
        // 2 * 5 s and 4 * 1 s, at ten rows a second.
        let after = effort.end(start + 6 * SECOND, 10.0);
        assert_eq!((after.ratio, after.ideal_ms, after.workers_left), (1.0, 6_000, 2));
    }
}
