//! Voters that come and go while the cluster works.

use std::fs;

use serde_json::{Value, json};

use super::{LEASE, PROMISED, started, wait_for_one};
use crate::cluster::{Cluster, Place, Shape, TOKEN};
use crate::faults::judged::assert_kept;

/// A cluster of three that works, and the files of further members that are not started yet.
fn three_and(more: u32) -> Cluster {
    let nodes = 3 + more;
    let shape = Shape { founders: 3, more: "mode = \"exclusive\"", tables: LEASE, ..Shape::of(nodes) };
    let mut cluster = Cluster::prepare(&shape);
    (1..=3).for_each(|id| cluster.start_node(id));
    cluster
}

/// Has a member change who votes, and says what it printed.
#[track_caller]
fn change(cluster: &Cluster, asked: u32, args: &[&str]) -> String {
    let (code, said, err) = attempt(cluster, asked, args);
    let logs = || {
        cluster.ids().into_iter().map(|id| format!("--- node {id}\n{}", cluster.log(id))).collect::<String>()
    };
    assert_eq!(code, 0, "{args:?}: {err}\n{}", logs());
    said
}

/// The same, which may be refused: the exit code, what it printed, and what it complained of.
fn attempt(cluster: &Cluster, asked: u32, args: &[&str]) -> (i32, String, String) {
    cluster.ask(asked, &[&["members"], args, &["--token", TOKEN]].concat())
}

/// Starts a new member, and lets it vote.
#[track_caller]
fn add(cluster: &mut Cluster, asked: u32, id: u32) {
    cluster.start_node(id);
    let (id_text, address) = (id.to_string(), cluster.peer(id).to_string());
    change(cluster, asked, &["add", &id_text, &address]);
    wait_until_it_votes(cluster, id);
}

#[track_caller]
fn wait_until_it_votes(cluster: &Cluster, id: u32) {
    wait_for_one(cluster, id, "its vote counts", |view| view["exclusive"]["vote"] == "counts");
}

/// Who votes, as a member says.
fn voters(cluster: &Cluster, asked: u32) -> Value {
    cluster.get(asked, "/v1/members").json()["configuration"]["voters"].clone()
}

/// One that does not lead.
fn follower_of(cluster: &Cluster, leader: u32) -> u32 {
    cluster.running().into_iter().find(|id| *id != leader).expect("there are others")
}

#[test]
fn voters_are_added_while_the_leader_leads_and_then_more_may_be_lost() {
    let mut cluster = three_and(2);
    let agreed = cluster.wait_for_agreement();
    let follower = follower_of(&cluster, agreed.0);
    add(&mut cluster, agreed.0, 4);
    assert_eq!(cluster.wait_for_agreement(), agreed, "nobody was disturbed");
    add(&mut cluster, follower, 5);
    assert_eq!(cluster.wait_for_agreement(), agreed, "whoever is asked");
    for id in cluster.ids() {
        wait_for_one(&cluster, id, "it knows who votes", |view| {
            let told = &view["exclusive"]["configuration"];
            told["voters"] == json!([1, 2, 3, 4, 5]) && told["settling"] == false
        });
    }
    let listed = cluster.get(follower, "/v1/members").json();
    let is_voter = |member: &Value| member["voter"] == true && member["store"].is_string();
    assert!(
        listed["members"].as_array().is_some_and(|all| all.len() == 5 && all.iter().all(is_voter)),
        "{listed:#}"
    );
    cluster.kill_together(&[agreed.0, follower]);
    let (_, token) = cluster.wait_for_agreement();
    assert!(token > agreed.1, "{token} after {}", agreed.1);
    assert_kept(&cluster, &PROMISED);
}

#[test]
fn a_member_that_nobody_knows_is_refused_and_does_not_lead_until_it_is_added() {
    let mut cluster = three_and(1);
    let agreed = cluster.wait_for_agreement();
    cluster.start_node(4);
    wait_for_one(&cluster, 4, "it is refused", |view| view["barred"]["kind"] == "refused");
    let status = cluster.get(4, "/v1/status").json();
    assert!(
        status["barred"]["refusals"].to_string().contains("node 4 is not in the list of members"),
        "{status:#}"
    );
    assert_eq!((&status["leader"], cluster.get(4, "/leader").status), (&Value::Null, 503));
    let address = cluster.peer(4).to_string();
    let said = change(&cluster, 1, &["add", "4", &address]);
    assert!(said.starts_with("1, 2, 3, 4 vote (configuration "), "{said}");
    assert!(said.contains("warning: 4 voters can spare no more than 3 could"), "{said}");
    wait_until_it_votes(&cluster, 4);
    assert_eq!(cluster.wait_for_agreement(), agreed);
    let (code, _, err) = attempt(&cluster, 1, &["add", "4", &address]);
    assert!(code == 3 && err.contains("node 4 votes already"), "{err}");
    assert_kept(&cluster, &PROMISED);
}

