//! Who is a member, and who votes: what the file says, and what counts.
//!
//! A file says where to look for a cluster. Once the cluster was whole, its voters keep who votes, and the file does not count any
//! more: [`Differs`] says if it lists others.
//!
//! | who | is a member | is met |
//! |---|---|---|
//! | a voter that founded the cluster | while it votes | where the file says, or else where it was founded |
//! | a voter that was added or replaced | while it votes | where that said |
//! | one that the file lists and does not call a voter | always | where the file says |

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use bellwether_proto::ident::NodeId;

pub use bellwether_proto::exclusive::configuration::{Address, Configuration, Seat, Settling};
pub use bellwether_proto::exclusive::membership::{MemberChange, Membership, Unchanged};

/// What a file says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listed {
    /// Everybody, and where.
    pub(crate) peers: BTreeMap<NodeId, String>,
    /// Those that vote at first.
    pub(crate) voters: BTreeSet<NodeId>,
}

/// The file lists other voters than there are. It does not count, and should be put right.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Differs {
    /// The voters that the file lists.
    pub listed: BTreeSet<NodeId>,
    /// The voters in force.
    pub voters: BTreeSet<NodeId>,
}

impl fmt::Display for Differs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (listed, voters) = (Ids(&self.listed), Ids(&self.voters));
        write!(f, "the file lists the voters {listed}, but {voters} vote; the file does not count")
    }
}

struct Ids<'a>(&'a BTreeSet<NodeId>);

impl fmt::Display for Ids<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&ids.join(", "))
    }
}

impl Listed {
    /// Who is a member, and where each is met. Whoever was one stays one until it is certain that its vote is not needed.
    pub(crate) fn members(
        &self,
        known: &Membership,
        before: BTreeMap<NodeId, String>,
    ) -> BTreeMap<NodeId, String> {
        let Some(in_force) = in_force(known) else { return self.peers.clone() };
        let never_voted = self.peers.iter().filter(|(id, _)| !self.voters.contains(id));
        let mut members = if known.decided < in_force.number { before } else { BTreeMap::new() };
        members.extend(never_voted.map(|(id, address)| (*id, address.clone())));
        let before = in_force.before().into_iter().flatten();
        for (id, seat) in before.chain(&in_force.voters) {
            members.insert(*id, self.address_of(*id, seat));
        }
        if let Some((id, address)) = &known.joining {
            members.insert(*id, address.to_string());
        }
        members
    }

    /// Who is met only because it is to vote: it is no member otherwise.
    pub(crate) fn only_met(&self, known: &Membership) -> Option<NodeId> {
        let (id, _) = known.joining.as_ref()?;
        let never_voted = self.peers.contains_key(id) && !self.voters.contains(id);
        let votes = in_force(known).is_some_and(|in_force| in_force.asked().contains(id));
        (!never_voted && !votes).then_some(*id)
    }

    /// Those who founded the cluster may have moved since, and then their file says so.
    fn address_of(&self, id: NodeId, seat: &Seat) -> String {
        let listed = self.peers.get(&id).filter(|_| seat.since <= FIRST || seat.address.as_str().is_empty());
        listed.cloned().unwrap_or_else(|| seat.address.to_string())
    }

    /// Whether the file lists other voters than there are.
    pub(crate) fn differs(&self, known: &Membership) -> Option<Differs> {
        let voters: BTreeSet<NodeId> = in_force(known)?.voters.keys().copied().collect();
        (voters != self.voters).then(|| Differs { listed: self.voters.clone(), voters })
    }
}

/// The number of the configuration with which a cluster is founded.
const FIRST: u64 = 1;

/// While a cluster is being founded, files count.
fn in_force(known: &Membership) -> Option<&Configuration> {
    known.configuration.as_ref().filter(|configuration| !configuration.is_founding())
}

#[cfg(test)]
mod tests {
    use bellwether_proto::exclusive::ident::StoreId;

    use super::*;

    fn listed(peers: &[u32], voters: &[u32]) -> Listed {
        Listed {
            peers: peers.iter().map(|id| (NodeId(*id), format!("file-{id}:1"))).collect(),
            voters: voters.iter().copied().map(NodeId).collect(),
        }
    }

    fn address(text: &str) -> Address {
        Address::new(text).unwrap()
    }

    /// 1, 2 and 3 found it.
    fn founded() -> Configuration {
        let seat = |id: u32| (NodeId(id), StoreId(id.into()), address(&format!("founded-{id}:1")));
        Configuration::founding((1..=3).map(seat)).founded()
    }

    fn known(configuration: Configuration) -> Membership {
        Membership { decided: configuration.number, configuration: Some(configuration), joining: None }
    }

    fn met(listed: &Listed, known: &Membership) -> Vec<(u32, String)> {
        listed.members(known, listed.peers.clone()).into_iter().map(|(id, address)| (id.0, address)).collect()
    }

    fn at(members: &[(u32, &str)]) -> Vec<(u32, String)> {
        members.iter().map(|(id, address)| (*id, (*address).to_owned())).collect()
    }

    #[test]
    fn the_file_counts_until_it_is_known_who_votes() {
        let listed = listed(&[1, 2, 3, 4], &[1, 2, 3]);
        let all = at(&[(1, "file-1:1"), (2, "file-2:1"), (3, "file-3:1"), (4, "file-4:1")]);
        assert_eq!(met(&listed, &Membership::default()), all);
        assert_eq!(listed.differs(&Membership::default()), None);
        assert_eq!(met(&listed, &known(founded())), all, "one that never voted is a member");
        assert_eq!(listed.differs(&known(founded())), None);
    }

    #[test]
    fn a_voter_that_the_file_does_not_know_is_met_where_it_was_added() {
        let listed = listed(&[1, 2, 3], &[1, 2, 3]);
        let four = founded().with(NodeId(4), StoreId(4), address("added-4:1"));
        assert_eq!(met(&listed, &known(four.clone()))[3..], at(&[(4, "added-4:1")]));
        let told = listed.differs(&known(four)).unwrap().to_string();
        assert_eq!(told, "the file lists the voters 1, 2, 3, but 1, 2, 3, 4 vote; the file does not count");
    }

    #[test]
    fn a_voter_that_was_removed_is_no_member_when_that_is_settled_whatever_the_file_says() {
        let listed = listed(&[1, 2, 3], &[1, 2, 3]);
        let two = founded().without(NodeId(3));
        assert_eq!(met(&listed, &known(two.clone())).len(), 3, "its vote counts until it is settled");
        let settled = known(two.settled());
        assert_eq!(met(&listed, &settled), at(&[(1, "file-1:1"), (2, "file-2:1")]));
        let undecided = Membership { decided: 2, ..settled };
        assert_eq!(met(&listed, &undecided).len(), 3, "its vote may be needed");
    }

    #[test]
    fn a_voter_that_was_replaced_is_met_where_that_said_and_a_founder_where_the_file_says() {
        let listed = listed(&[1, 3], &[1, 3]);
        let replaced = founded().without(NodeId(3)).settled();
        let joining =
            Membership { joining: Some((NodeId(3), address("new-3:1"))), ..known(replaced.clone()) };
        let all = at(&[(1, "file-1:1"), (2, "founded-2:1"), (3, "new-3:1")]);
        assert_eq!((met(&listed, &joining), listed.only_met(&joining)), (all.clone(), Some(NodeId(3))));
        let replaced = replaced.with(NodeId(3), StoreId(33), address("new-3:1")).settled();
        assert_eq!(met(&listed, &known(replaced)), all);
    }
}
