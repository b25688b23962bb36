//! How long the picture took after the first kill, compared with what the remaining workers could have done.

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
    crew: Crew,
    stalled: Clock,
}

/// How many workers run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Crew {
    /// They could work.
    Able(u32),
    /// They cannot work: too few are there.
    TooFew(u32),
}

/// For how long something was so, now and then.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    passed: Duration,
    since: Option<Instant>,
}

/// The result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct AfterKill {
    /// From the kill to the last safe row.
    pub(super) ms: u64,
    /// For how much of that time nobody could work, because too few were there.
    pub(super) stalled_ms: u64,
    pub(super) rows_done: u32,
    pub(super) rows_left: u32,
    /// The fewest that there were.
    pub(super) workers_left: u32,
    /// How long the remaining work takes if it is divided among the workers that are there. Workers that
    /// return count from then on.
    pub(super) ideal_ms: u64,
    /// How many times that it took, without the time in which nobody could work.
    pub(super) ratio: f64,
}

impl Effort {
    pub(super) fn begin(now: Instant, rows_done: u32, rows_left: u32, crew: Crew) -> Self {
        let (worked, workers_left) = (Duration::ZERO, crew.workers());
        let mut stalled = Clock::default();
        stalled.set(now, crew.is_too_few());
        Self { began: now, rows_left, rows_done, workers_left, worked, since: now, crew, stalled }
    }

    /// So many run from now on.
    pub(super) fn crew(&mut self, now: Instant, crew: Crew) {
        if let Crew::Able(workers) = self.crew {
            self.worked += now.saturating_duration_since(self.since) * workers;
        }
        (self.since, self.crew) = (now, crew);
        self.stalled.set(now, crew.is_too_few());
        self.workers_left = self.workers_left.min(crew.workers());
    }

    pub(super) fn end(mut self, now: Instant, pace: f64) -> AfterKill {
        self.crew(now, self.crew);
        let took = now.saturating_duration_since(self.began);
        let stalled = self.stalled.passed(now);
        let ratio = self.worked.as_secs_f64() * pace / f64::from(self.rows_left.max(1));
        AfterKill {
            ms: millis(took.as_secs_f64()),
            stalled_ms: millis(stalled.as_secs_f64()),
            rows_done: self.rows_done,
            rows_left: self.rows_left,
            workers_left: self.workers_left,
            ideal_ms: millis(took.saturating_sub(stalled).as_secs_f64() / ratio),
            ratio: (ratio * 1000.0).round() / 1000.0,
        }
    }
}

impl Crew {
    fn workers(self) -> u32 {
        match self {
            Self::Able(workers) | Self::TooFew(workers) => workers,
        }
    }

    pub(super) fn is_too_few(self) -> bool {
        matches!(self, Self::TooFew(_))
    }
}

impl Clock {
    /// Whether it is so from now on.
    pub(super) fn set(&mut self, now: Instant, is_so: bool) {
        self.passed = self.passed(now);
        self.since = is_so.then_some(now);
    }

    pub(super) fn passed(&self, now: Instant) -> Duration {
        self.passed + self.since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
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
        let effort = Effort::begin(start, 100, 800, Crew::Able(4));
        let after = effort.end(start + 11 * SECOND, 20.0);
        assert_eq!((after.ms, after.ideal_ms, after.ratio), (11_000, 10_000, 1.1));
    }

    #[test]
    fn those_that_return_count_from_then_on() {
        let start = Instant::now();
        let mut effort = Effort::begin(start, 0, 140, Crew::Able(2));
        effort.crew(start + 5 * SECOND, Crew::Able(4));
        // 2 * 5 s and 4 * 1 s, at ten rows a second.
        let after = effort.end(start + 6 * SECOND, 10.0);
        assert_eq!((after.ratio, after.ideal_ms, after.workers_left), (1.0, 6_000, 2));
    }

    #[test]
    fn nobody_could_have_worked_while_too_few_were_left() {
        let start = Instant::now();
        let mut effort = Effort::begin(start, 0, 200, Crew::Able(4));
        effort.crew(start + SECOND, Crew::TooFew(2));
        effort.crew(start + 31 * SECOND, Crew::Able(4));
        // 4 * 1 s and 4 * 4.5 s, at ten rows a second.
        let after = effort.end(start + 35 * SECOND + SECOND / 2, 10.0);
        assert_eq!((after.ms, after.stalled_ms), (35_500, 30_000));
        assert_eq!((after.ratio, after.ideal_ms, after.workers_left), (1.1, 5_000, 2));
    }
}
