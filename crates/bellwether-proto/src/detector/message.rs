//! What failure detectors say to each other.

use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::ring::STAMPS_MAX;
use crate::bounded;
use crate::canonical::Form;
use crate::ident::{Incarnation, NodeId, WatchNo};
use crate::kind::Kind;
use crate::time::Span;

/// Messages between failure detectors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DetectorMsg {
    /// "Are you alive?"
    Ping {
        /// The watch that asks.
        no: WatchNo,
        /// Counts the asker's pings.
        n: u64,
    },
    /// "Yes."
    Pong {
        /// Of the Ping.
        no: WatchNo,
        /// Of the Ping.
        n: u64,
    },
    /// "Tell me every period that you are alive."
    Subscribe {
        /// The watch that asks.
        no: WatchNo,
        /// How often.
        period: Span,
    },
    /// "No longer."
    Unsubscribe {
        /// The watch that asked.
        no: WatchNo,
    },
    /// "I'm alive."
    Beat {
        /// The watch it is for.
        no: WatchNo,
    },
    /// The ring's attendance list. In a box: it is rare and large, and every frame would have to be as large.
    Token(Box<Token>),
    /// "I hear nothing from this one; do you?"
    Poll {
        /// The watch that asks.
        no: WatchNo,
        /// Counts the asker's polls: a vote that comes too late for one is not taken for another.
        poll: u64,
        /// The node that it watches.
        suspect: NodeId,
    },
    /// The answer to a Poll.
    Vote {
        /// Of the Poll.
        no: WatchNo,
        /// Of the Poll.
        poll: u64,
        /// Of the Poll.
        suspect: NodeId,
        /// Whether the reporter found the suspect unreachable.
        unreachable: bool,
    },
    /// A reporter's question to a suspect.
    Probe {
        /// The watcher on whose behalf it asks: a suspect that plays dead to the watcher does so to its reporters.
        watcher: NodeId,
        /// Counts the reporter's probes.
        n: u64,
    },
    /// The suspect's answer.
    ProbeReply {
        /// Of the Probe.
        n: u64,
    },
}

/// The attendance list that goes round the ring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Who sent it on its way.
    pub origin: NodeId,
    /// The origin's incarnation.
    pub incarnation: Incarnation,
    /// The round within that incarnation.
    pub round: u64,
    /// Which nodes were there, each with its last round.
    #[serde(deserialize_with = "bounded::list::<STAMPS_MAX, _, _>")]
    pub stamps: Vec<Stamp>,
    /// The nodes that the origin leaves out of the ring.
    #[serde(deserialize_with = "bounded::list::<STAMPS_MAX, _, _>")]
    pub absent: Vec<NodeId>,
}

/// One line of the attendance list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Who stamped.
    pub node: NodeId,
    /// In which round.
    pub round: u64,
}

impl Stamp {
    /// How many rounds old the stamp is, as far as that matters: the last and the one before count as fresh.
    pub(super) fn lag(&self, round: u64) -> u64 {
        round.saturating_sub(self.round).min(2)
    }
}

pub(super) const PING: Kind = Kind::detector("Ping");
pub(super) const PONG: Kind = Kind::detector("Pong");
pub(super) const SUBSCRIBE: Kind = Kind::detector("Subscribe");
pub(super) const UNSUBSCRIBE: Kind = Kind::detector("Unsubscribe");
pub(super) const BEAT: Kind = Kind::detector("Beat");
pub(super) const TOKEN: Kind = Kind::detector("Token");
pub(super) const POLL: Kind = Kind::detector("Poll");
pub(super) const VOTE: Kind = Kind::detector("Vote");
pub(super) const PROBE: Kind = Kind::detector("Probe");
pub(super) const PROBE_REPLY: Kind = Kind::detector("ProbeReply");

/// Every kind of detector message.
pub const KINDS: &[Kind] = &[PING, PONG, SUBSCRIBE, UNSUBSCRIBE, BEAT, TOKEN, POLL, VOTE, PROBE, PROBE_REPLY];

impl DetectorMsg {
    /// Its kind, for counting.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Ping { .. } => PING,
            Self::Pong { .. } => PONG,
            Self::Subscribe { .. } => SUBSCRIBE,
            Self::Unsubscribe { .. } => UNSUBSCRIBE,
            Self::Beat { .. } => BEAT,
            Self::Token(_) => TOKEN,
            Self::Poll { .. } => POLL,
            Self::Vote { .. } => VOTE,
            Self::Probe { .. } => PROBE,
            Self::ProbeReply { .. } => PROBE_REPLY,
        }
    }

    pub(crate) fn canonical(&self, from: NodeId, to: NodeId, form: &mut Form) {
        form.number(1);
        form.number(u64::from(self.kind().id()));
        match self {
            Self::Ping { no, n } => {
                form.watch(from, to, *no);
                form.other(from, *n);
            }
            Self::Pong { no, n } => {
                form.watch(to, from, *no);
                form.other(to, *n);
            }
            Self::Subscribe { no, period } => {
                form.watch(from, to, *no);
                form.number(period.as_micros());
            }
            Self::Unsubscribe { no } => form.watch(from, to, *no),
            Self::Beat { no } => form.watch(to, from, *no),
            Self::Token(token) => token.canonical(form),
            Self::Poll { no, poll, suspect } => {
                form.watch(from, *suspect, *no);
                form.other(from, *poll);
                form.node(*suspect);
            }
            Self::Vote { no, poll, suspect, unreachable } => {
                form.watch(to, *suspect, *no);
                form.other(to, *poll);
                form.node(*suspect);
                form.number(u64::from(*unreachable));
            }
            Self::Probe { watcher, n } => {
                form.node(*watcher);
                form.other(from, *n);
            }
            Self::ProbeReply { n } => form.other(to, *n),
        }
    }
}

impl Token {
    fn canonical(&self, form: &mut Form) {
        form.node(self.origin);
        form.incarnation(self.origin, self.incarnation);
        form.other(self.origin, self.round);
        form.number(self.stamps.len() as u64);
        for stamp in &self.stamps {
            form.node(stamp.node);
            form.number(stamp.lag(self.round));
        }
        form.nodes(&self.absent);
    }
}
