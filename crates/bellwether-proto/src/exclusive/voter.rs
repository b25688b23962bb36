//! A voter: what it has promised and accepted, which leases run, and which are dead.
//!
//! Two layers that know nothing of each other. *Registers* are plain Paxos registers and know no clock: one promised ballot for
//! all names, and of every name the latest content that was accepted. *Leases* are timers and know no ballot.
//!
//! **Memory and disk.** Memory changes when a write is asked for. Every word that tells of a change waits until that change is on
//! disk, whenever the word was said: an answer carries the number of the last write that it tells of, and is parked until
//! [`Voter::written`] has passed it. Renewals tell of nothing that is written, and wait for nothing.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::{Drain, Vec};
use core::ops::Bound;

use super::configuration::Configuration;
use super::grant::{Accepted, Content, Name, Token};
use super::ident::{Age, Ballot, Lease, Life, Stamp, StoreId};
use super::message::{Answer, Ask, Asked, Objection, PAGE, Recall, Said};
use super::terms::Terms;
use crate::ident::NodeId;
use crate::time::{Span, Time};

/// So many names, unless the owner says otherwise.
pub const NAMES_MAX: usize = 1_000_000;

/// Of one node so many leases are timed. An honest one has a new lease only when an earlier one is dead.
const TIMERS_MAX: usize = 64;

/// So many bytes of names and values are told at once: the longest of each fits.
const PAGE_BYTES: usize = 24 * 1024;

/// No more answers wait for the disk. Whoever asked asks again.
const PARKED_MAX: usize = 1 << 16;

/// One change of what a voter keeps. It is on disk before anything is said that tells of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// No earlier ballot is taken any more.
    Promised(Ballot),
    /// That name holds this.
    Accepted(Name, Accepted),
    /// The leases of that node up to this one are dead.
    Dead(NodeId, Age),
    /// The latest life of its node.
    Met(Life),
    /// That name was forgotten, as all voters know.
    Dropped(Name),
}

/// What a voter keeps on stable storage.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VoterKept {
    /// Made with the store.
    pub store: StoreId,
    /// How many changes the store has kept.
    pub commits: u64,
    /// No earlier ballot is taken.
    pub promised: Option<Ballot>,
    /// The latest of each name.
    pub accepted: BTreeMap<Name, Accepted>,
    /// Of each node, up to which lease all are dead.
    pub dead: BTreeMap<NodeId, Age>,
    /// The latest life of each node.
    pub lives: BTreeMap<NodeId, Life>,
}

impl VoterKept {
    /// An empty store.
    pub fn new(store: StoreId) -> Self {
        Self {
            store,
            commits: 0,
            promised: None,
            accepted: BTreeMap::new(),
            dead: BTreeMap::new(),
            lives: BTreeMap::new(),
        }
    }

    /// One more change.
    pub fn keep(&mut self, change: Change) {
        self.commits += 1;
        match change {
            Change::Promised(ballot) => self.promised = Some(ballot),
            Change::Accepted(name, accepted) => {
                self.accepted.insert(name, accepted);
            }
            Change::Dead(node, age) => {
                self.dead.insert(node, age);
            }
            Change::Met(life) => {
                self.lives.insert(life.node, life);
            }
            Change::Dropped(name) => {
                self.accepted.remove(&name);
            }
        }
    }
}

/// What a voter asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum VoterAction {
    /// Have this on stable storage, after all that was asked for before, and say so with [`Voter::written`].
    Keep(Change),
    /// Tell that node.
    Answer(NodeId, Box<Said>),
}

/// A voter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Voter {
    terms: Terms,
    /// The voters of the owner's file: nothing else is founded.
    listed: BTreeSet<NodeId>,
    me: NodeId,
    kept: VoterKept,
    /// Whether the newest configuration that it knows does not count its store.
    stranger: bool,
    /// Whether its disk was put back to an earlier state: it says nothing any more.
    is_outdated: bool,
    /// Which write holds what: the promise, each name, the dead and the lives of each node. Only of writes that are not done.
    promised_by: u64,
    accepted_by: BTreeMap<Name, u64>,
    dead_by: BTreeMap<NodeId, u64>,
    met_by: BTreeMap<NodeId, u64>,
    /// When each lease's timer ends.
    timers: BTreeMap<NodeId, BTreeMap<Lease, Time>>,
    /// After a restart every lease that is not dead is taken to have been renewed just then.
    restarted_until: Time,
    /// How many writes are done. `kept.commits` counts those that were asked for.
    done: u64,
    /// The newest configuration that is on disk.
    shown: Option<(Stamp, Configuration)>,
    parked: Vec<(u64, NodeId, Answer)>,
    actions: Vec<VoterAction>,
}

