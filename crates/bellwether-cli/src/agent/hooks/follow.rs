//! From what the member knows to what happened.

use std::collections::BTreeMap;

use bellwether::elections::{Election, Name};
use bellwether::{GrantKind, Member, Mode, NodeId};

use super::{Event, Happening, Hooks};

/// Tells hooks of everything that they are for, until the member ends.
pub(crate) async fn follow(member: Member, hooks: Hooks) {
    let cluster = async {
        if hooks.0.config.are_for_the_cluster() {
            follow_cluster(&member, &hooks).await;
        }
    };
    let names = async {
        if hooks.0.config.are_for_names() {
            follow_names(&member, &hooks).await;
        }
    };
    tokio::join!(cluster, names);
}

/// The leadership of the cluster, in any mode.
async fn follow_cluster(member: &Member, hooks: &Hooks) {
    let (leader, mut seen) = (Name::leader(), Seen::default());
    let is_exclusive = matches!(member.mode(), Mode::Exclusive(_));
    let mut changes = member.observe_after(0);
    while let Some(change) = changes.next().await {
        let now = change.leader.map(|leader| (leader, change.epoch));
        for (event, number) in seen.now(hooks.0.node, now) {
            hooks.tell(Happening {
                election: leader.clone(),
                event,
                token: is_exclusive.then_some(number),
                epoch: Some(number),
                leader: change.leader,
            });
        }
    }
}

/// Named elections.
async fn follow_names(member: &Member, hooks: &Hooks) {
    let (mut changes, mut leases) = (member.observe_elections(), member.lease_changes());
    let (mut all, mut was_valid) = (BTreeMap::new(), false);
    loop {
        let names = tokio::select! {
            names = changes.next() => match names {
                Some(names) => names,
                None => return,
            },
            changed = leases.changed() => match changed {
                // What is held through this member counts while its lease is valid.
                Ok(()) if member.lease_valid_until().is_some() == was_valid => continue,
                Ok(()) => all.keys().cloned().collect(),
                Err(_) => return,
            },
        };
        was_valid = member.lease_valid_until().is_some();
        for name in names.into_iter().filter(|name| *name != Name::leader()) {
            if hooks.0.config.of(&name).is_some() {
                let election = member.known_election(&name);
                look_at(name, election, was_valid, &mut all, hooks);
            }
        }
    }
}

/// Tells what is new about an election.
fn look_at(
    name: Name,
    election: Option<Election>,
    is_lease_valid: bool,
    all: &mut BTreeMap<Name, Seen>,
    hooks: &Hooks,
) {
    let is_there = election.is_some();
    let now = election.and_then(|election| {
        let holder = election.holder?.node;
        let counts = holder != hooks.0.node || election.kind == GrantKind::Token || is_lease_valid;
        counts.then_some((holder, election.token))
    });
    let seen = all.entry(name.clone()).or_default();
    for (event, token) in seen.now(hooks.0.node, now) {
        let leader = now.map(|(leader, _)| leader);
        hooks.tell(Happening { election: name.clone(), event, token: Some(token), epoch: None, leader });
    }
    if !is_there {
        all.remove(&name);
    }
}

/// What was seen of one election.
#[derive(Debug, Default)]
struct Seen {
    /// Who led last, and with which number.
    last: Option<(NodeId, u64)>,
    /// Whether this node leads, and with which.
    leads: Option<u64>,
}

impl Seen {
    /// What happened, if this is how things are now: each event with the number that it is about.
    fn now(&mut self, me: NodeId, leader: Option<(NodeId, u64)>) -> Vec<(Event, u64)> {
        let mut happened = Vec::new();
        let leads = leader.filter(|(node, _)| *node == me).map(|(_, number)| number);
        if let Some(before) = self.leads.filter(|before| leads != Some(*before)) {
            happened.push((Event::Lost, before));
        }
        match leader {
            Some((_, number)) if leads.is_some() && self.leads != leads => {
                happened.push((Event::Became, number));
            }
            Some((_, number)) if leads.is_none() && self.last != leader => {
                happened.push((Event::Other, number));
            }
            Some(_) | None => {}
        }
        self.leads = leads;
        self.last = leader.or(self.last);
        happened
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What happens to node 1, one after the other.
    fn events(leaders: &[Option<(u32, u64)>]) -> Vec<(Event, u64)> {
        let mut seen = Seen::default();
        let now = |leader: &Option<(u32, u64)>| leader.map(|(node, number)| (NodeId(node), number));
        leaders.iter().flat_map(|leader| seen.now(NodeId(1), now(leader))).collect()
    }

    #[test]
    fn each_change_is_told_once() {
        use Event::{Became, Lost, Other};

        let two = Some((2, 5));
        assert_eq!(events(&[None, two, two, None, two]), [(Other, 5)]);
        assert_eq!(
            events(&[Some((1, 6)), Some((1, 6)), None, Some((1, 6))]),
            [(Became, 6), (Lost, 6), (Became, 6)]
        );
        assert_eq!(
            events(&[Some((1, 6)), Some((1, 7)), Some((2, 8)), Some((3, 9))]),
            [(Became, 6), (Lost, 6), (Became, 7), (Lost, 7), (Other, 8), (Other, 9)]
        );
    }
}
