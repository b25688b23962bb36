//! One node of Stoller's algorithms, driven by hand.

use alloc::vec::Vec;

use super::Msg;
use crate::cause::Cause;
use crate::election::raynal::rig::decide;
use crate::election::{Action, Actions, Choices, Election, Input, Protocol, Setup, Timing, Variant};
use crate::ident::{ElectionId, Incarnation, NodeId};
use crate::opinion::Status;
use crate::roster::{Priority, Roster};
use crate::time::{Span, Time};

pub(in crate::election) const DELTA: Span = Span::millis(10);
pub(in crate::election) const TAU: Span = Span::millis(100);

pub(in crate::election) struct Rig<E> {
    pub(in crate::election) election: E,
    pub(in crate::election) now: Time,
    /// What the last input led to.
    pub(in crate::election) did: Vec<Action<Msg>>,
    /// Why it gave the last leader up.
    pub(in crate::election) why: Option<Cause>,
}

impl<E: Election<Msg = Msg>> Rig<E> {
    pub(in crate::election) fn new(me: u32, size: u32, priority: Priority, variant: Variant) -> Self {
        let setup = Setup {
            protocol: Protocol::AsyncBully, // Neither algorithm looks at it.
            variant,
            roster: Roster::new(id(me), (1..=size).map(id), priority),
            incarnation: Incarnation(2),
            count: 0,
            t: 0,
            timing: Timing { delta: DELTA, tau: TAU, step: Span::millis(10) },
            choices: Choices::default(),
        };
        Self { election: E::new(setup, DELTA * 2), now: Time::ZERO, did: Vec::new(), why: None }
    }

    pub(in crate::election) fn up(me: u32, size: u32) -> Self {
        let mut rig = Self::new(me, size, Priority::LowestId, Variant::Repaired);
        rig.input(Input::Recovery);
        rig
    }

    pub(in crate::election) fn message(&mut self, from: u32, msg: Msg) {
        self.input(Input::Message { from: id(from), msg });
    }

    pub(in crate::election) fn down(&mut self, node: u32) {
        self.input(Input::DownSig(id(node)));
    }

    pub(in crate::election) fn deadline(&mut self, after: Span) {
        self.now = self.now + after;
        self.input(Input::Deadline);
    }

    pub(in crate::election) fn input(&mut self, input: Input<Msg>) {
        let mut out = Actions::new();
        self.why = decide(&mut self.election, self.now, input, &mut out).or(self.why);
        self.did = out.drain().collect();
    }

    pub(in crate::election) fn status(&self) -> Status {
        self.election.opinion().status
    }

    pub(in crate::election) fn leader(&self) -> Option<u32> {
        self.election.opinion().normal_leader().map(|leader| leader.0)
    }
}

pub(in crate::election) fn id(id: u32) -> NodeId {
    NodeId(id)
}

pub(in crate::election) fn t(node: u32, seq: u64) -> ElectionId {
    ElectionId { node: id(node), incarnation: Incarnation(2), seq }
}

pub(in crate::election) fn old_incarnation(node: u32) -> ElectionId {
    ElectionId { incarnation: Incarnation(1), ..t(node, 1) }
}

pub(in crate::election) fn send(to: u32, msg: Msg) -> Action<Msg> {
    Action::Send { to: id(to), msg }
}
