//! How a change of the voters is settled. What the voters before the change know must be known to a majority of those after it: the
//! next change may leave no voter that was there before this one.
//!
//! ```text
//!   names:  list a page ──► read each, and write again what a majority does not hold ──► the next page ──► done
//!   dead:   list a page ──► each lease that any voter calls dead is buried by a majority, or a majority says that it is not ──► … done
//!   time:   the longest lease has passed, so nobody relies on renewals that only voters before the change have answered
//! ```
//!
//! All of it is asked after the change is decided. A lease that was dead before is so at a majority of the voters then, and one of
//! them is in every majority of the voters by now.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::burial::Burial;
use super::configuration::{Configuration, Votes};
use super::grant::Name;
use super::ident::{Age, Ballot, Lease, Life, LifeId, StoreId};
use super::message::{Answer, Ask};
use crate::ident::NodeId;
use crate::time::{Span, Time};

/// What is left of a change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sweep {
    ballot: Ballot,
    names: Names,
    dead: Dead,
    /// When the longest lease is over.
    until: Time,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Names {
    Listing(Pages<Name, Name>),
    /// These are not at a majority yet; then it goes on after that one.
    Writing(BTreeSet<Name>, Option<Name>),
    Done,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Dead {
    Listing(Pages<NodeId, (NodeId, Age)>),
    Burying(BTreeMap<(NodeId, Age), Grave>, Option<NodeId>),
    Done,
}

/// A lease that some voter calls dead, with all that are not later.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Grave {
    burial: Burial,
    /// Who says that it is not dead.
    lives: Votes,
}

impl Sweep {
    /// After a change that was decided by now, in that ballot. The longest lease lasts that long.
    pub fn new(ballot: Ballot, now: Time, longest: Span) -> Self {
        let (names, dead) = (Names::Listing(Pages::after(None)), Dead::Listing(Pages::after(None)));
        Self { ballot, names, dead, until: now + longest }
    }

    /// Whether everything is done.
    pub fn is_over(&self, now: Time) -> bool {
        self.names == Names::Done && self.dead == Dead::Done && self.until <= now
    }

    /// When there is something to do without an answer.
    pub fn deadline(&self) -> Time {
        match &self.dead {
            Dead::Burying(graves, _) => {
                graves.values().map(|grave| grave.burial.deadline()).min().unwrap_or(Time::NEVER)
            }
            // Voters have to answer first, whatever time it is.
            Dead::Listing(_) => Time::NEVER,
            Dead::Done if self.names == Names::Done => self.until,
            Dead::Done => Time::NEVER,
        }
    }

