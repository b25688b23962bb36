//! Who judges: first those who are quickest.

use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::sample::Mutant;

/// Unit tests that draw many cases: half a second and more each.
const SLOW: [&str; 2] = ["tests::trouble", "::nothing_that_"];

/// A mutant costs a build. Most are noticed by the tests next to the code, for which the core alone is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stage {
    /// The tests by the code that take no time.
    Quick,
    /// All tests by the code.
    Unit,
    /// The tests of the papers' claims, and a short search from fixed seeds.
    Search,
}

impl Stage {
    pub(crate) const ALL: [Self; 3] = [Self::Quick, Self::Unit, Self::Search];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick unit tests",
            Self::Unit => "all unit tests",
            Self::Search => "paper tests and short search",
        }
    }

    const fn tests(self) -> &'static [&'static str] {
        match self {
            Self::Quick | Self::Unit => &["--test-package=bellwether-proto", "--cargo-arg=--lib"],
            // What is not mutated passes: these are the tests of `make test`. To see that for itself, cargo-mutants would
            // look for them in the package that it mutates.
            Self::Search => &[
                "--baseline=skip",
                "--timeout=300",
                "--test-package=bellwether-sim",
                "--cargo-arg=--test=sim",
            ],
        }
    }

    /// Which of them, in the words of the test harness.
    fn chosen(self) -> Vec<&'static str> {
        match self {
            Self::Quick => SLOW.iter().flat_map(|name| ["--skip", name]).collect(),
            Self::Unit => Vec::new(),
            Self::Search => vec!["paper::", "short_search::"],
        }
    }

    /// Has these mutants judged. The outcomes are in `mutants.out` of the folder, whole or not.
    pub(crate) fn run(self, tree: &Path, folder: &Path, mutants: &[&Mutant]) -> Result<(), String> {
        let mut command = Command::new("cargo");
        command.args(["mutants", "--in-place", "--cargo-arg=--locked", "--no-times", "--dir"]).arg(tree);
        command.arg("--output").arg(folder).args(self.tests());
        for mutant in mutants {
            command.arg("--re").arg(exactly(&mutant.name));
        }
        command.args(["--", "--"]).args(self.chosen());
        // It fails if a mutant is missed; what came of each is in its file.
        command.status().map(drop).map_err(|error| format!("cargo mutants: {error}"))
    }
}

/// A pattern that matches this and nothing else.
fn exactly(text: &str) -> String {
    let mut pattern = String::from("^");
    for letter in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(letter) {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern + "$"
}
