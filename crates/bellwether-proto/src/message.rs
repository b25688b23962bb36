//! What travels between nodes.

mod letter;

use alloc::boxed::Box;

use crate::canonical::Form;
use crate::detector::DetectorMsg;
use crate::exclusive::message::ExclusiveMsg;
use crate::group::{GroupMsg, Past};
use crate::ident::{Incarnation, NodeId, WatchNo};
use crate::leadership::LeadershipMsg;
use crate::link::LinkMsg;
use crate::link::consistent::ConsistentMsg;

pub use crate::kind::{Kind, Layer, Message, Part};
pub use letter::Letter;

/// One frame from one node to another: its sender, the sender's incarnation, and one layer's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<M> {
    /// The sender.
    pub from: NodeId,
    /// The sender's incarnation when it sent this.
    pub incarnation: Incarnation,
    /// Counts the frames of this incarnation from this sender to this receiver.
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
    /// Between the ends of a consistent link, and what it carries for the layers above.
    Consistent(Box<ConsistentMsg<Letter<M>>>),
    /// Between the failure detectors.
    Detector(DetectorMsg),
    /// Between the election algorithms.
    Election(M),
    /// Between the election algorithms, to join a group: the group layers learn where the sender comes from.
    Join(Box<Joining<M>>),
    /// Between the group layers. In a box: they are rare and large, and every frame would have to be as large.
    Group(Box<GroupMsg>),
    /// Between the leadership layers.
    Leadership(LeadershipMsg),
    /// Between the layers of exclusive leadership. In a box, as those of groups.
    Exclusive(Box<ExclusiveMsg>),
}

/// How a node joins a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joining<M> {
    /// The election's message.
    pub msg: M,
    /// Where the sender comes from.
    pub past: Past,
}

impl<M: Message> Body<M> {
    /// The kind of the message inside.
    #[inline(always)]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Link(msg) => msg.kind(),
            Self::Consistent(msg) => msg.kind(),
            Self::Detector(msg) => msg.kind(),
            Self::Election(msg) => msg.kind(),
            Self::Join(joining) => joining.msg.kind(),
            Self::Group(msg) => msg.kind(),
            Self::Leadership(msg) => msg.kind(),
            Self::Exclusive(msg) => msg.kind(),
        }
    }
}

impl<M> Frame<M> {
    /// Its number, if its layer needs an order. Elections do, and so does the reorganization of their groups.
    pub(crate) fn nth(&self) -> Option<u64> {
        match self.body {
            Body::Election(_) | Body::Join(..) | Body::Group(_) => Some(self.seq),
            // Consistent links see to it themselves.
            Body::Consistent(_) => None,
            Body::Link(_) | Body::Detector(_) | Body::Leadership(_) | Body::Exclusive(_) => None,
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
            Body::Consistent(msg) => {
                form.number(6);
                msg.canonical(self.from, self.incarnation, to, form);
            }
            Body::Detector(msg) => msg.canonical(self.from, to, form),
            Body::Election(msg) => {
                form.number(2);
                msg.canonical(form);
            }
            Body::Join(joining) => {
                form.number(4);
                joining.msg.canonical(form);
                joining.past.canonical(form);
            }
            Body::Group(msg) => {
                form.number(5);
                msg.canonical(form);
            }
            Body::Leadership(msg) => {
                form.number(3);
                msg.canonical(self.from, to, form);
            }
            Body::Exclusive(msg) => {
                form.number(7);
                msg.canonical(form);
            }
        }
    }
}
