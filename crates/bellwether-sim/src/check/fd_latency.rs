//! FD-LATENCY (Stoller, section 2): "The latency of a FD is the maximum time from when a node crashes and is being
//! monitored until ⟨DownSig, i⟩ is received by the FD's client, provided the crashed node does not recover within that
//! time."
//!
//! The watcher must be up and running all that time. Where k nodes must agree, k must be there all that time to do so,
//! and no message may be lost or late meanwhile: it may have been a vote.

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{TraceEvent, What};

use super::known::Known;
use super::obligations::{Debt, Hindrance, Obligations, Parties};
use super::{Checker, Facts, Verdict, Violation};

pub(super) struct FdLatency {
    tau_fd: Span,
    obligations: Obligations,
    judged: bool,
    violation: Option<Violation>,
}

impl FdLatency {
    pub(super) fn new(facts: &Facts) -> Self {
        let tau_fd = facts.detection();
        Self { tau_fd, obligations: Obligations::new(facts), judged: false, violation: None }
    }

    /// Every obligation that fell due before `before` was not met. The first is the one that counts.
    fn fall_due(&mut self, before: Time) {
        while let Some((parties, debt)) = self.obligations.take_due(before, self.tau_fd) {
            if self.counts(debt) {
                self.violation.get_or_insert_with(|| overdue(parties, debt, self.tau_fd));
            }
        }
    }

    fn discharge(&mut self, watcher: NodeId, subject: NodeId) {
        let debt = self.obligations.get(Parties { watcher, subject });
        self.judged |= debt.is_some_and(|debt| self.counts(debt));
    }

    fn counts(&self, debt: Debt) -> bool {
        let disturbed = self.obligations.disturbed().is_some_and(|at| at >= debt.since);
        debt.hindrance == Hindrance::Never && !disturbed
    }

    /// A message came late that was sent then: nobody could tell until now, but it may have been a vote.
    fn excuse(&mut self, sent: Time) {
        if self.obligations.disturbed().is_some() {
            self.violation = self.violation.take().filter(|violation| violation.at < sent);
        }
    }
}

impl Checker for FdLatency {
    fn pass(&mut self, _known: &Known, until: Time) {
        self.fall_due(until);
    }

    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        if let What::Node(Event::Down(subject)) = event.what {
            self.discharge(event.node, subject);
        }
        self.obligations.observe(known, event);
        if let What::Recv(_, sent) = event.what {
            self.excuse(sent);
        }
    }

    fn finish(mut self: Box<Self>, _known: &Known, end: Time) -> Verdict {
        self.fall_due(end);
        Verdict::new(self.judged, self.violation)
    }
}

fn overdue(parties: Parties, debt: Debt, tau_fd: Span) -> Violation {
    let Parties { watcher, subject } = parties;
    let Debt { since, .. } = debt;
    Violation {
        at: since + tau_fd,
        what: format!(
            "{subject} is down and watched by {watcher} since {since}, and not reported within {tau_fd}"
        ),
    }
}
