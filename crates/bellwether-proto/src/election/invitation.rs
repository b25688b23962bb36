//! The Invitation algorithm (Garcia-Molina 1982, section IV and Appendix II).
//!
//! Messages may be lost, nodes may pause, the network may split: nobody can be forced to follow, so nodes are invited. Every
//! group has a number of its own and a coordinator; groups whose coordinators can speak with each other merge; a node that
//! has lost its coordinator is a group by itself. Then a group is reorganized (`group.rs`).
//!
//! ```text
//!   Recovery ─► Normal, alone ──Check finds others; who is weaker waits──► Merge: Election ──Accepts──► Reorganization
//!                  ▲    │ Invitation                                                                      │ all Ready
//!                  │    ▼                                                                                 ▼
//!                  │  Accept; forward it to the members ──► Reorganization ──Ready──► Normal, a member    Normal, coordinates
//!                  └── no answer, or "No", from the coordinator ◄─────────────────────┘
//! ```
//!
//! A3: all in a group name one coordinator and have one task. In a stable network all are soon in groups whose coordinators
//! are up, in no more groups than cliques that cover the network (A4', ALE2). The paper's claim that all nodes that can
//! speak with each other are in one group (A4) is false (E-GM9).
//!
//! Calls in a loop go out at once instead of one after the other: none depends on another. As printed, Invitation has no
//! answer, because nobody looks at one. Every message carries the caller's group number, as the paper has it (Appendix II).
//!
//! The repaired variant adds (`docs/concepts/divergence.md` says why each is needed): R1 a node is reorganizing before it
//! accepts (E-GM5); R2 the answers to Accept and Ready tell whether it was in time (E-GM6); R3 a member follows only its own
//! coordinator, and a merge that is put off acts on the latest Check (E-GM7); R4 AreYouCoordinator says whether the called
//! node is a member; one that is not, or whose coordinator has founded another group, recovers (E-GM10); R5 no group is
//! joined twice; R6 of two coordinators the one with more members goes first, so that a group at work keeps its coordinator
//! when others come up, and members that are in other groups by now are struck off; R7 a coordinator does not wait for nodes
//! that have come already, decline, or are gone; R8 a coordinator that hears of one that it goes before looks for
//! others at once.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::calls::{CallNo, Calls};
use super::inviting::{Inviter, REPAIRED, Stage};
use super::{Action, Actions, Channels, Election, GivesWay, InAgent, Input, Mode, Peers, Setup, Spec};
use crate::canonical::Form;
use crate::cause::Cause;
use crate::group::{Formation, READY, READY_REPLY};
use crate::ident::{GroupId, NodeId};
use crate::kind::{Kind, Message};
use crate::opinion::Opinion;
use crate::promise::Assumption::{ClocksAgree, Fifo, NoDuplicates};
use crate::promise::{Promise, Property};
use crate::roster::Priority;
use crate::time::{Span, Time};

/// The facts about `invitation`.
pub const SPEC: Spec = Spec {
    name: "invitation",
    document: "Garcia-Molina 1982, App. II",
    assumes: "nothing for safety; for progress a stable network with delays within delta",
    guarantees: "one coordinator and one task per group; once the network is stable, no more groups than needed",
    messages: "2(N-1) per tau; a merge 5 per member (Invitation, Accept, Ready and answers)",
    in_agent: InAgent::Yes,
    mode: Mode::AnySurvivor,
    priority: Priority::HighestId,
    gives_way: GivesWay::Never,
    detector: None,
    peers: Peers::Listed,
    channels: Channels::AnyOrder,
    views: false,
    reorganizes: true,
    hands_over: false,
    kinds: KINDS,
    repaired: REPAIRED,
    // Theorems A3 and A4; A4' is what Souto makes of the latter.
    printed: &[
        Promise { property: Property::A3, under: &[Fifo, NoDuplicates] },
        Promise { property: Property::A4, under: &[Fifo, NoDuplicates, ClocksAgree] },
        Promise { property: Property::A4Prime, under: &[Fifo, NoDuplicates, ClocksAgree] },
        Promise { property: Property::GroupOnce, under: &[] },
    ],
};

