//! Processes that are stopped: silent, but not gone. Their connections stay, and they remember what they were.

use std::net::TcpStream;

use super::judged::{ALL, SIZES, assert_kept, recorded};
use crate::cluster::{Answer, Cluster, Watch, http};

#[test]
fn a_stopped_leader_is_replaced_and_follows_when_it_goes_on() {
    for nodes in SIZES {
        let (mut cluster, first) = recorded(nodes);
        cluster.stop(first);
        let second = cluster.wait_for_leader();
        assert_ne!(first, second);
        let said = cluster.records(second).events(first, "announce").len();
        cluster.cont(first);
        assert_eq!(cluster.wait_for_leader(), second, "who comes back does not take the lead");
        let records = assert_kept(&cluster, &ALL);
        let since = records.events(first, "announce").split_off(said);
        assert!(since.iter().all(|announced| announced["leader"] != first), "{since:?}");
        assert_eq!(since.last().expect("it has heard")["leader"], second);
    }
}

#[test]
fn a_follower_that_is_stopped_and_goes_on_changes_nothing() {
    for nodes in SIZES {
        let (mut cluster, leader) = recorded(nodes);
        let before = cluster.wait_for_agreement();
        let announced = announcements(&cluster, leader);
        let follower = if leader == 1 { 2 } else { 1 };
        cluster.stop(follower);
        // For longer than a silent leader would be waited for.
        cluster.leave_alone();
        cluster.cont(follower);
        let records = assert_kept(&cluster, &ALL);
        assert!(!records.events(follower, "held-up").is_empty(), "it tells how late it was");
        assert_eq!(cluster.wait_for_agreement(), before);
        assert_eq!(announcements(&cluster, leader), announced, "nobody had anything to announce");
    }
}

/// How often each node has announced who leads.
fn announcements(cluster: &Cluster, leader: u32) -> Vec<usize> {
    let records = cluster.records(leader);
    cluster.ids().into_iter().map(|id| records.events(id, "announce").len()).collect()
}

/// How often each question is asked. The kernel keeps no more than 128 for a process that is stopped.
const ASKED: usize = 15;

#[test]
fn what_is_asked_of_a_stopped_leader_is_not_answered_with_what_it_knew() {
    let mut cluster = Cluster::start(3);
    let first = cluster.wait_for_leader();
    cluster.stop(first);
    cluster.wait_for_leader();
    let api = cluster.api(first);
    let all = |path: &str| -> Vec<TcpStream> { (0..ASKED).map(|_| http::ask(&api, path)).collect() };
    let watches = all("/v1/watch");
    let asked: Vec<_> = QUESTIONS.iter().map(|(path, leads)| (path, leads, all(path))).collect();
    cluster.cont(first);
    for (path, leads, answers) in asked {
        for stream in answers {
            let answer = http::answer(stream).expect("who goes on answers");
            assert!(!leads(first, &answer), "{path}: {}\n{}", answer.head, answer.body);
        }
    }
    for stream in watches {
        let status = Watch::of(stream).next();
        assert!(status.name == "status" && !names(first, &status.data), "{status:?}");
    }
    assert_ne!(cluster.wait_for_leader(), first);
}

/// Whether an answer says that this one leads.
pub(crate) type Leads = fn(u32, &Answer) -> bool;

/// What can be asked, and how its answers are read.
pub(crate) const QUESTIONS: [(&str, Leads); 6] = [
    ("/leader", |_, answer| answer.status == 200),
    ("/readyz", |_, answer| answer.json()["standing"] == "leading"),
    ("/v1/status", |id, answer| names(id, &answer.json())),
    ("/v1/leader", |id, answer| answer.json()["leader"] == id),
    ("/v1/members", |_, answer| answer.body.contains("\"is_leader\":true,\"is_self\":true")),
    ("/metrics", |_, answer| {
        answer.body.contains("\nbellwether_is_leader 1\n") || answer.body.contains("{name=\"test\"} 1")
    }),
];

/// Whether a status says that this one leads. What its election makes of it, `view`, may be that it should, until it has heard of the
/// other.
fn names(id: u32, status: &serde_json::Value) -> bool {
    status["standing"] == "leading" || status["leader"] == id
}
