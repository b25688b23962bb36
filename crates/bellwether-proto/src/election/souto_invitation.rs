//! The Invitation algorithm in the messages of Souto's slides (2021, "The Invitation Algorithm", after Garcia-Molina).
//!
//! The rules are those of Appendix II of Garcia-Molina; the messages are plain ones, sent once and answered or not, and
//! there are two states, ELECTION and NORMAL: nothing is reorganized. The strongest is the lowest id, and T bounds delays in
//! one direction.
//!
//! ```text
//!   member  ──ARE-U-THERE──► leader, periodically; no answer within 2T: alone
//!   leader  ──ARE-U-LEADER──► all, periodically; who leads answers; then, if stronger or after a while:
//!   leader  ──INVITATION──► leaders and members ──forwarded──► their members ──ACCEPT──► leader
//!   leader  ──READY──► all who accepted, and is NORMAL ──► they are, too ──ACK──► leader
//! ```
//!
//! "Is ACK really needed?" Not for A3 and A4' (claim C40): a node that misses READY gives up and is merged again. With ACK
//! the leader knows who is in its group: a node whose ACK does not come is no member.
//!
//! The repaired variant adds (`docs/concepts/divergence.md` says why each is needed): R1 ARE-U-THERE asks whether the
//! leader leads this group, not only whether it is there (E-SO5); and, as in `invitation`, R3 a member follows only its own
//! leader, and a merge that is put off acts on what was found last; R5 no group is joined twice.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::inviting::{ACCEPT_WAIT, Inviter, REPAIRED, Stage};
use super::{Actions, Channels, Election, GivesWay, InAgent, Input, Mode, Peers, Setup, Spec};
use crate::canonical::Form;
use crate::cause::Cause;
use crate::ident::{GroupId, NodeId};
use crate::kind::{Kind, Message};
use crate::opinion::Opinion;
use crate::promise::Assumption::{ClocksAgree, Fifo, NoDuplicates};
use crate::promise::{Promise, Property};
use crate::roster::Priority;
use crate::time::{Span, Time};

/// The facts about `souto-invitation`.
pub const SPEC: Spec = Spec {
    name: "souto-invitation",
    document: "Souto 2021, after Garcia-Molina",
    assumes: "nothing for safety; for progress a stable network with delays within delta",
    guarantees: "one leader per group; once the network is stable, no more groups than needed",
    messages: "3(N-1) per tau; a merge 4 per member (INVITATION, ACCEPT, READY, ACK)",
    in_agent: InAgent::No("a form for comparison: `invitation` is the same, with reorganization"),
    mode: Mode::AnySurvivor,
    priority: Priority::LowestId,
    gives_way: GivesWay::Never,
    detector: None,
    peers: Peers::Listed,
    channels: Channels::AnyOrder,
    views: false,
    reorganizes: false,
    hands_over: false,
    kinds: KINDS,
    repaired: REPAIRED,
    printed: &[
        Promise { property: Property::A3, under: &[Fifo, NoDuplicates] },
        Promise { property: Property::A4Prime, under: &[Fifo, NoDuplicates, ClocksAgree] },
        Promise { property: Property::GroupOnce, under: &[] },
    ],
};

/// The slides' messages, and the two answers that they do not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Msg {
    /// "Are you there?", in the group of that number.
    AreUThere(GroupId),
    /// Its answer.
    AreUThereReply(GroupId, Answer),
    /// "Do you lead a group?", from the leader of this one.
    AreULeader(GroupId),
    /// "I do", to the leader of that group.
    AreULeaderReply(GroupId),
    /// "Join this group."
    Invitation(GroupId),
    /// "I do."
    Accept(GroupId),
    /// "The group is complete."
    Ready(GroupId),
    /// "I am in it."
    Ack(GroupId),
}

/// What a leader says about a node that takes itself for a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// It is one.
    Member,
    /// It is no member. The printed variant does not look at this.
    Stranger,
}

const ARE_U_THERE: Kind = Kind::protocol("ARE-U-THERE");
const ARE_U_THERE_REPLY: Kind = Kind::protocol("ARE-U-THERE-REPLY");
const ARE_U_LEADER: Kind = Kind::protocol("ARE-U-LEADER");
const ARE_U_LEADER_REPLY: Kind = Kind::protocol("ARE-U-LEADER-REPLY");
const INVITATION: Kind = Kind::protocol("INVITATION");
const ACCEPT: Kind = Kind::protocol("ACCEPT");
const READY: Kind = Kind::protocol("READY");
const ACK: Kind = Kind::protocol("ACK");
const KINDS: &[Kind] =
    &[ARE_U_THERE, ARE_U_THERE_REPLY, ARE_U_LEADER, ARE_U_LEADER_REPLY, INVITATION, ACCEPT, READY, ACK];

impl Msg {
    fn group(&self) -> GroupId {
        match self {
            Self::AreUThere(group)
            | Self::AreUThereReply(group, _)
            | Self::AreULeader(group)
            | Self::AreULeaderReply(group)
            | Self::Invitation(group)
            | Self::Accept(group)
            | Self::Ready(group)
            | Self::Ack(group) => *group,
        }
    }
}

