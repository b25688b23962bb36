//! What a supervisor is told that asks as systemd does, and the unit that makes it ask.

use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::Command;

use crate::cluster::{Cluster, DEADLINE, Shape};
use crate::faults::skip_unless_required;

/// Waits until the agent has told that.
#[track_caller]
fn is_told(socket: &UnixDatagram, is_it: impl Fn(&str) -> bool) {
    let mut bytes = [0; 1024];
    loop {
        let length = socket.recv(&mut bytes).expect("it is told in time");
        if is_it(std::str::from_utf8(&bytes[..length]).unwrap()) {
            return;
        }
    }
}

#[test]
fn a_supervisor_is_told_how_the_agent_does() {
    let mut cluster = Cluster::prepare(&Shape::of(1));
    let path = cluster.home(1).join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(DEADLINE)).unwrap();
    let variables = [("NOTIFY_SOCKET", path.display().to_string()), ("WATCHDOG_USEC", "300000".to_owned())];
    cluster.start_node_with(1, &variables);
    is_told(&socket, |said| said == "READY=1");
    assert_eq!(cluster.get(1, "/livez").status, 200, "it can be asked by then");
    is_told(&socket, |said| said.starts_with("STATUS=leads, epoch "));
    (0..3).for_each(|_| is_told(&socket, |said| said == "WATCHDOG=1"));
    assert_eq!(cluster.end(1).0, Some(0));
    is_told(&socket, |said| said.starts_with("STOPPING=1"));
}

#[test]
fn a_supervisor_that_is_not_there_is_an_error() {
    let cluster = Cluster::prepare(&Shape::of(1));
    let mut agent = crate::cluster::agent(&cluster.config(1));
    let output = agent.env("NOTIFY_SOCKET", "/nonexistent/notify").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(3) && said.contains("NOTIFY_SOCKET"), "{said}");
}

/// Below 3 of 10: the unit gives the agent little that it could do harm with.
#[test]
fn the_unit_lets_the_agent_do_little() {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/systemd/bellwether-agent.service");
    let judged = Command::new("systemd-analyze")
        .args(["security", "--offline=true", "--threshold=30", "--no-pager"])
        .arg(unit.canonicalize().unwrap())
        .output();
    match judged {
        Ok(judged) => assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stdout)),
        Err(error) => {
            skip_unless_required("BELLWETHER_REQUIRE_ENGINES", "the unit's judgement", &error.to_string());
        }
    }
}
