//! Bytes: a versioned envelope around one frame, and a decoder that is total.
//!
//! ```text
//! version u8 │ cluster │ election │ sender │ incarnation │ sequence │ rides │ tag u8 │ body
//! ```
//!
//! Everything after the version is in postcard's format (variable-length integers). The decoder never panics, looks
//! at no more than [`FRAME_MAX`] bytes, allocates nothing ahead of what it has read, and refuses what is left over.

use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::digest::fnv1a;
use crate::election::{AnyMsg, protocols};
use crate::ident::{Incarnation, NodeId, WatchNo};
use crate::link::consistent::{Carried, ConsistentMsg, Membership};
use crate::message::{Body, Frame, Joining, Letter};

/// The version of the format that this code writes and reads.
pub const VERSION: u8 = 1;

/// No frame is longer than this.
pub const FRAME_MAX: usize = 64 * 1024;

/// Which conversation a frame belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// A hash of the cluster's name: nodes of two clusters that meet by mistake refuse each other.
    pub cluster: u64,
    /// Which of the cluster's elections; 0 while there is one.
    pub election: u32,
}

impl Channel {
    /// The first election of the cluster of that name.
    pub fn of_cluster(name: &str) -> Self {
        Self { cluster: fnv1a(name.bytes()), election: 0 }
    }
}

/// Why bytes are not a frame for this node. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Nothing at all.
    #[error("an empty frame")]
    Empty,
    /// Longer than any frame.
    #[error("a frame of {len} bytes; the longest allowed is {FRAME_MAX}")]
    TooLong {
        /// How long.
        len: usize,
    },
    /// Another version of the format.
    #[error("wire version {found}; this build speaks {VERSION}")]
    Version {
        /// Which.
        found: u8,
    },
    /// The header does not parse.
    #[error("the header is malformed")]
    Header,
    /// The message does not parse.
    #[error("the {part} is malformed")]
    Malformed {
        /// Which part.
        part: &'static str,
    },
    /// A frame of another cluster.
    #[error("a frame of another cluster ({found:016x})")]
    Cluster {
        /// The hash of its name.
        found: u64,
    },
    /// A frame of an election that this node does not take part in.
    #[error("a frame of election {found}")]
    Election {
        /// Which.
        found: u32,
    },
    /// A message of an algorithm or layer that this build does not know.
    #[error("unknown tag {found}")]
    Tag {
        /// Which.
        found: u8,
    },
    /// More bytes than the message has.
    #[error("{extra} bytes after the end of the message")]
    Trailing {
        /// How many.
        extra: usize,
    },
}

