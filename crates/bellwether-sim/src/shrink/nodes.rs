//! Fewer nodes.

use bellwether_proto::ident::NodeId;

use super::times;
use super::trials::Trials;
use crate::scenario::{Fault, Planned, Scenario};

/// With more events there are too many ways to leave out a node and to move an event.
const EVENTS_MAX: usize = 8;

/// Leaves out nodes, and spares those that stay.
pub(super) fn fewer(best: &mut Scenario, trials: &mut Trials<'_>) {
    let candidates = |best: &Scenario| {
        let gone = best.ids().filter(|_| best.nodes > 1).map(|id| without(best, id));
        gone.chain(best.ids().map(|id| sparing(best, id))).collect::<Vec<_>>()
    };
    while let Some(smaller) = trials.smaller(best, candidates(best)) {
        *best = smaller;
    }
}

/// Leaves out a node and has an event happen at another time: with fewer nodes, less time passes before it matters.
pub(super) fn fewer_and_sooner(best: &mut Scenario, trials: &mut Trials<'_>) {
    let candidates = |best: &Scenario| {
        let fewer = best.ids().filter(|_| best.nodes > 1).map(|id| without(best, id));
        let moved = |fewer: Scenario| {
            let events = 0..fewer.events.len();
            events.flat_map(move |event| times::moved(&fewer, event)).collect::<Vec<_>>()
        };
        fewer.flat_map(moved).collect::<Vec<_>>()
    };
    while best.events.len() <= EVENTS_MAX
        && let Some(smaller) = trials.smaller(best, candidates(best))
    {
        *best = smaller;
    }
}

/// The scenario without a node. Those behind it move up, so that ids are still 1 to n.
pub(super) fn without(scenario: &Scenario, gone: NodeId) -> Scenario {
    let moved = |id: NodeId| match id {
        id if id == gone => None,
        id if id > gone => Some(NodeId(id.0 - 1)),
        id => Some(id),
    };
    let mut candidate = Scenario { nodes: scenario.nodes - 1, ..scenario.clone() };
    let network = &mut candidate.network;
    network.links = network
        .links
        .iter()
        .filter_map(|(from, to, rule)| Some((moved(*from)?, moved(*to)?, *rule)))
        .collect();
    if let Some(model) = &mut network.model {
        model.source = moved(model.source).unwrap_or(NodeId(1));
    }
    candidate.drift_ppm =
        scenario.drift_ppm.iter().filter_map(|(id, ppm)| Some((moved(*id)?, *ppm))).collect();
    if let Some(candidates) = &mut candidate.parameters.candidates {
        *candidates = candidates.iter().copied().filter_map(moved).collect();
    }
    let policy = &mut candidate.policy;
    policy.priority = policy.priority.iter().filter_map(|(id, it)| Some((moved(*id)?, *it))).collect();
    policy.preempt = policy.preempt.iter().filter_map(|(id, it)| Some((moved(*id)?, *it))).collect();
    let slow = &mut candidate.disk.slow;
    *slow = slow.iter().filter_map(|(id, it)| Some((moved(*id)?, *it))).collect();
    let others = candidate.nodes as usize - 1;
    candidate.detector.reporters = candidate.detector.reporters.min(others.max(1));
    candidate.events = events(scenario, moved);
    candidate
}

/// The scenario without faults of that node.
fn sparing(scenario: &Scenario, spared: NodeId) -> Scenario {
    let named = |id: NodeId| (id != spared).then_some(id);
    Scenario { events: events(scenario, named), ..scenario.clone() }
}

/// The events with other ids for nodes, or without some nodes. An event about no node is left out.
fn events(scenario: &Scenario, moved: impl Fn(NodeId) -> Option<NodeId>) -> Vec<Planned> {
    let events = scenario.events.iter();
    events
        .filter_map(|Planned { at, fault }| Some(Planned { at: *at, fault: about(fault, &moved)? }))
        .collect()
}

fn about(fault: &Fault, moved: &impl Fn(NodeId) -> Option<NodeId>) -> Option<Fault> {
    let nodes = |nodes: &[NodeId]| some(nodes.iter().copied().filter_map(moved).collect());
    let pairs = |pairs: &[(NodeId, NodeId)]| {
        some(pairs.iter().filter_map(|(one, other)| Some((moved(*one)?, moved(*other)?))).collect())
    };
    Some(match fault {
        Fault::Crash(who) => Fault::Crash(nodes(who)?),
        Fault::Recover(who) => Fault::Recover(nodes(who)?),
        Fault::Pause(who) => Fault::Pause(nodes(who)?),
        Fault::Resume(who) => Fault::Resume(nodes(who)?),
        Fault::Cut(links) => Fault::Cut(pairs(links)?),
        Fault::CutOneWay(links) => Fault::CutOneWay(pairs(links)?),
        Fault::Mend(links) => Fault::Mend(pairs(links)?),
        Fault::Partition(blocks) => {
            Fault::Partition(some(blocks.iter().filter_map(|block| nodes(block)).collect())?)
        }
        Fault::Slow { from, to, latency } => {
            Fault::Slow { from: moved(*from)?, to: moved(*to)?, latency: *latency }
        }
        Fault::DropNext { from, to, kind } => {
            Fault::DropNext { from: moved(*from)?, to: moved(*to)?, kind: kind.clone() }
        }
        Fault::Message { from, to, kind, nth, mishap } => {
            let (from, to) = (moved(*from)?, moved(*to)?);
            Fault::Message { from, to, kind: kind.clone(), nth: *nth, mishap: *mishap }
        }
        Fault::CrashBeforeSend { node, kind } => {
            Fault::CrashBeforeSend { node: moved(*node)?, kind: kind.clone() }
        }
        Fault::Perform { node, op } => Fault::Perform { node: moved(*node)?, op: *op },
        Fault::Resign(who) => Fault::Resign(nodes(who)?),
        Fault::ResignFor { node, hold } => Fault::ResignFor { node: moved(*node)?, hold: *hold },
        Fault::Stand(who) => Fault::Stand(nodes(who)?),
        Fault::Transfer { from, to } => Fault::Transfer { from: moved(*from)?, to: moved(*to)? },
        Fault::AddVoter(node) => Fault::AddVoter(moved(*node)?),
        Fault::RemoveVoter(node) => Fault::RemoveVoter(moved(*node)?),
        Fault::Leave(who) => Fault::Leave(nodes(who)?),
        Fault::Unlink(links) => Fault::Unlink(pairs(links)?),
        Fault::Refuse(links) => Fault::Refuse(pairs(links)?),
        Fault::Accept(links) => Fault::Accept(pairs(links)?),
        Fault::Work { node, ends_after } => Fault::Work { node: moved(*node)?, ends_after: *ends_after },
        Fault::Stall { node, lasts } => Fault::Stall { node: moved(*node)?, lasts: *lasts },
        Fault::Heal | Fault::Network { .. } => fault.clone(),
    })
}

fn some<T>(items: Vec<T>) -> Option<Vec<T>> {
    (!items.is_empty()).then_some(items)
}
