//! What reaches the leadership layer, its actions, and those of the layer that releases leadership.

use super::work::Work;
use super::writes::Waits;
use super::{Ending, Node};
use crate::cause::Cause;
use crate::election::{self, Election};
use crate::ident::NodeId;
use crate::io::{Event, Outbox, Output};
use crate::leadership::{self, Announcement, LeadershipMsg};
use crate::message::Body;
use crate::opinion::Opinion;
use crate::release;
use crate::time::Time;

impl<E: Election> Node<E> {
    /// A message of the leadership layer. A leader that says that it goes is believed; no detector is needed.
    pub(super) fn heed(&mut self, now: Time, from: NodeId, msg: LeadershipMsg, out: &mut Outbox<E::Msg>) {
        match msg {
            LeadershipMsg::Aside { next } => {
                if let Some(rank) = self.setup.roster.rank(from).filter(|rank| self.detector.retire(*rank)) {
                    self.down(now, rank, Cause::Resigned(from), out);
                }
                let next = next.filter(|_| self.shown.normal_leader() == Some(from));
                self.elect(election::Input::Resigned { who: from, next });
            }
            LeadershipMsg::HandOver { to } if self.shown.normal_leader() == Some(from) => {
                self.elect(election::Input::HandOver(to));
            }
            _ => {}
        }
        self.work_off(now, out);
        self.lead(|leadership| leadership.handle(now, from, msg));
        self.work_off(now, out);
        // When it is known why.
        if matches!(msg, LeadershipMsg::Aside { .. }) {
            self.relink(|links| links.gone(now, from));
        }
    }

    /// The node ends its part in the election, as if it were gone, and says so. It still hears who leads.
    pub(super) fn stand_aside(&mut self, now: Time, until: Time, out: &mut Outbox<E::Msg>) {
        if self.leadership.is_none() {
            return;
        }
        self.writes.need_no_next(); // It was about to stand again, perhaps.
        if self.aside.replace(until).is_none() {
            // What its election still waits to do ends with it.
            self.parked.retain(Work::outlasts_election);
            // The others do as if it were gone, and so it shows itself: it is not there.
            self.shown = Opinion::DOWN;
            out.push(Output::Event(Event::Opinion(self.shown)));
            self.detector.stop_all(now, &mut self.mail);
            self.post_mail(now, out);
            self.lead(|leadership| leadership.stand_aside(now));
        }
    }

    pub(super) fn follow_leadership(
        &mut self,
        now: Time,
        action: leadership::Action,
        out: &mut Outbox<E::Msg>,
    ) {
        match action {
            leadership::Action::Send(to, msg) => self.post(now, to, Body::Leadership(msg), out),
            leadership::Action::Persist => self.persist(now, Waits::Nobody, out),
            leadership::Action::Announce(announced) => self.announce(announced, out),
            leadership::Action::Yield(to) => self.release(|release, _| release.yield_to(now, to)),
            leadership::Action::HandOver(to) => self.elect(election::Input::HandOver(to)),
        }
    }

    /// The election names another. That is whoever should lead, or coordinate who does.
    pub(super) fn name(&mut self, now: Time, named: Option<NodeId>, cause: Cause) {
        self.lead(|leadership| leadership.name(now, named, cause));
        self.exclude(|exclusive| exclusive.nominate(now, named));
    }

    /// Another leads, or nobody. What the program may do changes with it.
    pub(super) fn announce(&mut self, announced: Announcement, out: &mut Outbox<E::Msg>) {
        out.push(Output::Event(Event::Announced(announced)));
        let tenure = self.release.as_mut().and_then(|release| release.announced(announced));
        tenure.into_iter().for_each(|tenure| out.push(Output::Tenure(tenure)));
    }

    /// Whether the node may lead can change with everything that it hears.
    pub(super) fn reconsider(&mut self, now: Time, out: &mut Outbox<E::Msg>) {
        self.lead(|leadership| leadership.reconsider(now));
        if !self.queue.is_empty() {
            self.work_off(now, out);
        }
    }

    pub(super) fn follow_release(&mut self, now: Time, action: release::Action, out: &mut Outbox<E::Msg>) {
        match action {
            release::Action::Tenure(tenure) => out.push(Output::Tenure(tenure)),
            release::Action::Answer(ticket, outcome) => out.push(Output::Answer { ticket, outcome }),
            release::Action::GiveUp => out.push(Output::Event(Event::GivenUp)),
            release::Action::StandAside(until) => {
                self.stand_aside(now, until, out);
                self.exclude(|exclusive| exclusive.stand_aside(now, until));
            }
            release::Action::Stand if self.exclusive.is_some() => {
                self.exclude(|exclusive| exclusive.stand(now))
            }
            release::Action::Stand => self.ending = Some(Ending::StoodAside),
            release::Action::HandOver(to) => {
                self.lead(|leadership| leadership.hand_over(now, to));
                self.exclude(|exclusive| exclusive.hand_over(now, to));
            }
            release::Action::Left => out.push(Output::Left),
        }
    }
}
