//! SINGLE-SENDER (Raynal, section 8.3): the protocol "is communication efficient (after some finite time a single
//! process sends messages forever)".
//!
//! It is the election that is to be efficient: what detectors and links say does not count. Nobody knows when a run
//! will end, so what is kept is when each node last sent.

use std::cmp::Reverse;

use bellwether_proto::ident::NodeId;
use bellwether_proto::message::Layer;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{TraceEvent, What};

use super::known::{Known, index};
use super::last_quarter::last_quarter;
use super::{Checker, Facts, Verdict, Violation};

pub(super) struct SingleSender {
    last_sent: Vec<Option<Time>>,
}

impl SingleSender {
    pub(super) fn new(facts: &Facts) -> Self {
        Self { last_sent: vec![None; facts.nodes] }
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
            Layer::Detector => {}
        }
    }

    fn finish(self: Box<Self>, _known: &Known, end: Time) -> Verdict {
        let from = last_quarter(end);
        match *self.senders_from(from) {
            [] => Verdict::Vacuous,
            [_] => Verdict::Holds,
            [(last, i), (at, j), ..] => {
                let from = from.since(Time::ZERO);
                let what = format!("{j} sends, and so does {i} at {last}; only one may from {from} on");
                Verdict::Violated(Violation { at, what })
            }
        }
    }
}
