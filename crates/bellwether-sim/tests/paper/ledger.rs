//! The ledgers and the tests must agree, in both directions.
//!
//! A ledger in `docs/papers` has a section for each claim. Its heading is `## C14 tested` or `## C14 exception`. The
//! paragraphs that begin with `Tests:`, `Scenarios:` and `Reason:` name, in backticks, what shows the claim, or say why
//! nothing does. Everything else is for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use bellwether_sim::run;
use bellwether_sim::scenario::Scenario;

use super::papers::{PAPERS, Paper};

#[test]
fn the_ledgers_and_the_code_agree() {
    for paper in PAPERS {
        let problems = check(paper, &ledger(paper), &divergence(), &Repository::read(paper));
        assert!(problems.is_empty(), "docs/papers/{}.md:\n  {}", paper.key, problems.join("\n  "));
    }
}

/// A ledger that is not in the table would be held against nothing.
#[test]
fn every_ledger_belongs_to_a_paper() {
    let ledgers = file_names(&root().join("docs/papers"));
    let expected: BTreeSet<String> = PAPERS.iter().map(|paper| format!("{}.md", paper.key)).collect();
    assert_eq!(ledgers, expected, "docs/papers and the table in papers.rs");
}

#[test]
fn every_scenario_that_is_named_passes() {
    let ledgers = PAPERS.iter().map(ledger);
    let named: BTreeSet<String> =
        ledgers.chain([divergence()]).flat_map(|text| scenarios_in(&text).collect::<Vec<_>>()).collect();
    for file in named {
        let text = fs::read_to_string(root().join("scenarios").join(&file));
        let text = text.unwrap_or_else(|error| panic!("scenarios/{file}: {error}"));
        let scenario = Scenario::parse(&file, &text).unwrap_or_else(|error| panic!("{error}"));
        let report = run::run(&scenario);
        assert!(report.passed(&scenario), "{file}: {:?} {:?}", report.properties, report.expectations);
    }
}

/// A claim as the ledger has it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Claim {
    id: u32,
    status: String,
    tests: Vec<String>,
    scenarios: Vec<String>,
    reason: String,
}

/// What the ledger is held against.
struct Repository {
    /// Every test under `crates`.
    tests: BTreeSet<String>,
    /// The tests of the paper's own file.
    of_the_paper: BTreeSet<String>,
    /// The files in `scenarios`.
    scenarios: BTreeSet<String>,
}

impl Repository {
    fn read(paper: &Paper) -> Self {
        let tests =
            rust_files(&root().join("crates")).iter().flat_map(|file| tests_in(&read(file))).collect();
        let folder = root().join("crates/bellwether-sim/tests/paper");
        let of_the_paper = paper.tests.iter().flat_map(|file| tests_in(&read(&folder.join(file))));
        Self { tests, of_the_paper: of_the_paper.collect(), scenarios: file_names(&root().join("scenarios")) }
    }
}

/// Everything in which a paper's ledger and the repository differ.
fn check(paper: &Paper, ledger: &str, divergence: &str, repository: &Repository) -> Vec<String> {
    let claims = parse(ledger);
    let mut problems = Vec::new();
    check_numbers(paper, &claims, &mut problems);
    for claim in &claims {
        check_claim(claim, repository, &mut problems);
    }
    check_tests_are_named(paper, &claims, repository, &mut problems);
    check_scenarios_are_named(paper, [ledger, divergence], repository, &mut problems);
    check_errata(paper, divergence, &mut problems);
    problems
}

fn check_numbers(paper: &Paper, claims: &[Claim], problems: &mut Vec<String>) {
    let all = &paper.claims;
    let mut times: BTreeMap<u32, u32> = all.clone().map(|id| (id, 0)).collect();
    for Claim { id, .. } in claims {
        match times.get_mut(id) {
            Some(times) => *times += 1,
            None => problems.push(format!("C{id} is not a claim of this paper, whose claims are {all:?}")),
        }
    }
    for (id, times) in times {
        match times {
            1 => {}
            0 => problems.push(format!("C{id} has no entry")),
            _ => problems.push(format!("C{id} has {times} entries")),
        }
    }
}

fn check_claim(claim: &Claim, repository: &Repository, problems: &mut Vec<String>) {
    let Claim { id, status, tests, scenarios, reason } = claim;
    match status.as_str() {
        "tested" if tests.is_empty() && scenarios.is_empty() => {
            problems.push(format!("C{id} is called tested, but names no test and no scenario"));
        }
        "exception" if reason.is_empty() => problems.push(format!("C{id} is an exception without a Reason:")),
        "tested" | "exception" => {}
        other => problems.push(format!("C{id} is neither tested nor an exception, but {other:?}")),
    }
    for test in tests.iter().filter(|test| !repository.tests.contains(*test)) {
        problems.push(format!("C{id} names the test {test}, which does not exist"));
    }
    for scenario in scenarios.iter().filter(|scenario| !repository.scenarios.contains(*scenario)) {
        problems.push(format!("C{id} names scenarios/{scenario}, which does not exist"));
    }
}

