//! The Bully algorithm with reorganization (Garcia-Molina 1982, section III and Appendix I).
//!
//! The strongest node that is up coordinates. A candidate asks one stronger node after the other whether it is there. If
//! all keep silent for T they are down; that is what T means here. Then it halts the weaker nodes, one after the other,
//! and is elected. It tells the nodes that obeyed that it is the new coordinator, and the group is reorganized.
//!
//! ```text
//!   2 (of 3, which is down)       1              Down ──Halt──► Election ──NewCoordinator──► Reorganization ──Ready──► Normal
//!   │──AreYouThere──► 3           │                                ▲  its own: all weaker          │                    │
//!   │  T                          │                                │  halted, the election point   │                    │
//!   │──Halt(e)───────────────────►│ Election                       └──────────── Halt ─────────────┴────────────────────┘
//!   │◄───────────────────HaltReply│
//!   │──NewCoordinator(e)─────────►│ Reorganization
//!   │◄─────────NewCoordinatorReply│
//!   │──Ready(e, d)───────────────►│ Normal         the group layer's: see `group`
//! ```
//!
//! Every P the coordinator asks all others, one after the other, whether they are normal (Check); if one is not, there is
//! another election. So a weak node that comes back is taken in, and followers hear that their coordinator is up. A
//! follower that hears nothing for W asks it (Timeout).
//!
//! Assumes the paper's assumptions 1 to 9: a node that is up answers within T. Under that: nodes that are reorganizing or
//! normal never disagree on the coordinator, nor normal ones on the task (A1), and c_GM after the last crash or recovery all
//! are normal under one of them (A2).
//!
//! The paper's state vector S(i), and where it is here:
//!
//! | cell | here | in safe storage? |
//! |---|---|---|
//! | s | [`Opinion::status`]; a halted node is `waiting`, one that organises `election`, and one that has come up is `down` until an election moves it | no: after a crash it reads Down whatever it was |
//! | c | [`Opinion::leader`] while s is Reorganization or Normal | no: means nothing in the other states |
//! | d | the group layer's task | no: as c. (The group layer keeps it for its own sake) |
//! | h | the election that halted this node last | no: Recovery makes it undefined |
//! | Up | who obeyed Halt | no: every election begins it anew |
//! | counter of calls | an incarnation and a number in that incarnation | the incarnation: an answer must not be taken for that to another incarnation's call |
//!
//! T is a round trip, 2δ; P is τ; W is P + nT, the longest that a living coordinator is silent towards a follower.
//!
//! As printed, messages carry the election but nobody looks at it. Repaired: NewCoordinator and Ready count only for the
//! election that halted their receiver (E-GM1), so that channels need not keep order; a node whose reorganization fails
//! is no coordinator any more, and waits for one (E-GM2); and an answer says whether its sender accepts (E-GM3).

use alloc::vec::Vec;
use core::mem;

use serde::{Deserialize, Serialize};

use super::calls::{CallNo, Calls};
use super::{
    Action, Actions, Channels, Election, GivesWay, InAgent, Input, Mode, Peers, Setup, Spec, Variant,
};
use crate::canonical::Form;
use crate::cause::Cause;
use crate::group::{Formation, READY, READY_REPLY};
use crate::ident::{ElectionId, GroupId, NodeId};
use crate::kind::{Kind, Message};
use crate::opinion::{Opinion, Status};
use crate::promise::Assumption::{BoundedDelay, ClocksAgree, Fifo, NoDuplicates, NoPauses, Reliable};
use crate::promise::{Promise, Property};
use crate::roster::Priority;
use crate::time::{Span, Time};

