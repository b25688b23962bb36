//! The folder `flaws` is complete: every erratum is either searched for or has a reason why no search shows it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use bellwether_sim::flaw::{Evidence, Flaw};
use bellwether_sim::run;
use bellwether_sim::scenario::Scenario;

#[test]
fn every_erratum_has_a_file_and_every_file_an_erratum() {
    let text = fs::read_to_string(root().join("docs/concepts/divergence.md")).expect("it can be read");
    let told: BTreeSet<_> = text.lines().filter_map(heading).collect();
    let filed: BTreeSet<_> = flaws().iter().map(|flaw| whole(&flaw.erratum).to_owned()).collect();
    let errata: BTreeSet<_> = filed.iter().filter(|name| name.starts_with("E-")).cloned().collect();
    assert_eq!(told, errata, "docs/concepts/divergence.md and flaws/ tell of the same errata");
    let ledgers = ["stoller-1997.md", "raynal-2007.md", "franceschetti-bruck-1998.md"];
    let folder = root().join("docs/papers");
    let ledgers = ledgers.map(|file| fs::read_to_string(folder.join(file)).expect("it can be read")).concat();
    for claim in filed.difference(&errata) {
        assert!(ledgers.contains(&format!("## {claim} ")), "{claim} is in no ledger");
    }
}

/// What stands beside a reason shows what is right instead.
#[test]
fn the_scenarios_beside_reasons_pass() {
    for flaw in flaws() {
        let Evidence::Reason { scenario: Some(file), .. } = &flaw.evidence else { continue };
        let text = fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let scenario = Scenario::parse(file, &text).unwrap_or_else(|error| panic!("{error}"));
        assert!(run::run(&scenario).passed(&scenario), "{file}");
        assert!(text.starts_with(&format!("# {}", flaw.erratum)), "{file} is about {}", flaw.erratum);
    }
}

/// The name of an erratum, in the heading of its section.
fn heading(line: &str) -> Option<String> {
    let (name, _) = line.strip_prefix("### ")?.split_once(':')?;
    name.starts_with("E-").then(|| name.to_owned())
}

/// An erratum without the letter of one of its parts.
fn whole(erratum: &str) -> &str {
    erratum.trim_end_matches(|c: char| c.is_ascii_lowercase())
}

fn flaws() -> Vec<Flaw> {
    let entries = fs::read_dir(root().join("flaws")).expect("the folder exists");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    files.sort();
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).expect("it can be read");
        Flaw::parse(&file.display().to_string(), &text).unwrap_or_else(|error| panic!("{error}"))
    };
    files.into_iter().map(read).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
