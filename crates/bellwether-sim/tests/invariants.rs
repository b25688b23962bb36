//! The invariants that the protocols' proofs rest on hold after every step of real runs.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bellwether_proto::election::{Actions, AnyElection, AnyMsg, Election, Input, Protocol, Variant};
use bellwether_proto::time::Time;
use bellwether_sim::check::Judge;
use bellwether_sim::journal::Journal;
use bellwether_sim::plan;
use bellwether_sim::run::facts;
use bellwether_sim::scenario::{ModelKind, Scenario};

use crate::mutants::bug::{self, Bug, Mutant};

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
                    play(&AUDITED, &plan::model::draw(protocol, variant, kind, seed));
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
                play(&AUDITED, &plan::draw(protocol, variant, seed));
            }
        }
    }
}

/// A node that forgets everything in the middle of an incarnation, without knowing.
#[test]
fn a_node_that_forgets_is_noticed() {
    for protocol in RAYNAL {
        let scenario = plan::model::draw(protocol, Variant::Repaired, ModelKind::Gst, 1);
        let noticed = catch_unwind(AssertUnwindSafe(|| play(&FORGETFUL, &scenario)));
        assert!(noticed.is_err(), "{}", protocol.name());
    }
}

fn play(audited: &'static Audited, scenario: &Scenario) {
    let journal = Journal::new(Judge::new(facts(scenario), &[]), None);
    bug::world(audited, scenario, journal).run_until(scenario.until);
}

/// An algorithm that is held to its invariants after every step.
struct Audited {
    /// After how many steps it forgets everything, again and again.
    forgets_after: u32,
}

const AUDITED: Audited = Audited { forgets_after: u32::MAX };
const FORGETFUL: Audited = Audited { forgets_after: 50 };

impl Bug for Audited {
    fn handles(&self, node: &mut Mutant, now: Time, input: Input<AnyMsg>, out: &mut Actions<AnyMsg>) {
        let before = node.election.clone();
        if node.steps.is_multiple_of(self.forgets_after) {
            node.election = AnyElection::new(node.setup.clone(), node.tau_fd);
        }
        node.election.handle(now, input, out);
        if let Some(broken) = node.election.breach(&before) {
            panic!("at {now}, does not hold: {broken}\nbefore: {before:#?}\nafter: {:#?}", node.election);
        }
    }
}