impl Voter {
    /// A voter that comes up with what its disk holds.
    pub fn new(me: NodeId, listed: BTreeSet<NodeId>, kept: VoterKept, terms: Terms, now: Time) -> Self {
        // A store that has kept nothing has answered nobody.
        let fresh = kept.commits == 0;
        let restarted_until = if fresh { Time::ZERO } else { now + terms.drift.longer(terms.longest) };
        Self {
            terms,
            listed,
            me,
            done: kept.commits,
            shown: newest(&kept),
            stranger: is_stranger(me, &kept),
            is_outdated: false,
            kept,
            promised_by: 0,
            accepted_by: BTreeMap::new(),
            dead_by: BTreeMap::new(),
            met_by: BTreeMap::new(),
            timers: BTreeMap::new(),
            restarted_until,
            parked: Vec::new(),
            actions: Vec::new(),
        }
    }

    /// What it keeps, written or about to be.
    pub fn kept(&self) -> &VoterKept {
        &self.kept
    }

    /// Another has heard that more was on this disk than there was later. Only what was on it was ever told.
    pub fn recall(&mut self, Recall { store, .. }: Recall) {
        if store == self.kept.store {
            self.is_outdated = true;
            self.parked.clear();
        }
    }

    /// Whether its disk was put back to an earlier state, so that it does not vote.
    pub fn is_outdated(&self) -> bool {
        self.is_outdated
    }

    /// The voters in force, if its disk knows.
    pub fn in_force(&self) -> Option<&Configuration> {
        self.shown.as_ref().map(|(_, shown)| shown).filter(|shown| !shown.is_founding())
    }

