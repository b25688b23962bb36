//! Whether work goes on.

use std::time::{Duration, Instant};

/// How long there may be no view in service before that counts as a stall. A change of views is shorter.
pub(super) const STALL_AFTER: Duration = Duration::from_millis(1_500);
/// How long no row may become safe before that is called a stall, whatever the workers say.
const QUIET_MAX: Duration = Duration::from_secs(5);
/// The same, in rows at a worker's pace: slow workers have not stalled.
const QUIET_ROWS: f64 = 3.0;

/// Watches for standstills.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watch {
    quiet_max: Duration,
    /// When a row last became safe.
    moved: Instant,
    /// Since when there is no progress, and whether that was reported.
    stalled: Option<(Instant, bool)>,
}

/// What there is to see.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signs {
    /// Whether no worker works, although there has been a view.
    pub(super) is_idle: bool,
    /// Whether all running workers of the latest view work in it.
    pub(super) is_whole: bool,
    /// Whether too few are left, and know it.
    pub(super) is_hopeless: bool,
    /// Whether there are rows to be made safe.
    pub(super) has_work: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Stalled,
    GoesOn,
}

impl Watch {
    pub(super) fn new(pace: f64, now: Instant) -> Self {
        let rows = Duration::try_from_secs_f64(QUIET_ROWS / pace).unwrap_or(QUIET_MAX);
        Self { quiet_max: QUIET_MAX.max(rows), moved: now, stalled: None }
    }

    /// A row has become safe.
    pub(super) fn moved(&mut self, now: Instant) {
        self.moved = now;
    }

    /// What is to be told.
    pub(super) fn weigh(&mut self, signs: Signs, now: Instant) -> Option<Change> {
        let is_quiet = signs.has_work && self.quiet(now) >= self.quiet_max;
        match self.stalled {
            None if is_quiet => {
                self.stalled = Some((self.moved, true));
                Some(Change::Stalled)
            }
            None if signs.is_idle => {
                self.stalled = Some((now, false));
                None
            }
            Some((_, false)) if !signs.is_idle && !is_quiet => {
                self.stalled = None;
                None
            }
            // Not when the first is at work: how many there are is not known before all are.
            Some((since, true)) if self.moved > since || (signs.is_whole && !is_quiet) => {
                self.stalled = None;
                Some(Change::GoesOn)
            }
            Some((since, false))
                if signs.is_hopeless || now.saturating_duration_since(since) >= STALL_AFTER =>
            {
                self.stalled = Some((since, true));
                Some(Change::Stalled)
            }
            Some(_) | None => None,
        }
    }

    /// For how long no row has become safe.
    pub(super) fn quiet(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.moved)
    }

    /// For how long nothing has gone on.
    pub(super) fn stalled(&self, now: Instant) -> Option<Duration> {
        self.stalled.map(|(since, _)| now.saturating_duration_since(since))
    }

    /// Whether a stall was reported.
    pub(super) fn is_told(&self) -> bool {
        self.stalled.is_some_and(|(_, told)| told)
    }
}
