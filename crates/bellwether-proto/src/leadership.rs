//! From "my election names me" to "I lead": what an application may rely on.
//!
//! An election algorithm may name somebody for a moment: after a crash each of several survivors may name itself until it
//! hears of the others. The application hears nothing of that. A node that its own election names asks the members that it
//! is connected with. Each answers once its own election names the same node. When all have answered, or the others have
//! had their time, the leadership is settled, gets its epoch, and is announced.
//!
//! ```text
//!   named    ──Claim(round, epoch)───────► connected members
//!            ◄─Follow(round, epoch seen)── each, when it names the same node
//!   settled  ──Lead(round, epoch)────────► connected members: they announce it, too
//!            ◄─Follow(round, …)─────────── every ten periods: who is there, and has anybody seen a higher epoch
//! ```
//!
//! **Epochs.** An announcement carries the largest epoch that the leader or anybody who answered has seen, plus one, and is
//! on stable storage before it is told. So within a group that stays connected every leadership has a larger epoch than the
//! one before it. Groups that cannot reach each other count on their own: two leaders may carry the same epoch, and only
//! (epoch, node, incarnation) is unique. When such groups meet, the leader that stays takes a new epoch above both.
//!
//! A member shows a leader when it has the epoch on disk, so whatever crashes, it never shows another with that epoch or a smaller
//! one. A claim names the epoch that it will most likely have, so that the disks of those who agree work in the meantime.
//!
//! Where only a majority may have a leader, whoever agrees to a claim has its epoch on disk first. Two majorities have a member in
//! common, and no member agrees to an epoch that is not above all that it has seen. So no epoch is used twice there, and a later
//! leadership has a larger one, whatever crashes.
//!
//! A member that answers follows; it does not vote. Nothing here makes leadership exclusive: of two leaderships the earlier
//! may not know yet that it is over.

mod bar;
mod claiming;
mod epochs;
mod following;
mod form;
mod message;
mod office;
mod peers;
mod reluctance;
mod rivals;
mod sayings;
#[cfg(test)]
mod tests;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::{Drain, Vec};

use crate::ident::{Incarnation, NodeId};
use crate::spec::Spec;
use crate::time::{Span, Time, Timing};

pub use crate::cause::Cause;
pub use bar::{Bar, Reception};
use epochs::Epochs;
pub use message::{KINDS, LeadershipMsg};
pub(crate) use office::Office;
use peers::{Peer, Peers};
pub use reluctance::Reluctance;
use rivals::{Rival, Rivals};
use sayings::{Sayings, Says};

/// The leader asks its followers whether they are there every so many periods.
const POLL_PERIODS: u64 = 10;

/// A member that was handed leadership and did not take it is not tried again for so many settling times.
const DECLINED: u64 = 50;

/// Members that are connected while a claim is made put off what becomes of it, by so many settling times at most.
const LATEST: u64 = 4;

/// How a node turns being named into leading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeadershipConfig {
    /// The leader's period, τ.
    pub period: Span,
    /// How long a connected member may take to agree, before leadership is announced without it.
    pub settle: Span,
    /// How long a node that comes up may take to be connected with those that are there.
    pub meet: Span,
    /// The highest is preferred.
    pub priority: u32,
    /// Whether a leader gives way to a member of higher priority that has been there for so long.
    pub preempt: Option<Span>,
    /// Whether the algorithm can hand over.
    pub hands_over: bool,
    /// How many peers must be connected before this node leads, while it has never heard of an epoch.
    pub min_peers: usize,
    /// The largest epoch seen, as stable storage holds it.
    pub epoch: u64,
    /// On how many disks, its own among them, an epoch must be before it is told. With a majority of all members, no epoch is
    /// ever used twice, whatever crashes.
    pub quorum: usize,
}

impl LeadershipConfig {
    /// How long a connected member may take to agree, with that algorithm. With most, members agree as soon as they have
    /// heard of the leader, so a round trip is enough. Where leaders must find each other first, they ask around, once a period,
    /// and then hold another election, or invite and hand out tasks. Without waiting for that, each survivor of a silent leader
    /// would be announced by itself. With views, all have agreed when there is one.
    pub fn settle(spec: &Spec, timing: &Timing) -> Span {
        let find_each_other = spec.merges() || spec.asks_around();
        if find_each_other { timing.tau * 2 + timing.delta * 10 } else { timing.delta * 2 }
    }
}

