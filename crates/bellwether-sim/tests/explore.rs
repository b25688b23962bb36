//! Exhaustive search: what it covers, what it finds, and that an independent checker agrees.

mod agents;
mod model;
mod planted;
#[path = "explore/stateright.rs"]
mod second_opinion;

use std::num::NonZeroUsize;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::election::{AnyElection, Primary, Protocol, Variant};
use bellwether_proto::promise::Property;
use bellwether_sim::explore::{
    Bounds, Extent, Flow, INSTANTS_MAX, Limits, Outcome, Reductions, Scratch, System, Transition, UNBOUNDED,
    explore, promised, story,
};

const ONE_FAULT_EACH: Bounds = Bounds {
    crashes: 1,
    recoveries: 1,
    losses: 1,
    duplicates: 0,
    lies: 0,
    expiries: 3,
    waits: 0,
    commands: 0,
    early: UNBOUNDED,
    in_flight: 2,
};

/// Small enough for every test run; the larger bounds are searched by `make soak`.
#[test]
fn every_algorithm_keeps_its_promises_within_small_bounds() {
    let nothing_lost = Bounds { losses: 0, ..ONE_FAULT_EACH };
    let crash_only = Bounds { recoveries: 0, losses: 0, expiries: 2, ..ONE_FAULT_EACH };
    let searches = [
        // It assumes channels that lose nothing.
        (Protocol::BullyFd, 3, nothing_lost),
        (Protocol::Lfa, 3, ONE_FAULT_EACH),
        (Protocol::AsyncBully, 2, Bounds { lies: 1, ..ONE_FAULT_EACH }),
        (Protocol::AsyncBully, 3, crash_only),
        (Protocol::Fjr, 2, Bounds { expiries: 4, ..ONE_FAULT_EACH }),
        (Protocol::Fjr, 3, Bounds { crashes: 0, ..crash_only }),
        (Protocol::Adft, 3, crash_only),
        (Protocol::Mmrt, 2, Bounds { crashes: 0, expiries: 3, ..crash_only }),
        (Protocol::Invitation, 3, Bounds { expiries: 2, in_flight: 1, ..ONE_FAULT_EACH }),
        (Protocol::Invitation, 2, Bounds { expiries: 2, ..ONE_FAULT_EACH }),
        (Protocol::SoutoInvitation, 3, Bounds { expiries: 2, in_flight: 1, ..ONE_FAULT_EACH }),
        (Protocol::SoutoInvitation, 2, ONE_FAULT_EACH),
    ];
    for (protocol, nodes, bounds) in searches {
        let judged = promised(protocol, Variant::Repaired, nodes, bounds);
        assert!(!judged.is_empty(), "{}: there is something to judge", protocol.name());
        let outcome = search(protocol, Variant::Repaired, nodes, bounds, &judged);
        let (name, violations) = (protocol.name(), &outcome.violations);
        assert!(violations.is_empty(), "{name} with {nodes} nodes, {bounds}: {violations:#?}");
        assert_eq!(outcome.extent, Extent::All, "{name}");
        assert!(outcome.states > 20, "{name}: {} states", outcome.states);
    }
}

/// Time passes for all nodes alike, and messages arrive within δ, in any order.
#[test]
fn algorithms_for_synchronous_networks_keep_their_promises_within_small_bounds() {
    let nothing_lost = Bounds { losses: 0, expiries: 6, ..ONE_FAULT_EACH };
    let searches = [
        (Protocol::Bully, 2, Bounds { crashes: 2, recoveries: 2, waits: 1, expiries: 12, ..nothing_lost }),
        (Protocol::Bully, 3, Bounds { crashes: 1, recoveries: 0, ..nothing_lost }),
        (Protocol::SoutoBully, 2, Bounds { waits: 1, in_flight: 3, ..nothing_lost }),
        (Protocol::SoutoBully, 3, Bounds { crashes: 1, recoveries: 0, expiries: 3, ..nothing_lost }),
    ];
    for (protocol, nodes, bounds) in searches {
        let judged = promised(protocol, Variant::Repaired, nodes, bounds);
        assert_eq!(judged, [Property::A1, Property::A2], "{}", protocol.name());
        let outcome = search(protocol, Variant::Repaired, nodes, bounds, &judged);
        let (name, violations) = (protocol.name(), &outcome.violations);
        assert!(violations.is_empty(), "{name} with {nodes} nodes, {bounds}: {violations:#?}");
        assert_eq!(outcome.extent, Extent::All, "{name}");
        assert!(outcome.states > 500, "{name}: {} states", outcome.states);
    }
}

