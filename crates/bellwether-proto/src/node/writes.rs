//! What waits for the disk, and what does not.
//!
//! Most drivers write at once: what a step asks to persist is on disk before anything that follows in it is carried out. Then
//! nothing waits here. A driver that must not stand still while a disk is slow writes behind, and says when a write is done. In
//! the meantime
//!
//! - an incarnation that is not on disk is not born: it says nothing, and hears only what leaders say and what its election will be
//!   told when it is, or it would believe in a leader that has said meanwhile that it goes;
//! - whoever has stood aside stands again when its next incarnation is on disk: until then the one of before hears and answers;
//! - an election that must keep something, and the group that it forms, stand still, and what is for them is parked;
//! - everything else goes on: detectors and links beat, leaders poll, commands are answered.
//!
//! The leadership layer waits by itself: when its epoch is on disk it looks again whether it may lead.

use alloc::collections::VecDeque;

use super::work::Work;
use super::{Ending, Node};
use crate::canonical::Form;
use crate::election::{Actions, Election};
use crate::exclusive;
use crate::group::Group;
use crate::ident::Incarnation;
use crate::io::{Durable, Outbox, Output};
use crate::leadership::{self, Leadership};
use crate::message::Body;
use crate::time::{Span, Time};

/// No more than this is parked. A node whose disk stands still for so long hears no more, as if the network had lost it.
const PARKED_MAX: usize = 1024;

/// Of so many writes the epoch is known one by one.
const EPOCHS_MAX: usize = 64;

/// No disk that works takes so long. Whoever waits for one that does goes aside, so that others can lead.
const HUNG: Span = Span::secs(5);

#[derive(Clone, Debug, Default)]
pub(super) struct Writes {
    /// Whether the driver says when a write is done. If not, it is done when it is asked for.
    behind: bool,
    /// How many were asked for.
    asked: u64,
    /// How many are done.
    done: u64,
    /// What those that are not done hold as the epoch: the number of a write, and its epoch. Not of every write, but of the last.
    epochs: VecDeque<(u64, u64)>,
    /// When the first of those was asked for that are not done.
    since: Time,
    /// The write that holds this incarnation.
    birth: u64,
    /// The write that holds the next, if that is waited for.
    next: Option<u64>,
    /// The latest incarnation that the disk was asked to hold.
    incarnation: Incarnation,
    /// The last write that the election or the group waits for.
    election: u64,
}

/// Who waits for a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// The whole incarnation.
    Incarnation,
    /// The next incarnation. This one goes on.
    NextIncarnation,
    /// The election, and the group that it forms.
    Election,
    /// Nobody, or somebody who looks after that itself.
    Nobody,
}

impl Writes {
    fn ask(&mut self, now: Time, waits: Waits, epoch: u64) {
        if self.done == self.asked {
            self.since = now;
        }
        self.asked += 1;
        match waits {
            Waits::Incarnation => self.birth = self.asked,
            Waits::NextIncarnation => self.next = Some(self.asked),
            Waits::Election => self.election = self.asked,
            Waits::Nobody => {}
        }
        if !self.behind {
            self.done = self.asked;
            return;
        }
        if self.epochs.len() == EPOCHS_MAX {
            self.epochs.pop_back();
        }
        self.epochs.push_back((self.asked, epoch));
    }

    /// The first so many are done. The epoch of the last of them, if that is news.
    fn are_done(&mut self, now: Time, writes: u64) -> Option<u64> {
        (self.done, self.since) = (self.done.max(writes.min(self.asked)), now);
        let mut epoch = None;
        while let Some((_, written)) = self.epochs.pop_front_if(|(no, _)| *no <= self.done) {
            epoch = Some(written);
        }
        epoch
    }

    /// When the disk has to be taken for broken, if anybody waits for it.
    pub(super) fn hung_at(&self) -> Time {
        if self.done < self.asked { self.since + HUNG } else { Time::NEVER }
    }

    pub(super) fn canonical(&self, now: Time, form: &mut Form) {
        for write in [self.asked, self.birth, self.election] {
            form.number(write.saturating_sub(self.done));
        }
        form.option(self.next, |form, write| form.number(write.saturating_sub(self.done)));
        form.deadline(now, self.hung_at());
        form.number(self.epochs.len() as u64);
        self.epochs.iter().for_each(|(_, epoch)| form.epoch(*epoch));
    }

    /// Whether the incarnation is not on disk yet.
    pub(super) fn is_unborn(&self) -> bool {
        self.done < self.birth
    }

    /// Whether the next incarnation is on disk, and waited for.
    fn hold_next(&self) -> bool {
        self.next.is_some_and(|write| write <= self.done)
    }

