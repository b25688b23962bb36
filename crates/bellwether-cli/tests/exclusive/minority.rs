use super::{LEASE, PROMISED, prepared, started, wait_for_one};
use crate::faults::judged::assert_kept;

/// Two of five go on to have a leader when one is gone; when a third is gone, nobody leads, and whoever asks is told what is missing.
#[test]
fn without_a_majority_nobody_leads_and_whoever_asks_is_told() {
    let mut cluster = started(5, LEASE);
    let (leader, token) = cluster.wait_for_agreement();
    let others: Vec<u32> = cluster.ids().into_iter().filter(|id| *id != leader).collect();
    cluster.kill_together(&others[..2]);
    assert_eq!(cluster.wait_for_agreement(), (leader, token), "three of five are enough");
    cluster.kill(others[2]);
    wait_for_one(&cluster, leader, "it leads no more", |view| view["leader"].is_null());
    let answer = cluster.get(leader, "/leader");
    let told = &answer.json()["exclusive"];
    assert_eq!(
        (answer.status, &told["reachable"], &told["needed"]),
        (503, &2.into(), &3.into()),
        "{}",
        answer.body
    );
    let reason = cluster.get(leader, "/readyz").json()["reason"].as_str().expect("a reason").to_owned();
    assert_eq!(reason, "no leader is known: 2 voters reachable; 3 needed");
    let (_, said, _) = cluster.ask(leader, &["status"]);
    assert!(said.contains("nobody: 2 voters reachable; 3 needed"), "{said}");
    cluster.start_node(others[2]);
    let (_, larger) = cluster.wait_for_agreement();
    assert!(larger >= token, "{larger} after {token}");
    assert_kept(&cluster, &PROMISED);
}

/// Nothing is granted before all voters have been there once: two halves of a new cluster could both be a majority of what they know.
#[test]
fn a_cluster_that_was_never_whole_has_no_leader() {
    let mut cluster = prepared(3, LEASE);
    cluster.start_node(1);
    cluster.start_node(2);
    wait_for_one(&cluster, 1, "both are there", |view| view["exclusive"]["reachable"] == 2);
    let status = cluster.get(1, "/v1/status").json();
    assert_eq!((&status["exclusive"]["needed"], &status["leader"]), (&3.into(), &serde_json::Value::Null));
    cluster.start_node(3);
    cluster.wait_for_agreement();
}

#[test]
fn a_witness_votes_and_never_leads() {
    let mut cluster = prepared(3, "[exclusive]\nwitnesses = [2, 3]\n");
    cluster.start_all();
    let (leader, token) = cluster.wait_for_agreement();
    assert_eq!(leader, 1, "nobody else may");
    cluster.kill(3);
    assert_eq!(cluster.wait_for_agreement(), (leader, token), "the other one votes");
}

#[test]
fn an_agent_that_is_told_to_ends_when_it_loses_leadership() {
    let mut cluster = prepared(3, "[exclusive]\non_lost = \"exit\"\n");
    cluster.start_all();
    let (leader, token) = cluster.wait_for_agreement();
    let others: Vec<u32> = cluster.ids().into_iter().filter(|id| *id != leader).collect();
    cluster.kill_together(&others);
    let (code, log) = cluster.wait_for_end(leader);
    assert_eq!(code, Some(3), "{log}");
    let error = log.lines().last().expect("it says why");
    assert!(error.starts_with(&format!("error: this member lost leadership with token {token}")), "{log}");
}
