//! One name as its coordinator sees it: what its register holds, who would hold it, and what its holder gave back.
//!
//! What agents want for themselves they repeat, and it is forgotten when they do not. What sessions want is kept until their agent says
//! otherwise, or is gone.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::campaigns::{OWN, PLACES};
use super::grant::{Content, Grant, GrantKind, Holder, Token};
use super::ident::{Lease, Life, Stamp};
use super::message::Undeleted;
use super::register::Register;
use crate::ident::NodeId;
use crate::time::Time;

/// No more wait for one name. The others ask again.
const QUEUE_MAX: usize = 1 << 16;

/// A campaign that waits, or whose agent does not know yet that it holds the name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Candidate {
    /// Which campaign of which session of which agent.
    pub holder: Holder,
    /// What makes the grant valid.
    pub kind: GrantKind,
    /// Since when it waits.
    pub since: Time,
    /// Higher goes first.
    pub priority: u32,
    /// Whether its agent's lease is valid.
    pub valid: bool,
    /// What it would proclaim.
    pub value: Arc<[u8]>,
    /// When it was heard of last.
    pub heard: Time,
    /// The token with which it says that it holds the name.
    pub holds: Option<Token>,
    /// What an earlier life of its agent held for the same session, and is to go on. That is rare.
    pub adopts: Option<Box<Token>>,
}

/// What a holder gave back. It counts for that grant alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Release {
    holder: Holder,
    token: Option<Token>,
    next: Option<NodeId>,
}

/// What to do about a name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Write this.
    Write(Arc<Grant>),
    /// Write that the name is forgotten.
    Delete,
    /// It is not forgotten, for this reason.
    Keep(Undeleted),
    /// Somebody waits, and this one is in the way: find out whether its lease is dead, or, of kind `token`, whether it is gone.
    Free(GrantKind, Holder),
    /// Nothing.
    Rest,
}

impl Step {
    fn write(grant: Grant) -> Self {
        Self::Write(Arc::new(grant))
    }
}

/// One name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Contest {
    /// What it holds, in the present ballot, if there is one.
    pub register: Option<Register>,
    queue: Queue,
    /// What is rare is kept elsewhere: there may be a million names.
    released: Option<Box<Release>>,
    /// The token that its holder says it has, since that was last looked at.
    claimed: Option<Box<Token>>,
    /// What its holder proclaims, and the number of that.
    proclaimed: Option<Box<Proclaimed>>,
    /// Somebody wants it to be forgotten.
    pub deletion: Option<Box<Deletion>>,
    /// The last of those who did, and was heard.
    pub deleted: Option<Box<Deletion>>,
    /// What was told last to all, as a number; 0 if nothing was.
    pub told: u64,
    /// How many waited when that was told.
    pub told_waiting: u32,
}

/// What a holder proclaims.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Proclaimed {
    by: Holder,
    edition: u64,
    value: Arc<[u8]>,
}

/// Those who want a name, in the order of their agents and sessions. Most names have few.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Queue(Vec<Candidate>);

impl Queue {
    fn find(&self, key: &(NodeId, u64)) -> Result<usize, usize> {
        self.0.binary_search_by_key(key, |candidate| (candidate.holder.node(), candidate.holder.session))
    }

    fn get(&self, key: &(NodeId, u64)) -> Option<&Candidate> {
        self.find(key).ok().and_then(|at| self.0.get(at))
    }

    fn get_mut(&mut self, key: &(NodeId, u64)) -> Option<&mut Candidate> {
        self.find(key).ok().and_then(|at| self.0.get_mut(at))
    }

    fn insert(&mut self, candidate: Candidate) {
        match self.find(&(candidate.holder.node(), candidate.holder.session)) {
            Ok(at) => self.0[at] = candidate,
            Err(at) => {
                // A few are not worth more room than they take.
                if self.0.len() < 8 {
                    self.0.reserve_exact(1);
                }
                self.0.insert(at, candidate);
            }
        }
    }

    fn remove(&mut self, key: &(NodeId, u64)) {
        if let Ok(at) = self.find(key) {
            self.0.remove(at);
        }
    }

    fn retain(&mut self, keep: impl Fn(&Candidate) -> bool) {
        self.0.retain(keep);
    }

