//! The members that a node is connected with, and what it knows of them as leaders.

use alloc::collections::{BTreeMap, btree_map};
use core::cmp::Reverse;

use super::Reluctance;
use crate::canonical::Form;
use crate::ident::NodeId;
use crate::link::ACQUAINTANCES_MAX;
use crate::time::{Span, Time};

/// Those that are connected.
#[derive(Clone, Debug, Default)]
pub(super) struct Peers(BTreeMap<NodeId, Peer>);

#[derive(Clone, Copy, Debug)]
pub(super) struct Peer {
    since: Time,
    /// When a frame of it came last.
    heard: Time,
    /// What it said of itself when it followed. One that has not yet, in its incarnation, may not contend yet either.
    rating: Option<Rating>,
    /// Whether it said that it does not stand.
    aside: bool,
    /// It was handed leadership and has not taken it: it is not tried again before this.
    declined: Time,
}

#[derive(Clone, Copy, Debug)]
struct Rating {
    priority: u32,
    /// How often it has been suspected.
    count: u64,
}

impl Peer {
    pub(super) fn connected_for(&self, now: Time) -> Span {
        now.since(self.since)
    }

    pub(super) fn silent_for(&self, now: Time) -> Span {
        now.since(self.heard)
    }
}

impl Peers {
    /// Whether there is room for it.
    pub(super) fn connect(&mut self, now: Time, id: NodeId) -> bool {
        let room = self.0.len() < ACQUAINTANCES_MAX || self.0.contains_key(&id);
        if room {
            let declined = Time::ZERO;
            self.0.insert(id, Peer { since: now, heard: now, rating: None, aside: false, declined });
        }
        room
    }

    pub(super) fn disconnect(&mut self, id: NodeId) {
        self.0.remove(&id);
    }

    pub(super) fn ids(&self) -> btree_map::Keys<'_, NodeId, Peer> {
        self.0.keys()
    }

    pub(super) fn get(&self, id: NodeId) -> Option<&Peer> {
        self.0.get(&id)
    }

    pub(super) fn heard(&mut self, now: Time, id: NodeId) {
        if let Some(peer) = self.0.get_mut(&id) {
            peer.heard = now;
        }
    }

    pub(super) fn stands_aside(&mut self, id: NodeId) {
        if let Some(peer) = self.0.get_mut(&id) {
            peer.aside = true;
        }
    }

    /// What it says of itself.
    pub(super) fn rate(&mut self, id: NodeId, priority: u32, count: u64) {
        if let Some(peer) = self.0.get_mut(&id) {
            peer.rating = Some(Rating { priority, count });
        }
    }

    /// It began another incarnation: what it said of itself is void.
    pub(super) fn new_incarnation(&mut self, id: NodeId) {
        if let Some(peer) = self.0.get_mut(&id) {
            (peer.rating, peer.aside) = (None, false);
        }
    }

    /// Whether anybody stands.
    pub(super) fn has_candidate(&self) -> bool {
        self.0.values().any(|peer| !peer.aside)
    }

    /// Whether that one could lead: it stands, and has been heard within `patience`.
    pub(super) fn may_lead(&self, now: Time, id: NodeId, patience: Span) -> Result<(), Reluctance> {
        match self.0.get(&id) {
            None => Err(Reluctance::NotConnected),
            Some(peer) if peer.aside => Err(Reluctance::StandsAside),
            Some(peer) if peer.silent_for(now) > patience => Err(Reluctance::Silent),
            Some(_) => Ok(()),
        }
    }

    /// It was handed leadership. Unless it takes that, it is not preferred before `until`.
    pub(super) fn decline(&mut self, id: NodeId, until: Time) {
        if let Some(peer) = self.0.get_mut(&id) {
            peer.declined = until;
        }
    }

    /// Of those that could lead, the one of highest priority, if that is above `priority`.
    pub(super) fn preferred(&self, now: Time, priority: u32, patience: Span) -> Option<NodeId> {
        let higher = self
            .rated(now, patience)
            .filter(|(_, peer, rating)| rating.priority > priority && peer.declined <= now);
        let highest = higher.max_by_key(|(id, _, rating)| (rating.priority, Reverse(*id)));
        highest.map(|(id, ..)| id)
    }

    /// The member that the others would elect: of the preferred ones that could lead, the least suspected.
    pub(super) fn successor(&self, now: Time, patience: Span) -> Option<NodeId> {
        let fit = self.rated(now, patience);
        let first = fit.min_by_key(|(id, _, rating)| (Reverse(rating.priority), rating.count, *id));
        first.map(|(id, ..)| id)
    }

    /// Those that could lead, and have followed.
    fn rated(&self, now: Time, patience: Span) -> impl Iterator<Item = (NodeId, &Peer, Rating)> {
        let rated = self.0.iter().filter_map(|(id, peer)| Some((*id, peer, peer.rating?)));
        rated.filter(move |(id, ..)| self.may_lead(now, *id, patience).is_ok())
    }

    /// How long ago a peer was heard counts up to `forgets`, and how long ago it was connected up to `preempt`.
    pub(super) fn canonical(&self, now: Time, forgets: Span, preempt: Option<Span>, form: &mut Form) {
        form.number(self.0.len() as u64);
        for (id, peer) in &self.0 {
            form.node(*id);
            form.number(u64::from(peer.aside));
            form.option(peer.rating, |form, rating| {
                form.number(u64::from(rating.priority));
                form.suspicions(rating.count);
            });
            // Who has been silent for just as long is not forgotten yet.
            form.deadline(now, peer.heard + forgets + Span::micros(1));
            form.deadline(now, preempt.map_or(now, |delay| peer.since + delay));
            form.deadline(now, peer.declined);
        }
    }
}
