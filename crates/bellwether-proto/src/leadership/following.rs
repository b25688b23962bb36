//! The part of whoever is not named: to agree with another, and to show it when it leads.

use super::{Action, Cause, Leadership, LeadershipMsg, POLL_PERIODS, Peer, Role, Says};
use crate::ident::NodeId;
use crate::time::Time;

impl Leadership {
    pub(super) fn on_claim(&mut self, now: Time, from: NodeId, round: u64, epoch: u64) {
        let says = Says::Claims { round, epoch, agreed: false };
        self.sayings.note(from, says);
        if self.goes_along(from, says) && self.rival_of(now, from).is_none() {
            return self.heed(now, from);
        }
        self.tell_seen(from);
        if let Some(rival) = self.rival_of(now, from) {
            // At first the other is about to give up, most likely.
            let asks_again = self.told.contains_key(&from);
            self.tell_of(rival, from);
            if asks_again {
                self.follow_rival(now);
            }
        }
    }

    pub(super) fn tell_seen(&mut self, to: NodeId) {
        let (epoch, of) = (self.epochs.largest(), self.epochs.of());
        self.actions.push(Action::Send(to, LeadershipMsg::Seen { epoch, of }));
    }

    pub(super) fn on_lead(&mut self, now: Time, from: NodeId, says: Says, epoch: u64) {
        self.sayings.note(from, says);
        self.farewell = self.farewell.filter(|why| why.about() != Some(from));
        // It has taken what it was handed.
        self.connected.decline(from, Time::ZERO);
        self.epochs.hear(epoch, from);
        if matches!(self.role, Role::Aside) {
            self.choose(now, from, epoch);
        }
        if self.goes_along(from, says) {
            self.heed(now, from);
        } else {
            self.look_at(now, from);
            if let Some(rival) = self.rival_of(now, from) {
                self.tell_of(rival, from);
            }
        }
        self.keep_epoch();
    }

    /// A member that is aside has no election that says whom to follow. It follows the latest leader that it has heard of,
    /// for as long as that leader speaks.
    pub(super) fn choose(&mut self, now: Time, leader: NodeId, epoch: u64) {
        let speaks = |peer: &Peer| peer.silent_for(now) <= self.config.period * POLL_PERIODS * 2;
        if self.epochs.is_latest(leader, epoch) {
            self.named = Some(leader);
        } else if let Some(silent) =
            self.named.filter(|named| !self.connected.get(*named).is_some_and(speaks))
        {
            self.named = None;
            self.cause = Cause::Silent(silent);
            self.show(None);
        }
    }

    /// Asks for the largest epoch to be kept, wherever it was heard of, unless it is.
    pub(super) fn keep_epoch(&mut self) {
        if self.epochs.keep() {
            self.actions.push(Action::Persist);
        }
    }

    pub(super) fn on_cede(&mut self, from: NodeId) {
        self.sayings.forget(from);
        self.rivals.leads_no_more(from);
        if self.shown.is_some_and(|(leader, _)| leader == from) {
            self.changes_because(Cause::Outranked(from));
            if matches!(self.role, Role::Aside) {
                self.named = None;
            }
            self.show(None);
        }
    }

    /// Whether this node agrees with what that member says of itself. A node that is aside agrees to every claim, but
    /// follows only one leader: if it told each of two leaders the other's epoch, both would go on outdoing each other.
    pub(super) fn goes_along(&self, who: NodeId, says: Says) -> bool {
        match (&self.role, says) {
            (Role::Aside, Says::Claims { .. }) => true,
            (Role::Aside, Says::Leads { .. }) => self.named.is_none_or(|named| named == who),
            // Whom its election names is told that another leads: that one is followed for as long.
            (Role::Following, Says::Leads { .. }) => self.followed() == Some(who),
            (Role::Following, Says::Claims { .. }) => self.named == Some(who),
            (Role::Claiming { .. } | Role::Leading { .. }, _) => false,
        }
    }

    /// Shows what that member says of itself, and answers it, if this node goes along with that.
    pub(super) fn heed(&mut self, now: Time, who: NodeId) {
        let Some(says) = self.sayings.of(who).filter(|says| self.goes_along(who, *says)) else { return };
        let rival = self.rival_of(now, who);
        let round = match says {
            Says::Claims { .. } if let Some(rival) = rival => return self.tell_of(rival, who),
            // It answers when its disk has done its work.
            Says::Claims { epoch, .. } if !self.may_agree(who, epoch) => return,
            Says::Claims { round, .. } => {
                if self.shown.is_some_and(|(leader, _)| leader == who) {
                    self.changes_because(Cause::Outranked(who)); // It leads no more; that it said so is lost, or late.
                }
                if self.named == Some(who) {
                    self.show(None);
                }
                round
            }
            Says::Leads { round, epoch, .. } => {
                self.show_leader(who, epoch);
                if let Some(rival) = rival {
                    return self.tell_of(rival, who);
                }
                round
            }
        };
        self.sayings.agree(who);
        let priority = if matches!(self.role, Role::Aside) { 0 } else { self.config.priority };
        let (epoch, of, count) = (self.epochs.largest(), self.epochs.of(), self.count);
        self.actions.push(Action::Send(who, LeadershipMsg::Follow { round, epoch, of, priority, count }));
    }

    /// Has the epoch that a member claims on disk. If a majority must have it, that comes before the answer. Should another have used
    /// it, the answer tells of that.
    pub(super) fn may_agree(&mut self, who: NodeId, epoch: u64) -> bool {
        if !self.needs_keepers() {
            self.set_aside(epoch);
            return true;
        }
        if epoch > self.epochs.largest() {
            self.epochs.see(epoch, Some(who));
        }
        self.keep_epoch();
        self.epochs.on_disk() >= self.epochs.largest()
    }

    /// Shows that leader, as soon as its epoch is on disk. An epoch that is behind will be taken back when its leader hears of ours.
    pub(super) fn show_leader(&mut self, who: NodeId, epoch: u64) {
        if !self.epochs.is_latest(who, epoch) {
            if self.shown.is_some_and(|(leader, _)| leader == who) {
                self.cause = Cause::Merged;
                self.show(None);
            } else if self.named == Some(who) {
                self.show(None);
            }
            return;
        }
        self.keep_epoch();
        if self.epochs.on_disk() < epoch {
            return;
        }
        if self.shown.is_some_and(|(leader, before)| leader == who && before != epoch) {
            self.cause = Cause::Merged; // A leader that did not cease has no other reason for a new epoch.
        }
        self.show(Some((who, epoch)));
    }

    /// The disk has done its work: whatever waited for that is answered or shown now.
    pub(super) fn catch_up(&mut self, now: Time) {
        for (who, says) in self.sayings.all() {
            match says {
                Says::Claims { agreed: false, .. } => self.heed(now, who),
                Says::Leads { epoch, .. } if self.goes_along(who, says) => self.show_leader(who, epoch),
                _ => {}
            }
        }
    }

    /// Another is named, or nobody.
    pub(super) fn follow(&mut self, now: Time) {
        if let Some(named) = self.named {
            self.heed(now, named);
        }
        if self.shown.is_some_and(|(leader, _)| Some(leader) != self.followed()) {
            self.show(None);
        }
        self.follow_rival(now);
    }
}
