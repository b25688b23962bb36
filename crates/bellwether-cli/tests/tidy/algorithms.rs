//! What CONTRIBUTING says about adding an algorithm: its places are all there are.

use std::fs;

use bellwether_proto::election::Protocol;

use super::code::{Code, code, names_after};
use super::files::{root, walk};

/// The code that an algorithm is: its file, and the file that has the table.
const OWN_FILE: &str = "crates/bellwether-proto/src/election/<name>.rs";
const TABLE: &str = "crates/bellwether-proto/src/election.rs";

/// Studies and demonstrations of certain algorithms, which name them. A new algorithm is nothing to them.
const STUDIES: &[&str] = &[
    "crates/bellwether-cli/src/commands/compare/families.rs",
    "crates/bellwether-cli/src/commands/demo/rain/setup.rs",
    "crates/bellwether-sim/src/measure/families.rs",
    "crates/bellwether-sim/src/measure/omega.rs",
];

/// A line of the table.
struct Algorithm {
    protocol: Protocol,
    module: String,
    variant: String,
}

#[test]
fn an_algorithm_is_named_in_its_own_places_alone() {
    let (algorithms, code) = (algorithms(), code());
    let mut strange = Vec::new();
    for algorithm in &algorithms {
        let own = algorithm.fill_in(OWN_FILE);
        for file in code.iter().filter(|file| names(file, algorithm)) {
            let is_own = file.path == own || file.path.starts_with(&own.replace(".rs", "/"));
            if !is_own && file.path != TABLE && !STUDIES.contains(&file.path.as_str()) {
                strange.push(format!("{} names {}", file.path, algorithm.protocol.name()));
            }
        }
    }
    assert!(strange.is_empty(), "ask `Spec` instead: {strange:#?}");
    let idle = |study: &&&str| {
        let file = code.iter().find(|file| file.path == **study);
        !file.is_some_and(|file| algorithms.iter().any(|algorithm| names(file, algorithm)))
    };
    let idle: Vec<_> = STUDIES.iter().filter(idle).collect();
    assert!(idle.is_empty(), "they name no algorithm any more: {idle:?}");
}

/// The list names the two places of the code and no third, and whatever it names is there for every algorithm.
#[test]
fn the_list_of_places_is_true() {
    let steps = steps();
    let paths: Vec<_> =
        steps.iter().flat_map(|step| quoted(step)).filter(|path| path.contains('/')).collect();
    let shipped: Vec<_> = paths.iter().filter(|path| path.contains("/src/")).collect();
    assert_eq!(shipped, [OWN_FILE, TABLE], "in {steps:#?}");
    let scenarios = walk(&root().join("scenarios"), "toml");
    let scenarios: Vec<_> = scenarios.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    for algorithm in algorithms() {
        for path in paths.iter().map(|path| algorithm.fill_in(path)) {
            assert!(root().join(&path).exists(), "{}: {path} is missing", algorithm.protocol.name());
        }
        let runs = format!("protocol = \"{}\"", algorithm.protocol.name());
        assert!(scenarios.iter().any(|text| text.contains(&runs)), "no scenario has {runs}");
    }
}

impl Algorithm {
    /// A path of the list, for this algorithm. The key of its paper is how its document begins, as a file is named.
    fn fill_in(&self, path: &str) -> String {
        let paper = self.protocol.spec().document.split(',').next().unwrap_or_default();
        let key = paper.to_lowercase().replace(" & ", "-").replace(' ', "-");
        let key = if path.ends_with(".rs") { key.replace('-', "_") } else { key };
        path.replace("<name>", &self.module).replace("<key>", &key)
    }
}

/// Whether the code of a file knows that algorithm: by its variant, its module or its name.
fn names(file: &Code, algorithm: &Algorithm) -> bool {
    let Algorithm { protocol, module, variant } = algorithm;
    let by_variant = ["Protocol::", "AnyElection::", "AnyMsg::"];
    let in_module = format!("{module}::");
    by_variant.iter().any(|prefix| names_after(&file.text, prefix).any(|name| name == variant))
        || names_after(&file.text, &in_module).next().is_some()
        || file.text.contains(&format!("\"{}\"", protocol.name()))
}

/// The table, as it is written.
fn algorithms() -> Vec<Algorithm> {
    let text = fs::read_to_string(root().join(TABLE)).unwrap();
    let row = |line: &str| {
        let (place, _tag) = line.trim().strip_suffix(',')?.rsplit_once(" = ")?;
        let (module, variant) = place.rsplit_once(' ')?.1.split_once("::")?;
        Some((module.to_owned(), variant.to_owned()))
    };
    let table = text.split("macro_rules! protocols").nth(1).expect("the table is there");
    let rows = table.lines().take_while(|line| *line != "}").filter_map(row);
    let all = Protocol::ALL.into_iter().zip(rows);
    let all: Vec<_> =
        all.map(|(protocol, (module, variant))| Algorithm { protocol, module, variant }).collect();
    assert_eq!(all.len(), Protocol::ALL.len(), "every line of the table is read");
    assert!(all.iter().all(|algorithm| format!("{:?}", algorithm.protocol) == algorithm.variant));
    all
}

/// The numbered steps of CONTRIBUTING's list.
fn steps() -> Vec<String> {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let section = text.split("## How to add an algorithm\n").nth(1).expect("the list is there");
    let section = section.split("\n## ").next().unwrap_or_default();
    let mut steps: Vec<String> = Vec::new();
    for line in section.lines() {
        match line.split_once(". ") {
            Some((number, step)) if number.parse::<u8>().is_ok() => steps.push(step.to_owned()),
            _ if line.starts_with("   ") => steps.last_mut().expect("a step goes on").push_str(line),
            _ => {}
        }
    }
    assert!(!steps.is_empty());
    steps
}

fn quoted(step: &str) -> Vec<String> {
    step.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}
