//! Others that lead, as a node hears from them or is told by whoever hears them.
//!
//! Connections need not be transitive: a node may not reach the leader, and all that it does reach do. They answer its claim with
//! "another leads". That is not silence, so the node does not lead, for as long as it is true. Those whose election names it follow the
//! other meanwhile.
//!
//! Of two that claim at once neither may hear in time that the other leads. Both would lead, with the same epoch. So the one with the
//! smaller id goes before: it tells the other that it will lead, and the other waits until it does, or claims no more.
//!
//! Of two that lead already, whoever hears both tells the one that has fewer followers, or the larger id. It gives up if the election
//! does not decide between them in time. So two lead at once, for longer than that takes, only where nobody hears both.
//!
//! Where a leader needs a majority none of this is needed.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{Action, Cause, Leadership, LeadershipMsg, POLL_PERIODS, Role, Says};
use crate::canonical::Form;
use crate::ident::NodeId;
use crate::time::{Span, Time};

/// One that leads, and how many follow it, as it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rival {
    pub(super) leader: NodeId,
    pub(super) followers: u32,
}

impl Rival {
    /// Of two that lead, the one with more followers leads on; of two with as many, the one with the smaller id.
    fn goes_before(self, other: Self) -> bool {
        (other.followers, self.leader) < (self.followers, other.leader)
    }
}

/// What a node that stands has been told of others that lead, by whom.
#[derive(Clone, Debug, Default)]
pub(super) struct Rivals(BTreeMap<NodeId, Report>);

#[derive(Clone, Copy, Debug)]
struct Report {
    rival: Rival,
    since: Time,
    /// When a claimant asks whether it is still so.
    ask: Time,
    /// It is not believed any longer than this, unless it is repeated.
    until: Time,
    /// Whether it has lasted for long enough to unseat a leader.
    lasts: bool,
}

impl Rivals {
    /// Who leads instead of a claimant, and who says so.
    pub(super) fn of_claimant(&self) -> Option<(NodeId, NodeId)> {
        self.0.iter().next().map(|(by, report)| (report.rival.leader, *by))
    }

    /// The same of a leader.
    pub(super) fn of_leader(&self, me: Rival) -> Option<(NodeId, NodeId)> {
        let mut reports = self.0.iter().filter(|(_, report)| report.lasts && report.rival.goes_before(me));
        reports.next().map(|(by, report)| (report.rival.leader, *by))
    }

    fn report(&mut self, by: NodeId, new: Report) {
        let known = self.0.get(&by).filter(|known| known.rival.leader == new.rival.leader).copied();
        self.0.insert(
            by,
            known.map_or(new, |known| Report { rival: new.rival, ask: new.ask, until: new.until, ..known }),
        );
    }

    /// That one no longer says so.
    pub(super) fn withdraw(&mut self, by: NodeId) {
        self.0.remove(&by);
    }

    /// It leads no more, as it says itself.
    pub(super) fn leads_no_more(&mut self, leader: NodeId) {
        self.0.retain(|_, report| report.rival.leader != leader);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn pass(&mut self, now: Time, grace: Span) {
        self.0.retain(|_, report| report.until > now);
        self.0.values_mut().for_each(|report| report.lasts |= report.since + grace <= now);
    }

    /// When a claimant has to ask again.
    pub(super) fn ask_at(&self) -> Time {
        self.0.values().map(|report| report.ask).max().unwrap_or(Time::NEVER)
    }

    /// It asks. Whoever does not repeat what it said is believed for as long as an answer may take.
    fn asked(&mut self, now: Time) {
        self.0.values_mut().filter(|report| report.ask <= now).for_each(|report| report.ask = report.until);
    }

    /// When a leader has to give up.
    pub(super) fn lasts_at(&self, me: Rival, grace: Span) -> Time {
        let reports = self.0.values().filter(|report| !report.lasts && report.rival.goes_before(me));
        reports.map(|report| report.since + grace).min().unwrap_or(Time::NEVER)
    }

    pub(super) fn canonical(&self, now: Time, grace: Span, form: &mut Form) {
        form.number(self.0.len() as u64);
        for (by, report) in &self.0 {
            form.node(*by);
            form.node(report.rival.leader);
            form.number(u64::from(report.rival.followers));
            form.number(u64::from(report.lasts));
            form.deadline(now, report.since + grace);
            form.deadline(now, report.ask);
            form.deadline(now, report.until);
        }
    }
}

impl Leadership {
    /// This node as a leader.
    pub(super) fn myself(&self) -> Rival {
        Rival { leader: self.me, followers: self.followers }
    }

    /// Who leads instead of that one, as far as this node hears: instead of a claimant anybody, or this node if it is about to; instead of
    /// a leader one that goes before it.
    pub(super) fn rival_of(&self, now: Time, who: NodeId) -> Option<Rival> {
        if self.needs_keepers() {
            return None;
        }
        let leads = match self.sayings.of(who) {
            Some(Says::Leads { followers, .. }) => Some(Rival { leader: who, followers }),
            _ => None,
        };
        let first = |rival: &Rival| rival.leader != who && leads.is_none_or(|leads| rival.goes_before(leads));
        let me = (self.is_leading() || self.claims_before(who)).then(|| self.myself());
        let rivals = me.into_iter().chain(self.heard_leading(now)).filter(first);
        rivals.reduce(|one, other| if other.goes_before(one) { other } else { one })
    }

