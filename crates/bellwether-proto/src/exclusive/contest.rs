//! One name as its coordinator sees it: what its register holds, who would hold it, and what its holder gave back.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::cmp::Reverse;

use super::grant::{Content, Grant, GrantKind, Holder, Token};
use super::ident::{Lease, Stamp};
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
    Write(Grant),
    /// Somebody waits, and this one is in the way: find out whether its lease is dead.
    Bury(Holder),
    /// Nothing.
    Rest,
}

/// One name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Contest {
    /// What it holds, in the present ballot, if there is one.
    pub register: Option<Register>,
    queue: BTreeMap<(NodeId, u64), Candidate>,
    released: Option<Release>,
    /// The token that its holder says it has, since that was last looked at.
    claimed: Option<Token>,
}

impl Contest {
    /// The grant, and since when it is decided; `None` while the register is read or written, or if there never was one.
    pub fn grant(&self) -> Option<(&Grant, Option<Stamp>)> {
        let (content, decided) = self.register.as_ref()?.content()?;
        Some((content?.as_grant()?, decided))
    }

    /// A campaign was heard of. Since when it waits does not change.
    pub fn stand(&mut self, candidate: Candidate) {
        let Holder { lease, session, campaign } = candidate.holder;
        let key = (lease.life.node, session);
        // A word that is late: a campaign that was given back is over. With another lease it goes on.
        let is_over = |Release { holder, .. }: Release| {
            (holder.lease, holder.session) == (lease, session) && campaign <= holder.campaign
        };
        if self.released.is_some_and(is_over) {
            return;
        }
        if self.queue.len() >= QUEUE_MAX && !self.queue.contains_key(&key) {
            return;
        }
        let known = self.queue.get(&key).filter(|known| known.holder.campaign == candidate.holder.campaign);
        let since = known.map_or(candidate.since, |known| known.since);
        self.queue.insert(key, Candidate { since, ..candidate });
    }

    /// Somebody says that it holds the name.
    pub fn claim(&mut self, token: Token) {
        self.claimed = Some(token);
    }

    /// Whether somebody waits, and the holder has not said since this was last asked that it knows of its grant. It may not: what it
    /// was told may be lost.
    pub fn is_unclaimed(&mut self) -> bool {
        let claimed = self.claimed.take();
        let held = self.grant().filter(|(grant, _)| grant.holder.is_some()).map(|(grant, _)| grant.token);
        !self.queue.is_empty() && held.is_some() && held != claimed
    }

    /// A holder gives it back, or a campaign ends.
    pub fn release(&mut self, holder: Holder, token: Option<Token>, next: Option<NodeId>) {
        let ended = |candidate: &mut Candidate| candidate.holder.campaign <= holder.campaign;
        let key = (holder.lease.life.node, holder.session);
        if self.queue.get_mut(&key).is_some_and(ended) {
            self.queue.remove(&key);
        }
        self.released = Some(Release { holder, token, next });
    }

    /// Forgets who has not been heard of since then, or is gone.
    pub fn forget(&mut self, before: Time) {
        self.queue.retain(|_, candidate| candidate.heard >= before);
    }

    /// A lease is dead, and all before it: whoever waited with one waits with the next, and says so.
    pub fn died(&mut self, lease: Lease) {
        let outlives = |held: &Lease| held.life.node != lease.life.node || held.age() > lease.age();
        self.queue.retain(|_, candidate| outlives(&candidate.holder.lease));
    }

    /// A node is gone: it waits no more.
    pub fn gone(&mut self, node: NodeId) {
        self.queue.retain(|(waits, _), _| *waits != node);
    }

    /// How many wait, beside whoever holds the name.
    pub fn waiting(&self) -> u32 {
        let holder = self.grant().and_then(|(grant, _)| grant.holder);
        let waits = |candidate: &&Candidate| Some(candidate.holder) != holder;
        u32::try_from(self.queue.values().filter(waits).count()).unwrap_or(u32::MAX)
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

    /// Whether nobody wants anything of it.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.released.is_none() && self.claimed.is_none()
    }

    /// What to do now. Tokens are above the floor. `is_free` says of a holder that did not give it back whether another may hold it.
    pub fn step(&self, floor: Token, is_free: impl Fn(GrantKind, &Holder) -> bool) -> Step {
        let Some((content, decided)) = self.register.as_ref().and_then(Register::content) else {
            return Step::Rest;
        };
        let unheld;
        let grant = match content.and_then(Content::as_grant) {
            Some(grant) => grant,
            None => match self.first(None, None, None) {
                // The first campaign of a name chooses its kind, for good.
                Some(first) => {
                    unheld = Grant::unheld(first.kind);
                    &unheld
                }
                None => return Step::Rest,
            },
        };
        let Some(holder) = &grant.holder else {
            let next = self.first(Some(grant.kind), None, None);
            return next
                .map_or(Step::Rest, |next| Step::Write(grant.to(next.holder, next.value.clone(), floor)));
        };
        let released = self.is_released(grant, holder);
        match self.next(grant, released) {
            Some(next) if released || is_free(grant.kind, holder) => {
                Step::Write(grant.to(next.holder, next.value.clone(), floor))
            }
            _ if released => Step::Write(grant.freed()),
            // It is told to its holder only when it is certain.
            _ if decided.is_none() => Step::Write(grant.clone()),
            Some(_) if grant.kind == GrantKind::Lease => Step::Bury(*holder),
            _ => Step::Rest,
        }
    }

    /// Who is next, after the holder. One that gives the name back may choose.
    fn next(&self, grant: &Grant, released: bool) -> Option<&Candidate> {
        let chosen = self.released.filter(|_| released).and_then(|released| released.next);
        let chosen = chosen.and_then(|chosen| self.first(Some(grant.kind), Some(chosen), grant.holder));
        chosen.or_else(|| self.first(Some(grant.kind), None, grant.holder))
    }

    /// The first of that kind, of that node if one is named, beside the holder, whose campaign is known until it is forgotten. Of kind
    /// `lease` only a campaign counts whose agent is valid.
    fn first(
        &self,
        kind: Option<GrantKind>,
        of: Option<NodeId>,
        beside: Option<Holder>,
    ) -> Option<&Candidate> {
        let counts = |candidate: &&Candidate| {
            kind.is_none_or(|kind| candidate.kind == kind)
                && of.is_none_or(|of| candidate.holder.lease.life.node == of)
                && beside.is_none_or(|beside| candidate.holder != beside)
                && (candidate.valid || candidate.kind == GrantKind::Token)
        };
        let order = |candidate: &&Candidate| {
            (Reverse(candidate.priority), candidate.since, candidate.holder.lease, candidate.holder.session)
        };
        self.queue.values().filter(counts).min_by_key(order)
    }

    /// A release is of one grant: what was held before, or is held by now, has nothing to do with it.
    fn is_released(&self, grant: &Grant, holder: &Holder) -> bool {
        self.released.is_some_and(|released| {
            released.holder == *holder && released.token.is_none_or(|token| token == grant.token)
        })
    }
}