/// The facts about `bully`.
pub const SPEC: Spec = Spec {
    name: "bully",
    document: "Garcia-Molina 1982, Appendix I",
    assumes: "a synchronous network: nothing is lost, late or repeated, nodes do not pause",
    guarantees: "reorganizing or normal nodes never name two coordinators, normal ones never work on two tasks; in the \
                 end all are normal under the strongest that is up",
    messages: "(N-1)+5U to elect a node with U weaker ones up and all stronger ones down; N-1 AreYouNormal per tau, and \
               their answers",
    in_agent: InAgent::No("needs a synchronous network: a message that is late breaks its safety"),
    mode: Mode::AnySurvivor,
    priority: Priority::HighestId,
    gives_way: GivesWay::AtOnce,
    detector: None,
    peers: Peers::Listed,
    channels: Channels::AnyOrder,
    views: false,
    reorganizes: true,
    hands_over: false,
    kinds: &[
        ARE_YOU_THERE,
        ARE_YOU_THERE_REPLY,
        ARE_YOU_NORMAL,
        ARE_YOU_NORMAL_REPLY,
        HALT,
        HALT_REPLY,
        NEW_COORDINATOR,
        NEW_COORDINATOR_REPLY,
        READY,
        READY_REPLY,
    ],
    repaired: &[
        Promise { property: Property::A1, under: SYNCHRONOUS },
        Promise { property: Property::A2, under: SYNCHRONOUS },
    ],
    printed: &[
        Promise { property: Property::A1, under: SYNCHRONOUS_FIFO },
        Promise { property: Property::A2, under: SYNCHRONOUS_FIFO },
    ],
};

/// Assumptions 8 and 9.
const SYNCHRONOUS: &[crate::promise::Assumption] =
    &[Reliable, NoDuplicates, BoundedDelay, NoPauses, ClocksAgree];
/// And assumption 7.
const SYNCHRONOUS_FIFO: &[crate::promise::Assumption] =
    &[Reliable, Fifo, NoDuplicates, BoundedDelay, NoPauses, ClocksAgree];

/// Calls of the paper's procedures, by their numbers, and the answers to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Msg {
    /// AreYouThere(i)
    AreYouThere(CallNo),
    /// "I am."
    AreYouThereReply(CallNo),
    /// AreYouNormal(i, answer)
    AreYouNormal(CallNo),
    /// Whether s is Normal.
    AreYouNormalReply(CallNo, Answer),
    /// Halt(i, j), of this election of j.
    Halt(CallNo, ElectionId),
    /// "I did."
    HaltReply(CallNo),
    /// NewCoordinator(i, j), of this election of j.
    NewCoordinator(CallNo, ElectionId),
    /// Whether that is accepted. The paper's answer does not tell, and the printed variant does not look.
    NewCoordinatorReply(CallNo, Answer),
}

/// What a procedure answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// Yes.
    Yes,
    /// No.
    No,
}

