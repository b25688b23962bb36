//! What the sessions of each agent want, as far as its coordinator knows, and whom it is in the way of.

use alloc::collections::{BTreeMap, BTreeSet};

use super::{Coordinator, CoordinatorAction};
use crate::exclusive::burial::Burial;
use crate::exclusive::campaigns::{OWN, mark};
use crate::exclusive::contest::Candidate;
use crate::exclusive::grant::{GrantKind, Holder, Name};
use crate::exclusive::ident::{Lease, Life};
use crate::exclusive::message::{Telling, Wish};
use crate::ident::NodeId;
use crate::time::Time;

/// What the sessions of one agent want. They say it once; then the agent says that it is there, and what it all adds up to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Roll {
    pub(super) lease: Lease,
    valid: bool,
    pub(super) heard: Time,
    /// What each said, and what it adds up to.
    said: BTreeMap<(Name, u64), u64>,
    digest: u64,
    /// When it was asked to say all of it again.
    asked: Option<Time>,
}

/// What is held, and in whose way the holder is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Wanted {
    of: BTreeMap<Name, (GrantKind, Lease)>,
    leases: BTreeMap<Lease, BTreeSet<Name>>,
    lives: BTreeMap<Life, BTreeSet<Name>>,
}

impl Wanted {
    pub(super) fn add(&mut self, name: &Name, kind: GrantKind, lease: Lease) {
        self.forget(name);
        self.of.insert(name.clone(), (kind, lease));
        match kind {
            GrantKind::Lease => self.leases.entry(lease).or_default().insert(name.clone()),
            GrantKind::Token => self.lives.entry(lease.life).or_default().insert(name.clone()),
        };
    }

    pub(super) fn forget(&mut self, name: &Name) {
        match self.of.remove(name) {
            Some((GrantKind::Lease, lease)) => remove(&mut self.leases, lease, name),
            Some((GrantKind::Token, lease)) => remove(&mut self.lives, lease.life, name),
            None => {}
        }
    }

    pub(super) fn is_wanted(&self, lease: Lease) -> bool {
        self.leases.contains_key(&lease)
    }

    pub(super) fn lives(&self) -> impl Iterator<Item = Life> {
        self.lives.keys().copied()
    }

    pub(super) fn of_lease(&self, lease: Lease) -> BTreeSet<Name> {
        self.leases.get(&lease).cloned().unwrap_or_default()
    }

    pub(super) fn of_life(&self, life: Life) -> BTreeSet<Name> {
        self.lives.get(&life).cloned().unwrap_or_default()
    }
}

fn remove<K: Ord + Copy>(map: &mut BTreeMap<K, BTreeSet<Name>>, key: K, name: &Name) {
    if let Some(names) = map.get_mut(&key) {
        names.remove(name);
        if names.is_empty() {
            map.remove(&key);
        }
    }
}

impl Coordinator {
    /// A session says what it wants. What an earlier lease of its agent wanted is over. Whether it counts.
    pub(super) fn enrols(&mut self, now: Time, lease: Lease, wish: &Wish) -> bool {
        let known = self.rolls.get(&lease.life.node).map(|roll| roll.lease);
        match (known, wish) {
            (Some(known), _) if known == lease => {}
            // What an earlier lease held is given back, and nothing else.
            (Some(known), wish) if lease.age() < known.age() => return matches!(wish, Wish::Release { .. }),
            _ => self.open_roll(now, lease, false),
        }
        let Some(roll) = self.rolls.get_mut(&lease.life.node) else { return false };
        roll.heard = now;
        if let Wish::Campaign { valid, .. } = wish {
            self.is_valid_now(lease.life.node, *valid);
        }
        true
    }

    /// An agent is there, with all that its sessions have said.
    pub(super) fn present(&mut self, now: Time, from: NodeId, lease: Lease, valid: bool, digest: u64) {
        if lease.life.node != from {
            return;
        }
        self.hear(now, lease.life);
        let known = self.rolls.get(&from).map(|roll| roll.lease);
        if known.is_some_and(|known| lease.age() < known.age()) {
            return;
        }
        if known != Some(lease) {
            self.open_roll(now, lease, valid);
        }
        self.is_valid_now(from, valid);
        let patience = self.terms.period();
        let Some(roll) = self.rolls.get_mut(&from) else { return };
        roll.heard = now;
        if roll.digest == digest {
            roll.asked = None;
        } else if roll.asked.is_none_or(|asked| asked + patience <= now) {
            // What it does not say again it does not want any more.
            let again = Roll { asked: Some(now), ..Roll::new(now, lease, valid) };
            self.drop_roll(from);
            self.rolls.insert(from, again);
            self.actions.push(CoordinatorAction::Answer(from, Telling::Again { to: lease.life }));
        }
        self.give_attention(now);
        if !self.is_ready() {
            self.ask_if_free(now, from);
        }
    }

