//! Assumption models: what an asynchronous network promises beyond nothing.
//!
//! No algorithm elects an eventual leader in a network that promises nothing (Raynal, "Eventual Leader Service in
//! Unreliable Asynchronous Systems", theorem 1). Each model promises a little, from an unknown time on, and is
//! hostile in everything else; so a run shows whether an algorithm makes do with what it says it needs.

use bellwether_proto::ident::NodeId;
use bellwether_proto::time::{Span, Time};

use super::Latency;

/// `[network.model]`. What the kind does not read is zero, and the source node 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// What is promised.
    pub kind: ModelKind,
    /// The process that the promise is about: the paper's p.
    pub source: NodeId,
    /// How many others the promise extends to: the size of the paper's Q.
    pub t: u32,
    /// When the promise begins: the paper's τ₀, which no algorithm knows.
    pub gst: Time,
    /// The bound on the delay of what is promised to be timely: the paper's δ.
    pub delta: Span,
    /// Probability that a message which is not promised anything is lost.
    pub loss: f64,
}

impl Model {
    /// With neutral values for the keys that its kind does not read.
    pub fn as_read(self) -> Self {
        let mut read = Self::neutral(self.kind);
        for key in self.kind.keys() {
            match key {
                ModelKey::Source => read.source = self.source,
                ModelKey::T => read.t = self.t,
                ModelKey::Gst => read.gst = self.gst,
                ModelKey::Delta => read.delta = self.delta,
                ModelKey::Loss => read.loss = self.loss,
            }
        }
        read
    }

    /// A model of that kind with nothing but the neutral values of keys it may not read.
    pub fn neutral(kind: ModelKind) -> Self {
        Self { kind, source: NodeId(1), t: 0, gst: Time::ZERO, delta: Span::ZERO, loss: 0.0 }
    }
}

/// What a model promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// Every message is timely, always (section 1).
    Synchronous,
    /// Every message is timely from `gst` on (section 5.1).
    Gst,
    /// `t` fixed links from the source are timely (section 6.1).
    TSource,
    /// Whenever the source broadcasts, some `t` others answer in time (section 4).
    TAccessible,
    /// Whenever the source broadcasts, some `t` others receive it in time (section 4).
    TMovingSource,
    /// The source's response to each query of `t` fixed others is among the first n − t (section 7.1).
    Mp,
    /// Of `t` fixed others, some have the message pattern and the rest a timely link from the source (section 4).
    Combined,
    /// All links from the source are timely, the others lose messages but are fair (section 8.1).
    Kcs,
    /// Nothing: whoever leads is kept from being heard until another does (theorem 1).
    Adversary,
}

impl ModelKind {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::Synchronous,
        Self::Gst,
        Self::TSource,
        Self::TAccessible,
        Self::TMovingSource,
        Self::Mp,
        Self::Combined,
        Self::Kcs,
        Self::Adversary,
    ];

    /// As files write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Synchronous => "synchronous",
            Self::Gst => "gst",
            Self::TSource => "t-source",
            Self::TAccessible => "t-accessible",
            Self::TMovingSource => "t-moving-source",
            Self::Mp => "mp",
            Self::Combined => "combined",
            Self::Kcs => "kcs",
            Self::Adversary => "adversary",
        }
    }

    /// The kind of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The keys that mean something to this kind.
    pub const fn keys(self) -> &'static [ModelKey] {
        use ModelKey::{Delta, Gst, Loss, Source, T};
        match self {
            Self::Synchronous => &[Delta],
            Self::Gst => &[Gst, Delta],
            Self::TSource | Self::TAccessible | Self::TMovingSource | Self::Mp | Self::Combined => {
                &[Source, T, Gst, Delta]
            }
            Self::Kcs => &[Source, Gst, Delta, Loss],
            Self::Adversary => &[],
        }
    }

    /// Whether `key` means something to this kind.
    pub fn reads(self, key: ModelKey) -> bool {
        self.keys().contains(&key)
    }

    /// The shortest bound that this kind can keep: on one message, or on a round trip.
    pub fn delta_min(self, latency: Latency) -> Span {
        match self {
            Self::TAccessible => latency.low * 2,
            _ => latency.low,
        }
    }

    /// The largest `t` that this kind can keep its promise with, among that many nodes; 0 if there is none.
    pub const fn t_max(self, nodes: u32) -> u32 {
        match self {
            // With t = n − 1 the first n − t responses are the one that a process gives itself.
            Self::Mp | Self::Combined => nodes.saturating_sub(2),
            Self::TSource | Self::TAccessible | Self::TMovingSource => nodes.saturating_sub(1),
            Self::Synchronous | Self::Gst | Self::Kcs | Self::Adversary => 0,
        }
    }
}

/// The keys of `[network.model]` besides `kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKey {
    /// [`Model::source`].
    Source,
    /// [`Model::t`].
    T,
    /// [`Model::gst`].
    Gst,
    /// [`Model::delta`].
    Delta,
    /// [`Model::loss`].
    Loss,
}

impl ModelKey {
    /// As files write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::T => "t",
            Self::Gst => "gst",
            Self::Delta => "delta",
            Self::Loss => "loss",
        }
    }
}
