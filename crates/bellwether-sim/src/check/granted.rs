//! GRANTED: while nothing befalls the group, everybody who runs announces a leader that runs, within c_X, and goes on to, if a
//! majority of the voters runs.
//!
//! c_X is c_L and six leases: a holder that is gone is waited for, voters that restarted wait as long, and whoever was told of a
//! leader forgets it after two. Up to eight writes follow each other: promises, the configuration twice, burial and grant.

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{TraceEvent, What};

use super::disturbance::disturbance;
use super::elected::Judgement;
use super::known::Known;
use super::led::{all_led, c_l, gives_back};
use super::opinions::Opinions;
use super::within::Within;
use super::{Checker, Facts, Verdict};

pub(super) struct Granted {
    bound: Span,
    voters: Vec<NodeId>,
    /// Whether anything was ever granted: a cluster that was never whole grants nothing.
    founded: bool,
    within: Within,
}

impl Granted {
    pub(super) fn new(facts: &Facts) -> Self {
        let bound = facts.stretched(c_x(facts));
        let within = Within::new("something befell the group", bound);
        Self { bound, voters: facts.voters.clone(), founded: false, within }
    }
}

impl Granted {
    /// How many voters must run.
    fn needed(&self) -> usize {
        if self.founded { self.voters.len() / 2 + 1 } else { self.voters.len().max(1) }
    }
}

impl Checker for Granted {
    fn pass(&mut self, known: &Known, until: Time) {
        let needed = self.needed();
        self.within.pass(known, until, |known| is_led(known, &self.voters, needed));
    }

    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        self.founded |= matches!(event.what, What::Node(Event::Granted { .. }));
        if known.passage().is_some() || gives_back(event) || disturbance(known, event).is_some() {
            self.within.restart(Some(event.at), self.bound);
        }
    }

    fn finish(self: Box<Self>, known: &Known, end: Time) -> Verdict {
        let needed = self.needed();
        let Self { voters, within, .. } = *self;
        within.finish(known, end, |known| is_led(known, &voters, needed))
    }
}

/// The constant, for true clocks.
pub(super) fn c_x(facts: &Facts) -> Span {
    c_l(facts) + facts.leading.lease * 6 + facts.write * 8
}

fn is_led(known: &Known, voters: &[NodeId], needed: usize) -> Judgement {
    let running = voters.iter().filter(|voter| known.is_up(**voter) && known.runs(**voter)).count();
    if running < needed { Judgement::Open } else { all_led(known, 1) }
}
