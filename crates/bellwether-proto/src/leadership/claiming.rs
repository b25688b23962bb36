//! The part of whoever is named: to ask the others, and to lead when they agree.

use alloc::collections::BTreeSet;

use super::{Action, Awaits, Cause, LATEST, Leadership, LeadershipMsg, POLL_PERIODS, Peer, Role};
use crate::ident::NodeId;
use crate::time::Time;

impl Leadership {
    /// Named: ask the others.
    pub(super) fn claim(&mut self, now: Time) {
        self.show(None);
        self.round += 1;
        let silent = self.silent_leader(now);
        let missing: BTreeSet<NodeId> =
            self.connected.ids().copied().filter(|id| Some(*id) != silent).collect();
        let latest = now + self.config.settle * LATEST;
        let (awaits, epoch) = (self.answers(now), self.epochs.next());
        self.role = Role::Claiming { missing, awaits, latest, epoch, keepers: BTreeSet::new() };
        self.answered.clear();
        self.look_for_rivals(now);
        self.go_before_claimants();
        self.tell_all(self.claim_msg());
        // Where nobody else claims, because the last leader or a view chose this node, the disk works while the others answer. A claim
        // that comes to nothing would otherwise use up a number, and make the leader take another.
        let is_chosen = matches!(self.cause, Cause::Resigned(_) | Cause::HandedOver(..));
        if (is_chosen || self.needs_keepers()) && self.bar().is_none() {
            self.set_aside(self.epochs.next());
        }
        self.settle_if_all_agree(now);
    }

    pub(super) fn claim_msg(&self) -> LeadershipMsg {
        LeadershipMsg::Claim { round: self.round, epoch: self.epochs.next() }
    }

    pub(super) fn lead_msg(&self, epoch: u64) -> LeadershipMsg {
        LeadershipMsg::Lead { round: self.round, epoch, followers: self.followers }
    }

    /// Those who have answered since they were asked last.
    fn count_followers(&mut self) {
        self.followers = u32::try_from(self.answered.len()).unwrap_or(u32::MAX);
        self.answered.clear();
    }

    pub(super) fn needs_keepers(&self) -> bool {
        self.config.quorum > 1
    }

    /// Whether that member says that it has the claimed epoch on disk.
    pub(super) fn keeps(&mut self, from: NodeId, round: u64, kept: u64, of: Option<NodeId>) -> bool {
        let (me, needed) = (self.me, self.needs_keepers() && round == self.round);
        match &mut self.role {
            Role::Claiming { epoch, keepers, .. } if needed && kept == *epoch && of == Some(me) => {
                keepers.insert(from);
                true
            }
            _ => false,
        }
    }

    /// A leader that runs speaks every period. A leader that was followed and has been silent for two periods is not
    /// waited for, although its connection is there: its process or its machine is stopped.
    pub(super) fn silent_leader(&self, now: Time) -> Option<NodeId> {
        let Cause::Silent(led) = self.cause else { return None };
        let peer = self.connected.get(led)?;
        self.is_silent(now, peer).then_some(led)
    }

    pub(super) fn is_silent(&self, now: Time, leader: &Peer) -> bool {
        leader.silent_for(now) > self.config.period * 2
    }

    pub(super) fn need_not_answer(&mut self, now: Time, peer: NodeId) {
        if let Role::Claiming { missing, .. } = &mut self.role
            && missing.remove(&peer)
        {
            self.settle_if_all_agree(now);
        }
    }

    pub(super) fn settle_if_all_agree(&mut self, now: Time) {
        let earliest = self.earliest;
        match &mut self.role {
            Role::Claiming { missing, awaits, .. } if missing.is_empty() && now < earliest => {
                *awaits = Awaits::Answers(earliest);
            }
            Role::Claiming { missing, .. } if missing.is_empty() => self.settle(now),
            _ => {}
        }
    }

    /// All that can be reached agree. If one of them is preferred, leadership goes to it before anything is announced. Whoever was
    /// handed leadership keeps it: the leader of before has chosen, or a program.
    pub(super) fn settle(&mut self, now: Time) {
        if self.bar().is_some() {
            return self.await_instead(Awaits::Permission);
        }
        if self.needs_keepers() && !self.is_kept(now) {
            return;
        }
        let is_chosen = matches!(self.cause, Cause::HandedOver(_, to) if to == self.me);
        match self.preferred(now).filter(|_| !is_chosen) {
            Some(to) => {
                // Should nothing come of it, it is time to look again only in a while.
                self.await_instead(self.answers(now));
                self.hand_over(now, to);
            }
            None if self.has_epoch() => self.lead(now),
            // It goes on when the disk has done its work, and then looks again.
            None => {
                if let Role::Claiming { missing, .. } = &mut self.role {
                    missing.clear();
                }
                self.await_instead(Awaits::Disk);
            }
        }
    }

