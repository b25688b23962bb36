//! What was decided, seen from outside: what is on whose disk. It knows no machine and no clock.
//!
//! A write is *decided* when a majority of the voters of the configuration in force have had it on disk, each with the store that is
//! listed. It stays decided, whatever they accept later. Writes are ordered by their stamps. A write may be decided later than one
//! with a larger stamp, if both were under way at once; what was decided before a write was accepted anywhere comes before it.

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::exclusive::configuration::{Configuration, Votes};
use bellwether_proto::exclusive::grant::{Accepted, Content, Grant, Name, Token};
use bellwether_proto::exclusive::ident::{Age, Lease, Stamp, StoreId};
use bellwether_proto::ident::NodeId;

use super::promise::{Breach, Promise};

/// What was decided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Ledger {
    /// Whether all voters had one founding configuration on disk.
    whole: bool,
    in_force: Option<Configuration>,
    /// What is not decided yet.
    votes: BTreeMap<(Name, Stamp), Vote>,
    chains: BTreeMap<Name, BTreeMap<Stamp, Grant>>,
    /// Up to which lease of a node each voter has buried all.
    buried: BTreeMap<(NodeId, (NodeId, StoreId)), Age>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Vote {
    by: BTreeSet<(NodeId, StoreId)>,
    /// The largest token that was decided when it was first accepted.
    floor: Token,
}

impl Ledger {
    /// Of a cluster that was founded with that configuration.
    pub(super) fn founded(configuration: Configuration) -> Self {
        Self { whole: true, in_force: Some(configuration), ..Self::default() }
    }

    /// How many writes are decided.
    pub(super) fn decided(&self) -> usize {
        self.chains.values().map(BTreeMap::len).sum()
    }

    /// That voter has this on disk.
    pub(super) fn accepted(
        &mut self,
        voter: (NodeId, StoreId),
        name: &Name,
        accepted: &Accepted,
    ) -> Result<(), Breach> {
        if self.chains.get(name).is_some_and(|chain| chain.contains_key(&accepted.stamp)) {
            return Ok(());
        }
        let floor = self.largest(name);
        let vote = Vote { by: BTreeSet::new(), floor };
        let vote = self.votes.entry((name.clone(), accepted.stamp)).or_insert(vote);
        vote.by.insert(voter);
        match &accepted.content {
            Content::Configuration(configuration) => {
                self.configuration_accepted(accepted.stamp, configuration)
            }
            Content::Grant(grant) => self.grant_accepted(name, accepted.stamp, grant),
        }
    }

    /// That voter has it on disk that a node's leases up to that one are dead.
    pub(super) fn buried(&mut self, voter: (NodeId, StoreId), node: NodeId, age: Age) {
        let known = self.buried.entry((node, voter)).or_insert(age);
        *known = age.max(*known);
    }

    /// An agent's lease is valid.
    pub(super) fn valid(&self, lease: Lease) -> Result<(), Breach> {
        let of_node =
            self.buried.iter().filter(|((node, _), age)| *node == lease.life.node && lease.age() <= **age);
        let mut votes = Votes::default();
        of_node.for_each(|((_, (voter, store)), _)| votes.add(*voter, *store));
        match self.in_force.as_ref().is_some_and(|in_force| in_force.is_enough(&votes)) {
            true => broken(Promise::DeadStays, format!("{lease} is valid, and a majority has buried it")),
            false => Ok(()),
        }
    }

    /// An agent believes that it holds the name.
    pub(super) fn told(&self, name: &Name, lease: Lease, token: Token) -> Result<(), Breach> {
        let is_it =
            |grant: &Grant| grant.token == token && grant.holder.is_some_and(|holder| holder.lease == lease);
        match self.chains.get(name).is_some_and(|chain| chain.values().any(is_it)) {
            true => Ok(()),
            false => broken(
                Promise::ToldDecided,
                format!("{lease} was told that it holds {name} with token {token}, which is not decided"),
            ),
        }
    }

