//! What failure detectors owe their clients: a report of each node that is watched and down.
//!
//! Stoller's formula (1) as printed would ask for a report even after the watch was stopped, and for endless reports
//! (E-ST4). Read as its prose: a watch obliges, and the report or the end of the watch discharges.

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{TraceEvent, What};

use super::Facts;
use super::known::{Known, Passage, index};
use super::opinions::Opinions;

pub(super) struct Obligations {
    /// How many others must be able to join in before a node is reported.
    company: usize,
    /// By watcher: the nodes whose watch is armed.
    armed: Vec<BTreeSet<NodeId>>,
    open: BTreeMap<Parties, Debt>,
    /// The open ones that were not taken as due yet.
    by_age: BTreeSet<(Time, Parties)>,
    disturbed: Option<Time>,
}

/// Who owes a report, and of whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Parties {
    pub(super) watcher: NodeId,
    pub(super) subject: NodeId,
}

#[derive(Clone, Copy)]
pub(super) struct Debt {
    /// When the subject went down or the watch began, whichever was later.
    pub(super) since: Time,
    pub(super) hindrance: Hindrance,
}

/// What kept the watcher from reporting: it was paused, or had too few others to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hindrance {
    Never,
    Now,
    Until(Time),
}

impl Obligations {
    pub(super) fn new(facts: &Facts) -> Self {
        Self {
            company: facts.reporters.saturating_sub(1),
            armed: vec![BTreeSet::new(); facts.nodes],
            open: BTreeMap::new(),
            by_age: BTreeSet::new(),
            disturbed: None,
        }
    }

    /// All that are not discharged.
    pub(super) fn open(&self) -> impl Iterator<Item = (Parties, Debt)> {
        self.open.iter().map(|(parties, debt)| (*parties, *debt))
    }

    pub(super) fn get(&self, parties: Parties) -> Option<Debt> {
        self.open.get(&parties).copied()
    }

    /// When a message that may have carried a vote was last lost, or last came late. `None` also where a node reports
    /// on its own.
    pub(super) fn disturbed(&self) -> Option<Time> {
        self.disturbed
    }

    /// Whether any is not discharged.
    pub(super) fn any(&self) -> bool {
        !self.open.is_empty()
    }

    /// The oldest that is more than `patience` old at some time before `before`, each at most once.
    pub(super) fn take_due(&mut self, before: Time, patience: Span) -> Option<(Parties, Debt)> {
        let (since, parties) = *self.by_age.first()?;
        if since + patience >= before {
            return None;
        }
        self.by_age.pop_first();
        self.get(parties).map(|debt| (parties, debt))
    }

    pub(super) fn observe(&mut self, known: &Known, event: &TraceEvent) {
        let TraceEvent { at, node, what, .. } = *event;
        match known.passage() {
            Some(Passage::Gone) => {
                self.disarm_all(node);
                self.company_changed(known, at);
                self.subject_gone(known, node);
            }
            Some(Passage::Back) => {
                self.subject_back(node);
                self.company_changed(known, at);
            }
            None => {}
        }
        match what {
            What::Node(reported) => self.report(known, node, reported),
            What::Crash | What::Recover => {}
            What::Pause | What::Resume => {
                self.reconsider(known, node, at);
                self.company_changed(known, at);
            }
            What::Cut(_) | What::Mend(_) => self.company_changed(known, at),
            What::Recv(..) | What::Late(_) | What::Drop(..) | What::HeldUp(_) if self.company > 0 => {
                self.disturbed = Some(at);
            }
            What::Recv(..) | What::Late(_) | What::Drop(..) | What::HeldUp(_) => {}
            What::Send(_) | What::Deadline | What::Persist(_) | What::Slow(_) => {}
            What::Unlinked(_) | What::Program(_) => {}
        }
    }

