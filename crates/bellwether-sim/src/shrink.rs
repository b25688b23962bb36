//! Shrinking: from a run that breaks a property to the shortest scenario we can find that still breaks it.
//!
//! Every candidate is played and judged like any other scenario; nothing is concluded from the one before. A candidate
//! counts only if the property is promised in its world too: a flaw must not turn into the mere breaking of an
//! assumption. Passes (fewer events, fewer nodes, a plainer world, rounder and earlier times) repeat until none of them
//! finds anything smaller, so that a result shrinks to itself.
//!
//! | file | what it tries |
//! |---|---|
//! | `events.rs` | to leave out events, by halves, quarters and so on (delta debugging), then pairs, then parts of events |
//! | `nodes.rs` | to leave out nodes, and to spare them |
//! | `setting.rs` | the defaults of network, timing, detector, parameters, clocks and seed |
//! | `losses.rs` | to name the messages that are lost, instead of leaving it to chance |
//! | `times.rs` | rounder and earlier times, and an earlier end |
//! | `goal.rs`, `blame.rs` | say what a candidate must show, and without what it must not |
//! | `size.rs` | says which of two scenarios is smaller |
//! | `trials.rs` | plays candidates, several at a time; the first that will do wins, whatever the number of threads |

mod blame;
mod events;
mod goal;
mod losses;
mod nodes;
mod setting;
mod size;
#[cfg(test)]
mod tests;
mod times;
mod trials;

use std::fmt::Write;
use std::sync::atomic::AtomicBool;

use bellwether_proto::promise::Property;
use bellwether_proto::time::Span;

use crate::run;
use crate::scenario::{Expect, Scenario};
use trials::Trials;

pub use blame::Blame;
pub use goal::{Broken, Ends, Goal};
pub use size::Size;

/// How long a shrunk scenario goes on after its last event if the promise is about "some time, and then for ever",
/// unless it was shorter to begin with. Such promises have no bound; without this any run could be made too short to
/// reach agreement.
pub const EVENTUALLY: Span = Span::secs(30);

/// How much work to spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// At most about so many runs.
    pub runs: u64,
    /// How many are played at the same time. The result does not depend on it.
    pub threads: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Self { runs: 20_000, threads: 1 }
    }
}

/// The result of shrinking.
#[derive(Clone, Debug, PartialEq)]
pub struct Shrunk {
    /// The smallest scenario that was found. It expects its violation.
    pub scenario: Scenario,
    /// How it breaks it, for people.
    pub story: String,
    /// How many candidates were played.
    pub runs: u64,
    /// Whether it went on until nothing smaller was found: it was not stopped, and the effort was not used up.
    pub finished: bool,
}

impl Shrunk {
    /// The scenario as a file. It begins with these lines of comment, and with the violation in words.
    pub fn file(&self, lines: &[&str]) -> String {
        let mut file = String::new();
        for line in lines.iter().copied().chain([self.story.as_str()]) {
            for line in wrapped(line, 114) {
                writeln!(file, "# {line}").expect("a String takes everything");
            }
        }
        file + &self.scenario.to_toml()
    }
}

/// Shrinks a scenario that breaks a property that is promised in its world; `None` if it does not. Once `stop` is set
/// it ends with the smallest scenario found by then.
pub fn shrink(scenario: &Scenario, property: Property, effort: &Effort, stop: &AtomicBool) -> Option<Shrunk> {
    shrink_to(scenario, &Goal::property(property), effort, stop)
}

/// As [`shrink`], of whatever the goal asks for.
pub fn shrink_to(scenario: &Scenario, goal: &Goal, effort: &Effort, stop: &AtomicBool) -> Option<Shrunk> {
    let mut best = plain(scenario, goal);
    let mut trials = Trials::new(goal.clone(), &best, *effort, stop);
    if !trials.will_do(&best) {
        return None;
    }
    loop {
        let before = Size::of(&best);
        for pass in PASSES {
            if !trials.is_over() {
                pass(&mut best, &mut trials);
            }
        }
        if Size::of(&best) == before || trials.is_over() {
            break;
        }
    }
    let (runs, finished) = (trials.runs(), !trials.is_over());
    let (scenario, story) = told(best, goal);
    Some(Shrunk { scenario, story, runs, finished })
}

/// Replaces the scenario by smaller ones as long as it finds any.
type Pass = fn(&mut Scenario, &mut Trials<'_>);

/// In the order in which they save most: a run that ends early and has few events is quick to judge.
const PASSES: [Pass; 9] = [
    times::end_sooner,
    events::fewer,
    nodes::fewer,
    events::plainer,
    setting::plainer,
    losses::name,
    times::rounder,
    times::end_sooner,
    nodes::fewer_and_sooner,
];

/// The same run, with events in order of time and no expectation but the goal.
fn plain(scenario: &Scenario, goal: &Goal) -> Scenario {
    let mut plain = Scenario { expect: goal.expect(), ..scenario.clone() };
    plain.events.sort_by_key(|planned| planned.at);
    plain
}

/// Names the goal, and expects everything that is broken with it, so that the file passes.
fn told(mut scenario: Scenario, goal: &Goal) -> (Scenario, String) {
    let report = run::run(&scenario);
    let broken = report.properties.iter().filter(|judged| !judged.holds);
    let violates = broken.clone().map(|judged| judged.property).collect();
    scenario.expect = Expect { violates, ..scenario.expect };
    scenario.name = format!(
        "{} {}: {} is broken",
        scenario.protocol.name(),
        scenario.variant.name(),
        goal.broken.words()
    );
    (scenario, goal.story(&report))
}

/// The words of a text, in lines of at most that many characters if a word is not longer.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is always one");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= width {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}
