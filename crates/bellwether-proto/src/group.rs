//! Reorganization: what follows an election (Garcia-Molina, sections I, III and IV).
//!
//! An election finds a coordinator and, at the coordinator, who follows it. Then the group is reorganized: the coordinator
//! computes what the group works on, the task description d, and hands it out with Ready. Until d is in place a node is
//! `reorganizing`; then it is `normal`.
//!
//! ```text
//!   election ──Form──► group: compute d ──Ready(d)──► every member ──► all answered ──Reorganized──► election: Normal
//!            ◄──ReorganizationFailed── one did not answer within T
//! ```
//!
//! The election decides which group it is, who leads it and who joined. This layer handles d, Ready and its answers. If it
//! is told of no group it does nothing, so algorithms whose paper has no reorganization send no extra message.
//!
//! Above that there are three services, each in its file: the application may compute d (`plan.rs`), every group knows the
//! groups that it came from (`lineage.rs`), and some operations are for one group only (`restricted.rs`). What must survive
//! a crash is in `kept.rs`, and on disk before any message tells of it.
//!
//! The calls of Ready go out all at once, not one after the other as in the paper's loop: nothing depends on their order, and
//! the reorganization takes one round trip instead of one for each member.

mod event;
mod formation;
mod kept;
mod ledger;
pub mod lineage;
mod message;
mod plan;
mod restricted;
mod task;
mod work;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::{Drain, Vec};

use crate::canonical::Form;
use crate::ident::{ElectionId, GroupId, Incarnation, NodeId};
use crate::link::consistent::Pace;
use crate::roster::Roster;
use crate::spec::{Spec, Variant};
use crate::time::{Span, Time, Timing};

pub use event::GroupEvent;
pub(crate) use formation::Said;
pub use formation::{Formation, Past};
pub use kept::Kept;
pub use ledger::{Attempted, Ballot, COMMITS_MAX, DOUBTS_MAX, Ledger, OpId, Outcome};
pub use lineage::{Lineage, Record, RecordDigest};
pub use message::{GroupMsg, IN_SERVICE, MEMBER, READY, READY_REPLY, RESTRICTED_KINDS};
pub use plan::{Plan, PlanMember, PlanRequest};
pub use restricted::Unwilling;
pub use task::{Content, TASK_MAX, Task, TaskDigest, TaskTooLong};

use restricted::Restricted;
use work::Work;

/// The group layer of one node.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    me: NodeId,
    /// Everybody else.
    peers: Vec<NodeId>,
    variant: Variant,
    telling: Telling,
    /// T: how long the answer to a call may take.
    patience: Span,
    /// How long the application may take to say what a group works on; `None` if there is no application.
    planner: Option<Span>,
    memory: Memory,
    /// The number of this node's latest reorganization.
    latest: ElectionId,
    phase: Phase,
    /// d, once there is one in this incarnation.
    task: Option<Task>,
    /// Whether the node has left its last group and is in no other. What it knew then may be out of date.
    away: bool,
    /// What the nodes that joined last brought along.
    pasts: BTreeMap<NodeId, (Said, Past)>,
    restricted: Restricted,
    /// What is on disk, or about to be. Shared with the disk: it may be large, and seldom changes.
    kept: Arc<Kept>,
    actions: Vec<Action>,
}

/// Whether past groups are remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    Groups,
    /// Exhaustive search does without: with the lineage in it no state would ever repeat, and no election depends on it.
    Nothing,
}

/// When members tell where they come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Telling {
    /// Beforehand: it rides on the message by which they join.
    OnJoining,
    /// Once they are told that they are members.
    WhenFormed,
}

#[derive(Clone, Debug)]
enum Phase {
    /// No group: an election is going on.
    Apart,
    /// A member, waiting for Ready.
    Awaiting(Formation),
    /// The coordinator, waiting for these to tell where they come from.
    Gathering { formation: Formation, pending: Vec<NodeId> },
    /// The coordinator, waiting for the application; if that has failed, until the election is to hear of it.
    Planning { formation: Formation, asked: Time, due: Time },
    /// The coordinator, waiting for answers to Ready.
    Distributing { formation: Formation, pending: Vec<NodeId>, due: Time, work: Box<Work> },
    /// A member that has its task, in an algorithm where nobody begins before all are known to have theirs.
    Holding { formation: Formation, work: Box<Work> },
    /// The task is in place.
    InPlace(Formation),
}