/// The procedures of Appendix II that are called remotely, less Ready, which is the group layer's, and their answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Msg {
    /// AreYouCoordinator(i, ans)
    AreYouCoordinator {
        /// The call.
        call: CallNo,
        /// The caller's group.
        group: GroupId,
        /// R4: whether the caller takes the called node for a member of it.
        member: bool,
        /// R8: how many members the caller has. As printed nobody looks at it.
        members: u32,
    },
    /// Its answer.
    AreYouCoordinatorReply {
        /// The call.
        call: CallNo,
        /// ans: if it is yes, R6: of how many members. As printed nobody looks at the number.
        yes: Option<u32>,
        /// R6: whether the answerer is in the caller's group.
        with_you: bool,
    },
    /// AreYouThere(i, gn, j, ans)
    AreYouThere {
        /// The call.
        call: CallNo,
        /// gn
        group: GroupId,
    },
    /// Its answer.
    AreYouThereReply {
        /// The call.
        call: CallNo,
        /// ans
        yes: bool,
    },
    /// Invitation(i, j, gn). The coordinator j is the one that gn is a number of.
    Invitation {
        /// gn
        group: GroupId,
    },
    /// Accept(i, j, gn)
    Accept {
        /// The call.
        call: CallNo,
        /// gn
        group: GroupId,
        /// R7: to how many the caller has forwarded the invitation. As printed nobody looks at it.
        brings: u32,
    },
    /// Its answer.
    AcceptReply {
        /// The call.
        call: CallNo,
        /// R2: whether it was in time.
        taken: bool,
    },
    /// R7: the answer to Invitation of a node that declines. Who joins answers with Accept.
    InvitationReply {
        /// gn
        group: GroupId,
    },
}

const ARE_YOU_COORDINATOR: Kind = Kind::protocol("AreYouCoordinator");
const ARE_YOU_COORDINATOR_REPLY: Kind = Kind::protocol("AreYouCoordinatorReply");
const ARE_YOU_THERE: Kind = Kind::protocol("AreYouThere");
const ARE_YOU_THERE_REPLY: Kind = Kind::protocol("AreYouThereReply");
const INVITATION: Kind = Kind::protocol("Invitation");
const INVITATION_REPLY: Kind = Kind::protocol("InvitationReply");
const ACCEPT: Kind = Kind::protocol("Accept");
const ACCEPT_REPLY: Kind = Kind::protocol("AcceptReply");
const KINDS: &[Kind] = &[
    ARE_YOU_COORDINATOR,
    ARE_YOU_COORDINATOR_REPLY,
    ARE_YOU_THERE,
    ARE_YOU_THERE_REPLY,
    INVITATION,
    INVITATION_REPLY,
    ACCEPT,
    ACCEPT_REPLY,
    READY,
    READY_REPLY,
];

impl Message for Msg {
    fn kind(&self) -> Kind {
        match self {
            Self::AreYouCoordinator { .. } => ARE_YOU_COORDINATOR,
            Self::AreYouCoordinatorReply { .. } => ARE_YOU_COORDINATOR_REPLY,
            Self::AreYouThere { .. } => ARE_YOU_THERE,
            Self::AreYouThereReply { .. } => ARE_YOU_THERE_REPLY,
            Self::Invitation { .. } => INVITATION,
            Self::InvitationReply { .. } => INVITATION_REPLY,
            Self::Accept { .. } => ACCEPT,
            Self::AcceptReply { .. } => ACCEPT_REPLY,
        }
    }

    fn canonical(&self, form: &mut Form) {
        form.number(u64::from(self.kind().id()));
        match self {
            Self::AreYouCoordinator { call, group, member, members } => {
                call.canonical(form);
                form.election(group.0);
                form.number(u64::from(*member));
                form.number(u64::from(*members));
            }
            Self::Accept { call, group, brings } => {
                call.canonical(form);
                form.election(group.0);
                form.number(u64::from(*brings));
            }
            Self::AreYouThere { call, group } => {
                call.canonical(form);
                form.election(group.0);
            }
            Self::Invitation { group } | Self::InvitationReply { group } => form.election(group.0),
            Self::AreYouCoordinatorReply { call, yes, with_you } => {
                call.canonical(form);
                form.number(u64::from(*with_you));
                form.option(*yes, |form, members| form.number(u64::from(members)));
            }
            Self::AreYouThereReply { call, yes } | Self::AcceptReply { call, taken: yes } => {
                call.canonical(form);
                form.number(u64::from(*yes));
            }
        }
    }
}

