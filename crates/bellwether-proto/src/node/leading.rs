//! What the leadership layer asks for.

use super::Node;
use crate::election::{self, Election};
use crate::io::{Event, Outbox, Output};
use crate::leadership::Step;
use crate::message::Body;
use crate::time::Time;

impl<E: Election> Node<E> {
    pub(super) fn follow_leadership(&mut self, now: Time, step: Step, out: &mut Outbox<E::Msg>) {
        match step {
            Step::Send(to, msg) => self.post(now, to, Body::Leadership(msg), out),
            Step::Persist => self.persist(out),
            Step::Announce(announced) => out.push(Output::Event(Event::Announced(announced))),
            Step::Yield(to) => out.push(Output::Event(Event::Yield(to))),
            Step::HandOver(to) => self.elect(election::Input::HandOver(to)),
        }
    }
}
