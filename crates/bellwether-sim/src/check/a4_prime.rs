//! A4' (Souto 2021, "Solution (2/2)", after Stoller): in a stable system, in bounded time, "a) S(i).s = NORMAL ∧ S(i).g =
//! S(S(i).c).g ∧ (⟨i, S(i).c⟩ ∈ E*), b) the number of groups is at most the size of a minimum-sized clique cover".
//!
//! That is ALE2, with a leader that can be reached, if only through others.

use bellwether_proto::ident::NodeId;

use super::Facts;
use super::ale2::elected_in_few_groups;
use super::elected::Judgement;
use super::opinions::Opinions;
use super::while_stable::{WhileStable, c_g};

pub(super) fn new(facts: &Facts) -> WhileStable {
    WhileStable::within(facts, c_g(facts), elected_within_reach)
}

pub(super) fn elected_within_reach(opinions: &impl Opinions) -> Judgement {
    match elected_in_few_groups(opinions) {
        Judgement::Holds => {}
        otherwise @ (Judgement::Fails(_) | Judgement::Open) => return otherwise,
    }
    let mut led = opinions.up().filter_map(|(id, opinion)| Some((id, opinion.leader?)));
    let lost = led.find(|(id, leader)| !reaches(opinions, *id, *leader));
    lost.map_or(Judgement::Holds, |(id, leader)| {
        Judgement::Fails(format!(
            "node {id} follows {leader}, which it cannot reach, not even through others"
        ))
    })
}

/// Whether the two are connected, directly or through nodes that are up: E*.
fn reaches(opinions: &impl Opinions, from: NodeId, to: NodeId) -> bool {
    let (mut reached, mut next) = (vec![from], 0);
    while let Some(at) = reached.get(next).copied() {
        if at == to || opinions.connected(at, to) {
            return true;
        }
        let further =
            opinions.up().map(|(id, _)| id).filter(|id| !reached.contains(id) && opinions.connected(at, *id));
        reached.extend(further.collect::<Vec<_>>());
        next += 1;
    }
    false
}