    /// Whether another may hold what that one holds and did not give back. Of kind `token` the store decides who may act, so it is
    /// enough that the holder cannot be spoken with. Of kind `lease` its lease must be dead.
    pub(super) fn is_free(&self, now: Time, kind: GrantKind, holder: &Holder) -> bool {
        match kind {
            GrantKind::Token => self.is_gone(now, holder.lease.life),
            GrantKind::Lease => self.burials.get(&holder.lease).is_some_and(Burial::is_over),
        }
    }

    /// Whether that life cannot be spoken with, is silent, or another life of its node is there.
    pub(super) fn is_gone(&self, now: Time, life: Life) -> bool {
        let heard = self.heard.get(&life.node);
        let outlived =
            heard.is_some_and(|(_, known)| *known != life && known.incarnation >= life.incarnation);
        let heard = heard.map_or(Time::ZERO, |(at, _)| *at).max(self.ready_since);
        outlived || self.absent.contains(&life.node) || heard + self.terms.ttl < now
    }

    /// That life was heard of. What an earlier one of its node says late does not count.
    pub(super) fn hear(&mut self, now: Time, life: Life) {
        let heard = self.heard.entry(life.node).or_insert((now, life));
        if heard.1.incarnation <= life.incarnation {
            *heard = (now, life);
        }
    }

    /// Whether a campaign counts, as far as validity goes.
    pub(super) fn is_valid(&self, candidate: &Candidate) -> bool {
        let lease = candidate.holder.lease;
        match candidate.holder.session {
            OWN => candidate.valid,
            _ => self.rolls.get(&lease.life.node).is_some_and(|roll| roll.valid && roll.lease == lease),
        }
    }

    /// What that session has said last is counted.
    pub(super) fn count_said(&mut self, name: &Name, Holder { lease, session, .. }: Holder) {
        self.recount(name);
        let node = lease.life.node;
        if session == OWN {
            self.repeated.insert(name.clone());
            return;
        }
        let contest = self.contests.get(name);
        let said = contest.and_then(|contest| contest.said_by(node, session));
        let said = said.map(|said| mark(name, session, said.holder.campaign, said.holds));
        let Some(roll) = self.rolls.get_mut(&node) else { return };
        let key = (name.clone(), session);
        let before = match said {
            Some(said) => roll.said.insert(key, said),
            None => roll.said.remove(&key),
        };
        roll.digest = roll.digest.wrapping_sub(before.unwrap_or(0)).wrapping_add(said.unwrap_or(0));
    }

    /// Nothing is known any more of what its sessions want.
    pub(super) fn drop_roll(&mut self, node: NodeId) {
        let Some(roll) = self.rolls.remove(&node) else { return };
        for (name, session) in roll.said.into_keys() {
            let contest = self.contests.get_mut(&name);
            contest.into_iter().for_each(|contest| contest.forget_session(node, session));
            self.recount(&name);
        }
    }

    fn open_roll(&mut self, now: Time, lease: Lease, valid: bool) {
        self.drop_roll(lease.life.node);
        self.rolls.insert(lease.life.node, Roll::new(now, lease, valid));
    }

    /// What waits counts from when the lease is valid.
    fn is_valid_now(&mut self, node: NodeId, valid: bool) {
        let Some(roll) = self.rolls.get_mut(&node) else { return };
        if core::mem::replace(&mut roll.valid, valid) != valid {
            self.attention.extend(roll.said.keys().map(|(name, _)| name.clone()));
        }
    }
}

impl Roll {
    fn new(now: Time, lease: Lease, valid: bool) -> Self {
        Self { lease, valid, heard: now, said: BTreeMap::new(), digest: 0, asked: None }
    }
}
