//! What programs ask for about elections, until it is answered.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::{Action, Exclusive};
use crate::exclusive::campaigns::OWN;
use crate::exclusive::configuration::{Configuration, Votes};
use crate::exclusive::grant::{Accepted, Content, Grant, Name};
use crate::exclusive::ident::{Life, Stamp, StoreId};
use crate::exclusive::message::{Ask, Asked, ExclusiveMsg, Undeleted, Wish};
use crate::exclusive::order::{Candidacy, Declined, News, Order};
use crate::ident::NodeId;
use crate::time::{Span, Time};

/// No more campaigns than this, of all sessions.
const CAMPAIGNS_MAX: usize = 1 << 20;

/// No more orders than this wait for an answer.
const ORDERS_MAX: usize = 1 << 17;

/// After so many of the longest leases nobody waits any longer.
const PATIENCE: u64 = 3;

/// Orders that are not answered yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Orders {
    /// In the order in which they were given, so the first is the one that is over first.
    all: BTreeMap<u64, Pending>,
    /// Those about a campaign.
    of: BTreeMap<(Name, u64), BTreeSet<u64>>,
    /// Those that are repeated, and when.
    asking: BTreeSet<(Time, u64)>,
}

#[derive(Clone, Debug)]
struct Pending {
    what: What,
    until: Time,
    again: Option<Again>,
}

/// When something is asked again, and after how long the next time: longer each time, or those who have much to answer would get more
/// and more of it.
#[derive(Clone, Copy, Debug)]
struct Again {
    at: Time,
    after: Span,
}

#[derive(Clone, Debug)]
enum What {
    Release(Name, u64),
    Proclaim(Name, u64),
    Delete(Name),
    Read(Name, Inquiry),
}

/// What voters have said of a name since that was asked for. A voter that is asked again says something later, which counts.
#[derive(Clone, Debug, Default)]
struct Inquiry {
    said: BTreeMap<(NodeId, StoreId), Option<Accepted>>,
}

impl Orders {
    pub(super) fn deadline(&self) -> Time {
        let over = self.all.values().next().map_or(Time::NEVER, |pending| pending.until);
        over.min(self.asking.first().map_or(Time::NEVER, |(at, _)| *at))
    }

    /// An order that waits for a campaign.
    fn await_campaign(&mut self, no: u64, what: What, until: Time) {
        if let What::Release(name, session) | What::Proclaim(name, session) = &what {
            self.of.entry((name.clone(), *session)).or_default().insert(no);
        }
        self.all.insert(no, Pending { what, until, again: None });
    }

    /// An order that is asked for now, and again after that time.
    fn ask(&mut self, no: u64, what: What, (now, until): (Time, Time), after: Span) {
        self.asking.insert((now, no));
        self.all.insert(no, Pending { what, until, again: Some(Again { at: now, after }) });
    }

    /// The next that is to be asked for by now.
    fn next_due(&mut self, now: Time) -> Option<u64> {
        let (at, no) = self.asking.first().copied().filter(|(at, _)| *at <= now)?;
        self.asking.remove(&(at, no));
        if let Some(Pending { again: Some(again), .. }) = self.all.get_mut(&no) {
            *again = Again { at: now + again.after, after: again.after * 2 };
            self.asking.insert((again.at, no));
        }
        Some(no)
    }

    /// All that is asked for is asked for now.
    fn hurry(&mut self, now: Time, after: Span) {
        for (_, no) in core::mem::take(&mut self.asking) {
            if let Some(pending) = self.all.get_mut(&no) {
                pending.again = Some(Again { at: now, after });
                self.asking.insert((now, no));
            }
        }
    }

    fn end(&mut self, no: u64) -> Option<What> {
        let Pending { what, again, .. } = self.all.remove(&no)?;
        if let Some(Again { at, .. }) = again {
            self.asking.remove(&(at, no));
        }
        if let What::Release(name, session) | What::Proclaim(name, session) = &what {
            let key = (name.clone(), *session);
            if let Some(numbers) = self.of.get_mut(&key) {
                numbers.remove(&no);
                if numbers.is_empty() {
                    self.of.remove(&key);
                }
            }
        }
        Some(what)
    }

    /// Those about that campaign that ask for this.
    fn about(&self, name: &Name, session: u64, is: impl Fn(&What) -> bool) -> Vec<u64> {
        let numbers = self.of.get(&(name.clone(), session)).into_iter().flatten();
        let those = numbers.filter(|no| self.all.get(no).is_some_and(|pending| is(&pending.what)));
        those.copied().collect()
    }
}

impl Exclusive {
    /// A program wants something of a named election.
    pub(crate) fn order(&mut self, now: Time, no: u64, order: Order) {
        if self.orders.all.len() >= ORDERS_MAX {
            self.decline(no, Declined::TooMany);
        } else if let Err(why) = self.obey(now, no, order) {
            self.decline(no, why);
        }
        self.go_on(now);
    }

