//! Checkers: each judges one property of a run, from its trace alone.
//!
//! There is one file for each property, named after it: ALE2' is judged in `ale2_prime.rs`. What each one demands is declared
//! with the [`Property`]; `docs/reference/properties.md` is the table of them.
//!
//! Shared: what the trace has told so far (`known.rs`), bounded intervals (`within.rs`, `after_fault.rs`,
//! `while_stable.rs`), "for ever" (`last_quarter.rs`), what counts as elected (`elected.rs`), counting names (`names.rs`) and agreeing on them
//! (`agreement.rs`), which epochs were seen (`seen.rs`), what befalls a group of members (`disturbance.rs`), what detectors owe (`obligations.rs`), covers by cliques (`clique_cover.rs`), and what can be said of
//! one state by itself, for searches that see states and no traces (`opinions.rs`).
//!
//! A property that found nothing to judge has no finding: absent is not the same as holding.
//!
//! A simulator knows that a message will be late when it is sent, and its trace says so. A trace of a live run can only
//! tell when the message arrives: what was judged while it was under way is then taken back.

mod a1;
mod a2;
mod a3;
mod a4;
mod a4_prime;
mod after_fault;
mod agreement;
mod ale1;
mod ale2;
mod ale2_prime;
mod announced_once;
mod answer_true;
mod answered;
mod clique_cover;
mod coordination;
mod disturbance;
mod elected;
mod epoch;
mod epoch_grows;
mod epoch_once;
mod fake_clean;
mod fd_accurate;
mod fd_complete;
mod fd_latency;
mod freed;
mod granted;
mod group_once;
mod history;
mod known;
mod last_quarter;
mod leads_alone;
mod led;
mod link_history;
mod names;
mod obligations;
mod omega;
mod one_holder;
mod one_leader_per_view;
mod one_view_or_dead;
mod opinions;
mod preferred;
mod restricted_once;
mod seen;
mod settled;
mod single_sender;
mod sle1;
mod sle2;
mod taken_over;
#[cfg(test)]
mod tests;
mod token_grows;
mod token_once;
mod view_agree;
mod while_stable;
mod within;
mod work_ends_first;

use std::collections::BTreeMap;
use std::fmt;

use bellwether_proto::election::Timing;
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::promise::Property;
use bellwether_proto::roster::Priority;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{DropReason, TraceEvent, What};

use known::Known;

pub(crate) use announced_once::again;
pub(crate) use disturbance::befalls;
pub(crate) use elected::Judgement;
pub(crate) use epoch::step_back;
pub(crate) use epoch_grows::{notice, used};
pub(crate) use epoch_once::repeated;
pub(crate) use opinions::{Opinions, bound, breach, settled};
pub(crate) use seen::Leadership;
pub(crate) use work_ends_first::{giver, goes_on};

/// What the judge must know of a run beforehand; the trace tells the rest.
#[derive(Clone, Debug)]
pub struct Facts {
    /// How many nodes there are. Their ids are 1 to this.
    pub nodes: usize,
    /// Who is stronger.
    pub priority: Priority,
    /// The timing parameters that the nodes were given.
    pub timing: Timing,
    /// τ_FD: the latency that the failure detector declares.
    pub detector_latency: Span,
    /// How long a write takes at most, as far as that is known.
    pub write: Span,
    /// How many nodes must agree before one is reported: k for the cooperative detector, otherwise 1.
    pub reporters: usize,
    /// How far the worst clock is off, in parts per million.
    pub drift_ppm: u32,
    /// What the run is of.
    pub origin: Origin,
    /// What members were told about leading, if they announce it.
    pub leading: Leading,
    /// Of exclusive leadership: who votes.
    pub voters: Vec<NodeId>,
    /// Of exclusive leadership: who never leads.
    pub witnesses: Vec<NodeId>,
    /// Who is preferred as the leader, as far as that is known.
    pub preference: Preference,
}

/// What a run is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Simulated nodes. One clock says when things happened, and programs work whenever they may.
    Simulated,
    /// Real agents. Each has its own clock, so which of two things at different nodes was first is not quite known. Programs
    /// work when they like.
    Live,
}

/// Who is preferred as the leader.
#[derive(Clone, Debug, Default)]
pub struct Preference {
    /// The priority of a node; 0 if it is not listed.
    pub priority: BTreeMap<NodeId, u32>,
    /// Who, when it leads, makes way for a node of higher priority, and after how long.
    pub preempt: BTreeMap<NodeId, Span>,
}

impl Preference {
    fn of(&self, node: NodeId) -> u32 {
        self.priority.get(&node).copied().unwrap_or(0)
    }
}

