//! What the election is told, and what it asks for.

use alloc::boxed::Box;
use core::mem;

use super::work::Work;
use super::writes::Waits;
use super::{Ending, Node};
use crate::cause::Cause;
use crate::election::{self, Action, Election};
use crate::group::Group;
use crate::io::{Event, Outbox, Output};
use crate::message::{Body, Joining, Letter};
use crate::opinion::Opinion;
use crate::time::Time;

impl<E: Election> Node<E> {
    /// Gives the election an input, and carries out its actions.
    pub(super) fn take_part(
        &mut self,
        now: Time,
        input: election::Input<E::Msg>,
        known: Option<Cause>,
        out: &mut Outbox<E::Msg>,
    ) {
        if self.aside.is_some() {
            return; // Its election does not run.
        }
        let named = self.shown.normal_leader();
        let mut actions = mem::take(&mut self.actions);
        let cause = election::decide(&mut self.election, now, input, (named, known), &mut actions);
        // The opinion is shown before the messages go out: an observer sees the cause before the effects. If it must be kept, it is
        // shown when it is.
        let opinion = self.election.opinion();
        if !self.writes.delay(&actions) {
            self.show(opinion, out);
        }
        for action in actions.drain() {
            if self.writes.election_waits() {
                self.parked.push_back(Work::Do(action));
                continue;
            }
            self.carry_out(now, action, out);
            if self.writes.election_waits() {
                self.parked.push_back(Work::Show(opinion));
            }
        }
        self.actions = actions;
        // After the election's messages: they make the others name whom this node names.
        if opinion.normal_leader() != named {
            let named = opinion.normal_leader();
            if self.writes.election_waits() {
                self.parked.push_back(Work::Name(named, cause));
            } else {
                self.name(now, named, cause);
            }
        }
        // What was formed is reorganized when all has been said that formed it.
        self.regroup(|_| {});
    }

    pub(super) fn show(&mut self, opinion: Opinion, out: &mut Outbox<E::Msg>) {
        if opinion != self.shown {
            self.shown = opinion;
            out.push(Output::Event(Event::Opinion(opinion)));
        }
    }

    pub(super) fn carry_out(&mut self, now: Time, action: Action<E::Msg>, out: &mut Outbox<E::Msg>) {
        match action {
            Action::Send { to, msg } if self.links.is_some() => {
                self.relink(|links| links.send(now, to, Letter::Election(msg)));
            }
            Action::Send { to, msg } => self.post(now, to, Body::Election(msg), out),
            Action::Install(members) => out.push(Output::Event(Event::ViewInstalled(members))),
            Action::Remember(pending) => out.push(Output::Event(Event::Pending(pending))),
            Action::Stand(membership) => self.relink(|links| links.stand(now, membership)),
            Action::Join { to, msg } => {
                let past = self.group.as_ref().map_or_else(Default::default, Group::past);
                self.post(now, to, Body::Join(Box::new(Joining { msg, past })), out);
            }
            Action::Form(formation) => {
                if let Some(group) = &mut self.group {
                    group.form(now, formation);
                }
            }
            Action::Disband => {
                if let Some(group) = &mut self.group {
                    group.disband();
                }
            }
            Action::Broadcast(msg) => {
                let seq = self.link.next_broadcast();
                out.push(Output::Broadcast(self.frame(seq, None, Body::Election(msg))));
            }
            Action::Persist { count } => {
                self.setup.count = count;
                self.persist(now, Waits::Election, out);
            }
            Action::Note { count } => {
                self.setup.count = count;
                self.persist(now, Waits::Nobody, out);
            }
            Action::BeginIncarnation(why) => self.ending = Some(Ending::Asked(why)),
            Action::Start(peer) => {
                if let Some(rank) = self.setup.roster.rank(peer) {
                    out.push(Output::Event(Event::Watch(peer)));
                    self.detector.start(now, rank, &mut self.mail);
                }
                if self.link.is_parted(peer) {
                    // The detector would find out in time. The election need not wait for what is known.
                    self.elect(election::Input::Gone(peer));
                }
            }
            Action::Stop(peer) => {
                if let Some(rank) = self.setup.roster.rank(peer) {
                    out.push(Output::Event(Event::Unwatch(peer)));
                    self.detector.stop(now, rank, &mut self.mail);
                }
            }
            Action::StopAll => {
                out.push(Output::Event(Event::UnwatchAll));
                self.detector.stop_all(now, &mut self.mail);
            }
            Action::PlayDead => {
                out.push(Output::Event(Event::PlayDead));
                self.detector.play_dead();
            }
            Action::PlayAlive => {
                out.push(Output::Event(Event::PlayAlive));
                self.detector.play_alive(now);
            }
        }
        self.post_mail(now, out);
    }
}
