//! The Asynchronous Bully algorithm (Stoller 1997, Fig. 3).
//!
//! As `bully-fd` without its first stage: detectors may raise false alarms, channels may lose messages, and the
//! system may split. Nodes form groups, each with one leader; a node joins an election only if that gives it a
//! stronger leader, and a node that follows plays dead to the weaker ones, so that its own followers move on.
//!
//! ```text
//!   Elec2 ──every weaker node acked, rejected or down──► Norm (leads) ──NotNorm from a node that could join──► Elec2
//!     │ Halt from another                                 ▲
//!     ▼                                                   │ Ldr(e)
//!   Wait (plays dead to the weaker) ──────────────────────┴── leader or halter reported ──► Elec2 (plays alive)
//! ```
//!
//! ALE1 always. In a stable network, within a bound: every node is normal, its leader up and in its group (ALE2'),
//! and the leaders are the lexicographically first maximal independent set of the connectivity graph, so there are
//! never more groups than cliques needed to cover it (ALE2, which the paper denies: E-ST8).
//!
//! The repaired variant adds (`docs/concepts/divergence.md` says why each is needed): R1 Halt is sent again until
//! answered; R2, R3 Norm? is answered NotNorm also when the asker is the very leader one waits for, or follows in an
//! older group; R4 Rej counts only for the election it names; R5 a Halt already obeyed is only acknowledged again; R6
//! a leader watches nobody; R7 Norm? tells a node whether it has acknowledged the election, and replaces a Ldr that
//! was lost; R8 a NotNorm that took longer than a stable network allows costs no election; R9 the end of a peer's
//! connection counts as a report, and a Halt that was rejected for the sake of that peer is obeyed after all.

use super::stoller::{KINDS_FIG_3, Membership, Msg, Organiser, Stage};
use super::{Action, Actions, Channels, Election, GivesWay, InAgent, Input, Mode, Peers, Setup, Spec};
use crate::canonical::Form;
use crate::cause::Cause;
use crate::detector::DetectorKind;
use crate::ident::{ElectionId, NodeId};
use crate::opinion::Opinion;
use crate::promise::Assumption::{ClocksAgree, Fifo, ReportsUnreachable};
use crate::promise::{Promise, Property};
use crate::roster::Priority;
use crate::time::{Span, Time};

/// The facts about `async-bully`.
pub const SPEC: Spec = Spec {
    name: "async-bully",
    document: "Stoller 1997, Fig. 3",
    assumes: "nothing for safety; for progress a stable network, and a complete detector that is accurate in it",
    guarantees: "one leader per group; once the network is stable, every node follows the strongest it can, in no more groups than needed",
    messages: "leader crash: Halt and answers 4N-10 if noticed at once, at most (N+1)(N-2) if one after another; N-1 per tau when beats ride",
    in_agent: InAgent::Yes,
    mode: Mode::AnySurvivor,
    priority: Priority::LowestId,
    gives_way: GivesWay::AtOnce,
    detector: Some(DetectorKind::Heartbeat),
    peers: Peers::Listed,
    channels: Channels::InOrder,
    views: false,
    reorganizes: false,
    hands_over: false,
    kinds: KINDS_FIG_3,
    repaired: &[
        Promise { property: Property::Ale1, under: &[] },
        Promise { property: Property::Ale2Prime, under: &[ReportsUnreachable, ClocksAgree] },
        Promise { property: Property::Ale2, under: &[ReportsUnreachable, ClocksAgree] },
    ],
    // Theorem 1. The paper does not claim ALE2, and presumes FIFO channels throughout.
    printed: &[
        Promise { property: Property::Ale1, under: &[] },
        Promise { property: Property::Ale2Prime, under: &[Fifo, ReportsUnreachable, ClocksAgree] },
    ],
};

/// The algorithm's state at one node.
#[derive(Clone, Debug)]
pub struct AsyncBully {
    organiser: Organiser,
    /// R1: when to send the pending Halt again.
    halt_due: Time,
    /// R9: the election that this node rejected for the sake of the leader that it follows or waits for. Of several, that of
    /// the strongest.
    rejected: Option<ElectionId>,
}

