//! How nodes come up, end, stop and go on.

use bellwether_proto::detector::DetectorKind;
use bellwether_proto::election::Election;
use bellwether_proto::io::Input;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{DropReason, What};

use super::connections::News;
use super::{Host, World};

impl<E: Election> World<'_, E> {
    pub(super) fn boot_fresh(&mut self, at: usize) {
        let host = &mut self.hosts[at];
        if host.fresh && !host.paused {
            host.fresh = false;
            self.boot(at);
        }
    }

    pub(super) fn boot(&mut self, at: usize) {
        let now = self.now;
        let host = &mut self.hosts[at];
        if let Some(votes) = &mut host.votes {
            votes.begin_life();
        }
        let node = self.blueprint.node(host.id, &host.disk, host.votes.as_ref(), host.clock.reads(now));
        let node = match &self.application {
            Some(application) => node.with_planner(application.patience),
            None => node,
        };
        host.node = Some(if host.drive.is_some() { node.writing_behind() } else { node });
        self.record(at, What::Recover);
        self.tell_oracle(at, true);
        for peer in 0..self.hosts.len() {
            // Those that are about to start, at time 0, count as up.
            let Host { node, fresh, paused, .. } = &self.hosts[peer];
            if peer != at && node.is_none() && (!fresh || *paused) {
                let peer = self.hosts[peer].id;
                self.input(at, Input::Oracle { peer, alive: None });
            }
        }
        self.input(at, Input::Start);
        self.connect(at);
    }

    pub(super) fn crash(&mut self, at: usize) {
        self.end(at, false);
    }

    /// The node's process ends, with a goodbye or without.
    pub(super) fn end(&mut self, at: usize, goodbye: bool) {
        let host = &mut self.hosts[at];
        let (was_up, was_fresh, was_paused) = (host.node.is_some(), host.fresh, host.paused);
        let incarnation = host.known_as();
        host.fresh = false;
        host.paused = false;
        (host.trap, host.fuse) = (None, None);
        host.wake = Time::NEVER;
        host.news.clear();
        if let Some(drive) = &mut host.drive {
            drive.end();
        }
        if let Some(votes) = &mut host.votes {
            votes.end();
        }
        if was_up || was_paused {
            self.opinions_changed = true;
            self.record(at, What::Crash);
        }
        self.hosts[at].node = None;
        for message in std::mem::take(&mut self.hosts[at].inbox) {
            let msg = self.msg_ref(&message);
            self.record(at, What::Drop(msg, DropReason::Down));
        }
        if was_up || was_fresh {
            self.tell_oracle(at, false);
        }
        self.disconnect(at, incarnation, goodbye);
        if let Some(programs) = &mut self.programs {
            programs.end(at);
        }
    }

    pub(super) fn recover(&mut self, at: usize) {
        if self.hosts[at].node.is_none() && !self.hosts[at].fresh {
            self.boot(at);
        }
    }

    pub(super) fn pause(&mut self, at: usize) {
        let host = &mut self.hosts[at];
        if !host.paused && (host.node.is_some() || host.fresh) {
            host.paused = true;
            let fresh = host.fresh;
            self.record(at, What::Pause);
            if fresh {
                self.tell_oracle(at, false); // It is not up before it has started.
            }
        }
    }

    pub(super) fn resume(&mut self, at: usize) {
        if !self.hosts[at].paused {
            return;
        }
        self.hosts[at].paused = false;
        self.record(at, What::Resume);
        self.boot_fresh(at);
        while let Some(news) = self.hosts[at].news.pop_front() {
            self.hear(at, news);
        }
        while let Some(message) = self.hosts[at].inbox.pop_front() {
            self.arrive(message);
        }
        self.schedule_wake(at);
    }

    /// Tells every `perfect` detector the truth about a node.
    pub(super) fn tell_oracle(&mut self, about: usize, up: bool) {
        if self.blueprint.detector.kind != DetectorKind::Perfect {
            return;
        }
        let peer = self.hosts[about].id;
        let alive = up.then_some(self.hosts[about].disk.incarnation);
        for at in (0..self.hosts.len()).filter(|at| *at != about) {
            if self.hosts[at].node.is_none() {
                continue;
            }
            if self.hosts[at].paused {
                self.hosts[at].news.push_back(News::Oracle(peer, alive));
            } else {
                self.input(at, Input::Oracle { peer, alive });
            }
        }
    }
}
