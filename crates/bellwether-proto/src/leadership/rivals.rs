//! Others that lead, as a node hears from them or is told by whoever hears them.
//!
//! Connections need not be transitive: a node may not reach the leader, and all that it does reach do. They answer its claim with
//! "another leads". That is not silence, so the node does not lead, for as long as it is true. Of two that lead already, whoever hears
//! both tells so; the one with the smaller id leads on, and the other gives up if the election does not decide between them in time. So
//! two lead at once, for longer than that takes, only where nobody hears both.
//!
//! Where a leader needs a majority none of this is needed.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{Action, Cause, Leadership, LeadershipMsg, POLL_PERIODS, Role, Says};
use crate::canonical::Form;
use crate::ident::NodeId;
use crate::time::{Span, Time};

/// What a node that stands has been told of others that lead, by whom.
#[derive(Clone, Debug, Default)]
pub(super) struct Rivals(BTreeMap<NodeId, Report>);

#[derive(Clone, Copy, Debug)]
struct Report {
    leader: NodeId,
    since: Time,
    /// It is not believed any longer than this, unless it is repeated.
    until: Time,
    /// Whether it has lasted for long enough to unseat a leader.
    lasts: bool,
}

impl Rivals {
    /// Who leads instead of a claimant, and who says so.
    pub(super) fn of_claimant(&self) -> Option<(NodeId, NodeId)> {
        self.0.iter().next().map(|(by, report)| (report.leader, *by))
    }

    /// The same of a leader.
    pub(super) fn of_leader(&self, me: NodeId) -> Option<(NodeId, NodeId)> {
        let mut reports = self.0.iter().filter(|(_, report)| report.lasts && report.leader < me);
        reports.next().map(|(by, report)| (report.leader, *by))
    }

    fn report(&mut self, by: NodeId, new: Report) {
        let known = self.0.get(&by).filter(|known| known.leader == new.leader).copied();
        self.0.insert(by, known.map_or(new, |known| Report { until: new.until, ..known }));
    }

    /// That one no longer says so.
    pub(super) fn withdraw(&mut self, by: NodeId) {
        self.0.remove(&by);
    }

    /// It leads no more, as it says itself.
    pub(super) fn leads_no_more(&mut self, leader: NodeId) {
        self.0.retain(|_, report| report.leader != leader);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn pass(&mut self, now: Time, grace: Span) {
        self.0.retain(|_, report| report.until > now);
        self.0.values_mut().for_each(|report| report.lasts |= report.since + grace <= now);
    }

    /// When a claimant has to ask again.
    pub(super) fn until(&self) -> Time {
        self.0.values().map(|report| report.until).max().unwrap_or(Time::NEVER)
    }

    /// When a leader has to give up.
    pub(super) fn lasts_at(&self, me: NodeId, grace: Span) -> Time {
        let reports = self.0.values().filter(|report| !report.lasts && report.leader < me);
        reports.map(|report| report.since + grace).min().unwrap_or(Time::NEVER)
    }

    pub(super) fn canonical(&self, now: Time, grace: Span, form: &mut Form) {
        form.number(self.0.len() as u64);
        for (by, report) in &self.0 {
            form.node(*by);
            form.node(report.leader);
            form.number(u64::from(report.lasts));
            form.deadline(now, report.since + grace);
            form.deadline(now, report.until);
        }
    }
}

impl Leadership {
    /// Who leads instead of that one, as far as this node hears: somebody whom it follows, or who has the smaller id.
    pub(super) fn rival_of(&self, now: Time, who: NodeId) -> Option<NodeId> {
        if self.needs_keepers() {
            return None;
        }
        if self.is_leading() {
            return Some(self.me);
        }
        let follows = self.shown.map(|(leader, _)| leader);
        let leads = |id: &NodeId| *id != who && (*id < who || follows == Some(*id));
        self.heard_leading(now).into_iter().find(leads)
    }

    /// Those that have said lately that they lead.
    fn heard_leading(&self, now: Time) -> Vec<NodeId> {
        let leads = |(id, says): &(NodeId, Says)| match says {
            Says::Leads { at, .. } => {
                *at + self.patience() > now && self.connected.get(*id).is_some() && !self.is_going(*id)
            }
            Says::Claims { .. } => false,
        };
        self.sayings.all().into_iter().filter(leads).map(|(id, _)| id).collect()
    }

    /// The election names another than that leader. If it is silent, too, it leads no more, as far as this node goes.
    pub(super) fn give_up(&mut self, now: Time, led: NodeId) {
        if self.connected.get(led).is_some_and(|peer| self.is_silent(now, peer)) {
            self.sayings.forget(led);
        }
    }

    /// Whether that leader has said that it goes.
    fn is_going(&self, id: NodeId) -> bool {
        self.farewell.and_then(Cause::about) == Some(id)
    }

    /// Tells a claimant or a leader that another leads. It is told, too, when that is over.
    pub(super) fn tell_of(&mut self, rival: NodeId, who: NodeId) {
        if self.sayings.of(who).is_some() {
            self.told.insert(who);
        }
        self.actions.push(Action::Send(who, LeadershipMsg::Elsewhere { leader: rival }));
    }

    /// Another leads, says `by`, or is `by`. That is of interest to a node that leads or wants to.
    pub(super) fn on_rival(&mut self, now: Time, by: NodeId, leader: NodeId) {
        let stands = matches!(self.role, Role::Claiming { .. } | Role::Leading { .. });
        if stands && !self.needs_keepers() && leader != self.me && self.connected.get(by).is_some() {
            let report = Report { leader, since: now, until: now + self.patience(), lasts: false };
            self.rivals.report(by, report);
        }
    }

    /// This node claims, and looks whom it hears leading itself.
    pub(super) fn look_for_rivals(&mut self, now: Time) {
        self.rivals.clear();
        // The leader of before may have chosen this node, and said nothing else yet.
        let goes = match self.cause {
            Cause::Resigned(_) | Cause::HandedOver(..) => self.cause.about(),
            _ => None,
        };
        let leading = self.heard_leading(now).into_iter().filter(|leader| Some(*leader) != goes);
        leading.for_each(|leader| self.on_rival(now, leader, leader));
    }

    /// A leader gives the election so much time to decide between it and a rival.
    pub(super) fn grace(&self) -> Span {
        self.config.settle.max(self.config.period * (POLL_PERIODS / 2))
    }

    /// What was told is no longer believed in the end, and what was said to others is taken back when it is no longer true.
    pub(super) fn review_rivals(&mut self, now: Time) {
        self.rivals.pass(now, self.grace());
        if self.told.is_empty() {
            return;
        }
        let over: Vec<NodeId> =
            self.told.iter().copied().filter(|who| self.rival_of(now, *who).is_none()).collect();
        for who in over {
            self.told.remove(&who);
            self.take_back(now, who);
        }
    }

    /// It answers as it would have without a rival.
    fn take_back(&mut self, now: Time, who: NodeId) {
        match self.sayings.of(who) {
            Some(says) if self.goes_along(who, says) => self.heed(now, who),
            Some(_) => self.tell_seen(who),
            None => {}
        }
    }
}
