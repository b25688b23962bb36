//! The failure detector of a search: the shipped `perfect` one without any delay of its own, told by an oracle of the class
//! that the algorithm assumes.
//!
//! An accurate oracle tells of every crash and recovery at once, and the report is then due; when it goes out is open. That
//! makes a detector that is complete and accurate, and otherwise as slow as it likes. A fallible one tells late, if things
//! are still so by then, and sometimes what is not true; its reports go out at once, since it can be as late as it likes.
//! To the weaker, a node that plays dead to them is as good as dead.
//! What drives consistent links is an oracle as well: `links.rs`.

use std::sync::Arc;

use bellwether_proto::detector::DetectorKind;
use bellwether_proto::election::{Election, Protocol, Spec};
use bellwether_proto::ident::Incarnation;
use bellwether_proto::io::{Input, Outbox};
use bellwether_proto::node::Node;
use bellwether_proto::roster::Roster;

use super::state::{Host, State};
use super::system::{Reaction, System, index_of};
use super::together::{self, Pace};
use super::transition::Transition;
use super::turn::report;

/// What tells the detectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Oracle {
    /// The algorithm has timers of its own.
    Silent,
    /// Tells the truth about crashes and recoveries at once.
    Accurate,
    /// Tells the truth late, and lies a bounded number of times.
    Fallible,
    /// Has consistent links go up and down, a bounded number of times for no reason.
    Links,
}

impl Oracle {
    /// Of the class that the algorithm assumes.
    pub(super) fn for_algorithm(spec: &Spec) -> Self {
        match spec.detector {
            _ if spec.channels.are_consistent() => Self::Links,
            None => Self::Silent,
            Some(DetectorKind::Perfect) => Self::Accurate,
            Some(_) => Self::Fallible,
        }
    }
}

/// Whether an algorithm's detector may report a node that is neither dead nor plays dead, or a link to such a node may fail.
pub fn may_lie(protocol: Protocol) -> bool {
    matches!(Oracle::for_algorithm(protocol.spec()), Oracle::Fallible | Oracle::Links)
}

/// Whether an algorithm's messages may be lost or doubled one by one: those on a consistent link are not.
pub fn may_lose(protocol: Protocol) -> bool {
    Oracle::for_algorithm(protocol.spec()) != Oracle::Links
}

/// What the detector of `watcher` would find if it looked at `subject` now: the incarnation it is in, or that it seems dead.
pub(super) fn truth<E: Election>(
    roster: &Roster,
    watcher: &Host<E>,
    subject: &Host<E>,
) -> Option<Incarnation> {
    let seems_dead = subject.plays_dead && roster.stronger(subject.id, watcher.id);
    subject.node.as_ref().filter(|_| !seems_dead).map(Node::incarnation)
}

/// Tells the detector of a host that is up something about another. It may make a deadline, and nothing else follows.
pub(super) fn tell<E: Election>(host: &mut Host<E>, about: &Host<E>, alive: Option<Incarnation>) {
    let peer = about.id;
    let known = host.told.get_mut(about.index()).and_then(|told| std::mem::replace(told, alive));
    let Some(node) = &mut host.node else { return };
    let mut outbox = Outbox::new();
    // Another incarnation than the one that was known: it was down in between.
    if known.is_some() && alive.is_some() && known != alive {
        node.handle(host.clock, Input::Oracle { peer, alive: None }, &mut outbox);
    }
    node.handle(host.clock, Input::Oracle { peer, alive }, &mut outbox);
    debug_assert!(outbox.is_empty(), "what an oracle says takes effect at a deadline");
}

impl<E: Election> System<E> {
    pub(super) fn for_each_telling(&self, state: &State<E>, to: usize, mut take: impl FnMut(Transition)) {
        if self.oracle == Oracle::Links {
            return self.for_each_link(state, to, state.left.lies, take);
        }
        let host = &state.hosts[to];
        // To see to what it finds out makes a node see to all that is due: so that goes first.
        if self.pace == Pace::Common && together::is_due(host) {
            return;
        }
        for (about, told) in host.told.iter().enumerate().filter(|(about, _)| *about != to) {
            let truth = truth(&self.blueprint.setup.roster, host, &state.hosts[about]);
            let (to, about) = (index_of(to), index_of(about));
            if *told != truth {
                take(Transition::Tell { to, about, cut: 0 });
            } else if truth.is_some() && state.left.lies > 0 {
                take(Transition::Lie { to, about, cut: 0 });
            }
        }
    }

    /// A detector finds out how things are with a peer, and reports it if that is news of a death.
    pub(super) fn tell(&self, base: State<E>, to: u8, about: u8) -> Option<Reaction<E>> {
        if self.oracle == Oracle::Links {
            return self.turn_link(base, to, about);
        }
        let (host, subject) = (&base.hosts[usize::from(to)], &base.hosts[usize::from(about)]);
        let truth = truth(&self.blueprint.setup.roster, host, subject);
        if *host.told.get(usize::from(about))? == truth {
            return None;
        }
        let mut after = host.opened();
        tell(&mut after, subject, truth);
        let outbox = report(&mut after);
        let turn = Arc::new(self.turn(Some(host), after, outbox));
        Some(Reaction::of(base, turn))
    }

    /// A detector reports a peer for no reason, once.
    pub(super) fn lie(&self, base: State<E>, to: u8, about: u8) -> Option<Reaction<E>> {
        if self.oracle == Oracle::Links {
            return self.turn_link(base, to, about);
        }
        let (host, subject) = (&base.hosts[usize::from(to)], &base.hosts[usize::from(about)]);
        let truth = truth(&self.blueprint.setup.roster, host, subject);
        if truth.is_none() || *host.told.get(usize::from(about))? != truth {
            return None;
        }
        let mut after = host.opened();
        tell(&mut after, subject, None);
        // What is known of a new incarnation is reported even when the peer is up again. So the lie is taken back before a
        // watch that begins anew can repeat it; a detector that reports no new incarnations must have told it by then.
        let outbox = match self.blueprint.detector.reports_new_incarnations {
            true => {
                tell(&mut after, subject, truth);
                report(&mut after)
            }
            false => {
                let outbox = report(&mut after);
                tell(&mut after, subject, truth);
                outbox
            }
        };
        let turn = Arc::new(self.turn(Some(host), after, outbox));
        Some(Reaction::of(base, turn))
    }

    /// Tells all others that a node is up, or down.
    pub(super) fn announce(&self, state: &mut State<E>, about: &Host<E>) {
        let alive = about.node.as_ref().map(Node::incarnation);
        for at in (0..state.hosts.len()).filter(|at| *at != about.index()) {
            if state.is_up_at(at) {
                let mut host = state.hosts[at].opened();
                tell(&mut host, about, alive);
                state.hosts[at] = self.seal(host);
            }
        }
    }

    /// All detectors know the truth.
    pub(super) fn settle_told(&self, state: &mut State<E>) {
        for at in 0..state.hosts.len() {
            if state.hosts[at].told.is_empty() {
                continue;
            }
            let mut host = state.hosts[at].opened();
            for (_, peer) in state.hosts.iter().enumerate().filter(|(other, _)| *other != at) {
                let truth = truth(&self.blueprint.setup.roster, &host, peer);
                tell(&mut host, peer, truth);
            }
            state.hosts[at] = self.seal(host);
        }
    }
}
