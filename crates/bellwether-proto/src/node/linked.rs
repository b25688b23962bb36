//! What links with a history tell the election, and what it and the group layer send over them.

use alloc::boxed::Box;

use super::Node;
use crate::election::{self, Election};
use crate::ident::{Incarnation, NodeId};
use crate::io::{Event, Outbox, Output, Turn};
use crate::link::history::{Histories, Step};
use crate::message::{Body, Letter};
use crate::time::Time;

impl<E: Election> Node<E> {
    /// The same node, whose links go up and down as an oracle says ([`Input::Oracle`](crate::io::Input::Oracle)), if the
    /// algorithm is told of them: for exhaustive search, where beats would be most of what there is.
    pub fn over_told_links(mut self) -> Self {
        self.history = self.history.map(Histories::told);
        self
    }

    pub(super) fn driven_like(self, other: &Self) -> Self {
        if other.history.as_ref().is_some_and(Histories::is_told) { self.over_told_links() } else { self }
    }

    /// The latest life of that peer that has been heard of; the lowest of all, if none has.
    pub fn life_of(&self, peer: NodeId) -> Incarnation {
        self.link.incarnation(peer)
    }

    /// The life of a peer to which the link is up at this end.
    pub fn linked_with(&self, peer: NodeId) -> Option<Incarnation> {
        self.history.as_ref()?.linked(peer)
    }

    /// The life of a peer to which the link is down, and could go up at this end.
    pub fn linkable_with(&self, peer: NodeId) -> Option<Incarnation> {
        self.history.as_ref()?.linkable(peer)
    }

    pub(super) fn follow_link(&mut self, now: Time, step: Step<Letter<E::Msg>>, out: &mut Outbox<E::Msg>) {
        match step {
            Step::Send(to, msg) => self.post(now, to, Body::History(Box::new(msg)), out),
            Step::Turned { peer, life, seen, standing } => {
                let turn = Turn { peer, life, seen };
                out.push(Output::Event(Event::Link(turn)));
                if turn.is_up() {
                    self.regroup(|group| group.relinked(peer));
                }
                self.elect(election::Input::Link { peer, up: turn.is_up().then_some(standing) });
            }
            Step::Stands(peer, standing) => {
                self.elect(election::Input::Link { peer, up: Some(standing) });
            }
            Step::Deliver(from, Letter::Election(msg)) => {
                self.elect(election::Input::Message { from, msg });
            }
            Step::Deliver(from, Letter::Group(msg)) => {
                self.regroup(|group| group.handle(now, from, msg));
            }
        }
    }
}
