//! What was decided, seen from outside: what is on whose disk. It knows no machine and no clock.
//!
//! A write is *decided* when enough voters have had it on disk, each with the store that is listed, by the configuration that counts
//! for its ballot; or when enough voters of the configuration in force hold it at once. It stays decided, whatever they accept later. Writes are ordered by their stamps. A write may be decided later than
//! one with a larger stamp, if both were under way at once; what was decided before a write was accepted anywhere comes before it.

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::exclusive::configuration::{Configuration, Votes};
use bellwether_proto::exclusive::grant::{Accepted, Content, Grant, Name, Token};
use bellwether_proto::exclusive::ident::{Age, Ballot, Lease, Stamp, StoreId};
use bellwether_proto::ident::NodeId;

use super::promise::{Breach, Promise};

/// What was decided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Ledger {
    /// Whether all voters had one founding configuration on disk.
    whole: bool,
    /// Every configuration that came into force, and the ballot in which it first did.
    configurations: Vec<(Option<Ballot>, Configuration)>,
    /// What is not decided yet.
    votes: BTreeMap<(Name, Stamp), Vote>,
    chains: BTreeMap<Name, BTreeMap<Stamp, Grant>>,
    /// What each store holds of a name.
    latest: BTreeMap<(Name, NodeId, StoreId), Stamp>,
    /// Up to which lease of a node each voter has buried all.
    buried: BTreeMap<(NodeId, (NodeId, StoreId)), Age>,
    /// Up to which lease of a node all are dead.
    dead: BTreeMap<NodeId, Age>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Vote {
    content: Content,
    by: Votes,
    /// The largest token that was decided when it was first accepted.
    floor: Token,
}

impl Ledger {
    /// Of a cluster that was founded with that configuration.
    pub(super) fn founded(configuration: Configuration) -> Self {
        Self { whole: true, configurations: vec![(None, configuration)], ..Self::default() }
    }

    /// How many writes are decided.
    pub(super) fn decided(&self) -> usize {
        self.chains.values().map(BTreeMap::len).sum()
    }

    /// How many configurations came into force.
    pub(super) fn configured(&self) -> usize {
        self.configurations.len()
    }

    /// The configuration in force.
    pub(super) fn in_force(&self) -> Option<&Configuration> {
        self.configurations.last().map(|(_, by)| by)
    }

    /// That voter has this on disk.
    pub(super) fn accepted(
        &mut self,
        (voter, store): (NodeId, StoreId),
        name: &Name,
        accepted: &Accepted,
    ) -> Result<(), Breach> {
        if self.chains.get(name).is_some_and(|chain| chain.contains_key(&accepted.stamp)) {
            return Ok(());
        }
        let latest = self.latest.entry((name.clone(), voter, store)).or_insert(accepted.stamp);
        *latest = accepted.stamp.max(*latest);
        let (content, floor) = (accepted.content.clone(), self.largest(name));
        let vote = Vote { content, by: Votes::default(), floor };
        let vote = self.votes.entry((name.clone(), accepted.stamp)).or_insert(vote);
        vote.by.add(voter, store);
        match &accepted.content {
            Content::Configuration(configuration) => {
                self.configuration_accepted(accepted.stamp, configuration)
            }
            Content::Grant(grant) => self.grant_accepted(name, accepted.stamp, grant),
            Content::Deleted | Content::Floor(_) => Ok(()),
        }
    }

    /// That voter has it on disk that a node's leases up to that one are dead.
    pub(super) fn buried(&mut self, voter: (NodeId, StoreId), node: NodeId, age: Age) {
        let known = self.buried.entry((node, voter)).or_insert(age);
        *known = age.max(*known);
        self.bury(node);
    }

