//! What reaches the layer of exclusive leadership, and its actions.

use alloc::boxed::Box;

use super::Node;
use super::work::Work;
use crate::election::Election;
use crate::exclusive::ident::{Ballot, Stamp};
use crate::exclusive::membership::{MemberChange, Membership, Unchanged};
use crate::exclusive::message::Objection;
use crate::exclusive::order::{Declined, Order};
use crate::exclusive::{self, Exclusive, ExclusiveConfig, Vote};
use crate::ident::NodeId;
use crate::io::{Event, Outbox, Output};
use crate::message::Body;
use crate::release::{Patience, Release};
use crate::tenure::{Refused, Ticket};
use crate::time::Time;

impl<E: Election> Node<E> {
    /// The same node with exclusive leadership, on these terms. Agents are made by [`Settings`](crate::agent::Settings).
    pub fn with_exclusive(mut self, config: ExclusiveConfig, patience: Patience, now: Time) -> Self {
        self.exclusive = Some(Exclusive::new(self.id(), self.incarnation(), config, now));
        self.release = Some(Release::new(self.id(), self.setup.protocol.name(), patience));
        self
    }

    /// When there is something to do for exclusive leadership. An incarnation that is not on disk says nothing.
    pub(super) fn excluding(&self) -> Time {
        let exclusive = self.exclusive.as_ref().filter(|_| !self.writes.is_unborn());
        exclusive.map_or(Time::NEVER, Exclusive::deadline)
    }

    /// Of exclusive leadership: how many voters can be spoken with, and how many are needed.
    pub fn quorum(&self) -> Option<(usize, usize)> {
        self.exclusive.as_ref().map(Exclusive::quorum)
    }

    /// Of exclusive leadership: what this node's vote is worth.
    pub fn vote(&self) -> Option<Vote> {
        self.exclusive.as_ref().map(Exclusive::vote)
    }

    /// Of exclusive leadership: which voters do not take the first configuration, and why, as far as this node would found the
    /// cluster.
    pub fn objections(&self) -> impl Iterator<Item = (NodeId, Objection)> {
        self.exclusive.iter().flat_map(Exclusive::objections)
    }

    /// Of exclusive leadership: who votes, and who is to be met.
    pub fn membership(&self) -> Option<&Membership> {
        self.exclusive.as_ref().map(Exclusive::membership)
    }

    pub(super) fn change(
        &mut self,
        now: Time,
        ticket: Ticket,
        change: MemberChange,
        out: &mut Outbox<E::Msg>,
    ) {
        if self.exclusive.is_none() {
            let outcome = Err(Refused::Members(Unchanged::NotExclusive));
            return out.push(Output::Answer { ticket, outcome });
        }
        self.exclude(|exclusive| exclusive.change(now, ticket.0, change));
    }

    pub(super) fn order(&mut self, now: Time, ticket: Ticket, order: Order, out: &mut Outbox<E::Msg>) {
        if self.exclusive.is_none() {
            let outcome = Err(Refused::Election(Declined::NotExclusive));
            return out.push(Output::Answer { ticket, outcome });
        }
        self.exclude(|exclusive| exclusive.order(now, ticket.0, order));
    }

    /// Does something with exclusive leadership, if there is any.
    pub(super) fn exclude(&mut self, act: impl FnOnce(&mut Exclusive)) {
        if let Some(exclusive) = &mut self.exclusive {
            act(exclusive);
            self.queue.extend(exclusive.drain().map(|action| Work::Exclusive(Box::new(action))));
        }
    }

    pub(super) fn follow_exclusive(
        &mut self,
        now: Time,
        action: exclusive::Action,
        out: &mut Outbox<E::Msg>,
    ) {
        match action {
            exclusive::Action::Send(to, msg) => self.post(now, to, Body::Exclusive(msg), out),
            exclusive::Action::Keep(change) => out.push(Output::Keep(Box::new(change))),
            exclusive::Action::Announce { announced, for_session } => {
                self.release(|release, _| release.lead_for_session(for_session));
                self.announce(announced, out);
            }
            exclusive::Action::GiveWay(to) => self.release(|release, _| release.yield_to(now, to)),
            exclusive::Action::Valid(token, until) => out.push(Output::Valid { epoch: token.0, until }),
            exclusive::Action::Decided(stamp, grant) => {
                let to = grant.holder.map(|holder| holder.lease.life.node);
                let Stamp { ballot: Ballot { round, of }, write } = stamp;
                let (token, by, of) = (grant.token.0, of.node, of.incarnation);
                out.push(Output::Event(Event::Granted { token, to, round, by, of, write }));
            }
            exclusive::Action::Doubt(doubtful) => self.release(|release, _| release.doubt(doubtful)),
            exclusive::Action::Outlived(known) => self.outlived(now, known, out),
            exclusive::Action::Members(membership) => out.push(Output::Members(membership)),
            exclusive::Action::News(news) => out.push(Output::News(news)),
            exclusive::Action::Answered(ticket, outcome) => {
                let (ticket, outcome) = (Ticket(ticket), outcome.map_err(Refused::Election));
                out.push(Output::Answer { ticket, outcome });
            }
            exclusive::Action::Changed(ticket, outcome) => {
                let (ticket, outcome) = (Ticket(ticket), outcome.map_err(Refused::Members));
                out.push(Output::Answer { ticket, outcome });
            }
        }
    }
}
