//! What a configuration must not say. Programs and the agent are held to the same.

use std::collections::BTreeMap;
use std::time::Duration;

use bellwether_proto::election::NOMINATES;
use bellwether_proto::election::{self, InAgent, Protocol, Spec};
use bellwether_proto::ident::NodeId;
use bellwether_proto::time::Span;

use super::{Config, Drift, Exclusive, Peers, Percent};
use crate::tls::{ClusterNameError, check_cluster_name};

/// What is wrong with a configuration. Its words name the field, what was found there and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadConfig {
    /// The name cannot be a cluster's.
    #[error("cluster: {0}")]
    Cluster(ClusterNameError),
    /// Ids count from one.
    #[error("id: found 0, expected a number from 1 on")]
    Id,
    /// The algorithm is not for real networks.
    #[error("protocol: found {}, which is for the laboratory only: {why}; expected {}", found.name(), those(Spec::runs_in_agent))]
    Laboratory {
        /// Which.
        found: Protocol,
        /// Why it is not.
        why: &'static str,
    },
    /// The algorithm must know all members beforehand.
    #[error("peers: found names to look them up by, expected a list of all members, which {} needs", protocol.name())]
    NeedsList {
        /// Which.
        protocol: Protocol,
    },
    /// The algorithm cannot do with so many members.
    #[error("peers: found {found} members, expected at most {most}, which is all that {} takes", protocol.name())]
    TooMany {
        /// Which.
        protocol: Protocol,
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// There are not so many others to wait for.
    #[error("min_peers: found {found}, expected at most {most}, which is how many others are listed")]
    MinPeers {
        /// What was given.
        found: usize,
        /// How many there are.
        most: usize,
    },
    /// Nobody can be reached there.
    #[error("peers: found {found:?}, expected a host and a port such as \"10.0.0.1:3170\"")]
    Address {
        /// What was given.
        found: String,
    },
    /// There is no name by which to find anybody.
    #[error("peers: found no names, expected one at least")]
    NoNames,
    /// Two members cannot be at one address.
    #[error("peers: found {address:?} for node {one} and for node {other}, expected an address for each")]
    SharedAddress {
        /// One of them.
        one: NodeId,
        /// The other.
        other: NodeId,
        /// Where both are said to be.
        address: String,
    },
    /// The leader would do nothing else.
    #[error("heartbeat: found {}, expected at least {}", Span::from(*found), Span::from(Config::HEARTBEAT_MIN))]
    Heartbeat {
        /// What was given.
        found: Duration,
    },
    /// A single late heartbeat would unseat a leader that works.
    #[error(
        "timeout: found {}, expected at least {} times the heartbeat, which is {}",
        Span::from(*found), Config::HEARTBEATS_IN_TIMEOUT, Span::from(*heartbeat)
    )]
    Timeout {
        /// What was given.
        found: Duration,
        /// The heartbeat beside it.
        heartbeat: Duration,
    },
    /// Priorities are small numbers.
    #[error("priority: found {found}, expected at most {}", Config::PRIORITY_MAX)]
    PriorityTooHigh {
        /// What was given.
        found: u32,
    },
    /// With this algorithm only the ids say who is preferred.
    #[error("priority: found {found}, expected 0 with {}: only {} heeds priorities", protocol.name(), those(|spec| spec.hands_over))]
    Priority {
        /// What was given.
        found: u32,
        /// The algorithm.
        protocol: Protocol,
    },
    /// With this algorithm a leader cannot choose to give way.
    #[error("preempt: found {}, expected none with {}: only {} hands over", Span::from(*found), protocol.name(), those(|spec| spec.hands_over))]
    Preempt {
        /// What was given.
        found: Duration,
        /// The algorithm.
        protocol: Protocol,
    },
    /// Only one algorithm nominates for exclusive leadership.
    #[error("exclusive: found protocol {}, expected {}: the other algorithms do not nominate for exclusive leadership", found.name(), NOMINATES.name())]
    ExclusiveProtocol {
        /// What was given.
        found: Protocol,
    },
    /// Voters are named beforehand.
    #[error(
        "exclusive: found names to look peers up by, expected a list of all members, of which a majority votes"
    )]
    ExclusiveNeedsList,
    /// Exclusive leadership moves nobody who leads.
    #[error("preempt: found {}, expected none with exclusive leadership: there, priorities order those who wait, and move nobody who leads", Span::from(*found))]
    ExclusivePreempt {
        /// What was given.
        found: Duration,
    },
    /// A leader that is merely slow would be replaced.
    #[error(
        "exclusive.ttl: found {}, expected at least {} times the heartbeat, which is {}",
        Span::from(*found), Exclusive::HEARTBEATS_IN_TTL, Span::from(*heartbeat)
    )]
    Ttl {
        /// What was given.
        found: Duration,
        /// The heartbeat beside it.
        heartbeat: Duration,
    },
    /// Nobody would lead for that long after a leader is gone.
    #[error("exclusive.ttl: found {}, expected at most {}", Span::from(*found), Span::from(Exclusive::TTL_MAX))]
    LongTtl {
        /// What was given.
        found: Duration,
    },
    /// Such clocks measure nothing, or are too good to be true.
    #[error("exclusive.drift: found {}, expected {}", Percent(*found), Percent::EXPECTED)]
    Drift {
        /// What was given.
        found: Drift,
    },
    /// Half of the voters on each side of a split would be a draw.
    #[error("exclusive.voters: found {found}{}, expected an odd number", if *all { ", which are all members" } else { "" })]
    EvenVoters {
        /// How many.
        found: usize,
        /// Whether that is everybody, because no voters are named.
        all: bool,
    },
    /// Each voter is asked for everything.
    #[error(
        "exclusive.voters: found {found}{}, expected at most {}", if *all { ", which are all members" } else { "" },
        Exclusive::VOTERS_MAX
    )]
    TooManyVoters {
        /// How many.
        found: usize,
        /// Whether that is everybody, because no voters are named.
        all: bool,
    },
    /// Only members vote, and only members can be kept from leading.
    #[error("exclusive.{list}: found {id}, expected ids of members only")]
    NoMember {
        /// `voters` or `witnesses`.
        list: &'static str,
        /// Who.
        id: NodeId,
    },
    /// Nobody votes twice.
    #[error("exclusive.{list}: found {id} twice, expected each once")]
    ListedTwice {
        /// `voters` or `witnesses`.
        list: &'static str,
        /// Who.
        id: NodeId,
    },
    /// Nobody would ever lead.
    #[error("exclusive.witnesses: found all members, expected one at least that may lead")]
    NobodyLeads,
}

