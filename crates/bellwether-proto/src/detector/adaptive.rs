//! Patience learned from observed arrivals.
//!
//! δ is what the operator believes about the network. The detector never trusts it less than the plain heartbeat
//! does, but learns where it is wrong: patience follows the mean and the deviation of the gaps between beats, as
//! TCP's retransmission timer follows round trips, and every report that turns out to be a mistake adds a step for
//! good. A finite number of mistakes therefore suffices against any delay up to the cap.

use super::DetectorConfig;
use crate::canonical::Form;
use crate::ident::{NodeId, WatchNo};
use crate::time::{Span, Time};

/// Patience never exceeds this many times what the plain heartbeat allows: a detector must still detect.
pub const PATIENCE_MAX: u64 = 8;

/// The last beat may be δ on its way, and patience is capped.
pub(super) fn latency(config: &DetectorConfig) -> Span {
    config.delta + cap(config)
}

fn floor(config: &DetectorConfig) -> Span {
    config.period + config.delta
}

fn cap(config: &DetectorConfig) -> Span {
    floor(config) * PATIENCE_MAX
}

/// What the arrivals from one peer have taught.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Learned {
    last: Option<Time>,
    /// Smoothed gap between beats and smoothed deviation from it, in microseconds.
    mean: u64,
    deviation: u64,
    /// What mistakes have added.
    grown: Span,
    /// The watch that was reported and may yet prove a mistake.
    reported: Option<WatchNo>,
}

impl Learned {
    pub(super) fn arrived(&mut self, now: Time) {
        if let Some(last) = self.last {
            let gap = now.since(last).as_micros();
            if self.mean == 0 {
                self.mean = gap;
            }
            self.deviation = (3 * self.deviation + gap.abs_diff(self.mean)) / 4;
            self.mean = (7 * self.mean + gap) / 8;
        }
        self.last = Some(now);
    }

    /// A watch begins: the gap before it was not watched, and is no delay.
    pub(super) fn started(&mut self) {
        self.last = None;
    }

    pub(super) fn reported(&mut self, no: WatchNo) {
        self.reported = Some(no);
    }

    /// A beat for a watch that was reported: the report was a mistake.
    pub(super) fn was_alive_after_all(&mut self, no: WatchNo, config: &DetectorConfig) {
        if self.reported == Some(no) {
            self.reported = None;
            self.grown = (self.grown + config.step).min(cap(config));
        }
    }

    pub(super) fn patience(&self, config: &DetectorConfig) -> Span {
        let learned = Span::micros(self.mean.saturating_add(4 * self.deviation));
        (learned.max(floor(config)) + self.grown).min(cap(config))
    }

    /// For the answer to a Subscribe: a round trip, and what mistakes have added.
    pub(super) fn patience_for_first(&self, config: &DetectorConfig) -> Span {
        (config.delta * 2 + self.grown).min(cap(config))
    }

    pub(super) fn canonical(&self, now: Time, watcher: NodeId, subject: NodeId, form: &mut Form) {
        form.option(self.last, |form, last| form.number(now.since(last).as_micros()));
        form.number(self.mean);
        form.number(self.deviation);
        form.number(self.grown.as_micros());
        form.option(self.reported, |form, no| form.watch(watcher, subject, no));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detector::DetectorKind;

    const CONFIG: DetectorConfig = DetectorConfig {
        kind: DetectorKind::Adaptive,
        period: Span::millis(100),
        delta: Span::millis(5),
        step: Span::millis(7),
        reporters: 1,
        reports_new_incarnations: true,
    };

    fn after_gaps(gaps_ms: &[u64]) -> Learned {
        let mut learned = Learned::default();
        let mut now = Time::ZERO;
        learned.arrived(now);
        for gap in gaps_ms {
            now = now + Span::millis(*gap);
            learned.arrived(now);
        }
        learned
    }

    #[test]
    fn steady_beats_keep_the_plain_patience_and_late_ones_stretch_it() {
        assert_eq!(after_gaps(&[100; 50]).patience(&CONFIG), Span::millis(105));
        let late = after_gaps(&[100, 100, 240, 100, 260, 90, 250]).patience(&CONFIG);
        assert!(late > Span::millis(260), "{late} would suspect again at the delays just seen");
    }

    #[test]
    fn each_mistake_adds_a_step_once_and_up_to_the_cap() {
        let mut learned = after_gaps(&[100; 5]);
        learned.reported(WatchNo(3));
        learned.was_alive_after_all(WatchNo(2), &CONFIG);
        assert_eq!(learned.patience(&CONFIG), Span::millis(105), "an older watch's beat proves nothing");
        learned.was_alive_after_all(WatchNo(3), &CONFIG);
        learned.was_alive_after_all(WatchNo(3), &CONFIG);
        assert_eq!(learned.patience(&CONFIG), Span::millis(112));
        for no in 4..1000 {
            learned.reported(WatchNo(no));
            learned.was_alive_after_all(WatchNo(no), &CONFIG);
        }
        assert_eq!(learned.patience(&CONFIG), cap(&CONFIG));
    }
}
