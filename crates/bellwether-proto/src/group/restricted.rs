//! Restricted operations (Garcia-Molina, section IV.B): what "should not be performed simultaneously by isolated groups".
//!
//! They are performed only in a group that holds a majority of all nodes, "with a two phase commit protocol to ensure that
//! the group still contains a majority of nodes when the operation is actually performed":
//!
//! ```text
//!   coordinator                               member
//!   Perform ──Prepare(op, ballot)──►  in this very group, and free to vote? then to disk, and
//!           ◄──PrepareReply(yes)────
//!   yes of a majority of all nodes, itself included: to disk: COMMITTED
//!           ──Decide(committed)────►  COMMITTED
//!   not in time, or the group is left: nothing is written
//!           ──Decide(aborted)──────►  the vote is forgotten
//! ```
//!
//! **No operation commits twice.** Two ballots that commit the same operation have a voter in common, because both have a
//! majority. A node that voted for one votes for no other before it knows that the first was aborted. Crashes and new groups
//! do not change that: the vote is on disk. And a coordinator that voted for its own ballot decides it before it leaves the
//! group, or never.
//!
//! **A voter in doubt** keeps its vote, carries it into every group that it joins, and asks everybody until somebody knows.
//! These may answer:
//! - "committed": a node that has it on disk as committed by that ballot;
//! - "aborted": a node that has it on disk as committed by another ballot;
//! - "aborted": the ballot's own coordinator, if it has not committed it and never will. It decides only while the attempt
//!   runs, and an attempt ends with its group, and with its coordinator's incarnation: the number of the group has the
//!   incarnation in it. What it has committed, it has on disk, unless that is so long ago that the number is done with;
//! - "forgotten": the ballot's own coordinator, once the number counts as done. Then nobody can tell any more, and the node
//!   that asks counts the number as done, too;
//! - a later Prepare of the same group is an answer, too: it shows that the earlier attempt is over.

use alloc::vec::Vec;
use core::mem;

use super::ledger::{Ballot, OpId, OpState, Outcome};
use super::{Action, Group, GroupEvent, GroupMsg, Phase};
use crate::canonical::Form;
use crate::ident::{GroupId, Incarnation, NodeId};
use crate::time::Time;

/// No coordinator runs more attempts at a time.
const ATTEMPTS_MAX: usize = 16;

/// A voter in doubt asks for the first time after so many T: by then a coordinator that is there has decided.
const FIRST_INQUIRY: u64 = 2;
/// And again after so many.
const NEXT_INQUIRY: u64 = 8;

/// Why a node does not even try to perform an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwilling {
    /// It coordinates no group that is in place and has a number.
    NotCoordinator,
    /// The group holds no majority of all nodes.
    NoMajority,
    /// Another attempt at it is running, or too many are.
    Busy,
    /// The node voted for it in another group, and does not know how that ended.
    InDoubt,
    /// It was committed already.
    Committed,
    /// Its number is so low that it may have been performed.
    DoneWith,
}

impl Unwilling {
    /// All reasons.
    pub const ALL: [Self; 6] =
        [Self::NotCoordinator, Self::NoMajority, Self::Busy, Self::InDoubt, Self::Committed, Self::DoneWith];

    /// The word used in traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotCoordinator => "not-coordinator",
            Self::NoMajority => "no-majority",
            Self::Busy => "busy",
            Self::InDoubt => "in-doubt",
            Self::Committed => "committed",
            Self::DoneWith => "done-with",
        }
    }
}

/// A node's part in restricted operations, as far as it is not on disk.
#[derive(Clone, Debug)]
pub(super) struct Restricted {
    /// How many attempts this incarnation has made.
    attempts: u64,
    running: Vec<Attempt>,
    /// When to ask about operations in doubt; never, if there are none.
    ask_at: Time,
}

/// An attempt of this node, the coordinator, that is not decided.
#[derive(Clone, Debug)]
struct Attempt {
    op: OpId,
    ballot: Ballot,
    asked: Vec<NodeId>,
    yes: Vec<NodeId>,
    no: Vec<NodeId>,
    due: Time,
}

