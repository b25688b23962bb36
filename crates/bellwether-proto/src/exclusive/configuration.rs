//! Who votes, and how many votes are enough.
//!
//! A cluster begins with a configuration that all its voters accept, each with the id of its store: *founded*. Then the same
//! voters are in force, and from there on a majority is enough. A cluster that was never whole grants nothing, so that no two
//! lists of voters, and no voter that lost its disk before anything was promised, can make two clusters of one.

use alloc::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer, Serialize};

use super::ident::StoreId;
use crate::ident::NodeId;

/// The voters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Configuration {
    /// 0 while the cluster is being founded; 1 is the first in force.
    pub number: u64,
    /// Each with the id of its store: a voter whose disk was lost has another, and does not count.
    #[serde(deserialize_with = "voters")]
    pub voters: BTreeMap<NodeId, StoreId>,
}

impl Configuration {
    /// No more voters than this: each is asked for everything.
    pub const VOTERS_MAX: usize = 9;

    /// The configuration that all these voters must accept before there is a cluster.
    pub fn founding(voters: BTreeMap<NodeId, StoreId>) -> Self {
        Self { number: 0, voters }
    }

    /// The first in force.
    #[must_use]
    pub fn founded(&self) -> Self {
        Self { number: 1, voters: self.voters.clone() }
    }

    /// Whether it is only being founded.
    pub const fn is_founding(&self) -> bool {
        self.number == 0
    }

    /// Whether that voter, with that store, has a vote.
    pub fn counts(&self, voter: NodeId, store: StoreId) -> bool {
        self.voters.get(&voter) == Some(&store)
    }

    /// How many votes are enough.
    pub fn needed(&self) -> usize {
        if self.is_founding() { self.voters.len() } else { self.voters.len() / 2 + 1 }
    }

    /// Whether these votes are enough.
    pub fn is_enough(&self, votes: &Votes) -> bool {
        self.count(votes) >= self.needed()
    }

    /// How many of these votes count.
    pub fn count(&self, votes: &Votes) -> usize {
        votes.0.iter().filter(|(voter, store)| self.counts(*voter, *store)).count()
    }
}

/// From outside: neither empty nor too many.
fn voters<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<NodeId, StoreId>, D::Error> {
    let listed: alloc::vec::Vec<(NodeId, StoreId)> =
        crate::bounded::list::<{ Configuration::VOTERS_MAX }, D, _>(deserializer)?;
    let (len, voters) = (listed.len(), listed.into_iter().collect::<BTreeMap<_, _>>());
    if voters.is_empty() || voters.len() < len {
        return Err(serde::de::Error::custom("voters are one at least, and each is listed once"));
    }
    Ok(voters)
}

/// Who has said yes, with which store.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Votes(BTreeSet<(NodeId, StoreId)>);

impl Votes {
    /// One more.
    pub fn add(&mut self, voter: NodeId, store: StoreId) {
        self.0.insert((voter, store));
    }

    /// Whether that voter is among them.
    pub fn has(&self, voter: NodeId) -> bool {
        self.0.iter().any(|(known, _)| *known == voter)
    }

    /// Who.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, StoreId)> {
        self.0.iter().copied()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nobody has.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn votes(of: &[(u32, u128)]) -> Votes {
        Votes(of.iter().map(|(voter, store)| (NodeId(*voter), StoreId(*store))).collect())
    }

    #[test]
    fn all_found_a_cluster_and_a_majority_keeps_it() {
        let founding = Configuration::founding(votes(&[(1, 10), (2, 20), (3, 30)]).0.into_iter().collect());
        assert!(!founding.is_enough(&votes(&[(1, 10), (2, 20)])));
        assert!(founding.is_enough(&votes(&[(1, 10), (2, 20), (3, 30)])));
        let founded = founding.founded();
        assert!(founded.is_enough(&votes(&[(1, 10), (2, 20)])));
        assert!(!founded.is_enough(&votes(&[(1, 10), (2, 21)])), "a store that nobody knows has no vote");
        assert!(!founded.is_enough(&votes(&[(1, 10), (1, 11), (4, 40)])));
    }
}
