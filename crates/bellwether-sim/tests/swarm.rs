//! Swarm search: the same whatever the number of threads, stoppable, and never empty.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use bellwether_proto::election::NOMINATES;
use bellwether_proto::election::{AnyElection, InAgent, Protocol, Variant};
use bellwether_proto::ident::NodeId;
use bellwether_proto::promise::Property;
use bellwether_proto::time::{Span, Time};
use bellwether_sim::check::Judge;
use bellwether_sim::journal::Journal;
use bellwether_sim::plan::Limits;
use bellwether_sim::run;
use bellwether_sim::scenario::{Fault, Planned, Runs};
use bellwether_sim::swarm::{Outcome, Played, Search, Watcher, search};
use bellwether_sim::world::World;

const RUNS: u64 = 1_000;

fn of(protocol: Protocol, variant: Variant) -> Search {
    let limits = Limits::default();
    Search { protocol, variant, limits, first_seed: 1, runs: 200, threads: 2 }
}

fn done(search_for: &Search) -> Outcome {
    search(search_for, &(), &AtomicBool::new(false))
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let two = of(Protocol::AsyncBully, Variant::Printed);
    let found = done(&two);
    assert_eq!(found.runs, two.runs);
    assert!(!found.violations.is_empty(), "there is something to differ in");
    for threads in [0, 1, 3] {
        assert_eq!(done(&Search { threads, ..two.clone() }), found, "{threads} threads");
    }
}

#[test]
fn the_violation_with_the_smallest_seed_is_told() {
    let search = of(Protocol::AsyncBully, Variant::Printed);
    let found = done(&search);
    for violation in &found.violations {
        let breaks = |seed: &u64| {
            let report = run::run(&search.draw(*seed));
            report.properties.iter().any(|judged| judged.property == violation.property && !judged.holds)
        };
        assert_eq!((1..=search.runs).find(breaks), Some(violation.seed));
        assert_eq!(violation.scenario, search.draw(violation.seed));
        assert!(found.broken[&violation.property] <= found.judged[&violation.property]);
    }
    assert!(found.violations.iter().any(|violation| violation.property == Property::Ale2Prime));
    let seeds: Vec<_> = found.violations.iter().map(|violation| violation.seed).collect();
    assert!(seeds.is_sorted());
}

#[test]
fn a_search_in_two_parts_finds_what_one_finds() {
    let whole = of(Protocol::Lfa, Variant::Repaired);
    let (first, rest) =
        (Search { runs: 70, ..whole.clone() }, Search { first_seed: 71, runs: 130, ..whole.clone() });
    let (first, rest, whole) = (done(&first), done(&rest), done(&whole));
    assert_eq!(first.events + rest.events, whole.events);
    assert_eq!(first.messages + rest.messages, whole.messages);
    for (situation, times) in &whole.reached {
        let in_part = |part: &Outcome| part.reached.get(situation).copied().unwrap_or(0);
        assert_eq!(in_part(&first) + in_part(&rest), *times, "{situation}");
    }
}

/// Stops the search at its first violation.
struct FirstOnly<'a> {
    stop: &'a AtomicBool,
    seeds: Mutex<Vec<u64>>,
}