impl Answer {
    fn from(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

const ARE_YOU_THERE: Kind = Kind::protocol("AreYouThere");
const ARE_YOU_THERE_REPLY: Kind = Kind::protocol("AreYouThereReply");
const ARE_YOU_NORMAL: Kind = Kind::protocol("AreYouNormal");
const ARE_YOU_NORMAL_REPLY: Kind = Kind::protocol("AreYouNormalReply");
const HALT: Kind = Kind::protocol("Halt");
const HALT_REPLY: Kind = Kind::protocol("HaltReply");
const NEW_COORDINATOR: Kind = Kind::protocol("NewCoordinator");
const NEW_COORDINATOR_REPLY: Kind = Kind::protocol("NewCoordinatorReply");

impl Message for Msg {
    fn kind(&self) -> Kind {
        match self {
            Self::AreYouThere(_) => ARE_YOU_THERE,
            Self::AreYouThereReply(_) => ARE_YOU_THERE_REPLY,
            Self::AreYouNormal(_) => ARE_YOU_NORMAL,
            Self::AreYouNormalReply(..) => ARE_YOU_NORMAL_REPLY,
            Self::Halt(..) => HALT,
            Self::HaltReply(_) => HALT_REPLY,
            Self::NewCoordinator(..) => NEW_COORDINATOR,
            Self::NewCoordinatorReply(..) => NEW_COORDINATOR_REPLY,
        }
    }

    fn canonical(&self, form: &mut Form) {
        form.number(u64::from(self.kind().id()));
        match self {
            Self::AreYouThere(call)
            | Self::AreYouThereReply(call)
            | Self::AreYouNormal(call)
            | Self::HaltReply(call) => call.canonical(form),
            Self::AreYouNormalReply(call, answer) | Self::NewCoordinatorReply(call, answer) => {
                call.canonical(form);
                form.number(*answer as u64);
            }
            Self::Halt(call, election) | Self::NewCoordinator(call, election) => {
                call.canonical(form);
                form.election(*election);
            }
        }
    }
}

/// The algorithm's state at one node.
#[derive(Clone, Debug)]
pub struct Bully {
    setup: Setup,
    /// S(i).s, and S(i).c where it means something.
    s: S,
    /// S(i).h: as printed only whose election it was is looked at.
    h: Option<ElectionId>,
    /// S(i).Up, from the first Halt to the end of the last NewCoordinator.
    up: Vec<NodeId>,
    /// How many elections this node has begun to win in this incarnation.
    elections: u64,
    /// What the node's process waits for, if it has one: Election, Check or Timeout.
    calls: Calls<Call>,
    /// When Timeout is due, if there is a coordinator to hear from and no process.
    timeout_at: Time,
    /// When Check is due, if this node coordinates and has no process.
    check_at: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum S {
    Down,
    Election,
    Reorganization { c: NodeId },
    Normal { c: NodeId },
}

/// A call that awaits its answer, and where in its procedure that leaves the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    /// AreYouThere, of a stronger node, in Election.
    Probe,
    /// AreYouThere, of the coordinator, in Timeout.
    Find,
    /// Halt, in Election.
    Halt,
    /// NewCoordinator, in Election.
    NewCoordinator,
    /// AreYouNormal, in Check.
    AreYouNormal,
}

impl Election for Bully {
    type Msg = Msg;

    fn new(setup: Setup, _tau_fd: Span) -> Self {
        Self {
            calls: Calls::new(setup.roster.me(), setup.incarnation),
            setup,
            s: S::Down,
            h: None,
            up: Vec::new(),
            elections: 0,
            timeout_at: Time::NEVER,
            check_at: Time::NEVER,
        }
    }

    fn handle(&mut self, now: Time, input: Input<Msg>, out: &mut Actions<Msg>) {
        match input {
            Input::Recovery => self.election(now, out),
            Input::Message { from, msg } => self.on_message(now, from, msg, out),
            Input::Gone(peer) | Input::Resigned { who: peer, .. } => self.on_gone(now, peer, out),
            Input::Deadline => self.on_deadline(now, out),
            Input::Reorganized => {
                if let S::Reorganization { c } = self.s {
                    self.s = S::Normal { c };
                }
            }
            Input::ReorganizationFailed(_) => self.start_over(now, out),
            // The papers' nodes do not tell one incarnation from another; calls have numbers, elections have
            // too.
            Input::NewIncarnation(_) => {}
            Input::DownSig(_) | Input::HandOver(_) => {} // No detector, and priorities are fixed.
            Input::Link { .. } => {}                     // Its links are not consistent.
        }
        self.set_timers(now);
    }

    fn deadline(&self) -> Time {
        self.calls.deadline().min(self.timeout_at).min(self.check_at)
    }

    fn opinion(&self) -> Opinion {
        let (status, leader) = match self.s {
            S::Down => (Status::Down, None),
            S::Election if self.h.is_some_and(|h| h.node == self.me()) => (Status::Election, None),
            S::Election => (Status::Waiting, None),
            S::Reorganization { c } => (Status::Reorganizing, Some(c)),
            S::Normal { c } => (Status::Normal, Some(c)),
        };
        Opinion { status, leader, group: leader.and(self.group()) }
    }

    fn canonical(&self, now: Time, form: &mut Form) {
        match self.s {
            S::Down => form.number(0),
            S::Election => form.number(1),
            S::Reorganization { c } => {
                form.number(2);
                form.node(c);
            }
            S::Normal { c } => {
                form.number(3);
                form.node(c);
            }
        }
        form.option(self.h, |form, h| form.election(h));
        form.nodes(&self.up);
        form.election(self.election_id());
        self.calls.canonical(now, form, |call, form| form.number(*call as u64));
        form.deadline(now, self.timeout_at);
        form.deadline(now, self.check_at);
    }

    fn breach(&self, before: &Self) -> Option<&'static str> {
        if let S::Reorganization { c } | S::Normal { c } = self.s {
            if self.h.is_none_or(|h| h.node != c) {
                return Some("a node that has a coordinator was halted by it last");
            }
            if self.setup.roster.stronger(self.me(), c) {
                return Some("nobody follows a weaker node");
            }
        }
        (self.elections < before.elections).then_some("elections are numbered in order")
    }
}

impl Bully {
    fn on_message(&mut self, now: Time, j: NodeId, msg: Msg, out: &mut Actions<Msg>) {
        if !self.is_part_of_the_protocol(j, &msg) {
            return;
        }
        if self.is_sign_of_a_coordinator(j) {
            self.timeout_at = Time::NEVER; // It begins anew.
        }
        match msg {
            Msg::AreYouThere(call) => out.send(j, Msg::AreYouThereReply(call)),
            Msg::AreYouNormal(call) => {
                let normal = Answer::from(matches!(self.s, S::Normal { .. }));
                out.send(j, Msg::AreYouNormalReply(call, normal));
            }
            Msg::Halt(call, election) => {
                self.halt(election, out);
                out.send(j, Msg::HaltReply(call));
            }
            Msg::NewCoordinator(call, election) => {
                let answer = self.new_coordinator(election, out);
                out.push(Action::Join { to: j, msg: Msg::NewCoordinatorReply(call, answer) });
            }
            Msg::AreYouThereReply(call) | Msg::HaltReply(call) => {
                self.answered(now, j, call, Answer::Yes, out);
            }
            Msg::AreYouNormalReply(call, answer) | Msg::NewCoordinatorReply(call, answer) => {
                self.answered(now, j, call, answer, out);
            }
        }
    }

