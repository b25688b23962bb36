//! Leaders that are preferred.

use std::time::{Duration, Instant};

use crate::cluster::{Cluster, Shape};

/// Whoever comes up listens for so long, and meets all others that come up with it.
const PATIENT: &str = "[timing]\ntimeout = \"1s\"\n";

#[test]
fn the_preferred_node_leads_from_the_start_and_after_a_crash_and_takes_nothing_back() {
    let mut cluster = Cluster::prepare(&Shape { tables: PATIENT, ..Shape::of(4) });
    cluster.configure(2, "priority = 10");
    cluster.configure(3, "priority = 20");
    cluster.start_all();
    assert_eq!(cluster.wait_for_agreement(), (3, 1), "it is the first leader there is");
    cluster.kill(3);
    let agreed = cluster.wait_for_agreement();
    assert_eq!(agreed.0, 2);
    cluster.start_node(3);
    assert_eq!(cluster.wait_for_agreement(), agreed, "a leader that is well stays");
    cluster.kill(2);
    assert_eq!(cluster.wait_for_leader(), 3);
}

#[test]
fn a_leader_gives_way_to_the_preferred_node_once_that_has_been_there_for_a_while() {
    let more = "preempt = true\npreempt_delay = \"1s\"";
    let mut cluster = Cluster::prepare(&Shape { more, ..Shape::of(3) });
    cluster.configure(2, "priority = 10");
    cluster.start_node(1);
    cluster.start_node(3);
    let (first, epoch) = cluster.wait_for_agreement();
    let started = Instant::now();
    cluster.start_node(2);
    assert_eq!(cluster.wait_for_agreement(), (first, epoch), "not at once");
    cluster
        .wait_for("it leads", |views| views[&2].as_ref().is_some_and(|view| view["standing"] == "leading"));
    assert!(started.elapsed() >= Duration::from_secs(1));
    assert_eq!(cluster.wait_for_leader(), 2);
    let history = cluster.get(2, "/v1/history").json();
    let change = history["changes"].as_array().and_then(|changes| changes.last()).expect("a change");
    let (kind, from) = (&change["cause"]["kind"], &change["cause"]["node"]);
    assert_eq!((kind, from), (&"handed-over".into(), &first.into()));
}
