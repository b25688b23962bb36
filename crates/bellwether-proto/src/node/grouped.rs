//! What the group layer asks for.

use alloc::vec::Vec;

use super::Node;
use crate::election::{self, Election};
use crate::group::{Group, Step};
use crate::io::{Event, Outbox, Output};
use crate::message::{Body, Letter};
use crate::time::Time;

impl<E: Election> Node<E> {
    /// Does something with the group layer, if there is one, and carries out what follows, unless the election does not run.
    pub(super) fn regroup(&mut self, now: Time, out: &mut Outbox<E::Msg>, act: impl FnOnce(&mut Group)) {
        let Some(group) = self.group.as_mut().filter(|_| self.aside.is_none()) else { return };
        act(group);
        let steps = group.take_steps();
        self.follow_group(now, steps, out);
    }

    fn follow_group(&mut self, now: Time, steps: Vec<Step>, out: &mut Outbox<E::Msg>) {
        for step in steps {
            match step {
                Step::Send(to, msg) if self.history.is_some() => {
                    self.relink(now, out, |history| history.send(now, to, Letter::Group(msg)));
                }
                Step::Send(to, msg) => self.post(now, to, Body::Group(msg), out),
                Step::Persist => self.persist(out),
                Step::Event(event) => out.push(Output::Event(Event::Group(event))),
                Step::Plan(request) => out.push(Output::Plan(request)),
                Step::Reorganized => self.elect(now, election::Input::Reorganized, out),
                Step::Failed(peer) => {
                    self.elect(now, election::Input::ReorganizationFailed(peer), out);
                }
            }
        }
    }
}
