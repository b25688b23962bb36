//! Disks: what a node persists is on its disk at once, or after a while. In the meantime the node goes on.
//!
//! One write at a time. What is asked for while one is under way waits, and only the last of it is written, because a state
//! replaces the one before it as a whole. A crash loses what is not written yet. A process writes its incarnation before it
//! starts; how long that takes is not simulated.

use bellwether_proto::canonical::Form;
use bellwether_proto::election::Election;
use bellwether_proto::exclusive::voter::Change;
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::{Durable, Input};
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{What, Written};

use super::connections::News;
use super::{BallotBoxes, Disks, World};
use crate::scenario::{Fault, Scenario};
use crate::votes::Votes;

/// A disk that takes its time.
#[derive(Debug)]
pub(super) struct Drive {
    latency: Span,
    /// Nothing is written before this.
    stalled: Time,
    /// How many writes the node has asked for.
    asked: u64,
    writing: Option<(u64, Durable)>,
    next: Option<(u64, Durable)>,
    /// Counts the writes of all processes, so that the end of one that a crash has undone is told from others.
    begun: u64,
}

impl Drive {
    /// That of the node, if it is ever slow.
    pub(super) fn of(id: NodeId, scenario: &Scenario) -> Option<Self> {
        let latency = scenario.disk.of(id);
        let stalls = |fault: &Fault| matches!(fault, Fault::Stall { node, .. } if *node == id);
        let is_slow = latency > Span::ZERO || scenario.events.iter().any(|planned| stalls(&planned.fault));
        is_slow.then_some(Self {
            latency,
            stalled: Time::ZERO,
            asked: 0,
            writing: None,
            next: None,
            begun: 0,
        })
    }

    /// The process has ended, and what it was writing is lost.
    pub(super) fn end(&mut self) {
        (self.asked, self.writing, self.next) = (0, None, None);
        self.begun += 1;
    }

    pub(super) fn canonical(&self, now: Time, form: &mut Form) {
        form.deadline(now, self.stalled);
        for write in [&self.writing, &self.next] {
            form.number(write.as_ref().map_or(0, |(writes, _)| self.asked - writes + 1));
        }
    }
}

impl<E: Election> World<'_, E> {
    /// The node asks for that to be on its disk.
    pub(super) fn persist(&mut self, at: usize, durable: Durable) {
        let Some(drive) = &mut self.hosts[at].drive else { return self.keep(at, durable) };
        drive.asked += 1;
        let writes = drive.asked;
        if writes == 1 {
            self.keep(at, durable);
            self.later(at, Span::ZERO, News::Persisted(writes));
            return;
        }
        drive.next = Some((writes, durable));
        self.write_next(at);
    }

    fn write_next(&mut self, at: usize) {
        let Some(drive) = &mut self.hosts[at].drive else { return };
        if drive.writing.is_some() || drive.next.is_none() {
            return;
        }
        drive.writing = drive.next.take();
        drive.begun += 1;
        let (latency, no) = (drive.latency, drive.begun);
        self.later(at, latency, News::Written(no));
    }

    /// The disk has done its work, unless it stands still, or its process has ended. A process that is paused is told later.
    pub(super) fn written(&mut self, at: usize, no: u64) {
        let now = self.now;
        let Some(drive) = &mut self.hosts[at].drive else { return };
        if drive.begun != no {
            return;
        }
        if drive.stalled > now {
            let left = drive.stalled.since(now);
            return self.later(at, left, News::Written(no));
        }
        if let Some((writes, durable)) = drive.writing.take() {
            self.keep(at, durable);
            self.later(at, Span::ZERO, News::Persisted(writes));
        }
    }

    /// The node, which runs, is told that so many of its writes are done.
    pub(super) fn persisted(&mut self, at: usize, writes: u64) {
        self.write_next(at);
        self.input(at, Input::Persisted { writes });
    }

    /// The voter of the node asks for that to be on its disk.
    pub(super) fn keep_vote(&mut self, at: usize, change: Change) {
        if let Some(votes) = &mut self.hosts[at].votes {
            votes.ask(change);
        }
    }

    /// Begins to write what voters have asked for.
    pub(super) fn write_votes(&mut self, at: usize) {
        let host = &mut self.hosts[at];
        let latency = host.drive.as_ref().map_or(Span::ZERO, |drive| drive.latency);
        if let Some(no) = host.votes.as_mut().and_then(Votes::write) {
            self.later(at, latency, News::VotesWritten(no));
        }
    }

    /// The disk has done its work, as [`World::written`].
    pub(super) fn votes_written(&mut self, at: usize, no: u64) {
        let host = &mut self.hosts[at];
        let stalled = host.drive.as_ref().map_or(Time::ZERO, |drive| drive.stalled);
        if stalled > self.now {
            let left = stalled.since(self.now);
            return self.later(at, left, News::VotesWritten(no));
        }
        if let Some(commits) = host.votes.as_mut().and_then(|votes| votes.written(no)) {
            if let (Some(BallotBoxes(keep)), Some(votes)) = (&mut self.ballot_boxes, &mut host.votes) {
                keep(&mut votes.kept);
            }
            self.later(at, Span::ZERO, News::Kept(commits));
        }
    }

    /// The node, which runs, is told that so many changes are on its disk.
    pub(super) fn votes_kept(&mut self, at: usize, commits: u64) {
        self.write_votes(at);
        self.input(at, Input::Kept { commits });
    }

    /// Nothing is written for a while.
    pub(super) fn stall(&mut self, at: usize, lasts: Span) {
        let until = self.now + lasts;
        if let Some(drive) = &mut self.hosts[at].drive {
            drive.stalled = drive.stalled.max(until);
        }
    }

    fn keep(&mut self, at: usize, durable: Durable) {
        let written = Written::from(&durable);
        self.hosts[at].disk = match &mut self.disks {
            Some(Disks(keep)) => keep(durable),
            None => durable,
        };
        self.record(at, What::Persist(written));
    }
}