/// What the layer asks of its node.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// What is kept must be on disk before anything that follows is sent.
    Persist,
    /// What is kept is to be on disk. Nothing waits for that.
    Note,
    Send(NodeId, GroupMsg),
    Event(GroupEvent),
    /// The application is asked what the group is to do.
    Plan(PlanRequest),
    /// The election is to know that the reorganization is done,
    Reorganized,
    /// or has failed, because this peer, or this node's own application, did not answer.
    Failed(NodeId),
}

impl Group {
    /// The layer for that algorithm, in an incarnation of its node.
    pub(crate) fn for_election(
        spec: &Spec,
        variant: Variant,
        roster: &Roster,
        incarnation: Incarnation,
        timing: Timing,
    ) -> Self {
        // No message of the election joins a view: it is all there at once.
        let telling = if spec.views { Telling::WhenFormed } else { Telling::OnJoining };
        // A link that does not bring an answer is down by then.
        let patience =
            if spec.channels.are_consistent() { Pace::of(timing).settles() } else { timing.delta * 2 };
        Self::new(roster, incarnation, variant, telling, patience)
    }

    fn new(
        roster: &Roster,
        incarnation: Incarnation,
        variant: Variant,
        telling: Telling,
        patience: Span,
    ) -> Self {
        let me = roster.me();
        Self {
            me,
            telling,
            away: true,
            peers: roster.members().iter().copied().filter(|member| *member != me).collect(),
            variant,
            patience,
            planner: None,
            memory: Memory::Groups,
            latest: ElectionId { node: me, incarnation, seq: 0 },
            phase: Phase::Apart,
            task: None,
            pasts: BTreeMap::new(),
            restricted: Restricted::new(Time::NEVER),
            kept: Arc::default(),
            actions: Vec::new(),
        }
    }

    /// The layer of a node whose disk holds this.
    pub(crate) fn recall(&mut self, kept: Arc<Kept>, now: Time) {
        let ask_at = if kept.ledger.doubts().is_empty() { Time::NEVER } else { now };
        self.restricted = Restricted::new(ask_at);
        self.kept = kept;
    }

    /// From now on the application has a say in what groups do, if it answers within that time.
    pub(crate) fn ask_application(&mut self, planner: Span) {
        self.planner = Some(planner);
    }

    /// Remembers no groups.
    pub(crate) fn forget_groups(&mut self) {
        self.memory = Memory::Nothing;
    }

    /// The layer in another incarnation of its node: everything that a crash destroys is lost.
    pub(crate) fn reborn(mut self, incarnation: Incarnation, now: Time) -> Self {
        self.latest = ElectionId { node: self.me, incarnation, seq: 0 };
        (self.phase, self.task, self.away) = (Phase::Apart, None, true);
        self.pasts.clear();
        self.actions.clear();
        self.recall(Arc::clone(&self.kept), now);
        self
    }

    /// What must be on disk; `None` if nothing must.
    pub(crate) fn kept(&self) -> Option<Arc<Kept>> {
        (*self.kept != Kept::default()).then(|| Arc::clone(&self.kept))
    }

    /// The groups that there were, as far as this node knows.
    pub(crate) fn lineage(&self) -> &Lineage {
        &self.kept.lineage
    }

    /// What the node voted for without knowing the outcome.
    pub(crate) fn doubts(&self) -> &[Attempted] {
        self.kept.ledger.doubts()
    }

    /// What the group that the node is in works on.
    pub(crate) fn task_in_place(&self) -> Option<&Task> {
        self.task.as_ref().filter(|_| matches!(self.phase, Phase::InPlace(_)))
    }

    /// For which reorganization the application's answer is awaited.
    pub(crate) fn awaits_plan(&self) -> Option<ElectionId> {
        matches!(self.phase, Phase::Planning { .. }).then_some(self.latest)
    }

    /// An election formed a group. Its coordinator hands out the task; the others wait for it.
    pub(crate) fn form(&mut self, now: Time, formation: Formation) {
        self.abort_all();
        match (self.telling, formation.leader == self.me) {
            (Telling::OnJoining, true) => self.organise(now, formation),
            (Telling::OnJoining, false) => self.phase = Phase::Awaiting(formation),
            (Telling::WhenFormed, true) => {
                self.pasts.clear();
                let pending = formation.members.clone();
                self.phase = Phase::Gathering { formation, pending };
                self.organise_if_all_told(now);
            }
            (Telling::WhenFormed, false) => {
                self.tell_past(&formation);
                self.phase = Phase::Awaiting(formation);
            }
        }
    }

