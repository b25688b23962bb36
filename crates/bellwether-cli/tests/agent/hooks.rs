//! Hooks: what is run when leadership changes, with what, in which order, and for how long.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::cluster::{Cluster, DEADLINE, Shape, TOKEN, exists, wait_until};

/// Writes down each event with its number and its leader. It stops to think while there is a file `wait`, and stops the first time for as long as
/// there is one named `hang`, with a child.
const HOOK: &str = r#"#!/bin/sh
cd "${0%/*}" || exit 1
echo "$BELLWETHER_EVENT $BELLWETHER_ELECTION ${BELLWETHER_ELECTION_TOKEN:--} ${BELLWETHER_ELECTION_EPOCH:--} ${BELLWETHER_ELECTION_NODE:--} $BELLWETHER_NODE $*" >> begun
if [ -e hang ]; then
    sleep 1000 &
    echo "$$ $!" > hanging
    wait
fi
while [ -e wait ]; do read -r _ < gate; done
env | grep -c -e BELLWETHER_TOKEN -e BELLWETHER_API_TOKEN >> secrets
echo "$BELLWETHER_EVENT $BELLWETHER_ELECTION ${BELLWETHER_ELECTION_EPOCH:--}" >> ended
echo "it was $BELLWETHER_EVENT"
echo "and that is bad" >&2
[ ! -e fail ]
"#;

/// A cluster whose nodes run the same hook, each in its own home.
fn with_hooks(nodes: u32, tables: &'static str, more: &'static str) -> Cluster {
    let cluster = Cluster::prepare(&Shape { more, tables, socket: true, ..Shape::of(nodes) });
    for id in cluster.ids() {
        let hook = cluster.home(id).join("hook");
        fs::write(&hook, HOOK).unwrap();
        fs::set_permissions(hook, fs::Permissions::from_mode(0o755)).unwrap();
        let gate = nix::unistd::mkfifo(&cluster.home(id).join("gate"), nix::sys::stat::Mode::S_IRWXU);
        gate.expect("there is room for a test");
    }
    cluster
}

const OWN: &str = "[hooks]\nbecame_leader = [\"./hook\", \"one\", \"two words\"]\nlost_leader = [\"./hook\"]\n\
                   new_leader = [\"./hook\"]\ntimeout = \"20s\"\n";

