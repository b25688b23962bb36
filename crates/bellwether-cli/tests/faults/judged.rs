//! Live runs, judged by what the nodes recorded and what the test knows that it did to them.

use std::time::SystemTime;

use crate::cluster::records::add_line;
use crate::cluster::truth::{Befalls, line, micros};
use crate::cluster::{Cluster, Records, Shape};

/// What a cluster with company is held to. One that is left alone need not speak.
pub(crate) const ALL: [&str; 4] = ["OMEGA", "SETTLED", "EPOCH", "SINGLE-SENDER"];

/// How many agents a test is run with.
pub(crate) const SIZES: [u32; 3] = [3, 5, 7];

/// A cluster whose nodes record what they do, and who leads it.
pub(crate) fn recorded(nodes: u32) -> (Cluster, u32) {
    recorded_as(&Shape::of(nodes))
}

pub(crate) fn recorded_as(shape: &Shape) -> (Cluster, u32) {
    let mut cluster =
        Cluster::prepare(&Shape { tables: "[log]\ntrace = \"trace.jsonl\"\n", ..shape.clone() });
    cluster.start_all();
    let leader = cluster.wait_for_leader();
    (cluster, leader)
}

/// Leaves the cluster alone for long enough, and holds the whole run to what is promised.
#[track_caller]
pub(crate) fn assert_kept(cluster: &Cluster, promises: &[&str]) -> Records {
    let leader = cluster.wait_for_leader();
    cluster.leave_alone();
    let records = cluster.records(leader);
    let judgement = records.check();
    assert_eq!(judgement.code, 0, "{:#}", judgement.said);
    for promise in promises {
        assert_eq!(judgement.finds_that(promise), Some(true), "{promise}: {:#}", judgement.said);
    }
    records
}

#[test]
fn the_judge_is_not_fooled() {
    let (cluster, leader) = recorded(3);
    let lived = micros(SystemTime::now());
    let records = assert_kept(&cluster, &ALL);
    let ended = micros(SystemTime::now());
    let follower = if leader == 1 { 2 } else { 1 };

    let named = |at: u128, leader: u32| {
        format!(
            r#"{{"v":1,"t_us":{at},"node":{follower},"inc":1,"ev":"announce","leader":{leader},"epoch":9,"cause":"started"}}"#
        )
    };
    add_line(&records.trace(follower), &named(ended - 100_000, follower));
    let judgement = records.check();
    assert_eq!((judgement.code, judgement.finds_that("SETTLED")), (1, Some(false)), "{:#}", judgement.said);

    let records = cluster.records(leader);
    assert_eq!(records.check().code, 0);
    add_line(&records.truth(), &line(lived, leader, Befalls::Crash));
    let judgement = records.check();
    assert_eq!((judgement.code, judgement.finds_that("OMEGA")), (1, Some(false)), "{:#}", judgement.said);
}
