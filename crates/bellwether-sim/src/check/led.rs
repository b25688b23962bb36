//! LED: while nothing befalls the group, everybody who runs announces a leader that runs, within c_L, and goes on to. So
//! nobody waits for ever to lead, nor to be led: a claim is settled, or given up for another.
//!
//! Nobody can lead where fewer stand than must agree. c_L = 2N(2τ + 10δ + τ_FD + the time to settle): each node in turn
//! may have to be found silent, twice, and passed over; a round of merging takes 2τ + 10δ.

use bellwether_proto::ident::NodeId;
use bellwether_proto::io;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{TraceEvent, What};

use super::disturbance::disturbance;
use super::elected::Judgement;
use super::known::Known;
use super::opinions::Opinions;
use super::within::Within;
use super::work_ends_first::giver;
use super::{Checker, Facts, Verdict};

pub(super) struct Led {
    bound: Span,
    quorum: usize,
    within: Within,
}

impl Led {
    pub(super) fn new(facts: &Facts) -> Self {
        let bound = facts.stretched(c_l(facts));
        Self { bound, quorum: facts.leading.quorum, within: Within::new("something befell the group", bound) }
    }
}

impl Checker for Led {
    fn pass(&mut self, known: &Known, until: Time) {
        self.within.pass(known, until, |known| all_led(known, self.quorum));
    }

    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        if known.passage().is_some() || gives_back(event) || disturbance(known, event).is_some() {
            self.within.restart(Some(event.at), self.bound);
        }
    }

    fn finish(self: Box<Self>, known: &Known, end: Time) -> Verdict {
        let Self { quorum, within, .. } = *self;
        within.finish(known, end, |known| all_led(known, quorum))
    }
}

/// Whether a leader gives leadership back: its work had to end first, which may have taken longer than anything else.
pub(super) fn gives_back(event: &TraceEvent) -> bool {
    match event.what {
        What::Node(io::Event::Announced(announced)) => {
            announced.leader.is_none() && giver(event.node, &announced) == Some(event.node)
        }
        _ => false,
    }
}

/// The constant, for true clocks.
pub(super) fn c_l(facts: &Facts) -> Span {
    let Facts { nodes, timing, detector_latency: tau_fd, leading, .. } = facts;
    (timing.tau * 2 + timing.delta * 10 + *tau_fd + leading.settle) * (2 * *nodes as u64)
}

/// Whether everybody who runs announces a leader that runs.
pub(super) fn all_led(opinions: &impl Opinions, quorum: usize) -> Judgement {
    let runs = |node: &NodeId| opinions.runs(*node);
    let running = || opinions.up().map(|(node, _)| node).filter(runs);
    if running().take(quorum).count() < quorum {
        return Judgement::Open;
    }
    let unled = running().find_map(|node| match opinions.announced(node) {
        None => Some(format!("{node} announces no leader")),
        Some(leader) if !runs(&leader) => Some(format!("{node} announces {leader}, which does not run")),
        Some(_) => None,
    });
    unled.map_or(Judgement::Holds, Judgement::Fails)
}
