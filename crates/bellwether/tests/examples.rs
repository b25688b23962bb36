//! The examples run.

#[path = "../examples/udp_cluster.rs"]
mod udp_cluster;

#[test]
fn three_nodes_on_udp_elect_a_leader_and_the_next() {
    udp_cluster::main().expect("the cluster elects");
}
