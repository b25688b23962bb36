//! Exclusive leadership: short searches and walks of its machines, and bugs that both must notice.

mod bugs;

use bellwether_sim::exclusive::courses::{self, Course};
use bellwether_sim::exclusive::studies::{self, Study};
use bellwether_sim::exclusive::{
    Breach, Extent, Honest, Meddle, Promise, Sights, Trod, Violation, Walker, follow, replay, retrace,
    search, walk,
};

use bugs::{BUGS, BUGS_ON_COURSES, Bug, DroppedEarly};

const WALKER: Walker =
    Walker { length: 2_000, trod: Trod::WithinDrift, changes: Walker::FEW, lulls: 0, settles: true };

/// Changes of the voters are settled in the lulls, and names are forgotten.
const RESTING: Walker = Walker { length: 300, changes: 20, lulls: 12, settles: false, ..WALKER };

/// A lull is a few hundred steps.
const RESTING_WALKS: u64 = 150;

/// So many walks along each course.
const COURSE_WALKS: u64 = 100;

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
    let broken: Vec<_> = (1..=WALKS / 2).filter_map(|seed| walk(walker, seed, &Honest).err()).collect();
    assert!(!broken.is_empty(), "clocks that cannot be trusted were trusted, and nothing happened");
    let other = broken.iter().find(|violation| violation.breach.promise != Promise::OneHolder);
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

#[test]
fn walks_with_lulls_keep_every_promise() {
    let mut all = Sights::default();
    for seed in 1..=RESTING_WALKS {
        match walk(RESTING, seed, &Honest) {
            Ok(sights) => all.add(&sights),
            Err(violation) => panic!("{}", story(RESTING, &violation, &Honest)),
        }
    }
    assert!(all.changed >= 500 && all.deleted >= 50 && all.dropped >= 5, "{all}");
}

#[test]
fn walks_along_courses_keep_every_promise_and_get_there() {
    for course in courses::all() {
        for seed in 0..COURSE_WALKS {
            if let Err(violation) = follow(&course, seed, &Honest) {
                panic!("{}", course_story(&course, &violation, &Honest));
            }
        }
    }
}

#[test]
fn a_deletion_that_not_all_know_of_is_searched_to_its_end_and_must_not_be_dropped() {
    let study =
        studies::long().into_iter().find(|study| study.name == "deletion").expect("a study of that name");
    let explored = search(&study.setting, &Honest, STATES, |_, _, _| {});
    assert!(explored.violation.is_none(), "{}", told(explored.violation));
    assert_eq!(explored.extent, Extent::All);
    let explored = search(&study.setting, &DroppedEarly, STATES, |_, _, _| {});
    let broken = explored.violation.map(|(breach, _)| breach.promise);
    assert_eq!(broken, Some(Promise::TokenGrows));
}

/// The course deletes a name twice: once while a voter is out of reach, and then while all are there.
#[test]
fn three_voters_drop_a_name_that_all_of_them_know_to_be_deleted() {
    let courses = courses::all();
    let course = courses.iter().find(|course| course.name == "deleted").expect("a course of that name");
    let sights = follow(course, 0, &Honest).expect("every promise is kept");
    assert_eq!(sights.dropped, 3, "{sights}");
}

#[test]
fn what_is_given_back_is_granted_before_a_lease_is_over() {
    let courses = courses::all();
    let course = courses.iter().find(|course| course.name == "handed-on").expect("a course of that name");
    let sights = follow(course, 0, &Honest).expect("every promise is kept");
    assert_eq!((sights.held, sights.buried), (2, 0), "{sights}");
}

#[test]
fn every_planted_bug_that_takes_a_course_is_noticed_on_it() {
    let courses = courses::all();
    for (of, Bug { name, meddle, breaks }) in BUGS_ON_COURSES {
        let course = courses.iter().find(|course| course.name == *of).expect("a course of that name");
        let noticed = (0..COURSE_WALKS).find_map(|seed| follow(course, seed, *meddle).err());
        let Some(violation) = noticed else { panic!("{name}: not noticed on the course {of}") };
        let is_it = breaks.contains(&violation.breach.promise);
        assert!(is_it, "{name}: {}", course_story(course, &violation, *meddle));
    }
}

fn story(walker: Walker, violation: &Violation, meddle: &dyn Meddle) -> String {
    let Violation { seed, steps, breach } = violation;
    let Breach { promise, what } = breach;
    let told = replay(walker, *seed, meddle).join("\n  ");
    format!(
        "{} is broken after {steps} steps: {what}\n  {told}\nreplay: cargo run --release -p bellwether-sim --example exclusive -- --from {seed} --walks 1 --length {} --changes {} --lulls {}",
        promise.name(),
        walker.length,
        walker.changes,
        walker.lulls
    )
}

fn course_story(course: &Course, violation: &Violation, meddle: &dyn Meddle) -> String {
    let Violation { seed, steps, breach } = violation;
    let (Breach { promise, what }, name) = (breach, course.name);
    let told = retrace(course, *seed, meddle).join("\n  ");
    format!(
        "{} is broken after {steps} steps: {what}\n  {told}\nreplay: cargo run --release -p bellwether-sim --example exclusive -- --course {name} --from {seed} --walks 1",
        promise.name()
    )
}

fn told(violation: Option<(Breach, Vec<String>)>) -> String {
    violation.map_or(String::new(), |(breach, steps)| format!("{breach:?}\n  {}", steps.join("\n  ")))
}
