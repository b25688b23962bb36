//! Who votes, and how many votes are enough.
//!
//! A cluster begins with a configuration that all its voters accept, each with the id of its store: *founded*. Then the same
//! voters are in force, and from there on a majority is enough. A cluster that was never whole grants nothing, so that no two
//! lists of voters, and no voter that lost its disk before anything was promised, can make two clusters of one.
//!
//! ```text
//!   0 founding ──all──► 1 in force ──both majorities──► 2 after a change, not settled ──both majorities──► 3 settled ──► …
//! ```
//!
//! A configuration that changes the voters lists those before it, too, until it is settled. Whatever counts by it needs a majority
//! of both. So each configuration says by itself what is enough.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use super::grant::Token;
use super::ident::StoreId;
use crate::ident::NodeId;

/// Where a member is met: text that only drivers understand. Empty if that is not known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Address(Arc<str>);

impl Address {
    /// The longest, in bytes.
    pub const MAX: usize = 255;

    /// That address; `None` if it is too long.
    pub fn new(text: &str) -> Option<Self> {
        (text.len() <= Self::MAX).then(|| Self(text.into()))
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Address {
    /// Not known.
    fn default() -> Self {
        Self("".into())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::new(&text).ok_or_else(|| serde::de::Error::custom("an address has at most 255 bytes"))
    }
}

/// A voter's seat.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Seat {
    /// The id of its store: a voter whose disk was lost has another, and does not count.
    pub store: StoreId,
    /// Where it is met.
    pub address: Address,
    /// The number of the configuration by which it came to vote. One that was replaced has a later seat.
    pub since: u64,
}

/// Voters with their seats.
pub type Seats = BTreeMap<NodeId, Seat>;

/// The voters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Configuration {
    /// 0 while the cluster is being founded; 1 is the first in force. Every change and its settling have one of their own.
    pub number: u64,
    /// Who votes.
    #[serde(deserialize_with = "voters")]
    pub voters: Seats,
    /// What is left to do before the next change.
    pub settling: Settling,
    /// Tokens are larger than this: after a rescue nobody knows which were granted.
    pub floor: Token,
}

/// What is left to do before the voters may change again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Settling {
    /// Nothing.
    Done,
    /// A voter was added or removed: a majority of those before it counts, too, until all that they know is known to the others.
    After(#[serde(deserialize_with = "voters")] Seats),
    /// A majority was lost, and these are those who survived: nothing is granted until every lease is over.
    Rescued,
}

impl Configuration {
    /// No more voters than this: each is asked for everything.
    pub const VOTERS_MAX: usize = 9;

    /// A rescued configuration has a number so far above any that is known.
    pub const RESCUE: u64 = 1 << 32;

    /// Tokens begin so far above any that is known to those who survived.
    pub const MARGIN: u64 = 1 << 32;

    /// The configuration that all these voters must accept before there is a cluster.
    pub fn founding(voters: impl IntoIterator<Item = (NodeId, StoreId, Address)>) -> Self {
        let seat = |(node, store, address)| (node, Seat { store, address, since: 1 });
        let voters = voters.into_iter().map(seat).collect();
        Self { number: 0, voters, settling: Settling::Done, floor: Token::default() }
    }

    /// The first in force.
    #[must_use]
    pub fn founded(&self) -> Self {
        Self { number: 1, ..self.clone() }
    }

    /// The next, with one voter more. It is not settled.
    #[must_use]
    pub fn with(&self, node: NodeId, store: StoreId, address: Address) -> Self {
        let mut next = self.changed();
        next.voters.insert(node, Seat { store, address, since: next.number });
        next
    }

    /// The next, with one voter less. It is not settled.
    #[must_use]
    pub fn without(&self, node: NodeId) -> Self {
        let mut next = self.changed();
        next.voters.remove(&node);
        next
    }

    fn changed(&self) -> Self {
        let settling = Settling::After(self.voters.clone());
        Self { number: self.number + 1, settling, ..self.clone() }
    }

    /// The next, with the same voters and nothing left to do.
    #[must_use]
    pub fn settled(&self) -> Self {
        Self { number: self.number + 1, settling: Settling::Done, ..self.clone() }
    }

    /// Those of the voters, of whom the others are lost for good. `largest` is the largest token that they know.
    #[must_use]
    pub fn rescued(&self, survivors: &BTreeSet<NodeId>, largest: Token) -> Self {
        let mut voters = self.voters.clone();
        voters.retain(|voter, _| survivors.contains(voter));
        let floor = Token(self.floor.max(largest).0.saturating_add(Self::MARGIN));
        Self { number: self.number.saturating_add(Self::RESCUE), voters, settling: Settling::Rescued, floor }
    }