/// The settled leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// The leader, or nobody.
    pub leader: Option<NodeId>,
    /// The number of this leadership, or of the one that ended.
    pub epoch: u64,
    /// Why it changed.
    pub cause: Cause,
}

/// What the layer asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Send(NodeId, LeadershipMsg),
    /// The epoch has grown: have it on stable storage before what follows.
    Persist,
    Announce(Announcement),
    /// The leader should release its work and hand over to that member.
    Yield(NodeId),
    /// The election is to hand over to that member.
    HandOver(NodeId),
}

#[derive(Clone, Debug)]
pub(crate) struct Leadership {
    me: NodeId,
    config: LeadershipConfig,
    epochs: Epochs,
    /// A node that has just come up may not have met the others yet: it does not lead before this, unless it has followed
    /// somebody.
    earliest: Time,
    /// Members that can be spoken with.
    connected: Peers,
    reception: Reception,
    sayings: Sayings,
    rivals: Rivals,
    /// Who was told last that another leads, and who.
    told: BTreeMap<NodeId, Rival>,
    /// How many followed this node when it asked last, and who has answered since.
    followers: u32,
    answered: BTreeSet<NodeId>,
    /// How often this node has been suspected.
    count: u64,
    /// The node that the election names.
    named: Option<NodeId>,
    role: Role,
    /// Counts the claims. The upper half is of this node's incarnation, so that what answers a claim of an earlier one
    /// is void.
    round: u64,
    /// The leader that was announced last, while it lasts.
    shown: Option<(NodeId, u64)>,
    /// Why nobody, or this one, leads.
    cause: Cause,
    /// Why the previous leader went, as it said itself.
    farewell: Option<Cause>,
    actions: Vec<Action>,
}

#[derive(Clone, Debug)]
enum Role {
    /// Another is named, or nobody.
    Following,
    /// Named, and asking the others.
    Claiming {
        /// Who has not answered.
        missing: BTreeSet<NodeId>,
        awaits: Awaits,
        /// Whoever is connected meanwhile is given its time, too, but not beyond this.
        latest: Time,
        /// The epoch that it asks others to keep.
        epoch: u64,
        /// Who has it on disk.
        keepers: BTreeSet<NodeId>,
    },
    Leading {
        epoch: u64,
        since: Time,
        /// When to ask the others again, or to take a new epoch.
        poll_due: Time,
        /// A larger epoch has been seen, or this one as another's.
        outdone: bool,
    },
    /// Does not stand; follows the leader.
    Aside,
}

/// What a claim waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaits {
    /// The others, until they have had their time.
    Answers(Time),
    /// The disk. When that has done its work, the node looks again whether it may lead.
    Disk,
    /// That the node may lead: it is barred.
    Permission,
}

impl Awaits {
    fn deadline(self) -> Time {
        match self {
            Self::Answers(until) => until,
            Self::Disk | Self::Permission => Time::NEVER,
        }
    }
}

impl Leadership {
    pub(crate) fn new(me: NodeId, incarnation: Incarnation, config: LeadershipConfig, now: Time) -> Self {
        Self {
            me,
            epochs: Epochs::new(config.epoch),
            earliest: now + config.meet,
            config,
            connected: Peers::default(),
            reception: Reception::default(),
            sayings: Sayings::default(),
            rivals: Rivals::default(),
            told: BTreeMap::new(),
            followers: 0,
            answered: BTreeSet::new(),
            count: 0,
            named: None,
            role: Role::Following,
            round: incarnation.0 << 32,
            shown: None,
            cause: Cause::Started,
            farewell: None,
            actions: Vec::new(),
        }
    }

    /// The epoch that stable storage must hold: no later leadership of this node may carry it or a smaller one.
    pub(crate) fn epoch_to_keep(&self) -> u64 {
        self.epochs.kept()
    }

