//! Whatever a plan breaks, its shrunk form breaks too, and is as small as shrinking can make it.

use std::sync::atomic::AtomicBool;

use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::promise::Property;
use bellwether_sim::environment::promised;
use bellwether_sim::scenario::{Expect, Scenario};
use bellwether_sim::shrink::{Effort, Size, shrink};
use bellwether_sim::{plan, run};

/// Nobody stops it.
static NEVER: AtomicBool = AtomicBool::new(false);

#[test]
fn what_async_bully_breaks_as_printed() {
    shrinks(Protocol::AsyncBully, Property::Ale2Prime, 300, 2);
}

#[test]
fn what_bully_fd_breaks_as_printed() {
    shrinks(Protocol::BullyFd, Property::Sle2, 400, 2);
}

/// The plans of these seeds that break the property shrink to at most so many events.
fn shrinks(protocol: Protocol, property: Property, seeds: u64, events_max: usize) {
    let mut found = 0;
    for seed in 1..=seeds {
        let plan = plan::draw(protocol, Variant::Printed, seed);
        if !breaks(&plan, property) {
            continue;
        }
        found += 1;
        let effort = Effort { threads: 2, ..Effort::default() };
        let shrunk = shrink(&plan, property, &effort, &NEVER).expect("it breaks the property");
        let small = &shrunk.scenario;
        let (file, context) = (shrunk.file(&["A test."]), format!("seed {seed}:\n{}", small.to_toml()));
        assert!(shrunk.finished, "{context}");
        assert!(Size::of(small) < Size::of(&plan), "{context}");
        assert!(small.events.len() <= events_max && small.nodes <= 3, "{context}");
        assert!(promised(small, property, &[]), "{context}");
        assert_eq!(Scenario::parse("shrunk.toml", &file).as_ref(), Ok(small), "{context}");
        assert!(run::run(small).passed(small), "it breaks what it says it does: {context}");
        let unaware = Scenario { expect: Expect::default(), ..small.clone() };
        assert!(!run::run(&unaware).passed(&unaware), "it fails if that is not expected: {context}");
        let again = shrink(small, property, &effort, &NEVER).expect("it breaks the property");
        assert_eq!(again.scenario, *small, "nothing is left to shrink: {context}");
        let alone = shrink(&plan, property, &Effort { threads: 1, ..effort }, &NEVER);
        assert_eq!(alone, Some(shrunk), "the number of threads does not matter: seed {seed}");
    }
    assert!(found >= 2, "{seeds} plans broke {property} {found} times");
}

fn breaks(scenario: &Scenario, property: Property) -> bool {
    run::run(scenario).properties.iter().any(|judged| judged.property == property && !judged.holds)
}
