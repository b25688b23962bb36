use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::{LEASE, LONG, with_sockets};
use crate::cluster::{Cluster, DEADLINE, Process, bellwether, wait_until};

/// A program that campaigns through a node's socket, as a process of its own.
pub(super) struct Program {
    pub(super) process: Process,
    lines: Box<dyn Iterator<Item = Value>>,
}

impl Program {
    pub(super) fn start(cluster: &Cluster, id: u32, name: &str) -> Self {
        let mut command = bellwether();
        command.args(["campaign", name, "--json", "--socket"]).arg(cluster.socket_path(id));
        let mut child: Child = command.stdout(Stdio::piped()).spawn().expect("the command runs");
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let lines = lines.map_while(Result::ok).map(|line| serde_json::from_str(&line).expect("JSON"));
        Self { process: Process::of(child), lines: Box::new(lines) }
    }

    /// The next event of that name.
    #[track_caller]
    pub(super) fn until(&mut self, name: &str) -> Value {
        let found = self.lines.find(|event| event["event"] == name);
        found.unwrap_or_else(|| panic!("it ended before `{name}`"))
    }
}

fn metric(cluster: &Cluster, id: u32, line: &str) -> bool {
    cluster.get(id, "/metrics").body.lines().any(|found| found == line)
}

#[test]
fn one_holds_a_name_and_the_other_is_next_when_the_first_closes() {
    let cluster = with_sockets(3, LEASE);
    let mut first = cluster.socket(1).campaign("backup", r#"{"value":"10.0.0.1:80"}"#);
    assert!(first.head.contains("content-type: text/event-stream"), "{}", first.head);
    assert!(first.head.contains("bellwether-death: certain"), "{}", first.head);
    let said = first.until("session");
    assert!(first.head.contains(&format!("bellwether-session: {}", said["session"].as_str().unwrap())));
    assert_eq!(
        (&said["death"], &said["node"], &said["keep_ms"]),
        (&json!("certain"), &json!(1), &json!(1000))
    );
    let (name, waits) = first.next();
    assert_eq!(
        (name.as_str(), &waits["name"], &waits["kind"]),
        ("waiting", &json!("backup"), &json!("lease"))
    );
    let elected = first.until("elected");
    let token = elected["token"].as_u64().unwrap();
    let (name, valid) = first.any().expect("it goes on");
    assert!(name == "valid" && valid["token"] == token && valid["name"] == "backup", "{name} {valid}");
    assert!(valid["valid_until"].as_u64() > elected["valid_until"].as_u64(), "{valid} after {elected}");
    let mut second = cluster.socket(2).campaign("backup", "");
    second.session();
    second.queued();
    drop(first);
    assert!(second.elected() > token);
    let mut third = cluster.socket(2).campaign("backup", "");
    third.queued();
    drop(second);
    assert!(third.elected() > token + 1);
}

/// Nobody waits for the lease: it lasts longer than this test.
#[test]
fn a_program_that_is_killed_is_replaced_at_once() {
    let cluster = with_sockets(3, LONG);
    let mut token = 0;
    let mut holder = Program::start(&cluster, 1, "backup");
    for _ in 0..3 {
        let elected = holder.until("elected");
        assert!(elected["token"].as_u64() > Some(token), "{elected} after {token}");
        token = elected["token"].as_u64().unwrap();
        let mut next = Program::start(&cluster, 1, "backup");
        next.until("waiting");
        holder.process.signal(Signal::SIGKILL);
        holder = next;
    }
    holder.until("elected");
    let counted = || metric(&cluster, 1, "bellwether_certain_deaths_total 3");
    assert!(wait_until(DEADLINE, counted), "{}", cluster.get(1, "/metrics").body);
    assert!(cluster.log(1).contains("the process of a session has ended"), "{}", cluster.log(1));
    assert!(metric(&cluster, 1, "bellwether_campaigns{state=\"held\"} 1"));
}

#[test]
fn a_program_that_is_interrupted_gives_back_and_says_so() {
    let cluster = with_sockets(3, LONG);
    let mut holder = Program::start(&cluster, 1, "backup");
    holder.until("elected");
    let mut next = cluster.socket(2).campaign("backup", "");
    next.queued();
    holder.process.signal(Signal::SIGINT);
    assert_eq!(holder.until("end")["why"], "closed");
    assert_eq!(holder.process.wait(DEADLINE), Some(0));
    next.elected();
}

#[test]
fn a_session_holds_many_names_over_one_stream() {
    const NAMES: usize = 100;
    let cluster = with_sockets(3, LEASE);
    let door = cluster.socket(1);
    let mut session = door.open("POST", "/v1/session", "");
    let (id, _) = session.session();
    for no in 0..NAMES {
        let answer = door.post(&format!("/v1/session/{id}/campaign/shard-{no}"), "{\"priority\":7}");
        assert_eq!((answer.status, answer.json()), (200, json!({ "campaign": no + 1 })), "{}", answer.body);
    }
    let again = door.post(&format!("/v1/session/{id}/campaign/shard-7"), "");
    assert_eq!(again.status, 409, "{}", again.body);
    for _ in 0..NAMES {
        session.elected();
    }
    let valid = session.until("valid");
    assert!(valid["valid_until"].is_u64() && valid.get("name").is_none(), "{valid}");
    assert!(metric(&cluster, 1, &format!("bellwether_campaigns{{state=\"held\"}} {NAMES}")));
    assert_eq!(cluster.get(1, "/v1/status").json()["elections"], json!({ "held": NAMES, "waiting": 0 }));
    let (_, said, _) = cluster.ask(1, &["status"]);
    assert!(said.contains("elections    100 held, 0 waited for"), "{said}");
    let answer = door.delete(&format!("/v1/session/{id}/campaign/shard-7"));
    assert_eq!(answer.status, 200, "{}", answer.body);
    let mut other = cluster.socket(2).campaign("shard-7", "");
    other.elected();
    assert_eq!(door.delete(&format!("/v1/session/{id}/campaign/shard-7")).status, 404);
    assert_eq!(door.delete(&format!("/v1/session/{id}")).status, 200);
    assert_eq!(session.until("end")["why"], "closed");
    let mut other = cluster.socket(3).campaign("shard-8", "");
    other.elected();
    assert_eq!(door.delete(&format!("/v1/session/{id}")).status, 404);
}

/// What is asked for by id is for the processes of the session, and for those that know its secret.
#[test]
fn a_session_is_its_own_processes_business() {
    let cluster = with_sockets(1, LEASE);
    let mut program = Program::start(&cluster, 1, "backup");
    let said = program.until("session");
    let (id, secret) = (said["session"].as_str().unwrap(), said["secret"].as_str().unwrap());
    let path = format!("/v1/session/{id}/campaign/other");
    let stranger = cluster.socket(1);
    let answer = stranger.post(&path, "");
    assert!(
        answer.status == 403 && answer.error().contains("only the process that opened"),
        "{}",
        answer.body
    );
    assert_eq!(
        stranger.with("bellwether-secret", &secret.replace(&secret[..1], "x")).post(&path, "").status,
        403
    );
    let port = cluster.port(1);
    let answer = port.post(&path, "");
    assert!(answer.status == 403 && answer.error().contains("Bellwether-Secret"), "{}", answer.body);
    assert_eq!(port.with("bellwether-secret", secret).bare().post(&path, "").status, 401, "the token first");
    assert_eq!(port.with("bellwether-secret", secret).post(&path, "").status, 200);
    assert_eq!(stranger.with("bellwether-secret", secret).delete(&path).status, 200);
}

#[test]
fn what_is_bound_keeps_a_session_alive_when_its_stream_has_ended() {
    let cluster = with_sockets(3, LONG);
    let door = cluster.socket(1);
    let mut session = door.open("POST", "/v1/session", "");
    let (id, _) = session.session();
    assert_eq!(door.post(&format!("/v1/session/{id}/campaign/backup"), "").status, 200);
    let token = session.elected();
    let child = Process::of(Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap());
    let bind = |pid: i32| door.post(&format!("/v1/session/{id}/process"), &format!("{{\"pid\":{pid}}}"));
    let answer = bind(child.pid().as_raw());
    let us = std::process::id();
    assert_eq!((answer.status, answer.json()), (200, json!({ "bound": [us, child.pid().as_raw()] })));
    let answer = bind(1);
    assert!(answer.status == 403 && answer.error().contains("no child of the process"), "{}", answer.body);
    let answer = bind(i32::MAX);
    assert!(answer.status == 409 && answer.error().contains("there is no process"), "{}", answer.body);
    assert_eq!(door.post(&format!("/v1/session/{id}/process"), "{\"pid\":-1}").status, 400);
    let mut next = cluster.socket(2).campaign("backup", "");
    next.queued();
    drop(session);
    let unheard = || metric(&cluster, 1, "bellwether_session_streams 0");
    assert!(wait_until(DEADLINE, unheard), "{}", cluster.get(1, "/metrics").body);
    let check = door.get(&format!("/v1/elections/backup/check?token={token}"));
    assert_eq!(check.status, 200, "it holds on: {}", check.body);
    drop(child);
    assert_eq!(
        door.get(&format!("/v1/elections/backup/check?token={token}")).status,
        200,
        "who opened it lives"
    );
    assert_eq!(door.delete(&format!("/v1/session/{id}")).status, 200);
    assert!(next.elected() > token);
}

#[test]
fn lines_are_for_those_that_ask_for_them() {
    let cluster = with_sockets(1, LEASE);
    let door = cluster.socket(1).with("accept", "application/x-ndjson");
    let mut lines = door.campaign("backup", "{\"kind\":\"token\"}");
    assert!(lines.head.contains("content-type: application/x-ndjson"), "{}", lines.head);
    let first: Value = serde_json::from_str(&lines.line()).expect("JSON");
    assert_eq!(first["event"], "session");
    let elected = loop {
        let event: Value = serde_json::from_str(&lines.line()).expect("JSON");
        if event["event"] == "elected" {
            break event;
        }
    };
    assert_eq!((&elected["kind"], elected.get("valid_until")), (&json!("token"), Some(&Value::Null)));
    // It says nothing else, but that it is there.
    assert_eq!(lines.line(), "");
}

/// The file's permissions decide who may: no token is asked for, and the configuration may have none.
#[test]
fn the_socket_has_the_permissions_that_it_should_and_needs_no_token() {
    let mut cluster = Cluster::prepare(&crate::cluster::Shape {
        more: "mode = \"exclusive\"",
        socket: true,
        token: None,
        ..crate::cluster::Shape::of(1)
    });
    cluster.start_node_with(1, &[("BELLWETHER_LISTEN_SOCKET_MODE", "0600".to_owned())]);
    cluster.wait_for_leader();
    let path = cluster.socket_path(1);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    let door = cluster.socket(1);
    assert_eq!(door.get("/livez").status, 200);
    assert_eq!(door.with("host", "evil.example").get("/livez").status, 200, "no browser asks a socket");
    assert_eq!(cluster.port(1).post("/v1/session", "").status, 403, "nothing can be changed from there");
    door.campaign("backup", "").elected();
    let (code, said, err) = crate::cluster::run(&["elections", "--socket", path.to_str().unwrap()]);
    assert!(code == 0 && said.contains("backup"), "{said}{err}");
    let asked = bellwether().args(["elections"]).env("BELLWETHER_SOCKET", &path).output().unwrap();
    assert!(String::from_utf8(asked.stdout).unwrap().contains("backup"));
    // A second agent does not take it over; what a dead one has left is replaced.
    let (code, log) = cluster.attempt(
        1,
        &["--data-dir", "elsewhere", "--listen-peer", "127.0.0.1:0", "--listen-api", "127.0.0.1:0"],
    );
    assert!(code == Some(3) && log.contains("another process listens at"), "{code:?} {log}");
    cluster.kill(1);
    assert!(path.exists());
    cluster.start_node(1);
    cluster.wait_for_leader();
    assert_eq!(cluster.socket(1).get("/livez").status, 200);
    let (code, log) = cluster.end(1);
    assert!(code == Some(0) && !path.exists(), "{log}");
    std::fs::write(&path, "no socket").unwrap();
    let (code, log) = cluster.attempt(1, &[]);
    assert!(code == Some(2) && log.contains("found a file at"), "{code:?} {log}");
}
