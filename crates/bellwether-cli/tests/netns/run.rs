//! Runs the tests, and says in the end how many were skipped, which the ordinary harness has no word for.

use std::env;
use std::io::{Write, stdout};
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use crate::network::Network;

/// So many run at once: mostly they wait.
const AT_ONCE: usize = 2;

pub(crate) struct Test {
    name: &'static str,
    needs: Where,
    run: fn(),
    /// Whether it runs only if it is named.
    long: bool,
}

impl Test {
    pub(crate) const fn new(name: &'static str, needs: Where, run: fn()) -> Self {
        Self { name, needs, run, long: false }
    }

    /// One that takes minutes.
    pub(crate) const fn long(name: &'static str, needs: Where, run: fn()) -> Self {
        Self { long: true, ..Self::new(name, needs, run) }
    }
}

/// Where a test's nodes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    Loopback,
    Namespaces,
}

/// How many came out how.
#[derive(Default)]
struct Tally {
    passed: u32,
    failed: u32,
    skipped: u32,
}

/// Runs those whose name has one of the words on the command line, or all but the long ones if there is none. With `--list`, none.
pub(crate) fn all(tests: &'static [Test]) -> ExitCode {
    if env::args().any(|word| word == "--list") {
        tests.iter().for_each(|test| say(&format!("{}: test", test.name)));
        return ExitCode::SUCCESS;
    }
    let words: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let named = |test: &Test| words.iter().any(|word| test.name.contains(word.as_str()));
    let chosen = |test: &&Test| if words.is_empty() { !test.long } else { named(test) };
    let hindrance = thread::spawn(|| Network::new(1).err()).join().expect("finding out never panics");
    let (queue, tally) = (Mutex::new(tests.iter().filter(chosen)), Mutex::new(Tally::default()));
    let work = || {
        while let Some(test) = take(&queue) {
            one(test, hindrance.as_deref(), &tally);
        }
    };
    thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(work))));
    let Tally { passed, failed, skipped } = tally.into_inner().unwrap();
    say(&format!("netns: {passed} passed, {failed} failed, {skipped} skipped"));
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn take<'a>(queue: &Mutex<impl Iterator<Item = &'a Test>>) -> Option<&'a Test> {
    queue.lock().unwrap().next()
}

fn one(test: &'static Test, hindrance: Option<&str>, tally: &Mutex<Tally>) {
    let name = test.name;
    if let (Where::Namespaces, Some(why)) = (test.needs, hindrance) {
        if env::var("BELLWETHER_REQUIRE_NET").is_ok_and(|required| required == "1") {
            say(&format!("test {name} ... FAILED: BELLWETHER_REQUIRE_NET is 1, but {why}"));
            tally.lock().unwrap().failed += 1;
        } else {
            say(&format!("skipped: {name}: {why}"));
            tally.lock().unwrap().skipped += 1;
        }
        return;
    }
    let began = Instant::now();
    // A thread for each: it may move between namespaces, and what it starts ends with it.
    let outcome = thread::Builder::new().name(name.to_owned()).spawn(test.run).unwrap().join();
    let seconds = began.elapsed().as_secs_f32();
    match outcome {
        Ok(()) => {
            say(&format!("test {name} ... ok ({seconds:.1} s)"));
            tally.lock().unwrap().passed += 1;
        }
        Err(_) => {
            say(&format!("test {name} ... FAILED ({seconds:.1} s)"));
            tally.lock().unwrap().failed += 1;
        }
    }
}

pub(crate) fn say(line: &str) {
    writeln!(stdout(), "{line}").expect("somebody reads this");
}
