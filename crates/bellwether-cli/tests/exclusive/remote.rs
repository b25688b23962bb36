use serde_json::{Value, json};

use super::{LEASE, LONG, with_sockets};
use crate::cluster::{DEADLINE, Door, wait_until};

/// How a session comes back that held something.
fn resume(id: &str, secret: &str, more: &Value) -> String {
    let mut resume = json!({ "session": id, "secret": secret });
    resume.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({ "resume": resume }).to_string()
}

fn check(door: &Door, name: &str, token: u64) -> crate::cluster::Answer {
    door.get(&format!("/v1/elections/{name}/check?token={token}"))
}

/// What it held is given back when the last validity that it was told of is over, and not before.
#[test]
fn a_remote_session_that_breaks_off_gives_back_when_its_validity_is_over() {
    let cluster = with_sockets(3, LEASE);
    let port = cluster.port(1);
    assert_eq!(port.bare().post("/v1/elections/backup/campaign", "").status, 401);
    let mut holder = port.campaign("backup", "");
    assert!(holder.head.contains("bellwether-death: presumed"), "{}", holder.head);
    assert_eq!(holder.until("session")["death"], "presumed");
    let elected = holder.until("elected");
    assert!(elected.get("valid_until").is_none(), "the clock is another's: {elected}");
    let token = elected["token"].as_u64().unwrap();
    let valid = holder.until("valid");
    assert!(valid.get("valid_until").is_none() && valid["token"] == token, "{valid}");
    let told = check(&port.bare(), "backup", token);
    let said = told.json();
    assert_eq!((told.status, &said["valid"], said.get("valid_until")), (200, &json!(true), None), "{said}");
    assert!(said["valid_ms"].as_u64().is_some_and(|left| left > 0 && left <= 1000), "{said}");
    assert_eq!(check(&cluster.port(2), "backup", token).status, 409, "it is held through another agent");
    let wrong = check(&port, "backup", token + 1);
    assert_eq!((wrong.status, &wrong.json()["valid"]), (409, &json!(false)), "{}", wrong.body);
    let mut next = cluster.socket(2).campaign("backup", "");
    next.queued();
    let here = cluster.socket(1);
    drop(holder);
    // Whatever is told from now on is no later than what was told before.
    let mut last = 0;
    let ends = || {
        let answer = check(&here, "backup", token);
        let until = answer.json()["valid_until"].as_u64();
        last = until.unwrap_or(last);
        answer.status == 409
    };
    assert!(wait_until(DEADLINE, ends));
    let elected = next.until("elected");
    assert!(
        elected["token"].as_u64() > Some(token) && elected["valid_until"].as_u64() > Some(last),
        "{elected}"
    );
}

#[test]
fn a_remote_session_that_gives_back_need_not_be_waited_for() {
    let cluster = with_sockets(3, LONG);
    let mut holder = cluster.port(1).campaign("backup", "");
    let (id, secret) = holder.session();
    holder.elected();
    let mut next = cluster.socket(2).campaign("backup", "");
    next.queued();
    let answer = cluster.port(1).with("bellwether-secret", &secret).delete(&format!("/v1/session/{id}"));
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(holder.until("end")["why"], "closed");
    next.elected();
}

#[test]
fn a_session_that_comes_back_in_time_goes_on() {
    let cluster = with_sockets(1, LONG);
    let port = cluster.port(1);
    for kind in ["lease", "token"] {
        let mut session = port.open("POST", "/v1/session", "{\"keep\":\"60s\"}");
        let (id, secret) = session.session();
        let own = port.with("bellwether-secret", &secret);
        let path = format!("/v1/session/{id}/campaign/{kind}");
        assert_eq!(own.post(&path, &format!("{{\"kind\":\"{kind}\"}}")).status, 200);
        let token = session.elected();
        drop(session);
        let holds = json!({ "valid_ms": 0, "holds": [{ "name": kind, "token": token }] });
        let mut again = port.open("POST", "/v1/session", &resume(&id, &secret, &holds));
        assert_eq!(again.session(), (id.clone(), secret.clone()));
        let (name, said) = again.next();
        assert_eq!((name.as_str(), &said["token"]), ("elected", &json!(token)), "{said}");
        // One stream at a time: the last counts.
        let mut third = port.open("POST", "/v1/session", &resume(&id, &secret, &json!({})));
        assert_eq!(third.elected(), token);
        assert_eq!(again.until("end")["why"], "taken-over");
        assert!(again.ends());
        assert_eq!(check(&port, kind, token).status, 200);
        let lost =
            json!({ "holds": [{ "name": kind, "token": token + 5 }, { "name": "never", "token": 3 }] });
        let mut fourth = port.open("POST", "/v1/session", &resume(&id, &secret, &lost));
        for (name, token) in [(kind, token + 5), ("never", 3)] {
            let said = fourth.until("lost");
            assert_eq!(
                (&said["name"], &said["token"], &said["why"]),
                (&json!(name), &json!(token), &json!("lease"))
            );
        }
        let elected = [fourth.until("elected"), fourth.until("elected")].map(|said| said["name"].clone());
        assert!(elected.contains(&json!("never")), "it waits for it anew: {elected:?}");
        assert_eq!(own.delete(&format!("/v1/session/{id}")).status, 200);
        let over = port.post("/v1/session", &resume(&id, &secret, &json!({})));
        assert_eq!(over.status, 404, "{}", over.body);
    }
}

#[test]
fn who_is_gone_does_not_stand_in_the_way_of_those_who_wait() {
    let cluster = with_sockets(1, LEASE);
    let (here, port) = (cluster.socket(1), cluster.port(1));
    let mut holder = here.campaign("backup", "");
    let token = holder.elected();
    let mut gone = port.open("POST", "/v1/session", "{\"keep\":\"60s\"}");
    let (id, secret) = gone.session();
    let path = format!("/v1/session/{id}/campaign/backup");
    assert_eq!(port.with("bellwether-secret", &secret).post(&path, "").status, 200);
    gone.queued();
    let mut next = here.campaign("backup", "");
    while next.until("waiting")["position"] != 2 {}
    drop(gone);
    let one_waits = || here.get("/v1/elections/backup").json()["waiting"] == 1;
    assert!(wait_until(DEADLINE, one_waits), "{}", here.get("/v1/elections/backup").body);
    drop(holder);
    assert!(next.elected() > token);
    let mut back = port.open("POST", "/v1/session", &resume(&id, &secret, &json!({})));
    back.queued();
    drop(next);
    assert!(back.elected() > token + 1);
}

#[test]
fn a_stranger_cannot_come_back_as_another() {
    let cluster = with_sockets(1, LEASE);
    let port = cluster.port(1);
    let mut session = port.open("POST", "/v1/session", "");
    let (id, secret) = session.session();
    let other = secret.chars().rev().collect::<String>();
    for (id, secret, status, words) in [
        (id.as_str(), other.as_str(), 403, "it is not that of the session"),
        (&id, "", 403, "it is not that of the session"),
        ("17", &secret, 403, "it is not that of the session"),
        ("x", &secret, 400, "expected the id of a session"),
    ] {
        let answer = port.post("/v1/session", &resume(id, secret, &json!({})));
        assert_eq!(answer.status, status, "{}", answer.body);
        assert!(answer.error().contains(words), "{}", answer.body);
    }
    let bound = port.post("/v1/session", &resume(&id, &secret, &json!({ "bound": [1] })));
    assert!(bound.status == 409 && bound.error().contains("Unix socket"), "{}", bound.body);
}