/// The algorithm's state at one node.
#[derive(Clone, Debug)]
pub struct Invitation {
    inviter: Inviter,
    calls: Calls<Procedure>,
    /// When Timeout is called: "node i has not heard from its coordinator in some time". Never while it coordinates.
    silence_due: Time,
    /// R7: the nodes that are known to be gone, and have not been heard since.
    absent: Vec<NodeId>,
}

/// A call of another node, which must be answered within T.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Procedure {
    AreYouCoordinator,
    AreYouThere,
    Accept,
}

impl Election for Invitation {
    type Msg = Msg;

    fn new(setup: Setup, _tau_fd: Span) -> Self {
        let calls = Calls::new(setup.roster.me(), setup.incarnation);
        Self { inviter: Inviter::new(setup), calls, silence_due: Time::NEVER, absent: Vec::new() }
    }

    fn handle(&mut self, now: Time, input: Input<Msg>, out: &mut Actions<Msg>) {
        match input {
            Input::Recovery | Input::ReorganizationFailed(_) => self.recovery(out),
            Input::Message { from, msg } => {
                self.absent.retain(|peer| *peer != from);
                self.on_message(now, from, msg, out);
            }
            // What that incarnation was asked will not be answered, and what it coordinated is over.
            Input::NewIncarnation(peer) => self.gone(now, peer, out),
            Input::Gone(peer) | Input::Resigned { who: peer, .. } => {
                if !self.absent.contains(&peer) {
                    self.absent.push(peer);
                }
                self.gone(now, peer, out);
            }
            Input::Reorganized => self.on_reorganized(now),
            Input::Deadline => self.on_deadline(now, out),
            Input::DownSig(_) | Input::HandOver(_) => {} // It has timers of its own, and no way to hand over.
            Input::Link { .. } => {}                     // Its links are not consistent.
        }
        self.check(now, out);
    }

    fn deadline(&self) -> Time {
        // A Check waits for the one before.
        let check = if self.calls.is_waiting() { Time::NEVER } else { self.inviter.check_due };
        let merge = self.inviter.merge_due().min(self.inviter.invites_until());
        self.calls.deadline().min(check).min(merge).min(self.silence_due)
    }

    fn opinion(&self) -> Opinion {
        self.inviter.opinion()
    }

    fn canonical(&self, now: Time, form: &mut Form) {
        self.inviter.canonical(now, form);
        self.calls.canonical(now, form, |procedure, form| form.number(*procedure as u64));
        form.deadline(now, self.silence_due);
        form.nodes(&self.absent);
    }

    fn breach(&self, _before: &Self) -> Option<&'static str> {
        let follows = self.inviter.c != self.inviter.me();
        if follows != (self.silence_due != Time::NEVER) {
            return Some("a node listens for its coordinator if and only if it follows");
        }
        self.inviter.breach()
    }
}

impl Invitation {
    fn on_message(&mut self, now: Time, j: NodeId, msg: Msg, out: &mut Actions<Msg>) {
        match msg {
            Msg::AreYouCoordinator { call, group, member, members } => {
                let yes = self.inviter.coordinates().then(|| count(&self.inviter.up));
                let with_you = self.inviter.g == group;
                out.send(j, Msg::AreYouCoordinatorReply { call, yes, with_you });
                self.hear(now, j, group, member, out);
                self.look_again(now, j, group, members as usize);
            }
            Msg::AreYouCoordinatorReply { call, yes, with_you } => {
                if self.calls.answered(j, call).is_some() {
                    if self.inviter.repaired() && !with_you {
                        self.inviter.miss(j);
                    }
                    if let Some(members) = yes {
                        self.inviter.find(j, Some(members as usize));
                    }
                    self.end_check(now, out);
                }
            }
            Msg::AreYouThere { call, group } => {
                let yes = self.inviter.has_member(group, j);
                out.send(j, Msg::AreYouThereReply { call, yes });
            }
            Msg::AreYouThereReply { call, yes } => match self.calls.answered(j, call) {
                Some(_) if yes => self.silence_due = now + self.silence(),
                Some(_) => self.recover_dropped(out),
                None => {}
            },
            Msg::Invitation { group } => self.on_invitation(now, j, group, out),
            Msg::InvitationReply { group } => {
                self.inviter.expect_no_more(j, group);
                self.close_if_complete(out);
            }
            Msg::Accept { call, group, brings } => {
                let taken = self.inviter.accept(j, group, brings);
                out.send(j, Msg::AcceptReply { call, taken });
                self.close_if_complete(out);
            }
            Msg::AcceptReply { call, taken } => {
                if self.calls.answered(j, call).is_some() {
                    self.on_accept_reply(taken, out);
                }
            }
        }
    }