impl Restricted {
    pub(super) fn new(ask_at: Time) -> Self {
        Self { attempts: 0, running: Vec::new(), ask_at }
    }

    pub(super) fn deadline(&self) -> Time {
        self.running.iter().map(|attempt| attempt.due).min().unwrap_or(Time::NEVER).min(self.ask_at)
    }

    pub(super) fn canonical(&self, now: Time, form: &mut Form) {
        form.number(self.attempts);
        form.deadline(now, self.ask_at);
        form.number(self.running.len() as u64);
        for attempt in &self.running {
            form.number(attempt.op.0);
            attempt.ballot.canonical(form);
            form.deadline(now, attempt.due);
            for list in [&attempt.asked, &attempt.yes, &attempt.no] {
                form.nodes(list);
            }
        }
    }

    fn runs(&self, op: OpId, ballot: Ballot) -> Option<usize> {
        self.running.iter().position(|attempt| (attempt.op, attempt.ballot) == (op, ballot))
    }
}

impl Group {
    /// The application wants this performed, here and now.
    pub(crate) fn perform(&mut self, now: Time, op: OpId) {
        match self.may_perform(op) {
            Ok((group, members)) => self.prepare(now, op, group, members),
            Err(why) => self.actions.push(Action::Event(GroupEvent::Declined { op, why })),
        }
    }

    fn may_perform(&self, op: OpId) -> Result<(GroupId, Vec<NodeId>), Unwilling> {
        let Phase::InPlace(formation) = &self.phase else { return Err(Unwilling::NotCoordinator) };
        let group = formation.group.filter(|group| self.is_mine(*group) && formation.leader == self.me);
        let group = group.ok_or(Unwilling::NotCoordinator)?;
        if !self.is_majority(formation.members.len() + 1) {
            return Err(Unwilling::NoMajority);
        }
        let running = &self.restricted.running;
        if running.len() == ATTEMPTS_MAX || running.iter().any(|attempt| attempt.op == op) {
            return Err(Unwilling::Busy);
        }
        match self.kept.ledger.state(op) {
            OpState::Free => Ok((group, formation.members.clone())),
            OpState::InDoubt(_) => Err(Unwilling::InDoubt),
            OpState::Committed => Err(Unwilling::Committed),
            OpState::DoneWith => Err(Unwilling::DoneWith),
        }
    }

    /// The first phase. The coordinator's own vote need not be on disk: it decides the attempt itself, in this
    /// incarnation, or nobody does.
    fn prepare(&mut self, now: Time, op: OpId, group: GroupId, asked: Vec<NodeId>) {
        self.restricted.attempts += 1;
        let ballot = Ballot { group, attempt: self.restricted.attempts };
        for member in &asked {
            self.actions.push(Action::Send(*member, GroupMsg::Prepare(op, ballot)));
        }
        let due = now + self.patience;
        self.restricted.running.push(Attempt { op, ballot, asked, yes: Vec::new(), no: Vec::new(), due });
        self.decide(self.restricted.running.len() - 1);
    }

    /// A member votes yes if and only if it is in that very group, and has no other ballot for the operation in mind.
    pub(super) fn on_prepare(&mut self, now: Time, from: NodeId, op: OpId, ballot: Ballot) {
        let Phase::InPlace(formation) = &self.phase else {
            return self.vote(from, op, ballot, false);
        };
        let in_group = formation.group == Some(ballot.group)
            && formation.leader == from
            && ballot.coordinator() == from
            && from != self.me;
        let ledger = &self.kept.ledger;
        let free = match ledger.state(op) {
            OpState::Free => ledger.has_room(),
            OpState::InDoubt(other) => other.group == ballot.group && other.attempt <= ballot.attempt,
            OpState::Committed | OpState::DoneWith => false,
        };
        let yes = in_group && free;
        if yes && ledger.state(op) != OpState::InDoubt(ballot) {
            self.amend(|kept| kept.ledger.vote(op, ballot));
            self.actions.push(Action::Event(GroupEvent::Voted { op, ballot }));
            self.restricted.ask_at = self.restricted.ask_at.min(now + self.patience * FIRST_INQUIRY);
        }
        self.vote(from, op, ballot, yes);
    }

