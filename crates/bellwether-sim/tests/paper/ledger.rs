//! The ledgers and the tests must agree, in both directions.
//!
//! A ledger in `docs/papers` has a section for each claim. Its heading is `## C14 tested` or `## C14 exception`. The
//! paragraphs that begin with `Tests:`, `Scenarios:` and `Reason:` name, in backticks, what shows the claim, or say why
//! nothing does. Everything else is for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use bellwether_sim::run;
use bellwether_sim::scenario::Scenario;

const CLAIMS: RangeInclusive<u32> = 14..=36;
const ERRATA: RangeInclusive<u32> = 1..=14;
/// Scenarios with names like these exist for the paper's sake.
const PAPER_SCENARIOS: [&str; 5] = ["est", "s0", "s1", "c2", "c3"];

#[test]
fn the_ledger_and_the_code_agree() {
    let problems = check(&ledger(), &divergence(), &Repository::read());
    assert!(problems.is_empty(), "docs/papers/stoller-1997.md:\n  {}", problems.join("\n  "));
}

#[test]
fn every_scenario_that_is_named_passes() {
    let named = scenarios_in(&ledger()).chain(scenarios_in(&divergence())).collect::<BTreeSet<_>>();
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
    fn read() -> Self {
        let tests =
            rust_files(&root().join("crates")).iter().flat_map(|file| tests_in(&read(file))).collect();
        let of_the_paper = read(&root().join("crates/bellwether-sim/tests/paper/stoller_1997.rs"));
        let entries = fs::read_dir(root().join("scenarios")).expect("there are scenarios");
        let scenarios =
            entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned());
        Self {
            tests,
            of_the_paper: tests_in(&of_the_paper).into_iter().collect(),
            scenarios: scenarios.collect(),
        }
    }
}

/// Everything in which ledger and repository differ.
fn check(ledger: &str, divergence: &str, repository: &Repository) -> Vec<String> {
    let claims = parse(ledger);
    let mut problems = Vec::new();
    check_numbers(&claims, &mut problems);
    for claim in &claims {
        check_claim(claim, repository, &mut problems);
    }
    check_tests_are_named(&claims, repository, &mut problems);
    check_scenarios_are_named(ledger, divergence, repository, &mut problems);
    check_errata(divergence, &mut problems);
    problems
}

