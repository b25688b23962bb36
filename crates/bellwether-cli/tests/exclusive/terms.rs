use std::fs;

use super::{LEASE, started, wait_for_one};
use crate::cluster::Cluster;

/// Agents, of which one has been killed, and its configuration says something else from now on.
fn one_is_changed(from: &str, to: &str) -> (Cluster, u32, (u32, u64)) {
    let mut cluster = started(3, LEASE);
    let agreed = cluster.wait_for_agreement();
    let other = if agreed.0 == 1 { 2 } else { 1 };
    cluster.kill(other);
    let config = fs::read_to_string(cluster.config(other)).unwrap();
    assert!(config.contains(from), "{config}");
    fs::write(cluster.config(other), config.replace(from, to)).unwrap();
    (cluster, other, agreed)
}

#[test]
fn members_of_two_modes_refuse_each_other_and_say_so() {
    for (from, to) in [
        ("mode = \"exclusive\"", "mode = \"any-survivor\""),
        ("kind = \"lease\"", "kind = \"lease\"\nttl = \"2s\""),
    ] {
        let (mut cluster, other, agreed) = match to.contains("any-survivor") {
            true => {
                let (cluster, other, agreed) = one_is_changed(from, to);
                let config = fs::read_to_string(cluster.config(other)).unwrap();
                fs::write(cluster.config(other), config.replace("[exclusive]\nkind = \"lease\"\n", ""))
                    .unwrap();
                (cluster, other, agreed)
            }
            false => one_is_changed(from, to),
        };
        cluster.start_node(other);
        let refuses = |cluster: &Cluster, id: u32, peer: u32| {
            let members = cluster.get(id, "/v1/members").json();
            let all = members["members"].as_array().expect("a list").clone();
            all.into_iter().any(|member| {
                let reason = member["reason"].as_str().unwrap_or_default();
                member["id"] == peer
                    && member["link"] == "refused"
                    && reason.contains("exclusive (lease, ttl 1s, drift 1%)")
            })
        };
        wait_for_one(&cluster, other, "it is refused", |_| refuses(&cluster, other, agreed.0));
        wait_for_one(&cluster, agreed.0, "it refuses", |_| refuses(&cluster, agreed.0, other));
        let status = cluster.get(agreed.0, "/v1/status").json();
        assert_eq!((&status["leader"], &status["token"]), (&agreed.0.into(), &agreed.1.into()), "{status:#}");
        assert_ne!(cluster.get(other, "/v1/status").json()["standing"], "leading");
    }
}

#[test]
fn terms_that_cannot_be_are_refused() {
    for (to, wrong) in [
        ("voters = [1, 2]", "exclusive.voters: found 2, expected an odd number"),
        ("voters = [1, 2, 2]", "exclusive.voters: found 2 twice, expected each once"),
        ("voters = [1, 2, 7]", "exclusive.voters: found 7, expected ids of members only"),
        ("ttl = \"200ms\"", "exclusive.ttl (200ms) must be at least 5 times timing.heartbeat (50ms)"),
        ("drift = \"50%\"", "exclusive.drift: found 50%, expected a share above 0% and below 50%"),
        ("kind = \"lock\"", "`exclusive.kind`: found \"lock\", expected `lease` or `token`"),
    ] {
        let shape = crate::cluster::Shape {
            more: "mode = \"exclusive\"",
            tables: "[exclusive]\n",
            ..crate::cluster::Shape::of(3)
        };
        let cluster = Cluster::prepare(&shape);
        let config = fs::read_to_string(cluster.config(1)).unwrap();
        fs::write(cluster.config(1), format!("{config}{to}\n")).unwrap();
        let (code, said) = cluster.attempt(1, &[]);
        assert!(code == Some(2) && said.contains(wrong), "{to}: {said}");
    }
}