impl WireError {
    /// Whether the header is right, and only the message is none that this build knows. A later one may have more kinds of messages, and
    /// may say more in one.
    pub fn is_about_message(&self) -> bool {
        match self {
            Self::Malformed { .. } | Self::Tag { .. } | Self::Trailing { .. } => true,
            Self::Empty
            | Self::TooLong { .. }
            | Self::Version { .. }
            | Self::Header
            | Self::Cluster { .. }
            | Self::Election { .. } => false,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Header {
    cluster: u64,
    election: u32,
    sender: NodeId,
    incarnation: Incarnation,
    seq: u64,
    rides: Option<WatchNo>,
    tag: u8,
}

/// What an end of a consistent link says, and the number of the message that follows; 0 if none does.
#[derive(Serialize, Deserialize)]
struct OnLink {
    to: Incarnation,
    seen: u64,
    no: u64,
    echo: u64,
    taken: u64,
    membership: Membership,
    nth: u64,
}

/// One tag for each layer; never reuse one. Those of the algorithms are in their table.
mod tag {
    pub(super) const LINK: u8 = 0;
    pub(super) const DETECTOR: u8 = 1;
    pub(super) const LEADERSHIP: u8 = 2;
    pub(super) const GROUP: u8 = 3;
    /// An election message with a past: the election's own tag follows.
    pub(super) const JOIN: u8 = 4;
    /// A consistent link: what it carries follows, with its own tag.
    pub(super) const CONSISTENT: u8 = 5;
    pub(super) const EXCLUSIVE: u8 = 6;
}

/// The bytes of a frame on that channel.
pub fn encode(channel: Channel, frame: &Frame<AnyMsg>) -> Vec<u8> {
    let header = Header {
        cluster: channel.cluster,
        election: channel.election,
        sender: frame.from,
        incarnation: frame.incarnation,
        seq: frame.seq,
        rides: frame.rides,
        tag: match &frame.body {
            Body::Link(_) => tag::LINK,
            Body::Detector(_) => tag::DETECTOR,
            Body::Consistent(_) => tag::CONSISTENT,
            Body::Election(msg) => election_tag(msg),
            Body::Join(..) => tag::JOIN,
            Body::Group(_) => tag::GROUP,
            Body::Leadership(_) => tag::LEADERSHIP,
            Body::Exclusive(_) => tag::EXCLUSIVE,
        },
    };
    let bytes = append(alloc::vec![VERSION], &header);
    match &frame.body {
        Body::Link(msg) => append(bytes, msg),
        Body::Detector(msg) => append(bytes, msg),
        Body::Leadership(msg) => append(bytes, msg),
        Body::Exclusive(msg) => append(bytes, msg),
        Body::Group(msg) => append(bytes, msg),
        Body::Consistent(msg) => append_consistent(bytes, msg),
        Body::Election(msg) => append_election(bytes, msg),
        Body::Join(joining) => {
            let Joining { msg, past } = &**joining;
            append_election(append(append(bytes, past), &election_tag(msg)), msg)
        }
    }
}

fn append_consistent(bytes: Vec<u8>, msg: &ConsistentMsg<Letter<AnyMsg>>) -> Vec<u8> {
    let ConsistentMsg { to, seen, no, echo, taken, membership, ref carries } = *msg;
    let nth = carries.as_ref().map_or(0, |carried| carried.nth);
    let bytes = append(bytes, &OnLink { to, seen, no, echo, taken, membership, nth });
    match carries {
        Some(Carried { msg: Letter::Election(msg), .. }) => {
            append_election(append(bytes, &election_tag(msg)), msg)
        }
        Some(Carried { msg: Letter::Group(msg), .. }) => append(append(bytes, &tag::GROUP), msg),
        None => bytes,
    }
}

/// The frame in those bytes, if they are one on that channel.
///
/// # Errors
/// Says what is wrong with them; see [`WireError`].
pub fn decode(channel: Channel, bytes: &[u8]) -> Result<Frame<AnyMsg>, WireError> {
    if bytes.len() > FRAME_MAX {
        return Err(WireError::TooLong { len: bytes.len() });
    }
    let (version, rest) = bytes.split_first().ok_or(WireError::Empty)?;
    if *version != VERSION {
        return Err(WireError::Version { found: *version });
    }
    let (header, rest) = postcard::take_from_bytes::<Header>(rest).map_err(|_| WireError::Header)?;
    if header.cluster != channel.cluster {
        return Err(WireError::Cluster { found: header.cluster });
    }
    if header.election != channel.election {
        return Err(WireError::Election { found: header.election });
    }
    if header.incarnation > Incarnation::MAX {
        return Err(WireError::Header);
    }
    let (body, rest) = take_body(header.tag, rest)?;
    if !rest.is_empty() {
        return Err(WireError::Trailing { extra: rest.len() });
    }
    let Header { sender: from, incarnation, seq, rides, .. } = header;
    Ok(Frame { from, incarnation, seq, rides, body })
}

fn take_body(tag: u8, bytes: &[u8]) -> Result<(Body<AnyMsg>, &[u8]), WireError> {
    match tag {
        tag::LINK => take(bytes, "link message").map(|(msg, rest)| (Body::Link(msg), rest)),
        tag::DETECTOR => take(bytes, "detector message").map(|(msg, rest)| (Body::Detector(msg), rest)),
        tag::LEADERSHIP => take(bytes, "leadership message").map(|(msg, rest)| (Body::Leadership(msg), rest)),
        tag::GROUP => take(bytes, "group message").map(|(msg, rest)| (Body::Group(msg), rest)),
        tag::EXCLUSIVE => {
            take(bytes, "message of exclusive leadership").map(|(msg, rest)| (Body::Exclusive(msg), rest))
        }
        tag::JOIN => take_join(bytes),
        tag::CONSISTENT => take_consistent(bytes),
        tag => take_election(tag, bytes).map(|(msg, rest)| (Body::Election(msg), rest)),
    }
}

fn take_join(bytes: &[u8]) -> Result<(Body<AnyMsg>, &[u8]), WireError> {
    let (past, rest) = take(bytes, "past")?;
    let (tag, rest) = take(rest, "election's tag")?;
    let (msg, rest) = take_election(tag, rest)?;
    Ok((Body::Join(Box::new(Joining { msg, past })), rest))
}

fn take_consistent(bytes: &[u8]) -> Result<(Body<AnyMsg>, &[u8]), WireError> {
    let (OnLink { to, seen, no, echo, taken, membership, nth }, rest) = take(bytes, "link message")?;
    let (carries, rest) = match nth {
        0 => (None, rest),
        nth => {
            let (tag, rest) = take(rest, "carried message's tag")?;
            let (msg, rest) = match tag {
                tag::GROUP => take(rest, "group message").map(|(msg, rest)| (Letter::Group(msg), rest))?,
                tag => take_election(tag, rest).map(|(msg, rest)| (Letter::Election(msg), rest))?,
            };
            (Some(Carried { nth, msg }), rest)
        }
    };
    let msg = ConsistentMsg { to, seen, no, echo, taken, membership, carries };
    Ok((Body::Consistent(Box::new(msg)), rest))
}

macro_rules! messages {
    ($($document:literal $module:ident::$name:ident = $tag:literal,)*) => {
        fn election_tag(msg: &AnyMsg) -> u8 {
            match msg {
                $(AnyMsg::$name(_) => $tag,)*
            }
        }

        fn append_election(bytes: Vec<u8>, msg: &AnyMsg) -> Vec<u8> {
            match msg {
                $(AnyMsg::$name(msg) => append(bytes, msg),)*
            }
        }

        fn take_election(tag: u8, bytes: &[u8]) -> Result<(AnyMsg, &[u8]), WireError> {
            match tag {
                $($tag => take_msg(bytes, AnyMsg::$name),)*
                found => Err(WireError::Tag { found }),
            }
        }
    };
}

protocols!(messages);

fn take_msg<'a, M: Deserialize<'a>>(
    bytes: &'a [u8],
    wrap: fn(M) -> AnyMsg,
) -> Result<(AnyMsg, &'a [u8]), WireError> {
    take(bytes, "election message").map(|(msg, rest)| (wrap(msg), rest))
}

fn take<'a, T: Deserialize<'a>>(bytes: &'a [u8], part: &'static str) -> Result<(T, &'a [u8]), WireError> {
    postcard::take_from_bytes(bytes).map_err(|_| WireError::Malformed { part })
}

fn append(bytes: Vec<u8>, value: &impl Serialize) -> Vec<u8> {
    postcard::to_extend(value, bytes).expect("a growing buffer takes whatever is written to it")
}

#[cfg(test)]
pub(crate) mod tests;