    /// Recovery(i)
    fn recovery(&mut self, out: &mut Actions<Msg>) {
        self.stop();
        self.inviter.recover();
        self.form(out);
    }

    /// Check(i), when it is due, unless the one before still waits for answers.
    fn check(&mut self, now: Time, out: &mut Actions<Msg>) {
        if self.inviter.check_due > now || self.calls.is_waiting() {
            return;
        }
        self.inviter.begin_check(now);
        let (me, group) = (self.inviter.me(), self.inviter.g);
        let (roster, members) = (self.inviter.setup.roster.clone(), count(&self.inviter.up));
        for j in roster.members().iter().copied().filter(|j| *j != me) {
            let call = self.call(now, j, Procedure::AreYouCoordinator);
            let member = self.inviter.has_member(group, j);
            out.send(j, Msg::AreYouCoordinator { call, group, member, members });
            if self.absent.contains(&j) {
                self.calls.answered(j, call); // Its answer would be news, but is not waited for.
            }
        }
        self.end_check(now, out);
    }

    /// R8: another coordinator looks for others. If it is for this node to merge the two groups, and the other has not been found,
    /// that need not wait until Check is due. Most likely both have just lost the same coordinator, and this node was the first
    /// to know.
    fn look_again(&mut self, now: Time, j: NodeId, group: GroupId, members: usize) {
        let is_new = group.0.node == j && !self.inviter.has_found(j) && !self.calls.awaits(j);
        let goes_first = self.inviter.coordinates() && !self.inviter.goes_first(j, Some(members));
        if self.inviter.repaired() && is_new && goes_first {
            self.inviter.check_due = now;
        }
    }

    /// The rest of Check(i), when all have answered or may no longer.
    fn end_check(&mut self, now: Time, out: &mut Actions<Msg>) {
        if self.calls.is_waiting() {
            return;
        }
        if let Some(found) = self.inviter.end_check(now) {
            self.merge(now, found, out);
        }
    }

    /// Merge(i, CoordinatorSet), up to "wait a reasonable time for accept messages to come in"
    fn merge(&mut self, now: Time, with: Vec<NodeId>, out: &mut Actions<Msg>) {
        out.because(Cause::Merged);
        self.stop();
        out.push(Action::Disband);
        let invited = self.inviter.merge(now, with);
        out.send_each(&invited, &Msg::Invitation { group: self.inviter.g });
    }

    /// The rest of Merge(i, CoordinatorSet): the group is who has accepted.
    fn close(&mut self, out: &mut Actions<Msg>) {
        self.inviter.stage = Stage::Reorganization;
        self.form(out);
    }

    /// R7: stops waiting when all have come.
    fn close_if_complete(&mut self, out: &mut Actions<Msg>) {
        if self.inviter.repaired() && self.inviter.is_complete() {
            self.close(out);
        }
    }

    /// Invitation(i, j, gn)
    fn on_invitation(&mut self, now: Time, sender: NodeId, group: GroupId, out: &mut Actions<Msg>) {
        let Some(members) = self.inviter.join(sender, group) else { return self.decline(group, out) };
        out.because(Cause::Merged);
        self.stop();
        self.silence_due = now + self.silence();
        out.push(Action::Disband);
        out.send_each(&members, &Msg::Invitation { group });
        let j = group.0.node;
        let call = self.call(now, j, Procedure::Accept);
        out.push(Action::Join { to: j, msg: Msg::Accept { call, group, brings: count(&members) } });
        if self.inviter.repaired() {
            self.reorganize(out); // R1
        }
    }

    /// R7: whoever invites is not to wait for this node, unless it has come already.
    fn decline(&self, group: GroupId, out: &mut Actions<Msg>) {
        let (j, roster) = (group.0.node, &self.inviter.setup.roster);
        let is_peer = roster.rank(j).is_some_and(|rank| rank != roster.my_rank());
        if self.inviter.repaired() && is_peer && self.inviter.g != group {
            out.send(j, Msg::InvitationReply { group });
        }
    }

