//! What is wrong, where, what was expected, and the exit code.

use std::fs;
use std::io;

use crate::harness::{LEAST, Scratch, bellwether, command};

/// What follows the smallest file; line and column to blame; what is said.
const BAD: &[(&str, &str, &str)] = &[
    ("variant = \"fixed\"", "4:11", "unknown variant `fixed`, expected `repaired` or `printed`"),
    ("nodes = ", "4:9", "found no value, expected one after `=`"),
    ("[network", "4:9", "expected"),
    ("[[event]]\nat = \"-1s\"\nheal = true", "5:6", "found \"-1s\", expected a time with a unit"),
    (
        "[[event]]\nat = \"1s\"\nheal = true",
        "5:6",
        "an event at 1s, at or after `until`, expected a time before 1s",
    ),
    ("[[event]]\nat = \"0s\"\ncrash = [3]", "6:10", "there is no node 3, expected one from 1 to 2"),
    ("[[event]]\nat = \"0s\"\nkill = [1]", "6:1", "unknown key `kill`, expected"),
    ("[expect]\nholds = [\"ALE9\"]", "5:10", "unknown property `ALE9`, expected"),
    ("[expect]\nmessages = { Hallt = 1 }", "5:14", "unknown kind of message `Hallt`, did you mean `Halt`?"),
    ("[expect]\nmessages = { Peace = 1 }", "5:14", "unknown kind of message `Peace`, expected"),
    ("[expect]\nholds = [\"omega\"]", "5:10", "unknown property `omega`, did you mean `OMEGA`?"),
    ("[[event]]\nat = \"0s\"\ncrahs = [1]", "6:1", "unknown key `crahs`, did you mean `crash`?"),
    ("[netwrok]\nloss = 0.1", "4:2", "unknown key `netwrok`, did you mean `network`?"),
    ("variant = \"repared\"", "4:11", "unknown variant `repared`, did you mean `repaired`?"),
];

#[test]
fn a_bad_scenario_is_located_and_explained_in_one_line() {
    let scratch = Scratch::new("bad-scenario");
    for (rest, place, words) in BAD {
        let file = scratch.file("bad.toml", format!("{LEAST}{rest}\n"));
        assert_says(&["sim", &file], 2, &format!("error: {file}:{place}: "), words);
    }
    let file = scratch.file("bad.toml", LEAST.replace("async-bully", "raft"));
    assert_says(&["sim", &file], 2, &format!("error: {file}:1:12: "), "unknown protocol `raft`, expected ");
    let file = scratch.file("bad.toml", LEAST.replace("async-bully", "async-buly"));
    let meant = "unknown protocol `async-buly`, did you mean `async-bully`?";
    assert_says(&["sim", &file], 2, &format!("error: {file}:1:12: "), meant);
    let file = scratch.file("bad.toml", [LEAST.as_bytes(), b"# \xff"].concat());
    assert_says(
        &["sim", &file],
        2,
        &format!("error: {file}:4:3: "),
        "found the byte 0xff, expected text in UTF-8",
    );
    let file = scratch.file("bad.toml", "");
    assert_says(&["sim", &file], 2, &format!("error: {file}:1:1: "), "missing key `protocol`");
}

#[test]
fn what_is_not_a_file_is_bad_input() {
    let scratch = Scratch::new("not-a-file");
    let (missing, directory) = (scratch.path("missing.toml"), scratch.path("."));
    assert_says(&["sim", &missing], 2, &format!("error: {missing}: "), "there is no such file");
    assert_says(
        &["sim", &directory],
        2,
        &format!("error: {directory}: "),
        "found a directory, expected a scenario",
    );
}