    /// Whether it is only being founded.
    pub const fn is_founding(&self) -> bool {
        self.number == 0
    }

    /// How often the voters were rescued. Within a generation the configuration that was written last counts, and one of a later
    /// generation before all of an earlier.
    pub const fn generation(&self) -> u64 {
        self.number / Self::RESCUE
    }

    /// Whether the voters may change.
    pub fn is_settled(&self) -> bool {
        self.settling == Settling::Done
    }

    /// The voters before it, if they count, too.
    pub const fn before(&self) -> Option<&Seats> {
        match &self.settling {
            Settling::After(before) => Some(before),
            Settling::Done | Settling::Rescued => None,
        }
    }

    /// All whose votes count for anything.
    pub fn asked(&self) -> BTreeSet<NodeId> {
        self.seats().flat_map(BTreeMap::keys).copied().collect()
    }

    /// Whether that voter, with that store, has a vote.
    pub fn counts(&self, voter: NodeId, store: StoreId) -> bool {
        self.seats().any(|seats| has(seats, voter, store))
    }

    /// Whether these votes are enough.
    pub fn is_enough(&self, votes: &Votes) -> bool {
        let count = |seats: &Seats| votes.iter().filter(|(voter, store)| has(seats, *voter, *store)).count();
        self.seats().all(|seats| count(seats) >= self.needed(seats))
    }

    /// How many voters can be spoken with, and how many are needed. Of two majorities that are, the one that misses more.
    pub fn quorum(&self, reaches: impl Fn(NodeId) -> bool) -> (usize, usize) {
        let quorum = |seats: &Seats| {
            let reached = seats.keys().filter(|voter| reaches(**voter)).count();
            (reached, self.needed(seats))
        };
        let misses = |(reached, needed): &(usize, usize)| *needed as isize - *reached as isize;
        self.seats().map(quorum).max_by_key(misses).unwrap_or((0, 1))
    }

    fn seats(&self) -> impl Iterator<Item = &Seats> {
        core::iter::once(&self.voters).chain(self.before())
    }

    /// All found a cluster, and a majority keeps it. All who survive tell what they know before a majority of them is enough.
    fn needed(&self, seats: &Seats) -> usize {
        match self.settling {
            _ if self.is_founding() => seats.len(),
            Settling::Rescued => seats.len(),
            Settling::Done | Settling::After(_) => seats.len() / 2 + 1,
        }
    }
}

fn has(seats: &Seats, voter: NodeId, store: StoreId) -> bool {
    seats.get(&voter).is_some_and(|seat| seat.store == store)
}

/// From outside: neither empty nor too many.
fn voters<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Seats, D::Error> {
    let listed: Vec<(NodeId, Seat)> =
        crate::bounded::list::<{ Configuration::VOTERS_MAX }, D, _>(deserializer)?;
    let (len, voters) = (listed.len(), listed.into_iter().collect::<Seats>());
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

    fn founding(of: &[(u32, u128)]) -> Configuration {
        Configuration::founding(votes(of).iter().map(|(voter, store)| (voter, store, Address::default())))
    }

    #[test]
    fn all_found_a_cluster_and_a_majority_keeps_it() {
        let founding = founding(&[(1, 10), (2, 20), (3, 30)]);
        assert!(!founding.is_enough(&votes(&[(1, 10), (2, 20)])));
        assert!(founding.is_enough(&votes(&[(1, 10), (2, 20), (3, 30)])));
        let founded = founding.founded();
        assert!(founded.is_enough(&votes(&[(1, 10), (2, 20)])));
        assert!(!founded.is_enough(&votes(&[(1, 10), (2, 21)])), "a store that nobody knows has no vote");
        assert!(!founded.is_enough(&votes(&[(1, 10), (1, 11), (4, 40)])));
    }

    #[test]
    fn a_change_needs_both_majorities_until_it_is_settled() {
        let three = founding(&[(1, 10), (2, 20), (3, 30)]).founded();
        let four = three.with(NodeId(4), StoreId(40), Address::default());
        assert!(!four.is_enough(&votes(&[(1, 10), (4, 40)])), "two of four");
        assert!(four.is_enough(&votes(&[(1, 10), (2, 20), (4, 40)])));
        let two = three.without(NodeId(1));
        assert!(!two.is_enough(&votes(&[(1, 10), (2, 20)])), "two of three, but one of the two");
        assert!(two.is_enough(&votes(&[(2, 20), (3, 30)])));
        assert_eq!((two.number, two.settled().number), (2, 3));
        assert_eq!(four.quorum(|node| node.0 < 3), (2, 3));
        let one = two.settled().without(NodeId(2));
        assert!(!one.is_enough(&votes(&[(3, 30)])));
        assert!(one.settled().is_enough(&votes(&[(3, 30)])));
    }
}
