//! What Fig. 1 and Fig. 3 of Stoller's paper have in common: the variables, the messages and the rules that are the
//! same, line by line, in both.
//!
//! S. D. Stoller, *Leader Election in Distributed Systems with Crash Failures*, 1997. The paper's `lesser(i)` and
//! `greater(i)` are the nodes stronger and weaker than i. Slips of the text are read as meant: `acks ⊕= j` and
//! `down ⊕= j` (E-ST1), `ldr := j` in Fig. 3 (E-ST2), `send ⟨Ldr, elid⟩` (E-ST3).

#[cfg(test)]
pub(super) mod rig;

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{Action, Actions, Setup, Variant};
use crate::canonical::Form;
use crate::cause::Cause;
use crate::ident::{ElectionId, GroupId, NodeId};
use crate::kind::{Kind, Message};
use crate::opinion::{Opinion, Status};
use crate::time::{Span, Time};

/// The messages. Each carries an election identifier; `Rej` belongs to Fig. 3 alone. Norm? and NotNorm also carry what
/// the paper does not have: the number of the question (R8), and Norm? whether its receiver has acknowledged the
/// election (R7). Only the repaired variant of Fig. 3 looks at them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Msg {
    /// "Stop what you are doing and wait for the outcome of my election."
    Halt(ElectionId),
    /// "I do."
    Ack(ElectionId),
    /// "I do not: I have, or wait for, a leader stronger than you."
    Rej(ElectionId),
    /// "I lead the group of this election."
    Ldr(ElectionId),
    /// The leader's periodic question: "are you in normal operation?"
    NormQ(ElectionId, u64, Membership),
    /// "No."
    NotNorm(ElectionId, u64),
}

/// Whether the receiver of Norm? is one of those who acknowledged the leader's election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Membership {
    /// It is: if it still waits, only Ldr can have been lost.
    Member,
    /// It is not.
    Stranger,
}

const HALT: Kind = Kind::protocol("Halt");
const ACK: Kind = Kind::protocol("Ack");
const REJ: Kind = Kind::protocol("Rej");
const LDR: Kind = Kind::protocol("Ldr");
const NORM_Q: Kind = Kind::protocol("Norm?");
const NOT_NORM: Kind = Kind::protocol("NotNorm");

/// The kinds of message in Fig. 1.
pub(super) const KINDS_FIG_1: &[Kind] = &[HALT, ACK, LDR, NORM_Q, NOT_NORM];
/// The kinds of message in Fig. 3.
pub(super) const KINDS_FIG_3: &[Kind] = &[HALT, ACK, REJ, LDR, NORM_Q, NOT_NORM];

impl Msg {
    /// Halt, Ldr and Norm? are the organiser's own words: from anybody else they are not part of the protocol.
    pub(super) fn is_the_word_of(&self, sender: NodeId) -> bool {
        match self {
            Self::Halt(t) | Self::Ldr(t) | Self::NormQ(t, ..) => t.node == sender,
            Self::Ack(_) | Self::Rej(_) | Self::NotNorm(..) => true,
        }
    }
}

impl Message for Msg {
    fn kind(&self) -> Kind {
        match self {
            Self::Halt(_) => HALT,
            Self::Ack(_) => ACK,
            Self::Rej(_) => REJ,
            Self::Ldr(_) => LDR,
            Self::NormQ(..) => NORM_Q,
            Self::NotNorm(..) => NOT_NORM,
        }
    }

    fn canonical(&self, form: &mut Form) {
        form.number(u64::from(self.kind().id()));
        match self {
            Self::Halt(t) | Self::Ack(t) | Self::Rej(t) | Self::Ldr(t) => form.election(*t),
            Self::NormQ(t, n, membership) => {
                form.election(*t);
                form.question(t.node, t.incarnation, *n);
                form.number(*membership as u64);
            }
            Self::NotNorm(t, n) => {
                form.election(*t);
                form.question(t.node, t.incarnation, *n);
            }
        }
    }
}

/// The paper's `status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Norm,
    Elec1,
    Elec2,
    Wait,
}

