//! `sim --diagram`, `--shiviz` and `--trace`: files besides the report.

use std::fs;

use crate::harness::{LEAST, Scratch, bellwether, report, root};

const FILE: &str = "scenarios/est06a-lost-halt-printed.toml";

#[test]
fn one_run_gives_all_files_and_the_report_that_it_gives_without() {
    let scratch = Scratch::new("outputs-all");
    let [trace, log, picture] = ["run.jsonl", "run.log", "run.svg"].map(|name| scratch.path(name));
    let (code, with) = report(&[FILE, "--trace", &trace, "--shiviz", &log, "--diagram", &picture]);
    assert_eq!((code, with), report(&[FILE]));
    let [trace, log, picture] = [trace, log, picture].map(|file| fs::read_to_string(file).unwrap());
    assert!(trace.lines().any(|line| line.contains(r#""ev":"drop""#)));
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
    assert!(picture.contains("✗ ALE2' broken: node 1 is still electing"), "what is broken is marked");
    assert!(picture.contains("$ bellwether sim scenarios/est06a-lost-halt-printed.toml<"), "the replay");
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines[..3], ["(?<host>\\S*) (?<clock>\\{.*\\})\\n(?<event>.*)", "", "node1 {\"node1\":1}"]);
    assert!(lines.len() > 100 && lines.len().is_multiple_of(2), "two lines for each event, and two before");
}

#[test]
fn a_picture_says_how_to_replay_the_run_that_it_shows() {
    let scratch = Scratch::new("outputs-replay");
    let picture = scratch.path("replay.svg");
    let outcome = bellwether(&[
        "sim",
        "scenarios/s02-path.toml",
        "--protocol",
        "lfa",
        "--seed",
        "7",
        "--diagram",
        &picture,
    ]);
    assert!(outcome.code < 2, "{}", outcome.err);
    let picture = fs::read_to_string(picture).unwrap();
    assert!(picture.contains("lfa repaired · 3 nodes · seed 7 · until 10 s"));
    assert!(picture.contains("$ bellwether sim scenarios/s02-path.toml --protocol lfa --seed 7<"));
}

#[test]
fn the_picture_in_the_documents_is_what_is_drawn() {
    let scratch = Scratch::new("outputs-documents");
    let fresh = scratch.path("fresh.svg");
    bellwether(&["sim", "scenarios/est07-old-rej-printed.toml", "--diagram", &fresh]).done();
    let kept = fs::read_to_string(root().join("docs/pictures/est07-old-rej-printed.svg")).unwrap();
    assert!(kept == fs::read_to_string(fresh).unwrap(), "draw it again: docs/guides/diagram.md says how");
}

#[test]
fn a_file_that_cannot_be_written_ends_it_before_anything_is_lost() {
    let scratch = Scratch::new("outputs-unwritable");
    let (file, old) = (scratch.file("good.toml", LEAST), scratch.file("old.jsonl", "precious"));
    for option in ["--diagram", "--shiviz"] {
        let nowhere = scratch.path("missing/file");
        let outcome = bellwether(&["sim", &file, "--trace", &old, option, &nowhere]);
        assert_eq!((outcome.code, outcome.out.as_str()), (3, ""));
        assert!(outcome.err.starts_with(&format!("error: cannot write {nowhere}: ")), "{}", outcome.err);
        assert_eq!(fs::read_to_string(&old).unwrap(), "precious", "nothing was run");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told_with_what_it_leaves() {
    let scratch = Scratch::new("outputs-full");
    let file = scratch.file("good.toml", LEAST);
    for (option, what) in [("--diagram", "diagram"), ("--shiviz", "log")] {
        let outcome = bellwether(&["sim", &file, option, "/dev/full"]);
        assert_eq!(outcome.code, 3);
        assert!(outcome.err.contains(&format!("the {what} is incomplete")), "{}", outcome.err);
    }
}

#[test]
fn what_cannot_be_meant_is_bad_input() {
    let scratch = Scratch::new("outputs-bad");
    let (file, one) = (scratch.file("good.toml", LEAST), scratch.path("one"));
    let (many, again) = (scratch.file("many.toml", LEAST.replace("= 2", "= 33")), scratch.path("./one"));
    let cases: [(&[&str], &str); 5] = [
        (&["sim", &file, &file, "--diagram", &one], "--diagram draws one scenario, found 2 files"),
        (&["sim", &file, "--shiviz", "-"], "--shiviz needs a file, found -"),
        (&["sim", &file, "--diagram", &file], "--diagram would overwrite the scenario"),
        (&["sim", &file, "--shiviz", &one, "--diagram", &again], "--diagram and --shiviz both name"),
        (&["sim", &many, "--diagram", &one], "--diagram has room for 32 nodes, found 33"),
    ];
    for (args, words) in cases {
        let outcome = bellwether(args);
        assert_eq!((outcome.code, outcome.out.as_str()), (2, ""), "{args:?}");
        assert!(outcome.err.starts_with(&format!("error: {words}")), "{}", outcome.err);
    }
    assert!(!fs::exists(&one).unwrap());
    assert_eq!(fs::read_to_string(&file).unwrap(), LEAST);
}