/// The lines of a file in a node's home.
fn lines(cluster: &Cluster, id: u32, file: &str) -> Vec<String> {
    let text = fs::read_to_string(cluster.home(id).join(file)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[track_caller]
fn wait_for_lines(cluster: &Cluster, id: u32, file: &str, enough: impl Fn(&[String]) -> bool) -> Vec<String> {
    let so = wait_until(DEADLINE, || enough(&lines(cluster, id, file)));
    assert!(so, "{file} of node {id}: {:#?}\n{}", lines(cluster, id, file), cluster.log(id));
    lines(cluster, id, file)
}

fn file(cluster: &Cluster, id: u32, name: &str) -> PathBuf {
    cluster.home(id).join(name)
}

/// The events, without what they are about.
fn events(lines: &[String]) -> Vec<&str> {
    lines.iter().map(|line| line.split(' ').next().unwrap()).collect()
}

#[test]
fn hooks_are_told_who_leads_since_when_and_nothing_secret() {
    let mut cluster = with_hooks(3, OWN, "mode = \"exclusive\"");
    let secrets = ["BELLWETHER_TOKEN", "BELLWETHER_API_TOKEN"].map(|name| (name, TOKEN.to_owned()));
    cluster.ids().into_iter().for_each(|id| cluster.start_node_with(id, &secrets));
    let (first, token) = cluster.wait_for_agreement();
    let begun = wait_for_lines(&cluster, first, "begun", |lines| !lines.is_empty());
    assert_eq!(begun[0], format!("became_leader leader {token} {token} {first} {first} one two words"));
    for id in cluster.ids().into_iter().filter(|id| *id != first) {
        let begun = wait_for_lines(&cluster, id, "begun", |lines| !lines.is_empty());
        assert_eq!(begun[0], format!("new_leader leader {token} {token} {first} {id} "));
    }
    let answer = cluster.post(first, "/v1/resign", "");
    assert_eq!(answer.status, 200, "{}", answer.body);
    let (second, next) = cluster.wait_for_agreement();
    let begun = wait_for_lines(&cluster, first, "begun", |lines| lines.len() >= 3);
    assert_eq!(events(&begun), ["became_leader", "lost_leader", "new_leader"]);
    assert!(begun[1].starts_with(&format!("lost_leader leader {token} ")), "{begun:?}");
    assert_eq!(begun[2], format!("new_leader leader {next} {next} {second} {first} "));
    let secrets = wait_for_lines(&cluster, first, "secrets", |lines| lines.len() >= 3);
    assert!(secrets.iter().all(|count| count == "0"), "{secrets:?}");
    let logged = || cluster.log(first).contains("said=\"and that is bad\"");
    assert!(wait_until(DEADLINE, logged), "{}", cluster.log(first));
}

#[test]
fn in_other_modes_there_is_an_epoch_and_no_token() {
    let mut cluster = with_hooks(2, OWN, "");
    cluster.start_all();
    let (leader, epoch) = cluster.wait_for_agreement();
    let begun = wait_for_lines(&cluster, leader, "begun", |lines| !lines.is_empty());
    assert_eq!(begun[0], format!("became_leader leader - {epoch} {leader} {leader} one two words"));
}

#[test]
fn a_leader_that_leaves_runs_its_hook_to_the_end_first() {
    let mut cluster = with_hooks(3, OWN, "");
    cluster.start_all();
    let (leader, _) = cluster.wait_for_agreement();
    wait_for_lines(&cluster, leader, "ended", |lines| lines.len() == 1);
    let (code, log) = cluster.end(leader);
    assert_eq!(code, Some(0), "{log}");
    assert_eq!(events(&lines(&cluster, leader, "ended"))[..2], ["became_leader", "lost_leader"], "{log}");
}

/// What happened while a hook was busy is told as it is then, but never a beginning without the end before it.
#[test]
fn hooks_of_one_election_run_in_order_and_what_came_and_went_is_left_out() {
    let mut cluster = with_hooks(2, OWN, "resign_hold = \"1ms\"");
    cluster.start_node(1);
    fs::write(file(&cluster, 1, "wait"), "").unwrap();
    cluster.start_node(2);
    let (mut leader, _) = cluster.wait_for_agreement();
    let hand_over = |to: u32| {
        let from = 3 - to;
        let done = wait_until(DEADLINE, || {
            cluster.post(from, "/v1/transfer", &format!("{{\"to\":{to}}}")).status == 200
        });
        assert!(done, "{}", cluster.log(from));
        cluster.wait_for_agreement();
    };
    // Node 1 has been told of something, and its hook is busy with that.
    wait_for_lines(&cluster, 1, "begun", |lines| lines.len() == 1);
    for _ in 0..6 {
        leader = 3 - leader;
        hand_over(leader);
    }
    if leader == 2 {
        hand_over(1);
    }
    let (leader, epoch) = cluster.wait_for_agreement();
    assert_eq!((leader, lines(&cluster, 1, "begun").len()), (1, 1), "nothing runs beside it");
    fs::remove_file(file(&cluster, 1, "wait")).unwrap();
    fs::write(file(&cluster, 1, "gate"), "go\n").unwrap();
    let last = format!("became_leader leader {epoch}");
    let ended = wait_for_lines(&cluster, 1, "ended", |lines| lines.last() == Some(&last));
    let expected: &[_] = match events(&ended)[0] {
        "became_leader" => &["became_leader", "lost_leader", "became_leader"],
        _ => &["new_leader", "became_leader"],
    };
    assert_eq!(events(&ended), expected, "{ended:?}");
}

#[test]
fn a_hook_that_takes_too_long_is_killed_with_all_that_it_started() {
    const SHORT: &str =
        "[hooks]\nbecame_leader = [\"./hook\"]\nlost_leader = [\"./hook\"]\ntimeout = \"300ms\"\n";
    let mut cluster = with_hooks(1, SHORT, "");
    fs::write(file(&cluster, 1, "hang"), "").unwrap();
    cluster.start_all();
    cluster.wait_for_leader();
    let killed = || cluster.get(1, "/metrics").body.contains("bellwether_hooks_total{ended=\"killed\"} 1");
    assert!(wait_until(DEADLINE, killed), "{}", cluster.log(1));
    let pids = wait_for_lines(&cluster, 1, "hanging", |lines| lines.len() == 1);
    for pid in pids[0].split(' ').map(|pid| pid.parse().unwrap()) {
        assert!(wait_until(DEADLINE, || !runs(pid)), "process {pid} is still there");
    }
    let log = cluster.log(1);
    assert!(log.contains("a hook was killed, with its group") && log.contains("300ms"), "{log}");
    fs::remove_file(file(&cluster, 1, "hang")).unwrap();
    assert_eq!(cluster.end(1).0, Some(0));
    assert_eq!(events(&lines(&cluster, 1, "ended")), ["lost_leader"], "it was told to begin, and so to stop");
}

/// Whether a process is there, and not merely unburied.
fn runs(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let is_dead = stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z'));
    exists(pid) && !is_dead
}

#[test]
fn hooks_that_fail_are_counted_and_the_agent_goes_on() {
    let mut cluster = with_hooks(1, OWN, "");
    fs::write(file(&cluster, 1, "fail"), "").unwrap();
    cluster.start_all();
    cluster.wait_for_leader();
    let counted = || cluster.get(1, "/metrics").body.contains("bellwether_hooks_total{ended=\"failed\"} 1");
    assert!(wait_until(DEADLINE, counted), "{}", cluster.get(1, "/metrics").body);
    assert!(cluster.log(1).contains("a hook failed"), "{}", cluster.log(1));
    fs::remove_file(file(&cluster, 1, "hook")).unwrap();
    assert_eq!(cluster.post(1, "/v1/resign", "{\"hold\":\"1ms\"}").status, 200);
    let counted =
        || !cluster.get(1, "/metrics").body.contains("bellwether_hooks_total{ended=\"not-started\"} 0");
    assert!(wait_until(DEADLINE, counted), "{}", cluster.log(1));
    cluster.wait_for_leader();
}

/// A program that holds a name through node 1, and its neighbour.
#[test]
fn named_elections_have_hooks_of_their_own_and_all_others_those_of_the_star() {
    const NAMED: &str = "[[hooks.election]]\nname = \"backup\"\nbecame_leader = [\"./hook\", \"mine\"]\n\
                         lost_leader = [\"./hook\"]\nnew_leader = [\"./hook\"]\n[[hooks.election]]\nname = \"*\"\n\
                         became_leader = [\"./hook\", \"any\"]\n";
    let mut cluster = with_hooks(3, NAMED, "mode = \"exclusive\"");
    cluster.start_all();
    cluster.wait_for_leader();
    let mut one = cluster.socket(1).campaign("backup", "");
    let first = one.elected();
    let begun = wait_for_lines(&cluster, 1, "begun", |lines| !lines.is_empty());
    assert_eq!(begun[0], format!("became_leader backup {first} - 1 1 mine"));
    let begun = wait_for_lines(&cluster, 2, "begun", |lines| !lines.is_empty());
    assert_eq!(begun[0], format!("new_leader backup {first} - 1 2 "));
    let mut two = cluster.socket(2).campaign("backup", "");
    two.queued();
    drop(one);
    let second = two.elected();
    let begun = wait_for_lines(&cluster, 1, "begun", |lines| lines.len() >= 3);
    assert_eq!(events(&begun), ["became_leader", "lost_leader", "new_leader"], "{begun:?}");
    assert!(begun[1].starts_with(&format!("lost_leader backup {first} ")), "{begun:?}");
    assert_eq!(begun[2], format!("new_leader backup {second} - 2 1 "));
    let mut other = cluster.socket(2).campaign("other", "");
    let token = other.elected();
    let begun = wait_for_lines(&cluster, 2, "begun", |lines| lines.len() >= 3);
    assert_eq!(
        begun[1..],
        [
            format!("became_leader backup {second} - 2 2 mine"),
            format!("became_leader other {token} - 2 2 any")
        ]
    );
    // Nothing is told of the cluster's own leadership, which has no hooks here.
    assert!(!lines(&cluster, 1, "begun").iter().any(|line| line.contains(" leader ")));
}
