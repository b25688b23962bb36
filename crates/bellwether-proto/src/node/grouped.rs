//! The actions of the group layer.

use alloc::boxed::Box;

use super::Node;
use super::writes::Waits;
use crate::election::{self, Election};
use crate::group::Action;
use crate::io::{Event, Outbox, Output};
use crate::message::{Body, Letter};
use crate::time::Time;

impl<E: Election> Node<E> {
    pub(super) fn follow_group(&mut self, now: Time, action: Action, out: &mut Outbox<E::Msg>) {
        match action {
            Action::Send(to, msg) if self.links.is_some() => {
                self.relink(|links| links.send(now, to, Letter::Group(Box::new(msg))));
            }
            Action::Send(to, msg) => self.post(now, to, Body::Group(Box::new(msg)), out),
            Action::Persist => self.persist(now, Waits::Election, out),
            Action::Note => self.persist(now, Waits::Nobody, out),
            Action::Event(event) => out.push(Output::Event(Event::Group(event))),
            Action::Plan(request) => out.push(Output::Plan(Box::new(request))),
            Action::Reorganized => self.elect(election::Input::Reorganized),
            Action::Failed(peer) => self.elect(election::Input::ReorganizationFailed(peer)),
        }
    }
}