impl Election for AsyncBully {
    type Msg = Msg;

    fn new(setup: Setup, tau_fd: Span) -> Self {
        Self { organiser: Organiser::new(setup, tau_fd), halt_due: Time::NEVER, rejected: None }
    }

    fn handle(&mut self, now: Time, input: Input<Msg>, out: &mut Actions<Msg>) {
        let before = (self.organiser.elid, self.organiser.pendack);
        match input {
            Input::Recovery => self.start_stage2(now, out),
            Input::DownSig(j) => self.on_down_sig(now, j, out),
            Input::Gone(j) => self.on_gone(now, j, out),
            // Both are for the detector to weigh.
            Input::NewIncarnation(_) | Input::Resigned { .. } => {}
            Input::HandOver(_) => {} // Priorities are fixed.
            Input::Reorganized | Input::ReorganizationFailed(_) => {} // Nothing is reorganized here.
            Input::Link { .. } => {} // Its links are not consistent.
            Input::Deadline => {
                self.organiser.ask_norm(now, out);
                self.repeat_halt(now, out);
            }
            Input::Message { from: j, msg } if !msg.is_the_word_of(j) => {}
            Input::Message { from: j, msg } => match msg {
                Msg::Halt(t) => self.on_halt(t, j, out),
                Msg::Ack(t) => self.on_ack(now, t, j, out),
                Msg::Rej(t) => self.on_rej(now, t, j, out),
                Msg::Ldr(t) => self.organiser.on_ldr(t, j, out),
                Msg::NormQ(t, n, membership) => self.on_norm_q(t, n, membership, j, out),
                Msg::NotNorm(t, n) => self.on_not_norm(now, t, n, out),
            },
        }
        let pending = (self.organiser.elid, self.organiser.pendack);
        self.schedule_halt(now, pending != before);
    }

    fn deadline(&self) -> Time {
        self.organiser.norm_due.min(self.halt_due)
    }

    fn opinion(&self) -> Opinion {
        self.organiser.opinion()
    }

    fn canonical(&self, now: Time, form: &mut Form) {
        self.organiser.canonical(now, form);
        form.deadline(now, self.halt_due);
        form.option(self.rejected, Form::election);
    }
}

impl AsyncBully {
    /// procedure StartStage2()
    fn start_stage2(&mut self, now: Time, out: &mut Actions<Msg>) {
        out.push(Action::PlayAlive);
        self.rejected = None;
        self.organiser.new_elid();
        self.organiser.organise(now, out);
    }

    /// On ⟨Halt, t⟩ from j
    fn on_halt(&mut self, t: ElectionId, j: NodeId, out: &mut Actions<Msg>) {
        let Organiser { stage, ldr, elid, setup, .. } = &self.organiser;
        let obeyed = *elid == t && self.organiser.depends_on(j);
        if self.organiser.repaired() && obeyed {
            out.send(j, Msg::Ack(t)); // R5
            return;
        }
        let has_stronger = match stage {
            Stage::Norm => setup.roster.stronger(*ldr, j),
            Stage::Wait => setup.roster.stronger(elid.node, j),
            Stage::Elec1 | Stage::Elec2 => false,
        };
        if has_stronger {
            out.send(j, Msg::Rej(t));
            self.remember_rejected(t);
        } else {
            self.halting(t, j, out);
        }
    }

    fn remember_rejected(&mut self, t: ElectionId) {
        let roster = &self.organiser.setup.roster;
        let is_first = self.rejected.is_none_or(|held| !roster.stronger(held.node, t.node));
        if self.organiser.repaired() && is_first {
            self.rejected = Some(t);
        }
    }

    /// procedure Halting(t, j)
    fn halting(&mut self, t: ElectionId, j: NodeId, out: &mut Actions<Msg>) {
        out.push(Action::PlayDead);
        out.push(Action::Start(j));
        self.rejected = None;
        self.organiser.wait_for(t, j, out);
    }

    /// On ⟨DownSig, j⟩
    fn on_down_sig(&mut self, now: Time, j: NodeId, out: &mut Actions<Msg>) {
        if self.organiser.depends_on(j) {
            self.start_stage2(now, out);
        } else if self.organiser.awaits(j) {
            self.organiser.contin_stage2(now, out);
        }
    }

