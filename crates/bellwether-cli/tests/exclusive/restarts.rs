use nix::sys::signal::Signal;
use serde_json::json;

use super::sessions::Program;
use super::{LONG, with_sockets};
use crate::cluster::{Cluster, Shape};

/// A session goes on through a crash of its agent, and nobody else holds what it holds.
#[test]
fn what_a_session_holds_is_adopted_by_the_next_process_of_its_agent() {
    let mut cluster = with_sockets(3, LONG);
    let door = cluster.socket(1);
    let mut session = door.open("POST", "/v1/session", "");
    let (id, secret) = session.session();
    let begin = |name: &str, kind: &str| {
        let body = format!("{{\"kind\":\"{kind}\",\"value\":\"of {name}\"}}");
        assert_eq!(door.post(&format!("/v1/session/{id}/campaign/{name}"), &body).status, 200);
    };
    begin("by-clock", "lease");
    let elected = session.until("elected");
    begin("by-store", "token");
    let by_store = session.elected();
    let by_clock = elected["token"].as_u64().unwrap();
    let told = session.until("valid")["valid_until"].as_u64().unwrap();
    let mut waits = cluster.socket(2).campaign("by-clock", "");
    waits.queued();
    cluster.kill(1);
    assert!(session.ends());
    cluster.start_node(1);
    let up = crate::cluster::wait_until(crate::cluster::DEADLINE, || {
        crate::cluster::http::try_get(&cluster.api(1), "/livez").is_some_and(|answer| answer.status == 200)
    });
    assert!(up, "{}", cluster.log(1));
    let holds = json!([
        { "name": "by-clock", "token": by_clock },
        { "name": "by-store", "token": by_store },
        { "name": "lost", "token": 3 },
    ]);
    let back = json!({ "resume": { "session": id, "secret": secret, "valid_until": told, "holds": holds } });
    let mut session = door.open("POST", "/v1/session", &back.to_string());
    let said = session.until("session");
    assert_eq!(
        (&said["session"], &said["secret"], &said["death"]),
        (&json!(id), &json!(secret), &json!("certain"))
    );
    let (mut held, mut lost) = (Vec::new(), false);
    while held.len() < 3 {
        let (event, said) = session.next();
        match event.as_str() {
            "elected" => {
                held.push((said["name"].as_str().unwrap().to_owned(), said["token"].as_u64().unwrap()))
            }
            "lost" => {
                assert_eq!(said["name"], "lost");
                lost = true;
            }
            _ => {}
        }
    }
    held.sort();
    assert!(lost && held[0] == ("by-clock".to_owned(), by_clock + 1), "{held:?}");
    assert_eq!(held[1], ("by-store".to_owned(), by_store + 1), "{held:?}");
    let shown = door.get("/v1/elections/by-clock?read=quorum").json();
    assert_eq!((&shown["value"], &shown["holder"]["node"]), (&json!("of by-clock"), &json!(1)), "{shown}");
    let campaign = format!("/v1/session/{id}/campaign/by-clock");
    assert_eq!(door.delete(&campaign).status, 200);
    assert!(waits.elected() > by_clock + 1);
}

/// Who is asked gives back; from who does not, it is taken when its time is over.
#[test]
fn an_agent_that_leaves_asks_for_everything_first() {
    let mut cluster = Cluster::prepare(&Shape {
        more: "mode = \"exclusive\"\nrelease_timeout = \"1s\"",
        tables: LONG,
        socket: true,
        ..Shape::of(3)
    });
    cluster.start_all();
    cluster.wait_for_leader();
    let mut polite = Program::start(&cluster, 1, "polite");
    polite.until("elected");
    let mut deaf = cluster.socket(1).campaign("deaf", "");
    let token = deaf.elected();
    let mut waits = cluster.socket(1).campaign("polite", "");
    waits.queued();
    let mut next = [cluster.socket(2).campaign("polite", ""), cluster.socket(3).campaign("deaf", "")];
    next.iter_mut().for_each(crate::cluster::Events::queued);
    cluster.signal(1, Signal::SIGTERM);
    let asked = deaf.until("asked_back");
    assert_eq!(
        (&asked["why"], &asked["token"], &asked["release_ms"]),
        (&json!("agent-leaves"), &json!(token), &json!(1000))
    );
    assert_eq!(polite.until("asked_back")["why"], "agent-leaves");
    next[0].elected();
    let lost = deaf.until("lost");
    assert_eq!((&lost["why"], &lost["token"]), (&json!("agent-ends"), &json!(token)));
    assert_eq!(deaf.until("end")["why"], "agent-ends");
    assert!(deaf.ends());
    next[1].elected();
    assert_eq!(waits.until("end")["why"], "agent-ends");
    assert_eq!(polite.until("end")["why"], "agent-ends");
    assert_eq!(polite.process.wait(crate::cluster::DEADLINE), Some(3), "it lost what it was to hold");
    let (code, log) = cluster.wait_for_end(1);
    assert_eq!(code, Some(0), "{log}");
}
