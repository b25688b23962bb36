//! What an agent would hold, holds, and gives back: for itself, and for the sessions of its programs.
//!
//! ```text
//!   Waiting ──told that this campaign holds the name──► Held ──given back──► GivenBack ──told that another grant is decided──► over
//!      ▲                                                 │
//!      └── its lease died, or another holds the name ────┘ (with the next campaign)
//! ```
//!
//! What the agent wants for itself is repeated: a campaign while it waits or holds. What sessions want may be a hundred thousand
//! names: it is said once, and then only a digest of all of it is, again and again. Whoever coordinates and has another digest asks to
//! be told everything again. A release is repeated until it is known to be done. A campaign that was given back believes nothing more
//! that it is told.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::{Drain, Vec};
use core::ops::Bound;

use super::grant::{Grant, GrantKind, Holder, Name, Token};
use super::ident::Lease;
use super::message::Wish;
use super::order::{Adoption, Candidacy, Lost};
use super::tenant::Need;
use super::terms::Terms;
use crate::digest::fnv1a;
use crate::ident::NodeId;
use crate::time::{Span, Time};

/// The agent's own session.
pub const OWN: u64 = 0;

/// No more is said at once.
const BATCH: usize = 512;

/// What follows is said so much later.
const PAUSE: Span = Span::millis(2);

/// Of so many that wait for a name, each is told its place.
pub const PLACES: u32 = 16;

/// What is to be told or asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CampaignAction {
    /// To whoever coordinates.
    Wish(Wish),
    /// That session holds that name, with that token. Of kind `lease` it may act while the agent's lease is valid.
    Held(u64, Name, Token),
    /// It holds it no more, and waits again.
    Lost(u64, Name, Lost),
    /// It waits, with so many before it.
    Waits(u64, Name, Option<u32>),
    /// What it had is given back.
    Over(u64, Name),
    /// Everybody knows what that session proclaims.
    Proclaimed(u64, Name),
}

/// Which campaign: of which name, of which session.
type Key = (Name, u64);

/// What an agent would hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Campaigns {
    all: BTreeMap<Key, Campaign>,
    /// Counts the campaigns of this life.
    last: u64,
    terms: Terms,
    due: Time,
    /// Whether it was said last that the lease is valid.
    said_valid: bool,
    /// What whoever coordinates has yet to be told.
    unsaid: BTreeSet<Key>,
    /// What is repeated: what the agent wants for itself, what is given back, what is proclaimed.
    repeated: BTreeSet<Key>,
    /// After which the next of those is repeated, if not all were.
    repeated_up_to: Option<Key>,
    /// How many campaigns hold something, or give it back.
    busy: usize,
    /// Of kind `lease`: how many campaigns wait, and how many hold.
    leased: (usize, usize),
    /// How many sessions' campaigns wait or hold, and their digest.
    present: (usize, u64),
    actions: Vec<CampaignAction>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Campaign {
    kind: GrantKind,
    priority: u32,
    value: Arc<[u8]>,
    /// Counts what it proclaims, and whether everybody knows the last of it.
    edition: u64,
    proclaims: bool,
    no: u64,
    since: Time,
    /// What is rare is kept elsewhere: there may be a hundred thousand campaigns.
    adopts: Option<Box<Adoption>>,
    state: State,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum State {
    Waiting,
    Held {
        /// The lease that holds it.
        lease: Lease,
        token: Token,
    },
    GivenBack(Box<GivenBack>),
}

/// What was held with which token, if it was told; and who shall be next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct GivenBack {
    lease: Lease,
    token: Option<Token>,
    next: Option<NodeId>,
    at: Time,
}

impl Campaigns {
    /// Nothing is wanted.
    pub fn new(terms: Terms) -> Self {
        Self {
            all: BTreeMap::new(),
            last: 0,
            terms,
            due: Time::NEVER,
            said_valid: false,
            unsaid: BTreeSet::new(),
            repeated: BTreeSet::new(),
            repeated_up_to: None,
            busy: 0,
            leased: (0, 0),
            present: (0, 0),
            actions: Vec::new(),
        }
    }