    /// Whether both claim, and this node goes before that one. A node that may not lead keeps nobody waiting.
    fn claims_before(&self, who: NodeId) -> bool {
        let claims = matches!(self.role, Role::Claiming { .. }) && self.bar().is_none();
        let both = claims && matches!(self.sayings.of(who), Some(Says::Claims { .. }));
        both && self.me < who && !self.needs_keepers()
    }

    /// Others may have claimed before this node did, and be about to lead.
    pub(super) fn go_before_claimants(&mut self) {
        let mut claimants = self.sayings.claimants();
        claimants.retain(|who| self.claims_before(*who));
        claimants.into_iter().for_each(|who| self.tell_of(self.myself(), who));
    }

    /// That one follows this node. It claims no more, and need not be told when it may.
    pub(super) fn no_longer_claims(&mut self, who: NodeId) {
        if let Some(Says::Claims { .. }) = self.sayings.of(who) {
            self.sayings.forget(who);
        }
        if self.told.get(&who).is_some_and(|rival| rival.leader == self.me) {
            self.told.remove(&who);
        }
    }

    /// Those that have said lately that they lead.
    fn heard_leading(&self, now: Time) -> Vec<Rival> {
        let leads = |(id, says): (NodeId, Says)| match says {
            Says::Leads { at, followers, .. } if at + self.patience() > now && self.may_lead_on(id) => {
                Some(Rival { leader: id, followers })
            }
            _ => None,
        };
        self.sayings.all().into_iter().filter_map(leads).collect()
    }

    fn may_lead_on(&self, id: NodeId) -> bool {
        self.connected.get(id).is_some() && !self.is_going(id)
    }

    /// Whom this node follows: the one that its election names, or the one that leads instead.
    pub(super) fn followed(&self) -> Option<NodeId> {
        let named = self.named?;
        // What it said when it led itself is about to be taken back.
        let rival = self.told.get(&named).map(|rival| rival.leader).filter(|leader| *leader != self.me);
        Some(rival.unwrap_or(named))
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
    pub(super) fn tell_of(&mut self, rival: Rival, who: NodeId) {
        if self.sayings.of(who).is_some() {
            self.told.insert(who, rival);
        }
        let Rival { leader, followers } = rival;
        self.actions.push(Action::Send(who, LeadershipMsg::Elsewhere { leader, followers }));
    }

    /// Another leads, says `by`, or is `by`. That is of interest to a node that leads or wants to.
    pub(super) fn on_rival(&mut self, now: Time, by: NodeId, rival: Rival) {
        if rival.leader == self.me {
            self.rivals.withdraw(by);
        }
        let stands = matches!(self.role, Role::Claiming { .. } | Role::Leading { .. });
        if stands && !self.needs_keepers() && rival.leader != self.me && self.connected.get(by).is_some() {
            let ask = now + self.patience();
            let until = ask + self.config.settle;
            let report = Report { rival, since: now, ask, until, lasts: false };
            self.rivals.report(by, report);
        }
    }

    /// This node claims, and looks whom it hears leading itself. What it has been told before counts until the others have had their
    /// time to answer.
    pub(super) fn look_for_rivals(&mut self, now: Time) {
        self.rivals.asked(now);
        // The leader of before may have chosen this node, and said nothing else yet.
        let goes = match self.cause {
            Cause::Resigned(_) | Cause::HandedOver(..) => self.cause.about(),
            _ => None,
        };
        let leading = self.heard_leading(now).into_iter().filter(|rival| Some(rival.leader) != goes);
        leading.for_each(|rival| self.on_rival(now, rival.leader, rival));
    }

    /// Whom its election names is told that another leads: so this node follows that one.
    pub(super) fn follow_rival(&mut self, now: Time) {
        if let Some(rival) = self.followed().filter(|rival| Some(*rival) != self.named) {
            self.heed(now, rival);
        }
    }

    /// That one says that it leads.
    pub(super) fn look_at(&mut self, now: Time, leader: NodeId) {
        if let Some(Says::Leads { followers, .. }) = self.sayings.of(leader) {
            self.on_rival(now, leader, Rival { leader, followers });
        }
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
        for who in self.told.keys().copied().collect::<Vec<_>>() {
            match self.rival_of(now, who) {
                None => {
                    self.told.remove(&who);
                    self.take_back(now, who);
                }
                Some(rival) if self.told.get(&who).is_some_and(|told| told.leader != rival.leader) => {
                    self.tell_of(rival, who);
                }
                Some(_) => {}
            }
        }
    }

    /// It answers as it would have without a rival.
    fn take_back(&mut self, now: Time, who: NodeId) {
        match self.sayings.of(who) {
            Some(says) if self.goes_along(who, says) => self.heed(now, who),
            // It may have begun another incarnation since it claimed, and still wait.
            Some(_) | None => {
                let nobody = LeadershipMsg::Elsewhere { leader: who, followers: 0 };
                self.actions.push(Action::Send(who, nobody));
            }
        }
    }
}
