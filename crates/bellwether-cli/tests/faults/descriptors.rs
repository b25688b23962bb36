//! Agents that may open few files.

use std::fs;
use std::net::TcpStream;

use crate::cluster::{Cluster, DEADLINE, Process, Shape};

/// More than there are file descriptors.
const CROWD: usize = 100;

/// Clients that say nothing have every descriptor that a client may have. The member writes its state all the same.
#[test]
fn who_has_few_descriptors_leads_when_it_is_told_to() {
    let mut cluster = Cluster::prepare(&Shape::of(3));
    for id in cluster.ids() {
        cluster.start_node_under(id, "-n 64");
    }
    let first = cluster.wait_for_leader();
    let next = if first == 3 { 2 } else { 3 };
    let connect = || TcpStream::connect(cluster.api(next)).expect("it listens");
    let crowd: Vec<TcpStream> = (0..CROWD).map(|_| connect()).collect();
    assert_eq!(cluster.get(next, "/livez").status, 200);
    let answer = cluster.post(first, "/v1/transfer", &format!("{{\"to\":{next}}}"));
    assert_eq!(answer.status, 200, "{}\n{}", answer.body, cluster.log(next));
    assert_eq!(cluster.wait_for_leader(), next);
    drop(crowd);
}

#[test]
fn the_limit_is_raised_as_far_as_it_may_be() {
    let mut cluster = Cluster::prepare(&Shape::of(1));
    cluster.start_node_under(1, "-Sn 64");
    cluster.wait_for_leader();
    let limits = fs::read_to_string(format!("/proc/{}/limits", cluster.pid(1))).unwrap();
    let open = limits.lines().find_map(|line| line.strip_prefix("Max open files")).expect("Linux says so");
    let [soft, hard, ..] = open.split_whitespace().collect::<Vec<_>>()[..] else { panic!("{open}") };
    assert_eq!(soft, hard);
}

#[test]
fn a_limit_that_is_too_low_is_said() {
    let cluster = Cluster::prepare(&Shape::of(3));
    let log = cluster.home(1).join("log");
    let code = Process::agent_under(&cluster.config(1), "-n 20", &log).wait(DEADLINE);
    let said = fs::read_to_string(&log).unwrap();
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("error: found a limit of 20 open files, expected at least "), "{said}");
}
