//! Ω: as Ψ, and what was suspected wrongly is taken back (Franceschetti and Bruck 1998, section 3.4).
//!
//! The rules are those of [`franceschetti`](super::franceschetti), all of them. Failures that only some perceive, and that pass, leave no
//! trace: no leader, and nothing remembered (theorem 3.3).
//!
//! Not to be confused with Raynal's Ω, which is a property. Here all agree on who has failed before anybody leads; a network in
//! which some pair can never speak while all others can has no new leader, for ever (weak liveness).
//!
//! Repaired: as Ψ; accept asks for all changes that a node sees (E-FB11), standings are told with the link (E-FB10).

use super::franceschetti::{
    ACCEPT_DOWN, ACCEPT_UP, CANCEL_DOWN, CANCEL_UP, CAND_DOWN, CAND_UP, Engine, Level, Msg, VIEW,
};
use super::{Actions, Channels, Election, InAgent, Input, Peers, Setup, Spec};
use crate::canonical::Form;
use crate::group::{IN_SERVICE, MEMBER, READY, READY_REPLY};
use crate::promise::Assumption::{BoundedDelay, FewCrashes, QuietEnd};
use crate::promise::{Promise, Property};
use crate::roster::Priority;
use crate::time::{Span, Time};
use crate::view::View;

/// What is to be known about `fb-omega`.
pub const SPEC: Spec = Spec {
    name: "fb-omega",
    document: "Franceschetti & Bruck 1998, Fig. 2",
    assumes: "links with a consistent history; in the end those who can speak with each other form a clique",
    guarantees: "nodes are in a view of members that were all linked, or dead; who leads it is the lightest of those who formed it; a majority forms one whenever it is a clique",
    messages: "as psi; a suspicion that passes costs twice as much, and no leader",
    in_agent: InAgent::Yes,
    priority: Priority::LowestId,
    detector: None,
    peers: Peers::Listed,
    channels: Channels::WithHistory,
    reorganizes: true,
    hands_over: false,
    kinds: &[
        CAND_DOWN,
        CAND_UP,
        ACCEPT_DOWN,
        ACCEPT_UP,
        CANCEL_DOWN,
        CANCEL_UP,
        VIEW,
        MEMBER,
        READY,
        READY_REPLY,
        IN_SERVICE,
    ],
    repaired: &[
        Promise { property: Property::ViewAgree, under: &[] },
        Promise { property: Property::OneLeaderPerView, under: &[] },
        Promise { property: Property::OneViewOrDead, under: &[] },
        Promise { property: Property::FakeClean, under: &[] },
        Promise { property: Property::A3, under: &[] },
        Promise { property: Property::Omega, under: &[BoundedDelay, FewCrashes, QuietEnd] },
    ],
    // "Led by a unique leader" at any given instant (section 1).
    printed: &[Promise { property: Property::Sle1, under: &[] }],
};

/// The algorithm's state at one node.
#[derive(Clone, Debug)]
pub struct FbOmega(Engine);

impl Election for FbOmega {
    type Msg = Msg;

    fn new(setup: Setup, _tau_fd: Span) -> Self {
        Self(Engine::new(Level::Omega, setup))
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
