//! What counts as elected: Stoller's ldrElected (3) and ldrsElected (6), and Garcia-Molina's second assertion.

use bellwether_proto::ident::{GroupId, NodeId};
use bellwether_proto::opinion::{Opinion, Status};

use super::opinions::Opinions;

/// How a state compares with a predicate.
pub(crate) enum Judgement {
    Holds,
    /// It does not, for this reason.
    Fails(String),
    /// There is nobody to judge, or no telling.
    Open,
}

/// ldrElected: every node is normal and its leader is up.
pub(super) fn leader_elected(opinions: &impl Opinions) -> Judgement {
    every_up_node(opinions, |id, opinion| led(opinions, id, opinion).err())
}

/// ldrsElected: every node is normal, and its leader is up and in its group.
pub(super) fn leaders_elected(opinions: &impl Opinions) -> Judgement {
    every_up_node(opinions, |id, opinion| match led(opinions, id, opinion) {
        Ok(leader) => apart(id, opinion.group, leader, opinions.opinion(leader).group),
        Err(why) => Some(why),
    })
}

/// Assertion 2: every node is normal, and all have one leader, which is up.
pub(super) fn one_leader_elected(opinions: &impl Opinions) -> Judgement {
    let mut first: Option<(NodeId, NodeId)> = None;
    for (id, opinion) in opinions.up() {
        match (led(opinions, id, &opinion), first) {
            (Err(why), _) => return Judgement::Fails(why),
            (Ok(leader), None) => first = Some((id, leader)),
            (Ok(leader), Some((other, its))) if its != leader => {
                return Judgement::Fails(format!(
                    "node {other} follows {its} and node {id} follows {leader}"
                ));
            }
            (Ok(_), Some(_)) => {}
        }
    }
    first.map_or(Judgement::Open, |_| Judgement::Holds)
}

fn every_up_node(opinions: &impl Opinions, fault: impl Fn(NodeId, &Opinion) -> Option<String>) -> Judgement {
    let mut up = opinions.up().peekable();
    if up.peek().is_none() {
        return Judgement::Open;
    }
    up.find_map(|(id, opinion)| fault(id, &opinion)).map_or(Judgement::Holds, Judgement::Fails)
}

/// The leader of a node that is normal under one who is up, or what is wrong.
fn led(opinions: &impl Opinions, id: NodeId, opinion: &Opinion) -> Result<NodeId, String> {
    if opinion.status != Status::Normal {
        // A node that has come up and shown nothing yet still has the opinion of a crashed one.
        let doing = match opinion.status {
            Status::Election => "is still electing",
            Status::Waiting => "is still waiting",
            Status::Down => "has shown nothing yet",
            Status::Reorganizing => "is still reorganizing",
            Status::Dead | Status::Normal => "is not normal",
        };
        return Err(format!("node {id} {doing}"));
    }
    let leader = opinion.leader.ok_or_else(|| format!("node {id} names no leader"))?;
    if opinions.is_up(leader) {
        Ok(leader)
    } else {
        Err(format!("node {id} follows {leader}, which is down"))
    }
}

fn apart(id: NodeId, group: Option<GroupId>, leader: NodeId, its: Option<GroupId>) -> Option<String> {
    let name = |group: Option<GroupId>| group.map_or_else(|| "none".to_owned(), |group| group.to_string());
    (group != its).then(|| {
        format!("node {id} follows {leader}, but is in group {} and {leader} in {}", name(group), name(its))
    })
}
