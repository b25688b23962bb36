//! Kinds of messages: what every layer's messages have in common.

use core::fmt;

use crate::canonical::Form;

/// A message of an election algorithm.
pub trait Message: Clone + fmt::Debug {
    /// What kind of message this is, by the paper's name.
    fn kind(&self) -> Kind;

    /// Writes the content in canonical form.
    fn canonical(&self, form: &mut Form);

    /// The largest counter that it carries: whether messages grow for ever is one of the things that algorithms differ
    /// in.
    fn largest_counter(&self) -> u64 {
        0
    }
}

/// Whose message a kind is, for counting the cost of electing apart from the cost of watching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// The election algorithm's.
    Protocol,
    /// The failure detector's, or the link's: overhead in the papers' accounting.
    Overhead,
}

/// The part that a message has in an exchange of queries and responses. Some assumptions about a network concern
/// only the order of responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// It asks.
    Query,
    /// It answers.
    Response,
    /// Neither.
    Neither,
}

/// The name of a kind of message, with a number derived from it for fast comparison and hashing.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    name: &'static str,
    layer: Layer,
    part: Part,
    id: u32,
}

impl Kind {
    /// A kind of election message.
    pub const fn protocol(name: &'static str) -> Self {
        Self { name, layer: Layer::Protocol, part: Part::Neither, id: fnv1a(name) }
    }

    /// As [`Kind::protocol`], of messages that ask all others and wait for the first of their responses.
    pub const fn query(name: &'static str) -> Self {
        Self { part: Part::Query, ..Self::protocol(name) }
    }

    /// As [`Kind::protocol`], of the responses to those.
    pub const fn response(name: &'static str) -> Self {
        Self { part: Part::Response, ..Self::protocol(name) }
    }

    /// A kind of failure-detector or link message.
    pub const fn detector(name: &'static str) -> Self {
        Self { name, layer: Layer::Overhead, part: Part::Neither, id: fnv1a(name) }
    }

    /// The name, as the paper writes it.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Whose message it is.
    pub const fn layer(self) -> Layer {
        self.layer
    }

    /// Its part in an exchange.
    pub const fn part(self) -> Part {
        self.part
    }

    /// A number that depends only on the name.
    pub const fn id(self) -> u32 {
        self.id
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.name == other.name
    }
}

impl Eq for Kind {}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

const fn fnv1a(name: &str) -> u32 {
    let bytes = name.as_bytes();
    let mut hash = 0x811c_9dc5_u32;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    hash
}
