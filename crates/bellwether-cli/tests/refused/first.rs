//! Who may lead before anybody has led, and who may lead when all others are gone.

use serde_json::Value;

use crate::cluster::{Cluster, Shape};

fn barred(cluster: &Cluster, id: u32) -> Value {
    cluster.get(id, "/v1/status").json()["barred"].clone()
}

#[track_caller]
fn waits_for_peers(cluster: &Cluster, id: u32, words: &str) {
    cluster.wait_for("it waits for peers", |views| {
        views[&id].as_ref().is_some_and(|view| view["barred"]["text"] == words)
    });
    assert_eq!(barred(cluster, id)["kind"], "too-few-peers");
    let ready = cluster.get(id, "/readyz");
    assert_eq!((ready.status, ready.json()["reason"].as_str()), (503, Some(words)), "{}", ready.body);
    assert_eq!(cluster.get(id, "/leader").status, 503);
    assert!(cluster.log(id).contains(words), "{}", cluster.log(id));
}

#[test]
fn the_first_member_of_all_waits_for_a_second() {
    let mut cluster = Cluster::prepare(&Shape::of(3));
    cluster.start_node(1);
    waits_for_peers(&cluster, 1, "before a first election 1 peer must be connected; 0 are");
    cluster.start_node(2);
    assert_eq!(cluster.wait_for_agreement().1, 1, "it is the first");
    assert_eq!(barred(&cluster, 1), Value::Null);
}

#[test]
fn a_first_election_waits_for_as_many_as_it_is_told_to() {
    let mut cluster = Cluster::prepare(&Shape { more: "min_peers = 2", ..Shape::of(3) });
    [1, 2].into_iter().for_each(|id| cluster.start_node(id));
    for id in [1, 2] {
        waits_for_peers(&cluster, id, "before a first election 2 peers must be connected; 1 is");
    }
    cluster.start_node(3);
    cluster.wait_for_agreement();
}

#[test]
fn a_member_that_waits_for_nobody_leads_at_once() {
    let mut cluster = Cluster::prepare(&Shape { more: "min_peers = 0", ..Shape::of(3) });
    cluster.start_node(1);
    assert_eq!(cluster.wait_for_agreement(), (1, 1));
}

#[test]
fn the_last_survivor_that_restarts_leads() {
    let mut cluster = Cluster::start(3);
    let (leader, epoch) = cluster.wait_for_agreement();
    let survivor = cluster.ids().into_iter().find(|id| *id != leader).unwrap();
    cluster.wait_for_disks(&[survivor]);
    cluster.kill_together(&[1, 2, 3]);
    cluster.start_node(survivor);
    let (led_by, later) = cluster.wait_for_agreement();
    assert!(led_by == survivor && later > epoch, "{led_by}, {later} after {epoch}");
}
