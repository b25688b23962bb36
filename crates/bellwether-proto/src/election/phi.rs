//! Φ: a leader once everybody agrees who has failed (Franceschetti and Bruck 1998, section 3.2).
//!
//! The rules are those of [`franceschetti`](super::franceschetti) for nodes that fail and do not come back: there is no cand_up. Under the
//! repaired rules a node that was cut off, or comes back, stays dead.
//!
//! Repaired: dead nodes have no memory (E-FB3), a view needs a majority unless told otherwise (E-FB6), and the others learn
//! of it (E-FB7).

use super::franceschetti::{ACCEPT_DOWN, CAND_DOWN, PRINTED, REPAIRED, VIEW, at_level};
use super::{Channels, GivesWay, InAgent, Mode, Peers, Spec};
use crate::roster::Priority;

/// The facts about `phi`.
pub const SPEC: Spec = Spec {
    name: "phi",
    document: "Franceschetti & Bruck 1998, section 3.2",
    assumes: "consistent links; nodes fail for good, and no link fails otherwise",
    guarantees: "all nodes that are left and linked agree who has failed, and only then have a leader, the lightest of them; a node that is cut off knows it",
    messages: "k(n-k-1) cand, as many accept and n-k-1 view for k failures",
    in_agent: InAgent::No("does not let anybody come back"),
    mode: Mode::Majority,
    priority: Priority::LowestId,
    gives_way: GivesWay::WithNextView,
    detector: None,
    peers: Peers::Listed,
    channels: Channels::Consistent,
    views: true,
    reorganizes: false,
    hands_over: false,
    kinds: &[CAND_DOWN, ACCEPT_DOWN, VIEW],
    repaired: REPAIRED,
    printed: PRINTED,
};

at_level!(Phi, Phi);

#[cfg(test)]
mod tests;
