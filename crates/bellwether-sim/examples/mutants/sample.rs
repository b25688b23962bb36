//! Which mutants there are, and which of them are in the sample.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// A small bug.
pub(crate) struct Mutant {
    /// What `cargo mutants` calls it: the place, with line and column, and what is replaced.
    pub(crate) name: String,
    /// The same without line and column, so that it stays the same when something else changes. Where a function has
    /// several alike, they are numbered.
    pub(crate) key: String,
    /// The lines that it changes, with those around them.
    diff: String,
}

impl Mutant {
    /// Changes when the lines do: other lines are another mutant.
    pub(crate) fn fingerprint(&self) -> u64 {
        xxh3_64(self.diff.as_bytes())
    }
}

#[derive(Deserialize)]
struct Listed {
    name: String,
    diff: String,
}

/// Every mutant of the sources in that folder, in the order of the sources.
pub(crate) fn list(tree: &Path) -> Result<Vec<Mutant>, String> {
    let mut command = Command::new("cargo");
    command.args(["mutants", "--list", "--json", "--diff", "--dir"]).arg(tree).stderr(Stdio::inherit());
    let output = command.output().map_err(|error| format!("cargo mutants: {error}"))?;
    if !output.status.success() {
        return Err(
            "cargo mutants --list failed; is cargo-mutants installed? `make mutants` installs it".into()
        );
    }
    let listed: Vec<Listed> = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mutant = |Listed { name, diff }| {
        let alike = without_place(&name);
        let times = seen.entry(alike.clone()).or_default();
        *times += 1;
        let key = if *times == 1 { alike } else { format!("{alike} ({times})") };
        let diff = diff.lines().filter(|line| !line.starts_with("@@")).collect::<Vec<_>>().join("\n");
        Mutant { name, key, diff }
    };
    Ok(listed.into_iter().map(mutant).collect())
}

/// `file:line:column: what` as `file: what`.
fn without_place(name: &str) -> String {
    let (place, what) = name.split_once(": ").expect("a place and what is done there");
    let file = place.split(':').next().unwrap_or(place);
    let file = file.strip_prefix("crates/bellwether-proto/src/").unwrap_or(file);
    format!("{file}: {what}")
}

/// Those with the smallest hashes: a sample that is random, always the same, and changes by what was added or removed alone.
pub(crate) fn pick(all: &[Mutant], count: usize, seed: u64) -> Vec<&Mutant> {
    let mut picked: Vec<_> = all.iter().collect();
    picked.sort_by_cached_key(|mutant| xxh3_64_with_seed(mutant.key.as_bytes(), seed));
    picked.truncate(count);
    picked
}
