//! Which of Raynal's assumptions a scenario's world keeps.
//!
//! A world without a model is as timely as its latencies: it keeps every assumption about time, and not the one about
//! the order of responses. A stronger model keeps what a weaker one promises.

use bellwether_proto::ident::NodeId;
use bellwether_proto::promise::Assumption;

use super::aftermath::Aftermath;
use crate::scenario::{Model, ModelKind, Scenario};

/// Whether the world keeps one of the assumptions about what some node's links do from some time on.
pub(super) fn keeps(scenario: &Scenario, assumption: Assumption) -> bool {
    let down = Aftermath::of(scenario).down;
    let mut up = scenario.ids().filter(|id| !down.contains(id));
    let t = scenario.t() as usize;
    match assumption {
        Assumption::FewCrashes => down.len() <= t,
        Assumption::StrongestReachesAll => {
            up.next().is_some_and(|strongest| reaches_all(scenario, strongest))
        }
        Assumption::OneReachesAll => up.any(|node| reaches_all(scenario, node)),
        // A link to a node that is down is timely (section 4), so t crashes make everybody a t-source.
        Assumption::TSource => {
            begins_in_time(scenario)
                && (up.any(|node| reaches_all(scenario, node))
                    || match scenario.network.model {
                        Some(model @ Model { kind: ModelKind::TSource, .. }) => {
                            down.len() >= t || !down.contains(&model.source) && model.t as usize >= t
                        }
                        _ => false,
                    })
        }
        // With t crashes only n - t are left to respond, and all their responses are among the first n - t.
        Assumption::MessagePattern => match scenario.network.model {
            Some(model @ Model { kind: ModelKind::Mp, .. }) => {
                begins_in_time(scenario)
                    && (down.len() == t || !down.contains(&model.source) && model.t as usize >= t)
            }
            Some(Model { kind: ModelKind::Adversary, .. }) => false,
            Some(_) | None => down.len() == t,
        },
        _ => unreachable!("not an assumption about links from some time on"),
    }
}

/// Whether, from some time in the first half of the run on, what the node sends to anybody arrives in time.
fn reaches_all(scenario: &Scenario, node: NodeId) -> bool {
    let Some(model) = scenario.network.model else { return true };
    begins_in_time(scenario)
        && match model.kind {
            ModelKind::Synchronous | ModelKind::Gst => true,
            ModelKind::Kcs => node == model.source,
            ModelKind::TSource => node == model.source && model.t + 1 == scenario.nodes,
            ModelKind::TAccessible
            | ModelKind::TMovingSource
            | ModelKind::Mp
            | ModelKind::Combined
            | ModelKind::Adversary => false,
        }
}

fn begins_in_time(scenario: &Scenario) -> bool {
    scenario.network.model.is_none_or(|model| model.gst <= super::half_time(scenario))
}
