//! One queue for all layers.
//!
//! A layer never calls another. It answers with steps; what a step has for another layer waits here for its turn. So no layer is
//! entered while it is running, and what happens first is seen first, by every layer.

use alloc::boxed::Box;

use super::Node;
use crate::election::{self, Election};
use crate::group;
use crate::io::Outbox;
use crate::leadership::{self, Cause, Leadership};
use crate::link::history;
use crate::message::Letter;
use crate::time::Time;

/// What a layer asks for.
#[derive(Clone, Debug)]
pub(super) enum Work<M> {
    /// Something for the election; and why it changes its mind, if it does and that is known.
    Elect(election::Input<M>, Option<Cause>),
    Link(history::Step<Letter<M>>),
    /// In a box: it is rare and large.
    Group(Box<group::Step>),
    Lead(leadership::Step),
}

impl<E: Election> Node<E> {
    /// Takes up what waits, in order, until there is nothing left. Only what drives the layers calls this, never a layer's
    /// own work.
    pub(super) fn work_off(&mut self, now: Time, out: &mut Outbox<E::Msg>) {
        loop {
            while let Some(work) = self.queue.pop_front() {
                match work {
                    Work::Elect(input, cause) => self.take_part(now, input, cause, out),
                    Work::Link(step) => self.follow_link(now, step, out),
                    Work::Group(step) => self.follow_group(now, *step, out),
                    Work::Lead(step) => self.follow_leadership(now, step, out),
                }
            }
            match self.next_life() {
                Some(incarnation) => self.begin_life(now, incarnation, out),
                None => return,
            }
        }
    }

    /// Does something with the links' histories, if there are any.
    pub(super) fn relink(&mut self, act: impl FnOnce(&mut history::Histories<Letter<E::Msg>>)) {
        if let Some(history) = &mut self.history {
            act(history);
            self.queue.extend(history.drain().map(Work::Link));
        }
    }

    /// Does something with the group layer, if there is one and the election runs.
    pub(super) fn regroup(&mut self, act: impl FnOnce(&mut group::Group)) {
        if let Some(group) = self.group.as_mut().filter(|_| self.aside.is_none()) {
            act(group);
            self.queue.extend(group.drain().map(|step| Work::Group(Box::new(step))));
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
}
