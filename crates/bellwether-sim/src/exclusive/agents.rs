//! An agent: its lease and its campaigns, put together as a node puts them together.

use std::sync::Arc;

use bellwether_proto::exclusive::campaigns::{CampaignAction, Campaigns, OWN};
use bellwether_proto::exclusive::configuration::Configuration;
use bellwether_proto::exclusive::grant::{GrantKind, Name, Token};
use bellwether_proto::exclusive::ident::{Lease, Life, Stamp};
use bellwether_proto::exclusive::message::{Answer, Ask, Said, Telling, Wish};
use bellwether_proto::exclusive::order::{Adoption, Candidacy};
use bellwether_proto::exclusive::tenant::{Tenant, TenantAction};
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::time::Time;

use super::coordinators::life_of;
use super::holders::Holding;
use super::post::{Post, Seen};
use super::setting::Setting;

/// An agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct AgentProcess {
    life: Life,
    /// For which it campaigns.
    session: u64,
    starts: u64,
    tenant: Tenant,
    campaigns: Campaigns,
    /// The newest in force that any voter has shown.
    configuration: Option<(Stamp, Configuration)>,
    /// What programs may go on with that were told so by an earlier life, and until when.
    left_behind: Vec<(Name, Token, Time)>,
    /// Whether its lease was valid when it was last looked at.
    valid: bool,
    /// The number of the last renewal.
    renewal: u64,
}

impl AgentProcess {
    pub(super) fn new(setting: &Setting, index: usize) -> Self {
        let life = life_of(Setting::agent(index), 1, Incarnation(1));
        let (tenant, campaigns) = machines(setting, life);
        Self {
            life,
            session: setting.session,
            starts: 1,
            tenant,
            campaigns,
            configuration: None,
            left_behind: Vec::new(),
            valid: false,
            renewal: 0,
        }
    }

    pub(super) fn deadline(&self) -> Time {
        self.tenant.deadline().min(self.campaigns.deadline())
    }

    /// Whether it campaigns for that name, or holds it.
    pub(super) fn wants(&self, name: &Name) -> bool {
        self.campaigns.waits(name, self.session) || self.campaigns.holds(name, self.session).is_some()
    }

    /// Whether it holds that name by what it believes, and its lease is valid if there must be one.
    pub(super) fn holds(&self, now: Time, name: &Name) -> Option<Token> {
        let (kind, lease, token) = self.campaigns.holds(name, self.session)?;
        let valid = lease == self.tenant.lease() && self.tenant.is_valid(now);
        (kind == GrantKind::Token || valid).then_some(token)
    }

    /// What its programs may act on, of kind `lease`.
    pub(super) fn holdings(&self, setting: &Setting, now: Time, holdings: &mut Vec<Holding>) {
        let agent = self.life.node;
        for (name, _) in setting.names.iter().filter(|(_, kind)| *kind == GrantKind::Lease) {
            if let Some(token) = self.holds(now, name) {
                holdings.push(Holding { agent, name: name.clone(), token, session: self.session });
            }
        }
        for (name, token, until) in &self.left_behind {
            if now < *until {
                holdings.push(Holding { agent, name: name.clone(), token: *token, session: self.session });
            }
        }
    }

    /// Its lease, if that is valid.
    pub(super) fn valid(&self, now: Time) -> Option<Lease> {
        self.tenant.is_valid(now).then(|| self.tenant.lease())
    }

    /// The number of the last renewal.
    pub(super) fn last_renewal(&self) -> u64 {
        self.renewal
    }

    /// Time has passed: what is over is forgotten.
    pub(super) fn forgets(&mut self, now: Time) {
        self.left_behind.retain(|(.., until)| now < *until);
    }

    /// Whether there is anything to forget.
    pub(super) fn remembers(&self) -> bool {
        !self.left_behind.is_empty()
    }

