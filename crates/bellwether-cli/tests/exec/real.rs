//! What only real agents show: that the kernel tells them, and what becomes of a command when they are restarted.

use std::env;

use super::overlap::{ALL, Agents, BEATS, Fault, befall};
use super::*;
use crate::cluster::{Cluster, Shape, TOKEN};

/// A lease that lasts longer than any test: nothing in it waits for its end.
const LONG: &str = "[exclusive]\nttl = \"60s\"\n";

/// Three agents with sockets, of which one leads.
fn cluster(tables: &'static str) -> Cluster {
    let shape = Shape { more: "mode = \"exclusive\"", tables, socket: true, ..Shape::of(3) };
    let mut cluster = Cluster::prepare(&shape);
    cluster.start_all();
    cluster.wait_for_leader();
    cluster
}

/// Says who it is, with its token, and goes on.
const SAYS: &str = "echo $BELLWETHER_ELECTION_NODE $BELLWETHER_ELECTION_TOKEN $$ >> log; exec sleep 1000";

/// Nobody waits for the lease.
#[test]
fn an_exec_that_is_killed_is_replaced_at_once() {
    let (cluster, place) = (cluster(LONG), Place::new());
    let first = start(&mut place.exec(&cluster.socket_path(1), &[], SAYS));
    let said = place.wait_for("log", |log| log.lines().count() == 1);
    assert!(said.starts_with("1 "), "{said}");
    let _second = start(&mut place.exec(&cluster.socket_path(2), &[], SAYS));
    let waits = || cluster.get(2, "/v1/status").json()["elections"]["waiting"] == 1;
    assert!(wait_until(DEADLINE, waits), "{}", cluster.get(2, "/v1/status").body);
    first.signal(Signal::SIGKILL);
    let said = place.wait_for("log", |log| log.lines().count() == 2);
    assert!(said.lines().nth(1).is_some_and(|line| line.starts_with("2 ")), "{said}");
}

#[test]
fn a_command_goes_on_when_its_agent_is_restarted() {
    let (mut cluster, place) = (cluster(LONG), Place::new());
    let flags = ["--write-token", "token"];
    let mut exec = start(&mut place.exec(&cluster.socket_path(2), &flags, SAYS));
    let said = place.wait_for("log", |log| log.lines().count() == 1);
    let token = place.read("token");
    for _ in 0..2 {
        cluster.kill(2);
        cluster.start_node(2);
        let before = place.read("token");
        place.wait_for("token", |now| now != before && !now.is_empty());
    }
    let number = |text: &str| text.trim().parse::<u64>().unwrap();
    assert!(number(&place.read("token")) > number(&token));
    assert_eq!(place.read("log"), said, "it was not started again");
    exec.terminate();
    assert_eq!(exec.wait(DEADLINE), Some(143));
    let free = || cluster.get(1, "/v1/elections/backup").json()["holder"].is_null();
    assert!(wait_until(DEADLINE, free), "{}", cluster.get(1, "/v1/elections/backup").body);
}

#[test]
fn the_clusters_own_leadership_is_the_name_if_none_is_given() {
    let (cluster, place) = (cluster(""), Place::new());
    let leader = cluster.wait_for_leader();
    let mut exec = bellwether();
    exec.args(["exec", "--once", "--socket"]).arg(cluster.socket_path(leader));
    exec.args(["--", "sh", "-c", "echo $BELLWETHER_ELECTION $BELLWETHER_ELECTION_NODE"]);
    let (code, out, err) = outcome(exec.current_dir(place.0.path()));
    assert_eq!((code, out), (0, format!("leader {leader}\n")), "{err}");
}

#[test]
fn a_program_that_resigns_it_stops_the_command_in_time() {
    let (cluster, place) = (cluster(LONG), Place::new());
    let script = "trap 'echo term >> log; exit 0' TERM; echo up >> log; while :; do sleep 0.01; done";
    let mut exec = start(&mut place.exec(&cluster.socket_path(1), &["--on-lost", "exit"], script));
    place.wait_for("log", |log| log == "up\n");
    let answer = cluster.socket(1).post("/v1/elections/backup/resign", "");
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(exec.wait(DEADLINE), Some(1));
    assert_eq!(place.read("log"), "up\nterm\n");
}

#[test]
fn over_tcp_it_is_held_by_the_lease_alone() {
    let (cluster, place) = (cluster(""), Place::new());
    let mut exec = bellwether();
    exec.args(["exec", "--name", "backup", "--once", "--token", TOKEN, "--api", &cluster.api(1)]);
    exec.args(["--", "sh", "-c", "echo $BELLWETHER_ELECTION_NODE; exit 6"]).current_dir(place.0.path());
    assert_eq!(outcome(&mut exec), (6, "1\n".to_owned(), String::new()));
    let free = || cluster.get(2, "/v1/elections/backup").json()["holder"].is_null();
    assert!(wait_until(DEADLINE, free), "{}", cluster.get(2, "/v1/elections/backup").body);
}

/// Agents 1 and 2 of three.
struct Real(Cluster);

fn id(which: usize) -> u32 {
    u32::try_from(which).unwrap() + 1
}

impl Agents for Real {
    fn socket(&self, which: usize) -> PathBuf {
        self.0.socket_path(id(which))
    }

    fn silence(&mut self, which: usize, is_silent: bool) {
        if is_silent { self.0.stop(id(which)) } else { self.0.cont(id(which)) }
    }

    fn cut(&mut self, which: usize, is_cut: bool) {
        let others = self.0.ids().into_iter().filter(|other| *other != id(which));
        others.for_each(|other| if is_cut { self.0.stop(other) } else { self.0.cont(other) });
    }

    fn crash(&mut self, which: usize) {
        self.0.kill(id(which));
    }

    fn start(&mut self, which: usize) {
        self.0.start_node(id(which));
    }

    fn wait_until_free(&self) {
        let free = || self.0.get(3, "/v1/elections/backup").json()["holder"].is_null();
        assert!(wait_until(DEADLINE, free), "{}", self.0.get(3, "/v1/elections/backup").body);
    }
}

/// `BELLWETHER_TEST_TRIALS` faults, or one of each kind: whoever is next waits for leases, so they take a second each.
fn trials(script: &str, faults: &[Fault]) {
    let trials = env::var("BELLWETHER_TEST_TRIALS").map_or(1, |trials| trials.parse().expect("a number"));
    let mut agents = Real(cluster(""));
    (0..trials).step_by(faults.len()).for_each(|_| befall(&mut agents, script, faults, |_| {}));
}

#[test]
fn commands_of_real_agents_that_heed_nothing_do_not_overlap() {
    trials(&format!("trap '' TERM INT HUP; {BEATS}"), &ALL);
}

#[test]
fn commands_of_real_agents_that_fork_twice_do_not_overlap() {
    let faults: Vec<_> = ALL.into_iter().filter(|fault| *fault != Fault::KillBoth).collect();
    trials(&format!("(setsid sh -c '{BEATS}' &); while :; do sleep 1000; done"), &faults);
}
