//! What is known of each mutant, kept from one run to the next.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::said;
use super::sample::Mutant;
use super::stage::Stage;

/// What came of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    /// A test failed.
    Caught(Stage),
    /// A test did not end.
    Endless(Stage),
    /// It does not compile, and is no mutant.
    Unviable,
    /// All tests passed, up to this stage.
    Missed(Stage),
}

#[derive(Serialize, Deserialize)]
struct Kept {
    verdict: Verdict,
    /// The lines that were changed: other lines are another mutant.
    diff: u64,
    /// All sources and tests. A mutant that was missed is judged again when a test is added.
    sources: u64,
}

pub(crate) struct Verdicts {
    folder: PathBuf,
    sources: u64,
    kept: BTreeMap<String, Kept>,
}

impl Verdicts {
    pub(crate) fn read(folder: &Path, sources: u64) -> Result<Self, String> {
        let file = folder.join(FILE);
        let kept = match fs::read(&file) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(said(&file))?,
            Err(_) => BTreeMap::new(),
        };
        Ok(Self { folder: folder.to_owned(), sources, kept })
    }

    /// Notes that what comes next is of this stage and about these, and says where it is expected.
    pub(crate) fn begin(&self, stage: Stage, mutants: &[&Mutant]) -> Result<&Path, String> {
        let old = self.folder.join("mutants.out");
        if old.exists() {
            fs::remove_dir_all(&old).map_err(said(&old))?;
        }
        let mutants =
            mutants.iter().map(|mutant| (mutant.name.clone(), (mutant.key.clone(), mutant.fingerprint())));
        let begun = Begun { stage, sources: self.sources, mutants: mutants.collect() };
        let text = serde_json::to_vec(&begun).map_err(said(BEGUN))?;
        fs::write(self.folder.join(BEGUN), text).map_err(said(BEGUN))?;
        Ok(&self.folder)
    }

    /// What is known of it. That it was missed counts until it has been judged again.
    pub(crate) fn of(&self, mutant: &Mutant) -> Option<Verdict> {
        self.kept(mutant).map(|kept| kept.verdict)
    }

    pub(crate) fn needs(&self, mutant: &Mutant, stage: Stage) -> bool {
        let first = stage == Stage::ALL[0];
        match self.kept(mutant) {
            None => first,
            Some(Kept { verdict: Verdict::Missed(_), sources, .. }) if *sources != self.sources => first,
            Some(Kept { verdict: Verdict::Missed(last), .. }) => *last < stage,
            Some(_) => false,
        }
    }

    fn kept(&self, mutant: &Mutant) -> Option<&Kept> {
        self.kept.get(&mutant.key).filter(|kept| kept.diff == mutant.fingerprint())
    }

    /// Takes what `cargo mutants` has found out, be it that it was stopped, and says of how many mutants.
    pub(crate) fn harvest(&mut self) -> Result<usize, String> {
        let note = self.folder.join(BEGUN);
        let Ok(begun) = fs::read(&note) else { return Ok(0) };
        let begun: Begun = serde_json::from_slice(&begun).map_err(said(&note))?;
        let file = self.folder.join("mutants.out/outcomes.json");
        let Ok(bytes) = fs::read(&file) else { return Ok(0) };
        let found: Outcomes = serde_json::from_slice(&bytes).map_err(said(&file))?;
        let mut judged = 0;
        for outcome in found.outcomes {
            let Scenario::Mutant(Named { name }) = outcome.scenario else { continue };
            let (Some((key, diff)), Some(verdict)) =
                (begun.mutants.get(&name), outcome.summary.verdict(begun.stage))
            else {
                continue;
            };
            self.kept.insert(key.clone(), Kept { verdict, diff: *diff, sources: begun.sources });
            judged += 1;
        }
        self.write()?;
        fs::remove_file(&note).map_err(said(&note))?;
        Ok(judged)
    }

    fn write(&self) -> Result<(), String> {
        let (file, new) = (self.folder.join(FILE), self.folder.join("verdicts.new"));
        let text = serde_json::to_vec_pretty(&self.kept).map_err(said(&file))?;
        fs::write(&new, text).and_then(|()| fs::rename(&new, &file)).map_err(said(&file))
    }
}

const FILE: &str = "verdicts.json";
/// Says what the outcomes belong to that have not been harvested.
const BEGUN: &str = "begun.json";

#[derive(Serialize, Deserialize)]
struct Begun {
    stage: Stage,
    sources: u64,
    /// By name, which has line numbers and means nothing once the sources have changed: key and fingerprint.
    mutants: BTreeMap<String, (String, u64)>,
}

// The part of what `cargo mutants` writes that matters here.

#[derive(Deserialize)]
struct Outcomes {
    outcomes: Vec<Outcome>,
}

#[derive(Deserialize)]
struct Outcome {
    scenario: Scenario,
    summary: Summary,
}

#[derive(Deserialize)]
enum Scenario {
    Baseline,
    Mutant(Named),
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Clone, Copy, Deserialize)]
enum Summary {
    Success,
    CaughtMutant,
    MissedMutant,
    Unviable,
    Failure,
    Timeout,
}

impl Summary {
    fn verdict(self, stage: Stage) -> Option<Verdict> {
        match self {
            Self::CaughtMutant => Some(Verdict::Caught(stage)),
            Self::Timeout => Some(Verdict::Endless(stage)),
            Self::MissedMutant => Some(Verdict::Missed(stage)),
            Self::Unviable => Some(Verdict::Unviable),
            Self::Success | Self::Failure => None,
        }
    }
}
