//! The verdict on a run, from what its nodes recorded.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::cluster::{Cluster, Views, agreed, bellwether, wait_until};
use crate::truth::{Truth, now};

/// What makes nodes record.
pub(crate) const RECORDING: &str = "log.trace = \"trace.jsonl\"";

/// How long a run may take to come to rest.
const CALM_DEADLINE: Duration = Duration::from_secs(90);
/// A run that has only just lasted long enough may not have, by the clocks of its nodes.
const MARGIN_US: u64 = 500_000;
/// What is promised of a cluster that is left alone in the end.
const PROMISED: [&str; 4] = ["OMEGA", "SINGLE-SENDER", "SETTLED", "EPOCH"];

/// Lets the cluster go on until it has been left alone for half of its life and agreed for a quarter, which is what makes
/// a run long enough to be judged. Then ends it, and has it judged.
#[track_caller]
pub(crate) fn judge(mut cluster: Cluster, truth: &Truth) {
    let mut views = cluster.views();
    let calm = wait_until(CALM_DEADLINE, || {
        views = cluster.views();
        is_calm(&views, truth)
    });
    assert!(calm, "the cluster does not come to rest: {views:#?}");
    let leader = agreed(&views).unwrap();
    // The leader last: it alone has something to say, and says it until the end.
    let followers = views.keys().filter(|id| **id != leader);
    followers.chain([&leader]).for_each(|id| cluster.kill(*id));
    let known = trace(&cluster, leader).with_file_name("truth.jsonl");
    fs::write(&known, &truth.lines).unwrap();
    let traces = views.keys().map(|id| trace(&cluster, *id));
    let output = bellwether()
        .args(["check", "--json", "--truth"])
        .arg(known)
        .arg("--trace")
        .args(traces)
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{out}{err}");
    let verdict: Value = serde_json::from_str(&out).unwrap();
    let judged: Vec<_> =
        verdict["properties"].as_array().unwrap().iter().map(|found| &found["name"]).collect();
    assert!(
        PROMISED.iter().all(|promised| judged.iter().any(|name| *name == promised)),
        "judged: {judged:?}"
    );
}

fn is_calm(views: &Views, truth: &Truth) -> bool {
    let (now, Truth { began_us, last_us, .. }) = (now(), truth);
    let left_alone = now - last_us > last_us - began_us + MARGIN_US;
    let led_for = |view: &Option<Value>| Some(now.saturating_sub(view.as_ref()?["since_us"].as_u64()?));
    let long_led = |view| led_for(view).is_some_and(|span| span > (now - began_us) / 4 + MARGIN_US);
    left_alone && agreed(views).is_some() && views.values().all(long_led)
}

fn trace(cluster: &Cluster, id: u32) -> PathBuf {
    cluster.config(id).with_file_name("trace.jsonl")
}
