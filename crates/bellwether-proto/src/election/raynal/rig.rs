//! One node of Raynal's protocols, or of others with timers of their own, driven by hand.

use alloc::vec::Vec;

use crate::cause::Cause;
use crate::election::{self, Action, Actions, Choices, Election, Input, Protocol, Setup, Timing, Variant};
use crate::ident::{Incarnation, NodeId};
use crate::roster::{Priority, Roster};
use crate::time::{Span, Time};

pub(in crate::election) const DELTA: Span = Span::millis(10);
pub(in crate::election) const TAU: Span = Span::millis(100);
pub(in crate::election) const STEP: Span = Span::millis(7);
/// The first timeout of the repaired variants.
pub(in crate::election) const PATIENCE: Span = Span::millis(120);

#[derive(Clone)]
pub(in crate::election) struct Rig<E: Election> {
    pub(in crate::election) election: E,
    pub(in crate::election) now: Time,
    /// What the last input led to.
    pub(in crate::election) did: Vec<Action<E::Msg>>,
    /// Why it gave the last leader up.
    pub(in crate::election) why: Option<Cause>,
}

impl<E: Election> Rig<E> {
    /// Node `me` of `size`, of which one may crash, coming up with `count` on its disk.
    pub(in crate::election) fn new(me: u32, size: u32, variant: Variant, count: u64) -> Self {
        Self::in_order_of(Priority::LowestId, me, size, variant, count)
    }

    pub(in crate::election) fn in_order_of(
        priority: Priority,
        me: u32,
        size: u32,
        variant: Variant,
        count: u64,
    ) -> Self {
        let setup = Setup {
            protocol: Protocol::Fjr, // No algorithm looks at it.
            variant,
            roster: Roster::new(id(me), (1..=size).map(id), priority),
            incarnation: Incarnation(2),
            count,
            t: 1,
            timing: Timing { delta: DELTA, tau: TAU, step: STEP },
            choices: Choices::default(),
        };
        let mut rig =
            Self { election: E::new(setup, Span::ZERO), now: Time::ZERO, did: Vec::new(), why: None };
        rig.input(Input::Recovery);
        rig
    }

    pub(in crate::election) fn printed(me: u32, size: u32) -> Self {
        Self::new(me, size, Variant::Printed, 0)
    }

    /// Up, and past the time in which it listens.
    pub(in crate::election) fn repaired(me: u32, size: u32) -> Self {
        let mut rig = Self::new(me, size, Variant::Repaired, 0);
        rig.advance(PATIENCE);
        rig
    }

    pub(in crate::election) fn message(&mut self, from: u32, msg: E::Msg) {
        self.input(Input::Message { from: id(from), msg });
    }

    /// Takes an input, and holds the step to the algorithm's invariants.
    pub(in crate::election) fn input(&mut self, input: Input<E::Msg>) {
        let before = self.election.clone();
        let mut out = Actions::new();
        let why = decide(&mut self.election, self.now, input, &mut out);
        self.why = why.or(self.why);
        assert_eq!(self.election.breach(&before), None);
        self.did = out.drain().collect();
    }

    /// Hears the same from a crowd; the invariants are looked at once, since there is much to look at.
    pub(in crate::election) fn crowd(&mut self, from: impl Iterator<Item = u32>, msg: &E::Msg) {
        let before = self.election.clone();
        let mut out = Actions::new();
        for from in from {
            self.election.handle(self.now, Input::Message { from: id(from), msg: msg.clone() }, &mut out);
        }
        assert_eq!(self.election.breach(&before), None);
        self.did = out.drain().collect();
    }

    /// Sleeps through the deadlines until `span` has passed; what was done at the last of them is kept.
    pub(in crate::election) fn advance(&mut self, span: Span) {
        let until = self.now + span;
        while self.election.deadline() <= until {
            self.now = self.now.max(self.election.deadline());
            self.input(Input::Deadline);
        }
        self.now = until;
    }

    pub(in crate::election) fn leader(&self) -> Option<u32> {
        self.election.opinion().normal_leader().map(|leader| leader.0)
    }

    /// The messages among what was done, with their receivers; everybody is 0.
    pub(in crate::election) fn sent(&self) -> Vec<(u32, E::Msg)> {
        let sent = self.did.iter().filter_map(|action| match action {
            Action::Send { to, msg } | Action::Join { to, msg } => Some((to.0, msg.clone())),
            Action::Broadcast(msg) => Some((0, msg.clone())),
            _ => None,
        });
        sent.collect()
    }

    /// The counts that were to be persisted.
    pub(in crate::election) fn kept(&self) -> Vec<u64> {
        let kept = self.did.iter().filter_map(|action| match action {
            Action::Note { count } => Some(*count),
            _ => None,
        });
        kept.collect()
    }
}

/// Gives it an input. Answers why it gave its leader up, if it did.
pub(in crate::election) fn decide<E: Election>(
    election: &mut E,
    now: Time,
    input: Input<E::Msg>,
    out: &mut Actions<E::Msg>,
) -> Option<Cause> {
    let named = election.opinion().normal_leader();
    let why = election::decide(election, now, input, (named, None), out);
    (named.is_some() && named != election.opinion().normal_leader()).then_some(why)
}

pub(in crate::election) fn id(id: u32) -> NodeId {
    NodeId(id)
}