/// A test whose name begins with the numbers of claims belongs under each of them.
fn check_tests_are_named(
    paper: &Paper,
    claims: &[Claim],
    repository: &Repository,
    problems: &mut Vec<String>,
) {
    for test in &repository.of_the_paper {
        let ids = claims_of(test);
        if ids.is_empty() {
            problems.push(format!(
                "the test {test} in {} does not say which claim it is of",
                paper.tests.join(" or ")
            ));
        }
        for id in ids {
            if !claims.iter().any(|claim| claim.id == id && claim.tests.contains(test)) {
                problems.push(format!("the test {test} is not named under C{id}"));
            }
        }
    }
}

fn check_scenarios_are_named(
    paper: &Paper,
    [ledger, divergence]: [&str; 2],
    repository: &Repository,
    problems: &mut Vec<String>,
) {
    let named: BTreeSet<String> = scenarios_in(ledger).chain(scenarios_in(divergence)).collect();
    for file in &repository.scenarios {
        if paper.scenarios.iter().any(|start| file.starts_with(start)) && !named.contains(file) {
            problems
                .push(format!("scenarios/{file} is named neither here nor in docs/concepts/divergence.md"));
        }
    }
    for file in scenarios_in(divergence).filter(|file| !repository.scenarios.contains(file)) {
        problems.push(format!("docs/concepts/divergence.md names scenarios/{file}, which does not exist"));
    }
}

fn check_errata(paper: &Paper, divergence: &str, problems: &mut Vec<String>) {
    for erratum in paper.errata.clone().map(|n| format!("{}{n}", paper.erratum)) {
        let heading = format!("{erratum}:");
        if !divergence.lines().any(|line| line.starts_with('#') && line.contains(&heading)) {
            problems.push(format!("docs/concepts/divergence.md has no section on {erratum}"));
        }
    }
}

fn parse(ledger: &str) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Vec::new();
    for paragraph in ledger.split("\n\n").map(str::trim) {
        if let Some((id, status)) = heading(paragraph) {
            claims.push(Claim { id, status, ..Claim::default() });
            continue;
        }
        let Some(claim) = claims.last_mut() else { continue };
        if let Some(tests) = paragraph.strip_prefix("Tests:") {
            claim.tests.extend(in_backticks(tests));
        } else if let Some(scenarios) = paragraph.strip_prefix("Scenarios:") {
            claim.scenarios.extend(in_backticks(scenarios));
        } else if let Some(reason) = paragraph.strip_prefix("Reason:") {
            reason.trim().clone_into(&mut claim.reason);
        }
    }
    claims
}

/// `## C14 tested`
fn heading(paragraph: &str) -> Option<(u32, String)> {
    let (id, status) = paragraph.strip_prefix("## C")?.split_once(' ')?;
    Some((id.parse().ok()?, status.to_owned()))
}

/// `c30_c31_…` is a test of claims 30 and 31.
fn claims_of(test: &str) -> Vec<u32> {
    test.split('_').map_while(|word| word.strip_prefix('c')?.parse().ok()).collect()
}

fn in_backticks(text: &str) -> impl Iterator<Item = String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned)
}

/// The scenario files that a text names, with or without their folder.
fn scenarios_in(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)));
    words.filter(|word| word.len() > ".toml".len() && word.ends_with(".toml")).map(str::to_owned)
}

/// The names of the functions that are marked as tests.
fn tests_in(source: &str) -> Vec<String> {
    let mut marked = false;
    let name_of_test = |line: &str| {
        marked |= line == "#[test]";
        let (name, _) = line.strip_prefix("fn ")?.split_once('(')?;
        std::mem::take(&mut marked).then(|| name.to_owned())
    };
    source.lines().map(str::trim).filter_map(name_of_test).collect()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("readable").path());
    let files = paths.map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] });
    files.flatten().filter(|path| path.extension().is_some_and(|ext| ext == "rs")).collect()
}

/// The names of what a folder holds.
fn file_names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned()).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn ledger(paper: &Paper) -> String {
    read(&root().join("docs/papers").join(format!("{}.md", paper.key)))
}

fn divergence() -> String {
    read(&root().join("docs/concepts/divergence.md"))
}

// The check can fail.

const MADE_UP: Paper = Paper {
    key: "nobody-1900",
    tests: &["nobody_1900.rs"],
    claims: 7..=12,
    erratum: "E-NO",
    errata: 1..=3,
    scenarios: &["eno", "n0"],
};

/// A repository with one test of claims 7 and 8, one elsewhere, and two scenarios.
fn planted() -> Repository {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Repository {
        tests: names(&["c7_c8_both", "elsewhere"]),
        of_the_paper: names(&["c7_c8_both"]),
        scenarios: names(&["eno1-x.toml", "other.toml"]),
    }
}

