//! Ψ: as Φ, for nodes that come back as well (Franceschetti and Bruck 1998, section 3.3).
//!
//! The rules are those of [`franceschetti`](super::franceschetti), without cancel: a node waits for ever for answers to a
//! mistaken proposal. So Ψ hangs if a failed link comes back before everybody has agreed. Ω mends that.
//!
//! Repaired: as Φ; and only neighbours in the view outrank a node, so that a lighter node can be admitted again
//! (E-FB5).

use super::franceschetti::{ACCEPT_DOWN, ACCEPT_UP, CAND_DOWN, CAND_UP, PRINTED, REPAIRED, VIEW, at_level};
use super::{Channels, GivesWay, InAgent, Mode, Peers, Spec};
use crate::roster::Priority;

/// The facts about `psi`.
pub const SPEC: Spec = Spec {
    name: "psi",
    document: "Franceschetti & Bruck 1998, section 3.3",
    assumes: "consistent links; nodes fail and come back whole, and no link fails otherwise",
    guarantees: "as phi, and a node that comes back is admitted once all agree that it is back",
    messages: "(k+q)(m-k+q-1) cand, as many accept and m-k+q-1 view for k failures and q repairs among m",
    in_agent: InAgent::No("hangs after a wrong suspicion"),
    mode: Mode::Majority,
    priority: Priority::LowestId,
    gives_way: GivesWay::WithNextView,
    detector: None,
    peers: Peers::Listed,
    channels: Channels::Consistent,
    views: true,
    reorganizes: false,
    hands_over: false,
    kinds: &[CAND_DOWN, CAND_UP, ACCEPT_DOWN, ACCEPT_UP, VIEW],
    repaired: REPAIRED,
    printed: PRINTED,
};

at_level!(Psi, Psi);

#[cfg(test)]
mod tests;
