//! The rules of the house that no lint can enforce.

mod algorithms;
mod code;
mod files;
mod modules;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use bellwether_sim::scenario::Scenario;

use files::{SourceFile, entries, name, root, shown, sources, walk};

/// A file that is longer is two.
const LINES_MAX: usize = 700;

/// The README is the front door; the rest is in `docs`.
const README_WORDS_MAX: usize = 1200;

/// Which crates of ours each may use, and which more its tests may.
const ARROWS: &[(&str, &[&str], &[&str])] = &[
    ("bellwether-proto", &[], &[]),
    ("bellwether-sim", &["bellwether-proto", "bellwether-toml"], &[]),
    ("bellwether-toml", &[], &[]),
    ("bellwether", &["bellwether-proto"], &["bellwether-sim"]),
    ("bellwether-rain", &[], &[]),
    (
        "bellwether-cli",
        &["bellwether", "bellwether-proto", "bellwether-rain", "bellwether-sim", "bellwether-toml"],
        &[],
    ),
];

#[test]
fn files_are_short() {
    let long: Vec<_> = sources()
        .into_iter()
        .filter(|file| file.text.lines().count() > LINES_MAX)
        .map(|file| file.path)
        .collect();
    assert!(long.is_empty(), "over {LINES_MAX} lines: {long:?}");
}

#[test]
fn nothing_is_left_for_later() {
    // Put together here, so that this file does not break the rule.
    let words = [concat!("to", "do!("), concat!("FIX", "ME"), concat!("XX", "X"), concat!("#[", "ignore")];
    ban(&words, |_| true, "do it, or write down why not");
}

#[test]
fn the_core_and_the_world_have_one_order() {
    let words = [concat!("Hash", "Map"), concat!("Hash", "Set")];
    ban(&words, SourceFile::is_deterministic, "use a BTreeMap or a BTreeSet");
}

#[test]
fn no_test_waits_for_the_clock() {
    let words = [concat!("thread::", "sleep")];
    ban(
        &words,
        |file| file.is_test() || file.is_deterministic(),
        "advance virtual time, or wait for an event",
    );
}

#[test]
fn modules_are_named_after_what_they_hold() {
    let unnamed: Vec<_> =
        sources().into_iter().map(|file| file.path).filter(|path| path.ends_with("/mod.rs")).collect();
    assert!(unnamed.is_empty(), "name the file after the module: {unnamed:?}");
}

#[test]
fn crates_depend_in_one_direction() {
    let crates: BTreeSet<_> = entries(&root().join("crates")).iter().map(|path| name(path)).collect();
    let known: BTreeSet<_> = ARROWS.iter().map(|(name, ..)| (*name).to_owned()).collect();
    assert_eq!(crates, known, "a new crate needs a place here");
    for (name, uses, tests_use) in ARROWS {
        let manifest = fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let normal = ours(&manifest, &["dependencies", "build-dependencies"]);
        let allowed: BTreeSet<_> = uses.iter().map(|name| (*name).to_owned()).collect();
        assert!(normal.is_subset(&allowed), "{name} uses {normal:?}, may use {allowed:?}");
        let dev = ours(&manifest, &["dev-dependencies"]);
        let allowed: BTreeSet<_> = uses.iter().chain(*tests_use).map(|name| (*name).to_owned()).collect();
        assert!(dev.is_subset(&allowed), "tests of {name} use {dev:?}, may use {allowed:?}");
    }
}

/// Cargo says nothing of a file in `tests` that no binary includes: its tests would never run.
#[test]
fn every_file_of_tests_belongs_to_a_binary() {
    for krate in entries(&root().join("crates")).iter().filter(|krate| krate.join("tests").exists()) {
        let files = walk(&krate.join("tests"), "rs");
        let declared: BTreeSet<_> = files.iter().flat_map(|file| declared_in(file)).collect();
        let roots = test_roots(krate);
        let forgotten: Vec<_> =
            files.iter().filter(|file| !roots.contains(file) && !declared.contains(*file)).collect();
        assert!(forgotten.is_empty(), "declare a `mod` for {forgotten:#?}");
    }
}