/// A ledger that agrees with it. C12 is the exception.
fn sound() -> String {
    let mut ledger =
        "# A paper\n\nFor people: `nothing`.\n\n## C7 tested\n\n> \"Quoted.\"\n\nTests: `c7_c8_both`,\n\
                      `elsewhere`\n\nScenarios: `eno1-x.toml`\n\n## C8 tested\n\nTests: `c7_c8_both`\n\n"
            .to_owned();
    for id in 9..=11 {
        ledger += &format!("## C{id} tested\n\nScenarios: `other.toml`\n\n");
    }
    ledger + "## C12 exception\n\nReason: it is not so.\n"
}

fn errata() -> String {
    MADE_UP.errata.map(|n| format!("## E-NO{n}: a slip\n\n")).collect()
}

/// What is wrong with these and the sound ledger.
fn problems(divergence: &str, repository: &Repository) -> String {
    check(&MADE_UP, &sound(), divergence, repository).join("\n")
}

#[test]
fn a_sound_ledger_has_no_problems() {
    assert_eq!(problems(&errata(), &planted()), "");
    let first = &parse(&sound())[0];
    assert_eq!((first.id, first.status.as_str()), (7, "tested"));
    assert_eq!(first.tests, ["c7_c8_both", "elsewhere"], "a list goes on to the end of its paragraph");
    assert_eq!(first.scenarios, ["eno1-x.toml"]);
}

#[test]
fn every_way_to_be_unsound_is_found() {
    let cases = [
        ("## C10 tested", "## 10 tested", "C10 has no entry"),
        ("## C10 tested", "## C11 tested", "C11 has 2 entries"),
        ("## C10 tested", "## C13 tested", "C13 is not a claim of this paper, whose claims are 7..=12"),
        ("## C10 tested", "## C10 believed", "C10 is neither tested nor an exception, but \"believed\""),
        (
            "C9 tested\n\nScenarios:",
            "C9 tested\n\n",
            "C9 is called tested, but names no test and no scenario",
        ),
        ("Reason: it is not so.", "", "C12 is an exception without a Reason:"),
        ("Reason: it is not so.", "Reason:", "C12 is an exception without a Reason:"),
        ("`elsewhere`", "`nowhere`", "C7 names the test nowhere, which does not exist"),
        (
            "C8 tested\n\nTests: `c7_c8_both`",
            "C8 tested\n\nTests: `elsewhere`",
            "c7_c8_both is not named under C8",
        ),
        ("`other.toml`", "`missing.toml`", "C9 names scenarios/missing.toml, which does not exist"),
        (
            "Scenarios: `eno1-x.toml`",
            "",
            "scenarios/eno1-x.toml is named neither here nor in docs/concepts/divergence.md",
        ),
    ];
    for (sound_part, unsound, expected) in cases {
        let ledger = sound().replacen(sound_part, unsound, 1);
        assert_ne!(ledger, sound(), "{sound_part:?} is part of the sound ledger");
        let problems = check(&MADE_UP, &ledger, &errata(), &planted());
        assert!(problems.iter().any(|problem| problem.contains(expected)), "{expected}: {problems:?}");
    }
}

#[test]
fn what_the_other_files_lack_is_found() {
    let without_one = errata().replace("## E-NO2: a slip", "E-NO2: a slip");
    assert_eq!(problems(&without_one, &planted()), "docs/concepts/divergence.md has no section on E-NO2");
    let gone = errata() + "Run `bellwether sim scenarios/gone.toml`.";
    assert_eq!(
        problems(&gone, &planted()),
        "docs/concepts/divergence.md names scenarios/gone.toml, which does not exist"
    );
    let mut repository = planted();
    repository.of_the_paper.insert("about_nothing".to_owned());
    assert!(
        problems(&errata(), &repository).contains("about_nothing in nobody_1900.rs does not say which claim")
    );
    let mut repository = planted();
    repository.scenarios.insert("n02-y.toml".to_owned());
    assert!(problems(&errata(), &repository).contains("scenarios/n02-y.toml is named neither"));
    let named = errata() + "`bellwether sim scenarios/n02-y.toml`";
    assert_eq!(problems(&named, &repository), "", "there is enough");
}

/// Each paper has its own errata and scenarios, and all papers share one file and one folder for them.
#[test]
fn what_belongs_to_another_paper_is_no_problem() {
    let mut repository = planted();
    repository.scenarios.insert("est01-z.toml".to_owned());
    assert_eq!(problems(&(errata() + "## E-ST1: a slip\n\n"), &repository), "");
}

#[test]
fn only_tests_count_as_tests() {
    let source =
        "#[test]\nfn one() {\n}\nfn helper() {}\n#[test]\n#[should_panic]\nfn two() {}\n// fn three() {}\n";
    assert_eq!(tests_in(source), ["one", "two"]);
    assert_eq!(claims_of("c30_c31_on_every_graph"), [30, 31]);
    assert_eq!(claims_of("c7"), [7]);
    assert!(claims_of("cut_c7").is_empty());
}
