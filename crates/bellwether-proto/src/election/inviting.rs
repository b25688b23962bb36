//! What Garcia-Molina's Invitation algorithm (1982, Appendix II) and Souto's form of it (2021) have in common: the state
//! vector, and the rules by which groups come about, whatever the messages look like.
//!
//! A coordinator looks for others periodically (Check). The strongest of those that it finds, or it itself, merges their
//! groups. A weaker one waits, the longer the more of them go first, and merges only if nobody else has done so by then. To
//! merge is to found a group with a fresh number and to invite the others to it (Merge). A coordinator that is invited
//! forwards the invitation to its members (Invitation), and all of them accept (Accept). A node that finds its group gone
//! founds one of its own (Recovery).

use alloc::vec::Vec;
use core::cmp::Ordering;
use core::mem;

use super::{Setup, Variant};
use crate::canonical::Form;
use crate::ident::{ElectionId, GroupId, NodeId};
use crate::opinion::{Opinion, Status};
use crate::promise::{Assumption, Promise, Property};
use crate::time::Time;

/// By how many periods of Check a coordinator defers to each that goes first. The paper (theorem A4) asks for two at least:
/// the stronger then has looked around in any case, and has had a period to merge in.
pub(crate) const PERIODS_PER_RANK: u64 = 2;

/// How long a coordinator waits for Accept, in multiples of δ: an invitation, forwarded, and its answer take three, and one
/// is to spare (E-GM8).
pub(crate) const ACCEPT_WAIT: u64 = 4;

/// What both forms promise in the repaired variant: Souto's A4' instead of the paper's A4, which no algorithm can keep
/// (E-GM9).
pub(super) const REPAIRED: &[Promise] = &[
    Promise { property: Property::A3, under: &[] },
    Promise { property: Property::A4Prime, under: &[Assumption::ClocksAgree] },
    Promise { property: Property::GroupOnce, under: &[] },
];

/// The state vector S(i), less d, which is the group layer's.
#[derive(Clone, Debug)]
pub(super) struct Inviter {
    pub(super) setup: Setup,
    /// `S(i).s`
    pub(super) stage: Stage,
    /// `S(i).c`
    pub(super) c: NodeId,
    /// `S(i).g`
    pub(super) g: GroupId,
    /// `S(i).Up`: the nodes that have joined this coordinator. Empty at a member.
    pub(super) up: Vec<NodeId>,
    /// `S(i).counter`: the latest number of a group that this node has founded. The pair of an incarnation and a counter
    /// within it is never used twice, because the incarnation is on disk.
    latest: ElectionId,
    /// When Check is due next; never at those who do not coordinate.
    pub(super) check_due: Time,
    /// `TempSet`: the coordinators that the present Check has found, and how many members each has, if it says so.
    found: Vec<(NodeId, Option<usize>)>,
    /// The nodes that were invited and have not answered yet, and how many members those that accepted said they bring along,
    /// less those that have come. A member may come before it is announced.
    awaited: Vec<NodeId>,
    brought: i64,
    /// The merge that is put off; one at most (E-GM7).
    delayed: Option<Delayed>,
}

/// `S(i).s`, with its two elections told apart: one's own and another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// "Election": founds a group and waits for Accept until then.
    Inviting { until: Time },
    /// "Election": has been invited, and has not yet heard that it is in.
    Joining,
    /// "Reorganization"
    Reorganization,
    /// "Normal"
    Normal,
}

#[derive(Clone, Debug)]
struct Delayed {
    since: Time,
    due: Time,
    with: Vec<NodeId>,
}

impl Inviter {
    pub(super) fn new(setup: Setup) -> Self {
        let me = setup.roster.me();
        let latest = ElectionId { node: me, incarnation: setup.incarnation, seq: 0 };
        Self {
            stage: Stage::Joining,
            c: me,
            g: GroupId(latest),
            up: Vec::new(),
            latest,
            check_due: Time::NEVER,
            found: Vec::new(),
            awaited: Vec::new(),
            brought: 0,
            delayed: None,
            setup,
        }
    }

    pub(super) fn me(&self) -> NodeId {
        self.setup.roster.me()
    }

    pub(super) fn repaired(&self) -> bool {
        self.setup.variant == Variant::Repaired
    }

    /// AreYouCoordinator: whether this node can be invited together with its group.
    pub(super) fn coordinates(&self) -> bool {
        self.stage == Stage::Normal && self.c == self.me()
    }

    /// AreYouThere: whether this node coordinates that group and has that member.
    pub(super) fn has_member(&self, group: GroupId, j: NodeId) -> bool {
        self.c == self.me() && self.g == group && self.up.contains(&j)
    }

