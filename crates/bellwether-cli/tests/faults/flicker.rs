//! A crash of the leader makes one new leader: nobody leads for a moment in between, and nobody who comes back leads at all.

use crate::cluster::Cluster;

const TRIALS: u32 = 20;

#[test]
fn when_the_leader_is_killed_exactly_one_other_announces_itself() {
    let mut cluster = Cluster::start(5);
    let (mut leader, mut epoch) = cluster.wait_for_agreement();
    for trial in 1..=TRIALS {
        let before = announced_themselves(&cluster);
        cluster.kill(leader);
        let (next, higher) = cluster.wait_for_agreement();
        cluster.start_node(leader);
        assert_eq!(cluster.wait_for_agreement(), (next, higher), "trial {trial}: who comes back follows");
        let after = announced_themselves(&cluster);
        assert_eq!(after[before.len()..], [(higher, next)], "trial {trial}");
        assert!(higher > epoch, "trial {trial}: {epoch}, {higher}");
        (leader, epoch) = (next, higher);
    }
}

/// Every leadership that its leader announced, in order of epochs, as all nodes together remember it. It is on their disks:
/// that a process was killed does not matter.
fn announced_themselves(cluster: &Cluster) -> Vec<(u64, u32)> {
    let mut all = Vec::new();
    for id in cluster.running() {
        let history = cluster.get(id, "/v1/history").json();
        let changes = history["changes"].as_array().expect("a list of changes");
        let own = changes.iter().filter(|change| change["leader"] == id);
        all.extend(own.map(|change| (change["epoch"].as_u64().expect("an epoch"), id)));
    }
    all.sort_unstable();
    all
}
