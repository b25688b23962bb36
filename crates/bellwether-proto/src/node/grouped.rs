//! The actions of the group layer.

use alloc::boxed::Box;

use super::Node;
use crate::election::{self, Election};
use crate::group::Step;
use crate::io::{Event, Outbox, Output};
use crate::message::{Body, Letter};
use crate::time::Time;

impl<E: Election> Node<E> {
    pub(super) fn follow_group(&mut self, now: Time, step: Step, out: &mut Outbox<E::Msg>) {
        match step {
            Step::Send(to, msg) if self.links.is_some() => {
                self.relink(|links| links.send(now, to, Letter::Group(Box::new(msg))));
            }
            Step::Send(to, msg) => self.post(now, to, Body::Group(Box::new(msg)), out),
            Step::Persist => self.persist(out),
            Step::Event(event) => out.push(Output::Event(Event::Group(event))),
            Step::Plan(request) => out.push(Output::Plan(Box::new(request))),
            Step::Reorganized => self.elect(election::Input::Reorganized),
            Step::Failed(peer) => self.elect(election::Input::ReorganizationFailed(peer)),
        }
    }
}
