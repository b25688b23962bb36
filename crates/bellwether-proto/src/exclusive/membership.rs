//! How the voters change: what may be asked for, why it is refused, and what became of it.

use alloc::collections::BTreeSet;
use core::fmt;

use serde::{Deserialize, Serialize};

use super::configuration::{Address, Configuration};
use crate::ident::NodeId;

/// A change of the voters. One is made at a time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum MemberChange {
    /// That member votes, too. Its store is empty.
    Add {
        /// Who.
        node: NodeId,
        /// Where it is met.
        address: Address,
    },
    /// That member does not vote any more. It goes on as a member.
    Remove {
        /// Who.
        node: NodeId,
    },
    /// That member votes with another store: it is removed, and when that is settled it is added.
    Replace {
        /// Who.
        node: NodeId,
        /// Where it is met.
        address: Address,
    },
    /// A majority is lost for good: these voters go on alone.
    Rescue {
        /// All of them must be there.
        #[serde(deserialize_with = "survivors")]
        survivors: BTreeSet<NodeId>,
    },
}

fn survivors<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<BTreeSet<NodeId>, D::Error> {
    let listed = crate::bounded::list::<{ Configuration::VOTERS_MAX }, D, NodeId>(deserializer)?;
    Ok(listed.into_iter().collect())
}

/// Why the voters stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Unchanged {
    /// Leadership is not exclusive: there are no voters.
    NotExclusive,
    /// Too few voters can be spoken with.
    NoMajority {
        /// So many can.
        reachable: u32,
        /// So many are needed.
        needed: u32,
    },
    /// Another change is not settled yet.
    Unsettled,
    /// That member votes already.
    VotesAlready {
        /// Who.
        node: NodeId,
    },
    /// That member does not vote.
    DoesNotVote {
        /// Who.
        node: NodeId,
    },
    /// There are as many voters as there can be.
    TooMany,
    /// Somebody must vote.
    LastVoter,
    /// The new voter cannot be spoken with, or has no store.
    Unreachable {
        /// Who.
        node: NodeId,
    },
    /// The store of the new voter holds something: it has voted before.
    NotEmpty {
        /// Whose.
        node: NodeId,
    },
    /// A rescue is not needed: a majority can be spoken with.
    MajorityReachable {
        /// So many can.
        reachable: u32,
        /// So many are needed.
        needed: u32,
    },
    /// That one of the survivors cannot be spoken with.
    SurvivorMissing {
        /// Who.
        node: NodeId,
    },
    /// Nobody said in time what became of it. It may still be done.
    NotInTime,
}

impl fmt::Display for Unchanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotExclusive => {
                f.write_str("leadership is not exclusive here, so there are no voters to change")
            }
            Self::NoMajority { reachable, needed } => {
                write!(f, "too few voters can be reached: {reachable} of {needed} that are needed; ")?;
                f.write_str("start the others, or rescue those that are left if the others are lost for good")
            }
            Self::Unsettled => {
                f.write_str("another change of voters is not settled yet; ask again when it is")
            }
            Self::VotesAlready { node } => write!(f, "node {node} votes already"),
            Self::DoesNotVote { node } => write!(f, "node {node} does not vote"),
            Self::TooMany => {
                let most = Configuration::VOTERS_MAX;
                write!(f, "there are {most} voters, and no more can be; remove one first")
            }
            Self::LastVoter => f.write_str("somebody must vote, and no other voter would be left"),
            Self::Unreachable { node } => write!(
                f,
                "node {node} cannot be reached as a voter; start its agent, see that the address is right, and add it"
            ),
            Self::NotEmpty { node } => write!(
                f,
                "the store of node {node} is not empty, and a new voter begins with an empty one; move its data directory away, \
                 start it again, and add it"
            ),
            Self::MajorityReachable { reachable, needed } => write!(
                f,
                "a majority of the voters can be reached ({reachable}, and {needed} are needed): remove those that are lost instead"
            ),
            Self::SurvivorMissing { node } => {
                write!(f, "node {node} does not vote or cannot be reached, and all survivors must be there")
            }
            Self::NotInTime => {
                f.write_str("nobody said in time what became of the change; it may still be done")
            }
        }
    }
}

/// Who votes, as far as a node knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Membership {
    /// The newest configuration; `None` before the first is known. It may not be decided yet.
    pub configuration: Option<Configuration>,
    /// The number of the latest that is known to be decided. Nobody may be let go because of one that is not: its vote may be needed.
    pub decided: u64,
    /// Who is to be met although it does not vote yet, and where: it is to be added.
    pub joining: Option<(NodeId, Address)>,
}

