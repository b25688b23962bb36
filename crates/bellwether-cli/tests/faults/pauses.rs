//! Processes that are stopped: silent, but not gone. Their connections stay, and they remember what they were.

use super::judged::{ALL, SIZES, assert_kept, recorded};
use crate::cluster::Cluster;

#[test]
fn a_stopped_leader_is_replaced_and_follows_when_it_goes_on() {
    for nodes in SIZES {
        let (mut cluster, first) = recorded(nodes);
        cluster.stop(first);
        let second = cluster.wait_for_leader();
        assert_ne!(first, second);
        let said = cluster.records(second).events(first, "announce").len();
        cluster.cont(first);
        assert_eq!(cluster.wait_for_leader(), second, "who comes back does not take the lead");
        let records = assert_kept(&cluster, &ALL);
        let since = records.events(first, "announce").split_off(said);
        assert!(since.iter().all(|announced| announced["leader"] != first), "{since:?}");
        assert_eq!(since.last().expect("it has heard")["leader"], second);
    }
}

#[test]
fn a_follower_that_is_stopped_and_goes_on_changes_nothing() {
    for nodes in SIZES {
        let (mut cluster, leader) = recorded(nodes);
        let before = cluster.wait_for_agreement();
        let announced = announcements(&cluster, leader);
        let follower = if leader == 1 { 2 } else { 1 };
        cluster.stop(follower);
        // For longer than a silent leader would be waited for.
        cluster.leave_alone();
        cluster.cont(follower);
        assert_kept(&cluster, &ALL);
        assert_eq!(cluster.wait_for_agreement(), before);
        assert_eq!(announcements(&cluster, leader), announced, "nobody had anything to announce");
    }
}

/// How often each node has announced who leads.
fn announcements(cluster: &Cluster, leader: u32) -> Vec<usize> {
    let records = cluster.records(leader);
    cluster.ids().into_iter().map(|id| records.events(id, "announce").len()).collect()
}