    pub(super) fn campaigns(&mut self, setting: &Setting, now: Time, at: usize, post: &mut Post) {
        let (name, kind) = &setting.names[at];
        // A session that was told that it may act goes on, if it is the same.
        let left = self.left_behind.iter().rfind(|(of, ..)| of == name && self.session != OWN);
        let adopts = left.map(|(_, token, until)| Adoption { token: *token, until: *until });
        let candidacy = Candidacy { kind: *kind, priority: 0, value: Arc::from([]), adopts };
        self.campaigns.campaign(now, name.clone(), self.session, candidacy);
        self.goes_on(setting, now, post);
    }

    pub(super) fn releases(
        &mut self,
        setting: &Setting,
        now: Time,
        at: usize,
        next: Option<NodeId>,
        post: &mut Post,
    ) {
        let lease = self.tenant.lease();
        self.campaigns.release(now, &setting.names[at].0, self.session, lease, next);
        if self.session != OWN {
            self.left_behind.retain(|(name, ..)| *name != setting.names[at].0);
        }
        self.goes_on(setting, now, post);
    }

    /// Asks for a name to be forgotten. It does not repeat that.
    pub(super) fn deletes(&self, setting: &Setting, at: usize, no: u64, post: &mut Post) {
        let wish = Wish::Delete { by: self.life, no, name: setting.names[at].0.clone() };
        self.wishes(setting, &wish, post);
    }

    /// Asks which names there are.
    pub(super) fn lists(&self, setting: &Setting, post: &mut Post) {
        self.wishes(setting, &Wish::List { after: None }, post);
    }

    fn wishes(&self, setting: &Setting, wish: &Wish, post: &mut Post) {
        let coordinators = (0..setting.coordinators).map(Setting::coordinator);
        coordinators.for_each(|coordinator| post.wish(self.life.node, coordinator, wish.clone()));
    }

    pub(super) fn wakes(&mut self, setting: &Setting, now: Time, post: &mut Post) {
        self.tenant.wake(now);
        self.goes_on(setting, now, post);
    }

    pub(super) fn hears(&mut self, setting: &Setting, now: Time, from: NodeId, said: &Said, post: &mut Post) {
        said.configuration.iter().for_each(|(stamp, shown)| self.learns(*stamp, shown));
        match &said.answer {
            Answer::Outlived { life, known } if *life == self.life => {
                post.seen.push(Seen::Outlived);
                self.life.incarnation = known.next().unwrap_or(*known);
                let lease = self.tenant.lease();
                self.tenant.reborn(now, self.life);
                self.campaigns.died(now, lease);
            }
            answer => {
                if let Some((_, configuration)) = &self.configuration {
                    let lease = self.tenant.lease();
                    self.tenant.heard(now, configuration, (from, said.store), answer);
                    if lease != self.tenant.lease() {
                        self.campaigns.died(now, lease);
                    }
                }
            }
        }
        self.goes_on(setting, now, post);
    }

    pub(super) fn is_told(&mut self, setting: &Setting, now: Time, telling: &Telling, post: &mut Post) {
        match telling {
            Telling::Held { name, grant, .. } => self.campaigns.told(now, self.tenant.lease(), name, grant),
            Telling::Members { stamp, configuration } => self.learns(*stamp, configuration),
            Telling::Gone { name, .. } => self.campaigns.gone(now, name),
            Telling::Again { to } if *to == self.life => self.campaigns.say_again(now),
            Telling::Unchanged { .. }
            | Telling::Queued { .. }
            | Telling::Unfit { .. }
            | Telling::Again { .. }
            | Telling::Wanted { .. }
            | Telling::Deleted { .. }
            | Telling::Census { .. }
            | Telling::Listed { .. } => {}
        }
        self.goes_on(setting, now, post);
    }

