//! One queue for all layers.
//!
//! A layer never calls another. It answers with actions; an action for another layer waits here for its turn. So no layer is
//! entered while it is running, and all layers see events in the order in which they happened.
//!
//! Consistent links may bring several things at once. Each is taken up when all is done that follows from the one before, as if
//! it had come by itself.

use alloc::boxed::Box;

use super::Node;
use crate::cause::Cause;
use crate::election::{self, Election};
use crate::exclusive;
use crate::group::{self, GroupMsg, OpId, Past, Plan};
use crate::ident::{ElectionId, Incarnation, NodeId};
use crate::io::{Event, Outbox, Output, Turn};
use crate::leadership::{self, Leadership, Office};
use crate::link::consistent;
use crate::link::consistent::ConsistentMsg;
use crate::message::{Body, Letter};
use crate::opinion::Opinion;
use crate::release::{self, Release};
use crate::time::Time;

/// An action of a layer.
#[derive(Clone, Debug)]
pub(super) enum Work<M> {
    /// An input for the election, and why it came, if the input itself does not say.
    Elect(election::Input<M>, Option<Cause>),
    /// What else the election asked for, after something that had to be on disk first.
    Do(election::Action<M>),
    /// The election's opinion, which had to be on disk first.
    Show(Opinion),
    /// Whom the election names from now on, and why.
    Name(Option<NodeId>, Cause),
    /// An input for the group.
    Tell(Tell),
    /// The node is up: its links may come up.
    StartLinks,
    /// The node is up: it may stand for an exclusive leadership.
    StartExclusive,
    /// That epoch is on disk.
    Written(u64),
    /// An end of a link saw a transition. An observer is told before anything follows from it.
    Turned(Turn),
    /// A message between the ends of a link.
    Beat(NodeId, Box<ConsistentMsg<Letter<M>>>),
    /// In a box: it is rare and large.
    Group(Box<group::Action>),
    Lead(leadership::Action),
    /// In a box, as those of groups.
    Exclusive(Box<exclusive::Action>),
    Release(release::Action),
}

/// What the group layer is told.
#[derive(Clone, Debug)]
pub(super) enum Tell {
    Message(NodeId, Box<GroupMsg>),
    /// A peer said where it comes from, in that incarnation and with that frame.
    Joined(NodeId, (Incarnation, u64), Box<Past>),
    Gone(NodeId),
    Planned(ElectionId, Plan),
    Perform(OpId),
}

impl<M> Work<M> {
    /// Whether it counts when the election that it was parked with is over.
    pub(super) fn outlasts_election(&self) -> bool {
        matches!(self, Self::Lead(_) | Self::Exclusive(_) | Self::StartExclusive)
    }
}

impl<E: Election> Node<E> {
    /// Works off the queue, in order, until it is empty. Only the drivers of the layers call this, never a layer's own
    /// work.
    #[inline]
    pub(super) fn work_off(&mut self, now: Time, out: &mut Outbox<E::Msg>) {
        if !self.is_idle() {
            self.work_through(now, out);
        }
    }

    /// Whether there is nothing to work off, as in most steps.
    fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.news.is_empty() && self.ending.is_none() && self.release.is_none()
    }

    fn work_through(&mut self, now: Time, out: &mut Outbox<E::Msg>) {
        loop {
            while let Some(work) = self.queue.pop_front() {
                if self.must_wait(&work) {
                    self.park(work);
                    continue;
                }
                match work {
                    Work::Elect(input, cause) => self.take_part(now, input, cause, out),
                    Work::Do(action) => {
                        self.carry_out(now, action, out);
                        self.regroup(|_| {}); // As after everything that the election does.
                    }
                    Work::Show(opinion) => self.show(opinion, out),
                    Work::Name(named, cause) => self.name(now, named, cause),
                    Work::Tell(tell) => self.regroup(|group| tell.to(now, group)),
                    Work::StartLinks => self.relink(|links| links.start(now)),
                    Work::StartExclusive => self.exclude(|exclusive| exclusive.start(now)),
                    Work::Written(epoch) => self.lead(|leadership| leadership.written(now, epoch)),
                    Work::Turned(turn) => out.push(Output::Event(Event::Link(turn))),
                    Work::Beat(to, msg) => self.post(now, to, Body::Consistent(msg), out),
                    Work::Group(action) => self.follow_group(now, *action, out),
                    Work::Lead(action) => self.follow_leadership(now, action, out),
                    Work::Exclusive(action) => self.follow_exclusive(now, *action, out),
                    Work::Release(action) => self.follow_release(now, action, out),
                }
            }
            if !self.writes.election_waits()
                && let Some(news) = self.news.pop_front()
            {
                self.take_news(now, news);
                continue;
            }
            if let Some(ending) = self.ending.take() {
                self.end_incarnation(now, ending, out);
                continue;
            }
            // When all is known that happened: is there anything left to wait for?
            self.release(|release, office| release.go_on(now, office));
            if self.queue.is_empty() {
                return;
            }
        }
    }

    pub(super) fn tell(&mut self, tell: Tell) {
        self.queue.push_back(Work::Tell(tell));
    }

    /// Does something with the consistent links, if there are any.
    pub(super) fn relink(&mut self, act: impl FnOnce(&mut consistent::ConsistentLinks<Letter<E::Msg>>)) {
        if let Some(links) = &mut self.links {
            act(links);
            for action in links.drain() {
                match action {
                    consistent::Action::Send(to, msg) => self.queue.push_back(Work::Beat(to, msg)),
                    consistent::Action::News(news) => {
                        if let consistent::News::Turned { peer, incarnation, seen, .. } = news {
                            self.queue.push_back(Work::Turned(Turn { peer, incarnation, seen }));
                        }
                        self.news.push_back(news);
                    }
                }
            }
        }
    }

    /// Does something with the group layer, if there is one and the election runs.
    pub(super) fn regroup(&mut self, act: impl FnOnce(&mut group::Group)) {
        if let Some(group) = self.group.as_mut().filter(|_| self.aside.is_none()) {
            act(group);
            self.queue.extend(group.drain().map(|action| Work::Group(Box::new(action))));
        }
    }

    /// Does something with the leadership layer, if there is one.
    pub(super) fn lead(&mut self, act: impl FnOnce(&mut Leadership)) {
        if let Some(leadership) = &mut self.leadership {
            leadership.suspected(self.setup.count);
            act(leadership);
            self.queue.extend(leadership.drain().map(Work::Lead));
        }
    }

    /// Does something with the release of leadership, if there is leadership.
    pub(super) fn release(&mut self, act: impl FnOnce(&mut Release, &dyn Office)) {
        let leadership = self.leadership.as_ref().map(|leadership| leadership as &dyn Office);
        let office = leadership.or_else(|| self.exclusive.as_ref().map(|exclusive| exclusive as &dyn Office));
        if let (Some(release), Some(office)) = (&mut self.release, office) {
            act(release, office);
            self.queue.extend(release.drain().map(Work::Release));
        }
    }
}

impl Tell {
    fn to(self, now: Time, group: &mut group::Group) {
        match self {
            Self::Message(from, msg) => group.handle(now, from, *msg),
            Self::Joined(peer, said, past) => group.joined(peer, said, *past),
            Self::Gone(peer) => group.gone(peer),
            Self::Planned(no, plan) => group.planned(now, no, plan),
            Self::Perform(op) => group.perform(now, op),
        }
    }
}