/// A node crashes and another's link fails; a link fails, or a node crashes, and patience ends; one of two crashes and comes
/// back. All the links that should be up come up again, in any order.
#[test]
fn algorithms_over_links_with_a_history_keep_their_promises_within_small_bounds() {
    let links = Bounds { crashes: 0, recoveries: 0, losses: 0, expiries: 0, in_flight: 8, ..ONE_FAULT_EACH };
    let crash_and_failure = Bounds { crashes: 1, lies: 1, ..links };
    let crash = Bounds { crashes: 1, expiries: 3, ..links };
    let failure = Bounds { lies: 1, expiries: 3, ..links };
    let restart = Bounds { crashes: 1, recoveries: 1, expiries: 1, ..links };
    let searches = [
        (Protocol::Phi, 3, crash_and_failure, 1_000),
        (Protocol::Psi, 3, crash_and_failure, 1_000),
        (Protocol::FbOmega, 3, crash_and_failure, 100_000),
        (Protocol::FbOmega, 3, crash, 1_000),
        (Protocol::FbOmega, 3, failure, 300),
        (Protocol::FbOmega, 2, restart, 5_000),
    ];
    for (protocol, nodes, bounds, least) in searches {
        for primary in Primary::ALL {
            let judged = promised(protocol, Variant::Repaired, nodes, bounds);
            assert!(judged.contains(&Property::ViewAgree) && judged.contains(&Property::OneViewOrDead));
            let system: System<AnyElection> =
                System::new(protocol, Variant::Repaired, nodes, bounds).with_primary(primary);
            let outcome = explore(&system, &judged, limits(2), |_| Flow::GoOn);
            let what = format!("{}, {nodes} nodes, {}, {bounds}", protocol.name(), primary.name());
            let violations = &outcome.violations;
            assert!(violations.is_empty(), "{what}: {violations:#?}");
            assert_eq!((outcome.extent, outcome.undecided), (Extent::All, 0), "{what}");
            assert!(outcome.states > least, "{what}: {} states", outcome.states);
        }
    }
}

/// E-FB4: whoever sees a failure is outranked by nobody, and has sent everything that it has to send, leads at once.
#[test]
fn fb_omega_as_printed_leads_when_one_link_fails() {
    let bounds = Bounds { crashes: 0, recoveries: 0, losses: 0, lies: 1, expiries: 0, ..ONE_FAULT_EACH };
    let bounds = Bounds { in_flight: 8, ..bounds };
    let steps = breaks(Protocol::FbOmega, 3, bounds, Property::Sle1);
    assert_eq!(steps, [Transition::Lie { to: 1, about: 0, cut: 0 }]);
    let system: System<AnyElection> = System::new(Protocol::FbOmega, Variant::Printed, 3, bounds);
    let told = story(&system, &steps);
    assert_eq!(
        told.lines,
        ["2's link to 1 fails: 2's link to 1 is down, LinkBeat to 1, 2 leads, cand_down to 3"]
    );
}

/// E-ST5: the answer that an organiser waits for died with a node that came back before anybody noticed.
#[test]
fn bully_fd_as_printed_waits_for_an_answer_that_died() {
    let bounds = Bounds { losses: 0, ..ONE_FAULT_EACH };
    let steps = breaks(Protocol::BullyFd, 2, bounds, Property::Sle2);
    assert!(steps.iter().any(|step| matches!(step, Transition::Recover { .. })), "{steps:?}");
    assert_eq!(steps.len(), 3);
}

