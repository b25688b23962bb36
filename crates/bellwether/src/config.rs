//! What a member must be told before it can join.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use bellwether_proto::election::Protocol;
use bellwether_proto::ident::NodeId;

use crate::tls::Identity;

/// How often the leader shows that it is there.
pub const HEARTBEAT: Duration = Duration::from_millis(50);
/// How long a silent leader is waited for, before anything has been learnt about the network.
pub const TIMEOUT: Duration = Duration::from_millis(250);
/// How long a member that resigned stands aside.
pub const RESIGN_HOLD: Duration = Duration::from_secs(30);
/// How long the leader's work may take to stop before leadership is released all the same.
pub const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

/// A member of a cluster, as its process sees it.
#[derive(Clone, Debug)]
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
            protocol: Protocol::default(),
            peers,
            listen,
            identity,
            data_dir: data_dir.into(),
            heartbeat: HEARTBEAT,
            timeout: TIMEOUT,
            priority: 0,
            preempt: None,
            resign_hold: RESIGN_HOLD,
            release_timeout: RELEASE_TIMEOUT,
            trace: None,
        }
    }
}
