//! The failure detector of a search: the shipped `perfect` one without any delay of its own, told by an oracle of the class
//! that the algorithm assumes.
//!
//! An accurate oracle tells of every crash and recovery at once, and the report is then due; when it goes out is open. That
//! makes a detector that is complete and accurate, and otherwise as slow as it likes. A fallible one tells late, if things
//! are still so by then, and sometimes what is not true; its reports go out at once, since it can be as late as it likes.
//! To the weaker, a node that plays dead to them is as good as dead.
//! What drives links with a history is an oracle as well: `links.rs`.

use bellwether_proto::detector::DetectorKind;
use bellwether_proto::election::{Election, Protocol, Spec};
use bellwether_proto::ident::Incarnation;
use bellwether_proto::io::{Input, Outbox};
use bellwether_proto::node::Node;
use bellwether_proto::roster::Roster;

use super::state::Host;

/// What tells the detectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Oracle {
    /// The algorithm has timers of its own.
    Silent,
    /// Tells the truth about crashes and recoveries at once.
    Accurate,
    /// Tells the truth late, and lies a bounded number of times.
    Fallible,
    /// Has links with a history go up and down, a bounded number of times for no reason.
    Links,
}

impl Oracle {
    /// Of the class that the algorithm assumes.
    pub(super) fn for_algorithm(spec: &Spec) -> Self {
        match spec.detector {
            _ if spec.channels.have_history() => Self::Links,
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

/// Whether an algorithm's messages may be lost or doubled one by one: those on a link with a history are not.
pub fn may_lose(protocol: Protocol) -> bool {
    Oracle::for_algorithm(protocol.spec()) != Oracle::Links
}

/// What the detector of `watcher` would find if it looked at `subject` now: the life it is in, or that it seems dead.
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
    // Another life than the one that was known: it was down in between.
    if known.is_some() && alive.is_some() && known != alive {
        node.handle(host.clock, Input::Oracle { peer, alive: None }, &mut outbox);
    }
    node.handle(host.clock, Input::Oracle { peer, alive }, &mut outbox);
    debug_assert!(outbox.is_empty(), "what an oracle says takes effect at a deadline");
}