    /// IMMEDIATE PROCEDURE Halt(i, j)
    fn halt(&mut self, election: ElectionId, out: &mut Actions<Msg>) {
        match self.s {
            // A coordinator begins another election only to take in those that are not with it.
            S::Normal { c } if c == election.node => out.because(Cause::Merged),
            S::Normal { c } if self.setup.roster.stronger(c, election.node) => out.because(Cause::Silent(c)),
            _ => {}
        }
        self.s = S::Election;
        self.h = Some(election);
        self.stop(out);
    }

    /// IMMEDIATE PROCEDURE NewCoordinator(i, j)
    fn new_coordinator(&mut self, election: ElectionId, out: &mut Actions<Msg>) -> Answer {
        let j = election.node;
        let halted_by_it = self.h.is_some_and(|h| match self.setup.variant {
            Variant::Printed => h.node == j,
            Variant::Repaired => h == election,
        });
        let accepts = halted_by_it && self.s == S::Election;
        if accepts {
            self.s = S::Reorganization { c: j };
            out.push(Action::Form(Formation { group: self.group(), leader: j, members: Vec::new() }));
        }
        Answer::from(accepts)
    }

    /// PROCEDURE Election(i). One process at a time is enough: a node that is asking or organising need not begin
    /// again.
    fn election(&mut self, now: Time, out: &mut Actions<Msg>) {
        self.probe_stronger_than(now, self.setup.roster.my_rank(), out);
    }

    /// FOR j := i + 1, …, n: the next node that is stronger, if there is one; else the weaker are halted.
    fn probe_stronger_than(&mut self, now: Time, rank: usize, out: &mut Actions<Msg>) {
        match rank.checked_sub(1) {
            Some(rank) => self.call(now, self.setup.roster.at(rank), Call::Probe, out),
            None => self.halt_the_weaker(now, out),
        }
    }

    fn halt_the_weaker(&mut self, now: Time, out: &mut Actions<Msg>) {
        if self.s == (S::Normal { c: self.me() }) {
            out.because(Cause::Merged); // Somebody is not with it.
        }
        self.stop(out);
        self.elections += 1;
        self.s = S::Election;
        self.h = Some(self.election_id());
        self.up.clear();
        self.halt_weaker_than(now, self.setup.roster.my_rank(), out);
    }

