use std::os::unix::net::UnixStream;

use serde_json::json;

use super::{LEASE, with_sockets};
use crate::cluster::{Cluster, DEADLINE, Shape, wait_until};

#[test]
fn what_is_wrong_is_explained() {
    let cluster = with_sockets(1, LEASE);
    let door = cluster.socket(1);
    let mut session = door.open("POST", "/v1/session", "");
    let (id, _) = session.session();
    let long_name = "x".repeat(256);
    let long_value = json!({ "value": "v".repeat(4097) }).to_string();
    let long_body = json!({ "value": "v".repeat(20_000) }).to_string();
    let resume = |more: &str| format!("{{\"resume\":{{\"session\":\"{id}\",\"secret\":\"s\",{more}}}}}");
    let late = resume("\"valid_ms\":99999999999");
    let both = resume("\"valid_ms\":1,\"valid_until\":1");
    let bad_hold = resume("\"holds\":[{\"name\":\"\",\"token\":1}]");
    let campaign = |name: &str| format!("/v1/elections/{name}/campaign");
    let of_session = format!("/v1/session/{id}/campaign/x");
    let process = format!("/v1/session/{id}/process");
    for (method, path, body, status, words) in [
        ("POST", campaign("").as_str(), "", 400, "at least one character"),
        ("POST", &format!("/v1/session/{id}/campaign/"), "", 400, "at least one character"),
        ("DELETE", "/v1/elections/", "", 400, "at least one character"),
        ("POST", campaign(&long_name).as_str(), "", 400, "at most 255 bytes, and this one has 256"),
        ("POST", &campaign("a%0Ab"), "", 400, "no control characters"),
        ("POST", &campaign("%FF"), "", 400, "Invalid UTF-8"),
        ("POST", &campaign("%00configuration"), "", 400, "no control characters"),
        ("POST", &campaign("x"), "[]", 400, "the body: "),
        ("POST", &campaign("x"), "{\"kind\":", 400, "the body: EOF"),
        (
            "POST",
            &campaign("x"),
            "{\"kind\":\"lock\"}",
            400,
            "kind: found \"lock\", expected `lease` or `token`",
        ),
        ("POST", &campaign("x"), "{\"kind\":1}", 400, "invalid type"),
        ("POST", &campaign("x"), "{\"priority\":-1}", 400, "expected u32"),
        ("POST", &campaign("x"), "{\"priority\":4294967296}", 400, "expected u32"),
        ("POST", &campaign("x"), "{\"prio\":1}", 400, "unknown field `prio`"),
        (
            "POST",
            &campaign("x"),
            "{\"keep\":\"soon\"}",
            400,
            "keep: found \"soon\", expected a time with a unit",
        ),
        ("POST", &campaign("x"), "{\"keep\":\"100ms\"}", 400, "keep: found \"100ms\", expected from 1.0 s"),
        ("POST", &campaign("x"), "{\"keep\":\"61s\"}", 400, "to 1 m 00 s"),
        ("POST", &campaign("x"), &long_value, 413, "value: found 4097 bytes, expected at most 4096"),
        ("POST", &campaign("x"), &long_body, 413, "at most 16384 bytes"),
        ("POST", &of_session, "{\"keep\":\"1s\"}", 400, "expected it where the session is opened"),
        (
            "POST",
            "/v1/session",
            "{\"keep\":\"1s\",\"resume\":{\"session\":\"1\",\"secret\":\"\"}}",
            400,
            "expected one of them",
        ),
        ("POST", "/v1/session", "{\"resume\":{}}", 400, "missing field"),
        ("POST", "/v1/session", &late, 400, "valid_ms: found a time more than an hour from now"),
        ("POST", "/v1/session", &both, 400, "expected one of them"),
        ("POST", "/v1/session", &bad_hold, 400, "holds: found \"\": a name has at least one character"),
        ("POST", "/v1/session/17/campaign/x", "", 404, "there is no session 17"),
        ("POST", "/v1/session/x/process", "{\"pid\":1}", 404, "there is no session x"),
        ("POST", &process, "", 400, "the body: "),
        ("POST", &process, "{\"pid\":\"1\"}", 400, "expected u32"),
        ("DELETE", &of_session, "", 404, "does not campaign for \"x\""),
        ("DELETE", "/v1/session/18446744073709551616", "", 404, "there is no session"),
        ("GET", "/v1/elections?limit=0", "", 400, "limit: found 0, expected from 1 to 1000"),
        ("GET", "/v1/elections?limit=1001", "", 400, "limit: found 1001"),
        ("GET", "/v1/elections?after=%0A", "", 400, "after: a name has no control characters"),
        ("GET", "/v1/elections?befor=a", "", 400, "unknown field `befor`"),
        ("GET", "/v1/elections/x?read=twice", "", 400, "read: found \"twice\", expected `local` or `quorum`"),
        ("GET", "/v1/elections/x/check", "", 400, "missing field `token`"),
        ("GET", "/v1/elections/x/check?token=-1", "", 400, "invalid digit"),
        ("PUT", "/v1/elections/x/value", "{\"value\":\"v\"}", 400, "missing field `token`"),
        (
            "PUT",
            "/v1/elections/x/value",
            "{\"token\":1,\"value\":\"v\"}",
            409,
            "token 1 is not that of a session",
        ),
        ("POST", "/v1/elections/x/transfer", "", 400, "the body: "),
        ("POST", "/v1/elections/x/transfer", "{\"to\":0}", 400, "to: found 0"),
        ("POST", "/v1/elections/x/resign", "{\"tokn\":1}", 400, "unknown field `tokn`"),
        ("POST", "/v1/elections", "", 405, "does not take POST"),
    ] {
        let answer = door.ask(method, path, body);
        assert_eq!(answer.status, status, "{method} {path:.80} {body:.80}: {}", answer.body);
        assert!(answer.error().contains(words), "{method} {path:.80} {body:.80}: {}", answer.body);
    }
    assert_eq!(
        door.get("/v1/elections").json()["elections"].as_array().unwrap().len(),
        1,
        "nothing has begun"
    );
    assert_eq!(door.get("/v1/status").json()["elections"], json!({ "held": 0, "waiting": 0 }));
}