/// `make test` runs `sim` and `netns` beside all others, which it can only name by how they begin. So it does with benchmarks; those
/// of the simulator are a module of `sim`.
#[test]
fn every_binary_of_tests_is_run_by_make() {
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    for lane in ["--test sim\n", "--test netns\n", "--bench '[!s]*' --test '[!ns]*' --test 's[!i]*'"] {
        assert!(makefile.contains(lane), "{lane}");
    }
    let crates = entries(&root().join("crates"));
    let listed = |kind| crates.iter().flat_map(move |krate| listed(krate, kind));
    let benches: Vec<_> = listed("bench").filter(|bench| bench.starts_with('s')).collect();
    assert_eq!(benches, ["simulator"], "call others otherwise, or have `make agents` run them");
    let found = crates.iter().filter(|krate| krate.join("tests").exists());
    let found = found.flat_map(|krate| entries(&krate.join("tests")));
    let found = found.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    let is_left_out = |name: &String| name.starts_with("si") || name.starts_with('n');
    let missed: Vec<_> = listed("test")
        .chain(found)
        .filter(|name| is_left_out(name) && !["sim", "netns"].contains(&name.as_str()))
        .collect();
    assert!(missed.is_empty(), "call them otherwise, or have `make agents` run them: {missed:?}");
}

