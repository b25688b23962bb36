//! The relation between states, as stateright wants it.

use bellwether_proto::election::Election;
use bellwether_proto::promise::Property;
use bellwether_sim::explore::{State, System, Transition, flaws};
use stateright::Model;

/// Shorter than writing it everywhere.
pub(crate) trait Searchable: Election<Msg: Send + Sync> + Send + Sync + 'static {}

impl<E: Election<Msg: Send + Sync> + Send + Sync + 'static> Searchable for E {}

/// A system as stateright sees it.
pub(crate) struct Judged<E: Searchable> {
    pub(crate) system: System<E>,
    pub(crate) judged: Vec<Property>,
    /// To be done in a thread before any node starts in it.
    pub(crate) prepare: Box<dyn Fn() + Send + Sync>,
}

impl<E: Searchable> Judged<E> {
    fn system(&self) -> &System<E> {
        (self.prepare)();
        &self.system
    }
}

/// A step, and where it leads: found together, so that nothing is done twice.
pub(crate) struct Taken<E: Searchable> {
    step: Transition,
    state: State<E>,
}

impl<E: Searchable> Clone for Taken<E> {
    fn clone(&self) -> Self {
        Self { step: self.step, state: self.state.clone() }
    }
}

impl<E: Searchable> PartialEq for Taken<E> {
    fn eq(&self, other: &Self) -> bool {
        self.step == other.step
    }
}

impl<E: Searchable> Model for Judged<E> {
    type State = State<E>;
    type Action = Taken<E>;

    fn init_states(&self) -> Vec<State<E>> {
        vec![self.system().initial()]
    }

    fn actions(&self, state: &State<E>, actions: &mut Vec<Taken<E>>) {
        self.system().successors(state, |next| actions.push(Taken { step: next.step, state: next.state }));
    }

    fn next_state(&self, _: &State<E>, taken: Taken<E>) -> Option<State<E>> {
        Some(taken.state)
    }

    fn properties(&self) -> Vec<stateright::Property<Self>> {
        let sound = |model: &Self, state: &State<E>| flaws(model.system(), &model.judged, state).is_empty();
        vec![stateright::Property::always("sound", sound)]
    }
}
