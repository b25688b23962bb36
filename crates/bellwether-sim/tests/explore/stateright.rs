//! A second opinion: the same relation between states, searched by stateright. It must find as many states, and come to the
//! same verdict after a path of the same length.

use bellwether_proto::election::bully_fd::BullyFd;
use bellwether_proto::election::lfa::Lfa;
use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::promise::Property;
use bellwether_sim::explore::{Bounds, Extent, Flow, State, Step, System, explore, flaws};
use stateright::{Checker, Model};

use super::bug::{Mutant, NoBug};
use super::planted::{BULLY_BOUNDS, Clinging, Impatient, LFA_BOUNDS};
use super::{Searchable, limits};

#[test]
fn stateright_agrees_on_bully_fd() {
    agree::<Mutant<BullyFd, NoBug>>(Protocol::BullyFd, BULLY_BOUNDS, Property::Sle1, true);
    agree::<Mutant<BullyFd, NoBug>>(Protocol::BullyFd, BULLY_BOUNDS, Property::Sle2, true);
    agree::<Mutant<BullyFd, Impatient>>(Protocol::BullyFd, BULLY_BOUNDS, Property::Sle1, false);
}

#[test]
fn stateright_agrees_on_lfa() {
    agree::<Mutant<Lfa, NoBug>>(Protocol::Lfa, LFA_BOUNDS, Property::Omega, true);
    agree::<Mutant<Lfa, Clinging>>(Protocol::Lfa, LFA_BOUNDS, Property::Omega, false);
}

fn agree<E: Searchable>(protocol: Protocol, bounds: Bounds, property: Property, sound: bool) {
    let system = || -> System<E> { System::new(protocol, Variant::Repaired, 3, bounds) };
    let ours = explore(&system(), &[property], limits(2), |_| Flow::GoOn);
    let theirs = Judged { system: system(), property }.checker().spawn_bfs().join();
    let shortest = theirs.discovery("sound").map(|path| path.into_actions().len());
    assert_eq!(ours.violations.first().map(|violation| violation.steps.len()), shortest, "{property}");
    assert_eq!(shortest.is_none(), sound, "{property}");
    if sound {
        assert_eq!(ours.extent, Extent::All);
        assert_eq!(ours.states, theirs.unique_state_count() as u64, "{property}");
    }
}

struct Judged<E: Searchable> {
    system: System<E>,
    property: Property,
}

/// A step, and where it leads: found together, so that nothing is done twice.
struct Taken<E: Searchable> {
    step: Step,
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
        vec![self.system.initial()]
    }

    fn actions(&self, state: &State<E>, actions: &mut Vec<Taken<E>>) {
        self.system.successors(state, |next| actions.push(Taken { step: next.step, state: next.state }));
    }

    fn next_state(&self, _: &State<E>, taken: Taken<E>) -> Option<State<E>> {
        Some(taken.state)
    }

    fn properties(&self) -> Vec<stateright::Property<Self>> {
        let sound =
            |model: &Self, state: &State<E>| flaws(&model.system, &[model.property], state).is_empty();
        vec![stateright::Property::always("sound", sound)]
    }
}
