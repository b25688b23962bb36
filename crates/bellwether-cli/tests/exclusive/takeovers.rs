//! Whoever knows the secret of a session may take it over. Whoever had it before may act until what it was told is over.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::sessions::Program;
use super::{LEASE, LONG, with_sockets};
use crate::cluster::{Cluster, DEADLINE, Door, Events, http, wait_until};

/// A program that holds a name and is stopped, and what it was told of its session.
fn stopped_holder(cluster: &Cluster) -> (Program, Value, u64) {
    let mut program = Program::start(cluster, 1, "backup");
    let said = program.until("session");
    let token = program.until("elected")["token"].as_u64().unwrap();
    program.process.signal(Signal::SIGSTOP);
    (program, said, token)
}

#[track_caller]
fn take_over(door: &Door, said: &Value, token: u64) -> Events {
    let holds = json!([{ "name": "backup", "token": token }]);
    let resume = json!({ "session": said["session"], "secret": said["secret"], "holds": holds });
    let mut events = door.open("POST", "/v1/session", &json!({ "resume": resume }).to_string());
    assert_eq!(events.session().0, said["session"].as_str().unwrap());
    assert_eq!(events.elected(), token);
    events
}

/// Returns when the agent has noticed the end of a process that ends now: what ended before was noticed before.
fn after_a_death(cluster: &Cluster) {
    let mut other = Program::start(cluster, 1, "other");
    other.until("elected");
    other.process.signal(Signal::SIGKILL);
    cluster.socket(1).campaign("other", "").elected();
}

#[track_caller]
fn is_held(cluster: &Cluster, token: u64) {
    let check = cluster.socket(1).get(&format!("/v1/elections/backup/check?token={token}"));
    assert_eq!(check.status, 200, "{}", check.body);
}

#[test]
fn whoever_took_a_session_over_from_afar_survives_the_process_that_opened_it() {
    let cluster = with_sockets(1, LONG);
    let (opener, said, token) = stopped_holder(&cluster);
    let taken = take_over(&cluster.port(1), &said, token);
    assert!(taken.head.contains("bellwether-death: presumed"), "{}", taken.head);
    opener.process.signal(Signal::SIGKILL);
    after_a_death(&cluster);
    is_held(&cluster, token);
}

#[test]
fn whoever_lost_a_session_without_knowing_may_act_until_what_it_was_told_is_over() {
    let cluster = with_sockets(1, LONG);
    let (_opener, said, token) = stopped_holder(&cluster);
    let taken = take_over(&cluster.socket(1), &said, token);
    let mut next = cluster.socket(1).campaign("backup", "");
    next.queued();
    drop(taken);
    after_a_death(&cluster);
    is_held(&cluster, token);
}

/// The agent that goes on knows of no reader before the one that comes back.
#[test]
fn whoever_lost_a_session_while_its_agent_was_away_may_act_until_what_it_was_told_is_over() {
    let mut cluster = with_sockets(3, LONG);
    let mut opener = Program::start(&cluster, 1, "backup");
    let said = opener.until("session");
    let elected = opener.until("elected");
    opener.process.signal(Signal::SIGSTOP);
    cluster.kill(1);
    cluster.start_node(1);
    let lives = || http::try_get(&cluster.api(1), "/livez").is_some_and(|answer| answer.status == 200);
    assert!(wait_until(DEADLINE, lives), "{}", cluster.log(1));
    let holds = json!([{ "name": "backup", "token": elected["token"] }]);
    let resume = json!({
        "session": said["session"], "secret": said["secret"], "valid_until": elected["valid_until"], "holds": holds
    });
    let mut taken = cluster.socket(1).open("POST", "/v1/session", &json!({ "resume": resume }).to_string());
    assert_eq!(taken.until("session")["death"], "certain");
    let token = taken.elected();
    assert_eq!(Some(token), elected["token"].as_u64().map(|before| before + 1));
    let mut next = cluster.socket(1).campaign("backup", "");
    next.queued();
    drop(taken);
    after_a_death(&cluster);
    is_held(&cluster, token);
}

/// A program that goes through many sessions costs no more than one that has had one.
#[test]
fn sessions_that_are_over_keep_no_file_open() {
    const SESSIONS: usize = 100;
    let cluster = with_sockets(1, LEASE);
    let door = cluster.socket(1);
    let open = || fs::read_dir(format!("/proc/{}/fd", cluster.pid(1))).unwrap().count();
    let before = open();
    for _ in 0..SESSIONS {
        door.open("POST", "/v1/session", "").session();
    }
    let few = || open() < before + SESSIONS / 4;
    assert!(wait_until(DEADLINE, few), "{} files after {before}", open());
    // One that comes back again and again is watched once.
    let mut session = door.open("POST", "/v1/session", "");
    let (id, secret) = session.session();
    let resume = json!({ "resume": { "session": id, "secret": secret } }).to_string();
    for _ in 0..SESSIONS {
        session = door.open("POST", "/v1/session", &resume);
        session.session();
    }
    assert!(wait_until(DEADLINE, few), "{} files after {before}", open());
}
