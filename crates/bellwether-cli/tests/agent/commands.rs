//! The commands that ask an agent.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::cluster::{Cluster, DEADLINE, Process, TOKEN, bellwether, run};

#[test]
fn people_and_scripts_find_the_leader() {
    let cluster = Cluster::start(2);
    let leader = cluster.wait_for_leader();
    let (code, out, err) = cluster.ask(1, &["leader"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with(&format!("{leader} (epoch ")), "{out}");
    for id in [1, 2] {
        assert_eq!(cluster.ask(id, &["leader", "--is-me"]).0, i32::from(id != leader));
    }
    let (code, out, _) = cluster.ask(2, &["status"]);
    assert_eq!(code, 0);
    assert!(
        out.starts_with("node         2, up ") && out.contains(&format!("\nleader       node {leader}\n")),
        "{out}"
    );
    assert!(out.lines().all(|line| line.chars().count() <= 80 && line == line.trim_end()), "{out}");
    let (code, out, _) = cluster.ask(1, &["members"]);
    assert_eq!((code, out.lines().count()), (0, 3), "{out}");
    assert!(out.contains("you") && out.contains("leader"), "{out}");
    let (code, out, _) = cluster.ask(1, &["history"]);
    assert!(code == 0 && out.starts_with("no ") && out.contains("came up"), "{out}");
    for command in ["status", "leader", "members", "history"] {
        let (code, out, _) = cluster.ask(1, &[command, "--json"]);
        assert_eq!((code, out.lines().count()), (0, 1));
        assert!(serde_json::from_str::<Value>(&out).unwrap().is_object());
    }
}

#[test]
fn a_watcher_ends_when_it_has_seen_enough() {
    let cluster = Cluster::start(1);
    cluster.wait_for_leader();
    let (code, out, err) = cluster.ask(1, &["watch", "--after", "0", "--count", "1"]);
    assert_eq!((code, out.lines().count(), err.as_str()), (0, 1, ""), "{out}");
    let (_, out, _) = cluster.ask(1, &["watch", "--after", "0", "--count", "1", "--json"]);
    let names: Vec<_> = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect();
    assert!(names[0]["standing"].is_string() && names[1]["no"].is_u64(), "{out}");
}

#[test]
fn a_watcher_finds_its_agent_again() {
    let mut cluster = Cluster::start(1);
    cluster.wait_for_leader();
    let seen = cluster.get(1, "/v1/history").json()["changes"].as_array().unwrap().len();
    let (after, count) = (seen.to_string(), "1");
    let args = ["watch", "--after", &after, "--count", count, "--json", "--api", &cluster.api(1)];
    let mut watch = Process::start(bellwether().args(args).stdout(Stdio::piped()));
    let mut lines = BufReader::new(watch.child().stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(next()["standing"], "leading");
    cluster.kill(1);
    cluster.start_node(1);
    // The agent says again how things are, and then what the watcher has not seen yet.
    let change = std::iter::from_fn(|| Some(next())).find(|event| event["no"].is_u64()).unwrap();
    assert_eq!(change["no"], seen as u64 + 1);
    assert_eq!(watch.wait(DEADLINE), Some(0));
}

#[test]
fn leadership_moves_on_command() {
    let cluster = Cluster::start(3);
    let first = cluster.wait_for_leader();
    let (code, out, err) = cluster.ask(first, &["resign"]);
    assert_eq!((code, out.as_str(), err.contains("token")), (2, "", true), "{err}");
    let (code, _, err) = cluster.ask(first, &["resign", "--token", "wrong"]);
    assert_eq!((code, err.contains("the token is wrong")), (2, true), "{err}");
    let other = if first == 1 { 2 } else { 1 };
    let (code, _, err) = cluster.ask(other, &["resign", "--token", TOKEN]);
    assert_eq!((code, err.contains(&format!("node {other} does not lead"))), (3, true), "{err}");
    let (code, out, err) = cluster.ask(first, &["transfer", "--to", &other.to_string(), "--token", TOKEN]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with(&format!("node {other} leads, epoch ")), "{out}");
    assert_eq!(cluster.wait_for_leader(), other);
    let (code, out, err) = cluster.ask(other, &["resign", "--hold", "60s", "--token", TOKEN]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert_ne!(cluster.wait_for_leader(), other);
}

#[test]
fn where_no_agent_answers_is_said() {
    // A port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    for command in ["status", "leader", "members", "history", "watch", "resign"] {
        let (code, out, err) = run(&[command, "--api", &free]);
        assert_eq!((code, out.as_str()), (3, ""), "{command}");
        assert!(err.starts_with(&format!("error: no agent answers at {free}: ")), "{err}");
    }
    for api in ["no address", "127.0.0.1:99999", ""] {
        for (command, after) in [("status", [].as_slice()), ("exec", &["--", "true"])] {
            let (code, _, err) = run(&[&[command, "--api", api], after].concat());
            assert_eq!((code, err.contains("expected the address of an agent's API")), (2, true), "{err}");
        }
    }
    let (code, _, err) = run(&["resign", "--token-file", "/nonexistent"]);
    assert_eq!((code, err.contains("/nonexistent")), (2, true), "{err}");
}

/// The kernel takes connections for a process that is stopped.
#[test]
fn an_agent_that_takes_the_connection_and_says_nothing_is_told_from_none() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let api = silent.local_addr().unwrap().to_string();
    let expected = format!(
        "error: the agent at {api} took the connection and did not answer within 5 s: is it stopped?\n"
    );
    // They wait at the same time.
    std::thread::scope(|scope| {
        for command in ["status", "leader", "members", "history", "watch"] {
            let (api, expected) = (&api, &expected);
            scope.spawn(move || {
                assert_eq!(run(&[command, "--api", api]), (3, String::new(), expected.clone()), "{command}");
            });
        }
    });
}