/// E-ST6 (a): nobody sends a lost Halt again.
#[test]
fn async_bully_as_printed_waits_for_a_halt_that_was_lost() {
    let bounds = Bounds { crashes: 0, recoveries: 0, ..ONE_FAULT_EACH };
    let steps = breaks(Protocol::AsyncBully, 2, bounds, Property::Ale2Prime);
    assert!(matches!(steps[..], [Transition::Lose { .. }]), "{steps:?}");
}

/// E-ST6 (b): an organiser that was told wrongly that a node is dead finishes without it, and the node waits for ever.
#[test]
fn async_bully_as_printed_forgets_a_node_that_was_reported_wrongly() {
    let bounds = Bounds { crashes: 0, recoveries: 0, losses: 0, lies: 1, ..ONE_FAULT_EACH };
    let steps = breaks(Protocol::AsyncBully, 2, bounds, Property::Ale2Prime);
    assert!(matches!(steps[..], [Transition::Lie { .. }]), "{steps:?}");
}

/// E-RA6: a node that comes back without its counts is ignored by the others, and leads beside them.
#[test]
fn fjr_as_printed_has_two_leaders_after_a_restart() {
    let bounds = Bounds { losses: 0, ..ONE_FAULT_EACH };
    let steps = breaks(Protocol::Fjr, 2, bounds, Property::Omega);
    assert!(steps.iter().any(|step| matches!(step, Transition::Recover { .. })), "{steps:?}");
}

#[test]
fn the_outcome_does_not_depend_on_the_number_of_threads() {
    let bounds = Bounds { crashes: 1, recoveries: 0, losses: 1, expiries: 3, ..ONE_FAULT_EACH };
    for variant in Variant::ALL {
        let [one, two] = [1, 2].map(|threads| {
            let system: System<AnyElection> = System::new(Protocol::AsyncBully, variant, 2, bounds);
            explore(&system, &[Property::Ale1, Property::Ale2Prime], limits(threads), |_| Flow::GoOn)
        });
        assert_eq!(format!("{one:?}"), format!("{two:?}"));
        assert_eq!(one.violations.is_empty(), variant == Variant::Repaired);
    }
}

/// Of states that are taken for one, only one is gone on from: whatever can follow any of them must follow it as well.
#[test]
fn what_counts_as_one_state_has_one_future() {
    let two = Bounds { expiries: 3, ..ONE_FAULT_EACH };
    let searches = [
        (Protocol::BullyFd, 3, Bounds { losses: 0, expiries: 2, ..ONE_FAULT_EACH }),
        (Protocol::AsyncBully, 2, Bounds { lies: 1, ..two }),
        (Protocol::Lfa, 2, Bounds { crashes: 2, recoveries: 2, ..two }),
        (Protocol::Fjr, 2, two),
        (Protocol::Adft, 2, Bounds { losses: 0, ..two }),
        (Protocol::Mmrt, 2, Bounds { losses: 0, expiries: 2, ..two }),
        (Protocol::Bully, 2, Bounds { losses: 0, waits: 1, ..two }),
        (Protocol::SoutoBully, 2, Bounds { losses: 0, ..two }),
        (Protocol::Invitation, 2, Bounds { losses: 0, expiries: 2, in_flight: 1, ..two }),
        (Protocol::SoutoInvitation, 2, Bounds { losses: 0, expiries: 2, ..two }),
        (Protocol::Phi, 3, Bounds { recoveries: 0, losses: 0, lies: 1, expiries: 0, in_flight: 8, ..two }),
        (Protocol::FbOmega, 2, Bounds { losses: 0, expiries: 0, in_flight: 8, ..two }),
        (Protocol::FbOmega, 3, Bounds { crashes: 0, recoveries: 0, losses: 0, lies: 1, in_flight: 8, ..two }),
    ];
    for (protocol, nodes, bounds) in searches {
        let states = states_with_one_future(&System::new(protocol, Variant::Repaired, nodes, bounds));
        assert!(states > 100, "{}: {states} states", protocol.name());
    }
}

