//! Ω: as Ψ, and wrong suspicions are taken back (Franceschetti and Bruck 1998, section 3.4).
//!
//! The rules are those of [`franceschetti`](super::franceschetti), all of them. Failures that only some perceive, and that pass, leave no
//! trace: no leader, and nothing remembered (theorem 3.3).
//!
//! Not to be confused with Raynal's Ω, which is a property. Here all agree on who has failed before anybody leads; a network in
//! which some pair can never speak while all others can has no new leader, for ever (weak liveness).
//!
//! Repaired: as Ψ. A node accepts only when all changes that it sees are proposed (E-FB11), and every beat of a link
//! tells the sender's view and whether it is dead (E-FB10).

use super::franceschetti::{
    ACCEPT_DOWN, ACCEPT_UP, CANCEL_DOWN, CANCEL_UP, CAND_DOWN, CAND_UP, PRINTED, VIEW, at_level,
};
use super::{Channels, GivesWay, InAgent, Mode, Peers, Spec};
use crate::group::{IN_SERVICE, MEMBER, READY, READY_REPLY};
use crate::promise::Assumption::{BoundedDelay, FewCrashes, QuietEnd};
use crate::promise::{Promise, Property};
use crate::roster::Priority;

/// The facts about `fb-omega`.
pub const SPEC: Spec = Spec {
    name: "fb-omega",
    document: "Franceschetti & Bruck 1998, Fig. 2",
    assumes: "consistent links; in the end the nodes that can speak with each other form a clique",
    guarantees: "a node is dead, or in a view whose members were all linked; the lightest of those that formed a view leads it; a majority that is a clique forms one",
    messages: "as psi; a suspicion that passes costs twice as much, and no leader",
    in_agent: InAgent::Yes,
    mode: Mode::Majority,
    priority: Priority::LowestId,
    gives_way: GivesWay::WithNextView,
    detector: None,
    peers: Peers::Listed,
    channels: Channels::Consistent,
    views: true,
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
    printed: PRINTED,
};

at_level!(FbOmega, Omega);

#[cfg(test)]
mod tests;
