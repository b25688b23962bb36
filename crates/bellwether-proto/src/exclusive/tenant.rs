//! An agent's lease, as the agent sees it: how long it is valid.
//!
//! ```text
//!             ┌─────────── dead: the next lease ───────────┐
//!             ▼                                            │
//!   Asking ──a majority says "not dead"──► Trying ──a majority answers one renewal──► Valid ──┐
//!     ▲ ▲                                    │                                          │  ▲  │
//!     │ └── not valid after one ttl ─────────┘                                          │  └──┘ renewed in time
//!     └───────────────────────────────── validity has lapsed ───────────────────────────┘
//! ```
//!
//! Validity is counted from when a renewal was *sent*; a voter's timer, from when it arrived. So a timer ends after the validity
//! that rests on it, whatever the messages took.
//!
//! Whoever is not valid does not renew: it asks, which starts no timer. One that kept a minority's timers running could neither
//! hold anything nor be buried.

use alloc::collections::VecDeque;
use alloc::vec::{Drain, Vec};

use super::configuration::{Configuration, Votes};
use super::ident::{Lease, Life, StoreId};
use super::message::{Answer, Ask};
use super::terms::Terms;
use crate::ident::NodeId;
use crate::time::Time;

/// Renewals that may still be answered. Those before them are over by then.
const UNANSWERED_MAX: usize = 2 * Terms::RENEWALS as usize;

/// What a lease is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Need {
    /// Nothing of kind `lease` is held or waited for.
    Nothing,
    /// Something is waited for.
    Waits,
    /// Something is held.
    Holds,
}

/// What an agent's lease asks for, or tells.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TenantAction {
    /// Ask all voters.
    Ask(Ask),
    /// Ask as many voters as are needed. If they do not answer, all are asked.
    AskEnough(Ask),
    /// The lease is valid until then.
    Valid(Time),
    /// It is not valid any more.
    Lapsed,
    /// That lease is dead: what it held is lost. Another begins.
    Died(Lease),
}

/// An agent's lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tenant {
    lease: Lease,
    terms: Terms,
    phase: Phase,
    need: Need,
    /// Counts what is asked: an answer to one question is no answer to another.
    no: u64,
    /// When to ask or to renew.
    due: Time,
    actions: Vec<TenantAction>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// Nothing is held or waited for.
    Unwanted,
    Asking {
        alive: Votes,
    },
    Trying {
        until: Time,
        sent: VecDeque<Renewal>,
    },
    Valid {
        until: Time,
        sent: VecDeque<Renewal>,
    },
}

/// A renewal that may be answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Renewal {
    no: u64,
    /// When it was sent: the clock was read before.
    at: Time,
    votes: Votes,
}

impl Tenant {
    /// The first lease of a life.
    pub fn new(life: Life, terms: Terms) -> Self {
        let lease = Lease { life, number: 1 };
        let (phase, need) = (Phase::Unwanted, Need::Nothing);
        Self { lease, terms, phase, need, no: 0, due: Time::NEVER, actions: Vec::new() }
    }

    /// The lease.
    pub fn lease(&self) -> Lease {
        self.lease
    }

