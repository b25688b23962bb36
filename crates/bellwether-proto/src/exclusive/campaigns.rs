//! What an agent would hold, holds, and gives back.
//!
//! ```text
//!   Waiting ──told that this campaign holds the name──► Held ──given back──► GivenBack ──told that another grant is decided──► over
//!      ▲                                                 │
//!      └── its lease died, or another holds the name ────┘ (with the next campaign)
//! ```
//!
//! All of it is repeated: a campaign while it waits or holds, a release until it is known to be done. A campaign that was given back
//! believes nothing more that it is told.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::{Drain, Vec};

use super::grant::{Grant, GrantKind, Holder, Name, Token};
use super::ident::Lease;
use super::message::Wish;
use super::tenant::Need;
use super::terms::Terms;
use crate::ident::NodeId;
use crate::time::Time;

/// The agent's own session.
const OWN: u64 = 0;

/// What is to be told or asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CampaignAction {
    /// To whoever coordinates.
    Wish(Wish),
    /// This agent holds that name, with that token. Of kind `lease` it may act while its lease is valid.
    Held(Name, Token),
    /// It holds it no more.
    Lost(Name),
}

/// What an agent would hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Campaigns {
    names: BTreeMap<Name, Campaign>,
    /// Counts the campaigns of this life.
    last: u64,
    terms: Terms,
    due: Time,
    /// Whether it was said last that the lease is valid.
    said_valid: bool,
    actions: Vec<CampaignAction>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Campaign {
    kind: GrantKind,
    priority: u32,
    value: Arc<[u8]>,
    no: u64,
    since: Time,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    Waiting,
    Held {
        /// The lease that holds it.
        lease: Lease,
        token: Token,
    },
    /// What was held with which token, if it was told; and who shall be next.
    GivenBack {
        lease: Lease,
        token: Option<Token>,
        next: Option<NodeId>,
        at: Time,
    },
}

impl Campaigns {
    /// Nothing is wanted.
    pub fn new(terms: Terms) -> Self {
        let (names, actions) = (BTreeMap::new(), Vec::new());
        Self { names, last: 0, terms, due: Time::NEVER, said_valid: false, actions }
    }

