//! What travels between nodes.

use alloc::boxed::Box;
use core::fmt;

use crate::canonical::Form;
use crate::detector::{DetectorMsg, WatchNo};
use crate::group::{GroupMsg, Past};
use crate::ident::{Incarnation, NodeId};
use crate::leadership::LeadershipMsg;
use crate::link::LinkMsg;
use crate::link::history::{HistoryMsg, Letter};

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

/// One frame from one node to another: who sends it, in which life, and one layer's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<M> {
    /// The sender.
    pub from: NodeId,
    /// The sender's life when it sent this.
    pub incarnation: Incarnation,
    /// Counts the frames of this life from this sender to this receiver.
    pub seq: u64,
    /// An "I'm alive" that rides along, for the receiver's watch of that number.
    pub rides: Option<WatchNo>,
    /// The message itself.
    pub body: Body<M>,
}

/// Each layer's messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body<M> {
    /// Between the link layers.
    Link(LinkMsg),
    /// Between the ends of a link with a history, and what it carries for the layers above.
    History(Box<HistoryMsg<Letter<M>>>),
    /// Between the failure detectors.
    Detector(DetectorMsg),
    /// Between the election algorithms.
    Election(M),
    /// Between the election algorithms, to join a group: the group layers learn where the sender comes from.
    Join(M, Box<Past>),
    /// Between the group layers.
    Group(GroupMsg),
    /// Between the leadership layers.
    Leadership(LeadershipMsg),
}

impl<M: Message> Body<M> {
    /// The kind of the message inside.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Link(msg) => msg.kind(),
            Self::History(msg) => msg.kind(),
            Self::Detector(msg) => msg.kind(),
            Self::Election(msg) | Self::Join(msg, _) => msg.kind(),
            Self::Group(msg) => msg.kind(),
            Self::Leadership(msg) => msg.kind(),
        }
    }
}

impl<M: Message> Frame<M> {
    /// Writes the frame, in flight towards `to`, in canonical form.
    pub fn canonical(&self, to: NodeId, form: &mut Form) {
        form.node(self.from);
        form.node(to);
        form.incarnation(self.from, self.incarnation);
        form.frame_seq(self.from, self.incarnation, to, self.seq);
        form.option(self.rides, |form, no| form.watch(to, self.from, no));
        match &self.body {
            Body::Link(msg) => msg.canonical(to, form),
            Body::History(msg) => {
                form.number(6);
                msg.canonical(self.from, self.incarnation, to, form);
            }
            Body::Detector(msg) => msg.canonical(self.from, to, form),
            Body::Election(msg) => {
                form.number(2);
                msg.canonical(form);
            }
            Body::Join(msg, past) => {
                form.number(4);
                msg.canonical(form);
                past.canonical(form);
            }
            Body::Group(msg) => {
                form.number(5);
                msg.canonical(form);
            }
            Body::Leadership(msg) => {
                form.number(3);
                msg.canonical(self.from, to, form);
            }
        }
    }
}

/// Whose message a kind is, for counting the cost of electing apart from the cost of watching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// The election algorithm's.
    Protocol,
    /// The failure detector's, or the link's: overhead in the papers' accounting.
    Detector,
}

/// The part that a message has in an exchange of queries and responses. Some assumptions about a network are about
/// the order of responses alone.
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
        Self { name, layer: Layer::Detector, part: Part::Neither, id: fnv1a(name) }
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

    /// A number that depends on the name alone.
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