    /// What is to be done, in order.
    pub fn drain(&mut self) -> Drain<'_, TenantAction> {
        self.actions.drain(..)
    }

    /// Until when the lease is valid; `None` if it is not at all.
    pub fn valid_until(&self) -> Option<Time> {
        match self.phase {
            Phase::Valid { until, .. } => Some(until),
            Phase::Unwanted | Phase::Asking { .. } | Phase::Trying { .. } => None,
        }
    }

    /// Whether the lease is valid now.
    pub fn is_valid(&self, now: Time) -> bool {
        self.valid_until().is_some_and(|until| now < until)
    }

    /// When it has something to do.
    pub fn deadline(&self) -> Time {
        match self.phase {
            Phase::Unwanted => Time::NEVER,
            Phase::Asking { .. } => self.due,
            Phase::Trying { until, .. } | Phase::Valid { until, .. } => self.due.min(until),
        }
    }

    /// The life goes on with a higher incarnation: its leases begin anew.
    pub fn reborn(&mut self, now: Time, life: Life) {
        let wanted = self.phase != Phase::Unwanted;
        self.lose();
        self.lease = Lease { life, number: 1 };
        if wanted {
            self.ask(now);
        }
    }

    /// Gives the lease up, as if it were dead, and begins the next.
    pub fn renounce(&mut self, now: Time) {
        let wanted = self.phase != Phase::Unwanted;
        self.lose();
        self.lease.number += 1;
        if wanted {
            self.ask(now);
        }
    }

    /// What the lease is needed for.
    pub fn want(&mut self, now: Time, need: Need) {
        let before = core::mem::replace(&mut self.need, need);
        match need {
            Need::Nothing if before != Need::Nothing => {
                self.lapse();
                (self.phase, self.due) = (Phase::Unwanted, Time::NEVER);
            }
            Need::Nothing => {}
            Need::Waits | Need::Holds if before == Need::Nothing => self.ask(now),
            // Whoever waited has renewed less often than a holder does.
            Need::Holds if before == Need::Waits && self.valid_until().is_some() => self.renew(now),
            Need::Waits | Need::Holds => {}
        }
    }

    /// Renews, asks, and notices that validity is over.
    pub fn wake(&mut self, now: Time) {
        match &self.phase {
            Phase::Trying { until, .. } | Phase::Valid { until, .. } if *until <= now => {
                self.lapse();
                self.ask(now);
            }
            Phase::Asking { .. } if self.due <= now => self.ask(now),
            Phase::Trying { .. } | Phase::Valid { .. } if self.due <= now => self.renew(now),
            _ => {}
        }
    }

    /// A voter answers.
    pub fn heard(
        &mut self,
        now: Time,
        by: &Configuration,
        (voter, store): (NodeId, StoreId),
        answer: &Answer,
    ) {
        if !by.counts(voter, store) {
            return;
        }
        match (&mut self.phase, answer) {
            (Phase::Asking { alive }, Answer::Lives { lease, no })
                if (*lease, *no) == (self.lease, self.no) =>
            {
                alive.add(voter, store);
                if by.is_enough(alive) {
                    self.phase = Phase::Trying { until: now + self.terms.ttl, sent: VecDeque::new() };
                    self.renew(now);
                }
            }
            (Phase::Asking { .. } | Phase::Trying { .. }, Answer::Dead { lease }) if *lease == self.lease => {
                self.lose();
                self.lease.number += 1;
                self.ask(now);
            }
            (Phase::Trying { sent, .. } | Phase::Valid { sent, .. }, Answer::Renewed { lease, no })
                if *lease == self.lease =>
            {
                let Some(renewal) = sent.iter_mut().find(|renewal| renewal.no == *no) else { return };
                renewal.votes.add(voter, store);
                if by.is_enough(&renewal.votes) {
                    let sent = renewal.at;
                    self.extend(now, sent);
                }
            }
            _ => {}
        }
    }

    /// Asks whether the lease is dead. Each time with another number: a majority must say so at one time.
    fn ask(&mut self, now: Time) {
        self.no += 1;
        self.phase = Phase::Asking { alive: Votes::default() };
        self.due = now + self.terms.retry;
        self.actions.push(TenantAction::Ask(Ask::IsDead { lease: self.lease, no: self.no }));
    }

    fn renew(&mut self, now: Time) {
        self.no += 1;
        let (no, lease, ttl) = (self.no, self.lease, self.terms.ttl);
        self.due = now
            + match self.need {
                Need::Holds => self.terms.period(),
                Need::Nothing | Need::Waits => self.terms.waiting_retry(),
            };
        if let Phase::Trying { sent, .. } | Phase::Valid { sent, .. } = &mut self.phase {
            if sent.len() == UNANSWERED_MAX {
                sent.pop_front();
            }
            sent.push_back(Renewal { no, at: now, votes: Votes::default() });
            // Whoever waits has nothing to lose: a renewal that was not answered leaves time for another.
            let is_first = sent.len() == 1;
            let ask = Ask::Renew { lease, no, ttl };
            self.actions.push(match self.need {
                Need::Waits if is_first => TenantAction::AskEnough(ask),
                Need::Nothing | Need::Waits | Need::Holds => TenantAction::Ask(ask),
            });
        }
    }

    /// A majority has answered a renewal that was sent at that time.
    fn extend(&mut self, now: Time, renewed: Time) {
        let until = renewed + self.terms.drift.shorter(self.terms.ttl);
        if self.valid_until().unwrap_or(now) >= until {
            return;
        }
        if self.need != Need::Holds {
            self.due = renewed + self.terms.waiting_period();
        }
        if let Phase::Trying { sent, .. } | Phase::Valid { sent, .. } = &mut self.phase {
            // What was sent before this one would not make it last longer.
            let mut sent = core::mem::take(sent);
            sent.retain(|renewal| renewal.at + self.terms.drift.shorter(self.terms.ttl) > until);
            self.phase = Phase::Valid { until, sent };
            self.actions.push(TenantAction::Valid(until));
        }
    }

    fn lapse(&mut self) {
        if let Phase::Valid { .. } = self.phase {
            self.actions.push(TenantAction::Lapsed);
        }
    }

    fn lose(&mut self) {
        self.lapse();
        self.actions.push(TenantAction::Died(self.lease));
    }
}

