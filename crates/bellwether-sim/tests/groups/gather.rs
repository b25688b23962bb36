//! An election that does little but form groups, again and again: whoever leads one calls the others together every so often, and
//! who is called by somebody better than its leader, or by its leader, comes. What it forms is reorganized.

use bellwether_proto::canonical::Form;
use bellwether_proto::election::{Action, Actions, Election, Input, Protocol, Setup};
use bellwether_proto::group::Formation;
use bellwether_proto::ident::{ElectionId, GroupId, NodeId};
use bellwether_proto::message::{Kind, Message};
use bellwether_proto::opinion::{Opinion, Status};
use bellwether_proto::time::{Span, Time};

#[derive(Clone, Debug)]
pub(crate) struct Gather {
    setup: Setup,
    /// The number of the last group that this node called.
    latest: ElectionId,
    group: GroupId,
    leader: NodeId,
    phase: Phase,
    came: Vec<NodeId>,
    deadline: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Calling,
    Forming,
    Normal,
}

#[derive(Clone, Debug)]
pub(crate) enum Msg {
    Call(GroupId),
    Come(GroupId),
}

impl Message for Msg {
    fn kind(&self) -> Kind {
        match self {
            Self::Call(_) => Kind::protocol("Call"),
            Self::Come(_) => Kind::protocol("Come"),
        }
    }

    fn canonical(&self, form: &mut Form) {
        let (Self::Call(group) | Self::Come(group)) = self;
        form.number(u64::from(self.kind().id()));
        form.election(group.0);
    }
}

impl Gather {
    fn me(&self) -> NodeId {
        self.setup.roster.me()
    }

    fn tau(&self) -> Span {
        self.setup.timing.tau
    }

    fn next_group(&mut self) -> GroupId {
        self.latest.seq += 1;
        GroupId(self.latest)
    }

    fn form(&mut self, group: GroupId, leader: NodeId, out: &mut Actions<Msg>) {
        (self.group, self.leader, self.phase) = (group, leader, Phase::Forming);
        let members = std::mem::take(&mut self.came);
        out.push(Action::Form(Formation { group: Some(group), leader, members }));
    }

    fn be_alone(&mut self, now: Time, out: &mut Actions<Msg>) {
        out.push(Action::Disband);
        self.came.clear();
        let group = self.next_group();
        self.deadline = now + self.tau() * 20;
        self.form(group, self.me(), out);
    }

    fn call(&mut self, now: Time, out: &mut Actions<Msg>) {
        out.push(Action::Disband);
        self.phase = Phase::Calling;
        let group = self.next_group();
        let others = self.setup.roster.members().iter().filter(|id| **id != self.me());
        out.send_each(&others.copied().collect::<Vec<_>>(), &Msg::Call(group));
        self.deadline = now + self.setup.timing.delta * 2;
    }

    fn on_call(&mut self, now: Time, from: NodeId, group: GroupId, out: &mut Actions<Msg>) {
        let better = self.leader == from || self.setup.roster.stronger(from, self.leader);
        if self.phase == Phase::Normal && (better || self.leader == self.me()) {
            out.push(Action::Disband);
            self.came.clear();
            self.form(group, from, out);
            self.deadline = now + self.tau() * 6;
            out.push(Action::Join { to: from, msg: Msg::Come(group) });
        }
    }
}

impl Election for Gather {
    type Msg = Msg;

    fn new(setup: Setup, _: Span) -> Self {
        let latest = ElectionId { node: setup.roster.me(), incarnation: setup.incarnation, seq: 0 };
        let (group, leader, phase) = (GroupId(latest), setup.roster.me(), Phase::Calling);
        Self { setup, latest, group, leader, phase, came: Vec::new(), deadline: Time::NEVER }
    }

    fn reorganizes(_: Protocol) -> bool {
        true
    }

    fn handle(&mut self, now: Time, input: Input<Msg>, out: &mut Actions<Msg>) {
        match input {
            Input::Recovery | Input::ReorganizationFailed(_) => self.be_alone(now, out),
            Input::Reorganized => {
                self.phase = Phase::Normal;
                let patience =
                    if self.leader == self.me() { 4 + self.setup.roster.my_rank() as u64 } else { 14 };
                self.deadline = now + self.tau() * patience;
            }
            Input::Message { from, msg: Msg::Call(group) } => self.on_call(now, from, group, out),
            Input::Message { from, msg: Msg::Come(GroupId(group)) }
                if self.phase == Phase::Calling && group == self.latest && !self.came.contains(&from) =>
            {
                self.came.push(from);
            }
            Input::Deadline if self.deadline <= now => match self.phase {
                Phase::Normal if self.leader == self.me() => self.call(now, out),
                Phase::Calling => {
                    let me = self.me();
                    self.deadline = now + self.tau() * 20;
                    self.form(GroupId(self.latest), me, out);
                }
                Phase::Normal | Phase::Forming => self.be_alone(now, out),
            },
            _ => {}
        }
    }

    fn deadline(&self) -> Time {
        self.deadline
    }

    fn opinion(&self) -> Opinion {
        let (status, leader) = match self.phase {
            Phase::Calling => (Status::Election, None),
            Phase::Forming => (Status::Reorganizing, Some(self.leader)),
            Phase::Normal => (Status::Normal, Some(self.leader)),
        };
        Opinion { status, leader, group: leader.map(|_| self.group) }
    }

    fn canonical(&self, now: Time, form: &mut Form) {
        form.deadline(now, self.deadline);
    }
}