    /// Whether enough members have the claimed epoch on disk. If not, those who have not are asked again: a claim may have been lost. And
    /// whoever has seen that epoch elsewhere claims another.
    pub(super) fn is_kept(&mut self, now: Time) -> bool {
        let (again, msg) = (self.answers(now), self.claim_msg());
        let Role::Claiming { awaits, epoch, keepers, .. } = &mut self.role else { return false };
        if *epoch <= self.epochs.largest() {
            self.claim(now);
            return false;
        }
        if keepers.len() + 1 >= self.config.quorum {
            return true;
        }
        if awaits.deadline() <= now {
            let others = self.connected.ids().filter(|peer| !keepers.contains(peer));
            self.actions.extend(others.map(|peer| Action::Send(*peer, msg)));
        }
        *awaits = again;
        false
    }

    /// The others have their time, from now on.
    fn answers(&self, now: Time) -> Awaits {
        Awaits::Answers(now + self.config.settle)
    }

    fn await_instead(&mut self, what: Awaits) {
        if let Role::Claiming { awaits, .. } = &mut self.role {
            *awaits = what;
        }
    }

    /// Asks the others whether they are there.
    pub(super) fn poll(&mut self, now: Time) {
        let Role::Leading { epoch, poll_due, .. } = &mut self.role else { return };
        *poll_due = now + self.config.period * POLL_PERIODS;
        self.round += 1;
        let epoch = *epoch;
        self.count_followers();
        self.tell_all(self.lead_msg(epoch));
    }

    /// Another has used this leader's epoch, or a larger one: it takes a new one as soon as that is on disk.
    pub(super) fn renew(&mut self, now: Time) {
        if self.needs_keepers() {
            self.cause = Cause::Merged;
            self.cease();
            self.claim(now);
        } else if self.has_epoch() {
            self.cause = Cause::Merged;
            self.lead(now);
        } else if let Role::Leading { poll_due, .. } = &mut self.role {
            *poll_due = now + self.config.period * POLL_PERIODS; // The disk says when it is time.
        }
    }

    /// Whether the next epoch is on disk. If not, it will be.
    pub(super) fn has_epoch(&mut self) -> bool {
        self.set_aside(self.epochs.next());
        self.epochs.may_begin()
    }

    pub(super) fn lead(&mut self, now: Time) {
        if let Cause::HandedOver(from, to) = self.cause
            && from == self.me
        {
            self.cause = Cause::Silent(to); // It has not taken what it was handed.
        }
        let epoch = self.epochs.begin(self.me);
        let poll_due = now + self.config.period * POLL_PERIODS;
        self.role = Role::Leading { epoch, since: now, poll_due, outdone: false };
        self.round += 1;
        self.count_followers();
        self.tell_all(self.lead_msg(epoch));
        self.show(Some((self.me, epoch)));
    }

    /// The member of highest priority, if that is higher than this node's and it may be handed leadership.
    pub(crate) fn preferred(&self, now: Time) -> Option<NodeId> {
        if !self.config.hands_over {
            return None;
        }
        self.connected.preferred(now, self.config.priority, self.patience())
    }

    /// Asks for an epoch to be kept that will most likely begin, here or elsewhere.
    pub(super) fn set_aside(&mut self, epoch: u64) {
        if self.epochs.set_aside(epoch) {
            self.actions.push(Action::Persist);
        }
    }

    /// An epoch that a member has seen counts, however old the question is. A leader whose epoch is not the largest takes a
    /// new one: at once, but at most once a period, whatever somebody claims to have seen.
    pub(super) fn on_epoch_seen(&mut self, now: Time, seen: u64, of: Option<NodeId>) {
        self.epochs.see(seen, of);
        let (largest, period) = (self.epochs.largest(), self.config.period);
        if let Role::Claiming { epoch, .. } = self.role
            && self.needs_keepers()
            && epoch <= largest
        {
            return self.claim(now); // With a larger one.
        }
        let Role::Leading { epoch, since, poll_due, outdone } = &mut self.role else { return };
        if largest > *epoch || seen == *epoch && of.is_some_and(|of| of != self.me) {
            *outdone = true;
            *poll_due = (*poll_due).min(*since + period);
            self.wake(now);
        }
    }

    /// Leadership has been agreed to, or is still.
    pub(super) fn on_follow(&mut self, now: Time, from: NodeId) {
        self.answered.insert(from);
        match self.role {
            Role::Claiming { .. } => self.need_not_answer(now, from),
            Role::Leading { .. } => self.consider_yielding(now),
            Role::Following | Role::Aside => {}
        }
    }

    pub(super) fn consider_yielding(&mut self, now: Time) {
        if let Some(delay) = self.config.preempt
            && let Some(to) = self.preferred(now)
            && self.connected.get(to).is_some_and(|peer| peer.connected_for(now) >= delay)
        {
            self.actions.push(Action::Yield(to));
        }
    }

    /// This node leads or claims no more.
    pub(super) fn cease(&mut self) {
        if let Role::Leading { .. } = self.role {
            self.tell_all(LeadershipMsg::Cede);
        }
        self.rivals.clear();
        if !matches!(self.role, Role::Aside) {
            self.role = Role::Following;
        }
    }
}
