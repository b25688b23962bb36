//! A violation, shrunk, replayable, and kept in files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use bellwether_proto::promise::Property;
use bellwether_proto::trace::TraceEvent;
use bellwether_sim::check::Violation as How;
use bellwether_sim::scenario::{Expect, Runs, Scenario};
use bellwether_sim::shrink::{Effort, Shrunk, shrink};
use bellwether_sim::swarm::{Outcome, Search, Violation, play};
use bellwether_sim::{diagram, run};

use crate::output::Printer;
use crate::recording;
use crate::trouble::Trouble;

/// A run that breaks a property.
#[derive(Debug)]
pub(super) struct Counterexample {
    /// The property.
    pub(super) property: Property,
    /// The seed of the plan in which it was found.
    pub(super) seed: u64,
    /// A scenario that expects its violation.
    pub(super) scenario: Scenario,
    /// The plan that it was shrunk from.
    pub(super) drawn: Scenario,
    /// How far shrinking came.
    pub(super) shrinking: Shrinking,
    /// How it breaks the property.
    pub(super) how: How,
    /// How much happens until it does.
    pub(super) steps: u64,
    /// Where it is kept.
    pub(super) files: Vec<PathBuf>,
}

/// How far shrinking came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shrinking {
    /// Until nothing smaller was found.
    Finished,
    /// Nowhere: it cannot be shrunk.
    NotAtAll,
    /// Nobody waited for the end of it.
    Stopped,
    /// There may be something smaller; so many candidates are enough.
    GivenUp(u64),
}

/// The directory for counterexamples. Makes sure that it exists and can be written.
pub(in super::super) fn folder(path: &Path) -> Result<PathBuf, Trouble> {
    let cannot = |error| Trouble::failed(format!("cannot write to {}: {error}", path.display()));
    fs::create_dir_all(path).map_err(cannot)?;
    tempfile::tempfile_in(path).map_err(cannot)?;
    Ok(path.to_owned())
}

/// One for each property that was broken, kept in `folder` if there is one.
pub(super) fn of(
    search: &Search,
    outcome: &Outcome,
    folder: Option<&Path>,
    stop: &AtomicBool,
    out: &Printer,
) -> Result<Vec<Counterexample>, Trouble> {
    let one = |violation: &Violation| {
        out.progress(format_args!("{} is broken, shrinking …", violation.property));
        let mut found = Counterexample::new(search, violation, stop);
        if let Some(folder) = folder {
            found.files = keep(search, &found, folder)?;
        }
        out.progress_done();
        Ok(found)
    };
    outcome.violations.iter().map(one).collect()
}

impl Counterexample {
    fn new(search: &Search, violation: &Violation, stop: &AtomicBool) -> Self {
        let Violation { property, seed, .. } = *violation;
        let (scenario, shrinking) = shortest(search, violation, stop);
        let broken: Vec<(Property, How)> = play(&scenario)
            .findings
            .into_iter()
            .filter_map(|finding| Some((finding.property, finding.violation?)))
            .collect();
        let how = broken.iter().find(|(broken, _)| *broken == property).map(|(_, how)| how.clone());
        let how = how.unwrap_or_else(|| violation.how.clone());
        let violates = broken.into_iter().map(|(property, _)| property).collect();
        let steps = steps(&scenario, &how);
        let expect = Expect { violates, ..Expect::default() };
        let (scenario, drawn) = (Scenario { expect, ..scenario }, violation.scenario.clone());
        Self { property, seed, scenario, drawn, shrinking, how, steps, files: Vec::new() }
    }

    /// The run as a diagram, if it has few enough nodes.
    pub(super) fn picture(&self) -> Option<String> {
        let fits = self.scenario.nodes <= diagram::NODES_MAX;
        fits.then(|| diagram::draw(&self.scenario, &diagram::Options::default()))
    }

    /// The scenario as a file.
    pub(super) fn toml(&self) -> String {
        self.scenario.to_toml()
    }
}

/// The scenario that shows the violation best: the shortest that could be found before somebody stopped it.
fn shortest(search: &Search, violation: &Violation, stop: &AtomicBool) -> (Scenario, Shrinking) {
    let effort = Effort { threads: search.threads, ..Effort::default() };
    let shrunk = shrink(&violation.scenario, violation.property, &effort, stop);
    let Some(Shrunk { scenario, runs, finished, .. }) = shrunk else {
        return (violation.scenario.clone(), Shrinking::NotAtAll);
    };
    let shrinking = match finished {
        true => Shrinking::Finished,
        false if runs >= effort.runs => Shrinking::GivenUp(runs),
        false => Shrinking::Stopped,
    };
    (scenario, shrinking)
}

/// How much happens up to the instant of the violation.
fn steps(scenario: &Scenario, how: &How) -> u64 {
    let mut steps = 0;
    let count = |event: &TraceEvent| steps += u64::from(event.at <= how.at);
    run::run_with(scenario, Box::new(count));
    steps
}

/// Writes the scenario, its trace and its picture.
fn keep(search: &Search, found: &Counterexample, folder: &Path) -> Result<Vec<PathBuf>, Trouble> {
    let file = |kind: &str| folder.join(format!("{}.{kind}", stem(search, found)));
    let (scenario, trace) = (file("toml"), file("jsonl"));
    write(&scenario, &found.toml())?;
    recording::record(&found.scenario, &trace).map_err(Trouble::failed)?;
    let mut kept = vec![scenario, trace];
    if let Some(picture) = found.picture() {
        write(&file("svg"), &picture)?;
        kept.push(file("svg"));
    }
    Ok(kept)
}

fn write(path: &Path, text: &str) -> Result<(), Trouble> {
    fs::write(path, text)
        .map_err(|error| Trouble::failed(format!("cannot write {}: {error}", path.display())))
}

/// Such as `async-bully-printed-ale2-prime-17`.
fn stem(search: &Search, found: &Counterexample) -> String {
    let property = found.property.name().to_lowercase().replace('\'', "-prime");
    let run_as = match search.limits.runs {
        Runs::Exclusive => "exclusive",
        Runs::Agents => "agent",
        Runs::Elections => search.variant.name(),
    };
    format!("{}-{run_as}-{property}-{}", search.protocol.name(), found.seed)
}
