//! What counts as elected: Stoller's ldrElected (3) and ldrsElected (6), and Garcia-Molina's second assertion.

use bellwether_proto::ident::{GroupId, NodeId};
use bellwether_proto::view::{Status, View};

use super::views::Views;

/// How a state compares with a predicate.
pub(crate) enum Standing {
    Holds,
    /// It does not, for this reason.
    Fails(String),
    /// There is nobody to judge, or no telling.
    Open,
}

/// ldrElected: every node is normal and its leader is up.
pub(super) fn leader_elected(views: &impl Views) -> Standing {
    every_up_node(views, |id, view| led(views, id, view).err())
}

/// ldrsElected: every node is normal, and its leader is up and in its group.
pub(super) fn leaders_elected(views: &impl Views) -> Standing {
    every_up_node(views, |id, view| match led(views, id, view) {
        Ok(leader) => apart(id, view.group, leader, views.view(leader).group),
        Err(why) => Some(why),
    })
}

/// Assertion 2: every node is normal, and all have one leader, which is up.
pub(super) fn one_leader_elected(views: &impl Views) -> Standing {
    let mut first: Option<(NodeId, NodeId)> = None;
    for (id, view) in views.up() {
        match (led(views, id, &view), first) {
            (Err(why), _) => return Standing::Fails(why),
            (Ok(leader), None) => first = Some((id, leader)),
            (Ok(leader), Some((other, its))) if its != leader => {
                return Standing::Fails(format!("node {other} follows {its} and node {id} follows {leader}"));
            }
            (Ok(_), Some(_)) => {}
        }
    }
    first.map_or(Standing::Open, |_| Standing::Holds)
}

fn every_up_node(views: &impl Views, fault: impl Fn(NodeId, &View) -> Option<String>) -> Standing {
    let mut up = views.up().peekable();
    if up.peek().is_none() {
        return Standing::Open;
    }
    up.find_map(|(id, view)| fault(id, &view)).map_or(Standing::Holds, Standing::Fails)
}

/// The leader of a node that is normal under one who is up, or what is wrong.
fn led(views: &impl Views, id: NodeId, view: &View) -> Result<NodeId, String> {
    if view.status != Status::Normal {
        // A node that has come up and shown nothing yet still has the view of a crashed one.
        let doing = match view.status {
            Status::Election => "is still electing",
            Status::Waiting => "is still waiting",
            Status::Down => "has shown nothing yet",
            Status::Reorganizing => "is still reorganizing",
            Status::Dead | Status::Normal => "is not normal",
        };
        return Err(format!("node {id} {doing}"));
    }
    let leader = view.leader.ok_or_else(|| format!("node {id} names no leader"))?;
    if views.is_up(leader) { Ok(leader) } else { Err(format!("node {id} follows {leader}, which is down")) }
}

fn apart(id: NodeId, group: Option<GroupId>, leader: NodeId, its: Option<GroupId>) -> Option<String> {
    let name = |group: Option<GroupId>| group.map_or_else(|| "none".to_owned(), |group| group.to_string());
    (group != its).then(|| {
        format!("node {id} follows {leader}, but is in group {} and {leader} in {}", name(group), name(its))
    })
}
