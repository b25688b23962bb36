//! SINGLE-SENDER (Raynal, section 8.3): the protocol "is communication efficient (after some finite time a single
//! process sends messages forever)".
//!
//! It is the election that is to be efficient: what detectors and links say does not count. Nobody knows when a run
//! will end, so what is kept is when each node last sent. The one that does must go on until the end: in a run that ends,
//! that it has not been silent for two periods. Only where nobody is left to hear it need nobody send.

use std::cmp::Reverse;

use bellwether_proto::ident::NodeId;
use bellwether_proto::message::Layer;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{TraceEvent, What};

use super::known::{Known, index};
use super::last_quarter::last_quarter;
use super::opinions::Opinions;
use super::{Checker, Facts, Verdict, Violation};

pub(super) struct SingleSender {
    last_sent: Vec<Option<Time>>,
    /// Who is silent for longer does not send for ever.
    patience: Span,
}

impl SingleSender {
    pub(super) fn new(facts: &Facts) -> Self {
        Self { last_sent: vec![None; facts.nodes], patience: facts.stretched(facts.timing.tau * 2) }
    }

    /// Who sent from then on, and when for the last time; whoever did so last comes first.
    fn senders_from(&self, from: Time) -> Vec<(Time, NodeId)> {
        let last_sent = self.last_sent.iter().zip((1..).map(NodeId));
        let mut senders: Vec<_> = last_sent.filter_map(|(at, id)| at.map(|at| (at, id))).collect();
        senders.retain(|(at, _)| *at >= from);
        senders.sort_unstable_by_key(|sender| Reverse(*sender));
        senders
    }
}

impl Checker for SingleSender {
    fn wants_sends(&self) -> bool {
        true
    }

    fn observe(&mut self, _known: &Known, event: &TraceEvent) {
        let What::Send(msg) = &event.what else { return };
        match msg.kind.layer() {
            Layer::Protocol => self.last_sent[index(event.node)] = Some(event.at),
            Layer::Overhead => {}
        }
    }

    fn finish(self: Box<Self>, known: &Known, end: Time) -> Verdict {
        let (from, has_company) = (last_quarter(end), known.up().nth(1).is_some());
        let (at, what) = match *self.senders_from(from) {
            [] if !has_company => return Verdict::Vacuous,
            [] => (from, "nobody sends".to_owned()),
            [(last, i)] if has_company && !known.is_up(i) => {
                (last, format!("{i}, the last to send, is down"))
            }
            [(last, i)] if has_company && end.since(last) > self.patience => {
                (last, format!("{i} sends for the last time"))
            }
            [_] => return Verdict::Holds,
            [(last, i), (at, j), ..] => (at, format!("{j} sends, and so does {i} at {last}")),
        };
        let from = from.since(Time::ZERO);
        Verdict::Violated(Violation {
            at,
            what: format!("{what}; one must send for ever and alone from {from} on"),
        })
    }
}