    /// Nobody waits for the next incarnation any more.
    pub(super) fn need_no_next(&mut self) {
        self.next = None;
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

    pub(super) fn persist(&mut self, now: Time, waits: Waits, out: &mut Outbox<E::Msg>) {
        let (incarnation, count) = (self.incarnation_to_keep(waits), self.setup.count);
        let epoch = self.leadership.as_ref().map_or(0, Leadership::epoch_to_keep);
        let group = self.group.as_ref().and_then(Group::kept);
        self.writes.ask(now, waits, epoch);
        out.push(Output::Persist(Durable { incarnation, count, epoch, group }));
    }

    /// A disk that was asked to hold the next incarnation does not go back to this one.
    fn incarnation_to_keep(&mut self, waits: Waits) -> Incarnation {
        let mine = self.setup.incarnation;
        let wanted = mine.next().filter(|_| waits == Waits::NextIncarnation).unwrap_or(mine);
        self.writes.incarnation = self.writes.incarnation.max(wanted);
        self.writes.incarnation
    }

    /// Whether the next incarnation is on disk. If not, this one goes on, aside: it hears who leads, and tells whoever claims to lead which
    /// epochs it has seen.
    pub(super) fn has_next(&mut self, now: Time, out: &mut Outbox<E::Msg>) -> bool {
        if self.writes.next.is_none() {
            self.aside = Some(Time::NEVER);
            self.persist(now, Waits::NextIncarnation, out);
        }
        self.writes.hold_next()
    }

    /// The first so many writes are on disk.
    pub(super) fn persisted(&mut self, now: Time, writes: u64) {
        let was_unborn = self.writes.is_unborn();
        let epoch = self.writes.are_done(now, writes);
        if was_unborn && !self.writes.is_unborn() {
            self.comes_to_life(now);
        }
        if !self.writes.election_waits() {
            // It came before all that is queued now.
            while let Some(work) = self.parked.pop_back() {
                self.queue.push_front(work);
            }
        }
        // After what was parked: that may be that the election names another.
        self.queue.extend(epoch.map(Work::Written));
        if self.writes.hold_next() {
            self.ending = Some(Ending::StoodAside);
        }
    }

    /// When this node has waited for its disk for too long. A leader does not wait: it has what it needs.
    pub(super) fn hung_at(&self) -> Time {
        let waits = |leadership: &Leadership| {
            leadership.awaits_disk() || self.writes.election_waits() && !leadership.is_leading()
        };
        let waits = self.leadership.as_ref().is_some_and(waits) && self.aside.is_none();
        if waits && !self.writes.is_unborn() { self.writes.hung_at() } else { Time::NEVER }
    }

    /// Goes aside for a while. Then another incarnation begins, when the disk has done its work.
    pub(super) fn give_way(&mut self, now: Time, out: &mut Outbox<E::Msg>) {
        self.stand_aside(now, now + HUNG, out);
        self.work_off(now, out);
    }

    /// Whether anybody is there who hears that, now or when the incarnation is on disk.
    #[inline]
    pub(super) fn is_there_to_hear(&self, body: &Body<E::Msg>) -> bool {
        !self.writes.is_unborn()
            || match body {
                Body::Election(_) | Body::Leadership(_) | Body::Exclusive(_) => !self.is_overrun(),
                Body::Link(_) | Body::Consistent(_) | Body::Detector(_) | Body::Join(_) | Body::Group(_) => {
                    false
                }
            }
    }

    /// Whether that must wait for the disk.
    pub(super) fn must_wait(&self, work: &Work<E::Msg>) -> bool {
        match work {
            Work::Elect(..)
            | Work::Do(_)
            | Work::Show(_)
            | Work::Name(..)
            | Work::Group(_)
            | Work::Tell(_) => {
                // Whoever is aside takes no part: nothing is left to wait for.
                self.aside.is_none() && self.writes.election_waits()
            }
            Work::StartLinks
            | Work::StartExclusive
            | Work::Beat(..)
            | Work::Lead(leadership::Action::Send(..)) => self.writes.is_unborn(),
            Work::Exclusive(action) => {
                matches!(**action, exclusive::Action::Send(..)) && self.writes.is_unborn()
            }
            Work::Turned(_) | Work::Written(_) | Work::Lead(_) | Work::Release(_) => false,
        }
    }

    /// What the node does itself is bounded. What comes from others is not.
    pub(super) fn park(&mut self, work: Work<E::Msg>) {
        if !(matches!(work, Work::Elect(..) | Work::Tell(_)) && self.is_overrun()) {
            self.parked.push_back(work);
        }
    }

    /// Whether more has come than is kept while the disk stands still.
    pub(super) fn is_overrun(&self) -> bool {
        self.parked.len() + self.news.len() >= PARKED_MAX
    }
}
