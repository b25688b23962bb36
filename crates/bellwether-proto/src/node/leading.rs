//! The actions of the leadership layer, and of the layer that releases leadership.

use super::{Ending, Node};
use crate::election::{self, Election};
use crate::io::{Event, Outbox, Output};
use crate::leadership;
use crate::message::Body;
use crate::release;
use crate::time::Time;

impl<E: Election> Node<E> {
    pub(super) fn follow_leadership(&mut self, now: Time, step: leadership::Step, out: &mut Outbox<E::Msg>) {
        match step {
            leadership::Step::Send(to, msg) => self.post(now, to, Body::Leadership(msg), out),
            leadership::Step::Persist => self.persist(out),
            leadership::Step::Announce(announced) => {
                out.push(Output::Event(Event::Announced(announced)));
                let tenure = self.release.as_mut().and_then(|release| release.announced(announced));
                tenure.into_iter().for_each(|tenure| out.push(Output::Tenure(tenure)));
            }
            leadership::Step::Yield(to) => self.release(|release, _| release.yield_to(now, to)),
            leadership::Step::HandOver(to) => self.elect(election::Input::HandOver(to)),
        }
    }

    pub(super) fn follow_release(&mut self, now: Time, step: release::Step, out: &mut Outbox<E::Msg>) {
        match step {
            release::Step::Tenure(tenure) => out.push(Output::Tenure(tenure)),
            release::Step::Answer(ticket, outcome) => out.push(Output::Answer { ticket, outcome }),
            release::Step::GiveUp => out.push(Output::Event(Event::GivenUp)),
            release::Step::StandAside(until) => self.stand_aside(now, until, out),
            release::Step::Stand => self.ending = Some(Ending::StoodAside),
            release::Step::HandOver(to) => self.lead(|leadership| leadership.hand_over(now, to)),
            release::Step::Left => out.push(Output::Left),
        }
    }
}
