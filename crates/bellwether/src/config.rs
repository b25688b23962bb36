//! What a member must be told before it can join.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use bellwether_proto::election::{Protocol, Timing};
use bellwether_proto::ident::NodeId;

use crate::tls::Identity;

/// A member of a cluster, as its process sees it.
///
/// There will be more to say of a member: make one with [`Config::new`], and change what is to be otherwise.
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
    /// Who this is.
    pub id: NodeId,
    /// How the leader is chosen.
    pub protocol: Protocol,
    /// Where the others are.
    pub peers: Peers,
    /// Where peers reach this member.
    pub listen: SocketAddr,
    /// Who this is, to peers that want proof.
    pub identity: Identity,
    /// Where the member keeps what must survive a crash.
    pub data_dir: PathBuf,
    /// How often the leader shows that it is there.
    pub heartbeat: Duration,
    /// How long a silent leader is waited for at first.
    pub timeout: Duration,
    /// Of the members that could lead, the one with the highest is preferred.
    pub priority: u32,
    /// Whether a leader hands over to a member of higher priority, once that has been there for so long.
    pub preempt: Option<Duration>,
    /// How long a member that resigned stands aside.
    pub resign_hold: Duration,
    /// How long the leader's work may take to stop before leadership is released all the same.
    pub release_timeout: Duration,
    /// Where to write all that happens, as JSON lines.
    pub trace: Option<PathBuf>,
}

/// Where the other members are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peers {
    /// Everybody, by id, with a `host:port` each. The member itself may be among them.
    Listed(BTreeMap<NodeId, String>),
    /// `host:port` names that resolve to the addresses of all members, the member's own perhaps among them. Who they are
    /// shows when they answer.
    Named(Vec<String>),
}

impl Config {
    /// How often the leader shows that it is there, unless told otherwise.
    pub const HEARTBEAT: Duration = Duration::from_millis(50);
    /// How long a silent leader is waited for, before anything has been learnt about the network.
    pub const TIMEOUT: Duration = Duration::from_millis(250);
    /// How long a member that resigned stands aside.
    pub const RESIGN_HOLD: Duration = Duration::from_secs(30);
    /// How long the leader's work may take to stop before leadership is released all the same.
    pub const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

    /// A member with the default timing, of equal priority with all others.
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
            protocol: Protocol::Fjr,
            peers,
            listen,
            identity,
            data_dir: data_dir.into(),
            heartbeat: Self::HEARTBEAT,
            timeout: Self::TIMEOUT,
            priority: 0,
            preempt: None,
            resign_hold: Self::RESIGN_HOLD,
            release_timeout: Self::RELEASE_TIMEOUT,
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

    /// The papers' parameters.
    pub(crate) fn timing(&self) -> Timing {
        Timing::with_timeout(self.heartbeat.into(), self.timeout.into())
    }
}
