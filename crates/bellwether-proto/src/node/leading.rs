//! The actions of the leadership layer, and of the layer that releases leadership.

use super::writes::Waits;
use super::{Ending, Node};
use crate::election::{self, Election};
use crate::io::{Event, Outbox, Output};
use crate::leadership;
use crate::message::Body;
use crate::release;
use crate::time::Time;

impl<E: Election> Node<E> {
    pub(super) fn follow_leadership(
        &mut self,
        now: Time,
        action: leadership::Action,
        out: &mut Outbox<E::Msg>,
    ) {
        match action {
            leadership::Action::Send(to, msg) => self.post(now, to, Body::Leadership(msg), out),
            leadership::Action::Persist => self.persist(now, Waits::Nobody, out),
            leadership::Action::Announce(announced) => {
                out.push(Output::Event(Event::Announced(announced)));
                let tenure = self.release.as_mut().and_then(|release| release.announced(announced));
                tenure.into_iter().for_each(|tenure| out.push(Output::Tenure(tenure)));
            }
            leadership::Action::Yield(to) => self.release(|release, _| release.yield_to(now, to)),
            leadership::Action::HandOver(to) => self.elect(election::Input::HandOver(to)),
        }
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
            release::Action::StandAside(until) => self.stand_aside(now, until, out),
            release::Action::Stand => self.ending = Some(Ending::StoodAside),
            release::Action::HandOver(to) => self.lead(|leadership| leadership.hand_over(now, to)),
            release::Action::Left => out.push(Output::Left),
        }
    }
}
