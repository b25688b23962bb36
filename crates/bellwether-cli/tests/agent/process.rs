//! How an agent begins and ends.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use nix::sys::signal::Signal;

use crate::cluster::{Cluster, DEADLINE, Process, Shape, bellwether, wait_until};

#[test]
fn an_agent_says_what_may_be_relied_on_and_leaves_when_asked() {
    let mut cluster = Cluster::start(1);
    cluster.wait_for_leader();
    let (code, log) = cluster.end(1);
    assert_eq!(code, Some(0), "{log}");
    for words in [
        "node      1, incarnation ",
        "cluster   test",
        "mode      any-survivor. Every set of members",
        "node 1 leads",
    ] {
        assert!(log.contains(words), "{words}: {log}");
    }
}

#[test]
fn who_leaves_hands_over() {
    let mut cluster = Cluster::start(3);
    let first = cluster.wait_for_leader();
    let (code, log) = cluster.end(first);
    assert_eq!(code, Some(0), "{log}");
    let second = cluster.wait_for_leader();
    let history = cluster.get(second, "/v1/history").json();
    let kinds: Vec<_> =
        history["changes"].as_array().unwrap().iter().map(|change| &change["cause"]["kind"]).collect();
    assert!(kinds.iter().all(|kind| **kind != "gone" && **kind != "silent"), "{history}");
}

#[test]
fn a_node_that_comes_back_is_taken_in() {
    let mut cluster = Cluster::start(3);
    let first = cluster.wait_for_leader();
    cluster.kill(first);
    let second = cluster.wait_for_leader();
    assert_ne!(first, second);
    cluster.start_node(first);
    cluster.wait_for("it follows whoever leads", |views| {
        views[&first].as_ref().is_some_and(|view| view["standing"] == "following" && view["leader"] == second)
    });
}

#[test]
fn a_stopped_leader_is_replaced_and_follows_when_it_goes_on() {
    let mut cluster = Cluster::start(3);
    let first = cluster.wait_for_leader();
    cluster.stop(first);
    let second = cluster.wait_for_leader();
    assert_ne!(first, second);
    cluster.cont(first);
    cluster.wait_for("all agree again", |views| {
        views[&first].is_some() && crate::cluster::agreed(views).is_some()
    });
}

#[test]
fn an_agent_outlives_its_terminal() {
    let mut cluster = Cluster::start(1);
    let leader = cluster.wait_for_agreement();
    cluster.signal(1, Signal::SIGHUP);
    let noticed = || cluster.log(1).contains("SIGHUP: nothing that can be reloaded has changed");
    assert!(wait_until(DEADLINE, noticed), "{}", cluster.log(1));
    assert_eq!(cluster.wait_for_agreement(), leader);
    assert_eq!(cluster.end(1).0, Some(0));
}

#[test]
fn an_agent_ends_with_whoever_started_it() {
    let cluster = Cluster::prepare(&Shape::of(1));
    let log = cluster.config(1).with_file_name("log");
    let mut agent = Process::agent(&cluster.config(1), &log);
    drop(agent.child().stdin.take());
    assert_eq!(agent.wait(DEADLINE), Some(0));
}

#[test]
fn what_is_unwise_is_logged_at_the_start() {
    let mut cluster = Cluster::prepare(&Shape::of(1));
    let key = cluster.home(1).join("key.pem");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    cluster.start_all();
    cluster.wait_for_leader();
    let said = || cluster.log(1).lines().any(|line| line.contains("WARN") && line.contains("key.pem"));
    assert!(wait_until(DEADLINE, said), "{}", cluster.log(1));
}

#[test]
fn an_address_in_use_is_said() {
    let cluster = Cluster::prepare(&Shape::of(1));
    let taken = TcpListener::bind(cluster.api(1)).expect("it was free a moment ago");
    let config = cluster.config(1);
    let output = bellwether().arg("agent").arg("--config").arg(&config).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{err}");
    assert!(
        err.lines().last().unwrap().starts_with("error: cannot listen for clients of the API at "),
        "{err}"
    );
    assert!(err.contains(&taken.local_addr().unwrap().to_string()), "{err}");
}

#[test]
fn a_configuration_that_is_wrong_is_explained() {
    let output = bellwether().args(["agent", "--config", "/nonexistent.toml"]).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && err.starts_with("error: /nonexistent.toml: "), "{err}");
}
