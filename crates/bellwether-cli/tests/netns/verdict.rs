//! The verdict on a run, from what its nodes recorded.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::cluster::{Cluster, Views, agreed, wait_until};

/// What makes nodes record.
pub(crate) const RECORDING: &str = "[log]\ntrace = \"trace.jsonl\"\n";

/// How long a cluster may take to come to rest.
const REST_DEADLINE: Duration = Duration::from_secs(60);
/// What has only just lasted long enough may not have, by the clocks of the nodes.
const MARGIN: Duration = Duration::from_millis(500);

/// Leaves the cluster alone until all have named one leader for a quarter of its life, which is what makes a run long
/// enough to be judged; then has it judged.
#[track_caller]
pub(crate) fn judge(cluster: &Cluster, protocol: &str) {
    cluster.leave_alone();
    let mut views = cluster.views();
    let rests = wait_until(REST_DEADLINE, || {
        views = cluster.views();
        agreed(&views).is_some() && led_for(&views).is_some_and(|span| span > cluster.age() / 4 + MARGIN)
    });
    assert!(rests, "the cluster does not come to rest: {views:#?}");
    let judgement = cluster.records(agreed(&views).unwrap()).check();
    assert_eq!(judgement.code, 0, "{}", judgement.said);
    for property in promised(protocol) {
        assert_eq!(judgement.finds_that(property), Some(true), "{property}: {}", judgement.said);
    }
}

/// What an algorithm promises to a cluster that is left alone in the end, and is cut in pieces before.
fn promised(protocol: &str) -> &'static [&'static str] {
    match protocol {
        "fjr" | "lfa" => &["OMEGA", "SINGLE-SENDER", "SETTLED", "EPOCH"],
        "adft" => &["OMEGA", "SETTLED", "EPOCH"],
        "async-bully" => &["ALE1", "FD-ACCURATE", "EPOCH"],
        unknown => panic!("{unknown} is not for agents"),
    }
}

/// For how long all have named the leader that they name.
fn led_for(views: &Views) -> Option<Duration> {
    let since = |view: &Option<Value>| view.as_ref()?["since_us"].as_u64().map(Duration::from_micros);
    let last = views.values().map(since).collect::<Option<Vec<_>>>()?.into_iter().max()?;
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH + last).ok()
}
