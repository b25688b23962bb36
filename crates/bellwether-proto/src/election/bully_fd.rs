//! Bully_FD: Garcia-Molina's Bully algorithm rewritten to use a failure detector (Stoller 1997, Fig. 1).
//!
//! The strongest node that is up leads. A node that starts an election first waits until every stronger node is
//! known to be down (stage 1), then halts every weaker node, one after the other (stage 2), and leads.
//!
//! ```text
//!   2 (organiser)        3              4                Elec1 ──all stronger down──► Elec2 ──all weaker
//!   │──Halt(e)──────────►│ Wait         │                  ▲                           │     answered or down──► Norm
//!   │◄─────────────Ack(e)│              │                  │ leader or halter down     │ Halt from another
//!   │──Halt(e)───────────┼─────────────►│ Wait             └──────── Wait ◄────────────┘
//!   │◄───────────────────┼────────Ack(e)│                              └──Ldr(e)──► Norm
//!   │──Ldr(e)───────────►│ Norm ───────►│ Norm
//! ```
//!
//! Assumes reliable FIFO channels and a complete and accurate failure detector; no bound on the delay of its own
//! messages. Under that: nodes in normal operation never disagree on the leader (SLE1), and c_S after the last
//! failure or recovery all agree on one that is up (SLE2).
//!
//! The repaired variant relies on the detector to report a new incarnation of a watched node (E-ST5) and stops
//! watching when it leads (E-ST10).

use alloc::vec::Vec;

use super::stoller::{KINDS_FIG_1, Msg, Organiser, Stage};
use super::{Action, Actions, Channels, Election, GivesWay, InAgent, Input, Mode, Peers, Setup, Spec};
use crate::canonical::Form;
use crate::cause::Cause;
use crate::detector::DetectorKind;
use crate::ident::{ElectionId, NodeId};
use crate::opinion::Opinion;
use crate::promise::Assumption::{
    AccurateDetector, BoundedDelay, Fifo, NoDuplicates, NoPauses, Reliable, ReportsCrashes,
};
use crate::promise::{Promise, Property};
use crate::roster::Priority;
use crate::time::{Span, Time};

/// The facts about `bully-fd`.
pub const SPEC: Spec = Spec {
    name: "bully-fd",
    document: "Stoller 1997, Fig. 1",
    assumes: "reliable FIFO channels, a complete and accurate failure detector",
    guarantees: "nodes in normal operation never name two leaders; in the end all name the strongest node that is up",
    messages: "3(N-m) to elect node m; N-m Norm? per tau",
    in_agent: InAgent::No("needs an accurate detector, which no real network gives"),
    mode: Mode::AnySurvivor,
    priority: Priority::LowestId,
    gives_way: GivesWay::AtOnce,
    detector: Some(DetectorKind::Perfect),
    peers: Peers::Listed,
    channels: Channels::InOrder,
    views: false,
    reorganizes: false,
    hands_over: false,
    kinds: KINDS_FIG_1,
    repaired: PROMISES,
    printed: PROMISES,
};

/// The paper's claims; the repair makes them true. Safety needs neither delivery nor speed, only an accurate
/// detector and channels that neither reorder nor repeat.
const PROMISES: &[Promise] = &[
    Promise { property: Property::Sle1, under: &[Fifo, NoDuplicates, AccurateDetector] },
    Promise {
        property: Property::Sle2,
        under: &[Reliable, Fifo, NoDuplicates, BoundedDelay, NoPauses, AccurateDetector, ReportsCrashes],
    },
];

/// The algorithm's state at one node.
#[derive(Clone, Debug)]
pub struct BullyFd {
    organiser: Organiser,
    /// Stronger nodes reported down since stage 1 began.
    down: Vec<NodeId>,
}

impl Election for BullyFd {
    type Msg = Msg;

    fn new(setup: Setup, tau_fd: Span) -> Self {
        Self { organiser: Organiser::new(setup, tau_fd), down: Vec::new() }
    }

    fn handle(&mut self, now: Time, input: Input<Msg>, out: &mut Actions<Msg>) {
        match input {
            Input::Recovery => self.start_stage1(now, out),
            Input::DownSig(j) => self.on_down_sig(now, j, out),
            // All are for the detector to weigh.
            Input::NewIncarnation(_) | Input::Gone(_) | Input::Resigned { .. } => {}
            Input::HandOver(_) => {} // Priorities are fixed.
            Input::Reorganized | Input::ReorganizationFailed(_) => {} // Nothing is reorganized here.
            Input::Link { .. } => {} // Its links are not consistent.
            Input::Deadline => self.organiser.ask_norm(now, out),
            Input::Message { from: j, msg } if !msg.is_the_word_of(j) => {}
            Input::Message { from: j, msg } => match msg {
                Msg::Halt(t) => self.halting(t, j, out),
                Msg::Ack(t) => self.organiser.on_ack(now, t, j, out),
                Msg::Ldr(t) => self.organiser.on_ldr(t, j, out),
                Msg::NormQ(t, n, _) => self.on_norm_q(t, n, j, out),
                Msg::NotNorm(t, _) => self.on_not_norm(now, t, out),
                Msg::Rej(_) => {} // Not in Fig. 1.
            },
        }
    }

    fn deadline(&self) -> Time {
        self.organiser.norm_due
    }

    fn opinion(&self) -> Opinion {
        self.organiser.opinion()
    }

    fn canonical(&self, now: Time, form: &mut Form) {
        self.organiser.canonical(now, form);
        form.nodes(&self.down);
    }
}

impl BullyFd {
    /// procedure StartStage1()
    fn start_stage1(&mut self, now: Time, out: &mut Actions<Msg>) {
        self.organiser.stage = Stage::Elec1;
        self.organiser.new_elid();
        self.down.clear();
        let stronger = self.organiser.setup.roster.stronger_than_me();
        if stronger.is_empty() {
            self.organiser.organise(now, out);
        } else {
            stronger.iter().for_each(|j| out.push(Action::Start(*j)));
        }
    }

    /// procedure Halting(t, j)
    fn halting(&mut self, t: ElectionId, j: NodeId, out: &mut Actions<Msg>) {
        self.down.retain(|down| *down != j);
        out.push(Action::Start(j));
        self.organiser.wait_for(t, j, out);
    }

    /// On ⟨DownSig, j⟩
    fn on_down_sig(&mut self, now: Time, j: NodeId, out: &mut Actions<Msg>) {
        let roster = &self.organiser.setup.roster;
        if !roster.stronger(j, roster.me()) {
            if self.organiser.awaits(j) {
                self.organiser.contin_stage2(now, out);
            }
            return;
        }
        if !self.down.contains(&j) {
            self.down.push(j);
        }
        if self.organiser.depends_on(j) {
            self.start_stage1(now, out);
        } else if self.organiser.stage == Stage::Elec1 && self.down.len() == roster.my_rank() {
            self.organiser.organise(now, out);
        }
    }

    /// On ⟨Norm?, t⟩ from j
    fn on_norm_q(&self, t: ElectionId, n: u64, j: NodeId, out: &mut Actions<Msg>) {
        if self.organiser.stage != Stage::Norm {
            out.send(j, Msg::NotNorm(t, n));
        }
    }

    /// On ⟨NotNorm, t⟩ from j
    fn on_not_norm(&mut self, now: Time, t: ElectionId, out: &mut Actions<Msg>) {
        if self.organiser.leads() && t == self.organiser.elid {
            out.because(Cause::Merged);
            self.start_stage1(now, out);
        }
    }
}

#[cfg(test)]
mod tests;