    /// In the next incarnation, or in the first, if it forgot which it had. Programs go on until the validity that they were told of
    /// is over.
    pub(super) fn restarts(&mut self, setting: &Setting, now: Time, forgets: bool) {
        if let Some(until) = self.tenant.valid_until() {
            for (name, _) in setting.names.iter().filter(|(_, kind)| *kind == GrantKind::Lease) {
                let held = self.holds(now, name).map(|token| (name.clone(), token, until));
                self.left_behind.extend(held);
            }
        }
        self.starts += 1;
        let next = self.life.incarnation.next().unwrap_or(self.life.incarnation);
        self.life = life_of(self.life.node, self.starts, if forgets { Incarnation(1) } else { next });
        (self.tenant, self.campaigns) = machines(setting, self.life);
        (self.configuration, self.valid, self.renewal) = (None, false, 0);
    }

    /// Whether an answer would change nothing, now or later: questions and renewals are answered once, and leases do not come back.
    pub(super) fn is_deaf_to(&self, now: Time, from: NodeId, said: &Said) -> bool {
        match &said.answer {
            Answer::Lives { .. } | Answer::Renewed { .. } => {
                let mut hears = self.clone();
                said.configuration.iter().for_each(|(stamp, shown)| hears.learns(*stamp, shown));
                if let Some((_, configuration)) = &hears.configuration {
                    hears.tenant.heard(now, configuration, (from, said.store), &said.answer);
                }
                hears == *self
            }
            Answer::Dead { lease } => *lease != self.tenant.lease(),
            _ => false,
        }
    }

    fn learns(&mut self, stamp: Stamp, shown: &Configuration) {
        let known = self.configuration.as_ref().map(|(stamp, known)| (known.generation(), *stamp));
        if !shown.is_founding() && Some((shown.generation(), stamp)) > known {
            self.configuration = Some((stamp, shown.clone()));
        }
    }

    /// Carries out what the machines ask for, until they ask for nothing.
    fn goes_on(&mut self, setting: &Setting, now: Time, post: &mut Post) {
        self.tenant.want(now, self.campaigns.need_lease());
        let actions: Vec<_> = self.tenant.drain().collect();
        for action in actions {
            match action {
                TenantAction::Ask(ask) | TenantAction::AskEnough(ask) => {
                    if let Ask::Renew { no, .. } = ask {
                        self.renewal = no;
                    }
                    let voters = match &self.configuration {
                        Some((_, configuration)) => configuration.asked(),
                        None => (0..setting.voters).map(Setting::voter).collect(),
                    };
                    voters.into_iter().for_each(|voter| post.ask(self.life, voter, ask.clone()));
                }
                // Whoever waits does not count until it is known to be valid.
                TenantAction::Valid(_) => {
                    self.valid = true;
                    self.campaigns.valid(now);
                    post.seen.push(Seen::Valid);
                }
                TenantAction::Lapsed => {
                    self.valid = false;
                    post.seen.push(Seen::Lapsed);
                }
                TenantAction::Died(_) => post.seen.push(Seen::Died),
            }
        }
        if self.campaigns.deadline() <= now {
            let (lease, valid) = (self.tenant.lease(), self.tenant.is_valid(now));
            self.campaigns.repeat(now, lease, valid, self.tenant.valid_until());
        }
        self.tells(setting, post);
    }

    fn tells(&mut self, setting: &Setting, post: &mut Post) {
        let (lease, mut wishes) = (self.tenant.lease(), Vec::new());
        for action in self.campaigns.drain() {
            match action {
                CampaignAction::Wish(wish) => wishes.push(wish),
                CampaignAction::Held(_, name, token) => post.seen.push(Seen::Held { name, lease, token }),
                CampaignAction::Lost(..)
                | CampaignAction::Waits(..)
                | CampaignAction::Over(..)
                | CampaignAction::Proclaimed(..) => {}
            }
        }
        wishes.iter().for_each(|wish| self.wishes(setting, wish, post));
    }
}

fn machines(setting: &Setting, life: Life) -> (Tenant, Campaigns) {
    (Tenant::new(life, setting.terms), Campaigns::new(setting.terms))
}