/// The paper's variables, less `down`, which only Fig. 1 has.
#[derive(Clone, Debug)]
pub(super) struct Organiser {
    pub(super) setup: Setup,
    pub(super) stage: Stage,
    pub(super) ldr: NodeId,
    pub(super) elid: ElectionId,
    pub(super) acks: Vec<NodeId>,
    pub(super) nextel: u64,
    /// The rank of the node whose answer is pending.
    pub(super) pendack: usize,
    /// When the leader asks Norm? next.
    pub(super) norm_due: Time,
    /// R8: the number that questions carry now, the one they carried before, and when the next is due.
    pub(super) question: u64,
    pub(super) last_question: u64,
    pub(super) next_question: Time,
    /// R8: in a stable network, an answer takes no longer; and if it does, the detector has given its sender up.
    answer_within: Span,
}

impl Organiser {
    /// The paper leaves the volatile variables arbitrary at recovery (claim C23); these are as good as any.
    pub(super) fn new(setup: Setup, tau_fd: Span) -> Self {
        let me = setup.roster.me();
        let elid = ElectionId { node: me, incarnation: setup.incarnation, seq: 0 };
        Self {
            stage: Stage::Wait,
            ldr: me,
            elid,
            acks: Vec::new(),
            nextel: 1,
            pendack: setup.roster.my_rank(),
            norm_due: Time::NEVER,
            question: 0,
            last_question: 0,
            next_question: Time::ZERO,
            answer_within: setup.timing.tau.max(setup.timing.delta * 2).max(tau_fd),
            setup,
        }
    }

    pub(super) fn me(&self) -> NodeId {
        self.setup.roster.me()
    }

    pub(super) fn repaired(&self) -> bool {
        self.setup.variant == Variant::Repaired
    }

    pub(super) fn leads(&self) -> bool {
        self.stage == Stage::Norm && self.ldr == self.me()
    }

    /// Whether this node's election waits for the answer of `j`.
    pub(super) fn awaits(&self, j: NodeId) -> bool {
        self.stage == Stage::Elec2 && j == self.setup.roster.at(self.pendack)
    }

    /// Whether this node's election has asked `j`, and does not wait for its answer any more.
    pub(super) fn has_passed(&self, j: NodeId) -> bool {
        let asked = self.setup.roster.my_rank() + 1..=self.pendack;
        let organises = self.stage == Stage::Elec2 || self.leads();
        organises && !self.awaits(j) && self.setup.roster.rank(j).is_some_and(|rank| asked.contains(&rank))
    }

    /// Whether `j` is the leader that this node follows or waits for: the two cases in which its DownSig starts an
    /// election.
    pub(super) fn depends_on(&self, j: NodeId) -> bool {
        match self.stage {
            Stage::Norm => j == self.ldr,
            Stage::Wait => j == self.elid.node,
            Stage::Elec1 | Stage::Elec2 => false,
        }
    }

    /// `elid := ⟨i, incarn, nextel⟩; nextel := nextel + 1`
    pub(super) fn new_elid(&mut self) {
        self.elid = ElectionId { node: self.me(), incarnation: self.setup.incarnation, seq: self.nextel };
        self.nextel += 1;
        self.norm_due = Time::NEVER;
    }

    /// The body of StartStage2 that both figures share.
    pub(super) fn organise(&mut self, now: Time, out: &mut Actions<Msg>) {
        self.stage = Stage::Elec2;
        self.acks.clear();
        self.pendack = self.setup.roster.my_rank();
        self.contin_stage2(now, out);
    }

    /// procedure ContinStage2()
    pub(super) fn contin_stage2(&mut self, now: Time, out: &mut Actions<Msg>) {
        if self.pendack + 1 < self.setup.roster.size() {
            self.pendack += 1;
            out.push(Action::Start(self.setup.roster.at(self.pendack)));
            self.send_halt(out);
        } else {
            self.ldr = self.me();
            self.stage = Stage::Norm;
            self.norm_due = now + self.setup.timing.tau;
            if self.repaired() {
                // R6: a leader has no use for reports about its followers; watching them would double the cost of
                // the steady state (E-ST10).
                out.push(Action::StopAll);
            }
            out.send_each(&self.acks, &Msg::Ldr(self.elid));
        }
    }