    /// Which names are to be brought to a majority.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        let names = match &self.names {
            Names::Writing(names, _) => Some(names),
            Names::Listing(_) | Names::Done => None,
        };
        names.into_iter().flatten()
    }

    /// That name is at a majority. Whether there are others to be listed now.
    #[must_use]
    pub fn done(&mut self, name: &Name) -> bool {
        let Names::Writing(names, next) = &mut self.names else { return false };
        names.remove(name);
        if !names.is_empty() {
            return false;
        }
        self.names = match next.take() {
            Some(next) => Names::Listing(Pages::after(Some(next))),
            None => Names::Done,
        };
        matches!(self.names, Names::Listing(_))
    }

    /// What to ask all voters for that have not answered.
    pub fn asks(&self) -> Vec<(Ask, Votes)> {
        let ballot = self.ballot;
        let mut asks = Vec::new();
        if let Names::Listing(pages) = &self.names {
            asks.push((Ask::Names { ballot, after: pages.after.clone() }, pages.votes.clone()));
        }
        match &self.dead {
            Dead::Listing(pages) => {
                asks.push((Ask::Buried { ballot, after: pages.after }, pages.votes.clone()));
            }
            Dead::Burying(graves, _) => {
                let asked = graves.iter().filter(|(_, grave)| !grave.burial.is_over());
                asks.extend(
                    asked.map(|(of, grave)| (Ask::IsDead { lease: lease(*of), no: 0 }, grave.lives.clone())),
                );
            }
            Dead::Done => {}
        }
        asks
    }

    /// What to ask all voters for by now.
    pub fn buries(&mut self, now: Time, retry: Span) -> Vec<Ask> {
        match &mut self.dead {
            Dead::Burying(graves, _) => {
                graves.values_mut().filter_map(|grave| grave.burial.ask(now, retry)).collect()
            }
            Dead::Listing(_) | Dead::Done => Vec::new(),
        }
    }

    /// A voter answers. Whether something else is to be done now.
    #[must_use]
    pub fn heard(
        &mut self,
        now: Time,
        by: &Configuration,
        voter: (NodeId, StoreId),
        answer: &Answer,
    ) -> bool {
        match answer {
            Answer::Names { ballot, after, names, more } if *ballot == self.ballot => {
                let Names::Listing(pages) = &mut self.names else { return false };
                pages.add(voter, after, names, *more, |name| name);
                let Some((names, next)) = pages.turn(by, |name| name) else { return false };
                self.names = Names::Writing(names, next);
                if self.names().next().is_none() {
                    // Nothing is left of an empty page.
                    let Names::Writing(_, next) = &mut self.names else { return false };
                    self.names =
                        next.take().map_or(Names::Done, |next| Names::Listing(Pages::after(Some(next))));
                }
                true
            }
            Answer::TheBuried { ballot, after, dead, more } if *ballot == self.ballot => {
                let Dead::Listing(pages) = &mut self.dead else { return false };
                pages.add(voter, after, dead, *more, |(node, _)| node);
                let Some((dead, next)) = pages.turn(by, |(node, _)| node) else { return false };
                let grave = |of| (of, Grave { burial: Burial::new(lease(of), now), lives: Votes::default() });
                self.dead = Dead::Burying(dead.into_iter().map(grave).collect(), next);
                self.close_graves(by);
                true
            }
            answer => self.heard_of_grave(now, by, voter, answer),
        }
    }

    fn heard_of_grave(
        &mut self,
        now: Time,
        by: &Configuration,
        voter: (NodeId, StoreId),
        answer: &Answer,
    ) -> bool {
        let Dead::Burying(graves, _) = &mut self.dead else { return false };
        let mut turned = false;
        for (of, grave) in graves {
            turned |= grave.burial.heard(now, by, voter, answer);
            if let Answer::Lives { lease: lives, .. } = answer
                && *lives == lease(*of)
            {
                grave.lives.add(voter.0, voter.1);
                turned |= by.is_enough(&grave.lives);
            }
        }
        if turned {
            self.close_graves(by);
        }
        turned
    }

    fn close_graves(&mut self, by: &Configuration) {
        let Dead::Burying(graves, next) = &mut self.dead else { return };
        graves.retain(|_, grave| !grave.burial.is_over() && !by.is_enough(&grave.lives));
        if graves.is_empty() {
            self.dead = match next.take() {
                Some(next) => Dead::Listing(Pages::after(Some(next))),
                None => Dead::Done,
            };
        }
    }
}

/// Of whichever life: what is buried is buried up to an age.
fn lease((node, age): (NodeId, Age)) -> Lease {
    Lease { life: Life { node, incarnation: age.incarnation, id: LifeId(0) }, number: age.number }
}

/// A page of what voters list in order, from enough of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Pages<K, T> {
    after: Option<K>,
    votes: Votes,
    entries: BTreeSet<T>,
    /// Up to where everything was listed by all who have more.
    up_to: Option<K>,
}

impl<K: Ord + Clone, T: Ord + Clone> Pages<K, T> {
    fn after(after: Option<K>) -> Self {
        Self { after, votes: Votes::default(), entries: BTreeSet::new(), up_to: None }
    }

    fn add(
        &mut self,
        (voter, store): (NodeId, StoreId),
        after: &Option<K>,
        entries: &[T],
        more: bool,
        key: impl Fn(&T) -> &K,
    ) {
        if *after != self.after {
            return;
        }
        self.votes.add(voter, store);
        self.entries.extend(entries.iter().filter(|entry| Some(key(entry)) > after.as_ref()).cloned());
        // Whoever says that there is more lists something; the page ends where the first of them does.
        if let Some(last) = entries.last().filter(|_| more).map(&key) {
            let ends = self.up_to.as_ref().is_none_or(|up_to| last < up_to);
            self.up_to = if ends { Some(last.clone()) } else { self.up_to.take() };
        }
    }

    /// The page, and after which the next begins, if enough have answered.
    fn turn(&mut self, by: &Configuration, key: impl Fn(&T) -> &K) -> Option<(BTreeSet<T>, Option<K>)> {
        if !by.is_enough(&self.votes) {
            return None;
        }
        let (mut entries, up_to) = (core::mem::take(&mut self.entries), self.up_to.take());
        if let Some(up_to) = &up_to {
            entries.retain(|entry| key(entry) <= up_to);
        }
        Some((entries, up_to))
    }
}
