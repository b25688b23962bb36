//! What a member must be told before it can join.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use bellwether_proto::election::Protocol;
use bellwether_proto::ident::NodeId;

use crate::tls::Identity;

/// How often the leader sends a sign of life.
pub const HEARTBEAT: Duration = Duration::from_millis(50);
/// After how long a silent leader is given up, before anything has been learnt about the network.
pub const TIMEOUT: Duration = Duration::from_millis(250);
/// How long a member that resigned stays aside.
pub const RESIGN_HOLD: Duration = Duration::from_secs(30);
/// How long the leader's work may take to end. After that, leadership is released anyway.
pub const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

/// The configuration of a member.
#[derive(Clone, Debug)]
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
    /// How long a member that resigned stays aside.
    pub resign_hold: Duration,
    /// How long the leader's work may take to end. After that, leadership is released anyway.
    pub release_timeout: Duration,
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