    /// What is asked to be kept is on stable storage only when [`Leadership::written`] says so.
    pub(crate) fn write_behind(&mut self) {
        self.epochs.write_behind();
    }

    /// Stable storage holds that epoch. Much can have happened since it was asked for, so this node looks again whether it
    /// may lead.
    pub(crate) fn written(&mut self, now: Time, epoch: u64) {
        self.epochs.written(epoch);
        match &self.role {
            Role::Following | Role::Aside => self.catch_up(now),
            Role::Claiming { awaits: Awaits::Disk, .. } => self.settle(now),
            Role::Leading { outdone: true, since, .. } if *since + self.config.period <= now => {
                self.renew(now)
            }
            _ => {}
        }
    }

    /// What is to be done, in order.
    pub(crate) fn drain(&mut self) -> Drain<'_, Action> {
        self.actions.drain(..)
    }

    pub(crate) fn deadline(&self) -> Time {
        match &self.role {
            Role::Following | Role::Aside => Time::NEVER,
            Role::Claiming { awaits: Awaits::Permission, .. } => self.rivals.ask_at(),
            Role::Claiming { awaits, .. } => awaits.deadline(),
            Role::Leading { poll_due, .. } => {
                self.rivals.lasts_at(self.myself(), self.grace()).min(*poll_due)
            }
        }
    }

    /// Whether leadership could be handed to that member now.
    pub(crate) fn may_hand_over(&self, now: Time, to: NodeId) -> Result<(), Reluctance> {
        match self.role {
            Role::Leading { .. } => {}
            _ => return Err(Reluctance::NotLeading),
        }
        if !self.config.hands_over {
            return Err(Reluctance::Algorithm);
        }
        if to == self.me {
            return Err(Reluctance::LeadsAlready);
        }
        self.connected.may_lead(now, to, self.patience())
    }

    /// Members are asked every so often whether they are there, and one answer may be late.
    fn patience(&self) -> Span {
        self.config.period * (POLL_PERIODS + POLL_PERIODS / 2)
    }

    /// Whether this node does not stand.
    pub(crate) fn is_aside(&self) -> bool {
        matches!(self.role, Role::Aside)
    }

    /// Whether it would lead if its disk had done its work.
    pub(crate) fn awaits_disk(&self) -> bool {
        matches!(self.role, Role::Claiming { awaits: Awaits::Disk, .. })
    }

    /// Whether it leads.
    pub(crate) fn is_leading(&self) -> bool {
        matches!(self.role, Role::Leading { .. })
    }

    /// The node has been suspected so often.
    pub(crate) fn suspected(&mut self, count: u64) {
        self.count = count;
    }

    /// The election names another than before.
    pub(crate) fn name(&mut self, now: Time, named: Option<NodeId>, cause: Cause) {
        if matches!(self.role, Role::Aside) {
            return; // What an election that is not taken part in names means nothing.
        }
        let before = core::mem::replace(&mut self.named, named).filter(|led| Some(*led) != named);
        if let Some(led) = before {
            self.give_up(now, led);
        }
        // One that ceded has not said why. The election does when it gives it up.
        let ceded = self.shown.is_none() && before.is_some_and(|led| self.cause == Cause::Outranked(led));
        if ceded || self.shown.is_some_and(|(leader, _)| Some(leader) != named) {
            self.changes_because(cause);
        }
        if named == Some(self.me) {
            if matches!(self.role, Role::Following) {
                self.claim(now);
            }
            return;
        }
        self.cease();
        self.follow(now);
    }

    /// The member resigned: it does not stand, and follows the leader.
    pub(crate) fn stand_aside(&mut self, now: Time) {
        if self.shown.is_some_and(|(leader, _)| leader == self.me) {
            self.cause = Cause::Resigned(self.me);
        }
        let next = self.successor(now);
        self.tell_all(LeadershipMsg::Aside { next });
        self.role = Role::Aside;
        self.rivals.clear();
        // Whom it followed it follows still.
        self.named = self.shown.map(|(leader, _)| leader).filter(|leader| *leader != self.me);
        self.follow(now);
        // Whoever waits for its answer can have it now.
        self.sayings.claimants().into_iter().for_each(|who| self.heed(now, who));
    }

    /// A leader that goes knows best who is next: the others need not find out.
    fn successor(&self, now: Time) -> Option<NodeId> {
        let may_tell = self.config.hands_over && matches!(self.role, Role::Leading { .. });
        may_tell.then(|| self.connected.successor(now, self.patience())).flatten()
    }

    /// It stands again.
    pub(crate) fn stand(&mut self) {
        self.role = Role::Following;
        self.named = None;
    }

    /// Tells the others of a new incarnation in the same process: its connections stay, so nothing else tells them.
    /// Without this, they would learn of the incarnation in the middle of electing it.
    pub(crate) fn introduce(&mut self) {
        self.tell_all(LeadershipMsg::Cede);
    }

    /// Leadership goes to that member: the others are told before the election acts.
    pub(crate) fn hand_over(&mut self, now: Time, to: NodeId) {
        self.connected.decline(to, now + self.config.settle * DECLINED);
        // If it led before, that is over: it leads when it says so again.
        if let Some(Says::Leads { .. }) = self.sayings.of(to) {
            self.sayings.forget(to);
        }
        self.tell_all(LeadershipMsg::HandOver { to });
        self.actions.push(Action::HandOver(to));
    }

    /// A connection to that member came about.
    pub(crate) fn connect(&mut self, now: Time, peer: NodeId) {
        if !self.connected.connect(now, peer) {
            return; // Nobody has so many; one more voice can wait.
        }
        match &mut self.role {
            Role::Claiming { missing, awaits, latest, .. } => {
                missing.insert(peer);
                let its = now + self.config.settle;
                *awaits = match *awaits {
                    Awaits::Answers(until) => Awaits::Answers(its.min(*latest).max(until)),
                    Awaits::Disk => Awaits::Answers(its),
                    Awaits::Permission => Awaits::Permission, // It claims anew when it has that.
                };
                let msg = self.claim_msg();
                self.actions.push(Action::Send(peer, msg));
            }
            Role::Leading { epoch, .. } => {
                let epoch = *epoch;
                let msg = self.lead_msg(epoch);
                self.actions.push(Action::Send(peer, msg));
            }
            Role::Aside => {
                self.actions.push(Action::Send(peer, LeadershipMsg::Aside { next: None }));
                self.heed(now, peer);
            }
            Role::Following => self.heed(now, peer),
        }
    }

    /// It ended.
    pub(crate) fn disconnect(&mut self, now: Time, peer: NodeId) {
        self.connected.disconnect(peer);
        self.told.remove(&peer);
        self.rivals.withdraw(peer);
        if let Some(Says::Claims { agreed: true, epoch, .. }) = self.sayings.forget(peer) {
            // It may have led, and ended before it could tell: that epoch is used.
            self.epochs.see(epoch.max(self.epochs.next()), Some(peer));
        }
        self.need_not_answer(now, peer);
        if matches!(self.role, Role::Aside) && self.named == Some(peer) {
            self.named = None;
            self.cause = Cause::Gone(peer);
            self.follow(now);
        }
    }

    /// Its process has ended, as far as its connection tells: if it led, it leads no more, whatever the election makes of it.
    pub(crate) fn gone(&mut self, now: Time, peer: NodeId) {
        self.disconnect(now, peer);
        if self.shown.is_some_and(|(leader, _)| leader == peer) {
            self.cause = Cause::Gone(peer);
            self.show(None);
        }
    }

    /// That member began another incarnation: what it said in the one before is void.
    pub(crate) fn forget(&mut self, peer: NodeId) {
        self.sayings.forget(peer);
        self.told.remove(&peer);
        self.rivals.withdraw(peer);
        self.connected.new_incarnation(peer);
    }

    /// Any frame of that member came.
    pub(crate) fn heard(&mut self, now: Time, peer: NodeId) {
        self.connected.heard(now, peer);
    }

    /// A message of this layer came. Those that change the election are the node's to carry out.
    pub(crate) fn handle(&mut self, now: Time, from: NodeId, msg: LeadershipMsg) {
        match msg {
            LeadershipMsg::Claim { epoch, .. }
            | LeadershipMsg::Lead { epoch, .. }
            | LeadershipMsg::Follow { epoch, .. }
            | LeadershipMsg::Seen { epoch, .. }
                if !self.epochs.may_reach(epoch) => {}
            LeadershipMsg::Claim { round, epoch } => self.on_claim(now, from, round, epoch),
            LeadershipMsg::Lead { round, epoch, followers } => {
                self.on_lead(now, from, Says::Leads { round, epoch, followers, at: now }, epoch);
            }
            LeadershipMsg::Follow { round, epoch, of, priority, count } => {
                self.rivals.withdraw(from);
                self.no_longer_claims(from);
                if !self.keeps(from, round, epoch, of) {
                    self.on_epoch_seen(now, epoch, of);
                }
                if round == self.round {
                    self.connected.rate(from, priority, count);
                    self.on_follow(now, from);
                }
            }
            LeadershipMsg::Cede => self.on_cede(from),
            LeadershipMsg::Aside { .. } => {
                self.explain(from, Cause::Resigned(from));
                self.connected.stands_aside(from);
                self.on_cede(from);
            }
            LeadershipMsg::HandOver { to } => self.explain(from, Cause::HandedOver(from, to)),
            LeadershipMsg::Seen { epoch, of } => self.on_epoch_seen(now, epoch, of),
            LeadershipMsg::Elsewhere { leader, followers } => {
                self.on_rival(now, from, Rival { leader, followers });
            }
        }
    }

    /// A leader says why it goes. What follows from that may show before, or much later.
    fn explain(&mut self, who: NodeId, why: Cause) {
        self.farewell = Some(why);
        if self.cause == Cause::Outranked(who) {
            self.cause = why;
        }
    }

    /// The election says what made it change. This layer may know the reason behind that: the leader said why it goes, or its
    /// connection ended.
    fn changes_because(&mut self, cause: Cause) {
        self.cause = match (cause, self.farewell) {
            (Cause::Outranked(who) | Cause::Silent(who), Some(why)) if why.about() == Some(who) => why,
            (Cause::Silent(who), _) if who != self.me && self.connected.get(who).is_none() => {
                Cause::Gone(who)
            }
            _ => cause,
        };
    }

    pub(crate) fn wake(&mut self, now: Time) {
        match &mut self.role {
            Role::Claiming { awaits: Awaits::Permission, .. } if self.rivals.ask_at() <= now => {
                self.claim(now)
            }
            Role::Claiming { awaits, .. } if awaits.deadline() <= now => self.settle(now),
            Role::Leading { poll_due, outdone: true, .. } if *poll_due <= now => self.renew(now),
            Role::Leading { poll_due, .. } if *poll_due <= now => self.poll(now),
            _ => {}
        }
    }

    /// This node did not run for so long that the others have given it up. It may lead once they agree again; if it settled
    /// what it had begun, or went on as if nothing had happened, it would lead beside the present leader.
    pub(crate) fn overslept(&mut self, now: Time) {
        match self.role {
            Role::Claiming { .. } => {}
            Role::Leading { .. } => self.cause = Cause::Silent(self.me),
            Role::Following | Role::Aside => return,
        }
        self.cease();
        self.claim(now);
    }

    fn show(&mut self, leader: Option<(NodeId, u64)>) {
        let before = core::mem::replace(&mut self.shown, leader);
        if before == leader {
            return;
        }
        if leader.is_some() {
            self.sayings.settled();
            self.earliest = Time::ZERO; // It has met the others.
        }
        let epoch = leader.or(before).map_or(self.epochs.largest(), |(_, epoch)| epoch);
        let leader = leader.map(|(id, _)| id);
        self.actions.push(Action::Announce(Announcement { leader, epoch, cause: self.cause }));
    }

    fn tell_all(&mut self, msg: LeadershipMsg) {
        self.actions.extend(self.connected.ids().map(|peer| Action::Send(*peer, msg)));
    }
}
