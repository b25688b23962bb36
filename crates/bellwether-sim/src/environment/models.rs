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
    let aftermath = Aftermath::of(scenario);
    let gone = aftermath.gone();
    let down = aftermath.down;
    let mut up = scenario.ids().filter(|id| !down.contains(id));
    let t = scenario.t() as usize;
    match assumption {
        Assumption::FewCrashes => gone <= scenario.few() as usize,
        Assumption::StrongestReachesAll => {
            up.next().is_some_and(|strongest| reaches_all(scenario, strongest))
        }
        Assumption::OneReachesAll => up.any(|node| reaches_all(scenario, node)),
        // A link to a node that is down is timely (section 4), so t crashes make everybody a t-source.
        Assumption::TSource => {
            up.any(|node| reaches_all(scenario, node))
                || promise_of(scenario, ModelKind::TSource).is_some_and(|model| {
                    down.len() >= t || !down.contains(&model.source) && model.t as usize >= t
                })
        }
        // With t crashes only n - t are left to respond, and all their responses are among the first n - t. Where messages
        // are as late as hostile links make them, a finite run is too short to show what follows from that.
        Assumption::MessagePattern => match promise_of(scenario, ModelKind::Mp) {
            Some(model) => down.len() == t || !down.contains(&model.source) && model.t as usize >= t,
            None => down.len() == t && scenario.ids().all(|node| reaches_all(scenario, node)),
        },
        _ => unreachable!("not an assumption about links from some time on"),
    }
}

/// Whether, from some time in the first half of the run on, what the node sends to anybody arrives in time.
fn reaches_all(scenario: &Scenario, node: NodeId) -> bool {
    let mut own = scenario.network.links.iter().filter(|(from, _, _)| *from == node);
    let Some(model) = scenario.network.model else {
        return own.all(|(_, _, rule)| rule.loss == 0.0) && Aftermath::of(scenario).loss == 0.0;
    };
    let promised = match model.kind {
        ModelKind::Synchronous | ModelKind::Gst => true,
        ModelKind::Kcs => node == model.source,
        ModelKind::TSource => node == model.source && model.t + 1 == scenario.nodes,
        ModelKind::TAccessible
        | ModelKind::TMovingSource
        | ModelKind::Mp
        | ModelKind::Combined
        | ModelKind::Adversary => false,
    };
    // A link with a rule of its own does not follow the model.
    promised && own.next().is_none() && begins_in_time(scenario, &model)
}

/// The model, if it is of that kind, begins in time, and no link has a rule of its own instead.
fn promise_of(scenario: &Scenario, kind: ModelKind) -> Option<Model> {
    let whole = scenario.network.links.is_empty();
    scenario.network.model.filter(|model| model.kind == kind && whole && begins_in_time(scenario, model))
}

fn begins_in_time(scenario: &Scenario, model: &Model) -> bool {
    model.gst <= super::half_time(scenario)
}