/// What is next, for a change to come about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// A voter is added.
    Add(NodeId, Address),
    /// A voter is removed.
    Remove(NodeId),
    /// It is decided, and not settled yet.
    Settle,
    /// It is settled.
    Done,
}

impl MemberChange {
    /// What is next, if that configuration is in force, and number `since` was when the change was asked for. A rescue is not made in
    /// steps: nobody asks those in force.
    ///
    /// # Errors
    /// Why not.
    pub fn next(&self, since: u64, by: &Configuration) -> Result<NextStep, Unchanged> {
        let step = match self {
            Self::Add { node, address } => match by.voters.get(node) {
                Some(seat) if seat.since > since => NextStep::Done,
                Some(_) => return Err(Unchanged::VotesAlready { node: *node }),
                None if by.voters.len() >= Configuration::VOTERS_MAX => return Err(Unchanged::TooMany),
                None => NextStep::Add(*node, address.clone()),
            },
            Self::Remove { node } => match by.voters.get(node) {
                Some(_) if by.voters.len() == 1 => return Err(Unchanged::LastVoter),
                Some(_) => NextStep::Remove(*node),
                None if by.number > since => NextStep::Done,
                None => return Err(Unchanged::DoesNotVote { node: *node }),
            },
            Self::Replace { node, address } => match by.voters.get(node) {
                Some(seat) if seat.since > since => NextStep::Done,
                Some(_) if by.voters.len() == 1 => return Err(Unchanged::LastVoter),
                Some(_) => NextStep::Remove(*node),
                // It was removed, and that is what was to be done first.
                None if by.number > since => NextStep::Add(*node, address.clone()),
                None => return Err(Unchanged::DoesNotVote { node: *node }),
            },
            Self::Rescue { .. } if by.number >= since.saturating_add(Configuration::RESCUE) => NextStep::Done,
            Self::Rescue { .. } => {
                let count = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
                let (reachable, needed) = by.quorum(|_| true);
                return Err(Unchanged::MajorityReachable {
                    reachable: count(reachable),
                    needed: count(needed),
                });
            }
        };
        match step {
            step if by.is_settled() => Ok(step),
            NextStep::Done => Ok(NextStep::Settle),
            NextStep::Add(..) if matches!(self, Self::Replace { .. }) => Ok(NextStep::Settle),
            _ => Err(Unchanged::Unsettled),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ident::StoreId;
    use super::*;

    fn three() -> Configuration {
        let seats = (1..=3).map(|node| (NodeId(node), StoreId(node.into()), Address::default()));
        Configuration::founding(seats).founded()
    }

    #[test]
    fn a_voter_is_replaced_in_two_steps_and_each_is_settled() {
        let (node, address) = (NodeId(2), Address::default());
        let replace = MemberChange::Replace { node, address: address.clone() };
        assert_eq!(replace.next(1, &three()), Ok(NextStep::Remove(node)));
        let removed = three().without(node);
        assert_eq!(replace.next(1, &removed), Ok(NextStep::Settle));
        let settled = removed.settled();
        assert_eq!(replace.next(1, &settled), Ok(NextStep::Add(node, address.clone())));
        let added = settled.with(node, StoreId(20), address);
        assert_eq!(replace.next(1, &added), Ok(NextStep::Settle));
        assert_eq!(replace.next(1, &added.settled()), Ok(NextStep::Done));
    }

    #[test]
    fn what_was_done_before_is_no_answer_and_what_was_done_since_is() {
        let add = MemberChange::Add { node: NodeId(3), address: Address::default() };
        assert_eq!(add.next(1, &three()), Err(Unchanged::VotesAlready { node: NodeId(3) }));
        assert_eq!(add.next(0, &three()), Ok(NextStep::Done));
        let remove = MemberChange::Remove { node: NodeId(4) };
        assert_eq!(remove.next(1, &three()), Err(Unchanged::DoesNotVote { node: NodeId(4) }));
        let another = three().without(NodeId(1));
        assert_eq!(add.next(2, &another), Err(Unchanged::VotesAlready { node: NodeId(3) }));
        let add = MemberChange::Add { node: NodeId(4), address: Address::default() };
        assert_eq!(add.next(2, &another), Err(Unchanged::Unsettled));
    }
}
