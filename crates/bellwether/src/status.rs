//! What a member can tell about itself, the others and the past.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bellwether_proto::election::Protocol;
use bellwether_proto::group::Record;
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::opinion::Opinion;

pub use bellwether_proto::exclusive::Vote;
pub use bellwether_proto::leadership::{Bar, Cause};

use crate::config::{GrantKind, Mode};
use crate::members::{Differs, Membership};

/// What a member knows now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The cluster's name.
    pub cluster: String,
    /// The id of this member.
    pub id: NodeId,
    /// Its incarnation.
    pub incarnation: Incarnation,
    /// How the leader is chosen.
    pub protocol: Protocol,
    /// What the cluster may rely on.
    pub mode: Mode,
    /// Its standing.
    pub standing: Standing,
    /// The settled leader; `None` while there is none, or while the member is catching up.
    pub leader: Option<Leader>,
    /// The opinion of its election, settled or not.
    pub opinion: Opinion,
    /// The group that the member is in, with its members and parents; `None` while it is in none, or if the algorithm
    /// does not reorganize groups.
    pub group: Option<Record>,
    /// How much of the cluster it reaches, if its algorithm needs a majority.
    pub reach: Option<Reach>,
    /// How exclusive leadership stands, if that is the mode.
    pub exclusive: Option<ExclusiveStatus>,
    /// How its disk does.
    pub disk: DiskStatus,
    /// Why the member does not lead, whatever its election says.
    pub bar: Option<Bar>,
    /// Until when the member's certificate is good, if that can be told: see [`expiry_warning`](crate::tls::expiry_warning).
    pub certificate_until: Option<SystemTime>,
    /// Since when the member is up.
    pub up_since: SystemTime,
}

/// How quickly a member's disk takes what must not be forgotten. Whoever is to lead waits for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiskStatus {
    /// How long the last write took.
    pub last_write: Duration,
    /// How long the slowest took.
    pub slowest_write: Duration,
    /// For how long a write has been under way, if one is.
    pub writing_for: Option<Duration>,
}

impl DiskStatus {
    /// A write that takes longer is worth a warning.
    pub const SLOW: Duration = Duration::from_millis(100);

    /// Whether the last write was slow, or the one under way is.
    pub fn is_slow(&self) -> bool {
        self.last_write.max(self.writing_for.unwrap_or_default()) > Self::SLOW
    }
}

/// A member's part in leading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// No leader has been announced.
    Electing,
    /// It leads.
    Leading,
    /// Another leads.
    Following,
    /// It resigned, and does not stand until its time is over.
    Aside,
    /// It did not run for longer than its timeout, because its process was stopped or its machine is too busy, and has
    /// not yet found out what happened meanwhile. Another may lead.
    CatchingUp,
}

/// How much of a cluster a member reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reach {
    /// How many members it hears and is heard by, including itself.
    pub members: usize,
    /// How many members there are.
    pub of: usize,
}

impl Reach {
    /// How many a leader needs: more than half of all.
    pub const fn needed(self) -> usize {
        self.of / 2 + 1
    }
}

/// How exclusive leadership stands with a member.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExclusiveStatus {
    /// What makes a leadership valid.
    pub kind: GrantKind,
    /// The token of the leader, if there is one.
    pub token: Option<u64>,
    /// How long this member's own leadership is certain to be valid; `None` if it does not lead, or if a store decides that.
    pub valid_for: Option<Duration>,
    /// With how many voters this member can speak, itself included if it is one.
    pub reached: usize,
    /// With how many whoever is to be granted leadership must be able to: a majority. All, until all have been there once.
    pub needed: usize,
    /// What this member's own vote is worth.
    pub vote: Vote,
    /// Who votes, as far as it knows.
    pub membership: Arc<Membership>,
    /// Whether the member's file lists other voters.
    pub differs: Option<Differs>,
    /// Who never leads, by its file.
    pub witnesses: BTreeSet<NodeId>,
}

/// An announced leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leader {
    /// Its id.
    pub id: NodeId,
    /// The number of this leadership: larger than every epoch that the leader, or a member that agreed to it,
    /// had seen.
    pub epoch: u64,
    /// When this member learned of it.
    pub since: SystemTime,
}

/// One change of leader, as this member saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// Counts the changes that this member saw, across restarts: 1, 2, 3 …
    pub no: u64,
    /// When.
    pub at: SystemTime,
    /// The incarnation in which this member saw it. What happened before the process started is history: [`crate::Member::history`] has
    /// it, and no observer is told of it.
    pub incarnation: Incarnation,
    /// The leader since then; `None` if nobody leads.
    pub leader: Option<NodeId>,
    /// The epoch of that leadership. If nobody leads, the epoch of the one that ended.
    pub epoch: u64,
    /// Why it changed.
    pub cause: Cause,
}

/// Another member, as the transport sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Participant {
    /// Its id; `None` for an address at which nobody has answered yet.
    pub id: Option<NodeId>,
    /// Its address, as it was given.
    pub address: String,
    /// The state of the connection to it.
    pub connection: Connection,
    /// Its present incarnation, if it is known.
    pub incarnation: Option<Incarnation>,
    /// How long ago its last frame came.
    pub heard: Option<Duration>,
    /// Whether this is the member itself.
    pub is_self: bool,
}

/// The state of the connection to another member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Connection {
    /// Connected to that address.
    Connected(SocketAddr),
    /// Not connected, with the reason why the last attempt failed.
    Down(String),
    /// It is there, but one of the two refuses the other, for this reason.
    Refused(String),
    /// Not tried yet.
    Connecting,
}

/// What has been counted since the process started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Frames sent, by layer: election messages.
    pub sent_protocol: u64,
    /// Frames sent, by layer: detector, link and leadership messages.
    pub sent_detector: u64,
    /// Bytes of frames sent, before they are encrypted.
    pub sent_bytes: u64,
    /// Frames that came.
    pub received: u64,
    /// Frames that were dropped because a peer's queue was full, or it was not connected.
    pub dropped: u64,
    /// Bytes from peers that were no frame of this cluster, and frames that the node refused.
    pub refused_frames: u64,
    /// Connections that were refused: no certificate, a wrong one, another cluster, an id already in use.
    pub refused_connections: u64,
    /// How often a peer answered this member, and one of the two refused the other.
    pub refusals: u64,
    /// How often another process claimed this member's id.
    pub duplicate_ids: u64,
    /// Peers whose connection ended without a goodbye.
    pub gone: u64,
    /// Changes of leader seen.
    pub leader_changes: u64,
    /// How often this member began to lead.
    pub led: u64,
    /// How often the state was written to the disk.
    pub writes: u64,
    /// How long that took, all in all.
    pub write_time: Duration,
    /// How long the slowest took.
    pub slowest_write: Duration,
}