#[cfg(test)]
mod tests {
    use super::super::configuration::Address;
    use super::super::ident::LifeId;
    use super::super::terms::Drift;
    use super::*;
    use crate::ident::Incarnation;
    use crate::time::Span;

    const TTL: Span = Span::secs(1);

    fn voters() -> Configuration {
        let seats = (1..=3).map(|id| (NodeId(id), StoreId(id.into()), Address::default()));
        Configuration::founding(seats).founded()
    }

    fn tenant() -> Tenant {
        let life = Life { node: NodeId(9), incarnation: Incarnation(1), id: LifeId(9) };
        let terms = Terms { ttl: TTL, longest: TTL, drift: Drift(10_000), retry: Span::millis(50) };
        Tenant::new(life, terms)
    }

    /// The number of the renewal that it asks for, if it asks for one.
    fn renews(tenant: &mut Tenant) -> Option<u64> {
        let renewal = |action| match action {
            TenantAction::Ask(Ask::Renew { no, .. }) | TenantAction::AskEnough(Ask::Renew { no, .. }) => {
                Some(no)
            }
            _ => None,
        };
        tenant.drain().filter_map(renewal).next_back()
    }

    fn hears(tenant: &mut Tenant, now: Time, answer: &Answer) {
        for id in [1_u32, 2] {
            tenant.heard(now, &voters(), (NodeId(id), StoreId(id.into())), answer);
        }
    }

    /// One that waits, was valid since that time, and has asked for nothing since.
    fn waiting(now: Time) -> Tenant {
        let mut tenant = tenant();
        let lease = tenant.lease();
        tenant.want(now, Need::Waits);
        hears(&mut tenant, now, &Answer::Lives { lease, no: 1 });
        let no = renews(&mut tenant).expect("it tries");
        hears(&mut tenant, now, &Answer::Renewed { lease, no });
        assert!(tenant.is_valid(now));
        tenant
    }

    #[test]
    fn whoever_waits_renews_seldom_and_again_if_nobody_answers() {
        let now = Time::from_micros(1_000_000);
        let mut tenant = waiting(now);
        let lease = tenant.lease();
        assert_eq!(tenant.deadline(), now + TTL * 4 / 5);
        let lost = tenant.deadline();
        tenant.wake(lost);
        renews(&mut tenant).expect("it renews");
        let again = tenant.deadline();
        assert!(again < now + TTL * 99 / 100, "there is still time");
        tenant.wake(again);
        let no = renews(&mut tenant).expect("nobody has answered");
        hears(&mut tenant, again, &Answer::Renewed { lease, no });
        assert_eq!(tenant.valid_until(), Some(again + TTL * 99 / 100), "from when it was sent");
        assert_eq!(tenant.deadline(), again + TTL * 4 / 5);
    }

    #[test]
    fn whoever_holds_renews_at_once_and_often() {
        let now = Time::from_micros(1_000_000);
        let mut tenant = waiting(now);
        let later = now + TTL / 2;
        tenant.want(later, Need::Holds);
        let no = renews(&mut tenant).expect("it renewed less often than a holder does");
        let lease = tenant.lease();
        hears(&mut tenant, later, &Answer::Renewed { lease, no });
        assert_eq!(tenant.deadline(), later + TTL / 5);
    }
}