    /// "CALL Accept(j, i, gn), ONTIMEOUT(T): CALL Recovery(i)" has returned.
    fn on_accept_reply(&mut self, taken: bool, out: &mut Actions<Msg>) {
        match (self.inviter.repaired(), taken) {
            (false, _) => self.reorganize(out), // As printed, the answer does not tell.
            (true, true) => {}
            (true, false) => self.recovery(out), // R2
        }
    }

    fn reorganize(&mut self, out: &mut Actions<Msg>) {
        self.inviter.stage = Stage::Reorganization;
        self.form(out);
    }

    fn form(&self, out: &mut Actions<Msg>) {
        let Inviter { g, c, up, .. } = &self.inviter;
        out.push(Action::Form(Formation { group: Some(*g), leader: *c, members: up.clone() }));
    }

    /// The task is in place: Ready(i, j, gn, x), or all of them answered.
    fn on_reorganized(&mut self, now: Time) {
        if self.inviter.repaired() {
            self.calls.stop(); // Ready may overtake the answer to Accept, and says all that it could.
        }
        self.inviter.settle(now);
        if self.inviter.c != self.inviter.me() {
            self.silence_due = now + self.silence();
        }
    }

    /// A coordinator speaks. A member is content to hear its own, in its own group; R4: and to be known as one.
    fn hear(&mut self, now: Time, j: NodeId, group: GroupId, member: bool, out: &mut Actions<Msg>) {
        let Inviter { c, g, .. } = self.inviter;
        if j != c || j == self.inviter.me() || group.0.node != j {
            return;
        }
        let known = member || !self.inviter.repaired();
        if group == g && known {
            self.silence_due = now + self.silence();
        } else if self.inviter.repaired() && group >= g {
            self.recover_dropped(out);
        }
    }

    /// The coordinator does not count this node among its members.
    fn recover_dropped(&mut self, out: &mut Actions<Msg>) {
        out.because(Cause::Dropped(self.inviter.c));
        self.recovery(out);
    }

    fn gone(&mut self, now: Time, peer: NodeId, out: &mut Actions<Msg>) {
        while let Some(procedure) = self.calls.gone(peer) {
            self.on_timeout(now, procedure, out);
        }
        self.inviter.strike_off(peer);
        self.close_if_complete(out);
        if self.inviter.c == peer {
            self.recovery(out);
        }
    }

    fn on_deadline(&mut self, now: Time, out: &mut Actions<Msg>) {
        while let Some((_, procedure)) = self.calls.timed_out(now) {
            self.on_timeout(now, procedure, out);
        }
        if self.inviter.invites_until() <= now {
            self.close(out);
        }
        if let Some(found) = self.inviter.overdue_merge(now) {
            self.merge(now, found, out);
        }
        if self.silence_due <= now {
            self.timeout(now, out);
        }
    }

    /// ONTIMEOUT(T)
    fn on_timeout(&mut self, now: Time, procedure: Procedure, out: &mut Actions<Msg>) {
        match procedure {
            Procedure::AreYouCoordinator => self.end_check(now, out),
            Procedure::AreYouThere | Procedure::Accept => self.recovery(out),
        }
    }

    /// Timeout(i)
    fn timeout(&mut self, now: Time, out: &mut Actions<Msg>) {
        let Inviter { c, g, .. } = self.inviter;
        let call = self.call(now, c, Procedure::AreYouThere);
        out.send(c, Msg::AreYouThere { call, group: g });
        self.silence_due = now + self.silence();
    }

    /// CALL STOP
    fn stop(&mut self) {
        self.calls.stop();
        self.inviter.stop();
        self.silence_due = Time::NEVER;
    }

    fn call(&mut self, now: Time, callee: NodeId, procedure: Procedure) -> CallNo {
        self.calls.call(callee, procedure, now + self.inviter.setup.timing.delta * 2)
    }

    /// "Some time": a coordinator speaks every period, and what it says takes no longer than T.
    fn silence(&self) -> Span {
        let timing = &self.inviter.setup.timing;
        timing.tau + timing.delta * 2
    }
}

/// As it goes over the wire.
fn count(members: &[NodeId]) -> u32 {
    u32::try_from(members.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
