//! Processes that are killed: the others agree on one of them, and go on counting.

use super::judged::{ALL, SIZES, assert_kept, recorded};

#[test]
fn the_leader_is_killed() {
    for nodes in SIZES {
        let (mut cluster, first) = recorded(nodes);
        let (_, before) = cluster.wait_for_agreement();
        cluster.kill(first);
        let (second, after) = cluster.wait_for_agreement();
        assert!(second != first && after > before, "{before}, {after}");
        assert_kept(&cluster, &ALL);
    }
}

#[test]
fn a_follower_is_killed_and_the_leader_stays() {
    for nodes in SIZES {
        let (mut cluster, leader) = recorded(nodes);
        let before = cluster.wait_for_agreement();
        let follower = if leader == 1 { 2 } else { 1 };
        cluster.kill(follower);
        assert_kept(&cluster, &ALL);
        assert_eq!(cluster.wait_for_agreement(), before);
    }
}

#[test]
fn two_are_killed_at_once_the_leader_among_them() {
    for nodes in SIZES {
        let (mut cluster, leader) = recorded(nodes);
        let other = if leader == nodes { 1 } else { leader + 1 };
        cluster.kill_together(&[leader, other]);
        let next = cluster.wait_for_leader();
        assert!(next != leader && next != other);
        // One comes back: of three only one is left, which has nobody to speak to, and so nothing to record.
        cluster.start_node(other);
        assert_eq!(cluster.wait_for_leader(), next);
        assert_kept(&cluster, &ALL);
    }
}

#[test]
fn all_are_killed_and_start_again_with_higher_epochs() {
    for nodes in SIZES {
        let (mut cluster, _) = recorded(nodes);
        let (_, before) = cluster.wait_for_agreement();
        cluster.kill_together(&cluster.ids());
        cluster.start_all();
        let (_, after) = cluster.wait_for_agreement();
        assert!(after > before, "epochs are on the disks: {before}, {after}");
        assert_kept(&cluster, &ALL);
    }
}
