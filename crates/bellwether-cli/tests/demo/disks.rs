//! Disks that take nothing any more.

use std::fs;

use serde_json::json;

use super::rain::{DEADLINE, SIZE, assert_same, members};
use super::run::Run;
use crate::cluster::wait_until;

/// From now on a worker cannot write: where it would, there is a directory.
fn break_disk(run: &Run, node: u32) {
    let place = run.shards(node).join("new");
    // On a busy machine it is nearly always writing there. What it writes is lost with the disk.
    let broken = wait_until(DEADLINE, || {
        let _ = fs::remove_file(&place);
        fs::create_dir(&place).is_ok()
    });
    assert!(broken, "{}: {:?}", place.display(), fs::metadata(&place));
}

#[test]
fn a_worker_whose_disk_fails_stops_nobody() {
    let mut run = Run::start(&["--by-hand", "--nodes", "4", "--data", "2", "--size", SIZE, "--pace", "60"]);
    run.wait_for("progress", |told| told["percent"].as_u64() >= Some(10));
    break_disk(&run, 3);
    run.wait_for("trouble", |told| told["node"] == 3);
    let before = run.told.len();
    run.order("kill", 1);
    run.wait_after(before, "view", |view| members(view) == [2, 3, 4]);
    run.summary();
    let told = |event: &str| run.told.iter().filter(|told| told["event"] == event).count();
    assert_eq!((told("trouble"), told("recovery-failed")), (1, 0), "{:#?}", run.told);
    assert_same(run);
}

#[test]
fn too_few_disks_stall_say_why_and_go_on_when_one_is_mended() {
    let mut run = Run::start(&["--calm", "--nodes", "3", "--data", "2", "--size", SIZE, "--pace", "60"]);
    run.wait_for("progress", |told| told["percent"].as_u64() >= Some(10));
    break_disk(&run, 2);
    break_disk(&run, 3);
    let stalled = run.wait_for("stalled", |_| true);
    assert_eq!(stalled["why"], json!("1 good disk left, 2 needed; nodes 2 and 3 can keep no shards"));
    fs::remove_dir(run.shards(3).join("new")).unwrap();
    run.wait_for("goes-on", |_| true);
    run.summary();
    assert_same(run);
}
