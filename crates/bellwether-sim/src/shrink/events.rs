//! Fewer events, and less in each.

use bellwether_proto::ident::NodeId;

use super::trials::Trials;
use crate::scenario::{Fault, Mishap, Planned, Scenario};

/// Up to so many events, every pair of them is tried. A crash and the recovery after it often go only together.
const PAIRS_OF: usize = 16;

/// Leaves out events as long as that will do: halves first, then ever smaller parts, then any two.
pub(super) fn fewer(best: &mut Scenario, trials: &mut Trials<'_>) {
    in_parts(best, trials);
    while best.events.len() <= PAIRS_OF
        && let Some(smaller) = trials.smaller(best, without_pairs(best))
    {
        *best = smaller;
    }
}

/// Delta debugging. A part that could not be left out is tried again in smaller parts.
pub(super) fn in_parts(best: &mut Scenario, trials: &mut Trials<'_>) {
    let mut part = best.events.len().div_ceil(2).max(1);
    loop {
        let before = best.events.len();
        let mut at = 0;
        while at < best.events.len() && !trials.is_over() {
            let starts: Vec<_> = (at..best.events.len()).step_by(part).collect();
            let candidates = starts.iter().map(|start| without(best, *start, part));
            let Some(smaller) = trials.first(candidates) else { break };
            at = first_difference(best, &smaller);
            *best = smaller;
        }
        if part > 1 {
            part = part.div_ceil(2).min(best.events.len().max(1));
        } else if best.events.len() == before || trials.is_over() {
            break;
        }
    }
}

/// Names less in an event, or has less happen, and joins what happens at once.
pub(super) fn plainer(best: &mut Scenario, trials: &mut Trials<'_>) {
    let candidates = |best: &Scenario| {
        let joined = (1..best.events.len()).filter_map(|at| joined(best, at));
        let weaker = (0..best.events.len()).flat_map(|at| {
            let weaker = weaker(&best.events[at].fault, best);
            weaker.into_iter().map(move |fault| (at, fault))
        });
        let weaker = weaker.map(|(at, fault)| {
            let mut candidate = best.clone();
            candidate.events[at].fault = fault;
            candidate
        });
        joined.chain(weaker).collect::<Vec<_>>()
    };
    while let Some(smaller) = trials.smaller(best, candidates(best)) {
        *best = smaller;
    }
}

fn without(scenario: &Scenario, start: usize, count: usize) -> Scenario {
    let mut candidate = scenario.clone();
    candidate.events.drain(start..(start + count).min(scenario.events.len()));
    candidate
}

fn first_difference(one: &Scenario, other: &Scenario) -> usize {
    let same = one.events.iter().zip(&other.events).take_while(|(one, other)| one == other);
    same.count()
}

fn without_pairs(scenario: &Scenario) -> Vec<Scenario> {
    let count = scenario.events.len();
    let pairs = (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other)));
    pairs
        .map(|(one, other)| {
            let mut candidate = scenario.clone();
            candidate.events.remove(other);
            candidate.events.remove(one);
            candidate
        })
        .collect()
}

/// The event at that place and the one before as one, if they are of a kind and of one instant.
fn joined(scenario: &Scenario, at: usize) -> Option<Scenario> {
    let (first, second) = (&scenario.events[at - 1], &scenario.events[at]);
    if first.at != second.at {
        return None;
    }
    let fault = match (&first.fault, &second.fault) {
        (Fault::Crash(some), Fault::Crash(more)) => Fault::Crash(union(some, more)),
        (Fault::Recover(some), Fault::Recover(more)) => Fault::Recover(union(some, more)),
        (Fault::Pause(some), Fault::Pause(more)) => Fault::Pause(union(some, more)),
        (Fault::Resume(some), Fault::Resume(more)) => Fault::Resume(union(some, more)),
        (Fault::Cut(some), Fault::Cut(more)) => Fault::Cut(union(some, more)),
        (Fault::CutOneWay(some), Fault::CutOneWay(more)) => Fault::CutOneWay(union(some, more)),
        (Fault::Mend(some), Fault::Mend(more)) => Fault::Mend(union(some, more)),
        (Fault::Resign(some), Fault::Resign(more)) => Fault::Resign(union(some, more)),
        (Fault::Stand(some), Fault::Stand(more)) => Fault::Stand(union(some, more)),
        (Fault::Leave(some), Fault::Leave(more)) => Fault::Leave(union(some, more)),
        (Fault::Unlink(some), Fault::Unlink(more)) => Fault::Unlink(union(some, more)),
        (Fault::Refuse(some), Fault::Refuse(more)) => Fault::Refuse(union(some, more)),
        (Fault::Accept(some), Fault::Accept(more)) => Fault::Accept(union(some, more)),
        _ => return None,
    };
    let mut candidate = without(scenario, at, 1);
    candidate.events[at - 1] = Planned { at: first.at, fault };
    Some(candidate)
}

