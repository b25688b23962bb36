//! Runs all benchmarks, writes their figures to a page, and says what became worse since the page was written last.
//!
//! Run: make bench, or with a page: cargo run -p bellwether-sim --example benchmarks -- --out FILE.md

#![allow(clippy::print_stdout, clippy::disallowed_types, reason = "it measures, and reports to people")]

use std::collections::BTreeMap;
use std::process::Command;
use std::{env, fs};

/// What differs by less is taken for the machine's mood.
const NOTABLE_PERCENT: f64 = 15.0;

const BENCHMARKS: [&[&str]; 4] = [
    &["bench", "--locked", "-p", "bellwether-sim", "--bench", "simulator"],
    &["bench", "--locked", "-p", "bellwether-cli", "--bench", "agent"],
    &["bench", "--locked", "-p", "bellwether-cli", "--bench", "engines"],
    &[
        "test",
        "--locked",
        "--release",
        "-p",
        "bellwether",
        "--lib",
        "grants_in_a_second",
        "--",
        "--nocapture",
    ],
];

struct Figure {
    name: String,
    value: f64,
    unit: String,
    higher_is_better: bool,
}

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let [flag, page] = &words[..] else { panic!("expected --out FILE.md") };
    assert_eq!(flag, "--out", "expected --out FILE.md");
    let before = fs::read_to_string(page).unwrap_or_default();
    let same_machine = before.contains(&machine());
    let before = kept(&before);
    let figures = measure();
    let before: BTreeMap<_, _> = before
        .into_iter()
        .filter(|(name, _)| {
            same_machine || figures.iter().any(|figure| figure.name == *name && figure.travels())
        })
        .collect();
    fs::write(page, written(&figures, &before)).expect("the page can be written");
    println!("{page}: {} figures of {}", figures.len(), commit());
    let worse: Vec<_> = figures.iter().filter_map(|figure| Some((figure, worse(figure, &before)?))).collect();
    if worse.is_empty() {
        println!("nothing became worse by more than {NOTABLE_PERCENT} %");
    }
    for (Figure { name, value, unit, .. }, percent) in worse {
        println!("worse by {percent:.0} %: {name}, {} {unit} before, {value:.3} now", before[name]);
    }
    let gone = before.keys().filter(|name| !figures.iter().any(|figure| figure.name == **name));
    gone.for_each(|name| println!("no longer measured: {name}"));
}

impl Figure {
    /// Whether it can be compared between machines: a ratio of one run, or a simulated time.
    fn travels(&self) -> bool {
        self.unit.is_empty() || self.name.contains("simulated") || self.name.starts_with("churn")
    }
}

fn measure() -> Vec<Figure> {
    let file = env::temp_dir().join(format!("bellwether-figures-{}.tsv", std::process::id()));
    for arguments in BENCHMARKS {
        let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let status = Command::new(cargo).args(arguments).env("BELLWETHER_FIGURES", &file).status();
        assert!(status.expect("cargo starts").success(), "cargo {} failed", arguments.join(" "));
    }
    let text = fs::read_to_string(&file).expect("the benchmarks keep figures");
    fs::remove_file(&file).expect("it was just read");
    text.lines().map(figure).collect()
}

fn figure(line: &str) -> Figure {
    let words: Vec<_> = line.split('\t').collect();
    let [name, value, unit, better] = words[..] else { panic!("a figure has four words: {line}") };
    Figure {
        name: name.to_owned(),
        value: value.parse().expect("a number"),
        unit: unit.to_owned(),
        higher_is_better: better == "higher",
    }
}

/// The figures of a page, by their names.
fn kept(page: &str) -> BTreeMap<String, f64> {
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        let name = cells.next()?.to_owned();
        let value = cells.next()?.split(' ').next()?.parse().ok()?;
        Some((name, value))
    };
    page.lines().filter_map(row).collect()
}

fn worse(figure: &Figure, before: &BTreeMap<String, f64>) -> Option<f64> {
    let before = *before.get(&figure.name)?;
    if before <= 0.0 || figure.value <= 0.0 {
        return None; // No part of nothing can be told.
    }
    let ratio = if figure.higher_is_better { before / figure.value } else { figure.value / before };
    let percent = (ratio - 1.0) * 100.0;
    (percent > NOTABLE_PERCENT).then_some(percent)
}

fn written(figures: &[Figure], before: &BTreeMap<String, f64>) -> String {
    let mut page = format!(
        "# Figures\n\n\
         `make bench` writes this page. Commit {}, {}, {}.\n\n\
         Ratios are of one run, and can be compared between machines; so can simulated times. What agents take and how many\n\
         events are played in a second depends on the machine. *Before* is what the page said until then; an asterisk marks what\n\
         became worse by more than {NOTABLE_PERCENT} %.\n\n\
         | figure | now | before | better |\n|---|---|---|---|\n",
        commit(),
        date(),
        machine()
    );
    for figure in figures {
        let Figure { name, value, unit, higher_is_better } = figure;
        let mark = if worse(figure, before).is_some() { " *" } else { "" };
        let before = before.get(name).map_or_else(|| "-".to_owned(), |before| before.to_string());
        let better = if *higher_is_better { "higher" } else { "lower" };
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        page += &format!("| {name} | {value}{unit}{mark} | {before} | {better} |\n");
    }
    page
}

fn commit() -> String {
    let said = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = said(&["rev-parse", "--short", "HEAD"]).filter(|commit| !commit.is_empty());
    let changed =
        said(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|files| !files.is_empty());
    let commit = commit.unwrap_or_else(|| "unknown".to_owned());
    if changed { format!("{commit} with changes") } else { commit }
}

fn date() -> String {
    let output = Command::new("date").args(["-u", "+%Y-%m-%d"]).output();
    output
        .map_or_else(|_| "no date".to_owned(), |said| String::from_utf8_lossy(&said.stdout).trim().to_owned())
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("an unknown processor", |(_, model)| model.trim());
    format!("{cores} cores of {model}")
}