    fn obey(&mut self, now: Time, no: u64, order: Order) -> Result<(), Declined> {
        let (until, retry) = (now + self.patience(), self.config.terms.retry);
        match order {
            Order::Campaign { session, name, candidacy } => {
                self.may_campaign(session, &name, &candidacy)?;
                self.campaigns.campaign(now, name, session, candidacy);
                self.actions.push(Action::Answered(no, Ok(())));
            }
            Order::Release { session, name, next } => {
                if session == OWN || !self.campaigns.has(&name, session) {
                    return Err(Declined::NoCampaign);
                }
                let lease = self.tenant.lease();
                self.campaigns.release(now, &name, session, lease, next);
                self.orders.await_campaign(no, What::Release(name, session), until);
            }
            Order::Proclaim { session, name, value } => {
                if value.len() > Grant::VALUE_MAX {
                    return Err(Declined::TooLong);
                }
                if self.campaigns.holds(&name, session).is_none() {
                    return Err(Declined::NotHeld);
                }
                self.campaigns.proclaim(now, &name, session, value);
                self.orders.await_campaign(no, What::Proclaim(name, session), until);
            }
            Order::Delete { name } => {
                if name == Name::leader() || name.is_reserved() {
                    return Err(Declined::Reserved);
                }
                self.orders.ask(no, What::Delete(name), (now, until), retry);
            }
            Order::Read { name } => {
                self.orders.ask(no, What::Read(name, Inquiry::default()), (now, until), retry);
            }
        }
        Ok(())
    }

    fn may_campaign(&self, session: u64, name: &Name, candidacy: &Candidacy) -> Result<(), Declined> {
        let of_leader = (*name == Name::leader()).then_some(self.config.kind);
        let known = self.known.kind(name).or(of_leader);
        match known.filter(|kind| *kind != candidacy.kind) {
            _ if name.is_reserved() => Err(Declined::Reserved),
            _ if session == OWN => Err(Declined::Campaigns),
            _ if self.config.witnesses.contains(&self.me.node) => Err(Declined::Witness),
            _ if candidacy.value.len() > Grant::VALUE_MAX => Err(Declined::TooLong),
            Some(kind) => Err(Declined::OtherKind { kind }),
            None if self.campaigns.has(name, session) && !self.campaigns.is_giving_back(name, session) => {
                Err(Declined::Campaigns)
            }
            None if self.campaigns.len() >= CAMPAIGNS_MAX => Err(Declined::TooMany),
            None => Ok(()),
        }
    }

    /// That campaign is over: what was given back is.
    pub(super) fn is_over(&mut self, session: u64, name: Name) {
        let released = self.orders.about(&name, session, |_| true);
        // Whoever is answered may campaign again at once.
        self.news(News::Over { session, name });
        for no in released {
            let outcome = match self.orders.end(no) {
                Some(What::Release(..)) => Ok(()),
                _ => Err(Declined::NotHeld),
            };
            self.actions.push(Action::Answered(no, outcome));
        }
    }

    /// Everybody knows what that session proclaims.
    pub(super) fn is_proclaimed(&mut self, session: u64, name: &Name) {
        let proclaims = self.orders.about(name, session, |what| matches!(what, What::Proclaim(..)));
        for no in proclaims {
            self.orders.end(no);
            self.actions.push(Action::Answered(no, Ok(())));
        }
    }

    /// It is held no more: nothing is proclaimed.
    pub(super) fn proclaims_no_more(&mut self, session: u64, name: &Name) {
        let proclaims = self.orders.about(name, session, |what| matches!(what, What::Proclaim(..)));
        for no in proclaims {
            self.orders.end(no);
            self.decline(no, Declined::NotHeld);
        }
    }

    /// Whoever coordinates has answered a deletion.
    pub(super) fn is_deleted(&mut self, to: Life, no: u64, outcome: Result<(), Undeleted>) {
        let is_one = self.orders.all.get(&no).is_some_and(|order| matches!(order.what, What::Delete(_)));
        if to == self.me && is_one {
            self.orders.end(no);
            let outcome = outcome.map_err(|why| match why {
                Undeleted::Unknown => Declined::Unknown,
                Undeleted::InUse => Declined::InUse,
            });
            self.actions.push(Action::Answered(no, outcome));
        }
    }

