//! The verdict on a run, from what its nodes recorded.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::cluster::records::VIEWS_KEPT;
use crate::cluster::{Cluster, Views, agreed, wait_until};

/// What makes nodes record.
pub(crate) const RECORDING: &str = "[log]\ntrace = \"trace.jsonl\"\n";

/// How long a cluster may take to come to rest.
const REST_DEADLINE: Duration = Duration::from_secs(60);
/// So often a cluster is left alone.
const TRIES: usize = 3;
/// What has only just lasted long enough may not have, by the clocks of the nodes.
const MARGIN: Duration = Duration::from_millis(500);

/// Leaves the cluster alone for so long that it can be judged, and judges it.
///
/// A connection that stalled while the network was bad may break when it has long been good again. What is lost then is
/// too late for some promises to be judged, and the cluster is left alone once more.
#[track_caller]
pub(crate) fn judge(cluster: &Cluster, protocol: &str) {
    let mut said = Vec::new();
    for _ in 0..TRIES {
        let judgement = cluster.records(rest(cluster)).check();
        assert_eq!(judgement.code, 0, "{}", judgement.said);
        if promised(protocol).iter().all(|property| judgement.finds_that(property) == Some(true)) {
            return;
        }
        said.push(judgement.said);
    }
    panic!("some of {:?} cannot be judged: {said:#?}", promised(protocol));
}

/// Waits until nothing has befallen anybody for half of the cluster's life, and all have named one leader for a quarter of
/// it. Says who leads.
#[track_caller]
fn rest(cluster: &Cluster) -> u32 {
    cluster.leave_alone();
    let mut views = cluster.views();
    let rests = wait_until(REST_DEADLINE, || {
        views = cluster.views();
        agreed(&views).is_some() && led_for(&views).is_some_and(|span| span > cluster.age() / 4 + MARGIN)
    });
    assert!(rests, "the cluster does not come to rest: {views:#?}");
    agreed(&views).unwrap()
}

/// What an algorithm promises to a cluster that is left alone in the end, and is cut in pieces before.
fn promised(protocol: &str) -> &'static [&'static str] {
    match protocol {
        "fjr" | "lfa" => &["OMEGA", "SINGLE-SENDER", "SETTLED", "EPOCH"],
        "adft" => &["OMEGA", "SETTLED", "EPOCH"],
        "async-bully" => &["ALE1", "FD-ACCURATE", "EPOCH"],
        "invitation" => &["A3", "GROUP-ONCE", "HISTORY", "EPOCH"],
        // That all agree in the end needs that nothing is late, which it is where connections have to be made again.
        "fb-omega" => &VIEWS_KEPT,
        unknown => panic!("{unknown} is not for agents"),
    }
}

/// For how long all have named the leader that they name.
fn led_for(views: &Views) -> Option<Duration> {
    let since = |view: &Option<Value>| view.as_ref()?["since_us"].as_u64().map(Duration::from_micros);
    let last = views.values().map(since).collect::<Option<Vec<_>>>()?.into_iter().max()?;
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH + last).ok()
}