impl Config {
    /// No leader speaks more often.
    pub const HEARTBEAT_MIN: Duration = Duration::from_millis(1);
    /// With fewer heartbeats than this within the timeout, a single late one would unseat a leader.
    pub const HEARTBEATS_IN_TIMEOUT: u32 = 3;
    /// The highest priority.
    pub const PRIORITY_MAX: u32 = 1_000;

    /// All that is wrong with it. [`Member::join`](crate::Member::join) refuses the first.
    pub fn problems(&self) -> Vec<BadConfig> {
        let mut found = Vec::new();
        found.extend(check_cluster_name(&self.cluster).err().map(BadConfig::Cluster));
        found.extend((self.id == NodeId(0)).then_some(BadConfig::Id));
        found.extend(self.laboratory());
        found.extend(self.members_that_do_not_fit());
        found.extend(self.peers_that_never_come());
        found.extend(self.addresses_that_cannot_be());
        found.extend(self.timing_that_cannot_be());
        found.extend(self.preferences_that_mean_nothing());
        found.extend(self.exclusive.iter().flat_map(|exclusive| exclusive.problems(self)));
        found
    }

    fn laboratory(&self) -> Option<BadConfig> {
        match self.protocol.spec().in_agent {
            InAgent::Yes => None,
            InAgent::No(why) => Some(BadConfig::Laboratory { found: self.protocol, why }),
        }
    }

    /// Some algorithms must know all members beforehand, and there are bounds to how many.
    fn members_that_do_not_fit(&self) -> Option<BadConfig> {
        let (protocol, spec) = (self.protocol, self.protocol.spec());
        match (&self.peers, spec.peers) {
            (Peers::Named(_), election::Peers::Listed) => Some(BadConfig::NeedsList { protocol }),
            _ => {
                let found = self.members().len();
                let most = spec.nodes_max().filter(|most| found > *most);
                most.map(|most| BadConfig::TooMany { protocol, found, most })
            }
        }
    }

    /// A member would wait for ever for more others than there are. How many a name will lead to is not known.
    fn peers_that_never_come(&self) -> Option<BadConfig> {
        let most = self.others();
        let found = self.min_peers.filter(|found| *found > most && matches!(self.peers, Peers::Listed(_)))?;
        Some(BadConfig::MinPeers { found, most })
    }

    fn addresses_that_cannot_be(&self) -> Vec<BadConfig> {
        let bad = |address: &&String| !is_address(address);
        let bad_address = |address: &String| BadConfig::Address { found: address.clone() };
        match &self.peers {
            Peers::Named(names) if names.is_empty() => vec![BadConfig::NoNames],
            Peers::Named(names) => names.iter().filter(bad).map(bad_address).collect(),
            Peers::Listed(peers) => {
                let mut at = BTreeMap::new();
                let shared = peers.iter().filter_map(|(id, address)| {
                    let one = at.insert(address, *id)?;
                    Some(BadConfig::SharedAddress { one, other: *id, address: address.clone() })
                });
                peers.values().filter(bad).map(bad_address).chain(shared).collect()
            }
        }
    }

    fn timing_that_cannot_be(&self) -> Vec<BadConfig> {
        let (heartbeat, timeout) = (self.heartbeat, self.timeout);
        let too_short =
            (heartbeat < Self::HEARTBEAT_MIN).then_some(BadConfig::Heartbeat { found: heartbeat });
        let least = heartbeat.saturating_mul(Self::HEARTBEATS_IN_TIMEOUT);
        let impatient = (timeout < least).then_some(BadConfig::Timeout { found: timeout, heartbeat });
        too_short.into_iter().chain(impatient).collect()
    }

    fn preferences_that_mean_nothing(&self) -> Vec<BadConfig> {
        let (protocol, priority) = (self.protocol, self.priority);
        if protocol.spec().hands_over {
            let too_high = priority > Self::PRIORITY_MAX;
            return too_high.then_some(BadConfig::PriorityTooHigh { found: priority }).into_iter().collect();
        }
        let priority = (priority != 0).then_some(BadConfig::Priority { found: priority, protocol });
        let preempt = self.preempt.map(|found| BadConfig::Preempt { found, protocol });
        priority.into_iter().chain(preempt).collect()
    }
}

/// Whether that is a host and a port.
fn is_address(text: &str) -> bool {
    let parts = text.rsplit_once(':');
    parts.is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0))
}

/// The algorithms of agents of which that is true.
fn those(fit: impl Fn(&Spec) -> bool) -> String {
    let all = Protocol::ALL.into_iter().map(Protocol::spec);
    let names: Vec<_> = all.filter(|spec| spec.runs_in_agent() && fit(spec)).map(|spec| spec.name).collect();
    names.join(" or ")
}