/// How many states there are.
fn states_with_one_future(system: &System<AnyElection>) -> usize {
    let (mut futures, mut scratch) = (BTreeMap::<u64, BTreeSet<u64>>::new(), Scratch::default());
    let mut todo = vec![system.initial()];
    while let Some(state) = todo.pop() {
        let print = state.fingerprint(&mut scratch);
        let mut successors = Vec::new();
        system.successors(&state, |successor| successors.push(successor.state));
        let next = successors.iter().map(|state| state.fingerprint(&mut scratch)).collect();
        match futures.entry(print) {
            Entry::Occupied(known) => assert_eq!(*known.get(), next, "{state:?}"),
            Entry::Vacant(new) => {
                new.insert(next);
                todo.append(&mut successors);
            }
        }
    }
    futures.len()
}

/// Messages to the dead: with and without them the verdict is the same. If nobody dies, so are the states; otherwise there
/// are fewer, because some differ in nothing but what lies before the door of a dead node.
#[test]
fn leaving_out_what_makes_no_difference_makes_none() {
    for variant in Variant::ALL {
        for (crashes, losses) in [(0, 1), (1, 0), (1, 1)] {
            let bounds = Bounds { crashes, losses, recoveries: 0, expiries: 3, ..ONE_FAULT_EACH };
            let judged = [Property::Ale1, Property::Ale2Prime];
            let [with, without] = [Reductions::ALL, Reductions::NONE].map(|reductions| {
                let system: System<AnyElection> =
                    System::new(Protocol::AsyncBully, variant, 2, bounds).reduced_by(reductions);
                explore(&system, &judged, limits(2), |_| Flow::GoOn)
            });
            let broken = |outcome: &Outcome| -> Vec<_> {
                outcome.violations.iter().map(|violation| violation.broken).collect()
            };
            assert_eq!(broken(&with), broken(&without));
            if crashes == 0 {
                assert_eq!(with.states, without.states, "nobody is dead");
            } else if with.extent == Extent::All {
                assert!(with.states < without.states, "{} and {}", with.states, without.states);
            }
        }
    }
}

#[test]
fn a_search_that_was_cut_short_does_not_claim_to_be_complete() {
    let system: System<AnyElection> = System::new(Protocol::Lfa, Variant::Repaired, 3, ONE_FAULT_EACH);
    let few = Limits { states_max: 50, ..limits(2) };
    let outcome = explore(&system, &[], few, |_| Flow::GoOn);
    assert_eq!((outcome.extent, outcome.states), (Extent::StatesMax, 50));
    assert_eq!(explore(&system, &[], limits(2), |_| Flow::Stop).extent, Extent::Stopped);
}

/// To the state, with any number of threads; and a limit that is not reached is none.
#[test]
fn a_limit_of_states_is_kept_exactly() {
    let system: System<AnyElection> = System::new(Protocol::Lfa, Variant::Repaired, 2, ONE_FAULT_EACH);
    let count = |states_max, threads| {
        let outcome = explore(&system, &[], Limits { states_max, ..limits(threads) }, |_| Flow::GoOn);
        (outcome.states, outcome.extent, outcome.transitions, outcome.depth)
    };
    let all = count(u64::MAX, 1);
    assert_eq!(count(all.0, 2), all);
    assert_eq!(count(all.0 + 1, 2), all);
    for few in [1, 2, all.0 / 2, all.0 - 1] {
        let (states, extent, ..) = count(few, 1);
        assert_eq!((states, extent), (few, Extent::StatesMax));
        assert_eq!(count(few, 3), count(few, 1));
    }
}

/// All that count as looked at have been judged: the first violation is found with as many states as lead to it.
#[test]
fn what_is_within_the_limit_of_states_is_judged() {
    let system: System<AnyElection> = System::new(Protocol::BullyFd, Variant::Printed, 2, ONE_FAULT_EACH);
    let found = |states_max| {
        let limits = Limits { states_max, ..limits(2) };
        explore(&system, &[Property::Sle2], limits, |_| Flow::GoOn)
    };
    let all = found(u64::MAX);
    assert_eq!((all.extent, all.violations.len()), (Extent::UpToViolation, 1));
    let enough = (1..=all.states).find(|states| !found(*states).violations.is_empty());
    let least = found(enough.expect("it is there"));
    assert_eq!(least.violations[0].steps, all.violations[0].steps);
    assert!(least.states < all.states, "those as far away as the violation need not all be there");
}

