//! Connections: in the agent's world a node learns when it can speak with a peer, and when the peer's process has ended.
//!
//! A connection comes about when both are up and no cut is between them. A cut does not end it: what is sent is lost, and
//! nobody is told. When a process ends, the other end of its connections is told, as fast as a message would be; if a cut is
//! in the way, when that is mended. One that ends with a goodbye is dialled again after a while; until then nothing passes.

mod refusals;

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::canonical::Form;
use bellwether_proto::election::Election;
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::io::Input;
use bellwether_proto::leadership::{KINDS, Reception};
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::What;
use slab::Slab;

use super::World;
use crate::net::Fate;
use crate::scenario::{REDIAL, index};

#[derive(Debug, Default)]
pub(super) struct Connections {
    /// The lower index first.
    up: BTreeSet<(usize, usize)>,
    /// Those that ended with a goodbye and have not been dialled again, the lower index first.
    resting: BTreeSet<(usize, usize)>,
    /// Who refuses whom.
    refusing: BTreeSet<(usize, usize)>,
    /// Ends of connections that nobody could be told of, with the host to tell.
    unsaid: Vec<(usize, News)>,
    /// News on its way.
    on_its_way: Slab<(usize, News)>,
    /// By who is told, and of whom: when the last news arrives.
    told: BTreeMap<(usize, usize), Time>,
}

/// What a node is told that is no message, and what else happens after a while.
#[derive(Clone, Copy, Debug)]
pub(super) enum News {
    /// The truth about a peer.
    Oracle(NodeId, Option<Incarnation>),
    Connected(NodeId, Incarnation),
    Gone(NodeId, Incarnation),
    /// The connection ended with a goodbye.
    Disconnected(NodeId),
    /// It is dialled again.
    Redial(NodeId),
    /// How the others receive the node.
    Received(Reception),
    /// The work of that number has come to its end.
    WorkEnds(u64),
    /// The disk has done that write.
    Written(u64),
    /// So many of the node's writes are on disk.
    Persisted(u64),
    /// The disk has done that write of votes.
    VotesWritten(u64),
    /// So many changes of the node's votes are on disk.
    Kept(u64),
}

impl News {
    /// Of whom it tells.
    fn peer(self) -> Option<NodeId> {
        match self {
            Self::Oracle(peer, _) | Self::Connected(peer, _) | Self::Gone(peer, _) => Some(peer),
            Self::Disconnected(peer) | Self::Redial(peer) => Some(peer),
            Self::Received(_) | Self::WorkEnds(_) | Self::Written(_) | Self::Persisted(_) => None,
            Self::VotesWritten(_) | Self::Kept(_) => None,
        }
    }

    pub(super) fn canonical(self, form: &mut Form) {
        form.option(self.peer(), Form::node);
        match self {
            Self::Oracle(_, alive) => form.number(u64::from(alive.is_some())),
            Self::Connected(peer, incarnation) => {
                form.number(2);
                form.incarnation(peer, incarnation);
            }
            Self::Gone(peer, incarnation) => {
                form.number(3);
                form.incarnation(peer, incarnation);
            }
            Self::Disconnected(_) => form.number(4),
            Self::Redial(_) => form.number(5),
            Self::WorkEnds(_) => form.number(6),
            Self::Written(_) => form.number(7),
            Self::Persisted(_) => form.number(8),
            Self::VotesWritten(_) => form.number(10),
            Self::Kept(_) => form.number(11),
            Self::Received(Reception { unheard, refusing }) => {
                form.number(9);
                form.number(unheard as u64);
                form.number(refusing as u64);
            }
        }
    }
}

impl Connections {
    pub(super) fn canonical(&self, form: &mut Form) {
        for pairs in [&self.up, &self.resting, &self.refusing] {
            form.number(pairs.len() as u64);
            pairs.iter().for_each(|(one, other)| form.number((*one as u64) << 32 | *other as u64));
        }
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

    /// Whether nothing passes between the two because they are not connected for the moment.
    pub(super) fn rest(&self, one: usize, other: usize) -> bool {
        !self.resting.is_empty() && self.resting.contains(&pair(one, other))
            || self.refuse_each_other(one, other)
    }
}

fn pair(one: usize, other: usize) -> (usize, usize) {
    (one.min(other), one.max(other))
}

impl<E: Election> World<'_, E> {
    /// The node has come up.
    pub(super) fn connect(&mut self, at: usize) {
        self.tell_if_refused(at);
        (0..self.hosts.len()).filter(|other| *other != at).for_each(|other| self.reconnect(at, other));
    }

    /// Connects two nodes if they can be, and are not; and tells what could not be told before.
    pub(super) fn reconnect(&mut self, one: usize, other: usize) {
        let Some(connections) = &mut self.connections else { return };
        if self.net.is_cut(one, other) || self.net.is_cut(other, one) || connections.rest(one, other) {
            return;
        }
        let ids = [self.hosts[one].id, self.hosts[other].id];
        let concerns = |(to, news): &mut (usize, News)| {
            (*to == one && news.peer() == Some(ids[1])) || (*to == other && news.peer() == Some(ids[0]))
        };
        let said: Vec<_> = connections.unsaid.extract_if(.., concerns).collect();
        let up = |at: usize| self.hosts[at].node.is_some();
        let made = up(one) && up(other) && connections.up.insert(pair(one, other));
        said.into_iter().for_each(|(to, news)| self.tell(to, news));
        if made {
            let incarnations = [one, other].map(|at| self.hosts[at].known_as());
            self.tell(one, News::Connected(ids[1], incarnations[1]));
            self.tell(other, News::Connected(ids[0], incarnations[0]));
        }
    }

