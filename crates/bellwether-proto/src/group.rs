//! Reorganization: what follows an election (Garcia-Molina, sections I, III and IV).
//!
//! An election finds a coordinator and, at the coordinator, who follows it. Then the group is reorganized: the coordinator
//! computes what the group is to work on, the task description d, and hands it out with Ready; until it is in place, a node
//! is `reorganizing`, and only then `normal`.
//!
//! ```text
//!   election ──Form──► group: compute d ──Ready(d)──► every member ──► all answered ──Reorganized──► election: Normal
//!            ◄──ReorganizationFailed── one did not answer within T
//! ```
//!
//! Which group, who leads it and who joined is the election's business; d, Ready and its answers are this layer's. One that is
//! told of nothing does nothing: algorithms whose paper has no reorganization send no message more.
//!
//! The calls of Ready go out all at once, not one after the other as in the paper's loop: nothing depends on their order, and
//! the reorganization takes one round trip instead of one for each member.

mod formation;
mod message;
mod task;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::mem;

use crate::canonical::Form;
use crate::election::Variant;
use crate::ident::{ElectionId, GroupId, Incarnation, NodeId};
use crate::time::{Span, Time};

pub use formation::{Formation, Past};
pub use message::{GroupMsg, READY, READY_REPLY};
pub use task::{TASK_MAX, Task, TaskDigest, TaskTooLong};

/// The group layer of one node.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    me: NodeId,
    variant: Variant,
    /// T: how long the answer to a call may take.
    patience: Span,
    /// The number of this node's latest reorganization.
    latest: ElectionId,
    phase: Phase,
    /// d, once there is one in this life.
    task: Option<Task>,
    past: Past,
    /// What those who joined last brought along.
    pasts: BTreeMap<NodeId, Past>,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Phase {
    /// No group: an election is going on.
    Apart,
    /// A member, waiting for Ready.
    Awaiting(Formation),
    /// The coordinator, waiting for answers to Ready.
    Distributing { formation: Formation, pending: Vec<NodeId>, due: Time },
    /// The task is in place.
    InPlace(Formation),
}

/// What the layer asks of its node.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Send(NodeId, GroupMsg),
    /// A task description is in place at this node.
    Installed(TaskDigest),
    /// The election is to know that the reorganization is done,
    Reorganized,
    /// or has failed for want of this peer's answer.
    Failed(NodeId),
}

impl Group {
    pub(crate) fn new(me: NodeId, life: Incarnation, variant: Variant, patience: Span) -> Self {
        Self {
            me,
            variant,
            patience,
            latest: ElectionId { node: me, incarnation: life, seq: 0 },
            phase: Phase::Apart,
            task: None,
            past: Past::default(),
            pasts: BTreeMap::new(),
            steps: Vec::new(),
        }
    }

    /// An election formed a group. Its coordinator hands out what it is to do; the others wait for it.
    pub(crate) fn form(&mut self, now: Time, formation: Formation) {
        if formation.leader == self.me {
            self.organise(now, formation);
        } else {
            self.phase = Phase::Awaiting(formation);
        }
    }

    /// The node left its group, or what it was forming: CALL STOP.
    pub(crate) fn disband(&mut self) {
        self.phase = Phase::Apart;
    }

    /// A peer that joins says where it comes from.
    pub(crate) fn joined(&mut self, peer: NodeId, past: Past) {
        self.pasts.insert(peer, past);
    }

    /// What this node says when it joins another's group.
    pub(crate) fn past(&self) -> Past {
        self.past.clone()
    }

    pub(crate) fn handle(&mut self, from: NodeId, msg: GroupMsg) {
        match msg {
            GroupMsg::Ready { group, task } => self.on_ready(from, group, task),
            GroupMsg::ReadyReply { call, in_place } => self.on_ready_reply(from, call, in_place),
        }
    }

    /// A call whose answer is overdue has failed.
    pub(crate) fn wake(&mut self, now: Time) {
        if let Phase::Distributing { pending, due, .. } = &self.phase
            && *due <= now
        {
            let peer = pending[0];
            self.fail(peer);
        }
    }

    /// A peer is gone: if its answer is awaited, that is as good as a timeout.
    pub(crate) fn gone(&mut self, peer: NodeId) {
        if let Phase::Distributing { pending, .. } = &self.phase
            && pending.contains(&peer)
        {
            self.fail(peer);
        }
    }

