//! ALE2 (Stoller, section 5): as ALE2', "and such that the number of groups is at most the minimum number of fully
//! connected components needed to cover the system's connectivity graph".
//!
//! Stoller says that no algorithm here satisfies it. His counterexample is wrong (E-ST8): leaders that are pairwise
//! unconnected are an independent set, a clique holds at most one of them, and so there are never too many groups.
//! That argument is tried first; a cover is only computed where it fails.

use std::collections::BTreeMap;

use bellwether_proto::ident::{GroupId, NodeId};

use super::Facts;
use super::clique_cover::{Graph, cover};
use super::elected::{Judgement, leaders_elected};
use super::opinions::Opinions;
use super::while_stable::WhileStable;

pub(super) fn new(facts: &Facts) -> WhileStable {
    WhileStable::new(facts, elected_in_few_groups)
}

pub(super) fn elected_in_few_groups(opinions: &impl Opinions) -> Judgement {
    match leaders_elected(opinions) {
        Judgement::Holds => few_groups(opinions),
        otherwise @ (Judgement::Fails(_) | Judgement::Open) => otherwise,
    }
}

/// Given ldrsElected: whether the groups are few enough.
fn few_groups(opinions: &impl Opinions) -> Judgement {
    let leaders = leaders_by_group(opinions);
    if pairwise_unconnected(opinions, &leaders) {
        return Judgement::Holds;
    }
    let up: Vec<NodeId> = opinions.up().map(|(id, _)| id).collect();
    let bounds = cover(&Graph::new(up.len(), |a, b| opinions.connected(up[a], up[b])));
    if leaders.len() <= bounds.at_least {
        Judgement::Holds
    } else if leaders.len() > bounds.at_most {
        let names: Vec<String> = leaders.values().map(NodeId::to_string).collect();
        let (groups, names, cliques) = (leaders.len(), names.join(", "), bounds.at_most);
        Judgement::Fails(format!(
            "there are {groups} groups, led by {names}, where {cliques} cliques cover all"
        ))
    } else {
        Judgement::Open
    }
}

/// Each group's leader. Given ldrsElected it is in the group, so that no two groups have the same.
fn leaders_by_group(opinions: &impl Opinions) -> BTreeMap<Option<GroupId>, NodeId> {
    let mut leaders = BTreeMap::new();
    for (_, opinion) in opinions.up() {
        if let Some(leader) = opinion.leader {
            leaders.entry(opinion.group).or_insert(leader);
        }
    }
    leaders
}

fn pairwise_unconnected(opinions: &impl Opinions, leaders: &BTreeMap<Option<GroupId>, NodeId>) -> bool {
    let leaders: Vec<NodeId> = leaders.values().copied().collect();
    leaders.iter().enumerate().all(|(i, a)| leaders[i + 1..].iter().all(|b| !opinions.connected(*a, *b)))
}
