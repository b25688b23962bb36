//! One state of a cluster by itself: who is up, what each shows, who can speak with whom. What a trace has told is one,
//! and a state that a search has reached is another; both are judged by the same definitions.

use bellwether_proto::group::TaskDigest;
use bellwether_proto::ident::NodeId;
use bellwether_proto::promise::Property;
use bellwether_proto::time::Span;
use bellwether_proto::view::View;

use super::elected::{Standing, leader_elected, leaders_elected, one_leader_elected};
use super::{
    Facts, a1, a2, a3, a4, a4_prime, ale1, ale2, omega, one_leader_per_view, sle1, sle2, while_stable,
};

/// What nodes show at one moment.
pub(crate) trait Views {
    /// The nodes that are up, and what they show.
    fn up(&self) -> impl Iterator<Item = (NodeId, View)>;

    /// Whether that node is up.
    fn is_up(&self, id: NodeId) -> bool;

    /// What the node shows; nothing much if it is down.
    fn view(&self, id: NodeId) -> View;

    /// The task description in place at the node, if there is one.
    fn task(&self, id: NodeId) -> Option<TaskDigest>;

    /// Whether messages pass in both directions.
    fn connected(&self, a: NodeId, b: NodeId) -> bool;
}

/// How a state by itself breaks a property that must hold in every state; `None` also for properties of another kind.
pub(crate) fn breach(property: Property, views: &impl Views) -> Option<String> {
    match property {
        Property::A1 => a1::dispute(views),
        Property::A3 => a3::dispute(views),
        Property::Sle1 => sle1::dispute(views),
        Property::Ale1 => ale1::dispute(views),
        Property::OneLeaderPerView => one_leader_per_view::dispute(views),
        _ => None,
    }
}

/// Whether a state is one that the system must come to and then stay in; `None` for properties of another kind.
pub(crate) fn settled(property: Property, views: &impl Views) -> Option<Standing> {
    match property {
        Property::A2 => Some(one_leader_elected(views)),
        Property::A4 => Some(a4::cliques_are_groups(views)),
        Property::A4Prime => Some(a4_prime::elected_within_reach(views)),
        Property::Sle2 => Some(leader_elected(views)),
        Property::Ale2Prime => Some(leaders_elected(views)),
        Property::Ale2 => Some(ale2::elected_in_few_groups(views)),
        Property::Omega => Some(omega::standing(views)),
        _ => None,
    }
}

/// How long the system may take for that from an arbitrary state, where the papers give a bound.
pub(crate) fn bound(property: Property, facts: &Facts) -> Option<Span> {
    match property {
        Property::A2 => Some(a2::c_gm(facts) * 2),
        Property::A4 | Property::A4Prime => Some(while_stable::c_g(facts)),
        Property::Sle2 => Some(sle2::c_s(facts) * 2),
        Property::Ale2Prime | Property::Ale2 => Some(while_stable::c_a(facts)),
        _ => None,
    }
}
