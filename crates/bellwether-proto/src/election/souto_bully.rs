//! The Bully algorithm with messages instead of calls, and no reorganization (Souto 2021, "The Bully Election Algorithm").
//!
//! A candidate asks all stronger nodes at once whether they are there. If nobody says yes within 2T, it halts the weaker,
//! all at once, waits T, and announces itself. Here the *lowest* id is the strongest, and T bounds the delay of a message in
//! one direction.
//!
//! ```text
//!   3 (of 5; 1 is down)     2               4, 5
//!   │──ARE-U-THERE─────────►│ ──ARE-U-THERE──► 1    Election: probing ──YES──► backed off ──retry──► probing
//!   │◄───────────────────YES│  2T             │                  │  2T              │
//!   │ backs off             │                 │                  ▼                  │ HALT
//!   │◄─────────────────HALT─┼────────────HALT►│               halting ───HALT──► halted ──retry──► probing
//!   │                       │  T              │                  │  T               │ NEW-LEADER
//!   │◄───────────NEW-LEADER─┼──────NEW-LEADER►│                  ▼                  ▼
//!   │ Normal                │ Normal          │ Normal         Normal             Normal
//! ```
//!
//! A node starts an election when it comes up, when its failure suspector (here: a failure detector) reports the leader or
//! the candidate that halted it, and when a weaker node challenges it. The failure of others does not matter.
//! ([`bully`](super::bully) reorganizes then.)
//!
//! Assumes that messages take no longer than T = δ, that none is lost, and that nodes do not pause. Under that: normal nodes
//! never disagree on the leader (A1), and c_GM after the last crash or recovery all are normal under one of them (A2).
//!
//! The slides leave some questions open. Both variants: a node that takes part in an election answers a challenge with YES
//! and starts no other. As printed, a NEW-LEADER is believed whoever halted its receiver (E-SO1). Repaired: every election
//! has a number, and
//!
//! - a NEW-LEADER counts only for the election that halted its receiver, which is GM's h;
//! - a node that was halted by a stronger candidate stays with it when a weaker one halts it too (E-SO4): all are halted at
//!   once here, so a weaker candidate, itself about to be halted, may come second;
//! - a candidate or leader that is challenged halts the challenger, and tells it the leader T later. So nodes that came up
//!   after the others were halted are told, and nobody else is disturbed;
//! - for T after it came up a node follows nobody because of any other HALT: that may be an old one, and its sender
//!   halted since;
//! - a node that was halted and hears nothing more starts over.

use alloc::vec::Vec;
use core::mem;

use serde::{Deserialize, Serialize};

use super::{
    Action, Actions, Channels, Election, GivesWay, InAgent, Input, Mode, Peers, Setup, Spec, Variant,
};
use crate::canonical::Form;
use crate::cause::Cause;
use crate::detector::DetectorKind;
use crate::ident::{ElectionId, NodeId};
use crate::kind::{Kind, Message};
use crate::opinion::{Opinion, Status};
use crate::promise::Assumption::{
    self, AccurateDetector, BoundedDelay, ClocksAgree, Fifo, NoDuplicates, NoPauses, Reliable, ReportsCrashes,
};
use crate::promise::{Promise, Property};
use crate::roster::Priority;
use crate::time::{Span, Time};

/// The facts about `souto-bully`.
pub const SPEC: Spec = Spec {
    name: "souto-bully",
    document: "Souto 2021, The Bully Election Algorithm",
    assumes: "a synchronous network: nothing is lost, late or repeated, nodes do not pause",
    guarantees: "normal nodes never name two leaders; in the end all are normal under the strongest that is up",
    messages: "2N-3 if the strongest alone notices the death of the leader; up to (N-1)(N-1) + 2(N-2) if all do at once",
    in_agent: InAgent::No("needs a synchronous network: a message that is late breaks its safety"),
    mode: Mode::AnySurvivor,
    priority: Priority::LowestId,
    gives_way: GivesWay::AtOnce,
    detector: Some(DetectorKind::Heartbeat),
    peers: Peers::Listed,
    channels: Channels::AnyOrder,
    views: false,
    reorganizes: false,
    hands_over: false,
    kinds: &[ARE_U_THERE, YES, HALT, NEW_LEADER],
    repaired: &[
        Promise { property: Property::A1, under: SYNCHRONOUS },
        Promise { property: Property::A2, under: REPORTING },
    ],
    printed: &[
        Promise { property: Property::A1, under: SYNCHRONOUS_FIFO },
        Promise { property: Property::A2, under: REPORTING_FIFO },
    ],
};

const SYNCHRONOUS: &[Assumption] =
    &[Reliable, NoDuplicates, BoundedDelay, NoPauses, ClocksAgree, AccurateDetector];
