//! What a member must be told before it can join.

mod bad;
mod exclusive;
mod mode;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use bellwether_proto::election::{Protocol, Timing};
use bellwether_proto::ident::NodeId;

use crate::tls::Identity;

pub use bad::BadConfig;
pub use exclusive::{Drift, Exclusive, GrantKind, OnLost, Overrun, Percent};
pub use mode::Mode;

/// The configuration of a member.
///
/// It will have more fields: make one with [`Config::new`], and then change what is to differ.
///
/// ```
/// # use bellwether::{Config, Identity, NodeId, Peers, Protocol};
/// # fn example(peers: Peers, identity: Identity) -> Config {
/// let listen = ([0, 0, 0, 0], 3170).into();
/// let mut config = Config::new("demo", NodeId(1), listen, peers, identity, "/var/lib/demo");
/// config.protocol = Protocol::Lfa;
/// config.timeout = 2 * Config::TIMEOUT;
/// # config
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The cluster's name. Members of two clusters refuse each other.
    pub cluster: String,
    /// The id of this member.
    pub id: NodeId,
    /// How the leader is chosen.
    pub protocol: Protocol,
    /// Where the others are.
    pub peers: Peers,
    /// Where peers reach this member.
    pub listen: SocketAddr,
    /// The certificates that prove this to peers.
    pub identity: Identity,
    /// Where the member keeps what must survive a crash.
    pub data_dir: PathBuf,
    /// How often the leader sends a sign of life.
    pub heartbeat: Duration,
    /// After how long a silent leader is given up, at first.
    pub timeout: Duration,
    /// The member with the highest priority is preferred, of those that could lead.
    pub priority: u32,
    /// Whether a leader hands over to a member with a higher priority, once that member has been there for
    /// this long.
    pub preempt: Option<Duration>,
    /// How many peers must be connected before this member leads, while its disk has never seen an epoch: a member that is merely
    /// the first to come up does not lead alone. `None`: one, if others are listed. A member that has seen an epoch waits for
    /// nobody, so that the last survivor leads.
    pub min_peers: Option<usize>,
    /// How long a member that resigned stays aside.
    pub resign_hold: Duration,
    /// How long the leader's work may take to end. After that, leadership is released anyway.
    pub release_timeout: Duration,
    /// The terms on which at most one member leads at a time, and with which token. `None`: the algorithm alone decides who leads.
    pub exclusive: Option<Exclusive>,
    /// Where to write a trace of all events, as JSON lines.
    pub trace: Option<PathBuf>,
}

/// Where the other members are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peers {
    /// All members by id, each with a `host:port`. The member itself may be among them.
    Listed(BTreeMap<NodeId, String>),
    /// `host:port` names that resolve to the addresses of all members, perhaps including the member's own. Their ids
    /// become known when they answer.
    Named(Vec<String>),
}

impl Config {
    /// How often the leader sends a sign of life, by default.
    pub const HEARTBEAT: Duration = Duration::from_millis(50);
    /// After how long a silent leader is given up by default, before anything has been learnt about the network.
    pub const TIMEOUT: Duration = Duration::from_millis(250);
    /// How long a member that resigned stays aside, by default.
    pub const RESIGN_HOLD: Duration = Duration::from_secs(30);
    /// How long the leader's work may take to end, by default. After that, leadership is released anyway.
    pub const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

    /// A member with the default timing and priority 0.
    pub fn new(
        cluster: impl Into<String>,
        id: NodeId,
        listen: SocketAddr,
        peers: Peers,
        identity: Identity,
        data_dir: impl Into<PathBuf>,
    ) -> Self {
        Self {
            cluster: cluster.into(),
            id,
            protocol: Protocol::default(),
            peers,
            listen,
            identity,
            data_dir: data_dir.into(),
            heartbeat: Self::HEARTBEAT,
            timeout: Self::TIMEOUT,
            priority: 0,
            preempt: None,
            min_peers: None,
            resign_hold: Self::RESIGN_HOLD,
            release_timeout: Self::RELEASE_TIMEOUT,
            exclusive: None,
            trace: None,
        }
    }

    /// Everybody, this member among them; nobody, if their names are not known beforehand.
    pub(crate) fn members(&self) -> BTreeSet<NodeId> {
        match &self.peers {
            Peers::Listed(peers) => peers.keys().copied().chain([self.id]).collect(),
            Peers::Named(_) => BTreeSet::new(),
        }
    }

    /// How many others are listed.
    pub(crate) fn others(&self) -> usize {
        self.members().len().saturating_sub(1)
    }

    /// How many peers must be connected before a first election.
    pub(crate) fn min_peers(&self) -> usize {
        self.min_peers.unwrap_or(self.others().min(1))
    }

    /// What members must agree on to be of one cluster, in words: the algorithm, and the terms of exclusive leadership.
    pub(crate) fn agreed(&self) -> String {
        let algorithm = self.protocol.name();
        match &self.exclusive {
            Some(exclusive) => format!("{algorithm}, {}", exclusive.agreed()),
            None => algorithm.to_owned(),
        }
    }

    /// The papers' parameters.
    pub(crate) fn timing(&self) -> Timing {
        Timing::with_timeout(self.heartbeat.into(), self.timeout.into())
    }
}