#[test]
fn a_voter_that_is_gone_for_good_is_removed_and_is_no_member_when_it_comes_back() {
    let mut cluster = started(3, LEASE);
    let agreed = cluster.wait_for_agreement();
    let gone = follower_of(&cluster, agreed.0);
    cluster.kill(gone);
    change(&cluster, agreed.0, &["remove", &gone.to_string()]);
    let left: Vec<u32> = cluster.running();
    assert_eq!(voters(&cluster, agreed.0), json!(left));
    assert_eq!(cluster.wait_for_agreement(), agreed);
    cluster.start_node(gone);
    wait_for_one(&cluster, gone, "it is refused", |view| view["barred"]["kind"] == "refused");
    assert!(cluster.get(gone, "/v1/status").json()["leader"].is_null());
    let (code, _, err) = attempt(&cluster, agreed.0, &["remove", &gone.to_string()]);
    assert!(code == 3 && err.contains(&format!("node {gone} does not vote")), "{err}");
}

#[test]
fn a_leader_that_is_removed_leads_no_more_whoever_is_asked() {
    for ask_the_leader in [false, true] {
        let mut cluster = started(3, LEASE);
        let (leader, token) = cluster.wait_for_agreement();
        let asked = if ask_the_leader { leader } else { follower_of(&cluster, leader) };
        change(&cluster, asked, &["remove", &leader.to_string()]);
        wait_for_one(&cluster, leader, "it leads no more", |view| view["leader"].is_null());
        let _ = cluster.end(leader);
        let (_, larger) = cluster.wait_for_agreement();
        assert!(larger > token, "{larger} after {token}");
        assert_kept(&cluster, &PROMISED);
    }
}

/// The address that was given counts, also when all come up again with files that have the old one.
#[test]
fn a_voter_that_is_replaced_by_another_machine_is_found_there() {
    let mut cluster = started(3, LEASE);
    let (leader, token) = cluster.wait_for_agreement();
    let lost = follower_of(&cluster, leader);
    cluster.kill(lost);
    fs::remove_dir_all(cluster.home(lost).join("data")).unwrap();
    let elsewhere = Place::on_loopback(1)[0].listen.to_string();
    let there = [("BELLWETHER_LISTEN_PEER", elsewhere.clone())];
    cluster.start_node_with(lost, &there);
    change(&cluster, leader, &["replace", &lost.to_string(), &elsewhere]);
    wait_until_it_votes(&cluster, lost);
    cluster.kill_together(&[1, 2, 3]);
    (1..=3).filter(|id| *id != lost).for_each(|id| cluster.start_node(id));
    cluster.start_node_with(lost, &there);
    let (_, larger) = cluster.wait_for_agreement();
    assert!(larger > token, "{larger} after {token}");
    wait_until_it_votes(&cluster, lost);
    assert_kept(&cluster, &PROMISED);
}

#[test]
fn a_voter_that_lost_its_disk_votes_again_when_it_is_replaced() {
    let mut cluster = started(3, LEASE);
    let agreed = cluster.wait_for_agreement();
    let lost = follower_of(&cluster, agreed.0);
    cluster.kill(lost);
    fs::remove_dir_all(cluster.home(lost).join("data")).unwrap();
    cluster.start_node(lost);
    wait_for_one(&cluster, lost, "its vote is lost", |view| view["exclusive"]["vote"] == "lost");
    change(&cluster, agreed.0, &["replace", &lost.to_string()]);
    wait_until_it_votes(&cluster, lost);
    assert_eq!(voters(&cluster, lost), json!([1, 2, 3]));
    assert_eq!(cluster.wait_for_agreement(), agreed, "nobody was disturbed");
    // Two of three are enough again, and it is one of them.
    let third = cluster.ids().into_iter().find(|id| ![lost, agreed.0].contains(id)).unwrap();
    cluster.kill(third);
    assert_eq!(cluster.wait_for_agreement(), agreed);
    assert_kept(&cluster, &PROMISED);
}

#[test]
fn without_a_majority_the_voters_do_not_change_and_whoever_asks_is_told() {
    let mut cluster = started(3, LEASE);
    let (leader, _) = cluster.wait_for_agreement();
    let others: Vec<u32> = cluster.ids().into_iter().filter(|id| *id != leader).collect();
    cluster.kill_together(&others);
    wait_for_one(&cluster, leader, "it is alone", |view| view["exclusive"]["reachable"] == 1);
    let answer =
        crate::cluster::http::delete(&cluster.api(leader), &format!("/v1/members/{}", others[0]), TOKEN);
    assert_eq!(answer.status, 503, "{}", answer.body);
    let said = answer.error();
    assert!(
        said.starts_with("too few voters can be reached: 1 of 2 that are needed; start the others"),
        "{said}"
    );
    let (code, _, err) = attempt(&cluster, leader, &["remove", &others[0].to_string()]);
    assert!(code == 3 && err.contains("1 of 2 that are needed"), "{err}");
}

