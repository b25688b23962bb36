//! How a coordinator changes the voters: what it is asked for, whom it meets for that, and how the change is settled.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use super::{Coordinator, CoordinatorAction, Stage};
use crate::exclusive::configuration::{Address, Configuration, Votes};
use crate::exclusive::electorate::Electorate;
use crate::exclusive::grant::{Name, Token};
use crate::exclusive::ident::{Life, StoreId};
use crate::exclusive::membership::{MemberChange, NextStep, Unchanged};
use crate::exclusive::message::{Answer, Ask, Asked, Telling};
use crate::exclusive::register::Register;
use crate::exclusive::sweep::Sweep;
use crate::ident::NodeId;
use crate::time::Time;

/// So many ttls a new voter, or one that is said to have survived, has for its answer.
const PATIENCE: u64 = 2;

/// A change that somebody asks for, again and again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Request {
    pub(super) by: Life,
    pub(super) no: u64,
    pub(super) since: u64,
    pub(super) change: MemberChange,
    /// When it was asked for last.
    pub(super) heard: Time,
    /// Until when those who have to answer may.
    pub(super) until: Time,
    /// What the stores of those who have survived hold.
    pub(super) largest: BTreeMap<NodeId, Token>,
}

impl Coordinator {
    /// Who is to be met although it does not vote yet, and where.
    pub fn joining(&self) -> Option<(NodeId, Address)> {
        match self.next_step()? {
            Ok(NextStep::Add(node, address)) => Some((node, address)),
            _ => None,
        }
    }

    /// Somebody wants the voters to change. One change is made at a time.
    pub(super) fn requested(&mut self, now: Time, mut request: Request) {
        let patience = self.terms.ttl * PATIENCE;
        match &mut self.request {
            Some(known) if (known.by, known.no) == (request.by, request.no) => known.heard = now,
            Some(known) if known.heard + patience > now => self.refuse(&request, Unchanged::Unsettled),
            none => {
                request.until = now + patience;
                let rescues = matches!(request.change, MemberChange::Rescue { .. });
                *none = Some(request);
                // Who promised before says nothing about who is there now.
                if rescues && self.ballot().is_some() {
                    self.prepare(now);
                    self.repeat();
                }
            }
        }
        self.change(now);
    }

    /// Does what is next for the change that is asked for, and for the one that is not settled.
    pub(super) fn change(&mut self, now: Time) {
        self.sweep(now);
        // Whoever asks repeats it. One that does not wants it no more.
        let patience = self.terms.ttl * PATIENCE;
        self.request.take_if(|request| request.heard + patience * PATIENCE < now);
        let Some(next) = self.next_step() else { return self.rescue(now) };
        let Some(request) = self.request.clone() else { return };
        match next {
            Err(why) => self.refuse_request(why),
            Ok(NextStep::Done) => {
                self.request = None;
                self.tell_members(Some(request.by.node));
            }
            Ok(NextStep::Settle) => self.tell_members(Some(request.by.node)),
            Ok(NextStep::Remove(node)) => self.propose(|by| by.without(node)),
            Ok(NextStep::Add(node, _)) if request.until <= now => {
                self.refuse_request(Unchanged::Unreachable { node });
            }
            Ok(NextStep::Add(node, _)) => self.ask_store(node),
        }
    }

    /// A store was told of: that of a new voter, or of one that has survived.
    pub(super) fn met(&mut self, now: Time, (voter, store): (NodeId, StoreId), empty: bool, largest: Token) {
        match self.next_step() {
            Some(Ok(NextStep::Add(node, _))) if node == voter && !empty => {
                self.refuse_request(Unchanged::NotEmpty { node });
            }
            Some(Ok(NextStep::Add(node, address))) if node == voter => {
                self.propose(|by| by.with(node, store, address));
            }
            Some(_) => {}
            None => {
                if let Some(request) = &mut self.request {
                    request.largest.insert(voter, largest);
                }
                self.rescue(now);
            }
        }
    }

    /// A voter answered something that may be about the sweep.
    pub(super) fn sweep_heard(&mut self, now: Time, voter: (NodeId, StoreId), answer: &Answer) {
        let Stage::Ready { electorate, .. } = &mut self.stage else { return };
        let by = electorate.by().clone();
        if electorate.sweep.as_mut().is_some_and(|sweep| sweep.heard(now, &by, voter, answer)) {
            self.ask_sweep();
            self.change(now);
        }
    }

    /// Asks again for what the sweep waits for.
    pub(super) fn ask_sweep(&mut self) {
        let Stage::Ready { electorate, .. } = &self.stage else { return };
        let asks = electorate.sweep.iter().flat_map(Sweep::asks).collect::<alloc::vec::Vec<(Ask, Votes)>>();
        asks.iter().for_each(|(ask, votes)| self.ask_voters(ask, votes));
    }

    /// Tells who votes: to one, or to all.
    pub(super) fn tell_members(&mut self, only: Option<NodeId>) {
        let Stage::Ready { electorate, .. } = &self.stage else { return };
        let Some((stamp, in_force)) = electorate.in_force() else { return };
        let telling = Telling::Members { stamp, configuration: in_force.clone() };
        self.actions.push(match only {
            Some(node) => CoordinatorAction::Answer(node, telling),
            None => CoordinatorAction::Tell(telling),
        });
    }

    /// What is next for the change that is asked for; `None` if there is none, or nothing can be said about it now.
    fn next_step(&self) -> Option<Result<NextStep, Unchanged>> {
        let Stage::Ready { electorate, .. } = &self.stage else { return None };
        let (_, in_force) = electorate.in_force()?;
        let request = self.request.as_ref().filter(|request| request.since <= in_force.number)?;
        Some(request.change.next(request.since, in_force))
    }