    fn report(&mut self, known: &Known, watcher: NodeId, reported: Event) {
        match reported {
            Event::Watch(subject) => {
                let parties = Parties { watcher, subject };
                self.close(parties);
                self.armed[index(watcher)].insert(subject);
                if !known.is_up(subject) {
                    self.oblige(known, parties);
                }
            }
            Event::Unwatch(subject) | Event::Down(subject) => {
                self.armed[index(watcher)].remove(&subject);
                self.close(Parties { watcher, subject });
            }
            Event::UnwatchAll => self.disarm_all(watcher),
            Event::Opinion(_)
            | Event::Group(_)
            | Event::Announced(_)
            | Event::Granted { .. }
            | Event::GivenUp
            | Event::Reborn(_)
            | Event::PlayDead
            | Event::PlayAlive
            | Event::Link(_)
            | Event::ViewInstalled(_)
            | Event::Pending(_)
            | Event::Refused { .. } => {}
        }
    }

    fn oblige(&mut self, known: &Known, parties: Parties) {
        if self.open.contains_key(&parties) {
            return; // Who stands aside and then crashes is gone since it stood aside.
        }
        let since = known.now();
        let hindrance = if self.hindered(known, parties.watcher) { Hindrance::Now } else { Hindrance::Never };
        self.open.insert(parties, Debt { since, hindrance });
        self.by_age.insert((since, parties));
    }

    fn close(&mut self, parties: Parties) {
        if let Some(debt) = self.open.remove(&parties) {
            self.by_age.remove(&(debt.since, parties));
        }
    }

    /// The client stopped all watches, or its memory of them is gone.
    fn disarm_all(&mut self, watcher: NodeId) {
        for subject in std::mem::take(&mut self.armed[index(watcher)]) {
            self.close(Parties { watcher, subject });
        }
    }

    fn subject_gone(&mut self, known: &Known, subject: NodeId) {
        for watcher in self.watchers(subject) {
            self.oblige(known, Parties { watcher, subject });
        }
    }

    /// "The FD is not required to report that a node is down if the node eventually recovers."
    fn subject_back(&mut self, subject: NodeId) {
        for watcher in self.watchers(subject) {
            self.close(Parties { watcher, subject });
        }
    }

    fn watchers(&self, subject: NodeId) -> Vec<NodeId> {
        let everyone = (1..).map(NodeId).zip(&self.armed);
        everyone.filter(|(_, armed)| armed.contains(&subject)).map(|(watcher, _)| watcher).collect()
    }

    /// A node that watchers may need for company came or went. Even if there is enough of it before and after, it may
    /// not be the same: whoever was asked can no longer answer, and whoever could has not been asked.
    fn company_changed(&mut self, known: &Known, at: Time) {
        if self.company == 0 {
            return;
        }
        self.open.values_mut().for_each(|debt| debt.hindrance = Hindrance::Now);
        let mut watchers: Vec<NodeId> = self.open.keys().map(|parties| parties.watcher).collect();
        watchers.dedup();
        for watcher in watchers {
            self.reconsider(known, watcher, at);
        }
    }

    fn reconsider(&mut self, known: &Known, watcher: NodeId, at: Time) {
        let [first, last] = [0, u32::MAX].map(|subject| Parties { watcher, subject: NodeId(subject) });
        if self.open.range(first..=last).next().is_none() {
            return;
        }
        let hindered = self.hindered(known, watcher);
        for (_, debt) in self.open.range_mut(first..=last) {
            debt.hindrance = debt.hindrance.next(hindered, at);
        }
    }

    fn hindered(&self, known: &Known, watcher: NodeId) -> bool {
        known.is_paused(watcher) || !known.has_company(watcher, self.company)
    }
}

impl Hindrance {
    fn next(self, hindered: bool, at: Time) -> Self {
        match (self, hindered) {
            (_, true) => Self::Now,
            (Self::Now, false) => Self::Until(at),
            (Self::Never | Self::Until(_), false) => self,
        }
    }
}