    fn largest(&self, name: &Name) -> Token {
        let tokens = self.chains.get(name).into_iter().flat_map(BTreeMap::values).map(|grant| grant.token);
        tokens.max().unwrap_or_default()
    }

    fn configuration_accepted(&mut self, stamp: Stamp, configuration: &Configuration) -> Result<(), Breach> {
        let vote = self.votes.get(&(Name::configuration(), stamp));
        let votes = vote.map_or(0, |vote| count(vote, configuration));
        if configuration.is_founding() {
            self.whole |= votes >= configuration.needed();
            return Ok(());
        }
        if !self.whole {
            return broken(
                Promise::Whole,
                "a configuration is in force that not all have accepted".to_owned(),
            );
        }
        if votes < configuration.needed() {
            return Ok(());
        }
        self.votes.remove(&(Name::configuration(), stamp));
        match &self.in_force {
            Some(known) if known != configuration => {
                broken(Promise::OneChain, format!("{configuration:?} is decided, and {known:?} was"))
            }
            _ => {
                self.in_force = Some(configuration.clone());
                Ok(())
            }
        }
    }

    fn grant_accepted(&mut self, name: &Name, stamp: Stamp, grant: &Grant) -> Result<(), Breach> {
        let Some(configuration) = self.in_force.as_ref().filter(|_| self.whole) else {
            return broken(Promise::Whole, format!("{name} is granted, and the cluster was never whole"));
        };
        let key = (name.clone(), stamp);
        let Some(vote) = self.votes.get(&key) else { return Ok(()) };
        if count(vote, configuration) < configuration.needed() {
            return Ok(());
        }
        let floor = vote.floor;
        self.votes.remove(&key);
        let chain = self.chains.entry(name.clone()).or_default();
        let judged = judge(chain, name, stamp, grant, floor);
        chain.insert(stamp, grant.clone());
        judged
    }
}

/// How many of these votes count.
fn count(vote: &Vote, configuration: &Configuration) -> usize {
    vote.by.iter().filter(|(voter, store)| configuration.counts(*voter, *store)).count()
}

/// One more grant is decided.
fn judge(
    chain: &BTreeMap<Stamp, Grant>,
    name: &Name,
    stamp: Stamp,
    grant: &Grant,
    floor: Token,
) -> Result<(), Breach> {
    let token = grant.token;
    let names_another =
        |other: &&Grant| other.token == token && other.holder.is_some() && other.holder != grant.holder;
    if let (Some(holder), Some(other)) = (grant.holder, chain.values().find(names_another)) {
        let what = format!("token {token} of {name} names {holder:?} and {:?}", other.holder);
        return broken(Promise::TokenOnce, what);
    }
    let is_known = chain.values().any(|other| other.token == token);
    if grant.holder.is_some() && !is_known && token <= floor {
        let what = format!("{name} is granted with token {token}, and {floor} was decided before");
        return broken(Promise::TokenGrows, what);
    }
    let before = chain.range(..stamp).next_back();
    let after = chain.range(stamp..).next();
    before.map_or(Ok(()), |(_, before)| follows(name, before, grant))?;
    after.map_or(Ok(()), |(_, after)| follows(name, grant, after))
}

/// Whether a grant may be the next that is decided. Between the two may be grants that never were.
fn follows(name: &Name, before: &Grant, grant: &Grant) -> Result<(), Breach> {
    if grant.holder.is_some() && grant.holder != before.holder && grant.token <= before.token {
        let what = format!("{name} changes hands with token {} after {}", grant.token, before.token);
        return broken(Promise::TokenGrows, what);
    }
    let goes_on = *grant == *before || *grant == before.freed() || grant.token > before.token;
    if grant.kind != before.kind || !goes_on {
        return broken(Promise::OneChain, format!("{name}: {grant:?} does not follow from {before:?}"));
    }
    Ok(())
}

fn broken(promise: Promise, what: String) -> Result<(), Breach> {
    Err(Breach { promise, what })
}