/// A future that is not followed to its end shows neither that it settles nor that it does not.
#[test]
fn what_is_not_seen_to_settle_is_undecided() {
    let system: System<AnyElection> = System::new(Protocol::Lfa, Variant::Repaired, 2, ONE_FAULT_EACH);
    let judged = [Property::Omega];
    let followed = explore(&system, &judged, limits(2), |_| Flow::GoOn);
    assert_eq!((followed.undecided, followed.violations.len()), (0, 0));
    let hasty = Limits { instants_max: 0, ..limits(2) };
    let outcome = explore(&system, &judged, hasty, |_| Flow::GoOn);
    assert_eq!((outcome.violations.len(), outcome.states), (0, followed.states));
    assert_eq!(outcome.undecided, outcome.states);
}

#[test]
fn bounds_that_kept_something_from_happening_are_counted() {
    let outcome = search(Protocol::Lfa, Variant::Repaired, 2, Bounds { expiries: 3, ..ONE_FAULT_EACH }, &[]);
    assert!(outcome.reached.expiries > 0);
    let narrow = Bounds { expiries: 3, in_flight: 1, ..ONE_FAULT_EACH };
    let outcome = search(Protocol::Lfa, Variant::Repaired, 2, narrow, &[]);
    assert!(outcome.reached.in_flight > 0);
}

/// More may happen, and everything that could happen before still can.
#[test]
fn wider_bounds_have_more_states() {
    let tight = Bounds { recoveries: 0, losses: 0, expiries: 2, in_flight: 1, ..ONE_FAULT_EACH };
    let count = |bounds| search(Protocol::Lfa, Variant::Repaired, 3, bounds, &[]).states;
    let base = count(tight);
    for wider in [
        Bounds { crashes: 2, ..tight },
        Bounds { recoveries: 1, ..tight },
        Bounds { losses: 1, ..tight },
        Bounds { duplicates: 1, ..tight },
        Bounds { expiries: 3, ..tight },
        Bounds { waits: 1, ..tight },
        Bounds { in_flight: 2, ..tight },
    ] {
        assert!(count(wider) > base, "{wider}");
    }
}

#[test]
fn a_path_is_told_step_by_step() {
    let bounds = Bounds { crashes: 0, recoveries: 0, ..ONE_FAULT_EACH };
    let system: System<AnyElection> = System::new(Protocol::AsyncBully, Variant::Printed, 3, bounds);
    let broken = explore(&system, &[Property::Ale2Prime], limits(2), |_| Flow::GoOn).violations;
    let told = story(&system, &broken[0].steps);
    assert_eq!(told.lines, ["1 -> 2 Halt is lost"]);
    let path = [Transition::Deliver { from: 0, to: 1, nth: 0, cut: 0 }];
    assert_eq!(story(&system, &path).lines, ["1 -> 2 Halt arrives: 2 waits for an outcome, Ack to 1"]);
    assert!(told.trace.iter().any(|event| event.what.name() == "drop"));
}

fn search(protocol: Protocol, variant: Variant, nodes: u32, bounds: Bounds, judged: &[Property]) -> Outcome {
    let system: System<AnyElection> = System::new(protocol, variant, nodes, bounds);
    explore(&system, judged, limits(2), |_| Flow::GoOn)
}

/// The shortest path on which the algorithm as printed breaks the property; as repaired it does not.
fn breaks(protocol: Protocol, nodes: u32, bounds: Bounds, property: Property) -> Vec<Transition> {
    let repaired = search(protocol, Variant::Repaired, nodes, bounds, &[property]);
    assert!(repaired.violations.is_empty(), "{:#?}", repaired.violations);
    assert_eq!(repaired.extent, Extent::All);
    let printed = search(protocol, Variant::Printed, nodes, bounds, &[property]);
    assert_eq!(printed.extent, Extent::UpToViolation);
    let [violation] = &printed.violations[..] else { panic!("one: {:#?}", printed.violations) };
    violation.steps.clone()
}

fn limits(threads: usize) -> Limits {
    Limits {
        states_max: u64::MAX,
        instants_max: INSTANTS_MAX,
        threads: NonZeroUsize::new(threads).expect("at least one"),
    }
}
