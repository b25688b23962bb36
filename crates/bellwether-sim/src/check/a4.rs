//! A4 (Garcia-Molina, section IV): "Suppose that we have a set of operating nodes R which all have two way communication with
//! all other nodes in R. […] Also, assume that there is no superset of R with this property. If no node failures occur during
//! the election, the election algorithm will eventually transform the nodes in set R from any state to a state where: a) there
//! is a node i in R with S(i)·s = 'Normal' and S(i)·c = i, b) and for all other nodes j in R, S(j)·s = 'Normal,' S(j)·c = i and
//! S(j)·g = S(i)·g."
//!
//! R is a maximal clique. No algorithm can satisfy that where such sets overlap (E-GM9): the node that they share would have
//! to be in two groups. It is judged as it stands, to show so.
//!
//! The cliques need not be listed. Any two nodes that are connected are in some R together, so they must be in one group; and
//! their leader must be in every R that they are in, so it must be connected with everybody whom they are connected with.

use bellwether_proto::ident::NodeId;

use super::Facts;
use super::elected::{Judgement, leaders_elected};
use super::opinions::Opinions;
use super::while_stable::{WhileStable, c_g};

pub(super) fn new(facts: &Facts) -> WhileStable {
    WhileStable::within(facts, c_g(facts), cliques_are_groups)
}

pub(super) fn cliques_are_groups(opinions: &impl Opinions) -> Judgement {
    match leaders_elected(opinions) {
        Judgement::Holds => {}
        otherwise @ (Judgement::Fails(_) | Judgement::Open) => return otherwise,
    }
    let up: Vec<NodeId> = opinions.up().map(|(id, _)| id).collect();
    let pairs = up.iter().flat_map(|i| up.iter().map(|j| (*i, *j)));
    let mut connected = pairs.filter(|(i, j)| i == j || opinions.connected(*i, *j));
    connected.find_map(|(i, j)| apart(opinions, i, j)).map_or(Judgement::Holds, Judgement::Fails)
}

/// What is wrong with two nodes that are in one R, the second of which may be the first.
fn apart(opinions: &impl Opinions, i: NodeId, j: NodeId) -> Option<String> {
    let (a, b) = (opinions.opinion(i), opinions.opinion(j));
    if a.group != b.group || a.leader != b.leader {
        return Some(format!("{i} and {j} can speak with each other, but are in different groups"));
    }
    let leader = a.leader.filter(|leader| *leader != j && !opinions.connected(*leader, j))?;
    Some(format!("{i} follows {leader}, which is not among all who can speak with {i} and {j}"))
}