/// What members are told about leading.
#[derive(Clone, Copy, Debug)]
pub struct Leading {
    /// How long a member may take to agree to a claim.
    pub settle: Span,
    /// How long the work of a leader may take to end once leadership is asked back.
    pub release_timeout: Span,
    /// How long a member that gives leadership back waits for the next leader.
    pub successor_patience: Span,
    /// Of exclusive leadership: how long a voter waits for a lease that is not renewed.
    pub lease: Span,
    /// How many must be able to speak with each other for one of them to lead.
    pub quorum: usize,
}

impl Facts {
    /// A bound as an observer with a true clock must see it kept: clocks that are off stretch it.
    fn stretched(&self, bound: Span) -> Span {
        let extra = u128::from(bound.as_micros()) * u128::from(self.drift_ppm) * 2;
        bound + Span::micros(u64::try_from(extra.div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }

    /// The longest time that any of these properties, or any of Stoller's, allows between the last disturbance and
    /// agreement.
    pub fn slowest_bound(&self, promised: impl Iterator<Item = Property>) -> Span {
        let stoller = (sle2::c_s(self) * 2).max(while_stable::c_a(self));
        let promised = promised.filter_map(|property| bound(property, self)).max();
        self.stretched(promised.map_or(stoller, |promised| promised.max(stoller)))
    }

    /// How long it takes to find somebody silent, to settle on another, and to be done with it.
    pub(crate) fn calm(&self) -> Span {
        let Timing { delta, tau, .. } = self.timing;
        self.detector_latency.max(tau * 3 + delta * 4) + self.leading.settle + tau * 2
    }

    /// τ_FD, stretched.
    fn detection(&self) -> Span {
        self.stretched(self.detector_latency)
    }
}

/// Judges a run by its trace: give it every event in order, then the time at which the run ended.
pub struct Judge {
    delta: Span,
    known: Known,
    checkers: Vec<(Property, Box<dyn Checker>)>,
    /// Whether any of them asks for what is sent.
    wants_sends: bool,
    violated: bool,
}

impl Judge {
    /// A judge of these properties, at the start of a run.
    pub fn new(facts: Facts, properties: &[Property]) -> Self {
        let checkers: Vec<_> =
            properties.iter().map(|property| (*property, checker(*property, &facts))).collect();
        let wants_sends = checkers.iter().any(|(_, checker)| checker.wants_sends());
        Self { delta: facts.timing.delta, known: Known::new(&facts), checkers, wants_sends, violated: false }
    }

    /// Takes note of the next event.
    ///
    /// # Panics
    /// If it happened at a node that the facts do not allow for.
    #[inline]
    pub fn observe(&mut self, event: &TraceEvent) {
        if self.matters(event) {
            self.take(event);
        }
    }

    /// Whether something was violated that nothing later can excuse. Worth asking before a run goes on.
    pub fn violated(&self) -> bool {
        self.violated
    }

    /// The findings on a run that ended then, in the order in which the properties were given.
    pub fn finish(self, end: Time) -> Vec<Finding> {
        let Self { known, checkers, .. } = self;
        let finding = |(property, checker): (Property, Box<dyn Checker>)| {
            let violation = match checker.finish(&known, end) {
                Verdict::Vacuous => return None,
                Verdict::Holds => None,
                Verdict::Violated(violation) => Some(violation),
            };
            Some(Finding { property, violation })
        };
        checkers.into_iter().filter_map(finding).collect()
    }

    /// Nearly all events are messages that behave: they change nothing that most properties speak of.
    #[inline]
    fn matters(&self, event: &TraceEvent) -> bool {
        match &event.what {
            What::Send(_) => self.wants_sends,
            What::Deadline | What::Persist(_) => false,
            What::Recv(_, sent) => event.at.since(*sent) > self.delta,
            What::Drop(_, reason) => match reason {
                DropReason::Lost | DropReason::Dropped => true,
                DropReason::Cut | DropReason::Down => false,
            },
            What::Node(Event::Refused { .. }) => false,
            What::Node(_)
            | What::Late(_)
            | What::HeldUp(_)
            | What::Crash
            | What::Recover
            | What::Pause
            | What::Resume
            | What::Cut(_)
            | What::Mend(_)
            | What::Slow(_)
            | What::Unlinked(_)
            | What::Program(_) => true,
        }
    }

    fn take(&mut self, event: &TraceEvent) {
        if matches!(event.what, What::Send(_)) {
            self.tell_of_send(event);
            return;
        }
        if event.at > self.known.now() {
            for (_, checker) in &mut self.checkers {
                checker.pass(&self.known, event.at);
            }
        }
        self.known.apply(event);
        for (_, checker) in &mut self.checkers {
            checker.observe(&self.known, event);
            self.violated |= checker.violated();
        }
    }

    /// It changes nothing that is known, so who does not ask for it need not know.
    fn tell_of_send(&mut self, event: &TraceEvent) {
        for (_, checker) in self.checkers.iter_mut().filter(|(_, checker)| checker.wants_sends()) {
            checker.observe(&self.known, event);
            self.violated |= checker.violated();
        }
    }
}

impl fmt::Debug for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let properties: Vec<Property> = self.checkers.iter().map(|(property, _)| *property).collect();
        f.debug_struct("Judge")
            .field("properties", &properties)
            .field("now", &self.known.now())
            .field("violated", &self.violated)
            .finish_non_exhaustive()
    }
}