#[test]
fn every_bad_file_is_reported_and_nothing_runs() {
    let scratch = Scratch::new("several-bad");
    let good = scratch.file("good.toml", LEAST);
    let (bad, missing) = (scratch.file("bad.toml", "nodes = 0"), scratch.path("missing.toml"));
    let outcome = bellwether(&["sim", &bad, &good, &missing, "--json"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (2, ""));
    let lines: Vec<_> = outcome.err.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(
        lines[0].starts_with(&format!("error: {bad}:"))
            && lines[1].starts_with(&format!("error: {missing}:"))
    );
}

#[test]
fn what_cannot_be_typed_is_bad_input() {
    let scratch = Scratch::new("usage");
    let file = scratch.file("good.toml", LEAST);
    for (args, words) in [
        (&["frobnicate"][..], "unrecognized subcommand 'frobnicate'"),
        (&["sim"], "<FILE>..."),
        (&["sim", &file, "--frobnicate"], "unexpected argument '--frobnicate'"),
        (&["sim", &file, "--protocol", "raft"], "possible values: "),
        (&["sim", &file, "--variant", "fixed"], "possible values: repaired, printed"),
        (&["sim", &file, "--seed", "-1"], "expected a whole number from 0 to"),
        (&["up", "--nodes", "10"], "10 is not in 1..=9"),
        (&["up", "--protocol", "bully-fd"], "possible values: "),
        (&["up", "--for", "5"], "expected a time with a unit"),
        (&["agent"], "--config <FILE>"),
        (&["transfer", "--to", "0"], "0 is not in 1.."),
        (&["resign", "--end", "--hold", "1s"], "cannot be used with"),
        (&[], "Usage: bellwether <COMMAND>"),
    ] {
        let outcome = bellwether(args);
        assert_eq!((outcome.code, outcome.out.as_str()), (2, ""), "{args:?}");
        assert!(outcome.err.contains(words), "{args:?}: {}", outcome.err);
    }
}

#[test]
fn a_trace_of_several_files_is_bad_input() {
    let scratch = Scratch::new("trace-of-several");
    let (file, trace) = (scratch.file("good.toml", LEAST), scratch.file("trace.jsonl", "precious"));
    assert_says(&["sim", &file, &file, "--trace", &trace], 2, "error: --trace ", "expected a single FILE");
    assert_eq!(fs::read_to_string(&trace).unwrap(), "precious");
}

#[test]
fn bad_input_leaves_an_old_trace_alone() {
    let scratch = Scratch::new("trace-of-bad");
    let (file, trace) = (scratch.file("bad.toml", "nodes = 0"), scratch.file("trace.jsonl", "precious"));
    assert_eq!(bellwether(&["sim", &file, "--trace", &trace]).code, 2);
    assert_eq!(fs::read_to_string(&trace).unwrap(), "precious");
    assert_eq!(bellwether(&["sim", &file, "--trace", &scratch.path("new.jsonl")]).code, 2);
    assert!(!fs::exists(scratch.path("new.jsonl")).unwrap());
}

#[test]
fn a_trace_does_not_overwrite_its_scenario() {
    let scratch = Scratch::new("trace-onto-scenario");
    let file = scratch.file("good.toml", LEAST);
    let same = scratch.path("./good.toml");
    assert_says(
        &["sim", &file, "--trace", &same],
        2,
        "error: --trace would overwrite",
        "expected another file",
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), LEAST);
}

#[test]
fn a_trace_that_cannot_be_written_is_a_failure() {
    let scratch = Scratch::new("trace-unwritable");
    let file = scratch.file("good.toml", LEAST);
    for trace in [scratch.path("."), scratch.path("missing/trace.jsonl")] {
        assert_says(&["sim", &file, "--trace", &trace], 3, &format!("error: cannot write {trace}: "), "");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_a_failure() {
    let scratch = Scratch::new("disk-full");
    let file = scratch.file("good.toml", LEAST);
    assert_says(
        &["sim", &file, "--trace", "/dev/full"],
        3,
        "error: cannot write /dev/full",
        "the trace is incomplete",
    );
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = command(&["sim", &file]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: cannot print"));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    for args in [&["sim", "scenarios/s02-path.toml", "--json"][..], &["protocols"]] {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let output = command(args).stdout(writer).output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{args:?}");
    }
}

/// One line on standard error, nothing on standard output.
#[track_caller]
fn assert_says(args: &[&str], code: i32, start: &str, words: &str) {
    let outcome = bellwether(args);
    assert_eq!((outcome.code, outcome.out.as_str()), (code, ""), "{}", outcome.err);
    assert_eq!(outcome.err.lines().count(), 1, "{}", outcome.err);
    assert!(outcome.err.starts_with(start) && outcome.err.contains(words), "{}", outcome.err);
}