    /// An agent's lease is valid.
    pub(super) fn valid(&self, lease: Lease) -> Result<(), Breach> {
        match self.dead.get(&lease.life.node).is_some_and(|dead| lease.age() <= *dead) {
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

    /// By which configurations the writes of that ballot count: the last before it, and those that came into force in it.
    fn electorates(&self, ballot: Ballot) -> impl Iterator<Item = &Configuration> {
        let before = self.configurations.iter().rposition(|(first, _)| *first < Some(ballot));
        let counts = move |(at, (first, _)): &(usize, &(Option<Ballot>, Configuration))| {
            Some(*at) == before || *first == Some(ballot)
        };
        self.configurations.iter().enumerate().filter(counts).map(|(_, (_, by))| by)
    }

    fn configuration_accepted(&mut self, stamp: Stamp, configuration: &Configuration) -> Result<(), Breach> {
        let votes = self.votes.get(&(Name::configuration(), stamp));
        let is_enough = votes.is_some_and(|vote| configuration.is_enough(&vote.by));
        if configuration.is_founding() {
            self.whole |= is_enough;
            return Ok(());
        }
        if !self.whole {
            return broken(
                Promise::Whole,
                "a configuration is in force that not all have accepted".to_owned(),
            );
        }
        if !is_enough {
            return Ok(());
        }
        self.votes.remove(&(Name::configuration(), stamp));
        self.configure(stamp, configuration)
    }

    /// A configuration is decided. One of each number comes into force, each follows from the one before it, and the majorities that
    /// decide it have a voter in common with all that decided before.
    fn configure(&mut self, stamp: Stamp, configuration: &Configuration) -> Result<(), Breach> {
        let known = self.configurations.iter().find(|(_, known)| known.number == configuration.number);
        match (known, self.in_force()) {
            (Some((_, known)), _) if known == configuration => return Ok(()),
            (None, Some(last)) if !follows_from(last, configuration) => {
                return broken(
                    Promise::OneElectorate,
                    format!("{configuration:?} does not follow from {last:?}"),
                );
            }
            (None, _) => {}
            (Some((_, known)), _) => {
                return broken(
                    Promise::OneElectorate,
                    format!("{configuration:?} is decided, and {known:?} was"),
                );
            }
        }
        self.configurations.push((Some(stamp.ballot), configuration.clone()));
        // What was on some disks before may be enough by now.
        let nodes: BTreeSet<NodeId> = self.buried.keys().map(|(node, _)| *node).collect();
        nodes.into_iter().for_each(|node| self.bury(node));
        let waiting: Vec<_> =
            self.votes.iter().map(|(key, vote)| (key.clone(), vote.content.clone())).collect();
        waiting.into_iter().try_for_each(|((name, stamp), content)| match content {
            Content::Grant(grant) => self.grant_accepted(&name, stamp, &grant),
            Content::Configuration(_) | Content::Deleted | Content::Floor(_) => Ok(()),
        })
    }

    fn grant_accepted(&mut self, name: &Name, stamp: Stamp, grant: &Grant) -> Result<(), Breach> {
        if !self.whole || self.configurations.is_empty() {
            return broken(Promise::Whole, format!("{name} is granted, and the cluster was never whole"));
        }
        let key = (name.clone(), stamp);
        let Some(vote) = self.votes.get(&key) else { return Ok(()) };
        if !self.electorates(stamp.ballot).any(|by| by.is_enough(&vote.by)) && !self.is_held(name, stamp) {
            return Ok(());
        }
        let floor = vote.floor;
        self.votes.remove(&key);
        let chain = self.chains.entry(name.clone()).or_default();
        let judged = judge(chain, name, stamp, grant, floor);
        chain.insert(stamp, grant.clone());
        judged
    }

    /// Whether enough voters in force hold just that by now. Whoever reads the name then finds it, though its ballot was another's.
    fn is_held(&self, name: &Name, stamp: Stamp) -> bool {
        let mut holds = Votes::default();
        let of_name = self.latest.iter().filter(|((of, ..), latest)| of == name && **latest == stamp);
        of_name.for_each(|((_, voter, store), _)| holds.add(*voter, *store));
        self.in_force().is_some_and(|by| by.is_enough(&holds))
    }

    /// Which of a node's leases are dead by the configuration in force. They are for ever.
    fn bury(&mut self, node: NodeId) {
        let Some(by) = self.in_force() else { return };
        let of_node = || self.buried.iter().filter(|((of, _), _)| *of == node);
        let is_dead = |age: &Age| {
            let mut votes = Votes::default();
            of_node()
                .filter(|(_, buried)| age <= *buried)
                .for_each(|((_, (voter, store)), _)| votes.add(*voter, *store));
            by.is_enough(&votes)
        };
        let dead = of_node().map(|(_, age)| *age).filter(is_dead).max();
        if let Some(dead) = dead {
            let known = self.dead.entry(node).or_insert(dead);
            *known = dead.max(*known);
        }
    }
}

/// The same voters, settled; or one voter more or less, with those before it.
fn follows_from(last: &Configuration, next: &Configuration) -> bool {
    let changes = |one: &Configuration, other: &Configuration| {
        one.voters.iter().filter(|(node, seat)| other.voters.get(node) != Some(seat)).count()
    };
    let is_settled = *next == last.settled() && !last.is_settled();
    let is_change = last.is_settled()
        && next.number == last.number + 1
        && next.before() == Some(&last.voters)
        && changes(last, next) + changes(next, last) == 1;
    is_settled || is_change
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
