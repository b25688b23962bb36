use serde_json::{Value, json};

use super::{LEASE, LONG, with_sockets};
use crate::cluster::{Cluster, DEADLINE, Door, wait_until};

fn names(page: &Value) -> Vec<&str> {
    page["elections"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

/// Waits until an agent knows as many elections as there should be.
fn knows(door: &Door, count: usize) {
    let all = || names(&door.get("/v1/elections").json()).len() == count;
    assert!(wait_until(DEADLINE, all), "{}", door.get("/v1/elections").body);
}

#[test]
fn all_agents_list_all_elections_page_by_page_in_the_order_of_their_names() {
    let cluster = with_sockets(3, LEASE);
    let door = cluster.socket(1);
    let mut session = door.open("POST", "/v1/session", "");
    let (id, _) = session.session();
    for name in ["a%2Fb", "%C3%A9", "z", "b"] {
        assert_eq!(door.post(&format!("/v1/session/{id}/campaign/{name}"), "{\"value\":\"v\"}").status, 200);
    }
    for _ in 0..4 {
        session.elected();
    }
    let other = cluster.port(2).bare();
    knows(&other, 5);
    let all = other.get("/v1/elections").json();
    assert_eq!((names(&all), &all["next"]), (vec!["a/b", "b", "leader", "z", "é"], &Value::Null));
    let one = other.get("/v1/elections/a%2Fb").json();
    for (key, expected) in [("kind", json!("lease")), ("value", json!("v")), ("waiting", json!(0))] {
        assert_eq!(one[key], expected, "{one}");
    }
    assert_eq!(one["holder"], json!({ "node": 1, "session": id.parse::<u64>().unwrap() }));
    assert!(
        one["since"].as_str().is_some_and(|since| since.ends_with('Z')) && one["age_ms"].is_u64(),
        "{one}"
    );
    let (mut after, mut seen) = (String::new(), Vec::new());
    loop {
        let page = other.get(&format!("/v1/elections?limit=2{after}")).json();
        assert!(names(&page).len() <= 2);
        seen.extend(names(&page).iter().map(|name| (*name).to_owned()));
        match page["next"].as_str() {
            Some(next) => after = format!("&after={}", next.replace('/', "%2F")),
            None => break,
        }
    }
    assert_eq!(seen, ["a/b", "b", "leader", "z", "é"]);
    let (code, said, _) = cluster.ask(3, &["elections", "--after", "b", "--limit", "2"]);
    let rows: Vec<_> = said.lines().skip(1).filter_map(|row| row.split_whitespace().next()).collect();
    assert_eq!((code, rows), (0, vec!["leader", "z"]), "{said}");
    let (_, said, _) = cluster.ask(3, &["elections", "--json"]);
    assert_eq!(names(&serde_json::from_str(&said).unwrap()).len(), 5);
    assert_eq!(other.get("/v1/elections/nothing").status, 404);
}

#[test]
fn what_a_holder_proclaims_is_read_and_watched_everywhere() {
    let cluster = with_sockets(3, LONG);
    let mut watching = cluster.port(3).bare().open("GET", "/v1/elections/backup/watch", "");
    assert_eq!(watching.next(), ("none".to_owned(), json!({ "name": "backup" })));
    let door = cluster.socket(1);
    let mut holder = door.campaign("backup", "{\"value\":\"first\"}");
    let token = holder.elected();
    let put = |door: &Door, token: u64, value: &str| {
        door.ask("PUT", "/v1/elections/backup/value", &json!({ "token": token, "value": value }).to_string())
    };
    let answer = put(&door, token, "second");
    assert_eq!((answer.status, &answer.json()["value"]), (200, &json!("second")), "{}", answer.body);
    assert_eq!(put(&door, token + 1, "third").status, 409);
    assert_eq!(put(&cluster.socket(2), token, "third").status, 409, "it is held through another agent");
    assert_eq!(put(&cluster.port(1).bare(), token, "third").status, 401);
    let read = cluster.port(2).bare().get("/v1/elections/backup?read=quorum");
    assert_eq!((read.status, &read.json()["value"]), (200, &json!("second")), "{}", read.body);
    while watching.until("election")["value"] != "second" {}
    drop(holder);
    while !watching.until("election")["holder"].is_null() {}
    let delete = |door: &Door| door.delete("/v1/elections/backup");
    assert_eq!(delete(&cluster.port(2).bare()).status, 401);
    let answer = delete(&cluster.port(2));
    assert_eq!((answer.status, answer.json()), (200, json!({ "deleted": true })), "{}", answer.body);
    assert_eq!(watching.until("none"), json!({ "name": "backup" }));
    assert_eq!(delete(&door).status, 404);
    assert_eq!(door.delete("/v1/elections/leader").status, 409);
    let mut again = door.campaign("backup", "{\"kind\":\"token\"}");
    assert!(again.elected() > token, "tokens grow, whatever was deleted");
    assert_eq!(delete(&door).status, 409, "somebody holds it");
    let other = cluster.socket(1).post("/v1/elections/backup/campaign", "{\"kind\":\"lease\"}");
    assert!(other.status == 409 && other.error().contains("of kind token"), "{}", other.body);
    let mut next = cluster.socket(2).campaign("backup", "");
    while next.until("waiting")["kind"] != "token" {}
    drop(again);
    assert_eq!(next.until("elected")["kind"], "token", "what is left out is as the name is");
}

/// Of the two that wait, the one that is chosen is next.
#[test]
fn a_name_is_given_back_and_handed_over_when_its_holder_is_asked() {
    let cluster = with_sockets(3, LONG);
    let door = cluster.socket(1);
    let mut session = door.open("POST", "/v1/session", "");
    let (id, _) = session.session();
    let path = format!("/v1/session/{id}/campaign/backup");
    assert_eq!(door.post(&path, "").status, 200);
    let token = session.elected();
    let mut second = cluster.socket(2).campaign("backup", "");
    second.queued();
    let mut third = cluster.socket(3).campaign("backup", "");
    third.queued();
    let answer = cluster.socket(2).post("/v1/elections/backup/resign", "");
    assert!(answer.status == 409 && answer.error().contains("through node 1"), "{}", answer.body);
    assert_eq!(door.post("/v1/elections/backup/resign", "{\"token\":99}").status, 409);
    assert_eq!(door.post("/v1/elections/nothing/resign", "").status, 404);
    let answer = door.post("/v1/elections/backup/transfer", "{\"to\":1}");
    assert!(answer.status == 409 && answer.error().contains("no session of node 1 waits"), "{}", answer.body);
    let answer = door.post("/v1/elections/backup/transfer", "{\"to\":9}");
    assert!(answer.status == 409 && answer.error().contains("node 9 is no member"), "{}", answer.body);
    assert_eq!(
        door.get(&format!("/v1/elections/backup/check?token={token}")).status,
        200,
        "it is left alone"
    );
    let handing_over = cluster.socket(1);
    let asked = std::thread::spawn(move || handing_over.post("/v1/elections/backup/transfer", "{\"to\":3}"));
    let said = session.until("asked_back");
    assert_eq!(
        (&said["why"], &said["token"], &said["release_ms"]),
        (&json!("transfer"), &json!(token), &json!(5000))
    );
    assert_eq!(door.delete(&path).status, 200);
    let answer = asked.join().unwrap();
    assert_eq!((answer.status, &answer.json()["holder"]["node"]), (200, &json!(3)), "{}", answer.body);
    let token = third.elected();
    // Who does not give it back loses it when its time is over, and waits again.
    let (code, said, err) = crate::cluster::run(&[
        "resign",
        "--name",
        "backup",
        "--socket",
        cluster.socket_path(3).to_str().unwrap(),
    ]);
    assert!(code == 0 && said.starts_with("node 2, session "), "{said}{err}");
    let lost = third.until("lost");
    assert_eq!((&lost["why"], &lost["token"]), (&json!("resigned"), &json!(token)));
    third.queued();
    assert!(second.elected() > token);
}

/// Programs go before the agents themselves.
#[test]
fn the_leadership_of_the_cluster_is_an_election_as_well() {
    let cluster = with_sockets(3, LEASE);
    let (leader, token) = cluster.wait_for_agreement();
    let own = cluster.socket(leader).get(&format!("/v1/elections/leader/check?token={token}"));
    assert!(own.status == 200 && own.json()["valid_until"].is_u64(), "{}", own.body);
    let other = cluster.ids().into_iter().find(|id| *id != leader).unwrap();
    let mut program = cluster.socket(other).campaign("leader", "");
    assert!(program.elected() > token);
    let one = cluster.socket(other).get("/v1/elections/leader").json();
    assert_eq!(one["holder"]["node"], other, "{one}");
    drop(program);
    cluster.wait_for_leader();
}

#[test]
fn without_exclusive_leadership_there_are_no_named_elections() {
    let cluster = Cluster::start(1);
    cluster.wait_for_leader();
    for (method, path) in [
        ("GET", "/v1/elections"),
        ("GET", "/v1/elections/x"),
        ("GET", "/v1/elections/x/watch"),
        ("POST", "/v1/elections/x/campaign"),
        ("POST", "/v1/session"),
        ("DELETE", "/v1/session/5"),
    ] {
        let answer = cluster.port(1).ask(method, path, "");
        assert_eq!(answer.status, 409, "{method} {path}: {}", answer.body);
        assert!(answer.error().contains("mode = \"exclusive\""), "{}", answer.body);
    }
    let (code, _, err) = cluster.ask(1, &["elections"]);
    assert!(code == 3 && err.contains("mode = \"exclusive\""), "{err}");
    assert!(cluster.get(1, "/v1/status").json()["elections"].is_null());
}