    pub(crate) fn deadline(&self) -> Time {
        match self.phase {
            Phase::Distributing { due, .. } => due,
            Phase::Apart | Phase::Awaiting(_) | Phase::InPlace(_) => Time::NEVER,
        }
    }

    /// What is to be done, in order.
    pub(crate) fn take_steps(&mut self) -> Vec<Step> {
        mem::take(&mut self.steps)
    }

    pub(crate) fn canonical(&self, now: Time, form: &mut Form) {
        form.reorganization(self.latest);
        form.deadline(now, self.deadline());
        match &self.phase {
            Phase::Apart => form.number(0),
            Phase::Awaiting(formation) => {
                form.number(1);
                formation.canonical(form);
            }
            Phase::Distributing { formation, pending, .. } => {
                form.number(2);
                formation.canonical(form);
                form.number(pending.len() as u64);
                pending.iter().for_each(|peer| form.node(*peer));
            }
            Phase::InPlace(formation) => {
                form.number(3);
                formation.canonical(form);
            }
        }
        form.option(self.task.as_ref(), |form, task| task.canonical(form));
        self.past.canonical(form);
        form.number(self.pasts.len() as u64);
        for (peer, past) in &self.pasts {
            form.node(*peer);
            past.canonical(form);
        }
    }

    /// "The reorganization of the system occurs here": the coordinator computes d, takes it for itself, and hands it out.
    fn organise(&mut self, now: Time, formation: Formation) {
        self.latest.seq += 1;
        let task = self.compute(&formation);
        for member in &formation.members {
            let ready = GroupMsg::Ready { group: formation.group, task: task.clone() };
            self.steps.push(Step::Send(*member, ready));
        }
        self.install(task);
        let pending = formation.members.clone();
        self.phase = Phase::Distributing { formation, pending, due: now + self.patience };
        self.finish_if_all_answered();
    }

    /// Unless the application has a say, the task is to be the members of the group.
    fn compute(&self, formation: &Formation) -> Task {
        let mut members = formation.members.clone();
        members.push(self.me);
        members.sort_unstable();
        let content = members.iter().flat_map(|member| member.0.to_le_bytes()).collect();
        Task::new(self.latest, content).expect("a roster is shorter than the longest description")
    }

    /// Ready(i, j, gn, x)
    fn on_ready(&mut self, from: NodeId, group: Option<GroupId>, task: Task) {
        let call = task.made_by();
        if call.node != from || !task.is_short_enough() {
            return; // No coordinator says that.
        }
        if let Phase::Awaiting(formation) = &self.phase
            && formation.leader == from
            && formation.group == group
        {
            let formation = formation.clone();
            self.install(task);
            self.phase = Phase::InPlace(formation);
            self.steps.push(Step::Reorganized);
        }
        let in_place = matches!(self.phase, Phase::InPlace(_))
            && self.task.as_ref().is_some_and(|task| task.made_by() == call);
        self.steps.push(Step::Send(from, GroupMsg::ReadyReply { call, in_place }));
    }

    fn on_ready_reply(&mut self, from: NodeId, call: ElectionId, in_place: bool) {
        let Phase::Distributing { pending, .. } = &mut self.phase else { return };
        let Some(at) = pending.iter().position(|peer| *peer == from && call == self.latest) else { return };
        // As printed, an answer is an answer, whatever it says.
        if in_place || self.variant == Variant::Printed {
            pending.remove(at);
            self.finish_if_all_answered();
        } else {
            self.fail(from);
        }
    }

    fn finish_if_all_answered(&mut self) {
        if let Phase::Distributing { formation, pending, .. } = &self.phase
            && pending.is_empty()
        {
            self.phase = Phase::InPlace(formation.clone());
            self.pasts.clear();
            self.steps.push(Step::Reorganized);
        }
    }

    fn fail(&mut self, peer: NodeId) {
        self.phase = Phase::Apart;
        self.steps.push(Step::Failed(peer));
    }

    fn install(&mut self, task: Task) {
        self.steps.push(Step::Installed(task.digest()));
        self.task = Some(task);
    }
}

#[cfg(test)]
mod tests;
