//! What is lost, and what is not.

use std::fs;
use std::sync::LazyLock;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::run::Run;
use crate::cluster::{exists, run, wait_until};

pub(crate) const DEADLINE: Duration = Duration::from_secs(30);
/// 1,600 rows.
pub(crate) const SIZE: &str = "320x320";

/// The same picture, computed by workers to which nothing happens.
static CALM: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut run = Run::start(&["--calm", "--size", SIZE, "--nodes", "3", "--pace", "300"]);
    let summary = run.summary();
    assert_eq!((summary["recomputed"].as_u64(), &summary["after_kill"]), (Some(0), &Value::Null));
    run.assert_nothing_runs();
    run.picture().unwrap()
});

/// Nothing is left of the run but the picture, and that is the same.
#[track_caller]
pub(crate) fn assert_same(run: Run) {
    run.assert_nothing_runs();
    let picture = run.picture();
    // Its turn is over; the calm picture needs one.
    drop(run);
    assert_eq!(picture.as_ref(), Some(&*CALM));
}

pub(crate) fn members(view: &Value) -> Vec<u64> {
    view["members"].as_array().unwrap().iter().map(|member| member.as_u64().unwrap()).collect()
}

#[test]
fn a_third_is_killed_and_the_picture_is_the_same() {
    let mut run = Run::start(&["--no-return", "--size", SIZE, "--pace", "60"]);
    let summary = run.summary();
    let killed = run.told.iter().filter(|told| told["what"] == "killed").count();
    assert_eq!(killed, 2);
    assert!(summary["recovered"].as_u64().unwrap() > 0, "{summary:#}");
    assert!(summary["recomputed_percent"].as_f64().unwrap() < 5.0, "{summary:#}");
    assert_eq!(summary["after_kill"]["workers_left"], 4);
    assert!(summary["after_kill"]["ratio"].as_f64().unwrap() > 0.0);
    assert_same(run);
}

#[test]
fn the_whole_story_ends_with_the_same_picture() {
    let mut run = Run::start(&["--size", SIZE, "--pace", "60", "--seed", "3"]);
    let summary = run.summary();
    assert!(summary["recomputed_percent"].as_f64().unwrap() < 5.0, "{summary:#}");
    for what in ["killed", "stopped", "continued"] {
        assert!(run.told.iter().any(|told| told["what"] == what), "{what}");
    }
    assert!(
        run.told.iter().filter(|told| told["event"] == "started").count() > 6,
        "those killed were revived"
    );
    assert_same(run);
}

#[test]
fn too_few_stall_and_go_on_when_enough_are_back() {
    // Three of five are a majority and form a view, but four shards are needed.
    let mut run = Run::start(&["--by-hand", "--nodes", "5", "--data", "4", "--size", SIZE, "--pace", "60"]);
    run.wait_for("progress", |told| told["percent"].as_u64() >= Some(10));
    run.order("kill", 1);
    run.order("kill", 2);
    let stalled = run.wait_for("stalled", |_| true);
    assert_eq!((&stalled["left"], &stalled["needed"]), (&json!(3), &json!(4)), "{:#?}", run.told);
    assert_eq!(stalled["why"], json!("3 workers left, 4 needed"));
    let waits = run.wait_after(0, "recovered", |told| told["outcome"] == "waits");
    assert_eq!((&waits["members"], &waits["needed"]), (&json!(3), &json!(4)), "{:#?}", run.told);
    run.order("start", 1);
    assert_eq!(run.wait_for("goes-on", |_| true)["workers"], json!(4), "{:#?}", run.told);
    let summary = run.summary();
    let stalled = summary["stalled_ms"].as_u64().unwrap();
    assert!(stalled > 0 && summary["after_kill"]["stalled_ms"] == json!(stalled), "{summary:#}");
    assert_same(run);
}

