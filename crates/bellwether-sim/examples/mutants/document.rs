//! The score, on the screen and in `docs/reference/mutants.md`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::said;
use super::sample::Mutant;
use super::stage::Stage;
use super::verdicts::{Verdict, Verdicts};

/// Nine in ten must be noticed.
const GOAL: f64 = 0.9;

/// Why mutants that no test notices are left: by key.
pub(crate) struct Reasons(BTreeMap<String, String>);

impl Reasons {
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        let file = root.join("docs/reference/mutants.toml");
        let text = fs::read_to_string(&file).map_err(said(&file))?;
        bellwether_toml::read(&text)
            .map(Self)
            .map_err(|wrong| wrong.locate("docs/reference/mutants.toml", &text).to_string())
    }

    /// A reason for what does not exist is out of date.
    pub(crate) fn are_about(&self, all: &[Mutant]) -> Result<(), String> {
        match self.0.keys().find(|key| !all.iter().any(|mutant| mutant.key == **key)) {
            Some(key) => Err(format!("docs/reference/mutants.toml: there is no mutant `{key}`")),
            None => Ok(()),
        }
    }
}

pub(crate) struct Report<'a> {
    /// How many mutants there are in all.
    pub(crate) of: usize,
    pub(crate) seed: u64,
    pub(crate) sample: &'a [&'a Mutant],
    pub(crate) verdicts: &'a Verdicts,
    pub(crate) reasons: Reasons,
}

impl Report<'_> {
    /// Everything was judged, enough was noticed, and of the rest we know why.
    pub(crate) fn is_good(&self) -> bool {
        let tally = self.tally();
        tally.open == 0 && tally.score() >= GOAL && self.missed().all(|(_, reason)| reason.is_some())
    }

    pub(crate) fn on_screen(&self, every: bool) -> String {
        let mut lines = Vec::new();
        if every {
            let line = |mutant: &&Mutant| format!("{:?}: {}", self.verdicts.of(mutant), mutant.name);
            lines.extend(self.sample.iter().map(line));
        }
        for (mutant, reason) in self.missed() {
            lines.push(format!("missed: {}\n    {}", mutant.name, reason.unwrap_or("NO REASON GIVEN")));
        }
        lines.push(self.tally().in_words());
        lines.join("\n")
    }

    pub(crate) fn as_document(&self) -> String {
        let mut text = format!(
            "{INTRODUCTION}\n## The score\n\nOf {} mutants, a sample of {} (seed {}).\n{}\n\n\
             | file | noticed by unit tests | by paper tests or search | endless | missed | does not compile |\n\
             |---|--:|--:|--:|--:|--:|\n",
            self.of,
            self.sample.len(),
            self.seed,
            self.tally().in_words()
        );
        for (file, tally) in self.by_file() {
            let Tally { unit, search, endless, missed, unviable, .. } = tally;
            text += &format!("| `{file}` | {unit} | {search} | {endless} | {missed} | {unviable} |\n");
        }
        text += "\n## Those that no test notices\n\n";
        for (mutant, reason) in self.missed() {
            text += &format!(
                "- `{}`\n  {}\n",
                mutant.key,
                reason.unwrap_or("No reason is known: a test is missing.")
            );
        }
        text
    }

    fn missed(&self) -> impl Iterator<Item = (&Mutant, Option<&str>)> {
        let missed =
            self.sample.iter().filter(|mutant| matches!(self.verdicts.of(mutant), Some(Verdict::Missed(_))));
        missed.map(|mutant| (*mutant, self.reasons.0.get(&mutant.key).map(String::as_str)))
    }

    fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        self.sample.iter().for_each(|mutant| tally.count(self.verdicts.of(mutant)));
        tally
    }

    fn by_file(&self) -> BTreeMap<&str, Tally> {
        let mut files: BTreeMap<_, Tally> = BTreeMap::new();
        for mutant in self.sample {
            let file = mutant.key.split(':').next().unwrap_or_default();
            files.entry(file).or_default().count(self.verdicts.of(mutant));
        }
        files
    }
}

#[derive(Default)]
struct Tally {
    unit: usize,
    search: usize,
    endless: usize,
    missed: usize,
    unviable: usize,
    open: usize,
}

impl Tally {
    fn count(&mut self, verdict: Option<Verdict>) {
        let place = match verdict {
            Some(Verdict::Caught(Stage::Quick | Stage::Unit)) => &mut self.unit,
            Some(Verdict::Caught(Stage::Search)) => &mut self.search,
            Some(Verdict::Endless(_)) => &mut self.endless,
            Some(Verdict::Missed(_)) => &mut self.missed,
            Some(Verdict::Unviable) => &mut self.unviable,
            None => &mut self.open,
        };
        *place += 1;
    }

    const fn noticed(&self) -> usize {
        self.unit + self.search + self.endless
    }

    /// What part of those that compile and were judged was noticed.
    fn score(&self) -> f64 {
        self.noticed() as f64 / (self.noticed() + self.missed).max(1) as f64
    }

    fn in_words(&self) -> String {
        let judged = self.noticed() + self.missed;
        let open = if self.open == 0 { String::new() } else { format!("; {} not judged yet", self.open) };
        format!(
            "Noticed: {} of {judged} that compile, {:.1} % ({} by unit tests, {} by the paper tests or the search, {} \
             because a test did not end); {} do not compile{open}.",
            self.noticed(),
            100.0 * self.score(),
            self.unit,
            self.search,
            self.endless,
            self.unviable
        )
    }
}

const INTRODUCTION: &str = "\
# Mutants

How good are the tests? `make mutants` puts small bugs into the algorithms, the failure detectors and the leadership layer,
one at a time, and sees whether a test notices: another operator, a negated condition, a function that does nothing.
[cargo-mutants](https://mutants.rs) makes them; `.cargo/mutants.toml` says where. `make mutants` writes this page; the reasons
at its end are kept in `mutants.toml`.

A fixed sample is judged: the mutants whose names, without line numbers, have the smallest hashes with a seed. New code elsewhere
does not change the sample. First the tests next to the code judge each mutant. If they notice nothing, the tests of the papers'
claims do, and a short search for broken promises of every algorithm, from fixed seeds (`short_search`). Verdicts are kept in
`target/mutants`: a stopped run goes on where it was, and missed mutants are judged again when a test has changed.
";