#[test]
fn scenarios_parse_and_begin_by_saying_what_they_show() {
    let files = walk(&root().join("scenarios"), "toml");
    assert!(!files.is_empty());
    for file in files {
        let (path, text) = (shown(&file), fs::read_to_string(&file).unwrap());
        Scenario::parse(&path, &text).unwrap_or_else(|error| panic!("{error}"));
        assert!(text.starts_with("# "), "{path}: the first line is a comment that says what it shows");
    }
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut broken = Vec::new();
    for file in walk(&root(), "md") {
        let text = fs::read_to_string(&file).unwrap();
        broken.extend(
            links(&text)
                .into_iter()
                .filter(|link| !leads_somewhere(&file, link))
                .map(|link| format!("{}: {link}", shown(&file))),
        );
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// Whether a link in this document has a file, and the heading that it names in there.
fn leads_somewhere(document: &Path, link: &str) -> bool {
    let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if target.is_empty() {
        document.to_owned()
    } else {
        document.parent().expect("a file is in a directory").join(target)
    };
    target.exists()
        && (anchor.is_empty()
            || fs::read_to_string(&target).is_ok_and(|text| anchors(&text).contains(anchor)))
}

/// Links are followed by another test, and scenarios are played by another; here each behaviour has one, or a test by its name.
#[test]
fn everything_that_an_agent_does_is_shown_by_a_scenario_or_a_test() {
    let guide = fs::read_to_string(root().join("docs/guides/agent.md")).unwrap();
    let (_, table) = guide.split_once("## What happens when").expect("the guide has the table");
    let rows: Vec<_> = table.lines().skip_while(|line| !line.starts_with("|---")).skip(1).collect();
    let rows: Vec<_> = rows.into_iter().take_while(|line| line.starts_with('|')).collect();
    assert!(rows.len() > 10, "the rows are found");
    let sources = sources();
    for row in rows {
        let shown_by = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
        let test = shown_by.strip_prefix("test `").and_then(|rest| rest.strip_suffix('`'));
        let is_test = test.is_some_and(|test| {
            sources.iter().any(|file| file.is_test() && file.text.contains(&format!("fn {test}()")))
        });
        assert!(shown_by.contains("/scenarios/") || is_test, "nothing shows {row}");
    }
}

#[test]
fn the_map_of_the_code_names_files_that_exist() {
    let crates = [("P/", "-proto"), ("S/", "-sim"), ("B/", ""), ("C/", "-cli"), ("R/", "-rain")];
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let named = prose(&text).flat_map(|line| line.split('`').skip(1).step_by(2));
    let mut found = 0;
    for path in named.filter(|name| !name.contains('<')) {
        let Some((rest, krate)) = crates.iter().find_map(|(at, krate)| Some((path.strip_prefix(at)?, krate)))
        else {
            continue;
        };
        let file = root().join("crates").join(format!("bellwether{krate}")).join("src").join(rest);
        assert!(file.exists(), "ARCHITECTURE.md names `{path}`");
        found += 1;
    }
    assert!(found > 20, "only {found} were found");
}

#[test]
fn the_readme_is_short() {
    let words = fs::read_to_string(root().join("README.md")).unwrap().split_whitespace().count();
    assert!(words <= README_WORDS_MAX, "{words} words: more belongs in docs, {README_WORDS_MAX} stay here");
}

#[test]
fn headings_are_found() {
    let text = "# The `check` command: try it\n```sh\n# no\n```\n## Two  words\n## It\n## It\n";
    let expected = ["the-check-command-try-it", "two--words", "it", "it-1"];
    assert_eq!(anchors(text), expected.map(str::to_owned).into());
}

#[test]
fn links_are_found() {
    let text = "A [link](docs/a.md), [two](b.md#part)\n```text\n[no](c.md)\n```\n`[nor](d.md)` ![image](e.svg)\n\
                [out](https://example.org) [titled](f.md \"Title\")";
    assert_eq!(links(text), ["docs/a.md", "b.md#part", "e.svg", "f.md"]);
}

fn ban(words: &[&str], applies: impl Fn(&SourceFile) -> bool, instead: &str) {
    let mut found = Vec::new();
    for file in sources().iter().filter(|file| applies(file)) {
        for (place, line) in file.text.lines().enumerate() {
            if words.iter().any(|word| line.contains(word)) {
                found.push(format!("{}:{}: {}", file.path, place + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "{instead}: {found:#?}");
}

/// The crates of ours in these tables of a manifest, those for single platforms included.
fn ours(manifest: &toml::Table, tables: &[&str]) -> BTreeSet<String> {
    let platforms =
        manifest.get("target").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::values);
    let places = platforms.filter_map(toml::Value::as_table).chain([manifest]);
    let dependencies = places
        .flat_map(|place| tables.iter().filter_map(|table| place.get(*table)?.as_table()))
        .flat_map(toml::Table::iter);
    let package = |(key, value): (&String, &toml::Value)| {
        value.get("package").and_then(toml::Value::as_str).unwrap_or(key).to_owned()
    };
    dependencies.map(package).filter(|name| name.starts_with("bellwether")).collect()
}

/// The first files of a crate's test binaries: those that its manifest lists, and those that cargo finds if it may.
fn test_roots(krate: &Path) -> Vec<PathBuf> {
    let manifest: toml::Table = fs::read_to_string(krate.join("Cargo.toml")).unwrap().parse().unwrap();
    let tests = krate.join("tests");
    let listed = manifest.get("test").and_then(toml::Value::as_array).into_iter().flatten();
    let listed = listed.map(|test| match test.get("path") {
        Some(path) => krate.join(path.as_str().unwrap()),
        None => tests.join(test["name"].as_str().unwrap()).with_extension("rs"),
    });
    let found = match manifest["package"].get("autotests").and_then(toml::Value::as_bool) {
        Some(false) => Vec::new(),
        _ => entries(&tests),
    };
    let found = found.into_iter().map(|path| if path.is_dir() { path.join("main.rs") } else { path });
    listed.chain(found).collect()
}

/// The names of the targets of that kind that a crate's manifest lists.
fn listed(krate: &Path, kind: &str) -> Vec<String> {
    let manifest: toml::Table = fs::read_to_string(krate.join("Cargo.toml")).unwrap().parse().unwrap();
    let targets = manifest.get(kind).and_then(toml::Value::as_array).into_iter().flatten();
    targets.map(|target| target["name"].as_str().unwrap().to_owned()).collect()
}

/// The files that the `mod` declarations of a file may mean: beside it, in the folder of its name, or where `path` says.
fn declared_in(file: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(file).unwrap();
    let (beside, below) = (file.parent().unwrap(), file.with_extension(""));
    let mut declared = Vec::new();
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("#[path = \"").and_then(|rest| rest.strip_suffix("\"]")) {
            declared.extend(beside.join(path).canonicalize());
        } else if let Some((_, module)) =
            line.trim_end_matches(';').split_once("mod ").filter(|_| line.ends_with(';'))
        {
            declared.extend([beside, &below].map(|dir| dir.join(module).with_extension("rs")));
        }
    }
    declared
}

/// The targets of a document's links to files, outside of code.
fn links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    for line in prose(text) {
        let plain: String = line.split('`').step_by(2).collect();
        let targets = plain.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
        links.extend(targets.filter(|target| !target.contains(':')).map(str::to_owned));
    }
    links
}

/// The anchors of a document's headings, as GitHub makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for heading in prose(text).filter_map(|line| line.strip_prefix('#')) {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let again = (1..).map(|count| format!("{anchor}-{count}")).find(|again| !anchors.contains(again));
        anchors.insert(if anchors.contains(&anchor) { again.expect("there are few") } else { anchor });
    }
    anchors
}

/// The lines of a document outside of code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}