    /// R9: the connection of j ended. Others may have heard of that before, and this node may have rejected their elections.
    /// It does now what it would have done if it had heard first.
    fn on_gone(&mut self, now: Time, j: NodeId, out: &mut Actions<Msg>) {
        if !self.organiser.repaired() {
            return; // It has a detector, and nothing else.
        }
        match self.rejected.filter(|_| self.organiser.depends_on(j)) {
            Some(t) => {
                out.because(Cause::Gone(j));
                self.halting(t, t.node, out);
            }
            None => self.on_down_sig(now, j, out),
        }
    }

    /// On ⟨Ack, t⟩ from j. R9: it counts as well if this node's election has gone on without j, or is over.
    fn on_ack(&mut self, now: Time, t: ElectionId, j: NodeId, out: &mut Actions<Msg>) {
        if self.organiser.repaired() && t == self.organiser.elid && self.organiser.has_passed(j) {
            if self.organiser.add_ack(j) && self.organiser.leads() {
                out.send(j, Msg::Ldr(t));
            }
        } else {
            self.organiser.on_ack(now, t, j, out);
        }
    }

    /// On ⟨Rej, t⟩ from j
    fn on_rej(&mut self, now: Time, t: ElectionId, j: NodeId, out: &mut Actions<Msg>) {
        let named = t == self.organiser.elid || !self.organiser.repaired(); // R4
        if self.organiser.awaits(j) && named {
            self.organiser.contin_stage2(now, out);
        }
    }

    /// On ⟨Norm?, t⟩ from j
    fn on_norm_q(
        &mut self,
        t: ElectionId,
        n: u64,
        membership: Membership,
        j: NodeId,
        out: &mut Actions<Msg>,
    ) {
        if self.organiser.repaired() && membership == Membership::Member {
            self.organiser.on_ldr(t, j, out); // R7: if this node waits for that election, it is over and won.
        }
        let Organiser { stage, ldr, elid, setup, .. } = &self.organiser;
        let would_join = match stage {
            Stage::Norm => setup.roster.stronger(j, *ldr),
            Stage::Elec1 | Stage::Elec2 | Stage::Wait => setup.roster.stronger(j, elid.node),
        };
        let left_out = match stage {
            Stage::Norm => j == *ldr && t != *elid,                      // R3
            Stage::Elec1 | Stage::Elec2 | Stage::Wait => j == elid.node, // R2
        };
        if would_join || (self.organiser.repaired() && left_out) {
            out.send(j, Msg::NotNorm(t, n));
        }
    }

    /// On ⟨NotNorm, t⟩ from j
    fn on_not_norm(&mut self, now: Time, t: ElectionId, n: u64, out: &mut Actions<Msg>) {
        if self.organiser.leads() && t == self.organiser.elid && !self.is_belated(n) {
            out.because(Cause::Merged);
            self.start_stage2(now, out);
        }
    }

    /// R8: whether an answer to the question of that number comes too late to be worth an election: the detector would
    /// report its sender before the answer to Halt could come, and the election would end without it, again and again.
    fn is_belated(&self, n: u64) -> bool {
        let Organiser { question, last_question, .. } = &self.organiser;
        self.organiser.repaired() && n != *question && n != *last_question
    }

    /// R1: a Halt or its answer may have been lost.
    fn repeat_halt(&mut self, now: Time, out: &mut Actions<Msg>) {
        if self.halt_due <= now {
            self.organiser.send_halt(out);
            self.halt_due = now + self.organiser.setup.timing.delta * 2;
        }
    }

    /// The repetition is due a round trip after the Halt that is pending, and only while one is.
    fn schedule_halt(&mut self, now: Time, sent_new: bool) {
        if !self.organiser.repaired() || self.organiser.stage != Stage::Elec2 {
            self.halt_due = Time::NEVER;
        } else if sent_new {
            self.halt_due = now + self.organiser.setup.timing.delta * 2;
        }
    }
}

#[cfg(test)]
mod tests;
