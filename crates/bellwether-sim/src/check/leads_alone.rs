//! LEADS-ALONE: in a stable system no two members lead at once for longer than it takes to be told. Pairs may be cut: what counts is
//! whether anybody hears both.
//!
//! c_O = 30τ + 10δ + 2s, where s is the time to settle: a leader asks the others within 10τ, is told of its rival, and gives the
//! election half as long, or s, to decide between them. As much again is for what happens meanwhile.

use bellwether_proto::ident::NodeId;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{TraceEvent, What};

use super::disturbance::disturbance;
use super::known::Known;
use super::opinions::Opinions;
use super::{Checker, Facts, Verdict, Violation};

pub(super) struct LeadsAlone {
    bound: Span,
    needs_majority: bool,
    /// When something befell the group last.
    disturbed: Time,
    /// The version of the state that was looked at last.
    version: Option<u64>,
    /// Who leads beside whom, and since when somebody has.
    beside: Option<(Beside, Time)>,
    judged_from: Option<Time>,
    violation: Option<Violation>,
}

/// One leads, another does, and that one hears both.
#[derive(Clone, Copy)]
struct Beside {
    one: NodeId,
    other: NodeId,
    heard_by: Option<NodeId>,
}

impl LeadsAlone {
    pub(super) fn new(facts: &Facts) -> Self {
        Self {
            bound: facts.stretched(c_o(facts)),
            needs_majority: facts.leading.quorum > 1,
            disturbed: Time::ZERO,
            version: None,
            beside: None,
            judged_from: None,
            violation: None,
        }
    }

    fn look(&mut self, known: &Known) {
        if self.version.replace(known.version()) == Some(known.version()) {
            return;
        }
        let beside = if self.needs_majority { two_lead(known) } else { one_hears_two(known) };
        let since = self.beside.map_or(known.now(), |(_, since)| since);
        self.beside = beside.map(|beside| (beside, since));
    }

    /// The state stays as it is until then.
    fn judge(&mut self, known: &Known, until: Time) {
        self.look(known);
        let Some(stable) = known.stable_since() else { return };
        let calm = stable.max(self.disturbed);
        if until.since(calm) <= self.bound {
            return;
        }
        self.judged_from.get_or_insert(calm + self.bound);
        let Some((Beside { one, other, heard_by }, since)) = self.beside else { return };
        let at = since.max(calm) + self.bound;
        if until > at {
            let heard = heard_by.map_or_else(String::new, |by| format!(", and {by} hears both"));
            let what = format!("{one} and {other} both lead{heard}, for more than {}", self.bound);
            self.violation.get_or_insert(Violation { at, what });
        }
    }
}

impl Checker for LeadsAlone {
    fn pass(&mut self, known: &Known, until: Time) {
        self.judge(known, until);
    }

    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        // A late message shows that its link was partially connected while it was under way, and nobody could tell.
        if let What::Recv(_, sent) = event.what {
            self.judged_from = self.judged_from.filter(|judged| *judged < sent);
            self.violation = self.violation.take().filter(|violation| violation.at < sent);
        }
        if known.passage().is_some() || disturbance(known, event).is_some() {
            self.disturbed = event.at;
        }
    }

    fn finish(mut self: Box<Self>, known: &Known, end: Time) -> Verdict {
        self.judge(known, end);
        Verdict::new(self.judged_from.is_some(), self.violation)
    }
}

/// The constant, for true clocks.
fn c_o(facts: &Facts) -> Span {
    let Facts { timing, leading, .. } = facts;
    timing.tau * 30 + timing.delta * 10 + leading.settle * 2
}

fn one_hears_two(opinions: &impl Opinions) -> Option<Beside> {
    let leaders = leaders(opinions);
    if leaders.len() < 2 {
        return None;
    }
    let hears = |by: NodeId, who: NodeId| by == who || opinions.connected(by, who);
    opinions.up().find_map(|(by, _)| {
        let mut heard = leaders.iter().filter(|leader| hears(by, **leader));
        Some(Beside { one: *heard.next()?, other: *heard.next()?, heard_by: Some(by) })
    })
}

fn two_lead(opinions: &impl Opinions) -> Option<Beside> {
    match leaders(opinions)[..] {
        [one, other, ..] => Some(Beside { one, other, heard_by: None }),
        _ => None,
    }
}

fn leaders(opinions: &impl Opinions) -> Vec<NodeId> {
    let leads = |id: &NodeId| opinions.announced(*id) == Some(*id);
    opinions.up().map(|(id, _)| id).filter(leads).collect()
}