    pub(super) fn send_halt(&self, out: &mut Actions<Msg>) {
        out.send(self.setup.roster.at(self.pendack), Msg::Halt(self.elid));
    }

    /// `elid := t; status := Wait; send ⟨Ack, t⟩ to j`, the end of Halting(t, j).
    pub(super) fn wait_for(&mut self, t: ElectionId, j: NodeId, out: &mut Actions<Msg>) {
        if self.stage == Stage::Norm {
            out.because(self.why_obey(j));
        }
        self.elid = t;
        self.stage = Stage::Wait;
        self.norm_due = Time::NEVER;
        out.send(j, Msg::Ack(t));
    }

    /// Why the leader is given up for an election of `j`.
    fn why_obey(&self, j: NodeId) -> Cause {
        if j == self.ldr {
            Cause::Merged // A leader begins another election only to take in those that are not with it.
        } else if self.setup.roster.stronger(j, self.ldr) {
            Cause::Outranked(self.ldr)
        } else {
            Cause::Silent(self.ldr) // To `j`, or it would not have begun one.
        }
    }

    /// On ⟨Ack, t⟩ from j
    pub(super) fn on_ack(&mut self, now: Time, t: ElectionId, j: NodeId, out: &mut Actions<Msg>) {
        if self.awaits(j) && t == self.elid {
            self.acks.push(j);
            self.contin_stage2(now, out);
        }
    }

    /// `acks ⊕= j`, in order of rank. Whether it was not there yet.
    pub(super) fn add_ack(&mut self, j: NodeId) -> bool {
        let rank = |j: &NodeId| self.setup.roster.rank(*j);
        let place = self.acks.binary_search_by_key(&rank(&j), rank);
        if let Err(at) = place {
            self.acks.insert(at, j);
        }
        place.is_err()
    }

    /// On ⟨Ldr, t⟩ from j
    pub(super) fn on_ldr(&mut self, t: ElectionId, j: NodeId, out: &mut Actions<Msg>) {
        if self.stage == Stage::Wait && t == self.elid {
            self.ldr = j;
            self.stage = Stage::Norm;
            out.push(Action::StopAll);
            out.push(Action::Start(j));
        }
    }

    /// Periodically(τ)
    pub(super) fn ask_norm(&mut self, now: Time, out: &mut Actions<Msg>) {
        if self.leads() && self.norm_due <= now {
            self.norm_due = now + self.setup.timing.tau;
            self.number_question(now);
            // Those who acknowledged did so in order of rank.
            let mut acks = self.acks.iter().peekable();
            for j in self.setup.roster.weaker_than_me() {
                let membership = match acks.next_if_eq(&j) {
                    Some(_) => Membership::Member,
                    None => Membership::Stranger,
                };
                out.send(*j, Msg::NormQ(self.elid, self.question, membership));
            }
        }
    }

    fn number_question(&mut self, now: Time) {
        if self.next_question <= now {
            self.last_question = self.question;
            self.question += 1;
            self.next_question = now + self.answer_within;
        }
    }

    pub(super) fn opinion(&self) -> Opinion {
        let (status, leader) = match self.stage {
            Stage::Norm => (Status::Normal, Some(self.ldr)),
            Stage::Wait => (Status::Waiting, None),
            Stage::Elec1 | Stage::Elec2 => (Status::Election, None),
        };
        Opinion { status, leader, group: Some(GroupId(self.elid)) }
    }

    pub(super) fn canonical(&self, now: Time, form: &mut Form) {
        form.number(self.stage as u64);
        form.node(self.ldr);
        form.election(self.elid);
        form.nodes(&self.acks);
        form.election_seq(ElectionId {
            node: self.me(),
            incarnation: self.setup.incarnation,
            seq: self.nextel,
        });
        form.incarnation(self.me(), self.setup.incarnation);
        form.number(self.pendack as u64);
        form.deadline(now, self.norm_due);
        form.question(self.me(), self.setup.incarnation, self.question);
        form.question(self.me(), self.setup.incarnation, self.last_question);
        form.deadline(now, self.next_question);
    }
}
