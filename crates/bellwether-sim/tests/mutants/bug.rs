//! Algorithms that are broken on purpose.

use bellwether_proto::canonical::Form;
use bellwether_proto::election::stoller::Msg;
use bellwether_proto::election::{Actions, Election, Input, Setup};
use bellwether_proto::ident::NodeId;
use bellwether_proto::opinion::{Opinion, Status};
use bellwether_proto::roster::Roster;
use bellwether_proto::time::{Span, Time};

/// What a broken node does differently.
pub(crate) trait Bug<M = Msg> {
    fn lets_in(_: &Roster, _: &Input<M>) -> bool {
        true
    }

    /// What it takes an input for.
    fn hears(_: &Roster, input: Input<M>) -> Input<M> {
        input
    }

    /// In answer to what it does not let in.
    fn says_instead(_: &Input<M>) -> Option<(NodeId, M)> {
        None
    }

    fn after_recovery(_: &Roster) -> Vec<Input<M>> {
        Vec::new()
    }

    fn shows(_: NodeId, opinion: Opinion) -> Opinion {
        opinion
    }
}

pub(crate) struct NoBug;
impl<M> Bug<M> for NoBug {}

pub(crate) struct Mutant<E, B> {
    inner: E,
    roster: Roster,
    bug: std::marker::PhantomData<B>,
}

impl<E: Clone, B> Clone for Mutant<E, B> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), roster: self.roster.clone(), bug: self.bug }
    }
}

impl<E: Election, B: Bug<E::Msg>> Election for Mutant<E, B> {
    type Msg = E::Msg;

    fn new(setup: Setup, tau_fd: Span) -> Self {
        let roster = setup.roster.clone();
        Self { inner: E::new(setup, tau_fd), roster, bug: std::marker::PhantomData }
    }

    fn handle(&mut self, now: Time, input: Input<E::Msg>, out: &mut Actions<E::Msg>) {
        if !B::lets_in(&self.roster, &input) {
            B::says_instead(&input).into_iter().for_each(|(to, msg)| out.send(to, msg));
            return;
        }
        let recovery = matches!(input, Input::Recovery);
        self.inner.handle(now, B::hears(&self.roster, input), out);
        if recovery {
            B::after_recovery(&self.roster).into_iter().for_each(|input| self.inner.handle(now, input, out));
        }
    }

    fn deadline(&self) -> Time {
        self.inner.deadline()
    }

    fn opinion(&self) -> Opinion {
        let opinion = self.inner.opinion();
        if opinion.status == Status::Normal { B::shows(self.roster.me(), opinion) } else { opinion }
    }

    fn canonical(&self, now: Time, form: &mut Form) {
        self.inner.canonical(now, form);
    }
}
