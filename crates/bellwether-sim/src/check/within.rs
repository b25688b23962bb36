//! "If nothing happens for a time c, then P holds by then, and goes on to hold as long as nothing happens."
//!
//! P is judged at every instant from c after the interval began until just before it ends (or up to the end of the
//! run), on the state as it is when all events of that instant have happened: a step that passes through other states
//! at one instant does no harm.

use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{TraceEvent, What};

use super::elected::Judgement;
use super::known::Known;
use super::{Verdict, Violation};

/// Judges one predicate over intervals that somebody else delimits.
pub(super) struct Within {
    /// What begins an interval, for people.
    after: &'static str,
    since: Option<Time>,
    bound: Span,
    /// Whether the predicate held when it was last asked in this interval.
    held: bool,
    /// The version of the state that it was last judged by: it need not be asked twice.
    judged_version: Option<u64>,
    judged_from: Option<Time>,
    violation: Option<Violation>,
}

impl Within {
    /// The first interval begins when the run does.
    pub(super) fn new(after: &'static str, bound: Span) -> Self {
        Self {
            after,
            since: Some(Time::ZERO),
            bound,
            held: false,
            judged_version: None,
            judged_from: None,
            violation: None,
        }
    }

    /// Whether the bound of the present interval is over and the predicate held when last judged.
    pub(super) fn settled(&self) -> bool {
        self.held
    }

    /// Ends the interval and begins one with this bound, or none until further notice.
    pub(super) fn restart(&mut self, since: Option<Time>, bound: Span) {
        self.since = since;
        self.bound = bound;
        self.held = false;
        self.judged_version = None;
    }

    /// The intervals are those in which the system is stable. A late message shows that its link was partially connected while
    /// it was under way, and nobody could tell.
    pub(super) fn while_stable(&mut self, known: &Known, event: &TraceEvent) {
        if let What::Recv(_, sent) = event.what {
            self.forget(sent);
        }
        if known.stable_since() != self.since {
            self.restart(known.stable_since(), self.bound);
        }
    }

    /// The state stays as it is known until just before `until`.
    pub(super) fn pass(&mut self, known: &Known, until: Time, predicate: impl Fn(&Known) -> Judgement) {
        match self.due() {
            Some(due) if until > due => self.judge(known, due, predicate),
            // Long enough to call the system settled, but without an instant to judge.
            Some(due) if until == due => self.held = matches!(predicate(known), Judgement::Holds),
            Some(_) | None => {}
        }
    }

    /// The run ended at `end`, an instant that still counts.
    pub(super) fn finish(
        mut self,
        known: &Known,
        end: Time,
        predicate: impl Fn(&Known) -> Judgement,
    ) -> Verdict {
        if let Some(due) = self.due().filter(|due| end >= *due) {
            self.judge(known, due, predicate);
        }
        Verdict::new(self.judged_from.is_some(), self.violation)
    }

    /// The same, of a checker that has judged something besides, and perhaps found it broken.
    pub(super) fn finish_after(
        self,
        known: &Known,
        end: Time,
        (judged, violation): (bool, Option<Violation>),
        predicate: impl Fn(&Known) -> Judgement,
    ) -> Verdict {
        if violation.is_some() {
            return Verdict::new(judged, violation);
        }
        match self.finish(known, end, predicate) {
            Verdict::Vacuous => Verdict::new(judged, None),
            verdict => verdict,
        }
    }

    /// Something shows that there was no such interval from `from` on: takes back what was judged since.
    pub(super) fn forget(&mut self, from: Time) {
        self.judged_from = self.judged_from.filter(|judged| *judged < from);
        self.violation = self.violation.take().filter(|violation| violation.at < from);
    }

    fn due(&self) -> Option<Time> {
        self.since.map(|since| since + self.bound)
    }

    fn judge(&mut self, known: &Known, due: Time, predicate: impl Fn(&Known) -> Judgement) {
        let version = Some(known.version());
        if self.violation.is_some() || self.judged_version == version {
            return;
        }
        self.judged_version = version;
        let at = due.max(known.now());
        let judgement = predicate(known);
        self.held = matches!(judgement, Judgement::Holds);
        match judgement {
            Judgement::Open => return,
            Judgement::Holds => {}
            Judgement::Fails(why) => self.violation = Some(self.violation(at, &why)),
        }
        self.judged_from.get_or_insert(at);
    }

    fn violation(&self, at: Time, why: &str) -> Violation {
        let Self { after, bound, .. } = self;
        let lasted = at.since(self.since.unwrap_or(Time::ZERO));
        let what = if lasted == *bound {
            format!("{why}: not settled within {bound} after {after}")
        } else {
            format!("{why}, {lasted} after {after}: not settled from {bound} on")
        };
        Violation { at, what }
    }
}