#[test]
fn a_paused_worker_finds_itself_dead_and_is_readmitted() {
    let mut run = Run::start(&["--by-hand", "--nodes", "4", "--data", "2", "--size", SIZE, "--pace", "60"]);
    run.wait_for("progress", |told| told["percent"].as_u64() >= Some(10));
    run.order("stop", 2);
    run.wait_for("view", |view| !members(view).contains(&2));
    let before = run.told.len();
    run.order("cont", 2);
    run.wait_after(before, "dead", |told| told["node"] == 2);
    run.wait_after(before, "recovered", |told| told["readmitted"] == json!([2]));
    run.wait_after(before, "view", |view| members(view).contains(&2));
    run.summary();
    assert_same(run);
}

#[test]
fn a_damaged_shard_is_rejected_counted_and_replaced() {
    let mut run = Run::start(&["--by-hand", "--nodes", "3", "--data", "2", "--size", SIZE, "--pace", "80"]);
    run.wait_for("progress", |told| told["percent"].as_u64() >= Some(20));
    run.order("kill", 3);
    run.wait_for("view", |view| !members(view).contains(&3));
    let some = fs::read_dir(run.shards(3)).unwrap().map(|entry| entry.unwrap().path());
    let tile =
        some.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("tile-")).min().unwrap();
    let mut bytes = fs::read(&tile).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&tile, bytes).unwrap();
    run.order("start", 3);
    run.wait_for("rejected", |told| told["node"] == 3 && told["damaged"] == 1);
    run.wait_for("recovered", |told| told["replaced"].as_u64() > Some(0));
    let summary = run.summary();
    assert_eq!(summary["rejected"]["checksum"], 1);
    assert_same(run);
}

#[test]
fn whoever_ends_it_gets_no_picture_and_keeps_no_process() {
    for (signal, code) in [(Signal::SIGTERM, Some(130)), (Signal::SIGKILL, None)] {
        let mut run = Run::start(&["--calm", "--nodes", "3", "--size", SIZE]);
        run.wait_for("view", |_| true);
        run.process.signal(signal);
        assert_eq!(run.process.wait(DEADLINE), code);
        let pids = run.pids();
        assert!(pids.len() == 3 && wait_until(DEADLINE, || pids.iter().all(|pid| !exists(*pid))));
        assert_eq!(run.picture(), None);
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_done() {
    for (args, error) in [
        (&["--data", "0"][..], "error: --data: 0 shards rebuild nothing; expected 1 to 5"),
        (
            &["--data", "6"],
            "error: --data: if 6 of 6 shards are needed to rebuild a row, no node may fail; expected 1 to 5",
        ),
        (&["--nodes", "5", "--data", "9"], "--data: if 9 of 5 shards are needed "),
        (&["--data", "some"], "'some' for '--data <K>': expected a whole number"),
        (&["--nodes", "1"], "'1' for '--nodes <N>': expected a whole number from 3 to 9"),
        (&["--nodes", "-1"], "'-1' for '--nodes <N>': expected a whole number from 3 to 9"),
        (&["--nodes", "100000"], "'100000' for '--nodes <N>': expected a whole number from 3 to 9"),
        (&["--nodes", "three"], "'three' for '--nodes <N>': expected a whole number from 3 to 9"),
        (
            &["--size", "0x0"],
            "'0x0' for '--size <WxH>': a picture needs a width and a height of at least 1 pixel",
        ),
        (&["--size", "9999x9999"], "for '--size <WxH>': 49141 tiles of 64x32 pixels; expected at most 1024"),
        (&["--size", "big"], "expected a width and a height"),
        (&["--pace", "0"], "expected a number from 0.1 to 1000"),
        (&["--no-return", "--data", "5"], "4 are left; 5 are needed"),
        (&["--calm", "--by-hand"], "cannot be used with"),
        (&["--out", "x.jpg"], "--out: x.jpg does not end in .png"),
        (&["--out", "picture"], "--out: picture does not end in .png"),
        (&["--out", "no/such/dir/x.png"], "--out: there is no directory no/such/dir"),
    ] {
        let (code, out, err) = run(&[&["demo", "rain"], args].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.contains(error), "{args:?}: {err}");
    }
}