    /// What is to be done, in order.
    pub fn drain(&mut self) -> Drain<'_, CampaignAction> {
        self.actions.drain(..)
    }

    /// When to repeat things.
    pub fn deadline(&self) -> Time {
        if self.all.is_empty() { Time::NEVER } else { self.due }
    }

    /// What a lease is needed for.
    pub fn need_lease(&self) -> Need {
        match self.leased {
            (_, 1..) => Need::Holds,
            (1.., 0) => Need::Waits,
            (0, 0) => Need::Nothing,
        }
    }

    /// How many campaigns there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether nothing is wanted.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Which lease holds that name for that session, with which token and of which kind.
    pub fn holds(&self, name: &Name, session: u64) -> Option<(GrantKind, Lease, Token)> {
        self.get(name, session).and_then(Campaign::held)
    }

    /// Which session of this agent holds that name.
    pub fn holder(&self, name: &Name) -> Option<u64> {
        let held = self.of(name).find(|(_, campaign)| campaign.held().is_some());
        held.map(|((_, session), _)| *session)
    }

    /// Whether that session waits for that name.
    pub fn waits(&self, name: &Name, session: u64) -> bool {
        self.get(name, session).is_some_and(|campaign| campaign.state == State::Waiting)
    }

    /// Whether that session campaigns for that name, or gives it back.
    pub fn has(&self, name: &Name, session: u64) -> bool {
        self.get(name, session).is_some()
    }

    /// Whether that session gives that name back.
    pub fn is_giving_back(&self, name: &Name, session: u64) -> bool {
        let given_back = |campaign: &Campaign| matches!(campaign.state, State::GivenBack(_));
        self.get(name, session).is_some_and(given_back)
    }

    /// Would hold that name for that session from now on.
    pub fn campaign(&mut self, now: Time, name: Name, session: u64, candidacy: Candidacy) {
        if self.has(&name, session) && !self.is_giving_back(&name, session) {
            return;
        }
        self.last += 1;
        let Candidacy { kind, priority, value, adopts } = candidacy;
        let adopts = adopts.map(Box::new);
        let (edition, proclaims, no, state) = (0, false, self.last, State::Waiting);
        let campaign = Campaign { kind, priority, value, edition, proclaims, no, since: now, adopts, state };
        self.put((name, session), Some(campaign));
        self.due = now;
    }

    /// Gives that name back, or ends the wait for it.
    pub fn release(&mut self, now: Time, name: &Name, session: u64, lease: Lease, next: Option<NodeId>) {
        let Some(campaign) = self.get(name, session) else { return };
        let mut campaign = campaign.clone();
        let token = match campaign.state {
            State::Waiting => None,
            State::Held { token, .. } => Some(token),
            State::GivenBack(_) => return,
        };
        let lease = campaign.held().map_or(lease, |(_, lease, _)| lease);
        let given_back = GivenBack { lease, token, next, at: now };
        (campaign.state, campaign.proclaims) = (State::GivenBack(Box::new(given_back)), false);
        self.put((name.clone(), session), Some(campaign));
        self.due = now;
    }

    /// Proclaims that from now on.
    pub fn proclaim(&mut self, now: Time, name: &Name, session: u64, value: Arc<[u8]>) {
        let Some(campaign) = self.get(name, session).filter(|campaign| campaign.held().is_some()) else {
            return;
        };
        let mut campaign = campaign.clone();
        (campaign.value, campaign.proclaims, campaign.edition) = (value, true, campaign.edition + 1);
        self.put((name.clone(), session), Some(campaign));
        self.due = now;
    }

    /// The lease died: what it held is lost, and waited for anew. Whoever waited with it waits with the next, and says so.
    pub fn died(&mut self, now: Time, lease: Lease) {
        let held = self.all.iter().filter(|(_, campaign)| campaign.is_held_by(lease));
        let held: Vec<Key> = held.map(|(key, _)| key.clone()).collect();
        held.into_iter().for_each(|key| self.lose(now, key, Lost::Lease));
        self.say_again(now);
    }

    /// Somebody else coordinates, or has not heard everything: all is to be said.
    pub fn say_again(&mut self, now: Time) {
        let sessions = self.all.iter().filter(|(key, campaign)| is_of_session(key) && campaign.is_present());
        self.unsaid = sessions.map(|(key, _)| key.clone()).collect();
        self.due = now;
    }

    /// Says what is to be said or repeated: because somebody else coordinates now, or because it is time.
    pub fn repeat(&mut self, now: Time, lease: Lease, valid: bool, until: Option<Time>) {
        let unsaid: BTreeSet<Key> = self.unsaid.iter().take(BATCH).cloned().collect();
        let mut say: Vec<Key> =
            self.next_repeated().into_iter().filter(|key| !unsaid.contains(key)).collect();
        say.extend(unsaid);
        for key in &say {
            self.unsaid.remove(key);
            let wishes = self.all.get(key).map(|campaign| campaign.wishes(now, key, lease, valid, until));
            self.actions.extend(wishes.into_iter().flatten().map(CampaignAction::Wish));
        }
        let (present, digest) = self.present;
        let is_all = self.unsaid.is_empty() && self.repeated_up_to.is_none();
        if present > 0 && self.unsaid.is_empty() {
            self.actions.push(CampaignAction::Wish(Wish::Present { lease, valid, digest }));
        }
        self.due = now
            + match is_all {
                false => PAUSE,
                true if self.busy == 0 => self.terms.waiting_period(),
                true => self.terms.period(),
            };
        self.said_valid = valid;
    }

    /// What is repeated next: so much at most.
    fn next_repeated(&mut self) -> Vec<Key> {
        let begin = self.repeated_up_to.take().map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = self.repeated.range((begin, Bound::Unbounded));
        let next: Vec<Key> = rest.by_ref().take(BATCH).cloned().collect();
        if rest.next().is_some() {
            self.repeated_up_to = next.last().cloned();
        }
        next
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
        let mine = grant.holder.filter(|holder| holder.lease.life == lease.life);
        // Of an earlier campaign of this life. Nobody wants it any more.
        if let Some(holder) = mine.filter(|holder| !self.has(name, holder.session)) {
            self.give_back(name, grant, holder);
        }
        let sessions: Vec<u64> = self.of(name).map(|((_, session), _)| *session).collect();
        sessions.into_iter().for_each(|session| self.told_of(now, lease, (name, session), grant, mine));
    }

    fn told_of(
        &mut self,
        now: Time,
        lease: Lease,
        (name, session): (&Name, u64),
        grant: &Grant,
        mine: Option<Holder>,
    ) {
        let Some(campaign) = self.get(name, session) else { return };
        let mine = mine.filter(|holder| holder.session == session);
        let is_this = mine.is_some_and(|holder| holder.campaign == campaign.no);
        match &campaign.state {
            State::Waiting if is_this && mine.is_some_and(|holder| holder.lease == lease) => {
                let mut campaign = campaign.clone();
                campaign.state = State::Held { lease, token: grant.token };
                campaign.adopts = None;
                self.put((name.clone(), session), Some(campaign));
                self.actions.push(CampaignAction::Held(session, name.clone(), grant.token));
                // Whoever coordinates learns that it was heard, and need not say it again.
                self.due = if is_of_session(&(name.clone(), session)) { now } else { self.due };
            }
            State::Held { token, .. } if is_this && grant.token == *token => {
                if campaign.proclaims && campaign.value == grant.value {
                    let campaign = Campaign { proclaims: false, ..campaign.clone() };
                    self.put((name.clone(), session), Some(campaign));
                    self.actions.push(CampaignAction::Proclaimed(session, name.clone()));
                }
            }
            State::Held { token, .. } if !is_this && grant.token >= *token => {
                self.lose(now, (name.clone(), session), Lost::Replaced);
            }
            // Whoever chose the next lets it come: what nobody holds yet is not campaigned for again at once.
            State::GivenBack(given)
                if given.next.is_some() && grant.holder.is_none() && now < given.at + self.terms.ttl => {}
            State::GivenBack(_) if mine.is_none() => {
                self.put((name.clone(), session), None);
                self.actions.push(CampaignAction::Over(session, name.clone()));
            }
            // A campaign that is over may be granted the name once more, by a word of it that was late.
            State::GivenBack(given) => {
                let repeated = |holder: &Holder| {
                    is_this
                        && holder.lease == given.lease
                        && given.token.is_none_or(|token| token == grant.token)
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

    /// There is no such name any more. Whoever waits for it asks again.
    pub fn gone(&mut self, now: Time, name: &Name) {
        let sessions: Vec<Key> = self.of(name).map(|(key, _)| key.clone()).collect();
        for key in sessions {
            match self.all.get(&key).map(|campaign| &campaign.state) {
                Some(State::GivenBack(_)) => {
                    self.put(key.clone(), None);
                    self.actions.push(CampaignAction::Over(key.1, key.0));
                }
                Some(State::Waiting | State::Held { .. }) => {
                    self.unsaid.insert(key);
                    self.due = now;
                }
                None => {}
            }
        }
    }

    /// So many go before that campaign.
    pub fn queued(&mut self, lease: Lease, name: &Name, holder: Holder, before: u32) {
        if self.is_waiting(lease, name, holder) {
            self.actions.push(CampaignAction::Waits(holder.session, name.clone(), Some(before)));
        }
    }

    /// That campaign does not count. Whether it was one of this agent's.
    pub fn unfit(&mut self, lease: Lease, name: &Name, holder: Holder) -> bool {
        let is_waiting = self.is_waiting(lease, name, holder);
        if is_waiting {
            self.put((name.clone(), holder.session), None);
        }
        is_waiting
    }

    fn is_waiting(&self, lease: Lease, name: &Name, holder: Holder) -> bool {
        let campaign = self.get(name, holder.session);
        holder.lease.life == lease.life
            && campaign
                .is_some_and(|campaign| campaign.no == holder.campaign && campaign.state == State::Waiting)
    }

    fn give_back(&mut self, name: &Name, grant: &Grant, holder: Holder) {
        let release = Wish::Release { name: name.clone(), token: Some(grant.token), holder, next: None };
        self.actions.push(CampaignAction::Wish(release));
    }

    /// It is held no more, and waited for with the next campaign.
    fn lose(&mut self, now: Time, key: Key, why: Lost) {
        if let Some(campaign) = self.all.get(&key) {
            self.last += 1;
            let (no, state) = (self.last, State::Waiting);
            let campaign =
                Campaign { no, since: now, state, proclaims: false, adopts: None, ..campaign.clone() };
            self.put(key.clone(), Some(campaign));
            self.actions.push(CampaignAction::Lost(key.1, key.0, why));
            self.due = now;
        }
    }

    fn get(&self, name: &Name, session: u64) -> Option<&Campaign> {
        self.all.get(&(name.clone(), session))
    }

    fn of(&self, name: &Name) -> impl Iterator<Item = (&Key, &Campaign)> + use<'_> {
        let (from, to) = ((name.clone(), 0), (name.clone(), u64::MAX));
        self.all.range((Bound::Included(from), Bound::Included(to)))
    }

    /// The only place where a campaign changes: whatever is counted of all changes with it.
    fn put(&mut self, key: Key, next: Option<Campaign>) {
        let before = self.all.get(&key);
        for (campaign, sign) in before.into_iter().map(|of| (of, -1)).chain(next.iter().map(|of| (of, 1))) {
            let (waits, holds) = campaign.leased();
            self.leased.0 = self.leased.0.wrapping_add_signed(sign * waits);
            self.leased.1 = self.leased.1.wrapping_add_signed(sign * holds);
            self.busy = self.busy.wrapping_add_signed(sign * isize::from(campaign.state != State::Waiting));
            if is_of_session(&key) && campaign.is_present() {
                let mark = campaign.mark(&key);
                self.present.0 = self.present.0.wrapping_add_signed(sign);
                self.present.1 = match sign {
                    1 => self.present.1.wrapping_add(mark),
                    _ => self.present.1.wrapping_sub(mark),
                };
            }
        }
        match next {
            Some(campaign) => {
                let is_said_once = is_of_session(&key) && campaign.is_present() && !campaign.proclaims;
                if is_said_once && campaign.adopts.is_none() {
                    self.repeated.remove(&key);
                } else {
                    self.repeated.insert(key.clone());
                }
                self.unsaid.insert(key.clone());
                self.all.insert(key, campaign);
            }
            None => {
                self.repeated.remove(&key);
                self.unsaid.remove(&key);
                self.all.remove(&key);
            }
        }
    }
}

fn is_of_session((_, session): &Key) -> bool {
    *session != OWN
}

/// What an agent has said of one campaign of a session, as a number. Those of all campaigns are added up.
pub(super) fn mark(name: &Name, session: u64, campaign: u64, holds: Option<Token>) -> u64 {
    let numbers = [session, campaign, holds.map_or(0, |token| token.0.wrapping_add(1))];
    let numbers = numbers.into_iter().flat_map(u64::to_le_bytes);
    fnv1a(name.as_str().bytes().chain([0]).chain(numbers))
}

impl Campaign {
    fn held(&self) -> Option<(GrantKind, Lease, Token)> {
        match self.state {
            State::Held { lease, token } => Some((self.kind, lease, token)),
            State::Waiting | State::GivenBack(_) => None,
        }
    }

    fn is_held_by(&self, lease: Lease) -> bool {
        matches!(self.state, State::Held { lease: by, .. } if by == lease)
    }

    /// Whether it waits or holds.
    fn is_present(&self) -> bool {
        matches!(self.state, State::Waiting | State::Held { .. })
    }

    /// Whether a lease is needed because it waits, and because it holds.
    fn leased(&self) -> (isize, isize) {
        match self.state {
            _ if self.kind == GrantKind::Token => (0, 0),
            State::Waiting => (1, 0),
            State::Held { .. } => (0, 1),
            State::GivenBack(_) => (0, 0),
        }
    }

    fn mark(&self, (name, session): &Key) -> u64 {
        mark(name, *session, self.no, self.held().map(|(_, _, token)| token))
    }

    fn wishes(
        &self,
        now: Time,
        (name, session): &Key,
        lease: Lease,
        valid: bool,
        until: Option<Time>,
    ) -> impl Iterator<Item = Wish> + use<> {
        let (session, campaign, name) = (*session, self.no, name.clone());
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
        let (first, second) = match self.state {
            State::Waiting => {
                let holder = Holder { lease, session, campaign };
                let adopts = self.adopts.as_deref().filter(|adopts| self.may_adopt(adopts, until));
                let adopts = adopts.map(|Adoption { token, .. }| (name.clone(), holder, *token));
                let adopts = adopts.map(|(name, holder, token)| Wish::Adopt { name, holder, token });
                (campaigns(lease, None), adopts)
            }
            State::Held { lease, token } => {
                let (holder, edition) = (Holder { lease, session, campaign }, self.edition);
                let value = self.proclaims.then(|| Arc::clone(&self.value));
                let proclaims =
                    value.map(|value| Wish::Proclaim { name: name.clone(), holder, edition, value });
                (campaigns(lease, Some(token)), proclaims)
            }
            State::GivenBack(ref given) => {
                let GivenBack { lease, token, next, .. } = **given;
                let holder = Holder { lease, session, campaign };
                (Wish::Release { name, token, holder, next }, None)
            }
        };
        [Some(first), second].into_iter().flatten()
    }

    /// A program goes on until what it was told is over. Nobody else may be granted the name before that, so the lease that goes on
    /// lasts as long.
    fn may_adopt(&self, adopts: &Adoption, until: Option<Time>) -> bool {
        self.kind == GrantKind::Token || until.is_some_and(|until| until >= adopts.until)
    }
}
