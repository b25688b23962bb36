//! The coordinator: whoever is nominated by the election, and has been promised a ballot by a majority. It keeps the queues, and
//! proposes. It decides nothing alone: safety rests on the voters, whoever believes to coordinate.
//!
//! ```text
//!   Idle ──nominated──► Named ──others name it, too──► Preparing ──enough have promised──► Configuring ──who votes──► Ready
//!     ▲                                                   ▲                                                             │
//!     └──not nominated                                    └──────────── a later ballot is promised ◄────────────────────┘
//! ```
//!
//! When a coordinator crashes, all others are nominated for a moment, each by itself. If all of them asked for a ballot, they would
//! outbid each other, and every ballot costs a write at every voter. So whoever is nominated waits for a moment: agents that name
//! it send it what they wish. Safety does not depend on it.
//!
//! Everything is repeated until it is answered: a lost message costs time, never an election.

mod agents;
mod asking;
mod changing;
mod deleting;
mod dropping;
mod surveying;
mod telling;
mod wishing;

pub(in crate::exclusive) use telling::census_mark;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::{Drain, Vec};

use super::burial::Burial;
use super::campaigns::OWN;
use super::configuration::{Address, Configuration, Settling, Votes};
use super::contest::{Contest, Step};
use super::electorate::Electorate;
use super::grant::{Content, GrantKind, Holder, Name};
use super::ident::{Ballot, Lease, Life, Stamp};
use super::message::{Answer, Ask, Asked, Objection, Said, Telling, Wish};
use super::register::Register;
use super::terms::Terms;
use crate::ident::NodeId;
use crate::time::Time;
use agents::{Roll, Wanted};
use changing::Request;
use surveying::Survey;

/// No more names are looked after at once. Agents ask again.
const CONTESTS_MAX: usize = 1 << 20;

/// No more names are read and written at once. The others follow.
const WINDOW: usize = 1024;

/// Whoever is nominated waits for others to name it for one part of this many of the time after which things are repeated.
const NAMED: u64 = 5;

/// What a coordinator asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CoordinatorAction {
    /// Ask that voter.
    Ask(NodeId, Asked),
    /// Tell all agents.
    Tell(Telling),
    /// Tell whoever asked for something.
    Answer(NodeId, Telling),
}

/// The coordinator's side of exclusive leadership.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Coordinator {
    me: Life,
    terms: Terms,
    /// The voters of the owner's file: where to begin.
    listed: BTreeMap<NodeId, Address>,
    /// The newest configuration that was heard of.
    known: Option<(Stamp, Configuration)>,
    stage: Stage,
    /// The largest round that was heard of.
    round: u64,
    /// How often it was outbid since it was ready last.
    outbids: u32,
    /// Who outbid it last, while it waits for that one before it asks again.
    rival: Option<NodeId>,
    /// When to repeat what was not answered.
    repeat_at: Time,
    /// When to tell all again who holds what.
    tell_at: Time,
    /// Each for itself: a node of the tree has room for more of them than there are.
    contests: BTreeMap<Name, Box<Contest>>,
    /// The names about which something may have to be done.
    attention: BTreeSet<Name>,
    /// Those that are read or written.
    busy: BTreeSet<Name>,
    /// Those that agents want for themselves, again and again.
    repeated: BTreeSet<Name>,
    /// Those whose holder has yet to say that it knows.
    untold: BTreeSet<Name>,
    /// Those that somebody began or ceased to wait for.
    recounted: BTreeSet<Name>,
    /// What is held by whom that is in somebody's way.
    wanted: Wanted,
    /// What the sessions of each agent want.
    rolls: BTreeMap<NodeId, Roll>,
    /// What all names that were told add up to.
    census: u64,
    /// When all agents are told that again.
    census_at: Time,
    survey: Survey,
    /// Tokens of names that were forgotten are not larger than this.
    floor: Option<Register>,
    /// The names that wait for that.
    below: BTreeSet<Name>,
    /// Those of which it is to be certain what they hold.
    doubtful: BTreeSet<Name>,
    burials: BTreeMap<Lease, Burial>,
    /// The change of the voters that somebody asks for.
    request: Option<Request>,
    /// Voters that have answered with a store that does not count. Nothing is written to it: it is to be empty when it comes to vote.
    strangers: BTreeSet<NodeId>,
    /// Nodes that cannot be spoken with.
    absent: BTreeSet<NodeId>,
    /// When each agent was heard of last, and which life of it that was.
    heard: BTreeMap<NodeId, (Time, Life)>,
    /// Since when this one is nominated, if it is.
    nominated_since: Time,
    /// Since when this one is ready.
    ready_since: Time,
    /// Which voters do not take the first configuration, and why.
    objections: BTreeMap<NodeId, Objection>,
    actions: Vec<CoordinatorAction>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Stage {
    Idle,
    /// Nominated, but perhaps by itself alone.
    Named,
    Preparing {
        ballot: Ballot,
        promised: Votes,
        /// When what each of those shows was written.
        shown: BTreeMap<NodeId, Option<Stamp>>,
    },
    Configuring {
        ballot: Ballot,
        /// In a box: every stage would have to be as large.
        electorate: Box<Electorate>,
    },
    Ready {
        ballot: Arc<Ballot>,
        electorate: Box<Electorate>,
    },
}

