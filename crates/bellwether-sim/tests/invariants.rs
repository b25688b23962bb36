//! The invariants that the protocols' proofs rest on hold after every step of real runs.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bellwether_proto::canonical::Form;
use bellwether_proto::election::{Actions, AnyElection, AnyMsg, Election, Input, Protocol, Setup, Variant};
use bellwether_proto::opinion::Opinion;
use bellwether_proto::time::{Span, Time};
use bellwether_sim::check::Judge;
use bellwether_sim::journal::Journal;
use bellwether_sim::plan;
use bellwether_sim::run::facts;
use bellwether_sim::scenario::{ModelKind, Scenario};
use bellwether_sim::world::World;

const RUNS: u64 = 5;
const RAYNAL: [Protocol; 5] =
    [Protocol::Lfa, Protocol::Adft, Protocol::Mmrt, Protocol::Fjr, Protocol::Lockstep];

const GARCIA_MOLINA: [Protocol; 4] =
    [Protocol::Bully, Protocol::SoutoBully, Protocol::Invitation, Protocol::SoutoInvitation];

/// In every model, promised or not: invariants hold whatever the network does.
#[test]
fn every_step_keeps_the_invariants_in_every_model() {
    for protocol in RAYNAL {
        for variant in Variant::ALL {
            for kind in ModelKind::ALL {
                for seed in 1..=RUNS {
                    play::<Sound>(&plan::model::draw(protocol, variant, kind, seed));
                }
            }
        }
    }
}

#[test]
fn every_step_keeps_the_invariants_when_faults_rage() {
    for protocol in RAYNAL.into_iter().chain(GARCIA_MOLINA) {
        for variant in Variant::ALL {
            for seed in 1..=10 * RUNS {
                play::<Sound>(&plan::draw(protocol, variant, seed));
            }
        }
    }
}

/// A node that forgets everything in the middle of an incarnation, without knowing.
#[test]
fn a_node_that_forgets_is_noticed() {
    struct Amnesia;
    impl Bug for Amnesia {
        fn forgets(steps: u32) -> bool {
            steps.is_multiple_of(50)
        }
    }
    for protocol in RAYNAL {
        let scenario = plan::model::draw(protocol, Variant::Repaired, ModelKind::Gst, 1);
        let noticed = catch_unwind(AssertUnwindSafe(|| play::<Amnesia>(&scenario)));
        assert!(noticed.is_err(), "{}", protocol.name());
    }
}

fn play<B: Bug>(scenario: &Scenario) {
    let journal = Journal::new(Judge::new(facts(scenario), &[]), None);
    let mut world: World<'_, Audited<B>> = World::new(scenario, journal);
    world.run_until(scenario.until);
}

trait Bug {
    fn forgets(_steps: u32) -> bool {
        false
    }
}

struct Sound;

impl Bug for Sound {}

/// An algorithm that is held to its invariants after every step.
struct Audited<B> {
    election: AnyElection,
    at_birth: AnyElection,
    steps: Cell<u32>,
    bug: std::marker::PhantomData<B>,
}

impl<B> Clone for Audited<B> {
    fn clone(&self) -> Self {
        let Self { election, at_birth, steps, bug } = self;
        Self { election: election.clone(), at_birth: at_birth.clone(), steps: steps.clone(), bug: *bug }
    }
}

impl<B: Bug> Election for Audited<B> {
    type Msg = AnyMsg;

    fn new(setup: Setup, tau_fd: Span) -> Self {
        let election = AnyElection::new(setup, tau_fd);
        Self { at_birth: election.clone(), election, steps: Cell::new(0), bug: std::marker::PhantomData }
    }

    fn handle(&mut self, now: Time, input: Input<AnyMsg>, out: &mut Actions<AnyMsg>) {
        let before = self.election.clone();
        self.steps.set(self.steps.get() + 1);
        if B::forgets(self.steps.get()) {
            self.election = self.at_birth.clone();
        }
        self.election.handle(now, input, out);
        if let Some(broken) = self.election.breach(&before) {
            panic!("at {now}, does not hold: {broken}\nbefore: {before:#?}\nafter: {:#?}", self.election);
        }
    }

    fn deadline(&self) -> Time {
        self.election.deadline()
    }

    fn opinion(&self) -> Opinion {
        self.election.opinion()
    }

    fn canonical(&self, now: Time, form: &mut Form) {
        self.election.canonical(now, form);
    }
}