    fn iter(&self) -> impl Iterator<Item = &Candidate> {
        self.0.iter()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Who wants a name to be forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Deletion {
    /// Who.
    pub by: Life,
    /// What it asked for.
    pub no: u64,
}

impl Contest {
    /// The grant, and since when it is decided; `None` while the register is read or written, or if there never was one.
    pub fn grant(&self) -> Option<(&Arc<Grant>, Option<Stamp>)> {
        let (content, decided) = self.register.as_ref()?.content()?;
        Some((content?.as_grant()?, decided))
    }

    /// A campaign was heard of. Since when it waits does not change.
    pub fn stand(&mut self, candidate: Candidate) {
        let Holder { lease, session, campaign } = candidate.holder;
        let key = (lease.life.node, session);
        // A word that is late: a campaign that was given back is over. With another lease it goes on.
        let is_over = |Release { holder, .. }: &Release| {
            (holder.lease, holder.session) == (lease, session) && campaign <= holder.campaign
        };
        if self.released.as_deref().is_some_and(is_over) {
            return;
        }
        if self.queue.len() >= QUEUE_MAX && self.queue.get(&key).is_none() {
            return;
        }
        let known = self.queue.get(&key).filter(|known| known.holder.campaign == candidate.holder.campaign);
        let since = known.map_or(candidate.since, |known| known.since);
        self.queue.insert(Candidate { since, ..candidate });
    }

    /// Somebody says that it holds the name.
    pub fn claim(&mut self, token: Token) {
        self.claimed = Some(Box::new(token));
    }

    /// A holder proclaims something. The latest counts.
    pub fn proclaim(&mut self, holder: Holder, edition: u64, value: Arc<[u8]>) {
        let is_old = |known: &Proclaimed| known.by == holder && known.edition >= edition;
        if !self.proclaimed.as_deref().is_some_and(is_old) {
            self.proclaimed = Some(Box::new(Proclaimed { by: holder, edition, value }));
        }
    }

    /// A campaign goes on with what an earlier life of its agent held.
    pub fn adopt(&mut self, holder: Holder, token: Token) {
        let candidate = self.queue.get_mut(&(holder.lease.life.node, holder.session));
        if let Some(candidate) = candidate.filter(|candidate| candidate.holder == holder) {
            candidate.adopts = Some(Box::new(token));
        }
    }

    /// What that campaign said that it goes on with.
    pub fn adopts(&self, holder: Holder) -> Option<Token> {
        let candidate = self.queue.get(&(holder.lease.life.node, holder.session));
        candidate.filter(|candidate| candidate.holder == holder)?.adopts.as_deref().copied()
    }

    /// What that session of that agent said last, if it is kept.
    pub fn said_by(&self, node: NodeId, session: u64) -> Option<&Candidate> {
        self.queue.get(&(node, session))
    }

    /// What that session wants is not known any more.
    pub fn forget_session(&mut self, node: NodeId, session: u64) {
        self.queue.remove(&(node, session));
    }

    /// Whether its holder is a session that has not said that it knows.
    pub fn is_untold(&self) -> bool {
        let Some((grant, Some(_))) = self.grant() else { return false };
        let Some(holder) = grant.holder.filter(|holder| holder.session != OWN) else { return false };
        let said = self.queue.get(&(holder.lease.life.node, holder.session));
        said.is_some_and(|said| said.holder == holder && said.holds != Some(grant.token))
    }

    /// The first few that wait, in order, with how many go before each.
    pub fn places(&self) -> impl Iterator<Item = (Holder, u32)> {
        let mut waiting: Vec<&Candidate> = self.waiting_ones().collect();
        waiting.sort_unstable_by_key(|candidate| order(candidate));
        waiting.into_iter().take(PLACES as usize).map(|candidate| candidate.holder).zip(0..)
    }

    /// How many go before that campaign.
    pub fn before(&self, holder: Holder) -> Option<u32> {
        let own = self.queue.get(&(holder.lease.life.node, holder.session));
        let own = own.filter(|candidate| candidate.holder == holder && candidate.holds.is_none())?;
        let before = self.waiting_ones().filter(|other| order(other) < order(own)).count();
        u32::try_from(before).ok()
    }

    fn waiting_ones(&self) -> impl Iterator<Item = &Candidate> {
        let holder = self.grant().and_then(|(grant, _)| grant.holder);
        self.queue.iter().filter(move |candidate| Some(candidate.holder) != holder)
    }

    /// Whether somebody waits, and the holder has not said since this was last asked that it knows of its grant. It may not: what it
    /// was told may be lost.
    pub fn is_unclaimed(&mut self) -> bool {
        let claimed = self.claimed.take().map(|claimed| *claimed);
        let held = self.grant().filter(|(grant, _)| grant.holder.is_some()).map(|(grant, _)| grant.token);
        // A session's agent says so once: see `is_untold`.
        let is_own = self.grant().and_then(|(grant, _)| grant.holder).is_some_and(|held| held.session == OWN);
        is_own && !self.queue.is_empty() && held.is_some() && held != claimed
    }

    /// A holder gives it back, or a campaign ends.
    pub fn release(&mut self, holder: Holder, token: Option<Token>, next: Option<NodeId>) {
        let ended = |candidate: &Candidate| candidate.holder.campaign <= holder.campaign;
        let key = (holder.lease.life.node, holder.session);
        if self.queue.get_mut(&key).is_some_and(|candidate| ended(candidate)) {
            self.queue.remove(&key);
        }
        self.released = Some(Box::new(Release { holder, token, next }));
    }

    /// Forgets which agents have not repeated since then that they want it for themselves.
    pub fn forget(&mut self, before: Time) {
        self.queue.retain(|candidate| candidate.holder.session != OWN || candidate.heard >= before);
    }

    /// Whether any agent wants it for itself.
    pub fn is_repeated(&self) -> bool {
        self.queue.iter().any(|candidate| candidate.holder.session == OWN)
    }

    /// A lease is dead, and all before it: whoever waited with one waits with the next, and says so.
    pub fn died(&mut self, lease: Lease) {
        let outlives = |held: &Lease| held.life.node != lease.life.node || held.age() > lease.age();
        self.queue.retain(|candidate| outlives(&candidate.holder.lease));
    }

    /// A node is gone: it waits no more.
    pub fn gone(&mut self, node: NodeId) {
        self.queue.retain(|candidate| candidate.holder.node() != node);
    }

    /// How many wait, beside whoever holds the name.
    pub fn waiting(&self) -> u32 {
        u32::try_from(self.waiting_ones().count()).unwrap_or(u32::MAX)
    }

    /// What is known of the name without being certain, if nothing is under way.
    pub fn uncertain(&self) -> Option<&Content> {
        match self.register.as_ref()?.content()? {
            (content, None) => content,
            (_, Some(_)) => None,
        }
    }

    /// Whether it is certain what the name holds.
    pub fn is_certain(&self) -> bool {
        let content = self.register.as_ref().and_then(Register::content);
        content.is_some_and(|(content, decided)| content.is_none() || decided.is_some())
    }

    /// Whether it is known that there is no such name.
    pub fn is_nothing(&self) -> bool {
        let content = self.register.as_ref().and_then(Register::content);
        matches!(content, Some((None | Some(Content::Deleted), _)))
    }

    /// Whether nobody wants anything of it.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.released.is_none() && self.claimed.is_none() && self.deletion.is_none()
    }

    /// What to do now. Tokens are above the floor, if it is known. `is_free` says of a holder that did not give it back whether another
    /// may hold it, `is_valid` of a campaign of kind `lease` whether it counts.
    pub fn step(
        &self,
        floor: Option<Token>,
        is_free: impl Fn(GrantKind, &Holder) -> bool,
        is_valid: impl Fn(&Candidate) -> bool,
    ) -> Step {
        let Some((content, decided)) = self.register.as_ref().and_then(Register::content) else {
            return Step::Rest;
        };
        let Some(grant) = content.and_then(Content::as_grant) else {
            return self.begin(content, floor, is_valid);
        };
        let floor = floor.unwrap_or_default();
        let to = |next: &Candidate| Step::write(grant.to(next.holder, next.value.clone(), floor));
        let Some(holder) = &grant.holder else {
            return match self.first(Some(grant.kind), None, None, &is_valid) {
                Some(next) => to(next),
                None if self.deletion.is_none() => Step::Rest,
                None if !self.queue.is_empty() => Step::Keep(Undeleted::InUse),
                None => Step::Delete,
            };
        };
        if self.deletion.is_some() {
            return Step::Keep(Undeleted::InUse);
        }
        let released = self.is_released(grant, holder);
        match self.next(grant, released, &is_valid) {
            Some(next) if released || is_free(grant.kind, holder) => to(next),
            _ if released => Step::write(grant.freed()),
            // It is told to its holder only when it is certain.
            _ if decided.is_none() => Step::Write(Arc::clone(grant)),
            _ => self.held(grant, holder, is_valid),
        }
    }

    /// Nobody ever held it, or it was forgotten: the first campaign chooses its kind, for good. What the floor is must be known.
    fn begin(
        &self,
        content: Option<&Content>,
        floor: Option<Token>,
        is_valid: impl Fn(&Candidate) -> bool,
    ) -> Step {
        let first = self.first(None, None, None, &is_valid);
        match (first, floor) {
            (Some(first), Some(floor)) => {
                Step::write(Grant::unheld(first.kind).to(first.holder, first.value.clone(), floor))
            }
            (Some(_), None) => Step::Rest,
            (None, _) if self.deletion.is_some() && self.queue.is_empty() => Step::Keep(Undeleted::Unknown),
            (None, _) if self.deletion.is_some() => Step::Keep(Undeleted::InUse),
            // That it was forgotten is certain before anything else becomes of it.
            (None, _) if content.is_some() && self.uncertain().is_some() => Step::Delete,
            (None, _) => Step::Rest,
        }
    }

    /// Somebody holds it, and has not given it back.
    fn held(&self, grant: &Arc<Grant>, holder: &Holder, is_valid: impl Fn(&Candidate) -> bool) -> Step {
        if let Some(adopter) = self.adopter(grant, holder, &is_valid) {
            return Step::write(grant.to(adopter.holder, adopter.value.clone(), Token::default()));
        }
        if let Some(Proclaimed { by, value, .. }) = self.proclaimed.as_deref()
            && by == holder
            && *value != grant.value
        {
            return Step::write(Grant { value: Arc::clone(value), ..Grant::clone(grant) });
        }
        match self.first(Some(grant.kind), None, Some(*holder), &is_valid) {
            Some(_) => Step::Free(grant.kind, *holder),
            None => Step::Rest,
        }
    }

    /// If an agent holds the name for itself and a session waits for it: with which token, and through which agent the session would
    /// hold it.
    pub fn gives_way(&self, is_valid: impl Fn(&Candidate) -> bool) -> Option<(Holder, Token, NodeId)> {
        let (grant, Some(_)) = self.grant()? else { return None };
        let holder = grant.holder.filter(|holder| holder.session == OWN)?;
        let first = self.first(Some(grant.kind), None, Some(holder), is_valid)?;
        (first.holder.session != OWN).then_some((holder, grant.token, first.holder.lease.life.node))
    }

    /// The same session of the same agent, which has restarted since.
    fn adopter(
        &self,
        grant: &Grant,
        holder: &Holder,
        is_valid: impl Fn(&Candidate) -> bool,
    ) -> Option<&Candidate> {
        let candidate = self.queue.get(&(holder.lease.life.node, holder.session))?;
        let later = candidate.holder.lease.life.incarnation > holder.lease.life.incarnation;
        let same = holder.session != OWN && candidate.kind == grant.kind;
        let adopts = candidate.adopts.as_deref() == Some(&grant.token) && later && same;
        (adopts && (grant.kind == GrantKind::Token || is_valid(candidate))).then_some(candidate)
    }

    /// Who is next, after the holder. One that gives the name back may choose.
    fn next(
        &self,
        grant: &Grant,
        released: bool,
        is_valid: impl Fn(&Candidate) -> bool,
    ) -> Option<&Candidate> {
        let chosen = self.released.as_deref().filter(|_| released).and_then(|released| released.next);
        let chosen =
            chosen.and_then(|chosen| self.first(Some(grant.kind), Some(chosen), grant.holder, &is_valid));
        chosen.or_else(|| self.first(Some(grant.kind), None, grant.holder, &is_valid))
    }

    /// The first of that kind, of that node if one is named, beside the holder, whose campaign is known until it is forgotten. Of kind
    /// `lease` only a campaign counts whose agent is valid.
    fn first(
        &self,
        kind: Option<GrantKind>,
        of: Option<NodeId>,
        beside: Option<Holder>,
        is_valid: impl Fn(&Candidate) -> bool,
    ) -> Option<&Candidate> {
        let counts = |candidate: &&Candidate| {
            kind.is_none_or(|kind| candidate.kind == kind)
                && of.is_none_or(|of| candidate.holder.lease.life.node == of)
                && beside.is_none_or(|beside| candidate.holder != beside)
                && (candidate.kind == GrantKind::Token || is_valid(candidate))
        };
        self.queue.iter().filter(counts).min_by_key(|candidate| order(candidate))
    }

    /// A release is of one grant: what was held before, or is held by now, has nothing to do with it.
    fn is_released(&self, grant: &Grant, holder: &Holder) -> bool {
        self.released.as_deref().is_some_and(|released| {
            released.holder == *holder && released.token.is_none_or(|token| token == grant.token)
        })
    }
}

/// In the order in which they are granted the name: sessions first, because an agent that holds a name for itself has nobody to work
/// with it.
fn order(candidate: &Candidate) -> (bool, Reverse<u32>, Time, Lease, u64) {
    let Holder { lease, session, .. } = candidate.holder;
    (session == OWN, Reverse(candidate.priority), candidate.since, lease, session)
}