impl Coordinator {
    /// A coordinator that is not nominated yet.
    pub fn new(me: Life, listed: BTreeMap<NodeId, Address>, terms: Terms) -> Self {
        Self {
            me,
            terms,
            listed,
            known: None,
            stage: Stage::Idle,
            round: 0,
            outbids: 0,
            rival: None,
            repeat_at: Time::NEVER,
            tell_at: Time::NEVER,
            contests: BTreeMap::new(),
            attention: BTreeSet::new(),
            busy: BTreeSet::new(),
            repeated: BTreeSet::new(),
            untold: BTreeSet::new(),
            recounted: BTreeSet::new(),
            wanted: Wanted::default(),
            rolls: BTreeMap::new(),
            census: 0,
            census_at: Time::ZERO,
            survey: Survey::default(),
            floor: None,
            below: BTreeSet::new(),
            doubtful: BTreeSet::new(),
            burials: BTreeMap::new(),
            request: None,
            strangers: BTreeSet::new(),
            absent: BTreeSet::new(),
            heard: BTreeMap::new(),
            nominated_since: Time::ZERO,
            ready_since: Time::ZERO,
            objections: BTreeMap::new(),
            actions: Vec::new(),
        }
    }

    /// What is to be done, in order.
    pub fn drain(&mut self) -> Drain<'_, CoordinatorAction> {
        self.actions.drain(..)
    }

    /// Whether it is nominated.
    pub fn is_nominated(&self) -> bool {
        !matches!(self.stage, Stage::Idle)
    }

    /// Whether a majority lets it write.
    pub fn is_ready(&self) -> bool {
        matches!(self.stage, Stage::Ready { .. })
    }

    /// How many have promised its ballot, if it has none yet.
    pub fn promised(&self) -> Option<usize> {
        match &self.stage {
            Stage::Preparing { promised, .. } => Some(promised.len()),
            _ => None,
        }
    }

    /// Which voters do not take the first configuration, and why.
    pub fn objections(&self) -> &BTreeMap<NodeId, Objection> {
        &self.objections
    }

    /// When there is something to repeat.
    pub fn deadline(&self) -> Time {
        if !self.is_nominated() {
            return Time::NEVER;
        }
        let burials = self.burials.values().map(Burial::deadline).min().unwrap_or(Time::NEVER);
        let repeat = if self.awaits_voters() { self.repeat_at } else { Time::NEVER };
        // A coordinator has heartbeats to send, and what it tells goes with one of them.
        repeat.min(self.tell_at + self.terms.retry).min(burials).min(self.sweeps_at())
    }

    /// The node lives on in another incarnation: what it asked for in the one before is void.
    pub fn reborn(&mut self, now: Time, me: Life) {
        self.me = me;
        if self.is_nominated() {
            self.prepare(now);
            self.repeat();
        }
    }

    /// The election names this node, or does not any more.
    pub fn nominate(&mut self, now: Time, nominated: bool) {
        match (nominated, self.is_nominated()) {
            (true, false) => {
                self.nominated_since = now;
                self.forget(now);
                self.stage = Stage::Named;
                self.repeat_at = now + self.terms.retry / NAMED;
                self.ask_if_named(now);
            }
            (false, true) => {
                self.end_ballot();
                self.contests.clear();
                self.rolls.clear();
                self.repeated.clear();
                self.request = None;
            }
            _ => {}
        }
    }

    /// A node can be spoken with, or not any more.
    pub fn reaches(&mut self, now: Time, node: NodeId, reached: bool) {
        if reached {
            self.absent.remove(&node);
            return;
        }
        self.absent.insert(node);
        self.drop_roll(node);
        for name in &self.repeated {
            self.contests.get_mut(name).into_iter().for_each(|contest| contest.gone(node));
        }
        self.go_on(now);
    }

    /// Repeats what was not answered.
    pub fn wake(&mut self, now: Time) {
        if !self.is_nominated() {
            return;
        }
        if self.repeat_at <= now {
            match self.stage {
                Stage::Named => self.prepare(now),
                _ => self.repeat_at = now + self.terms.retry,
            }
            self.repeat();
        }
        if self.tell_at <= now {
            self.tell_at = now + self.terms.period();
            self.forget(now);
            self.tell_again(now);
        }
        self.go_on(now);
    }

    /// A voter answers.
    pub fn heard(&mut self, now: Time, from: NodeId, said: &Said) {
        if let Answer::Outbid { ballot, promised } = &said.answer
            && Some(*ballot) == self.ballot()
        {
            return self.outbid(now, *promised);
        }
        if self.learn(now, said) {
            return;
        }
        if let Answer::Unacceptable { why, .. } = &said.answer {
            self.object(now, from, *why);
        }
        if let Answer::Store { ballot, empty, largest } = &said.answer
            && Some(*ballot) == self.ballot()
        {
            return self.met(now, (from, said.store), *empty, *largest);
        }
        match &mut self.stage {
            Stage::Idle | Stage::Named => {}
            Stage::Preparing { ballot, promised, shown } => {
                if said.answer == (Answer::Promised { ballot: *ballot }) {
                    promised.add(from, said.store);
                    shown.insert(from, said.configuration.as_ref().map(|(stamp, _)| *stamp));
                    self.begin(now);
                }
            }
            Stage::Configuring { electorate, .. } => {
                if electorate.heard(from, said.store, &said.answer) {
                    self.configured(now);
                }
            }
            Stage::Ready { .. } => self.ready_heard(now, from, said),
        }
    }

    /// Keeps the newest configuration that is shown. One that another has written since ends this ballot: whoever counts by an older
    /// one may count too few. Whether it did.
    fn learn(&mut self, now: Time, said: &Said) -> bool {
        let Some((stamp, shown)) = &said.configuration else { return false };
        let known = self.known.as_ref().map(|(stamp, known)| (known.generation(), *stamp));
        if known >= Some((shown.generation(), *stamp)) || shown.is_founding() {
            return false;
        }
        self.known = Some((*stamp, shown.clone()));
        match &self.stage {
            Stage::Idle | Stage::Named => {}
            // Its voters are asked, too.
            Stage::Preparing { .. } => self.repeat(),
            Stage::Configuring { .. } | Stage::Ready { .. } if self.ballot() != Some(stamp.ballot) => {
                self.outbid(now, stamp.ballot);
                return true;
            }
            Stage::Configuring { .. } | Stage::Ready { .. } => {}
        }
        false
    }

    fn wish_change(&mut self, now: Time, from: NodeId, wish: Wish) {
        if let Wish::Change { by, no, since, change } = wish
            && by.node == from
            && self.is_nominated()
        {
            let largest = BTreeMap::new();
            self.requested(now, Request { by, no, since, change, heard: now, until: now, largest });
        }
    }

    /// When there is something to do for a change of the voters.
    fn sweeps_at(&self) -> Time {
        match &self.stage {
            Stage::Ready { electorate, .. } => {
                electorate.sweep.as_ref().map_or(Time::NEVER, |sweep| sweep.deadline())
            }
            _ => Time::NEVER,
        }
    }

    fn ballot(&self) -> Option<Ballot> {
        match &self.stage {
            Stage::Idle | Stage::Named => None,
            Stage::Preparing { ballot, .. } | Stage::Configuring { ballot, .. } => Some(*ballot),
            Stage::Ready { ballot, .. } => Some(**ballot),
        }
    }

    /// What was asked for in this ballot is void. Who waits for what is not.
    fn end_ballot(&mut self) {
        (self.stage, self.rival) = (Stage::Idle, None);
        for contest in self.contests.values_mut() {
            (contest.register, contest.told, contest.deletion) = (None, 0, None);
        }
        self.attention.clear();
        self.busy.clear();
        self.untold.clear();
        self.recounted.clear();
        (self.wanted, self.census, self.survey) = (Wanted::default(), 0, Survey::default());
        self.floor = None;
        (self.below, self.doubtful) = (BTreeSet::new(), BTreeSet::new());
        self.burials.clear();
        self.objections.clear();
    }

    /// One that campaigns here makes way.
    fn ask_if_free(&mut self, now: Time, from: NodeId) {
        if self.rival == Some(from) {
            return self.repeat();
        }
        self.ask_if_named(now);
    }

    /// Asks for a ballot if so many others name this node that nobody else can be named by as many. They may have known of it before
    /// this node did.
    fn ask_if_named(&mut self, now: Time) {
        let since = self.nominated_since - self.terms.retry;
        let names = |voter: &&NodeId| {
            **voter == self.me.node || self.heard.get(*voter).is_some_and(|(heard, _)| *heard >= since)
        };
        let voters = self.voters();
        let is_named = voters.iter().filter(names).count() > voters.len() / 2;
        if self.stage == Stage::Named && is_named {
            self.prepare(now);
            self.repeat();
        }
    }

    /// Takes a ballot above all that were heard of.
    fn prepare(&mut self, now: Time) {
        self.end_ballot();
        self.round += 1;
        let ballot = Ballot { round: self.round, of: self.me };
        self.stage = Stage::Preparing { ballot, promised: Votes::default(), shown: BTreeMap::new() };
        (self.repeat_at, self.tell_at) = (now + self.terms.retry, Time::NEVER);
    }

    /// Another has a later ballot. After a crash several may be nominated for a moment, so whoever is still tries again at once; but
    /// only once, because two that both are would keep each other from everything. One that has since campaigned here has made way: it
    /// takes no further ballot. If it has not yet, it is waited for.
    fn outbid(&mut self, now: Time, promised: Ballot) {
        self.round = self.round.max(promised.round);
        self.outbids += 1;
        let made_way =
            self.heard.get(&promised.of.node).is_some_and(|(heard, _)| *heard >= self.nominated_since);
        self.prepare(now);
        match self.outbids == 1 || made_way {
            true => self.repeat(),
            false => self.rival = Some(promised.of.node),
        }
    }

    /// A voter does not take the configuration. If its disk was lost since it promised, it has another store by now: ask again.
    fn object(&mut self, now: Time, voter: NodeId, why: Objection) {
        let founding =
            matches!(&self.stage, Stage::Configuring { electorate, .. } if electorate.by().is_founding());
        if founding && why == Objection::OtherStore {
            self.prepare(now);
        }
        self.objections.insert(voter, why);
    }

    /// Forgets who has not been heard of for a while.
    fn forget(&mut self, now: Time) {
        let before = now - self.terms.ttl * 2;
        let mut repeated = core::mem::take(&mut self.repeated);
        repeated.retain(|name| {
            let contest = self.contests.get_mut(name);
            contest.is_some_and(|contest| {
                contest.forget(before);
                contest.is_repeated()
            })
        });
        self.repeated = repeated;
        let silent: Vec<NodeId> =
            self.rolls.iter().filter(|(_, roll)| roll.heard < before).map(|(node, _)| *node).collect();
        silent.into_iter().for_each(|node| self.drop_roll(node));
        self.heard.retain(|_, (heard, _)| *heard >= before);
    }

    /// If enough have promised, it is known which configuration counts, or that there is none yet. The newest that any of them shows
    /// counts: a majority of its voters has promised, so none that is later was decided.
    fn begin(&mut self, now: Time) {
        let Stage::Preparing { ballot, promised, shown } = &self.stage else { return };
        let ballot = *ballot;
        match &self.known {
            Some((stamp, newest)) if newest.is_enough(promised) => {
                let agree = who(promised, |voter| shown.get(&voter) == Some(&Some(*stamp)));
                if newest.is_enough(&agree) {
                    let electorate = Electorate::decided(ballot, *stamp, newest.clone());
                    self.ready(now, ballot, Box::new(electorate));
                } else {
                    let electorate = Electorate::again(ballot, newest.clone());
                    self.configure(electorate, ballot);
                }
            }
            Some(_) => self.change(now),
            None => {
                let address = |voter| self.listed.get(&voter).cloned().unwrap_or_default();
                let seats = promised.iter().map(|(voter, store)| (voter, store, address(voter)));
                let founding = Configuration::founding(seats);
                if self.listed.keys().eq(founding.voters.keys()) {
                    self.configure(Electorate::again(ballot, founding), ballot);
                }
            }
        }
    }

    fn configure(&mut self, electorate: Electorate, ballot: Ballot) {
        self.stage = Stage::Configuring { ballot, electorate: Box::new(electorate) };
        self.repeat();
    }

    /// A founding configuration that all have accepted is followed by the first in force.
    fn configured(&mut self, now: Time) {
        let Stage::Configuring { ballot, electorate } = &mut self.stage else { return };
        if electorate.by().is_founding() {
            let founded = electorate.by().founded();
            electorate.write(founded);
            self.objections.clear();
            return self.repeat();
        }
        let (ballot, electorate) = (*ballot, electorate.clone());
        self.ready(now, ballot, electorate);
    }

    fn ready(&mut self, now: Time, ballot: Ballot, electorate: Box<Electorate>) {
        if let Stage::Preparing { promised, .. } = &self.stage {
            let strange = promised.iter().filter(|(voter, store)| !electorate.by().counts(*voter, *store));
            self.strangers = strange.map(|(voter, _)| voter).collect();
        }
        let ballot = Arc::new(ballot);
        self.outbids = 0;
        (self.ready_since, self.tell_at) = (now, now + self.terms.period());
        // What the cluster's own leadership is like is of interest to all.
        self.contests.entry(Name::leader()).or_default();
        self.attention = self.contests.keys().cloned().collect();
        self.floor = Some(Register::read(&ballot, Name::floor()));
        self.stage = Stage::Ready { ballot, electorate };
        self.ask_floor();
        // Whoever has come up again knows what it accepted, and not whether that is decided.
        self.tell_members(None);
        self.go_on(now);
    }

    fn ready_heard(&mut self, now: Time, from: NodeId, said: &Said) {
        let Stage::Ready { electorate, .. } = &mut self.stage else { return };
        let voter = (from, said.store);
        match electorate.by().counts(from, said.store) {
            true => self.strangers.remove(&from),
            false => self.strangers.insert(from),
        };
        if electorate.heard(from, said.store, &said.answer) {
            if !electorate.by().is_settled() {
                self.doubt_all();
            }
            self.tell_members(None);
            self.attention.extend(self.contests.keys().cloned());
            return self.go_on(now);
        }
        let by = electorate.by();
        if let Answer::Holds { name, .. } | Answer::Wrote { name, .. } = &said.answer {
            if *name == Name::floor() {
                return self.floor_heard(now, voter, &said.answer);
            }
            let register = self.contests.get_mut(name).and_then(|contest| contest.register.as_mut());
            if register.is_some_and(|register| register.heard(by, from, said.store, &said.answer)) {
                self.busy.remove(name);
                self.tell(name);
                self.advance(now, name);
                self.give_attention(now);
                self.change(now);
            }
            return;
        }
        let mut turned = false;
        for burial in self.burials.values_mut() {
            turned |= burial.heard(now, by, voter, &said.answer);
        }
        if turned {
            // Two that wait with dead leases would be granted the name in turns, for ever.
            let dead = self.burials.iter().filter(|(_, burial)| burial.is_over()).map(|(lease, _)| *lease);
            let dead: Vec<Lease> = dead.collect();
            dead.into_iter().for_each(|lease| self.died(lease));
            self.go_on(now);
        }
        self.survey_heard(now, voter, &said.answer);
        self.sweep_heard(now, voter, &said.answer);
    }

    /// Whoever waits with that lease, or an earlier one of its node, waits with the next. What it held can be granted.
    fn died(&mut self, lease: Lease) {
        let outlived = |roll: &Roll| roll.lease.age() <= lease.age();
        if self.rolls.get(&lease.life.node).is_some_and(outlived) {
            self.drop_roll(lease.life.node);
        }
        for name in &self.repeated {
            self.contests.get_mut(name).into_iter().for_each(|contest| contest.died(lease));
        }
        self.attention.extend(self.wanted.of_lease(lease));
    }

    /// Does for every name what can be done.
    fn go_on(&mut self, now: Time) {
        let gone: Vec<Life> = self.wanted.lives().filter(|life| self.is_gone(now, *life)).collect();
        gone.into_iter().for_each(|life| self.attention.extend(self.wanted.of_life(life)));
        self.give_attention(now);
        self.bury(now);
        self.change(now);
    }

    fn give_attention(&mut self, now: Time) {
        if self.is_ready() {
            while self.busy.len() < WINDOW
                && let Some(name) = self.attention.pop_first()
            {
                self.advance(now, &name);
            }
        }
    }

    fn advance(&mut self, now: Time, name: &Name) {
        let Stage::Ready { ballot, electorate } = &self.stage else { return };
        let (ballot, is_settled, is_rescued) = (
            Arc::clone(ballot),
            electorate.by().settling == Settling::Done,
            electorate.by().settling == Settling::Rescued,
        );
        self.attention.remove(name);
        self.wanted.forget(name);
        if self.busy.len() >= WINDOW && !self.busy.contains(name) && *name != Name::leader() {
            self.attention.insert(name.clone());
            return;
        }
        let Some(contest) = self.contests.get_mut(name) else { return };
        contest.register.get_or_insert_with(|| Register::read(&ballot, name.clone()));
        if self.ask_if_new(name) {
            return;
        }
        let Some(contest) = self.contests.get(name) else { return };
        // What only voters before the change may know is known to a majority of the others before anything else becomes of it.
        let is_doubtful = self.doubtful.remove(name) || !is_settled;
        if is_doubtful && let Some(content) = contest.uncertain().cloned() {
            return self.write(name, content);
        }
        if is_rescued {
            return;
        }
        if self.floor().is_none() && contest.grant().is_none() {
            self.below.insert(name.clone());
        }
        let (floor, is_free) = (self.floor(), |kind, holder: &Holder| self.is_free(now, kind, holder));
        match contest.step(floor, is_free, |candidate| self.is_valid(candidate)) {
            Step::Write(grant) => self.write(name, Content::Grant(grant)),
            Step::Delete => self.delete(name),
            Step::Keep(why) => self.keep(name, why),
            Step::Free(kind, holder) => {
                self.wanted.add(name, kind, holder.lease);
                if kind == GrantKind::Lease {
                    self.burials.entry(holder.lease).or_insert_with(|| Burial::new(holder.lease, now));
                    self.bury(now);
                }
            }
            Step::Rest => {}
        }
    }

    fn write(&mut self, name: &Name, content: Content) {
        let contest = self.contests.get_mut(name);
        if let Some(register) = contest.and_then(|contest| contest.register.as_mut()) {
            register.write(content);
            self.ask_if_new(name);
        }
    }

    /// Asks for what nobody has answered yet.
    fn ask_if_new(&mut self, name: &Name) -> bool {
        let register = self.contests.get(name).and_then(|contest| contest.register.as_ref());
        match register.and_then(Register::asks) {
            Some((ask, votes)) if votes.is_empty() && self.busy.insert(name.clone()) => {
                self.ask_voters(&ask, &Votes::default());
                true
            }
            _ => false,
        }
    }

    /// Asks about the leases that are in somebody's way, and forgets the others.
    fn bury(&mut self, now: Time) {
        let wanted = &self.wanted;
        self.burials.retain(|lease, _| wanted.is_wanted(*lease));
        let retry = self.terms.retry;
        let asks: Vec<Ask> = self.burials.values_mut().filter_map(|burial| burial.ask(now, retry)).collect();
        asks.iter().for_each(|ask| self.ask_voters(ask, &Votes::default()));
    }
}

fn who(votes: &Votes, does: impl Fn(NodeId) -> bool) -> Votes {
    let mut some = Votes::default();
    votes.iter().filter(|(voter, _)| does(*voter)).for_each(|(voter, store)| some.add(voter, store));
    some
}

#[cfg(test)]
mod tests;