    /// A voter says what it has accepted of a name.
    pub(super) fn peeked(
        &mut self,
        voter: (NodeId, StoreId),
        (name, no): (&Name, u64),
        accepted: Option<&Accepted>,
    ) {
        let Some(by) = self.in_force().cloned() else { return };
        let Some(Pending { what: What::Read(of, inquiry), .. }) = self.orders.all.get_mut(&no) else {
            return;
        };
        if of != name {
            return;
        }
        inquiry.said.insert(voter, accepted.cloned());
        match inquiry.agree(&by) {
            Some(Some(Accepted { stamp, content: Content::Grant(grant) })) => {
                self.orders.end(no);
                self.learn_grant(name, stamp, grant, None);
                self.actions.push(Action::Answered(no, Ok(())));
            }
            Some(_) => {
                self.orders.end(no);
                self.decline(no, Declined::Unknown);
            }
            None if by.is_enough(&inquiry.votes()) => {
                if let Some(nominee) = self.nominee {
                    self.send(nominee, ExclusiveMsg::Wish(Wish::Settle { name: name.clone() }));
                }
            }
            None => {}
        }
    }

    /// Repeats what was not answered, and gives up what was not for too long.
    pub(super) fn follow_orders(&mut self, now: Time) {
        while let Some((no, _)) = self.orders.all.first_key_value().filter(|(_, order)| order.until <= now) {
            let no = *no;
            self.orders.end(no);
            let (reachable, needed) = self.quorum();
            let count = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
            let (reachable, needed) = (count(reachable), count(needed));
            self.decline(no, Declined::Unanswered { reachable, needed });
        }
        while let Some(no) = self.orders.next_due(now) {
            self.ask_again(no);
        }
    }

    /// Another coordinates: it does not know what was asked for.
    pub(super) fn hurry_orders(&mut self, now: Time) {
        self.orders.hurry(now, self.config.terms.retry);
    }

    fn ask_again(&mut self, no: u64) {
        let by = self.me;
        match self.orders.all.get(&no).map(|pending| &pending.what) {
            Some(What::Delete(name)) => {
                let name = name.clone();
                if let Some(nominee) = self.nominee {
                    self.send(nominee, ExclusiveMsg::Wish(Wish::Delete { by, no, name }));
                }
            }
            Some(What::Read(name, _)) => {
                let ask = Ask::Peek { name: name.clone(), no };
                let voters = self.in_force().map(Configuration::asked).unwrap_or_default();
                for voter in voters {
                    self.send(voter, ExclusiveMsg::Ask(Asked { by, ask: ask.clone() }));
                }
            }
            Some(What::Release(..) | What::Proclaim(..)) | None => {}
        }
    }

    fn decline(&mut self, no: u64, why: Declined) {
        self.actions.push(Action::Answered(no, Err(why)));
    }

    fn patience(&self) -> Span {
        self.config.terms.drift.longer(self.config.terms.longest) * PATIENCE + self.config.terms.retry * 10
    }
}

impl Inquiry {
    fn votes(&self) -> Votes {
        let mut votes = Votes::default();
        self.said.keys().for_each(|(voter, store)| votes.add(*voter, *store));
        votes
    }

    /// What a majority has accepted, if a majority has accepted the same.
    fn agree(&self, by: &Configuration) -> Option<Option<Accepted>> {
        let stamps: BTreeSet<Option<Stamp>> = self.said.values().map(stamp_of).collect();
        stamps.into_iter().find_map(|stamp| {
            let mut votes = Votes::default();
            let agree = self.said.iter().filter(|(_, accepted)| stamp_of(accepted) == stamp);
            agree.clone().for_each(|((voter, store), _)| votes.add(*voter, *store));
            let said = agree.map(|(_, accepted)| accepted.clone()).next()?;
            by.is_enough(&votes).then_some(said)
        })
    }
}

fn stamp_of(accepted: &Option<Accepted>) -> Option<Stamp> {
    accepted.as_ref().map(|accepted| accepted.stamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRY: Span = Span::millis(50);

    fn due(orders: &mut Orders, millis: u64) -> Vec<u64> {
        core::iter::from_fn(|| orders.next_due(Time::ZERO + Span::millis(millis))).collect()
    }

    fn read(orders: &mut Orders, no: u64, millis: u64) {
        let now = Time::ZERO + Span::millis(millis);
        let what = What::Read(Name::leader(), Inquiry::default());
        orders.ask(no, what, (now, now + Span::secs(4)), RETRY);
    }

    #[test]
    fn one_more_question_has_no_other_asked_again() {
        let mut orders = Orders::default();
        read(&mut orders, 1, 0);
        assert_eq!(due(&mut orders, 0), [1]);
        read(&mut orders, 2, 10);
        assert_eq!(due(&mut orders, 10), [2]);
        assert_eq!(orders.deadline(), Time::ZERO + RETRY);
        assert_eq!(due(&mut orders, 60), [1, 2]);
        assert_eq!(due(&mut orders, 159), [0; 0], "later each time");
        assert_eq!(due(&mut orders, 160), [1, 2]);
        orders.hurry(Time::ZERO + Span::millis(170), RETRY);
        assert_eq!(due(&mut orders, 170), [1, 2]);
        orders.end(1);
        assert_eq!(due(&mut orders, 1000), [2], "what is answered is not asked for");
        orders.end(2);
        assert!(orders.asking.is_empty() && orders.all.is_empty());
    }
}
