//! Who holds which name, as far as coordinators told this node. What it was not told it finds out by comparing one number.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Bound;

use super::{Action, Exclusive};
use crate::exclusive::coordinator::census_mark;
use crate::exclusive::grant::{Accepted, Grant, GrantKind, Name};
use crate::exclusive::ident::{Ballot, Stamp};
use crate::exclusive::message::{ExclusiveMsg, Wish};
use crate::exclusive::order::News;
use crate::time::Time;

/// What is known of names.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    names: BTreeMap<Name, Entry>,
    /// That of what was told last. Most names have the same, and share it.
    ballot: Option<Arc<Ballot>>,
    /// What they add up to.
    census: u64,
    /// When to ask for all names, if some are not known.
    list_at: Option<Time>,
    /// After which name the next page begins, while they are listed.
    after: Option<Name>,
}

/// One name, as it was told last. Whoever wants to know more reads it where the news went: there may be a million.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    ballot: Arc<Ballot>,
    write: u64,
    kind: GrantKind,
    /// How many wait.
    waiting: u32,
}

impl Entry {
    fn stamp(&self) -> Stamp {
        Stamp { ballot: *self.ballot, write: self.write }
    }
}

impl Known {
    pub(super) fn kind(&self, name: &Name) -> Option<GrantKind> {
        self.names.get(name).map(|entry| entry.kind)
    }

    /// Whether something is known of that name that was written later.
    pub(super) fn is_later(&self, name: &Name, stamp: Stamp) -> bool {
        self.names.get(name).is_some_and(|known| known.stamp() > stamp)
    }

    fn entry(&mut self, Stamp { ballot, write }: Stamp, kind: GrantKind, waiting: u32) -> Entry {
        let ballot = match &self.ballot {
            Some(known) if **known == ballot => Arc::clone(known),
            _ => Arc::clone(self.ballot.insert(Arc::new(ballot))),
        };
        Entry { ballot, write, kind, waiting }
    }

    pub(super) fn deadline(&self) -> Time {
        self.list_at.unwrap_or(Time::NEVER)
    }

    fn put(&mut self, name: &Name, entry: Option<Entry>) {
        let mark = |entry: Option<&Entry>| entry.map_or(0, |entry| census_mark(name, entry.stamp()));
        let after = mark(entry.as_ref());
        let before = match entry {
            Some(entry) => self.names.insert(name.clone(), entry),
            None => self.names.remove(name),
        };
        self.census = self.census.wrapping_sub(mark(before.as_ref())).wrapping_add(after);
    }
}

impl Exclusive {
    /// That grant is decided. The latest counts.
    pub(super) fn learn_grant(&mut self, name: &Name, stamp: Stamp, grant: Arc<Grant>, waiting: Option<u32>) {
        if self.known.is_later(name, stamp) {
            return;
        }
        let waiting = waiting.unwrap_or(self.known.names.get(name).map_or(0, |known| known.waiting));
        let entry = self.known.entry(stamp, grant.kind, waiting);
        if self.known.names.get(name) != Some(&entry) {
            let (name, grant) = self.shared(name, grant);
            self.known.put(&name, Some(entry));
            self.news(News::Known { name, held: Some((grant, waiting)) });
        }
    }

    /// The voter has accepted the same, most often. It is kept once.
    fn shared(&self, name: &Name, grant: Arc<Grant>) -> (Name, Arc<Grant>) {
        let accepted = self.voter.as_ref().and_then(|voter| voter.kept().accepted.get_key_value(name));
        let Some((name, Accepted { content, .. })) = accepted else { return (name.clone(), grant) };
        let same = content.as_grant().filter(|accepted| **accepted == grant);
        (name.clone(), same.cloned().unwrap_or(grant))
    }

    /// There is no such name any more.
    pub(super) fn learn_gone(&mut self, now: Time, name: &Name, stamp: Stamp) {
        if self.known.names.get(name).is_some_and(|known| known.stamp() < stamp) {
            self.known.put(name, None);
            self.news(News::Known { name: name.clone(), held: None });
        }
        self.campaigns.gone(now, name);
    }

    /// The coordinator says what all names add up to.
    pub(super) fn compare(&mut self, now: Time, digest: u64) {
        if self.known.census == digest {
            (self.known.list_at, self.known.after) = (None, None);
            self.news(News::Current);
        } else if self.known.list_at.is_none() {
            self.known.list_at = Some(now);
        }
    }

    /// Another coordinates. Perhaps it knows of names that this node was not told of.
    pub(super) fn list_anew(&mut self, now: Time) {
        (self.known.list_at, self.known.after) = (Some(now + self.config.terms.retry), None);
    }

    /// These are all names between those two.
    pub(super) fn listed(&mut self, now: Time, after: Option<&Name>, up_to: Option<Name>, names: &[Name]) {
        if after != self.known.after.as_ref() {
            return;
        }
        let begin = after.map_or(Bound::Unbounded, Bound::Excluded);
        let end = up_to.as_ref().map_or(Bound::Unbounded, Bound::Included);
        let between = self.known.names.range::<Name, _>((begin, end)).map(|(name, _)| name);
        let gone: Vec<Name> = between.filter(|name| !names.contains(name)).cloned().collect();
        for name in gone {
            self.known.put(&name, None);
            self.news(News::Known { name, held: None });
        }
        self.known.list_at = up_to.is_some().then_some(now);
        self.known.after = up_to;
    }

    /// Asks for names that are not known, until it is told.
    pub(super) fn follow_known(&mut self, now: Time) {
        if self.known.list_at.is_none_or(|at| now < at) {
            return;
        }
        self.known.list_at = Some(now + self.config.terms.waiting_period());
        if let Some(nominee) = self.nominee {
            let after = self.known.after.clone();
            self.send(nominee, ExclusiveMsg::Wish(Wish::List { after }));
        }
    }

    pub(super) fn news(&mut self, news: News) {
        self.actions.push(Action::News(alloc::boxed::Box::new(news)));
    }
}