/// What a run says about a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The property that was judged.
    pub property: Property,
    /// Where it failed; it holds if nowhere.
    pub violation: Option<Violation>,
}

/// How a run broke a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The first instant at which it did. What must come to be so for ever is broken when it last ceases to be.
    pub at: Time,
    /// For people: who, what, and by which bound.
    pub what: String,
}

/// Judges one property.
trait Checker: Send {
    /// Nothing changes from `known.now()` until just before `until`.
    fn pass(&mut self, _known: &Known, _until: Time) {}

    /// Whether it wants to be told of messages that are sent. They are most of a run.
    fn wants_sends(&self) -> bool {
        false
    }

    /// This event happened, and is part of what is known. Of messages only the lost and the late come here, and what
    /// is sent if that is wanted.
    fn observe(&mut self, known: &Known, event: &TraceEvent);

    /// Whether the property is violated and nothing later can excuse it.
    fn violated(&self) -> bool {
        false
    }

    /// The verdict on a run that ended then.
    fn finish(self: Box<Self>, known: &Known, end: Time) -> Verdict;
}

enum Verdict {
    /// There was nothing to judge.
    Vacuous,
    Holds,
    Violated(Violation),
}

impl Verdict {
    fn new(judged: bool, violation: Option<Violation>) -> Self {
        match violation {
            Some(violation) => Self::Violated(violation),
            None if judged => Self::Holds,
            None => Self::Vacuous,
        }
    }
}

fn checker(property: Property, facts: &Facts) -> Box<dyn Checker> {
    match property {
        Property::A1 => Box::new(a1::new(facts)),
        Property::A2 => Box::new(a2::new(facts)),
        Property::A3 => Box::new(a3::new(facts)),
        Property::A4 => Box::new(a4::new(facts)),
        Property::A4Prime => Box::new(a4_prime::new(facts)),
        Property::GroupOnce => Box::new(group_once::GroupOnce::default()),
        Property::Sle1 => Box::new(sle1::new(facts)),
        Property::Sle2 => Box::new(sle2::new(facts)),
        Property::Ale1 => Box::new(ale1::new(facts)),
        Property::Ale2 => Box::new(ale2::new(facts)),
        Property::Ale2Prime => Box::new(ale2_prime::new(facts)),
        Property::Omega => Box::new(omega::new(facts)),
        Property::Settled => Box::new(settled::new(facts)),
        Property::Epoch => Box::new(epoch::Epoch::default()),
        Property::EpochGrows => Box::new(epoch_grows::EpochGrows::new(facts)),
        Property::EpochOnce => Box::new(epoch_once::EpochOnce::default()),
        Property::LeadsAlone => Box::new(leads_alone::LeadsAlone::new(facts)),
        Property::AnnouncedOnce => Box::new(announced_once::AnnouncedOnce::new(facts)),
        Property::WorkEndsFirst => Box::new(work_ends_first::WorkEndsFirst::new(facts)),
        Property::Answered => Box::new(answered::Answered::new(facts)),
        Property::AnswerTrue => Box::new(answer_true::AnswerTrue::default()),
        Property::TakenOver => Box::new(taken_over::TakenOver::new(facts)),
        Property::Preferred => Box::new(preferred::Preferred::new(facts)),
        Property::Led => Box::new(led::Led::new(facts)),
        Property::TokenGrows => Box::new(token_grows::TokenGrows::default()),
        Property::TokenOnce => Box::new(token_once::TokenOnce::default()),
        Property::OneHolder => Box::new(one_holder::OneHolder::default()),
        Property::Freed => Box::new(freed::Freed::new(facts)),
        Property::Granted => Box::new(granted::Granted::new(facts)),
        Property::History => Box::new(history::History::default()),
        Property::RestrictedOnce => Box::new(restricted_once::RestrictedOnce::new(facts)),
        Property::SingleSender => Box::new(single_sender::SingleSender::new(facts)),
        Property::FdComplete => Box::new(fd_complete::FdComplete::new(facts)),
        Property::FdAccurate => Box::new(fd_accurate::FdAccurate::new(facts)),
        Property::FdLatency => Box::new(fd_latency::FdLatency::new(facts)),
        Property::LinkHistory => Box::new(link_history::LinkHistory::new(facts)),
        Property::ViewAgree => Box::new(view_agree::ViewAgree::new(facts)),
        Property::OneLeaderPerView => Box::new(one_leader_per_view::OneLeaderPerView::default()),
        Property::OneViewOrDead => Box::new(one_view_or_dead::OneViewOrDead::default()),
        Property::FakeClean => Box::new(fake_clean::FakeClean::new(facts)),
    }
}
