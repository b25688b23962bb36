//! The synchronous baseline (Raynal 2007, section 1): where delays have a known bound, an eventual leader is easy.
//!
//! Time is cut into rounds of max(τ, 2δ). At the beginning of a round every process sends a message to every other; at its end it
//! takes as its leader the smallest of itself and those it has heard from during the round. After the last round in which
//! a process crashes or comes up, all name the same.
//!
//! Assumes that clocks agree and that what is sent at the beginning of a round arrives before its end. One late message is
//! enough to make it wrong for a round: a reference to measure the others against, not a protocol to run.

use serde::{Deserialize, Serialize};

use super::raynal;
use super::{Actions, Channels, Election, GivesWay, InAgent, Input, Mode, Peers, Setup, Spec};
use crate::canonical::Form;
use crate::cause::Cause;
use crate::kind::{Kind, Message};
use crate::opinion::Opinion;
use crate::promise::Assumption::{BoundedDelay, NoDrift, NoPauses, QuietEnd, Reliable};
use crate::promise::{Promise, Property};
use crate::roster::Priority;
use crate::time::{Span, Time};

/// The facts about `lockstep`.
pub const SPEC: Spec = Spec {
    name: "lockstep",
    document: "Raynal 2007, section 1",
    assumes: "clocks that agree; every message arrives within the round in which it is sent",
    guarantees: "from the round after the last crash or recovery on, all name the smallest live id",
    messages: "N(N-1) per round of max(tau, 2 delta), for ever",
    in_agent: InAgent::No(
        "needs a synchronous network; it is the baseline that the others are measured against",
    ),
    mode: Mode::AnySurvivor,
    priority: Priority::LowestId,
    gives_way: GivesWay::AtOnce,
    detector: None,
    peers: Peers::Listed,
    channels: Channels::AnyOrder,
    views: false,
    reorganizes: false,
    hands_over: false,
    kinds: &[ROUND],
    repaired: PROMISES,
    printed: PROMISES,
};

const PROMISES: &[Promise] =
    &[Promise { property: Property::Omega, under: &[Reliable, BoundedDelay, NoPauses, NoDrift, QuietEnd] }];

/// The only message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Msg {
    /// "I am in this round."
    Round(u64),
}

const ROUND: Kind = Kind::protocol("ROUND");

impl Message for Msg {
    fn kind(&self) -> Kind {
        ROUND
    }

    fn canonical(&self, form: &mut Form) {
        let Self::Round(round) = self;
        form.period(*round);
    }

    fn largest_counter(&self) -> u64 {
        let Self::Round(round) = self;
        *round
    }
}

/// The algorithm's state at one node.
#[derive(Clone, Debug)]
pub struct Lockstep {
    setup: Setup,
    /// The round that has begun, counted from the start of the clock.
    round: u64,
    /// The rank of the strongest heard in it, oneself included.
    strongest: usize,
    /// The leader found in the round before; `None` in the first round.
    leader: Option<usize>,
}

impl Election for Lockstep {
    type Msg = Msg;

    fn new(setup: Setup, _tau_fd: Span) -> Self {
        let strongest = setup.roster.my_rank();
        Self { setup, round: 0, strongest, leader: None }
    }

    fn handle(&mut self, now: Time, input: Input<Msg>, out: &mut Actions<Msg>) {
        match input {
            Input::Recovery => self.begin(now, out),
            Input::Message { from, msg: Msg::Round(round) } => {
                let rank = self.setup.roster.rank(from);
                if let Some(rank) = rank.filter(|rank| round == self.round && *rank < self.strongest) {
                    self.strongest = rank;
                }
            }
            Input::Deadline if self.deadline() <= now => {
                if let Some(led) = self.leader.replace(self.strongest).filter(|led| *led > self.strongest) {
                    out.because(Cause::Outranked(self.setup.roster.at(led)));
                }
                self.begin(now, out);
            }
            Input::Deadline
            | Input::NewIncarnation(_)
            | Input::Gone(_)
            | Input::Resigned { .. }
            | Input::Reorganized
            | Input::ReorganizationFailed(_)
            | Input::Link { .. }
            | Input::HandOver(_)
            | Input::DownSig(_) => {}
        }
    }

    fn deadline(&self) -> Time {
        Time::ZERO + self.length() * (self.round + 1)
    }

    fn opinion(&self) -> Opinion {
        raynal::opinion(self.leader.map(|rank| self.setup.roster.at(rank)))
    }

    fn canonical(&self, now: Time, form: &mut Form) {
        form.period(self.round);
        form.number(self.strongest as u64);
        form.option(self.leader, |form, rank| form.number(rank as u64));
        form.deadline(now, self.deadline());
    }

    fn breach(&self, before: &Self) -> Option<&'static str> {
        let weaker =
            self.strongest > self.setup.roster.my_rank() || self.leader > Some(self.setup.roster.my_rank());
        if weaker {
            return Some("nobody follows one that is weaker than itself");
        }
        (self.round < before.round).then_some("rounds do not run backwards")
    }
}

impl Lockstep {
    /// Rounds are cut from the clock, so that a process that comes up falls into step.
    fn begin(&mut self, now: Time, out: &mut Actions<Msg>) {
        self.round = now.as_micros() / self.length().as_micros();
        self.strongest = self.setup.roster.my_rank();
        raynal::send_to_others(&self.setup, &Msg::Round(self.round), out);
    }

    fn length(&self) -> Span {
        self.setup.timing.tau.max(self.setup.timing.delta * 2).max(Span::micros(1))
    }
}

#[cfg(test)]
mod tests;