    /// FOR j := i - 1, …, 1
    fn halt_weaker_than(&mut self, now: Time, rank: usize, out: &mut Actions<Msg>) {
        match self.setup.roster.members().get(rank + 1) {
            Some(j) => self.call(now, *j, Call::Halt, out),
            None => {
                // "Now node i has reached its election point."
                self.s = S::Reorganization { c: self.me() };
                self.announce_from(now, 0, out);
            }
        }
    }

    /// FOR j IN S(i).Up: NewCoordinator. Then the reorganization, and Ready, which are the group layer's.
    fn announce_from(&mut self, now: Time, place: usize, out: &mut Actions<Msg>) {
        match self.up.get(place) {
            Some(j) => self.call(now, *j, Call::NewCoordinator, out),
            None => {
                let members = mem::take(&mut self.up);
                let (group, leader) = (self.group(), self.me());
                out.push(Action::Form(Formation { group, leader, members }));
            }
        }
    }

    /// "The simplest thing is to restart." As printed, s stays as it is until the election gets to halting, which it never
    /// does if a stronger node answers and crashes (E-GM2).
    fn start_over(&mut self, now: Time, out: &mut Actions<Msg>) {
        if self.setup.variant == Variant::Repaired {
            self.s = S::Election;
            self.up.clear();
            self.stop(out);
        }
        self.election(now, out);
    }

    /// PROCEDURE Check(i): j := 1, …, n, except i.
    fn check_stronger_than(&mut self, now: Time, rank: usize, out: &mut Actions<Msg>) {
        let me = self.setup.roster.my_rank();
        if let Some(rank) = (0..rank).rev().find(|rank| *rank != me) {
            self.call(now, self.setup.roster.at(rank), Call::AreYouNormal, out);
        }
    }

    /// PROCEDURE Timeout(i)
    fn timeout(&mut self, now: Time, out: &mut Actions<Msg>) {
        match self.s {
            // As printed, a coordinator that is stuck finds itself there.
            S::Normal { c } | S::Reorganization { c } if c == self.me() => {}
            S::Normal { c } | S::Reorganization { c } => self.call(now, c, Call::Find, out),
            S::Down | S::Election => self.election(now, out),
        }
    }

    /// CALL STOP
    fn stop(&mut self, out: &mut Actions<Msg>) {
        self.calls.stop();
        out.push(Action::Disband);
    }

    fn call(&mut self, now: Time, j: NodeId, call: Call, out: &mut Actions<Msg>) {
        let no = self.calls.call(j, call, now + self.t());
        let msg = match call {
            Call::Probe | Call::Find => Msg::AreYouThere(no),
            Call::Halt => Msg::Halt(no, self.election_id()),
            Call::NewCoordinator => Msg::NewCoordinator(no, self.election_id()),
            Call::AreYouNormal => Msg::AreYouNormal(no),
        };
        out.send(j, msg);
    }

    /// What follows a CALL that returned.
    fn answered(&mut self, now: Time, j: NodeId, call: CallNo, answer: Answer, out: &mut Actions<Msg>) {
        let Some(call) = self.calls.answered(j, call) else { return };
        match call {
            Call::Probe | Call::Find => {} // Give up; it is there.
            Call::Halt => {
                self.up.push(j);
                self.halt_weaker_than(now, self.rank(j), out);
            }
            Call::NewCoordinator => {
                if answer == Answer::Yes || self.setup.variant == Variant::Printed {
                    let next = self.up.iter().position(|up| *up == j).map_or(0, |place| place + 1);
                    self.announce_from(now, next, out);
                } else {
                    self.start_over(now, out);
                }
            }
            Call::AreYouNormal => match answer {
                Answer::Yes => self.check_stronger_than(now, self.rank(j), out),
                Answer::No => self.election(now, out),
            },
        }
    }