impl Message for Msg {
    fn kind(&self) -> Kind {
        match self {
            Self::AreUThere(_) => ARE_U_THERE,
            Self::AreUThereReply(..) => ARE_U_THERE_REPLY,
            Self::AreULeader(_) => ARE_U_LEADER,
            Self::AreULeaderReply(_) => ARE_U_LEADER_REPLY,
            Self::Invitation(_) => INVITATION,
            Self::Accept(_) => ACCEPT,
            Self::Ready(_) => READY,
            Self::Ack(_) => ACK,
        }
    }

    fn canonical(&self, form: &mut Form) {
        form.number(u64::from(self.kind().id()));
        form.election(self.group().0);
        if let Self::AreUThereReply(_, answer) = self {
            form.number(*answer as u64);
        }
    }
}

/// The algorithm's state at one node.
#[derive(Clone, Debug)]
pub struct SoutoInvitation {
    inviter: Inviter,
    /// When answers to ARE-U-LEADER are no longer waited for.
    answers_until: Time,
    /// When to ask the leader next whether it is there; never while this node leads.
    ask_due: Time,
    /// By when the leader has to have answered, or sent READY.
    leader_due: Time,
    /// By when who accepted has to have acknowledged READY.
    acks_until: Time,
    /// The nodes that have not acknowledged yet.
    unacknowledged: Vec<NodeId>,
}

impl Election for SoutoInvitation {
    type Msg = Msg;

    fn new(setup: Setup, _tau_fd: Span) -> Self {
        Self {
            inviter: Inviter::new(setup),
            answers_until: Time::NEVER,
            ask_due: Time::NEVER,
            leader_due: Time::NEVER,
            acks_until: Time::NEVER,
            unacknowledged: Vec::new(),
        }
    }

    fn handle(&mut self, now: Time, input: Input<Msg>, out: &mut Actions<Msg>) {
        match input {
            Input::Recovery => self.recover(now),
            Input::Message { from, msg } => self.on_message(now, from, msg, out),
            Input::NewIncarnation(peer) | Input::Gone(peer) | Input::Resigned { who: peer, .. } => {
                self.gone(now, peer);
            }
            Input::Deadline => self.on_deadline(now, out),
            Input::DownSig(_) | Input::HandOver(_) => {} // It has timers of its own, and no way to hand over.
            Input::Link { .. } => {}                     // Its links are not consistent.
            Input::Reorganized | Input::ReorganizationFailed(_) => {} // Nothing is reorganized here.
        }
        self.look_for_leaders(now, out);
    }

    fn deadline(&self) -> Time {
        let look =
            if self.answers_until == Time::NEVER { self.inviter.check_due } else { self.answers_until };
        let merge = self.inviter.merge_due().min(self.inviter.invites_until());
        look.min(merge).min(self.ask_due).min(self.leader_due).min(self.acks_until)
    }

    fn opinion(&self) -> Opinion {
        self.inviter.opinion()
    }

    fn canonical(&self, now: Time, form: &mut Form) {
        self.inviter.canonical(now, form);
        for due in [self.answers_until, self.ask_due, self.leader_due, self.acks_until] {
            form.deadline(now, due);
        }
        form.nodes(&self.unacknowledged);
    }

    fn breach(&self, _before: &Self) -> Option<&'static str> {
        let waits = self.ask_due != Time::NEVER || self.leader_due != Time::NEVER;
        if waits != (self.inviter.c != self.inviter.me()) {
            return Some("a node waits for its leader if and only if it follows");
        }
        self.inviter.breach()
    }
}

impl SoutoInvitation {
    fn on_message(&mut self, now: Time, j: NodeId, msg: Msg, out: &mut Actions<Msg>) {
        match msg {
            Msg::AreUThere(group) => {
                let member = self.inviter.has_member(group, j);
                let answer = if member { Answer::Member } else { Answer::Stranger };
                out.send(j, Msg::AreUThereReply(group, answer));
            }
            Msg::AreUThereReply(group, answer) => self.on_there(now, j, group, answer, out),
            Msg::AreULeader(group) => {
                if self.inviter.coordinates() {
                    out.send(j, Msg::AreULeaderReply(group));
                }
            }
            Msg::AreULeaderReply(group) => {
                if self.answers_until != Time::NEVER && group == self.inviter.g {
                    self.inviter.find(j, None);
                }
            }
            Msg::Invitation(group) => self.on_invitation(now, j, group, out),
            Msg::Accept(group) => {
                self.inviter.accept(j, group, 0);
            }
            Msg::Ready(group) => self.on_ready(now, j, group, out),
            Msg::Ack(group) => {
                if group == self.inviter.g {
                    self.unacknowledged.retain(|k| *k != j);
                }
            }
        }
    }

    /// A group of only this node: "no need for communication".
    fn recover(&mut self, now: Time) {
        self.stop();
        self.inviter.recover();
        self.inviter.settle(now);
    }