    fn vote(&mut self, to: NodeId, op: OpId, ballot: Ballot, yes: bool) {
        self.actions.push(Action::Send(to, GroupMsg::PrepareReply { op, ballot, yes }));
    }

    /// A vote that comes when its time is up does not count: the majority that it would be part of may be gone. A machine that
    /// was stopped may find the votes before it finds that it is late.
    pub(super) fn on_prepare_reply(&mut self, now: Time, from: NodeId, op: OpId, ballot: Ballot, yes: bool) {
        let Some(at) = self.restricted.runs(op, ballot) else { return };
        if self.restricted.running[at].due < now {
            self.abort(at);
        } else {
            self.count(at, from, yes);
        }
    }

    /// Counts a vote once, if it was asked for.
    fn count(&mut self, at: usize, voter: NodeId, yes: bool) {
        let attempt = &mut self.restricted.running[at];
        let voted = attempt.yes.contains(&voter) || attempt.no.contains(&voter);
        if !attempt.asked.contains(&voter) || voted {
            return;
        }
        if yes {
            attempt.yes.push(voter)
        } else {
            attempt.no.push(voter)
        }
        self.decide(at);
    }

    /// Ends the attempt if the votes are enough, or cannot be any more.
    fn decide(&mut self, at: usize) {
        let Attempt { asked, yes, no, .. } = &self.restricted.running[at];
        let (for_it, at_most) = (yes.len() + 1, asked.len() - no.len() + 1);
        if self.is_majority(for_it) {
            self.commit(at);
        } else if !self.is_majority(at_most) {
            self.abort(at);
        }
    }

    /// The decision is on disk before anybody hears of it.
    fn commit(&mut self, at: usize) {
        let Attempt { op, ballot, asked, .. } = self.restricted.running.remove(at);
        self.amend(|kept| kept.ledger.commit(op, ballot));
        self.actions.push(Action::Event(GroupEvent::Committed { op, ballot }));
        self.tell(op, ballot, Outcome::Committed, &asked);
    }

    /// Nothing is written: an attempt that is not on disk as committed was aborted.
    fn abort(&mut self, at: usize) {
        let Attempt { op, ballot, asked, .. } = self.restricted.running.remove(at);
        self.actions.push(Action::Event(GroupEvent::Aborted { op, ballot }));
        self.tell(op, ballot, Outcome::Aborted, &asked);
    }

    /// The node leaves its group. Attempts that are not decided will not be.
    pub(super) fn abort_all(&mut self) {
        while !self.restricted.running.is_empty() {
            self.abort(0);
        }
    }

    fn tell(&mut self, op: OpId, ballot: Ballot, outcome: Outcome, members: &[NodeId]) {
        for member in members {
            self.actions.push(Action::Send(*member, GroupMsg::Decide { op, ballot, outcome }));
        }
    }

    /// Somebody who knows says how an attempt ended.
    pub(super) fn on_decide(&mut self, op: OpId, ballot: Ballot, outcome: Outcome) {
        let of_a_member = ballot.coordinator() == self.me || self.peers.contains(&ballot.coordinator());
        if !of_a_member || self.restricted.runs(op, ballot).is_some() {
            return; // Nobody decides that, or nobody but this node.
        }
        match (outcome, self.kept.ledger.state(op)) {
            (Outcome::Committed, OpState::Free | OpState::InDoubt(_)) => {
                self.amend(|kept| kept.ledger.commit(op, ballot));
                self.actions.push(Action::Event(GroupEvent::Committed { op, ballot }));
                self.end_attempts_at(op);
            }
            (Outcome::Aborted, OpState::InDoubt(voted)) if voted == ballot => {
                self.amend(|kept| kept.ledger.abort(op, ballot));
            }
            // Nobody will ever know; and whoever says so never votes for it again, nor does this node from now on.
            (Outcome::Forgotten, OpState::InDoubt(voted)) if voted == ballot => {
                self.amend(|kept| kept.ledger.give_up(op));
            }
            (Outcome::Committed | Outcome::Aborted | Outcome::Forgotten, _) => {}
        }
        self.stop_asking_if_sure();
    }