    fn refuse_request(&mut self, why: Unchanged) {
        if let Some(request) = self.request.take() {
            self.refuse(&request, why);
        }
    }

    fn refuse(&mut self, request: &Request, why: Unchanged) {
        let telling = Telling::Unchanged { to: request.by, no: request.no, why };
        self.actions.push(CoordinatorAction::Answer(request.by.node, telling));
    }

    /// Proposes the next configuration, if a majority of both can be spoken with: nothing else is decided until it is.
    fn propose(&mut self, change: impl FnOnce(&Configuration) -> Configuration) {
        let Stage::Ready { electorate, .. } = &mut self.stage else { return };
        let next = change(electorate.by());
        let (reachable, needed) = next.quorum(|voter| !self.absent.contains(&voter));
        if reachable < needed {
            let (reachable, needed) = (count(reachable), count(needed));
            return self.refuse_request(Unchanged::NoMajority { reachable, needed });
        }
        electorate.write(next);
        self.ask_configuration();
    }

    fn ask_store(&mut self, node: NodeId) {
        if let Some(ballot) = self.ballot() {
            let asked = Asked { by: self.me, ask: Ask::Store { ballot } };
            self.actions.push(CoordinatorAction::Ask(node, asked));
        }
    }

    /// Settles a change, a little at a time.
    fn sweep(&mut self, now: Time) {
        let Stage::Ready { ballot, electorate } = &mut self.stage else { return };
        let (ballot, is_unsettled) =
            (**ballot, electorate.in_force().is_some_and(|(_, by)| !by.is_settled()));
        if is_unsettled && electorate.sweep.is_none() {
            let longest = self.terms.drift.longer(self.terms.longest);
            electorate.sweep = Some(Sweep::new(ballot, now, longest));
            self.ask_sweep();
        }
        self.sweep_names(now);
        let Stage::Ready { electorate, .. } = &mut self.stage else { return };
        let Some(sweep) = &mut electorate.sweep else { return };
        let asks = sweep.buries(now, self.terms.retry);
        if sweep.is_over(now) {
            let settled = electorate.by().settled();
            electorate.write(settled);
            return self.ask_configuration();
        }
        asks.iter().for_each(|ask| self.ask_voters(ask, &Votes::default()));
    }

    /// The voters are others than those by whom names were read and written in this ballot. A voter that has just come knows none of
    /// them: what was certain is not, until a majority of those by now has it, too.
    pub(super) fn doubt_all(&mut self) {
        let registers = self.contests.values_mut().filter_map(|contest| contest.register.as_mut());
        registers.chain(&mut self.floor).for_each(Register::doubt);
    }

    /// Reads what is listed, and forgets what is certain and of no interest to anybody.
    fn sweep_names(&mut self, now: Time) {
        let Stage::Ready { ballot, electorate } = &self.stage else { return };
        let ballot = Arc::clone(ballot);
        let names: alloc::vec::Vec<Name> = electorate.sweep.iter().flat_map(Sweep::names).cloned().collect();
        for name in names {
            if name == Name::floor() {
                self.sweep_floor();
                continue;
            }
            let contest = self.contests.entry(name.clone()).or_default();
            contest.register.get_or_insert_with(|| Register::read(&ballot, name.clone()));
            self.advance(now, &name);
            if !self.contests.get(&name).is_some_and(|contest| contest.is_certain()) {
                continue;
            }
            if name != Name::leader() && self.contests.get(&name).is_some_and(|contest| contest.is_idle()) {
                self.contests.remove(&name);
            }
            let Stage::Ready { electorate, .. } = &mut self.stage else { return };
            if electorate.sweep.as_mut().is_some_and(|sweep| sweep.done(&name)) {
                self.ask_sweep();
            }
        }
    }

    /// The floor is a name like others, and has a register of its own.
    fn sweep_floor(&mut self) {
        let content = self.floor.as_ref().and_then(Register::content);
        let Some((content, decided)) = content.map(|(content, decided)| (content.cloned(), decided)) else {
            return;
        };
        match (content, &mut self.floor) {
            (Some(content), Some(floor)) if decided.is_none() => {
                floor.write(content);
                self.ask_floor();
            }
            _ => {
                let Stage::Ready { electorate, .. } = &mut self.stage else { return };
                if electorate.sweep.as_mut().is_some_and(|sweep| sweep.done(&Name::floor())) {
                    self.ask_sweep();
                }
            }
        }
    }

    /// Those who survived go on alone, if that is asked for, a majority is lost, and all of them are there.
    fn rescue(&mut self, now: Time) {
        let Stage::Preparing { ballot, promised, .. } = &self.stage else { return };
        let Some(Request { change: MemberChange::Rescue { survivors }, until, largest, .. }) = &self.request
        else {
            return;
        };
        let Some((_, newest)) = &self.known else { return };
        let counts = |node: &NodeId| {
            promised.iter().any(|(voter, store)| voter == *node && newest.counts(voter, store))
        };
        let missing = survivors.iter().find(|node| !counts(node));
        match missing {
            Some(node) if *until <= now || !newest.voters.contains_key(node) => {
                let node = *node;
                self.refuse_request(Unchanged::SurvivorMissing { node });
            }
            Some(_) => {}
            // A majority may only be slow.
            None if *until > now => {}
            None if survivors.is_empty() => self.refuse_request(Unchanged::LastVoter),
            None if survivors.iter().all(|node| largest.contains_key(node)) => {
                let largest = largest.values().max().copied().unwrap_or_default();
                let (ballot, rescued) = (*ballot, newest.rescued(survivors, largest));
                self.configure(Electorate::again(ballot, rescued), ballot);
            }
            None => survivors.clone().into_iter().for_each(|node| self.ask_store(node)),
        }
    }
}

fn count(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}