#[test]
fn the_survivors_of_a_lost_majority_go_on_with_larger_tokens_when_they_are_told_to() {
    let mut cluster = started(3, LEASE);
    let agreed = cluster.wait_for_agreement();
    let survivor = agreed.0.to_string();
    let others: Vec<u32> = cluster.ids().into_iter().filter(|id| *id != agreed.0).collect();
    let refused = attempt(&cluster, agreed.0, &["rescue", &survivor, "--yes"]);
    assert!(refused.0 == 3 && refused.2.contains("a majority of the voters can be reached"), "{}", refused.2);
    cluster.kill_together(&others);
    others.iter().for_each(|id| fs::remove_dir_all(cluster.home(*id).join("data")).unwrap());
    wait_for_one(&cluster, agreed.0, "it leads no more", |view| view["leader"].is_null());
    let (code, _, err) = attempt(&cluster, agreed.0, &["rescue", &survivor]);
    assert!(code == 2 && err.contains("there may be two leaders") && err.contains("--yes"), "{err}");
    change(&cluster, agreed.0, &["rescue", &survivor, "--yes"]);
    let (leader, token) = cluster.wait_for_agreement();
    assert!(leader == agreed.0 && token > agreed.1, "{token} after {}", agreed.1);
    assert_eq!(voters(&cluster, agreed.0), json!([agreed.0]));
    for id in others {
        add(&mut cluster, agreed.0, id);
    }
    assert_eq!(voters(&cluster, agreed.0), json!([1, 2, 3]));
    assert_kept(&cluster, &PROMISED);
}

#[test]
fn all_are_restarted_with_the_files_from_before_a_change_and_go_on() {
    let mut cluster = three_and(2);
    let (leader, token) = cluster.wait_for_agreement();
    add(&mut cluster, leader, 4);
    add(&mut cluster, leader, 5);
    let gone = follower_of(&cluster, leader);
    change(&cluster, leader, &["remove", &gone.to_string()]);
    let _ = cluster.end(gone);
    let all = cluster.running();
    cluster.kill_together(&all);
    all.iter().for_each(|id| cluster.start_node(*id));
    let (_, larger) = cluster.wait_for_agreement();
    assert!(larger > token, "{larger} after {token}");
    for id in all.iter().copied() {
        wait_for_one(&cluster, id, "it knows who votes", |view| {
            view["exclusive"]["configuration"]["voters"] == json!(all)
        });
        let (_, said, _) = cluster.ask(id, &["status"]);
        assert!(said.contains("the file lists the voters 1, 2, 3, but"), "{said}");
        assert!(cluster.log(id).contains("the file lists the voters 1, 2, 3, but"), "{}", cluster.log(id));
    }
    assert_kept(&cluster, &PROMISED);
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_changes() {
    let cluster = started(3, LEASE);
    let (leader, _) = cluster.wait_for_agreement();
    let wrong: [(&[&str], i32, &str); 7] = [
        (&["add", "0", "10.0.0.4:3170"], 2, "0"),
        (&["add", "4", "two words"], 2, "expected a host and a port"),
        (&["add", "3", "10.0.0.3:3170"], 3, "node 3 votes already"),
        (&["remove", "9"], 3, "node 9 does not vote"),
        (&["replace", "9"], 3, "node 9 does not vote"),
        (&["rescue", "--yes"], 2, "<ID>"),
        (&["rescue", "1", "2", "9", "--yes"], 3, "node 9 does not vote or cannot be reached"),
    ];
    for (args, expected, said) in wrong {
        let (code, _, err) = attempt(&cluster, leader, args);
        assert!(code == expected && err.contains(said), "{args:?}: {code} {err}");
    }
    let (code, _, err) = cluster.ask(leader, &["members", "remove", "2"]);
    assert!(code == 2 && err.contains("this needs a token"), "{err}");
    for (path, body, status) in [
        ("/v1/members", r#"{"id":4}"#, 400),
        ("/v1/members", r#"{"id":0,"address":"10.0.0.4"}"#, 400),
        ("/v1/members/three/replace", "{}", 400),
        ("/v1/members/rescue", r#"{"survivors":[1,2]}"#, 400),
        ("/v1/members/3", "{}", 405),
    ] {
        let answer = cluster.post(leader, path, body);
        assert_eq!(answer.status, status, "{path} {body}: {}", answer.body);
    }
    assert_eq!(voters(&cluster, leader), json!([1, 2, 3]));
}

#[test]
fn there_are_no_voters_to_change_where_leadership_is_not_exclusive() {
    let cluster = Cluster::start(1);
    cluster.wait_for_leader();
    let answer = cluster.post(1, "/v1/members", r#"{"id":2,"address":"127.0.0.1:9"}"#);
    assert_eq!(
        (answer.status, answer.error().contains("leadership is not exclusive")),
        (409, true),
        "{}",
        answer.body
    );
    let listed = cluster.get(1, "/v1/members").json();
    assert_eq!((&listed["configuration"], &listed["members"][0]["voter"]), (&Value::Null, &Value::Null));
}