    /// CALL STOP, as far as it is about looking for others.
    pub(super) fn stop(&mut self) {
        self.check_due = Time::NEVER;
        self.found.clear();
        self.delayed = None;
    }

    /// Recovery(i): a group of only this node.
    pub(super) fn recover(&mut self) {
        self.stop();
        self.found_group();
        self.stage = Stage::Reorganization;
    }

    /// The node is in normal operation. A coordinator looks for others at once.
    pub(super) fn settle(&mut self, now: Time) {
        self.stage = Stage::Normal;
        if self.coordinates() {
            self.check_due = now;
        }
    }

    /// Check(i) begins.
    pub(super) fn begin_check(&mut self, now: Time) {
        self.found.clear();
        self.check_due = now + self.setup.timing.tau;
    }

    /// The present Check has found a coordinator, of that many members.
    pub(super) fn find(&mut self, j: NodeId, members: Option<usize>) {
        if let Err(at) = self.found.binary_search_by_key(&j, |(j, _)| *j) {
            self.found.insert(at, (j, members));
        }
    }

    /// Whether the present Check has found that coordinator, or the one before, which put the merge off.
    pub(super) fn has_found(&self, j: NodeId) -> bool {
        let put_off = self.delayed.as_ref().is_some_and(|delayed| delayed.with.contains(&j));
        put_off || self.found.iter().any(|(found, _)| *found == j)
    }

    /// A peer says that it is not in the group that this node coordinates.
    pub(super) fn miss(&mut self, j: NodeId) {
        self.up.retain(|member| *member != j);
    }

    /// Whether `j` merges the two groups. The coordinator of the larger group does, so that a node that comes up does not
    /// take over a group at work. Between equals, and always in the printed variant, the stronger does.
    pub(super) fn goes_first(&self, j: NodeId, members: Option<usize>) -> bool {
        let members = members.filter(|_| self.repaired()).unwrap_or(self.up.len());
        match members.cmp(&self.up.len()) {
            Ordering::Equal => self.setup.roster.stronger(j, self.me()),
            unequal => unequal.is_gt(),
        }
    }

    /// Check(i) ends: the coordinators to merge with now, if that is not put off. In the repaired variant a later finding
    /// replaces an earlier one.
    pub(super) fn end_check(&mut self, now: Time) -> Option<Vec<NodeId>> {
        let found = mem::take(&mut self.found);
        if self.delayed.is_some() && !self.repaired() {
            return None;
        }
        let since = self.delayed.take().map_or(now, |delayed| delayed.since);
        let strongest = found.iter().filter_map(|(j, _)| self.setup.roster.rank(*j)).min()?;
        let precede = found.iter().filter(|(j, members)| self.goes_first(*j, *members)).count();
        let ranks = if self.repaired() { precede as u64 } else { self.gap(strongest) };
        let with: Vec<NodeId> = found.into_iter().map(|(j, _)| j).collect();
        let due = since + self.setup.timing.tau * (PERIODS_PER_RANK * ranks);
        if due <= now {
            return Some(with);
        }
        self.delayed = Some(Delayed { since, due, with });
        None
    }

    /// "Wait time proportional to p - i". It differs for any two nodes that find the same coordinators, so that they do
    /// not decline each other's invitations again and again (E-GM9). It does so if each waits for those that go first.
    fn gap(&self, strongest: usize) -> u64 {
        self.setup.roster.my_rank().saturating_sub(strongest) as u64
    }

    /// When the merge that is put off is due.
    pub(super) fn merge_due(&self) -> Time {
        self.delayed.as_ref().map_or(Time::NEVER, |delayed| delayed.due)
    }

    /// The coordinators to merge with, if the merge was put off until now.
    pub(super) fn overdue_merge(&mut self, now: Time) -> Option<Vec<NodeId>> {
        self.delayed.take_if(|delayed| delayed.due <= now).map(|delayed| delayed.with)
    }

    /// Merge(i, CoordinatorSet), up to the wait for Accept: the nodes to invite.
    pub(super) fn merge(&mut self, now: Time, with: Vec<NodeId>) -> Vec<NodeId> {
        self.stop();
        let mut invited = with;
        for member in mem::take(&mut self.up) {
            insert(&mut invited, member);
        }
        self.found_group();
        (self.awaited, self.brought) = (invited.clone(), 0);
        self.stage = Stage::Inviting { until: now + self.setup.timing.delta * ACCEPT_WAIT };
        invited
    }

    /// When the wait for Accept is over.
    pub(super) fn invites_until(&self) -> Time {
        match self.stage {
            Stage::Inviting { until } => until,
            Stage::Joining | Stage::Reorganization | Stage::Normal => Time::NEVER,
        }
    }