    /// ARE-U-LEADER to all, when that is due, unless the answers to the last are still waited for.
    fn look_for_leaders(&mut self, now: Time, out: &mut Actions<Msg>) {
        if self.inviter.check_due > now || self.answers_until != Time::NEVER {
            return;
        }
        self.inviter.begin_check(now);
        self.answers_until = now + self.round_trip();
        let (me, g) = (self.inviter.me(), self.inviter.g);
        for j in self.inviter.setup.roster.members().iter().filter(|j| **j != me) {
            out.send(*j, Msg::AreULeader(g));
        }
    }

    fn merge(&mut self, now: Time, with: Vec<NodeId>, out: &mut Actions<Msg>) {
        out.because(Cause::Merged);
        self.stop();
        let invited = self.inviter.merge(now, with);
        out.send_each(&invited, &Msg::Invitation(self.inviter.g));
    }

    /// "After enough(?) time", READY to all who accepted.
    fn close(&mut self, now: Time, out: &mut Actions<Msg>) {
        let Inviter { g, up, .. } = &self.inviter;
        out.send_each(up, &Msg::Ready(*g));
        if !up.is_empty() {
            self.unacknowledged.clone_from(up);
            self.acks_until = now + self.round_trip();
        }
        self.inviter.settle(now);
    }

    fn on_invitation(&mut self, now: Time, sender: NodeId, group: GroupId, out: &mut Actions<Msg>) {
        let Some(members) = self.inviter.join(sender, group) else { return };
        out.because(Cause::Merged);
        self.stop();
        out.send_each(&members, &Msg::Invitation(group));
        out.send(group.0.node, Msg::Accept(group));
        // READY is sent when the wait for ACCEPT is over, which began before this node was invited.
        self.leader_due = now + self.inviter.setup.timing.delta * (ACCEPT_WAIT + 1);
    }

    /// READY to an ACCEPT of this node.
    fn on_ready(&mut self, now: Time, j: NodeId, group: GroupId, out: &mut Actions<Msg>) {
        let Inviter { c, g, stage, .. } = self.inviter;
        if (j, group) != (c, g) || j == self.inviter.me() {
            return;
        }
        if stage == Stage::Joining {
            self.inviter.settle(now);
            self.leader_due = Time::NEVER;
            self.ask_due = now + self.inviter.setup.timing.tau;
        }
        out.send(j, Msg::Ack(group));
    }

    fn on_there(&mut self, now: Time, j: NodeId, group: GroupId, answer: Answer, out: &mut Actions<Msg>) {
        let Inviter { c, g, stage, .. } = self.inviter;
        if (j, group) != (c, g) || stage != Stage::Normal || j == self.inviter.me() {
            return;
        }
        match answer {
            Answer::Stranger if self.inviter.repaired() => {
                out.because(Cause::Dropped(c));
                self.recover(now); // R1
            }
            Answer::Stranger | Answer::Member => self.leader_due = Time::NEVER,
        }
    }

    fn gone(&mut self, now: Time, peer: NodeId) {
        self.inviter.strike_off(peer);
        if self.inviter.c == peer {
            self.recover(now);
        }
    }

    fn on_deadline(&mut self, now: Time, out: &mut Actions<Msg>) {
        if self.leader_due <= now {
            self.recover(now);
        }
        if self.ask_due <= now {
            self.ask_leader(now, out);
        }
        if self.acks_until <= now {
            self.drop_unacknowledged();
        }
        if self.inviter.invites_until() <= now {
            self.close(now, out);
        }
        if self.answers_until <= now {
            self.answers_until = Time::NEVER;
            if let Some(found) = self.inviter.end_check(now) {
                self.merge(now, found, out);
            }
        }
        if let Some(found) = self.inviter.overdue_merge(now) {
            self.merge(now, found, out);
        }
    }

    /// "A node that is not a leader periodically checks if its leader is still alive."
    fn ask_leader(&mut self, now: Time, out: &mut Actions<Msg>) {
        let Inviter { c, g, .. } = self.inviter;
        out.send(c, Msg::AreUThere(g));
        self.ask_due = now + self.inviter.setup.timing.tau;
        self.leader_due = self.leader_due.min(now + self.round_trip());
    }

    /// Who accepted, and did not acknowledge READY, is not in the group.
    fn drop_unacknowledged(&mut self) {
        let silent = core::mem::take(&mut self.unacknowledged);
        self.inviter.up.retain(|j| !silent.contains(j));
        self.acks_until = Time::NEVER;
    }

    fn stop(&mut self) {
        self.inviter.stop();
        self.unacknowledged.clear();
        let timers = [&mut self.answers_until, &mut self.ask_due, &mut self.leader_due, &mut self.acks_until];
        timers.into_iter().for_each(|timer| *timer = Time::NEVER);
    }

    fn round_trip(&self) -> Span {
        self.inviter.setup.timing.delta * 2
    }
}

#[cfg(test)]
mod tests;
