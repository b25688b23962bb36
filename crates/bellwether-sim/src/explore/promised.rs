//! Which promises of an algorithm a search can judge, and within which bounds they are made.

use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::promise::{Assumption, Promise, Property};

use super::bounds::Bounds;
use super::calm::{GOALS_OF_AGENTS, is_goal};
use crate::environment::promises;
use crate::scenario::Runs;

/// What the algorithm promises where no more happens than the bounds allow, as far as a search can judge it.
pub fn promised(protocol: Protocol, variant: Variant, nodes: u32, bounds: Bounds) -> Vec<Property> {
    let promises = protocol.spec().promises(variant).iter();
    let kept = promises.filter(|promise| {
        judgeable(promise.property)
            && promise.under.iter().all(|assumption| keeps(nodes, bounds, *assumption))
    });
    kept.map(|promise| promise.property).collect()
}

/// What agents promise on top of it, as far as a search can judge it.
pub fn promised_by_agents(protocol: Protocol, nodes: u32, bounds: Bounds) -> Vec<Property> {
    let promises = promises(protocol, Variant::Repaired, Runs::Agents).into_iter();
    let kept = promises.filter(|promise| {
        judgeable_of_agents(promise.property)
            && promise.under.iter().all(|assumption| keeps(nodes, bounds, *assumption))
    });
    kept.map(|promise| promise.property).collect()
}

/// Whether a search shows an algorithm as it is meant: one that needs clocks which agree would have one for each node.
pub fn can_search(protocol: Protocol) -> bool {
    let needs_clocks = |promise: &Promise| promise.under.contains(&Assumption::NoDrift);
    !protocol.spec().repaired.iter().all(needs_clocks)
}

/// Whether a search of elections can judge it: in a state, or by what becomes of one. What detectors owe takes a trace.
pub fn judgeable(property: Property) -> bool {
    let in_states = matches!(
        property,
        Property::A1
            | Property::A3
            | Property::Sle1
            | Property::Ale1
            | Property::OneLeaderPerView
            | Property::ViewAgree
            | Property::OneViewOrDead
    );
    let is_of_agents = judgeable_of_agents(property);
    in_states || is_goal(property) && !is_of_agents || property == Property::SingleSender
}

/// Whether a search of agents can judge it: by a step, or by what becomes of a state.
pub fn judgeable_of_agents(property: Property) -> bool {
    let by_steps = matches!(
        property,
        Property::Epoch
            | Property::EpochGrows
            | Property::EpochOnce
            | Property::AnnouncedOnce
            | Property::WorkEndsFirst
    );
    by_steps || GOALS_OF_AGENTS.contains(&property)
}

/// Whether all that a search looks at keeps an assumption. What need only hold from some time on holds in the calm that
/// liveness is judged by; before it, messages take as long as they like.
fn keeps(nodes: u32, bounds: Bounds, assumption: Assumption) -> bool {
    match assumption {
        Assumption::Reliable => bounds.losses == 0,
        Assumption::NoDuplicates => bounds.duplicates == 0,
        Assumption::NoCrashes => bounds.crashes == 0,
        Assumption::NoRecoveries => bounds.recoveries == 0,
        Assumption::FewCrashes => u32::from(bounds.crashes) <= (nodes - 1) / 2,
        // Channels are as the promise needs them, and so is the detector.
        Assumption::Fifo
        | Assumption::AccurateDetector
        | Assumption::ReportsCrashes
        | Assumption::ReportsUnreachable => true,
        // Every node has a clock of its own until calm comes; no algorithm that needs more than that can be searched.
        Assumption::NoDrift | Assumption::TrustedClocks => false,
        Assumption::BoundedDelay
        | Assumption::NoPauses
        | Assumption::QuickDisks
        | Assumption::ClocksAgree
        | Assumption::QuietEnd
        | Assumption::StrongestReachesAll
        | Assumption::OneReachesAll
        | Assumption::TSource
        | Assumption::MessagePattern => true,
    }
}
