//! Connections: in the agent's world a node learns when it can speak with a peer, and when the peer's process has ended.
//!
//! A connection comes about when both are up and no cut is between them. A cut does not end it: what is sent is lost, and
//! nobody is told. When a process ends, the other end of its connections is told, as fast as a message would be; if a cut is
//! in the way, when that is mended.

use std::collections::BTreeSet;

use bellwether_proto::canonical::Form;
use bellwether_proto::election::{Election, Setup};
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::io::Input;
use bellwether_proto::leadership::{KINDS, Terms};
use slab::Slab;

use super::World;
use crate::net::Fate;
use crate::scenario::index;

#[derive(Debug, Default)]
pub(super) struct Connections {
    /// The lower index first.
    up: BTreeSet<(usize, usize)>,
    /// Ends of connections that nobody could be told of, with the host to tell.
    unsaid: Vec<(usize, News)>,
    /// News on its way.
    on_its_way: Slab<(usize, News)>,
}

/// What a node is told that is no message.
#[derive(Clone, Copy, Debug)]
pub(super) enum News {
    /// The truth about a peer.
    Oracle(NodeId, Option<Incarnation>),
    Linked(NodeId, Incarnation),
    Gone(NodeId, Incarnation),
}

impl News {
    pub(super) fn into_input<M>(self) -> Input<M> {
        match self {
            Self::Oracle(peer, alive) => Input::Oracle { peer, alive },
            Self::Linked(peer, incarnation) => Input::Linked { peer, incarnation },
            Self::Gone(peer, incarnation) => Input::Gone { peer, incarnation },
        }
    }

    fn peer(self) -> NodeId {
        match self {
            Self::Oracle(peer, _) | Self::Linked(peer, _) | Self::Gone(peer, _) => peer,
        }
    }

    pub(super) fn canonical(self, form: &mut Form) {
        form.node(self.peer());
        match self {
            Self::Oracle(_, alive) => form.number(u64::from(alive.is_some())),
            Self::Linked(peer, life) => {
                form.number(2);
                form.incarnation(peer, life);
            }
            Self::Gone(peer, life) => {
                form.number(3);
                form.incarnation(peer, life);
            }
        }
    }
}

impl Connections {
    pub(super) fn canonical(&self, form: &mut Form) {
        form.number(self.up.len() as u64);
        self.up.iter().for_each(|(one, other)| form.number((*one as u64) << 32 | *other as u64));
        for (to, news) in &self.unsaid {
            form.number(*to as u64);
            news.canonical(form);
        }
    }

    pub(super) fn canonical_news(&self, slot: usize, form: &mut Form) {
        let (to, news) = self.on_its_way[slot];
        form.number(to as u64);
        news.canonical(form);
    }
}

/// As the agent sets them.
pub(super) fn terms(setup: &Setup, epoch: u64) -> Terms {
    Terms {
        period: setup.timing.tau,
        settle: Terms::settle(setup.protocol.spec(), &setup.timing),
        priority: 0,
        preempt: None,
        hands_over: setup.protocol.spec().hands_over,
        epoch,
    }
}

impl<E: Election> World<'_, E> {
    /// The node has come up.
    pub(super) fn connect(&mut self, at: usize) {
        (0..self.hosts.len()).filter(|other| *other != at).for_each(|other| self.reconnect(at, other));
    }

    /// Connects two nodes if they can be, and are not; and tells what could not be told before.
    pub(super) fn reconnect(&mut self, one: usize, other: usize) {
        let Some(connections) = &mut self.connections else { return };
        if self.net.is_cut(one, other) || self.net.is_cut(other, one) {
            return;
        }
        let ids = [self.hosts[one].id, self.hosts[other].id];
        let pair = |(to, news): &mut (usize, News)| {
            (*to == one && news.peer() == ids[1]) || (*to == other && news.peer() == ids[0])
        };
        let said: Vec<_> = connections.unsaid.extract_if(.., pair).collect();
        let up = |at: usize| self.hosts[at].node.is_some();
        let made = up(one) && up(other) && connections.up.insert((one.min(other), one.max(other)));
        said.into_iter().for_each(|(to, news)| self.tell(to, news));
        if made {
            let life = |at: usize| self.hosts[at].disk.incarnation;
            let lives = [life(one), life(other)];
            self.tell(one, News::Linked(ids[1], lives[1]));
            self.tell(other, News::Linked(ids[0], lives[0]));
        }
    }

    /// The node's process has ended.
    pub(super) fn disconnect(&mut self, at: usize) {
        let (id, life) = (self.hosts[at].id, self.hosts[at].disk.incarnation);
        let Some(connections) = &mut self.connections else { return };
        let ended: Vec<_> =
            connections.up.extract_if(.., |(one, other)| *one == at || *other == at).collect();
        for (one, other) in ended {
            let to = if one == at { other } else { one };
            if self.net.is_cut(at, to) {
                let connections = self.connections.as_mut().expect("looked at above");
                connections.unsaid.push((to, News::Gone(id, life)));
            } else {
                self.tell(to, News::Gone(id, life));
            }
        }
        // What it was not told is of no interest to its next life.
        if let Some(connections) = &mut self.connections {
            connections.unsaid.retain(|(to, _)| *to != at);
        }
    }

    /// Sends news on its way. The kernel repeats what the network loses.
    fn tell(&mut self, to: usize, news: News) {
        let from = index(news.peer());
        let arrives = match self.net.carry(self.now, from, to, KINDS[0], &mut self.rng) {
            Fate::Arrives(first, _) => first,
            Fate::Lost(_) => self.now,
        };
        if let Some(connections) = &mut self.connections {
            let slot = connections.on_its_way.insert((to, news));
            self.queue.tell(arrives, slot);
        }
    }

    pub(super) fn break_news(&mut self, slot: usize) {
        let Some(connections) = &mut self.connections else { return };
        let (to, news) = connections.on_its_way.remove(slot);
        let host = &mut self.hosts[to];
        if host.node.is_none() {
            return;
        }
        if host.paused {
            host.news.push_back(news);
        } else {
            self.input(to, news.into_input());
        }
    }
}
