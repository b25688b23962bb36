//! What waits for the disk, and what does not.
//!
//! Most drivers write at once: what a step asks to persist is on disk before anything that follows in it is carried out. Then
//! nothing waits here. A driver that must not stand still while a disk is slow writes behind, and says when a write is done. In
//! the meantime
//!
//! - an incarnation that is not on disk is not born: it says nothing, and hears nothing;
//! - an election that must keep something, and the group that it forms, stand still, and what is for them is parked;
//! - everything else goes on: detectors and links beat, leaders poll, commands are answered.
//!
//! The leadership layer waits by itself: when its epoch is on disk it looks again whether it may lead.

use alloc::collections::VecDeque;

use super::Node;
use super::work::Work;
use crate::election::{Actions, Election};
use crate::group::Group;
use crate::io::{Durable, Outbox, Output};
use crate::leadership::{self, Leadership};
use crate::time::Time;

/// No more than this is parked. A node whose disk stands still for so long hears no more, as if the network had lost it.
const PARKED_MAX: usize = 1024;

#[derive(Clone, Debug, Default)]
pub(super) struct Writes {
    /// Whether the driver says when a write is done. If not, it is done when it is asked for.
    behind: bool,
    /// How many were asked for.
    asked: u64,
    /// How many are done.
    done: u64,
    /// What those that are not done hold as the epoch, in order.
    epochs: VecDeque<u64>,
    /// The write that holds this incarnation.
    birth: u64,
    /// The last write that the election or the group waits for.
    election: u64,
}

/// Who waits for a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// The whole incarnation.
    Incarnation,
    /// The election, and the group that it forms.
    Election,
    /// Nobody, or somebody who looks after that itself.
    Nobody,
}

impl Writes {
    fn ask(&mut self, waits: Waits, epoch: u64) {
        self.asked += 1;
        if !self.behind {
            self.done = self.asked;
            return;
        }
        self.epochs.push_back(epoch);
        match waits {
            Waits::Incarnation => self.birth = self.asked,
            Waits::Election => self.election = self.asked,
            Waits::Nobody => {}
        }
    }

    /// The first so many are done. The epoch of the last of them, if that is news.
    fn are_done(&mut self, writes: u64) -> Option<u64> {
        let mut epoch = None;
        while self.done < writes.min(self.asked) {
            self.done += 1;
            epoch = self.epochs.pop_front();
        }
        epoch
    }

    /// Whether the incarnation is not on disk yet.
    pub(super) fn is_unborn(&self) -> bool {
        self.done < self.birth
    }

    /// Whether carrying that out will have to wait.
    pub(super) fn delay<M>(&self, actions: &Actions<M>) -> bool {
        self.behind && actions.keep_something()
    }

    /// Whether the election stands still.
    pub(super) fn election_waits(&self) -> bool {
        self.is_unborn() || self.done < self.election
    }
}

impl<E: Election> Node<E> {
    /// The driver goes on while the disk works, and says with [`Input::Persisted`](crate::io::Input::Persisted) when it is done.
    #[must_use]
    pub fn writing_behind(mut self) -> Self {
        self.writes.behind = true;
        if let Some(leadership) = &mut self.leadership {
            leadership.write_behind();
        }
        self
    }

    pub(super) fn persist(&mut self, waits: Waits, out: &mut Outbox<E::Msg>) {
        let (incarnation, count) = (self.setup.incarnation, self.setup.count);
        let epoch = self.leadership.as_ref().map_or(0, Leadership::epoch_to_keep);
        let group = self.group.as_ref().and_then(Group::kept);
        self.writes.ask(waits, epoch);
        out.push(Output::Persist(Durable { incarnation, count, epoch, group }));
    }

    /// The first so many writes are on disk.
    pub(super) fn persisted(&mut self, now: Time, writes: u64) {
        let was_unborn = self.writes.is_unborn();
        let epoch = self.writes.are_done(writes);
        if was_unborn && !self.writes.is_unborn() {
            self.is_born(now);
        }
        if !self.writes.election_waits() {
            // It came before all that is queued now.
            while let Some(work) = self.parked.pop_back() {
                self.queue.push_front(work);
            }
        }
        if let Some(epoch) = epoch {
            self.lead(|leadership| leadership.written(now, epoch));
        }
    }

    /// Whether that must wait for the disk.
    pub(super) fn must_wait(&self, work: &Work<E::Msg>) -> bool {
        match work {
            Work::Elect(..) | Work::Do(_) | Work::Show(_) | Work::Name(..) => self.writes.election_waits(),
            Work::Group(_) | Work::Tell(_) => self.writes.election_waits(),
            Work::StartLinks | Work::Beat(..) | Work::Lead(leadership::Action::Send(..)) => {
                self.writes.is_unborn()
            }
            Work::Turned(_) | Work::Lead(_) | Work::Release(_) => false,
        }
    }

    /// Whether more has come than is kept while the disk stands still.
    pub(super) fn is_overrun(&self) -> bool {
        self.parked.len() + self.news.len() >= PARKED_MAX
    }
}