    /// What is to be done, in order.
    pub fn drain(&mut self) -> Drain<'_, CampaignAction> {
        self.actions.drain(..)
    }

    /// When to repeat things.
    pub fn deadline(&self) -> Time {
        if self.names.is_empty() { Time::NEVER } else { self.due }
    }

    /// What a lease is needed for.
    pub fn need_lease(&self) -> Need {
        let leased = self.names.values().filter(|campaign| campaign.kind == GrantKind::Lease);
        let need = leased.map(|campaign| match campaign.state {
            State::Held { .. } => Need::Holds,
            State::Waiting => Need::Waits,
            State::GivenBack { .. } => Need::Nothing,
        });
        need.max().unwrap_or(Need::Nothing)
    }

    /// Which lease holds that name for this agent, with which token and of which kind.
    pub fn holds(&self, name: &Name) -> Option<(GrantKind, Lease, Token)> {
        let campaign = self.names.get(name)?;
        match campaign.state {
            State::Held { lease, token } => Some((campaign.kind, lease, token)),
            State::Waiting | State::GivenBack { .. } => None,
        }
    }

    /// Whether it waits for that name.
    pub fn waits(&self, name: &Name) -> bool {
        self.names.get(name).is_some_and(|campaign| campaign.state == State::Waiting)
    }

    /// Whether it gives that name back.
    pub fn is_giving_back(&self, name: &Name) -> bool {
        self.names.get(name).is_some_and(|campaign| matches!(campaign.state, State::GivenBack { .. }))
    }

    /// Would hold that name from now on.
    pub fn campaign(&mut self, now: Time, name: Name, kind: GrantKind, priority: u32, value: Arc<[u8]>) {
        let running = self.names.get(&name).filter(|known| !matches!(known.state, State::GivenBack { .. }));
        if running.is_some() {
            return;
        }
        self.last += 1;
        let campaign = Campaign { kind, priority, value, no: self.last, since: now, state: State::Waiting };
        self.names.insert(name, campaign);
        self.due = now;
    }

    /// Gives that name back, or ends the wait for it.
    pub fn release(&mut self, now: Time, name: &Name, lease: Lease, next: Option<NodeId>) {
        let Some(campaign) = self.names.get_mut(name) else { return };
        campaign.state = match campaign.state {
            State::Waiting => State::GivenBack { lease, token: None, next, at: now },
            State::Held { lease, token } => {
                self.actions.push(CampaignAction::Lost(name.clone()));
                State::GivenBack { lease, token: Some(token), next, at: now }
            }
            given_back @ State::GivenBack { .. } => given_back,
        };
        self.due = now;
    }

    /// The lease died: what it held is lost, and waited for anew.
    pub fn died(&mut self, now: Time, lease: Lease) {
        let held: Vec<Name> = self
            .names
            .iter()
            .filter(|(_, held)| held.is_held_by(lease))
            .map(|(name, _)| name.clone())
            .collect();
        held.into_iter().for_each(|name| self.lose(now, &name));
        self.due = now;
    }

    /// Says everything again, because somebody else coordinates now, or because it is time.
    pub fn repeat(&mut self, now: Time, lease: Lease, valid: bool) {
        let waits = self.names.values().all(|campaign| campaign.state == State::Waiting);
        self.due = now + if waits { self.terms.waiting_period() } else { self.terms.period() };
        self.said_valid = valid;
        let wishes = self.names.iter().map(|(name, campaign)| campaign.wish(now, name, lease, valid));
        self.actions.extend(wishes.map(CampaignAction::Wish));
    }

    /// The lease is valid. Of kind `lease` no other campaign counts, so whoever was told otherwise is told at once.
    pub fn valid(&mut self, now: Time) {
        if !self.said_valid {
            self.hurry(now);
        }
    }

    /// Something changed that the coordinator should know at once, or something else is to be said just now.
    pub fn hurry(&mut self, now: Time) {
        self.due = now;
    }

    /// The coordinator tells who holds a name. That is decided.
    pub fn told(&mut self, now: Time, lease: Lease, name: &Name, grant: &Grant) {
        let patience = self.terms.ttl;
        let mine = grant.holder.filter(|holder| holder.lease.life == lease.life);
        let Some(campaign) = self.names.get_mut(name) else {
            // Of an earlier campaign of this life. Nobody wants it any more.
            return mine.into_iter().for_each(|holder| self.give_back(name, grant, holder));
        };
        let is_this = mine.is_some_and(|holder| holder.campaign == campaign.no && holder.session == OWN);
        match campaign.state {
            State::Waiting if is_this && mine.is_some_and(|holder| holder.lease == lease) => {
                campaign.state = State::Held { lease, token: grant.token };
                self.actions.push(CampaignAction::Held(name.clone(), grant.token));
            }
            State::Held { token, .. } if !is_this && grant.token >= token => self.lose(now, name),
            // Whoever chose the next lets it come: what nobody holds yet is not campaigned for again at once.
            State::GivenBack { next: Some(_), at, .. } if grant.holder.is_none() && now < at + patience => {}
            State::GivenBack { .. } if mine.is_none() => {
                self.names.remove(name);
            }
            // A campaign that is over may be granted the name once more, by a word of it that was late.
            State::GivenBack { lease, token, .. } => {
                let repeated = |holder: &Holder| {
                    is_this && holder.lease == lease && token.is_none_or(|token| token == grant.token)
                };
                let again = mine.filter(|holder| !repeated(holder));
                again.into_iter().for_each(|holder| self.give_back(name, grant, holder));
            }
            State::Waiting | State::Held { .. } => {
                // A campaign that is over, or of a lease that is: this life gives it back.
                let stale = mine.filter(|holder| !is_this || holder.lease != lease);
                stale.into_iter().for_each(|holder| self.give_back(name, grant, holder));
            }
        }
    }

    fn give_back(&mut self, name: &Name, grant: &Grant, holder: Holder) {
        let release = Wish::Release { name: name.clone(), token: Some(grant.token), holder, next: None };
        self.actions.push(CampaignAction::Wish(release));
    }

    /// It is held no more, and waited for with the next campaign.
    fn lose(&mut self, now: Time, name: &Name) {
        if let Some(campaign) = self.names.get_mut(name) {
            self.last += 1;
            (campaign.no, campaign.since, campaign.state) = (self.last, now, State::Waiting);
            self.actions.push(CampaignAction::Lost(name.clone()));
            self.due = now;
        }
    }
}

impl Campaign {
    fn is_held_by(&self, lease: Lease) -> bool {
        matches!(self.state, State::Held { lease: by, .. } if by == lease)
    }

    fn wish(&self, now: Time, name: &Name, lease: Lease, valid: bool) -> Wish {
        let (session, campaign) = (OWN, self.no);
        let campaigns = |lease, holds| Wish::Campaign {
            name: name.clone(),
            kind: self.kind,
            holder: Holder { lease, session, campaign },
            waited: now.since(self.since),
            priority: self.priority,
            valid,
            holds,
            value: Arc::clone(&self.value),
        };
        match self.state {
            State::Waiting => campaigns(lease, None),
            State::Held { lease, token } => campaigns(lease, Some(token)),
            State::GivenBack { lease, token, next, .. } => {
                let holder = Holder { lease, session, campaign };
                Wish::Release { name: name.clone(), token, holder, next }
            }
        }
    }
}
