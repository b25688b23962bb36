//! What consistent links tell the election, and what it and the group layer send over them.

use super::Node;
use crate::election::{self, Election};
use crate::ident::{Incarnation, NodeId};
use crate::io::Turn;
use crate::link::consistent::{ConsistentLinks, News};
use crate::message::Letter;
use crate::time::Time;

impl<E: Election> Node<E> {
    /// The same node, whose consistent links go up and down as an oracle says
    /// ([`Input::Oracle`](crate::io::Input::Oracle)). For exhaustive search, in which most states would differ only in
    /// beats.
    pub fn over_told_links(mut self) -> Self {
        self.links = self.links.map(ConsistentLinks::told);
        self
    }

    pub(super) fn driven_like(self, other: &Self) -> Self {
        if other.links.as_ref().is_some_and(ConsistentLinks::is_told) { self.over_told_links() } else { self }
    }

    /// The latest incarnation of that peer that has been heard of; the lowest of all, if none has.
    pub fn incarnation_of(&self, peer: NodeId) -> Incarnation {
        self.link.incarnation(peer)
    }

    /// The peer's incarnation, if the link to it is up at this end.
    pub fn linked_with(&self, peer: NodeId) -> Option<Incarnation> {
        self.links.as_ref()?.linked(peer)
    }

    /// The peer's incarnation, if the link to it is down and could go up at this end.
    pub fn linkable_with(&self, peer: NodeId) -> Option<Incarnation> {
        self.links.as_ref()?.linkable(peer)
    }

    /// Something came over a link, or became of it.
    pub(super) fn take_news(&mut self, now: Time, news: News<Letter<E::Msg>>) {
        match news {
            News::Turned { peer, incarnation, seen, membership } => {
                let turn = Turn { peer, incarnation, seen };
                if turn.is_up() {
                    self.regroup(|group| group.relinked(peer));
                }
                self.elect(election::Input::Link { peer, up: turn.is_up().then_some(membership) });
            }
            News::Stands(peer, membership) => {
                self.elect(election::Input::Link { peer, up: Some(membership) });
            }
            News::Deliver(from, Letter::Election(msg)) => {
                self.elect(election::Input::Message { from, msg });
            }
            News::Deliver(from, Letter::Group(msg)) => {
                self.regroup(|group| group.handle(now, from, *msg));
            }
        }
    }
}