impl Watcher for FirstOnly<'_> {
    fn played(&self, seed: u64, played: &Played) {
        self.seeds.lock().unwrap().push(seed);
        if played.findings.iter().any(|finding| finding.violation.is_some()) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_search_that_is_stopped_has_played_the_first_plans_and_no_others() {
    let search_for = of(Protocol::AsyncBully, Variant::Printed);
    let first = done(&search_for).violations[0].seed;
    for threads in 1..=3 {
        let stop = AtomicBool::new(false);
        let watcher = FirstOnly { stop: &stop, seeds: Mutex::default() };
        let found = search(&Search { threads, ..search_for.clone() }, &watcher, &stop);
        assert_eq!(found.violations[0].seed, first);
        assert!(found.runs < search_for.runs);
        let mut seeds = watcher.seeds.into_inner().unwrap();
        seeds.sort_unstable();
        assert_eq!(seeds, (1..=found.runs).collect::<Vec<_>>());
    }
    let stopped = search(&search_for, &(), &AtomicBool::new(true));
    assert_eq!(stopped, Outcome::default());
}

#[test]
fn as_repaired_every_algorithm_keeps_its_promises_and_nothing_that_matters_is_left_out() {
    for protocol in Protocol::ALL {
        clean_and_thorough(protocol, Runs::Elections, RUNS);
    }
}

#[test]
fn so_does_every_algorithm_that_agents_run_there() {
    for protocol in Protocol::ALL.into_iter().filter(|p| p.spec().in_agent == InAgent::Yes) {
        clean_and_thorough(protocol, Runs::Agents, RUNS);
    }
}

/// With clocks as fast and as slow as they are trusted to be.
#[test]
fn so_do_members_of_which_at_most_one_leads() {
    clean_and_thorough(NOMINATES, Runs::Exclusive, 2_000);
}

/// The clock of the first leader is slow, those of all others are fast, and the first leader is stopped for a while.
#[test]
fn where_clocks_cannot_be_trusted_two_may_hold_at_once_and_nothing_else_is_broken() {
    const PLANS: u64 = 100;
    const LEADER: NodeId = NodeId(1);
    let limits = Limits { runs: Runs::Exclusive, ..Limits::default() };
    let search = Search { limits, ..of(NOMINATES, Variant::Repaired) };
    let judged = [Property::OneHolder, Property::TokenGrows, Property::TokenOnce];
    let mut broken = 0;
    for seed in 1..=PLANS {
        let mut plan = search.draw(seed);
        plan.drift_ppm =
            plan.ids().map(|node| (node, if node == LEADER { -300_000 } else { 500_000 })).collect();
        let at = Time::ZERO + plan.until.since(Time::ZERO) / 2;
        let (pause, resume) = (Fault::Pause(vec![LEADER]), Fault::Resume(vec![LEADER]));
        plan.events.push(Planned { at, fault: pause });
        plan.events.push(Planned { at: at + Span::secs(3), fault: resume });
        let judge = Judge::new(run::facts(&plan), &judged);
        let mut world = World::<AnyElection>::new(&plan, Journal::new(judge, None));
        world.run_until(plan.until);
        let findings = world.into_journal().verdicts(plan.until);
        for finding in findings.iter().filter(|finding| finding.violation.is_some()) {
            assert_eq!(finding.property, Property::OneHolder, "{finding:?} in\n{}", plan.to_toml());
            broken += 1;
        }
    }
    assert!(broken > 0, "clocks that cannot be trusted were trusted in {PLANS} plans, and nothing happened");
}

#[track_caller]
fn clean_and_thorough(protocol: Protocol, runs: Runs, plans: u64) {
    let limits = Limits { runs, ..Limits::default() };
    let search = Search { limits, runs: plans, ..of(protocol, Variant::Repaired) };
    let found = done(&search);
    let name = protocol.name();
    if let Some(violation) = found.violations.first() {
        let (name, agent) = match runs {
            Runs::Elections => (name, ""),
            Runs::Agents => (name, "--agent "),
            Runs::Exclusive => ("exclusive", ""),
        };
        let replay = format!("cargo run -- check {name} {agent}--seed {} --runs 1", violation.seed);
        panic!("{name}: {}: {:?}\nreplay: {replay}", violation.property, violation.how);
    }
    let missed: Vec<_> = search.must_reach().into_iter().filter(|s| !found.reached.contains_key(s)).collect();
    assert!(missed.is_empty(), "{name}: {plans} plans never reached {missed:?}");
    let exclusive = [Property::TokenGrows, Property::TokenOnce, Property::OneHolder];
    let promised = protocol.spec().repaired.iter().map(|promise| promise.property);
    for property in promised.chain(exclusive.into_iter().filter(|_| runs == Runs::Exclusive)) {
        let times = found.judged.get(&property).copied().unwrap_or(0);
        assert!(times >= plans / 4, "{name}: {property} was judged in {times} of {plans} plans");
    }
}