    /// Invitation(i, j, gn), up to Accept: the nodes to forward it to, or `None` if it is declined. Repaired: only its own
    /// coordinator takes a member along (E-GM7), and no group is joined twice.
    pub(super) fn join(&mut self, sender: NodeId, group: GroupId) -> Option<Vec<NodeId>> {
        let (me, j) = (self.me(), group.0.node);
        if self.stage != Stage::Normal || j == me || self.setup.roster.rank(j).is_none() {
            return None;
        }
        let poached = self.c != me && self.c != sender;
        if self.repaired() && (poached || self.g == group) {
            return None;
        }
        self.stop();
        let members = mem::take(&mut self.up); // empty unless this node coordinated
        (self.stage, self.c, self.g) = (Stage::Joining, j, group);
        Some(members.into_iter().filter(|k| *k != j).collect())
    }

    /// Accept(i, j, gn): whether it was in time. Its sender has forwarded the invitation to that many.
    pub(super) fn accept(&mut self, j: NodeId, group: GroupId, brings: u32) -> bool {
        if !self.is_inviting() || self.g != group {
            return false;
        }
        if insert(&mut self.up, j) {
            let invited = self.awaited.iter().position(|k| *k == j).map(|at| self.awaited.remove(at));
            self.brought += i64::from(brings) - i64::from(invited.is_none());
        }
        true
    }

    /// A node that was invited to that group declines.
    pub(super) fn expect_no_more(&mut self, j: NodeId, group: GroupId) {
        if self.g == group {
            self.awaited.retain(|k| *k != j);
        }
    }

    /// Whether all have accepted who can be expected to.
    pub(super) fn is_complete(&self) -> bool {
        self.is_inviting() && self.awaited.is_empty() && self.brought <= 0
    }

    fn is_inviting(&self) -> bool {
        matches!(self.stage, Stage::Inviting { .. })
    }

    /// A peer that is gone is not waited for.
    pub(super) fn strike_off(&mut self, j: NodeId) {
        if self.is_inviting() {
            self.up.retain(|k| *k != j);
            self.awaited.retain(|k| *k != j);
        }
    }

    pub(super) fn opinion(&self) -> Opinion {
        let (status, leader) = match self.stage {
            Stage::Inviting { .. } => (Status::Election, None),
            Stage::Joining => (Status::Waiting, None),
            Stage::Reorganization => (Status::Reorganizing, Some(self.c)),
            Stage::Normal => (Status::Normal, Some(self.c)),
        };
        Opinion { status, leader, group: Some(self.g) }
    }

    pub(super) fn canonical(&self, now: Time, form: &mut Form) {
        form.number(match self.stage {
            Stage::Inviting { .. } => 0,
            Stage::Joining => 1,
            Stage::Reorganization => 2,
            Stage::Normal => 3,
        });
        form.deadline(now, self.invites_until());
        form.node(self.c);
        form.election(self.g.0);
        form.election_seq(self.latest);
        form.nodes(&self.up);
        form.deadline(now, self.check_due);
        form.number(self.found.len() as u64);
        for (j, members) in &self.found {
            form.node(*j);
            form.option(*members, |form, members| form.number(members as u64));
        }
        form.nodes(&self.awaited);
        form.number(self.brought.cast_unsigned());
        form.option(self.delayed.as_ref(), |form, delayed| {
            form.deadline(now, delayed.due);
            form.number(delayed.due.since(delayed.since).as_micros());
            form.nodes(&delayed.with);
        });
    }

    /// What must be true of every state.
    pub(super) fn breach(&self) -> Option<&'static str> {
        let (me, normal) = (self.me(), self.stage == Stage::Normal);
        if self.g.0.node != self.c {
            return Some("a group is its coordinator's who numbered it");
        }
        if self.c != me && !self.up.is_empty() {
            return Some("only a coordinator has members");
        }
        if (self.delayed.is_some() || self.check_due != Time::NEVER) && !(normal && self.c == me) {
            return Some("only a coordinator in normal operation looks for others");
        }
        None
    }

    /// A fresh number, and this node its coordinator.
    fn found_group(&mut self) {
        self.latest.seq += 1;
        (self.g, self.c) = (GroupId(self.latest), self.me());
        self.up.clear();
        self.awaited.clear();
    }
}

/// Whether it was not there yet. Sets are in order, so that states with the same sets are the same.
fn insert(set: &mut Vec<NodeId>, node: NodeId) -> bool {
    let place = set.binary_search(&node);
    if let Err(at) = place {
        set.insert(at, node);
    }
    place.is_err()
}
