//! Φ: a leader once everybody agrees who has failed (Franceschetti and Bruck 1998, section 3.2).
//!
//! The rules are those of [`franceschetti`](super::franceschetti) for nodes that fail and do not come back: there is no cand_up. Under the
//! repaired rules a node that was cut off, or comes back, stays dead.
//!
//! Repaired: dead nodes have no memory (E-FB3), a view needs a majority unless told otherwise (E-FB6), and the others learn
//! of it (E-FB7).

use super::franceschetti::{ACCEPT_DOWN, CAND_DOWN, Engine, Level, Msg, VIEW};
use super::{Actions, Channels, Election, InAgent, Input, Peers, Setup, Spec};
use crate::canonical::Form;
use crate::promise::{Promise, Property};
use crate::roster::Priority;
use crate::time::{Span, Time};
use crate::view::View;

/// What is to be known about `phi`.
pub const SPEC: Spec = Spec {
    name: "phi",
    document: "Franceschetti & Bruck 1998, section 3.2",
    assumes: "links with a consistent history; nodes fail for good, and no link fails otherwise",
    guarantees: "all who are left and linked agree who has failed, and only then have a leader: the lightest of them; who is cut off knows it",
    messages: "k(n-k-1) cand, as many accept and n-k-1 view for k failures",
    in_agent: InAgent::No("does not let anybody come back"),
    priority: Priority::LowestId,
    detector: None,
    peers: Peers::Listed,
    channels: Channels::WithHistory,
    reorganizes: false,
    hands_over: false,
    kinds: &[CAND_DOWN, ACCEPT_DOWN, VIEW],
    repaired: &[
        Promise { property: Property::ViewAgree, under: &[] },
        Promise { property: Property::OneLeaderPerView, under: &[] },
        Promise { property: Property::OneViewOrDead, under: &[] },
    ],
    // "Led by a unique leader" at any given instant (section 1).
    printed: &[Promise { property: Property::Sle1, under: &[] }],
};

/// The algorithm's state at one node.
#[derive(Clone, Debug)]
pub struct Phi(Engine);

impl Election for Phi {
    type Msg = Msg;

    fn new(setup: Setup, _tau_fd: Span) -> Self {
        Self(Engine::new(Level::Phi, setup))
    }

    fn handle(&mut self, now: Time, input: Input<Msg>, out: &mut Actions<Msg>) {
        self.0.handle(now, input, out);
    }

    fn deadline(&self) -> Time {
        self.0.deadline()
    }

    fn view(&self) -> View {
        self.0.view()
    }

    fn canonical(&self, now: Time, form: &mut Form) {
        self.0.canonical(now, form);
    }

    fn breach(&self, before: &Self) -> Option<&'static str> {
        self.0.breach(&before.0)
    }
}

#[cfg(test)]
mod tests;