    /// What is to be done, in order.
    pub fn drain(&mut self) -> Drain<'_, VoterAction> {
        self.actions.drain(..)
    }

    /// Somebody asks.
    pub fn handle(&mut self, now: Time, from: NodeId, Asked { by, ask }: Asked) {
        if by.node != from || self.is_outdated {
            return;
        }
        match self.meet(by) {
            Ok(met) => self.decide(now, from, ask, met),
            Err(known) => {
                let after = self.met_by.get(&from).copied().unwrap_or(0);
                self.answer(after, from, Answer::Outlived { life: by, known: known.incarnation });
            }
        }
    }

    /// So many changes are on stable storage, counted from when the store was made.
    pub fn written(&mut self, commits: u64) {
        self.done = self.done.max(commits.min(self.kept.commits));
        let done = self.done;
        self.accepted_by.retain(|_, write| *write > done);
        self.dead_by.retain(|_, write| *write > done);
        self.met_by.retain(|_, write| *write > done);
        if !self.accepted_by.contains_key(&Name::configuration()) {
            self.shown = newest(&self.kept);
        }
        // In the order in which they were said: what was said later may be ready earlier, and waits for nothing.
        let ready: Vec<_> = self.parked.extract_if(.., |(after, ..)| *after <= done).collect();
        ready.into_iter().for_each(|(_, to, answer)| self.say(to, answer));
    }

    /// Whether that lease, or an earlier one of its node, may still be relied on, and for how long.
    fn left(&self, now: Time, lease: Lease) -> Option<Span> {
        let node = lease.life.node;
        let dead = self.kept.dead.get(&node).copied();
        if dead.is_some_and(|dead| lease.age() <= dead) {
            return None;
        }
        let timers = self.timers.get(&node).into_iter().flatten();
        let up_to = timers.filter(|(timed, _)| timed.age() <= lease.age());
        let until = up_to.map(|(_, until)| *until).max().unwrap_or(Time::ZERO).max(self.restarted_until);
        (now < until).then(|| until.since(now))
    }

    /// The write that holds the latest life of that node; or the life that is known instead.
    fn meet(&mut self, by: Life) -> Result<u64, Life> {
        match self.kept.lives.get(&by.node) {
            Some(known) if known.incarnation > by.incarnation => return Err(*known),
            Some(known) if known.incarnation == by.incarnation && known.id != by.id => return Err(*known),
            Some(known) if known == &by => {}
            _ => {
                let write = self.keep(Change::Met(by));
                self.met_by.insert(by.node, write);
            }
        }
        Ok(self.met_by.get(&by.node).copied().unwrap_or(0))
    }

    fn decide(&mut self, now: Time, from: NodeId, ask: Ask, met: u64) {
        match ask {
            Ask::Prepare { ballot } => match self.promise(ballot) {
                Ok(promised) => self.answer(promised.max(met), from, Answer::Promised { ballot }),
                Err(promised) => self.outbid(from, ballot, promised),
            },
            Ask::Read { ballot, name } => match self.promise(ballot) {
                Ok(promised) => {
                    let accepted = self.kept.accepted.get(&name).cloned();
                    let after = promised.max(met).max(self.accepted_by.get(&name).copied().unwrap_or(0));
                    self.answer(after, from, Answer::Holds { ballot, name, accepted });
                }
                Err(promised) => self.outbid(from, ballot, promised),
            },
            Ask::Write { stamp, name, content } => self.write(from, stamp, name, content, met),
            Ask::Runs { lease } => {
                let answer = self.left(now, lease);
                self.answer(
                    met,
                    from,
                    match answer {
                        Some(left) => Answer::Runs { lease, left },
                        None => Answer::Stopped { lease },
                    },
                );
            }
            Ask::Bury { lease } => self.bury(now, from, lease, met),
            Ask::Renew { lease, no, ttl } => self.renew(now, from, lease, no, ttl, met),
            Ask::IsDead { lease, no } => match self.is_dead(lease) {
                Some(write) => self.answer(write, from, Answer::Dead { lease }),
                None => self.answer(met, from, Answer::Lives { lease, no }),
            },
            Ask::Names { ballot, after } => match self.promise(ballot) {
                Ok(promised) => self.list_names(from, ballot, after, promised.max(met)),
                Err(promised) => self.outbid(from, ballot, promised),
            },
            Ask::Buried { ballot, after } => match self.promise(ballot) {
                Ok(promised) => self.list_dead(from, ballot, after, promised.max(met)),
                Err(promised) => self.outbid(from, ballot, promised),
            },
            Ask::Store { ballot } => match self.promise(ballot) {
                Ok(promised) => self.tell_store(from, ballot, promised.max(met)),
                Err(promised) => self.outbid(from, ballot, promised),
            },
            Ask::Holdings { ballot, after } => match self.promise(ballot) {
                Ok(promised) => self.list_holdings(from, ballot, after, promised.max(met)),
                Err(promised) => self.outbid(from, ballot, promised),
            },
            Ask::Peek { name, no } => {
                let accepted = self.kept.accepted.get(&name).cloned();
                let after = met.max(self.accepted_by.get(&name).copied().unwrap_or(0));
                self.answer(after, from, Answer::Peeked { name, no, accepted });
            }
            Ask::Drop { ballot, name, stamp } => match self.promise(ballot) {
                Ok(_) => self.drop_name(ballot, name, stamp),
                Err(promised) => self.outbid(from, ballot, promised),
            },
        }
    }

    /// The write that holds the promise of that ballot; or the later one that is promised.
    fn promise(&mut self, ballot: Ballot) -> Result<u64, Ballot> {
        match self.kept.promised {
            Some(promised) if promised > ballot => Err(promised),
            Some(promised) if promised == ballot => Ok(self.promised_by),
            _ => {
                self.promised_by = self.keep(Change::Promised(ballot));
                Ok(self.promised_by)
            }
        }
    }

    fn outbid(&mut self, from: NodeId, ballot: Ballot, promised: Ballot) {
        self.answer(self.promised_by, from, Answer::Outbid { ballot, promised });
    }

    fn write(&mut self, from: NodeId, stamp: Stamp, name: Name, content: Content, met: u64) {
        let promised = match self.promise(stamp.ballot) {
            Ok(promised) => promised,
            Err(promised) => return self.outbid(from, stamp.ballot, promised),
        };
        let held = self.kept.accepted.get(&name).map(|accepted| accepted.stamp);
        match held {
            Some(held) if held > stamp => return, // A late word of the same ballot.
            Some(held) if held == stamp => {}
            // It is to be empty when it comes to vote with this store.
            _ if self.stranger && !matches!(content, Content::Configuration(_)) => return,
            _ => {
                if let Err(why) = self.is_acceptable(&content) {
                    let unacceptable = Answer::Unacceptable { stamp, why };
                    return self.answer(promised.max(met), from, unacceptable);
                }
                if held.is_none() && self.kept.accepted.len() >= NAMES_MAX {
                    return;
                }
                let write = self.keep(Change::Accepted(name.clone(), Accepted { stamp, content }));
                self.accepted_by.insert(name.clone(), write);
            }
        }
        let after = self.accepted_by.get(&name).copied().unwrap_or(0);
        self.answer(after.max(promised).max(met), from, Answer::Wrote { stamp, name });
    }

    /// Every grant is. A configuration must have this store, and the first one these voters. Those who were rescued do not go back.
    fn is_acceptable(&self, content: &Content) -> Result<(), Objection> {
        let Content::Configuration(configuration) = content else { return Ok(()) };
        if configuration.is_founding() && !configuration.voters.keys().eq(self.listed.iter()) {
            return Err(Objection::OtherList);
        }
        let known = newest(&self.kept).map_or(0, |(_, known)| known.generation());
        match configuration.voters.get(&self.me) {
            _ if configuration.generation() < known => Err(Objection::Rescued),
            Some(seat) if seat.store != self.kept.store => Err(Objection::OtherStore),
            _ => Ok(()),
        }
    }

    fn list_names(&mut self, from: NodeId, ballot: Ballot, after: Option<Name>, written: u64) {
        let begin = after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let swept = |(name, _): &(&Name, &Accepted)| **name != Name::configuration();
        let mut rest = self.kept.accepted.range((begin, Bound::Unbounded)).filter(swept);
        let names: Vec<Name> = rest.by_ref().take(PAGE).map(|(name, _)| name.clone()).collect();
        let more = rest.next().is_some();
        let listed = names.iter().filter_map(|name| self.accepted_by.get(name)).max().copied().unwrap_or(0);
        self.answer(written.max(listed), from, Answer::Names { ballot, after, names, more });
    }

    /// A page ends early where values are long: it must fit into a frame.
    fn list_holdings(&mut self, from: NodeId, ballot: Ballot, after: Option<Name>, written: u64) {
        let begin = after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let elections = |(name, _): &(&Name, &Accepted)| !name.is_reserved();
        let mut rest = self.kept.accepted.range((begin, Bound::Unbounded)).filter(elections).peekable();
        let (mut held, mut room) = (Vec::new(), PAGE_BYTES);
        while let Some((name, accepted)) = rest.peek() {
            let size = name.as_str().len() + accepted.content.as_grant().map_or(0, |grant| grant.value.len());
            if held.len() == PAGE || size > room {
                break;
            }
            room -= size;
            held.push(((*name).clone(), (*accepted).clone()));
            rest.next();
        }
        let more = rest.next().is_some();
        let listed =
            held.iter().filter_map(|(name, _)| self.accepted_by.get(name)).max().copied().unwrap_or(0);
        self.answer(written.max(listed), from, Answer::Holdings { ballot, after, held, more });
    }

    /// Only what was deleted in an earlier ballot: nothing of that ballot is taken any more, so nothing that was written before the
    /// deletion can come after it.
    fn drop_name(&mut self, ballot: Ballot, name: Name, stamp: Stamp) {
        let is_deleted = self
            .kept
            .accepted
            .get(&name)
            .is_some_and(|accepted| accepted.stamp == stamp && accepted.content == Content::Deleted);
        if is_deleted && stamp.ballot < ballot {
            let write = self.keep(Change::Dropped(name.clone()));
            self.accepted_by.insert(name, write);
        }
    }

    fn list_dead(&mut self, from: NodeId, ballot: Ballot, after: Option<NodeId>, written: u64) {
        let begin = after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = self.kept.dead.range((begin, Bound::Unbounded));
        let dead: Vec<(NodeId, Age)> = rest.by_ref().take(PAGE).map(|(node, age)| (*node, *age)).collect();
        let more = rest.next().is_some();
        let listed = dead.iter().filter_map(|(node, _)| self.dead_by.get(node)).max().copied().unwrap_or(0);
        self.answer(written.max(listed), from, Answer::TheBuried { ballot, after, dead, more });
    }

    /// A store that has accepted no grant and buried nobody may vote as a new one. What it has promised binds nobody but itself.
    fn tell_store(&mut self, from: NodeId, ballot: Ballot, written: u64) {
        let grants = || self.kept.accepted.values().filter_map(|accepted| accepted.content.as_grant());
        let empty = grants().next().is_none() && self.kept.dead.is_empty();
        let largest = grants().map(|grant| grant.token).max().unwrap_or(Token::default());
        self.answer(written, from, Answer::Store { ballot, empty, largest });
    }

    fn bury(&mut self, now: Time, from: NodeId, lease: Lease, met: u64) {
        if let Some(left) = self.left(now, lease) {
            return self.answer(met, from, Answer::Runs { lease, left });
        }
        let (node, age) = (lease.life.node, lease.age());
        if self.kept.dead.get(&node).is_none_or(|dead| *dead < age) {
            let write = self.keep(Change::Dead(node, age));
            self.dead_by.insert(node, write);
            self.forget_timers(node, age);
        }
        let after = self.dead_by.get(&node).copied().unwrap_or(0).max(met);
        self.answer(after, from, Answer::Buried { lease });
    }

    fn forget_timers(&mut self, node: NodeId, age: Age) {
        if let Some(timers) = self.timers.get_mut(&node) {
            timers.retain(|timed, _| timed.age() > age);
        }
    }

    fn renew(&mut self, now: Time, from: NodeId, lease: Lease, no: u64, ttl: Span, met: u64) {
        if lease.life.node != from || ttl > self.terms.longest {
            return;
        }
        if let Some(write) = self.is_dead(lease) {
            return self.answer(write, from, Answer::Dead { lease });
        }
        let timers = self.timers.entry(from).or_default();
        if timers.len() >= TIMERS_MAX {
            timers.retain(|_, until| *until > now);
        }
        if timers.len() >= TIMERS_MAX && !timers.contains_key(&lease) {
            return;
        }
        let until = timers.entry(lease).or_default();
        // Never to an earlier end: a renewal may overtake another, and ask for less.
        *until = (*until).max(now + self.terms.drift.longer(ttl));
        // It tells of nothing that is written. But a store that has kept nothing must have answered nobody: a voter that restarts
        // with an empty one does not wait for timers.
        self.answer(met, from, Answer::Renewed { lease, no });
    }

    /// The write that holds that it is.
    fn is_dead(&self, lease: Lease) -> Option<u64> {
        let node = lease.life.node;
        let dead = self.kept.dead.get(&node).is_some_and(|dead| lease.age() <= *dead);
        dead.then(|| self.dead_by.get(&node).copied().unwrap_or(0))
    }

    fn keep(&mut self, change: Change) -> u64 {
        let is_news = matches!(&change, Change::Accepted(name, _) if name.is_reserved());
        self.kept.keep(change.clone());
        if is_news {
            self.stranger = is_stranger(self.me, &self.kept);
        }
        self.actions.push(VoterAction::Keep(change));
        self.kept.commits
    }

    fn answer(&mut self, after: u64, to: NodeId, answer: Answer) {
        if after <= self.done {
            self.say(to, answer);
        } else if self.parked.len() < PARKED_MAX {
            self.parked.push((after, to, answer));
        }
    }

    fn say(&mut self, to: NodeId, answer: Answer) {
        let (store, commits, configuration) = (self.kept.store, self.done, self.shown.clone());
        let said = Said { store, commits, configuration, answer };
        self.actions.push(VoterAction::Answer(to, Box::new(said)));
    }
}

/// Whether the newest configuration that it knows does not count its store.
fn is_stranger(me: NodeId, kept: &VoterKept) -> bool {
    newest(kept).is_some_and(|(_, known)| !known.counts(me, kept.store))
}

/// The newest configuration that was accepted.
fn newest(kept: &VoterKept) -> Option<(Stamp, Configuration)> {
    match kept.accepted.get(&Name::configuration())? {
        Accepted { stamp, content: Content::Configuration(shown) } => {
            Some((*stamp, Configuration::clone(shown)))
        }
        Accepted { content: Content::Grant(_) | Content::Deleted | Content::Floor(_), .. } => None,
    }
}
