//! Members of two builds in one cluster: it is upgraded one by one. `BELLWETHER_OLD` names the command of an earlier build.

use std::env;
use std::path::PathBuf;

use crate::cluster::{Cluster, Shape};

#[test]
fn a_cluster_is_upgraded_one_by_one() {
    let Some(old) = env::var_os("BELLWETHER_OLD").map(PathBuf::from) else {
        return; // There is no other build to speak with.
    };
    let mut cluster = Cluster::prepare(&Shape::of(3));
    (1..=3).for_each(|id| cluster.start_node_of(id, &old));
    let (_, mut epoch) = cluster.wait_for_agreement();
    for id in 1..=3 {
        let (code, _) = cluster.end(id);
        assert_eq!(code, Some(0), "{}", cluster.log(id));
        cluster.start_node(id);
        // Leadership goes round, from old ones to new ones and back.
        for to in [id % 3 + 1, id] {
            let (leader, _) = cluster.wait_for_agreement();
            if leader != to {
                let answer = cluster.post(leader, "/v1/transfer", &format!("{{\"to\":{to}}}"));
                assert_eq!(answer.status, 200, "from {leader} to {to}: {}", answer.body);
            }
            let before = epoch;
            let (leader, now) = cluster.wait_for_agreement();
            epoch = now;
            assert!(
                leader == to && epoch >= before,
                "node {leader} leads in epoch {epoch}, not {to} after {before}"
            );
        }
    }
    (1..=3).for_each(|id| assert!(!cluster.log(id).contains("about="), "{}", cluster.log(id)));
}