    /// ONTIMEOUT(T)
    fn timed_out(&mut self, now: Time, j: NodeId, call: Call, out: &mut Actions<Msg>) {
        match call {
            Call::Probe => self.probe_stronger_than(now, self.rank(j), out),
            Call::Find => self.election(now, out),
            Call::Halt => self.halt_weaker_than(now, self.rank(j), out),
            Call::NewCoordinator => self.start_over(now, out),
            Call::AreYouNormal => self.check_stronger_than(now, self.rank(j), out),
        }
    }

    fn on_deadline(&mut self, now: Time, out: &mut Actions<Msg>) {
        while let Some((j, call)) = self.calls.timed_out(now) {
            self.timed_out(now, j, call, out);
        }
        if self.check_at <= now {
            self.check_at = Time::NEVER;
            self.check_stronger_than(now, self.setup.roster.size(), out);
        } else if self.timeout_at <= now {
            self.timeout_at = Time::NEVER;
            self.timeout(now, out);
        }
    }

    /// Evidence that a peer is gone: as good as T of its silence, and of one's coordinator as W and T.
    fn on_gone(&mut self, now: Time, peer: NodeId, out: &mut Actions<Msg>) {
        while let Some(call) = self.calls.gone(peer) {
            self.timed_out(now, peer, call, out);
        }
        if matches!(self.s, S::Normal { c } | S::Reorganization { c } if c == peer)
            && !self.calls.is_waiting()
        {
            self.election(now, out);
        }
    }

    /// Check and Timeout come up while there is no process, one for the coordinator, the other for all else.
    fn set_timers(&mut self, now: Time) {
        let idle = !self.calls.is_waiting();
        let coordinates = matches!(self.s, S::Normal { c } | S::Reorganization { c } if c == self.me());
        let checks = matches!(self.s, S::Normal { .. }) && coordinates && self.setup.roster.size() > 1;
        let timer = |at: Time, wanted: bool, after: Span| match (wanted, at) {
            (false, _) => Time::NEVER,
            (true, Time::NEVER) => now + after,
            (true, at) => at,
        };
        self.check_at = timer(self.check_at, idle && checks, self.setup.timing.tau);
        self.timeout_at = timer(self.timeout_at, idle && !coordinates, self.w());
    }

    /// Whether a message from j puts Timeout off: j is the coordinator, or will see to it that there is one.
    fn is_sign_of_a_coordinator(&self, j: NodeId) -> bool {
        match self.s {
            S::Normal { c } | S::Reorganization { c } => c == j,
            S::Down | S::Election => self.setup.roster.stronger(j, self.me()),
        }
    }

    /// Calls are their caller's own words, and only the stronger halt.
    fn is_part_of_the_protocol(&self, j: NodeId, msg: &Msg) -> bool {
        match msg {
            Msg::AreYouThere(call) | Msg::AreYouNormal(call) => call.caller() == j,
            Msg::Halt(call, election) | Msg::NewCoordinator(call, election) => {
                call.caller() == j && election.node == j && self.setup.roster.stronger(j, self.me())
            }
            Msg::AreYouThereReply(_)
            | Msg::AreYouNormalReply(..)
            | Msg::HaltReply(_)
            | Msg::NewCoordinatorReply(..) => true,
        }
    }

    /// The group of the election that this node was halted by, or by which it halts. As printed, groups have no numbers.
    fn group(&self) -> Option<GroupId> {
        self.h.filter(|_| self.setup.variant == Variant::Repaired).map(GroupId)
    }

    fn election_id(&self) -> ElectionId {
        ElectionId { node: self.me(), incarnation: self.setup.incarnation, seq: self.elections }
    }

    fn me(&self) -> NodeId {
        self.setup.roster.me()
    }

    fn rank(&self, j: NodeId) -> usize {
        self.setup.roster.rank(j).expect("only members are called")
    }

    fn t(&self) -> Span {
        self.setup.timing.delta * 2
    }

    fn w(&self) -> Span {
        self.setup.timing.tau + self.t() * self.setup.roster.size() as u64
    }
}

#[cfg(test)]
mod tests;
