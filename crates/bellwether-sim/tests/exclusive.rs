//! Exclusive leadership: short searches and walks of its machines, and bugs that both must notice.

mod bugs;

use bellwether_sim::exclusive::studies::{self, Study};
use bellwether_sim::exclusive::{
    Breach, Extent, Honest, Meddle, Promise, Sights, Trod, Violation, Walker, replay, search, walk,
};

use bugs::BUGS;

const WALKER: Walker = Walker { length: 2_000, trod: Trod::WithinDrift, changes: Walker::FEW, settles: true };

/// Walks with the honest machines. `cargo run --release -p bellwether-sim --example exclusive` takes more.
const WALKS: u64 = 600;

/// A planted bug is noticed within so many walks, or not at all.
const WALKS_PLANTED: u64 = 4_000;

/// That of registers has more states than this; `--example exclusive` goes on.
const STATES: u64 = 100_000;

#[test]
fn short_studies_keep_every_promise_in_every_state() {
    for Study { name, setting, .. } in studies::short() {
        let explored = search(&setting, &Honest, STATES, |_, _, _| {});
        assert!(explored.violation.is_none(), "{name}: {}", told(explored.violation));
        assert!(explored.extent == Extent::All || name == "register-short", "{name} is searched to its end");
    }
}

#[test]
fn walks_keep_every_promise() {
    let mut all = Sights::default();
    for seed in 1..=WALKS {
        match walk(WALKER, seed, &Honest) {
            Ok(sights) => all.add(&sights),
            Err(violation) => panic!("{}", story(WALKER, &violation, &Honest)),
        }
    }
    // Otherwise nothing was tested.
    let least = [all.decided, all.held, all.buried, all.lapsed, all.died, all.restarts, all.outlived];
    assert!(least.into_iter().all(|count| count >= 50), "{all}");
}

/// A coordinator that went on to call certain what the voters before a change had decided broke TOKEN-ONCE in the last three.
#[test]
fn walks_with_many_changes_of_the_voters_keep_every_promise() {
    let often = Walker { length: 6_000, changes: 20, settles: false, ..WALKER };
    let walks = (1..=WALKS).chain([3_215, 5_176]).map(|seed| (often, seed));
    for (walker, seed) in walks.chain([(Walker { changes: 8, settles: false, ..WALKER }, 10_764)]) {
        if let Err(violation) = walk(walker, seed, &Honest) {
            panic!("{}", story(walker, &violation, &Honest));
        }
    }
}

#[test]
fn beyond_the_drift_there_may_be_two_holders_and_never_two_of_a_token() {
    let walker = Walker { trod: Trod::BeyondDrift, settles: false, ..WALKER };
    let broken: Vec<_> = (1..=WALKS).filter_map(|seed| walk(walker, seed, &Honest).err()).collect();
    assert!(!broken.is_empty(), "clocks that cannot be trusted were trusted, and nothing happened");
    let of_time = [Promise::OneHolder, Promise::DeadStays];
    let other = broken.iter().find(|violation| !of_time.contains(&violation.breach.promise));
    assert!(other.is_none(), "{}", other.map_or(String::new(), |other| story(walker, other, &Honest)));
}

#[test]
fn every_planted_bug_is_noticed() {
    let walker = Walker { settles: false, ..WALKER };
    for bug in BUGS {
        let noticed = (1..=WALKS_PLANTED).find_map(|seed| walk(walker, seed, bug.meddle).err());
        let Some(violation) = noticed else { panic!("{}: not noticed", bug.name) };
        assert!(
            bug.breaks.contains(&violation.breach.promise),
            "{}: {}",
            bug.name,
            story(walker, &violation, bug.meddle)
        );
    }
}

fn story(walker: Walker, violation: &Violation, meddle: &dyn Meddle) -> String {
    let Violation { seed, steps, breach } = violation;
    let Breach { promise, what } = breach;
    let told = replay(walker, *seed, meddle).join("\n  ");
    format!(
        "{} is broken after {steps} steps: {what}\n  {told}\nreplay: cargo run --release -p bellwether-sim --example exclusive -- --from {seed} --walks 1 --length {} --changes {}",
        promise.name(),
        walker.length,
        walker.changes
    )
}

fn told(violation: Option<(Breach, Vec<String>)>) -> String {
    violation.map_or(String::new(), |(breach, steps)| format!("{breach:?}\n  {}", steps.join("\n  ")))
}