/// What nobody reads is kept up to a bound. Then the stream is closed, and what was held is given back when the validity that was
/// written to it is over.
#[test]
fn a_stream_that_is_never_read_does_not_hold_for_ever() {
    let cluster = with_sockets(1, LEASE);
    let door = cluster.socket(1);
    let mut session = door.open("POST", "/v1/session", "");
    let (id, _) = session.session();
    // From here on it is not read: the names are long, and so are the events.
    let counts = || door.get("/v1/status").json()["elections"].clone();
    let mut told = 0;
    let ended = wait_until(2 * DEADLINE, || {
        let name = format!("{}-{told}", "x".repeat(240));
        told += 1;
        let answer = door.post(&format!("/v1/session/{id}/campaign/{name}"), "");
        assert!([200, 404, 409].contains(&answer.status), "{}", answer.body);
        answer.status == 404
    });
    assert!(ended, "{told} campaigns, and it is still there: {}", counts());
    assert!(wait_until(DEADLINE, || counts() == json!({ "held": 0, "waiting": 0 })), "{}", counts());
    let first = format!("{}-0", "x".repeat(240));
    door.campaign(&first, "").elected();
}

/// Whoever watches an election and does not read is sent away, however much happens.
#[test]
fn a_watcher_that_does_not_read_costs_no_more_than_others() {
    let cluster = with_sockets(1, LEASE);
    let door = cluster.socket(1);
    let mut holder = door.campaign("backup", "");
    let token = holder.elected();
    let _watching = cluster.socket(1).open("GET", "/v1/elections/backup/watch", "");
    let value = "v".repeat(4000);
    for no in 0..200 {
        let body = json!({ "token": token, "value": format!("{value}{no}") }).to_string();
        let answer = door.ask("PUT", "/v1/elections/backup/value", &body);
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    let mut late = door.open("GET", "/v1/elections/backup/watch", "");
    assert!(late.until("election")["value"].as_str().unwrap().ends_with("199"));
}

/// More silent clients than there is room for, on the socket and on the port: they make room for each other, and a holder goes on.
#[test]
fn a_silent_crowd_throws_no_session_out() {
    const CROWD: usize = 150;
    let shape = Shape { more: "mode = \"exclusive\"", tables: LEASE, socket: true, ..Shape::of(1) };
    let mut cluster = Cluster::prepare(&shape);
    cluster.start_node_under(1, "-n 400");
    cluster.wait_for_leader();
    let mut sessions: Vec<_> =
        (0..20).map(|no| cluster.socket(1).campaign(&format!("name-{no}"), "")).collect();
    let tokens: Vec<u64> = sessions.iter_mut().map(crate::cluster::Events::elected).collect();
    let connect = || UnixStream::connect(cluster.socket_path(1)).expect("it listens");
    let crowd: Vec<UnixStream> = (0..CROWD).map(|_| connect()).collect();
    // It came after all of them, so all have been taken when it is answered.
    assert_eq!(cluster.socket(1).get("/livez").status, 200);
    for (no, token) in tokens.iter().enumerate() {
        let check = cluster.socket(1).get(&format!("/v1/elections/name-{no}/check?token={token}"));
        assert_eq!(check.status, 200, "{}", check.body);
    }
    for (session, token) in sessions.iter_mut().zip(tokens) {
        assert_eq!(session.until("valid")["token"], token);
    }
    drop(crowd);
}

#[test]
fn there_is_room_for_so_many_streams_and_no_more() {
    let shape = Shape { more: "mode = \"exclusive\"", tables: LEASE, socket: true, ..Shape::of(1) };
    let mut cluster = Cluster::prepare(&shape);
    cluster.start_node_under(1, "-n 200");
    cluster.wait_for_leader();
    let door = cluster.socket(1);
    let mut sessions = Vec::new();
    let full = loop {
        let answer = door.ask("GET", "/v1/elections?limit=1", "");
        assert_eq!(answer.status, 200, "there is room for short questions");
        match door.try_open("POST", "/v1/session", "") {
            Ok(session) => sessions.push(session),
            Err(answer) => break answer,
        }
        assert!(sessions.len() < 100);
    };
    assert!(full.status == 503 && full.error().contains("which is the most"), "{}", full.body);
    assert!(sessions.len() > 5, "{}", sessions.len());
    sessions.truncate(2);
    assert!(wait_until(DEADLINE, || door.try_open("POST", "/v1/session", "").is_ok()));
    assert!(sessions[0].until("session")["session"].is_string(), "the others are not disturbed");
}