fn union<T: Copy + Ord>(some: &[T], more: &[T]) -> Vec<T> {
    let mut all = [some, more].concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// Weaker or shorter events to try instead.
fn weaker(fault: &Fault, scenario: &Scenario) -> Vec<Fault> {
    match fault {
        Fault::Crash(nodes) => shorter(nodes).map(Fault::Crash).collect(),
        Fault::Recover(nodes) => shorter(nodes).map(Fault::Recover).collect(),
        Fault::Pause(nodes) => shorter(nodes).map(Fault::Pause).collect(),
        Fault::Resume(nodes) => shorter(nodes).map(Fault::Resume).collect(),
        Fault::CutOneWay(pairs) => shorter(pairs).map(Fault::CutOneWay).collect(),
        Fault::Mend(pairs) => shorter(pairs).map(Fault::Mend).collect(),
        Fault::Cut(pairs) => {
            let back: Vec<_> = pairs.iter().map(|(one, other)| (*other, *one)).collect();
            let one_way = [pairs.clone(), back].map(Fault::CutOneWay);
            shorter(pairs).map(Fault::Cut).chain(one_way).collect()
        }
        Fault::Partition(blocks) => {
            let links = between(blocks, scenario);
            let fewer_blocks = shorter(blocks).map(Fault::Partition);
            let single = links.iter().map(|link| Fault::Cut(vec![*link]));
            single.chain(fewer_blocks).chain([Fault::Cut(links.clone())]).collect()
        }
        Fault::CrashBeforeSend { node, .. } => vec![Fault::Crash(vec![*node])],
        Fault::Network { latency, loss, duplicate, fifo } => {
            let (latency, loss, duplicate, fifo) = (*latency, *loss, *duplicate, *fifo);
            vec![
                Fault::Network { latency: None, loss, duplicate, fifo },
                Fault::Network { latency, loss: None, duplicate, fifo },
                Fault::Network { latency, loss, duplicate: None, fifo },
                Fault::Network { latency, loss, duplicate, fifo: None },
            ]
        }
        Fault::Resign(nodes) => shorter(nodes).map(Fault::Resign).collect(),
        Fault::Stand(nodes) => shorter(nodes).map(Fault::Stand).collect(),
        Fault::Leave(nodes) => shorter(nodes).map(Fault::Leave).collect(),
        Fault::Unlink(pairs) => shorter(pairs).map(Fault::Unlink).collect(),
        Fault::Refuse(pairs) => shorter(pairs).map(Fault::Refuse).collect(),
        Fault::Accept(pairs) => shorter(pairs).map(Fault::Accept).collect(),
        Fault::ResignFor { node, .. } => vec![Fault::Resign(vec![*node])],
        Fault::Transfer { from, .. } => vec![Fault::Resign(vec![*from])],
        Fault::Heal | Fault::Slow { .. } | Fault::DropNext { .. } | Fault::Perform { .. } => Vec::new(),
        Fault::Message { from, to, kind, nth: 1, mishap: Mishap::Drop } => {
            vec![Fault::DropNext { from: *from, to: *to, kind: kind.clone() }]
        }
        Fault::Message { .. } | Fault::Work { .. } | Fault::Stall { .. } => Vec::new(),
        Fault::AddVoter(_) | Fault::RemoveVoter(_) => Vec::new(),
    }
}

/// Each item by itself, then all but each.
fn shorter<T: Clone>(items: &[T]) -> impl Iterator<Item = Vec<T>> {
    let alone = items.iter().map(|item| vec![item.clone()]);
    let all_but = (0..items.len()).map(|at| {
        let mut rest = items.to_vec();
        rest.remove(at);
        rest
    });
    alone.chain(all_but).filter(|left| !left.is_empty() && left.len() < items.len())
}

/// The links that a partition cuts.
fn between(blocks: &[Vec<NodeId>], scenario: &Scenario) -> Vec<(NodeId, NodeId)> {
    let block_of = |id: NodeId| blocks.iter().position(|block| block.contains(&id));
    let pairs = scenario.ids().flat_map(|one| scenario.ids().map(move |other| (one, other)));
    pairs.filter(|(one, other)| one < other && block_of(*one) != block_of(*other)).collect()
}