    /// A consistent link is up again. Messages that were sent over it before may be lost, even if the election
    /// noticed nothing.
    pub(crate) fn relinked(&mut self, peer: NodeId) {
        match &self.phase {
            Phase::Awaiting(formation) if formation.leader == peer => {
                let formation = formation.clone();
                self.tell_past(&formation);
            }
            Phase::Distributing { formation, pending, work, .. } if pending.contains(&peer) => {
                let ready = work.ready(formation.group);
                self.actions.push(Action::Send(peer, ready));
            }
            Phase::InPlace(formation) if formation.members.contains(&peer) => {
                self.actions.push(Action::Send(peer, GroupMsg::InService { call: self.latest }));
            }
            _ => {}
        }
    }

    fn tell_past(&mut self, formation: &Formation) {
        let tell = GroupMsg::Member { group: formation.group, past: Box::new(self.past()) };
        self.actions.push(Action::Send(formation.leader, tell));
    }

    /// The node left its group, or the group that it was forming: CALL STOP.
    pub(crate) fn disband(&mut self) {
        self.abort_all();
        (self.phase, self.away) = (Phase::Apart, true);
    }

    /// A peer that joins says where it comes from. Its latest word counts, in the order of sending: an old Accept may still
    /// arrive. While a group is reorganized, its members are settled.
    pub(crate) fn joined(&mut self, peer: NodeId, said: Said, past: Past) {
        let settled = matches!(self.phase, Phase::Planning { .. } | Phase::Distributing { .. });
        let known = self.pasts.get(&peer).is_some_and(|(known, _)| *known >= said);
        if settled || known || self.memory == Memory::Nothing {
            return;
        }
        self.told(peer, said, past);
    }

    /// What this node says when it joins another's group.
    pub(crate) fn past(&self) -> Past {
        let away = self.away && self.memory == Memory::Groups;
        Past { away, ..self.kept.past() }
    }

    pub(crate) fn handle(&mut self, now: Time, from: NodeId, msg: GroupMsg) {
        match msg {
            GroupMsg::Member { group, past } => self.on_member(now, from, group, *past),
            GroupMsg::Ready { group, task, lineage } => self.on_ready(from, group, task, &lineage),
            GroupMsg::ReadyReply { call, in_place } => self.on_ready_reply(from, call, in_place),
            GroupMsg::InService { call } => self.on_in_service(from, call),
            GroupMsg::Prepare(op, ballot) => self.on_prepare(now, from, op, ballot),
            GroupMsg::PrepareReply { op, ballot, yes } => self.on_prepare_reply(now, from, op, ballot, yes),
            GroupMsg::Decide { op, ballot, outcome } => self.on_decide(op, ballot, outcome),
            GroupMsg::Inquire(op, ballot) => self.on_inquire(from, op, ballot),
        }
    }

    /// The application says what the group works on, or that it has failed.
    pub(crate) fn planned(&mut self, now: Time, no: ElectionId, plan: Plan) {
        let Phase::Planning { formation, asked, due } = &mut self.phase else { return };
        if no != self.latest {
            return; // That is about a group that is no more.
        }
        match plan {
            Some(content) => {
                let formation = formation.clone();
                self.distribute(now, formation, content);
            }
            None => *due = (*due).min(*asked + self.patience),
        }
    }

    /// A call whose answer is overdue has failed.
    pub(crate) fn wake(&mut self, now: Time) {
        match &self.phase {
            Phase::Distributing { pending, due, .. } if *due <= now => self.fail(pending[0]),
            Phase::Planning { due, .. } if *due <= now => self.fail(self.me),
            _ => {}
        }
        self.wake_restricted(now);
    }

    /// A peer is gone. If its answer is awaited, that counts as a timeout. With consistent links the election decides.
    pub(crate) fn gone(&mut self, peer: NodeId) {
        if let Phase::Distributing { pending, .. } = &self.phase
            && self.telling == Telling::OnJoining
            && pending.contains(&peer)
        {
            self.fail(peer);
        }
        self.gone_restricted(peer);
    }

