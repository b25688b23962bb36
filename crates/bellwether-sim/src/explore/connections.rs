//! Connections between agents: as streams keep it, their beginning and their end are told in order with what is sent on them.
//!
//! When a node comes up it is connected with all who are up, at once; when each end is told is open, and what comes first on the
//! new connection may be told before it is. When its process ends, the others are told after all that it sent, and what was on
//! its way to it is lost.

use bellwether_proto::canonical::Form;
use bellwether_proto::election::Election;
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::io::Input;
use bellwether_proto::node::Node;

use super::state::{Cargo, Content, Letter, State};
use super::system::{System, index_of};

/// What the end of a connection is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// It is there, with a peer in that incarnation.
    Connected(Incarnation),
    /// The peer's process ended.
    Gone,
    /// It ended with a goodbye.
    Disconnected,
}

impl News {
    /// What a node is told, of whose peer this is news. The incarnation that is over is the latest that was heard of.
    pub(super) fn input<E: Election>(self, peer: NodeId, node: &Node<E>) -> Input<E::Msg> {
        match self {
            Self::Connected(incarnation) => Input::Connected { peer, incarnation },
            Self::Gone => Input::Gone { peer, incarnation: node.incarnation_of(peer) },
            Self::Disconnected => Input::Disconnected { peer },
        }
    }

    pub(super) fn canonical(self, peer: NodeId, to: NodeId, form: &mut Form) {
        form.node(peer);
        form.node(to);
        match self {
            Self::Connected(incarnation) => {
                form.number(u64::MAX);
                form.incarnation(peer, incarnation);
            }
            Self::Gone => form.number(u64::MAX - 1),
            Self::Disconnected => form.number(u64::MAX - 2),
        }
    }

    /// For people.
    pub(super) fn in_words(self, peer: NodeId, to: NodeId) -> String {
        match self {
            Self::Connected(_) => format!("{to} is connected with {peer}"),
            Self::Gone => format!("{to} sees that the process of {peer} is gone"),
            Self::Disconnected => format!("{to} sees that {peer} has left"),
        }
    }
}

impl<E: Election> System<E> {
    /// Connects a node that has come up with all who are.
    pub(super) fn connect(&self, state: &mut State<E>, at: usize) {
        (0..state.hosts.len())
            .filter(|other| *other != at)
            .for_each(|other| self.connect_pair(state, at, other));
    }

    /// Connects two nodes, if both are up.
    pub(super) fn connect_pair(&self, state: &mut State<E>, one: usize, other: usize) {
        for (from, to) in [(one, other), (other, one)] {
            let incarnation = state.hosts[from].node.as_ref().map(Node::incarnation);
            if let Some(incarnation) = incarnation.filter(|_| state.is_up_at(to)) {
                self.tell_news(state, from, to, News::Connected(incarnation));
            }
        }
    }

    /// A process has ended: what is on its way to it is lost, and those who were connected with it are told.
    pub(super) fn disconnect(&self, state: &mut State<E>, at: usize, news: News) {
        let gone = index_of(at);
        state.letters.retain(|letter| letter.to != gone);
        for other in (0..state.hosts.len()).filter(|other| *other != at) {
            if state.is_up_at(other) {
                self.tell_news(state, at, other, news);
            }
        }
    }

    fn tell_news(&self, state: &mut State<E>, from: usize, to: usize, news: News) {
        let content = Content::news(news, state.hosts[from].id, state.hosts[to].id);
        let (from, to) = (index_of(from), index_of(to));
        let place = state.channel(from, to).end;
        // Only messages are counted.
        let (id, left) = (state.sent, self.takes());
        state.letters.insert(place, Letter { from, to, id, left, content });
    }

    /// Whether the first of these is that there is a connection, which what is sent on it may be faster than.
    pub(super) fn is_being_connected(&self, state: &State<E>, first: usize) -> bool {
        matches!(state.letters[first].content.cargo, Cargo::News(News::Connected(_)))
    }
}