    /// The node's process, which others knew in that incarnation, has ended, with a goodbye or without.
    pub(super) fn disconnect(&mut self, at: usize, incarnation: Incarnation, goodbye: bool) {
        let id = self.hosts[at].id;
        let news = if goodbye { News::Disconnected(id) } else { News::Gone(id, incarnation) };
        let Some(connections) = &mut self.connections else { return };
        let ended: Vec<_> =
            connections.up.extract_if(.., |(one, other)| *one == at || *other == at).collect();
        for (one, other) in ended {
            let to = if one == at { other } else { one };
            if self.net.is_cut(at, to) {
                let connections = self.connections.as_mut().expect("looked at above");
                connections.unsaid.push((to, news));
            } else {
                self.tell(to, news);
            }
        }
        // What it was not told is of no interest to its next incarnation.
        if let Some(connections) = &mut self.connections {
            connections.unsaid.retain(|(to, _)| *to != at);
        }
    }

    /// The connection between two nodes, if there is one, ends with a goodbye. Both are told, and dial again.
    fn unlink(&mut self, one: usize, other: usize) {
        if !self.part(one, other) {
            return;
        }
        self.sever(one, other, |connections| connections.resting.insert(pair(one, other)));
        self.later(one, REDIAL, News::Redial(self.hosts[other].id));
    }

    fn redial(&mut self, one: usize, other: usize) {
        self.sever(one, other, |connections| connections.resting.remove(&pair(one, other)));
        self.reconnect(one, other);
    }

    /// Ends the connection between two nodes, and tells both. Whether there was one.
    fn part(&mut self, one: usize, other: usize) -> bool {
        let Some(connections) = &mut self.connections else { return false };
        let was_up = connections.up.remove(&pair(one, other));
        if was_up {
            let ids = [self.hosts[one].id, self.hosts[other].id];
            self.tell(one, News::Disconnected(ids[1]));
            self.tell(other, News::Disconnected(ids[0]));
        }
        was_up
    }

    /// Changes what keeps two nodes from speaking with each other, and records what comes of it.
    fn sever(&mut self, one: usize, other: usize, change: impl FnOnce(&mut Connections) -> bool) {
        let was_severed = [self.is_severed(one, other), self.is_severed(other, one)];
        if let Some(connections) = &mut self.connections {
            change(connections);
        }
        self.record_severed(one, other, was_severed[0]);
        self.record_severed(other, one, was_severed[1]);
    }

    /// Sends news on its way. The kernel repeats what the network loses. News of one peer keep their order, whatever the
    /// messages do: an agent does not take the end of an earlier connection for that of a later one.
    fn tell(&mut self, to: usize, news: News) {
        let from = news.peer().map_or(to, index);
        let mut arrives = match self.net.carry(self.now, from, to, || KINDS[0], &mut self.rng) {
            Fate::Arrives(first, _) => first,
            Fate::Lost(_) => self.now,
        };
        if let Some(connections) = &mut self.connections {
            let told = connections.told.entry((to, from)).or_default();
            arrives = arrives.max(*told);
            *told = arrives;
        }
        self.later(to, arrives.since(self.now), news);
    }

    /// Has something happen to a host after a while.
    pub(super) fn later(&mut self, to: usize, after: Span, news: News) {
        if let Some(connections) = &mut self.connections {
            let slot = connections.on_its_way.insert((to, news));
            self.queue.tell(self.now + after, slot);
        }
    }

    pub(super) fn break_news(&mut self, slot: usize) {
        let Some(connections) = &mut self.connections else { return };
        let (to, news) = connections.on_its_way.remove(slot);
        match news {
            News::Redial(peer) => return self.redial(to, index(peer)),
            // A disk works while its process is stopped.
            News::Written(no) => return self.written(to, no),
            News::VotesWritten(no) => return self.votes_written(to, no),
            _ => {}
        }
        let host = &mut self.hosts[to];
        if host.node.is_none() {
            return;
        }
        if host.paused {
            host.news.push_back(news);
        } else {
            self.hear(to, news);
        }
    }

    /// The node, which runs, is told.
    pub(super) fn hear(&mut self, at: usize, news: News) {
        let input = match news {
            News::Oracle(peer, alive) => Input::Oracle { peer, alive },
            News::Connected(peer, incarnation) => Input::Connected { peer, incarnation },
            News::Gone(peer, incarnation) => Input::Gone { peer, incarnation },
            News::Disconnected(peer) => {
                self.record(at, What::Unlinked(peer));
                Input::Disconnected { peer }
            }
            News::Received(reception) => Input::Received(reception),
            News::WorkEnds(no) => return self.work_ends(at, no),
            News::Persisted(writes) => return self.persisted(at, writes),
            News::Written(no) => return self.written(at, no),
            News::VotesWritten(no) => return self.votes_written(at, no),
            News::Kept(commits) => return self.votes_kept(at, commits),
            News::Redial(peer) => return self.redial(at, index(peer)),
        };
        self.input(at, input);
    }
}