const REPORTING: &[Assumption] =
    &[Reliable, NoDuplicates, BoundedDelay, NoPauses, ClocksAgree, AccurateDetector, ReportsCrashes];
const SYNCHRONOUS_FIFO: &[Assumption] =
    &[Reliable, Fifo, NoDuplicates, BoundedDelay, NoPauses, ClocksAgree, AccurateDetector];
const REPORTING_FIFO: &[Assumption] =
    &[Reliable, Fifo, NoDuplicates, BoundedDelay, NoPauses, ClocksAgree, AccurateDetector, ReportsCrashes];

/// The messages. The slides' carry nothing; the numbers of elections are ours, and as printed nobody looks at them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Msg {
    /// ARE-U-THERE, in this election of the sender.
    AreUThere(ElectionId),
    /// YES, to the ARE-U-THERE of that election.
    Yes(ElectionId),
    /// HALT
    Halt {
        /// The sender's election.
        election: ElectionId,
        /// The election of the receiver whose challenge this answers, if it does.
        answers: Option<ElectionId>,
    },
    /// NEW-LEADER, of this election of the sender.
    NewLeader(ElectionId),
}

const ARE_U_THERE: Kind = Kind::protocol("ARE-U-THERE");
const YES: Kind = Kind::protocol("YES");
const HALT: Kind = Kind::protocol("HALT");
const NEW_LEADER: Kind = Kind::protocol("NEW-LEADER");

impl Message for Msg {
    fn kind(&self) -> Kind {
        match self {
            Self::AreUThere(_) => ARE_U_THERE,
            Self::Yes(_) => YES,
            Self::Halt { .. } => HALT,
            Self::NewLeader(_) => NEW_LEADER,
        }
    }

    fn canonical(&self, form: &mut Form) {
        form.number(u64::from(self.kind().id()));
        match self {
            Self::AreUThere(election) | Self::Yes(election) | Self::NewLeader(election) => {
                form.election(*election);
            }
            Self::Halt { election, answers } => {
                form.election(*election);
                form.option(*answers, |form, answers| form.election(answers));
            }
        }
    }
}

/// The algorithm's state at one node.
#[derive(Clone, Debug)]
pub struct SoutoBully {
    setup: Setup,
    /// S(i).s, and S(i).c where it means something.
    phase: Phase,
    /// The number of this node's latest election in this incarnation.
    elections: u64,
    /// The nodes that have been halted, and when each is told who leads.
    halted: Vec<(NodeId, Time)>,
    /// Until then, messages from before this node came up may arrive.
    young_until: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing has happened yet.
    Down,
    /// Election: the stronger have been asked, and have until then to answer.
    Probing { until: Time },
    /// Election: one did. If nothing comes of it until then, there is another election.
    BackedOff { retry: Time },
    /// Election: the weaker are being halted, which takes until then.
    Halting { until: Time },
    /// Election: halted by this election of a stronger node. If nothing comes of it until then, there is another.
    Halted { by: ElectionId, word: Word, retry: Time },
    /// Normal, with this coordinator.
    Normal { c: NodeId },
}

/// What a HALT is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    /// It was sent to this incarnation of its receiver, so the NEW-LEADER of that election counts.
    Fresh,
    /// It may be from before its receiver came up: it ends an election, and no more.
    Old,
}

impl Election for SoutoBully {
    type Msg = Msg;

    fn new(setup: Setup, _tau_fd: Span) -> Self {
        Self { setup, phase: Phase::Down, elections: 0, halted: Vec::new(), young_until: Time::NEVER }
    }

    fn handle(&mut self, now: Time, input: Input<Msg>, out: &mut Actions<Msg>) {
        match input {
            Input::Recovery => {
                self.young_until = now + self.t();
                self.start_election(now, out);
            }
            Input::Message { from, msg } => self.on_message(now, from, msg, out),
            Input::DownSig(j) => {
                if self.depends_on(j) {
                    self.start_election(now, out);
                }
            }
            Input::Deadline => self.on_deadline(now, out),
            // All are for the detector to weigh.
            Input::NewIncarnation(_) | Input::Gone(_) | Input::Resigned { .. } => {}
            Input::HandOver(_) => {} // Priorities are fixed.
            Input::Link { .. } => {} // Its links are not consistent.
            Input::Reorganized | Input::ReorganizationFailed(_) => {} // Nothing is reorganized here.
        }
    }

    fn deadline(&self) -> Time {
        let told = self.halted.iter().map(|(_, due)| *due).min().unwrap_or(Time::NEVER);
        match self.phase {
            Phase::Probing { until } | Phase::Halting { until } => until.min(told),
            Phase::BackedOff { retry } | Phase::Halted { retry, .. } => retry.min(told),
            Phase::Down | Phase::Normal { .. } => told,
        }
    }