fn check_numbers(claims: &[Claim], problems: &mut Vec<String>) {
    let mut times: BTreeMap<u32, u32> = CLAIMS.map(|id| (id, 0)).collect();
    for Claim { id, .. } in claims {
        match times.get_mut(id) {
            Some(times) => *times += 1,
            None => problems.push(format!("C{id} is not a claim of this paper, whose claims are {CLAIMS:?}")),
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
fn check_tests_are_named(claims: &[Claim], repository: &Repository, problems: &mut Vec<String>) {
    for test in &repository.of_the_paper {
        let ids = claims_of(test);
        if ids.is_empty() {
            problems.push(format!("the test {test} in stoller_1997.rs does not say which claim it is of"));
        }
        for id in ids {
            if !claims.iter().any(|claim| claim.id == id && claim.tests.contains(test)) {
                problems.push(format!("the test {test} is not named under C{id}"));
            }
        }
    }
}

fn check_scenarios_are_named(
    ledger: &str,
    divergence: &str,
    repository: &Repository,
    problems: &mut Vec<String>,
) {
    let named: BTreeSet<String> = scenarios_in(ledger).chain(scenarios_in(divergence)).collect();
    for file in &repository.scenarios {
        if PAPER_SCENARIOS.iter().any(|start| file.starts_with(start)) && !named.contains(file) {
            problems.push(format!("scenarios/{file} is named neither here nor in docs/divergence.md"));
        }
    }
    for file in scenarios_in(divergence).filter(|file| !repository.scenarios.contains(file)) {
        problems.push(format!("docs/divergence.md names scenarios/{file}, which does not exist"));
    }
}

fn check_errata(divergence: &str, problems: &mut Vec<String>) {
    for n in ERRATA {
        let heading = format!("E-ST{n}:");
        if !divergence.lines().any(|line| line.starts_with('#') && line.contains(&heading)) {
            problems.push(format!("docs/divergence.md has no section on E-ST{n}"));
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

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn ledger() -> String {
    read(&root().join("docs/papers/stoller-1997.md"))
}

fn divergence() -> String {
    read(&root().join("docs/divergence.md"))
}

// The check can fail.

/// A repository with one test of claims 14 and 15, one elsewhere, and two scenarios.
fn planted() -> Repository {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Repository {
        tests: names(&["c14_c15_both", "elsewhere"]),
        of_the_paper: names(&["c14_c15_both"]),
        scenarios: names(&["est01-x.toml", "other.toml"]),
    }
}

/// A ledger that agrees with it. C36 is the exception.
fn sound() -> String {
    let mut ledger =
        "# A paper\n\nFor people: `nothing`.\n\n## C14 tested\n\n> \"Quoted.\"\n\nTests: `c14_c15_both`,\n\
                      `elsewhere`\n\nScenarios: `est01-x.toml`\n\n## C15 tested\n\nTests: `c14_c15_both`\n\n"
            .to_owned();
    for id in 16..=35 {
        ledger += &format!("## C{id} tested\n\nScenarios: `other.toml`\n\n");
    }
    ledger + "## C36 exception\n\nReason: it is not so.\n"
}

fn errata() -> String {
    ERRATA.map(|n| format!("## E-ST{n}: a slip\n\n")).collect()
}

#[test]
fn a_sound_ledger_has_no_problems() {
    assert_eq!(check(&sound(), &errata(), &planted()), Vec::<String>::new());
    let first = &parse(&sound())[0];
    assert_eq!((first.id, first.status.as_str()), (14, "tested"));
    assert_eq!(first.tests, ["c14_c15_both", "elsewhere"], "a list goes on to the end of its paragraph");
    assert_eq!(first.scenarios, ["est01-x.toml"]);
}

#[test]
fn every_way_to_be_unsound_is_found() {
    let cases = [
        ("## C20 tested", "## 20 tested", "C20 has no entry"),
        ("## C20 tested", "## C21 tested", "C21 has 2 entries"),
        ("## C20 tested", "## C37 tested", "C37 is not a claim of this paper"),
        ("## C20 tested", "## C20 believed", "C20 is neither tested nor an exception, but \"believed\""),
        (
            "C16 tested\n\nScenarios:",
            "C16 tested\n\n",
            "C16 is called tested, but names no test and no scenario",
        ),
        ("Reason: it is not so.", "", "C36 is an exception without a Reason:"),
        ("Reason: it is not so.", "Reason:", "C36 is an exception without a Reason:"),
        ("`elsewhere`", "`nowhere`", "C14 names the test nowhere, which does not exist"),
        (
            "C15 tested\n\nTests: `c14_c15_both`",
            "C15 tested\n\nTests: `elsewhere`",
            "c14_c15_both is not named under C15",
        ),
        ("`other.toml`", "`missing.toml`", "C16 names scenarios/missing.toml, which does not exist"),
        (
            "Scenarios: `est01-x.toml`",
            "",
            "scenarios/est01-x.toml is named neither here nor in docs/divergence.md",
        ),
    ];
    for (sound_part, unsound, expected) in cases {
        let ledger = sound().replacen(sound_part, unsound, 1);
        assert_ne!(ledger, sound(), "{sound_part:?} is part of the sound ledger");
        let problems = check(&ledger, &errata(), &planted());
        assert!(problems.iter().any(|problem| problem.contains(expected)), "{expected}: {problems:?}");
    }
}

#[test]
fn what_the_other_files_lack_is_found() {
    let problems =
        |divergence: &str, repository: &Repository| check(&sound(), divergence, repository).join("\n");
    let without_one = errata().replace("## E-ST7: a slip", "E-ST7: a slip");
    assert_eq!(problems(&without_one, &planted()), "docs/divergence.md has no section on E-ST7");
    let gone = errata() + "Run `bellwether sim scenarios/gone.toml`.";
    assert_eq!(
        problems(&gone, &planted()),
        "docs/divergence.md names scenarios/gone.toml, which does not exist"
    );
    let mut repository = planted();
    repository.of_the_paper.insert("about_nothing".to_owned());
    assert!(
        problems(&errata(), &repository)
            .contains("about_nothing in stoller_1997.rs does not say which claim")
    );
    let mut repository = planted();
    repository.scenarios.insert("s02-y.toml".to_owned());
    assert!(problems(&errata(), &repository).contains("scenarios/s02-y.toml is named neither"));
    let named = errata() + "`bellwether sim scenarios/s02-y.toml`";
    assert_eq!(problems(&named, &repository), "", "there is enough");
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