    /// It was committed by another ballot: this node's own has no chance.
    fn end_attempts_at(&mut self, op: OpId) {
        while let Some(at) = self.restricted.running.iter().position(|attempt| attempt.op == op) {
            self.abort(at);
        }
    }

    pub(super) fn on_inquire(&mut self, from: NodeId, op: OpId, ballot: Ballot) {
        if let Some(outcome) = self.outcome(op, ballot) {
            self.actions.push(Action::Send(from, GroupMsg::Decide { op, ballot, outcome }));
        }
    }

    /// How that attempt ended, if this node can tell.
    fn outcome(&self, op: OpId, ballot: Ballot) -> Option<Outcome> {
        let ledger = &self.kept.ledger;
        ledger.outcome(op, ballot).or_else(|| {
            let over = self.is_over(ballot) && self.restricted.runs(op, ballot).is_none();
            match ledger.state(op) {
                OpState::DoneWith => (ballot.coordinator() == self.me).then_some(Outcome::Forgotten),
                _ => over.then_some(Outcome::Aborted),
            }
        })
    }

    /// Whether this was an attempt of this node, and not one that is still to come.
    fn is_over(&self, ballot: Ballot) -> bool {
        let made = ballot.attempt <= self.restricted.attempts;
        ballot.coordinator() == self.me
            && (self.incarnation_of(ballot) < self.latest.incarnation || (self.is_mine(ballot.group) && made))
    }

    /// Whether the group was formed by this node in this incarnation.
    fn is_mine(&self, group: GroupId) -> bool {
        group.0.node == self.me && group.0.incarnation == self.latest.incarnation
    }

    fn incarnation_of(&self, ballot: Ballot) -> Incarnation {
        ballot.group.0.incarnation
    }

    fn is_majority(&self, nodes: usize) -> bool {
        2 * nodes > self.peers.len() + 1
    }

    /// Gives up attempts that were not answered in time, and asks about operations in doubt.
    pub(super) fn wake_restricted(&mut self, now: Time) {
        while let Some(at) = self.restricted.running.iter().position(|attempt| attempt.due <= now) {
            self.abort(at);
        }
        if self.restricted.ask_at <= now {
            self.restricted.ask_at = now + self.patience * NEXT_INQUIRY;
            self.inquire();
        }
    }

    fn inquire(&mut self) {
        for (op, ballot) in self.kept.ledger.doubts().to_vec() {
            for peer in &self.peers {
                self.actions.push(Action::Send(*peer, GroupMsg::Inquire(op, ballot)));
            }
        }
    }

    fn stop_asking_if_sure(&mut self) {
        if self.kept.ledger.doubts().is_empty() {
            self.restricted.ask_at = Time::NEVER;
        }
    }

    /// A peer is gone: it will not vote.
    pub(super) fn gone_restricted(&mut self, peer: NodeId) {
        let mut at = 0;
        while at < self.restricted.running.len() {
            let before = self.restricted.running.len();
            self.count(at, peer, false);
            at += usize::from(self.restricted.running.len() == before);
        }
    }

    /// Answers the doubts of nodes that join, if this node knows.
    pub(super) fn settle_doubts(&mut self) {
        let pasts = mem::take(&mut self.pasts);
        for (member, (_, past)) in &pasts {
            for (op, ballot) in &past.doubts {
                self.on_inquire(*member, *op, *ballot);
            }
        }
        self.pasts = pasts;
    }
}