    fn opinion(&self) -> Opinion {
        let (status, leader) = match self.phase {
            Phase::Down => (Status::Down, None),
            Phase::Probing { .. } | Phase::Halting { .. } => (Status::Election, None),
            Phase::BackedOff { .. } | Phase::Halted { .. } => (Status::Waiting, None),
            Phase::Normal { c } => (Status::Normal, Some(c)),
        };
        Opinion { status, leader, group: None }
    }

    fn canonical(&self, now: Time, form: &mut Form) {
        let (phase, at) = match self.phase {
            Phase::Down => (0, Time::NEVER),
            Phase::Probing { until } => (1, until),
            Phase::BackedOff { retry } => (2, retry),
            Phase::Halting { until } => (3, until),
            Phase::Halted { retry, .. } => (4, retry),
            Phase::Normal { .. } => (5, Time::NEVER),
        };
        form.number(phase);
        form.deadline(now, at);
        match self.phase {
            Phase::Halted { by, word, .. } => {
                form.election(by);
                form.number(word as u64);
            }
            Phase::Normal { c } => form.node(c),
            Phase::Down | Phase::Probing { .. } | Phase::BackedOff { .. } | Phase::Halting { .. } => {}
        }
        form.election(self.election_id());
        form.number(self.halted.len() as u64);
        for (j, due) in &self.halted {
            form.node(*j);
            form.deadline(now, *due);
        }
        form.deadline(now, self.young_until);
    }

    fn breach(&self, before: &Self) -> Option<&'static str> {
        let leads = matches!(self.phase, Phase::Normal { c } if c == self.me());
        if !self.halted.is_empty() && !leads && !matches!(self.phase, Phase::Halting { .. }) {
            return Some("only a candidate or a leader has halted anybody");
        }
        if matches!(self.phase, Phase::Normal { c } if self.setup.roster.stronger(self.me(), c)) {
            return Some("nobody follows a weaker node");
        }
        (self.elections < before.elections).then_some("elections are numbered in order")
    }
}

impl SoutoBully {
    fn on_message(&mut self, now: Time, j: NodeId, msg: Msg, out: &mut Actions<Msg>) {
        if !self.is_part_of_the_protocol(j, &msg) {
            return;
        }
        match msg {
            Msg::AreUThere(its) => self.on_challenge(now, j, its, out),
            Msg::Yes(mine) => {
                if let Phase::Probing { until } = self.phase
                    && (mine == self.election_id() || !self.repaired())
                {
                    self.phase = Phase::BackedOff { retry: until + self.rest_of_patience() };
                }
            }
            Msg::Halt { election, answers } => {
                if !self.repaired() {
                    self.on_halt(now, election, Word::Fresh, out);
                } else if !self.is_halted_by_a_stronger_than(election.node) {
                    self.on_halt(now, election, self.word(now, answers), out);
                }
            }
            Msg::NewLeader(election) => {
                let is_awaited =
                    matches!(self.phase, Phase::Halted { by, word: Word::Fresh, .. } if by == election);
                if is_awaited || !self.repaired() {
                    self.on_new_leader(election.node, out);
                }
            }
        }
    }

    /// Phase 1
    fn start_election(&mut self, now: Time, out: &mut Actions<Msg>) {
        self.elections += 1;
        self.halted.clear();
        out.push(Action::StopAll);
        let stronger = self.setup.roster.stronger_than_me();
        if stronger.is_empty() {
            return self.halt_the_weaker(now, out);
        }
        self.phase = Phase::Probing { until: now + self.t() * 2 };
        out.send_each(stronger, &Msg::AreUThere(self.election_id()));
    }

    /// Phase 2, the first step
    fn halt_the_weaker(&mut self, now: Time, out: &mut Actions<Msg>) {
        let until = now + self.t();
        self.phase = Phase::Halting { until };
        let weaker = self.setup.roster.weaker_than_me();
        self.halted = weaker.iter().map(|j| (*j, until)).collect();
        out.send_each(weaker, &Msg::Halt { election: self.election_id(), answers: None });
    }

    /// A weaker node asks. "What if the challenged node is already in the middle of an election?" It says so, and goes on.
    fn on_challenge(&mut self, now: Time, j: NodeId, its: ElectionId, out: &mut Actions<Msg>) {
        out.send(j, Msg::Yes(its));
        match self.phase {
            Phase::Halting { .. } if self.repaired() => self.serve(now, j, its, out),
            Phase::Normal { c } if c == self.me() && self.repaired() => self.serve(now, j, its, out),
            Phase::Normal { .. } => {
                out.because(Cause::Merged); // Who asks is with nobody.
                self.start_election(now, out);
            }
            Phase::Down
            | Phase::Probing { .. }
            | Phase::BackedOff { .. }
            | Phase::Halting { .. }
            | Phase::Halted { .. } => {}
        }
    }