    pub(crate) fn deadline(&self) -> Time {
        let reorganization = match self.phase {
            Phase::Distributing { due, .. } | Phase::Planning { due, .. } => due,
            // Who does not tell is not linked, or has left the view: the election will see to it.
            Phase::Gathering { .. } => Time::NEVER,
            Phase::Apart | Phase::Awaiting(_) | Phase::Holding { .. } | Phase::InPlace(_) => Time::NEVER,
        };
        reorganization.min(self.restricted.deadline())
    }

    /// What is to be done, in order.
    pub(crate) fn drain(&mut self) -> Drain<'_, Action> {
        self.actions.drain(..)
    }

    /// What must be true of every state.
    pub(crate) fn breach(&self) -> Option<&'static str> {
        let within = |pending: &[NodeId], formation: &Formation| {
            pending.iter().all(|peer| formation.members.contains(peer))
        };
        match &self.phase {
            Phase::Awaiting(formation) | Phase::Holding { formation, .. } if formation.leader == self.me => {
                Some("only a member waits for its coordinator")
            }
            Phase::Gathering { formation, .. }
            | Phase::Planning { formation, .. }
            | Phase::Distributing { formation, .. }
                if formation.leader != self.me =>
            {
                Some("only the coordinator reorganizes")
            }
            Phase::Gathering { formation, pending } | Phase::Distributing { formation, pending, .. }
                if pending.is_empty() || !within(pending, formation) =>
            {
                Some("the coordinator waits for some of the members")
            }
            Phase::InPlace(_) if self.task.is_none() => Some("what is in place has a task"),
            _ => None,
        }
    }

    pub(crate) fn canonical(&self, now: Time, form: &mut Form) {
        form.reorganization(self.latest);
        match &self.phase {
            Phase::Apart => form.number(0),
            Phase::Awaiting(formation) => {
                form.number(1);
                formation.canonical(form);
            }
            Phase::Gathering { formation, pending } => {
                form.number(5);
                formation.canonical(form);
                form.nodes(pending);
            }
            Phase::Planning { formation, asked, due } => {
                form.number(4);
                formation.canonical(form);
                form.deadline(now, *asked + self.patience);
                form.deadline(now, *due);
            }
            Phase::Distributing { formation, pending, due, work } => {
                form.number(2);
                form.deadline(now, *due);
                formation.canonical(form);
                form.nodes(pending);
                work.canonical(form);
            }
            Phase::Holding { formation, work } => {
                form.number(6);
                formation.canonical(form);
                work.canonical(form);
            }
            Phase::InPlace(formation) => {
                form.number(3);
                formation.canonical(form);
            }
        }
        form.option(self.task.as_ref(), |form, task| task.canonical(form));
        form.number(u64::from(self.away && self.memory == Memory::Groups));
        self.kept.canonical(form);
        self.restricted.canonical(now, form);
        form.number(self.pasts.len() as u64);
        for (peer, ((incarnation, seq), past)) in &self.pasts {
            form.node(*peer);
            form.incarnation(*peer, *incarnation);
            form.frame_seq(*peer, *incarnation, self.me, *seq);
            past.canonical(form);
        }
    }

    /// "The reorganization of the system occurs here": the coordinator computes d, or has the application do so.
    fn organise(&mut self, now: Time, formation: Formation) {
        self.latest.seq += 1;
        match self.planner {
            None => {
                let content = self.roll(&formation);
                self.distribute(now, formation, content);
            }
            Some(patience) => {
                self.actions.push(Action::Plan(self.plan_request(&formation)));
                self.phase =
                    Phase::Planning { formation, asked: now, due: now + patience.max(self.patience) };
            }
        }
    }

    fn plan_request(&self, formation: &Formation) -> PlanRequest {
        let members = self.roll_call(formation);
        let pasts: Vec<Past> = members.iter().map(|member| self.past_of(*member)).collect();
        let members = members.into_iter().zip(&pasts).map(|(node, past)| PlanMember::new(node, past));
        PlanRequest::new(self.latest, formation.group, members.collect(), &Lineage::united(&pasts))
    }

    /// Unless the application has a say, the task is to be the members of the group.
    fn roll(&self, formation: &Formation) -> Content {
        let members = self.roll_call(formation);
        let content = members.iter().flat_map(|member| member.0.to_le_bytes()).collect();
        Content::new(content).expect("a roster is shorter than the longest description")
    }

    fn roll_call(&self, formation: &Formation) -> Vec<NodeId> {
        let mut members = formation.members.clone();
        members.push(self.me);
        members.sort_unstable();
        members.dedup();
        members
    }

    fn past_of(&self, member: NodeId) -> Past {
        if member == self.me {
            return self.past();
        }
        self.pasts.get(&member).map(|(_, past)| past.clone()).unwrap_or_default()
    }

    /// The coordinator hands out d. Either it takes d for itself first, so that the lineage is on its disk before anybody
    /// hears of the group; or it does so afterwards, when all have d.
    fn distribute(&mut self, now: Time, formation: Formation, content: Content) {
        let work = self.work(&formation, content);
        let due = match self.telling {
            Telling::OnJoining => {
                self.begin(&work);
                now + self.patience
            }
            // A link brings an answer or goes down, which is the election's business.
            Telling::WhenFormed => Time::NEVER,
        };
        for member in &formation.members {
            self.actions.push(Action::Send(*member, work.ready(formation.group)));
        }
        self.settle_doubts();
        let pending = formation.members.clone();
        self.phase = Phase::Distributing { formation, pending, due, work: Box::new(work) };
        self.finish_if_all_answered();
    }

    /// The task of the group, and its lineage as far as its members know it.
    fn work(&self, formation: &Formation, content: Content) -> Work {
        let task = Task::new(self.latest, content);
        let Some((record, pasts)) = self.record(formation) else {
            return Work { task, record: None, lineage: Lineage::default() };
        };
        let mut lineage = self.kept.lineage.clone();
        pasts.iter().for_each(|past| lineage.unite(past));
        lineage.add(Arc::clone(&record));
        Work { task, record: Some(record), lineage }
    }

    /// The coordinator takes d for itself.
    fn begin(&mut self, work: &Work) {
        let head = work.record.as_ref().map(|record| record.group);
        self.install(work.task.clone(), head, |kept| kept.lineage = work.lineage.clone());
        if let Some(record) = &work.record {
            self.announce_record(record);
        }
    }

    /// The record of the new group, and what its members know of earlier groups; `None` if groups have no number, or are
    /// not remembered.
    fn record(&self, formation: &Formation) -> Option<(Arc<Record>, Vec<Lineage>)> {
        let group = formation.group.filter(|_| self.memory == Memory::Groups)?;
        let members = self.roll_call(formation);
        if members.len() > lineage::MEMBERS_MAX {
            return None;
        }
        let pasts: Vec<Past> = members.iter().map(|member| self.past_of(*member)).collect();
        let known = Lineage::united(&pasts);
        let mut parents: Vec<GroupId> = pasts.iter().map(|past| past.head.unwrap_or(lineage::ROOT)).collect();
        parents.sort_unstable();
        parents.dedup();
        let generation = known.generation_after(&parents);
        if parents.len() > lineage::PARENTS_MAX {
            parents = alloc::vec![lineage::ROOT]; // Too many to keep.
        }
        let record = Record { group, coordinator: self.me, generation, members, parents };
        Some((Arc::new(record), pasts.into_iter().map(|past| past.lineage).collect()))
    }

    /// Tells observers of the new group, its members and its parents.
    fn announce_record(&mut self, record: &Record) {
        let recorded = GroupEvent::Recorded { group: record.group, record: record.digest() };
        let members = record.members.iter().map(|member| GroupEvent::Member(*member));
        let parents = record.parents.iter().map(|parent| GroupEvent::Parent(*parent));
        self.actions.extend([recorded].into_iter().chain(members).chain(parents).map(Action::Event));
    }

    /// A member of the new group tells where it comes from.
    fn on_member(&mut self, now: Time, from: NodeId, group: Option<GroupId>, past: Past) {
        let Phase::Gathering { formation, pending } = &mut self.phase else { return };
        let Some(at) = pending.iter().position(|peer| *peer == from && formation.group == group) else {
            return;
        };
        pending.remove(at);
        self.told(from, Said::default(), past);
        self.organise_if_all_told(now);
    }

    /// Notes where a peer comes from, unless it comes from nowhere or claims what cannot be.
    fn told(&mut self, peer: NodeId, said: Said, past: Past) {
        let past = if past.is_sound() { past } else { Past::default() };
        self.pasts.insert(peer, (said, past));
    }

    fn organise_if_all_told(&mut self, now: Time) {
        if let Phase::Gathering { formation, pending } = &self.phase
            && pending.is_empty()
        {
            let formation = formation.clone();
            self.organise(now, formation);
        }
    }

    /// Ready(i, j, gn, x)
    fn on_ready(&mut self, from: NodeId, group: Option<GroupId>, task: Task, lineage: &Lineage) {
        let call = task.made_by();
        if call.node != from || !lineage.is_sound() {
            return; // No coordinator says that.
        }
        if let Phase::Awaiting(formation) = &self.phase
            && formation.leader == from
            && formation.group == group
        {
            let formation = formation.clone();
            let record = group.and_then(|group| lineage.shared(group)).cloned();
            let record = record.filter(|_| self.memory == Memory::Groups);
            let work = Work { task, record, lineage: lineage.clone() };
            match self.telling {
                Telling::OnJoining => self.join_in(formation, &work),
                Telling::WhenFormed => self.phase = Phase::Holding { formation, work: Box::new(work) },
            }
        }
        let in_place = match &self.phase {
            Phase::InPlace(_) => self.task.as_ref().is_some_and(|task| task.made_by() == call),
            Phase::Holding { work, .. } => work.task.made_by() == call,
            _ => false,
        };
        self.actions.push(Action::Send(from, GroupMsg::ReadyReply { call, in_place }));
    }

    /// All have it.
    fn on_in_service(&mut self, from: NodeId, call: ElectionId) {
        if let Phase::Holding { formation, work } = &self.phase
            && formation.leader == from
            && work.task.made_by() == call
        {
            let (formation, work) = (formation.clone(), work.clone());
            self.join_in(formation, &work);
        }
    }

    /// A member takes d for itself.
    fn join_in(&mut self, formation: Formation, work: &Work) {
        let head = work.record.as_ref().map(|record| record.group);
        self.install(work.task.clone(), head, |kept| {
            kept.lineage.unite(&work.lineage);
            work.record.iter().for_each(|record| kept.lineage.add(Arc::clone(record)));
        });
        if let Some(record) = &work.record {
            let recorded = GroupEvent::Recorded { group: record.group, record: record.digest() };
            self.actions.push(Action::Event(recorded));
        }
        self.phase = Phase::InPlace(formation);
        self.actions.push(Action::Reorganized);
    }

    fn on_ready_reply(&mut self, from: NodeId, call: ElectionId, in_place: bool) {
        let Phase::Distributing { pending, .. } = &mut self.phase else { return };
        let Some(at) = pending.iter().position(|peer| *peer == from && call == self.latest) else { return };
        // As printed, an answer is an answer, whatever it says.
        if in_place || self.variant == Variant::Printed {
            pending.remove(at);
            self.finish_if_all_answered();
        } else if self.telling == Telling::OnJoining {
            self.fail(from);
        } // Else it is in another view, or dead, as the election will hear.
    }

    fn finish_if_all_answered(&mut self) {
        if let Phase::Distributing { formation, pending, work, .. } = &self.phase
            && pending.is_empty()
        {
            let (formation, work) = (formation.clone(), work.clone());
            if self.telling == Telling::WhenFormed {
                self.begin(&work);
                for member in &formation.members {
                    self.actions.push(Action::Send(*member, GroupMsg::InService { call: self.latest }));
                }
            }
            self.phase = Phase::InPlace(formation);
            self.pasts.clear();
            self.actions.push(Action::Reorganized);
        }
    }

    fn fail(&mut self, peer: NodeId) {
        self.phase = Phase::Apart;
        self.actions.push(Action::Failed(peer));
    }

    /// d := x, kept if it belongs to a group that is remembered. Others are not made to wait for the disk: whoever crashes before it
    /// has done its work has only forgotten a group in which it has voted for nothing, for a vote is kept together with its group.
    fn install(&mut self, task: Task, head: Option<GroupId>, remember: impl FnOnce(&mut Kept)) {
        if head.is_some() {
            let kept = Arc::make_mut(&mut self.kept);
            remember(kept);
            kept.head = head;
            kept.task = Some(task.clone());
            self.actions.push(Action::Note);
        }
        self.actions.push(Action::Event(GroupEvent::Installed(task.digest())));
        (self.task, self.away) = (Some(task), false);
    }

    /// Changes what is kept, and has it on disk before anything that follows is sent.
    fn amend(&mut self, change: impl FnOnce(&mut Kept)) {
        change(Arc::make_mut(&mut self.kept));
        self.actions.push(Action::Persist);
    }
}

#[cfg(test)]
mod tests;
