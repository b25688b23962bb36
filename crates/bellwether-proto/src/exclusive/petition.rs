//! A change of the voters that a program asked this member for. The member asks whoever coordinates, again and again, until it is
//! told that the change is settled, or why there is none.

use super::configuration::Configuration;
use super::ident::Life;
use super::membership::{MemberChange, NextStep, Unchanged};
use super::message::Wish;
use super::terms::Terms;
use crate::time::{Span, Time};

/// After so many of the longest leases without anything new, nobody waits any longer.
const PATIENCE: u64 = 4;

/// What was asked for, if anything. One at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct Petition(Option<Pending>);

#[derive(Clone, Debug)]
struct Pending {
    no: u64,
    change: MemberChange,
    /// The configuration in force when it was asked for, and the one that is now.
    since: u64,
    reached: u64,
    repeat_at: Time,
    until: Time,
}

/// The answer to what was asked for with that number.
pub(super) type Outcome = (u64, Result<(), Unchanged>);

impl Petition {
    pub(super) fn is_open(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn deadline(&self) -> Time {
        self.0.as_ref().map_or(Time::NEVER, |pending| pending.repeat_at.min(pending.until))
    }

    /// A program asks for it. The configuration of that number is in force, as far as is known.
    pub(super) fn ask(&mut self, now: Time, no: u64, change: MemberChange, since: u64, terms: &Terms) {
        let until = now + patience(terms);
        self.0 = Some(Pending { no, change, since, reached: since, repeat_at: now, until });
    }

    /// What to ask whoever coordinates for, if it is time.
    pub(super) fn repeat(&mut self, now: Time, by: Life, terms: &Terms) -> Option<Wish> {
        let pending = self.0.as_mut().filter(|pending| pending.repeat_at <= now)?;
        pending.repeat_at = now + terms.retry;
        let Pending { no, since, change, .. } = pending;
        Some(Wish::Change { by, no: *no, since: *since, change: change.clone() })
    }

    /// Another coordinates: it does not know of it.
    pub(super) fn hurry(&mut self, now: Time) {
        if let Some(pending) = &mut self.0 {
            pending.repeat_at = now;
        }
    }

    /// That configuration is decided.
    pub(super) fn told(&mut self, now: Time, by: &Configuration, terms: &Terms) -> Option<Outcome> {
        let pending = self.0.as_mut()?;
        if by.number > pending.reached {
            (pending.reached, pending.until) = (by.number, now + patience(terms));
        }
        let is_done = pending.change.next(pending.since, by) == Ok(NextStep::Done);
        is_done.then(|| self.end(Ok(()))).flatten()
    }

    /// Whoever coordinates refuses it.
    pub(super) fn refused(&mut self, no: u64, why: Unchanged) -> Option<Outcome> {
        let is_it = self.0.as_ref().is_some_and(|pending| pending.no == no);
        is_it.then(|| self.end(Err(why))).flatten()
    }

    /// Nobody has said anything for too long.
    pub(super) fn expire(&mut self, now: Time) -> Option<Outcome> {
        let is_late = self.0.as_ref().is_some_and(|pending| pending.until <= now);
        is_late.then(|| self.end(Err(Unchanged::NotInTime))).flatten()
    }

    fn end(&mut self, outcome: Result<(), Unchanged>) -> Option<Outcome> {
        self.0.take().map(|pending| (pending.no, outcome))
    }
}

fn patience(terms: &Terms) -> Span {
    terms.drift.longer(terms.longest) * PATIENCE + terms.retry * 10
}