    /// The second phase again, for one node only. It may have come up after the others were halted, or its challenge may
    /// have been on its way. T must pass here as well: this node may be about to be halted itself.
    fn serve(&mut self, now: Time, j: NodeId, its: ElectionId, out: &mut Actions<Msg>) {
        self.halted.retain(|(halted, _)| *halted != j);
        self.halted.push((j, now + self.t()));
        out.send(j, Msg::Halt { election: self.election_id(), answers: Some(its) });
    }

    fn is_halted_by_a_stronger_than(&self, j: NodeId) -> bool {
        matches!(self.phase, Phase::Halted { by, .. } if self.setup.roster.stronger(by.node, j))
    }

    fn word(&self, now: Time, answers: Option<ElectionId>) -> Word {
        let is_answer = answers.is_some_and(|mine| self.is_of_this_incarnation(mine));
        if is_answer || now > self.young_until { Word::Fresh } else { Word::Old }
    }

    fn on_halt(&mut self, now: Time, by: ElectionId, word: Word, out: &mut Actions<Msg>) {
        let retry = if self.repaired() { now + self.t() * 3 } else { Time::NEVER };
        self.phase = Phase::Halted { by, word, retry };
        self.halted.clear();
        out.push(Action::StopAll);
        out.push(Action::Start(by.node));
    }

    fn on_new_leader(&mut self, c: NodeId, out: &mut Actions<Msg>) {
        let watched = matches!(self.phase, Phase::Halted { by, .. } if by.node == c);
        self.phase = Phase::Normal { c };
        self.halted.clear();
        if !watched {
            out.push(Action::StopAll);
            out.push(Action::Start(c));
        }
    }

    fn on_deadline(&mut self, now: Time, out: &mut Actions<Msg>) {
        match self.phase {
            Phase::Probing { until } if until <= now => self.halt_the_weaker(now, out),
            Phase::Halting { until } if until <= now => self.phase = Phase::Normal { c: self.me() },
            Phase::BackedOff { retry } | Phase::Halted { retry, .. } if retry <= now => {
                self.start_election(now, out);
            }
            _ => {}
        }
        self.brag(now, out);
    }

    /// Phase 2, the second step
    fn brag(&mut self, now: Time, out: &mut Actions<Msg>) {
        let (due, rest) = mem::take(&mut self.halted).into_iter().partition(|(_, due)| *due <= now);
        self.halted = rest;
        let due: Vec<(NodeId, Time)> = due;
        due.iter().for_each(|(j, _)| out.send(*j, Msg::NewLeader(self.election_id())));
    }

    /// Whether its failure concerns this node: it is the leader, or the candidate.
    fn depends_on(&self, j: NodeId) -> bool {
        match self.phase {
            Phase::Normal { c } => c == j,
            Phase::Halted { by, .. } => by.node == j,
            Phase::Down | Phase::Probing { .. } | Phase::BackedOff { .. } | Phase::Halting { .. } => false,
        }
    }

    /// The weaker ask, the stronger do everything else, each of its own elections.
    fn is_part_of_the_protocol(&self, j: NodeId, msg: &Msg) -> bool {
        let (roster, me) = (&self.setup.roster, self.me());
        match msg {
            Msg::AreUThere(its) => its.node == j && roster.stronger(me, j),
            Msg::Yes(mine) => mine.node == me && roster.stronger(j, me),
            Msg::Halt { election, .. } | Msg::NewLeader(election) => {
                election.node == j && roster.stronger(j, me)
            }
        }
    }

    /// How long a candidate that backed off goes on waiting after the 2T: T until the strongest hears of it, 2T until that
    /// has found nobody stronger, T to halt the others and T to tell them, less 2T. The repaired one allows for T more.
    fn rest_of_patience(&self) -> Span {
        self.t() * if self.repaired() { 4 } else { 3 }
    }

    fn is_of_this_incarnation(&self, election: ElectionId) -> bool {
        election.node == self.me() && election.incarnation == self.setup.incarnation
    }

    fn election_id(&self) -> ElectionId {
        ElectionId { node: self.me(), incarnation: self.setup.incarnation, seq: self.elections }
    }

    fn me(&self) -> NodeId {
        self.setup.roster.me()
    }

    fn repaired(&self) -> bool {
        self.setup.variant == Variant::Repaired
    }

    /// The slides' T: one way.
    fn t(&self) -> Span {
        self.setup.timing.delta
    }
}

#[cfg(test)]
mod tests;
