//! Exclusive leadership, with real agents: at most one leads at a time, and with a token that grows for ever.
//!
//! | what | file |
//! |---|---|
//! | holders that are killed, one by one or all at once | `crashes.rs` |
//! | holders that are stopped for longer than they may act | `pauses.rs` |
//! | too few voters | `minority.rs` |
//! | votes that are lost, damaged or slow to write | `votes.rs` |
//! | members that do not agree on the terms | `terms.rs` |
//! | voters that come and go | `members.rs` |
//! | programs that hold names through their agent, and die | `sessions.rs` |
//! | sessions that are taken over, and what is left of those that are over | `takeovers.rs` |
//! | programs on other machines, and those that cannot be seen | `remote.rs` |
//! | agents that restart and leave while programs hold names | `restarts.rs` |
//! | what is wrong, too long, too much or never read | `limits.rs` |
//! | the commands that people use | `commands.rs` |
//! | names: listing, reading, handing over, deleting | `names.rs` |
//! | what many programs write and read while agents fail | `registers.rs`, judged by `linear.rs` |

mod commands;
mod crashes;
mod limits;
mod linear;
mod members;
mod minority;
mod names;
mod pauses;
mod registers;
mod remote;
mod restarts;
mod sessions;
mod takeovers;
mod terms;
mod votes;

use serde_json::Value;

use crate::cluster::{Cluster, Shape, Views};

/// What is promised whatever happens, and judged by what the agents recorded.
const PROMISED: [&str; 3] = ["TOKEN-GROWS", "TOKEN-ONCE", "ONE-HOLDER"];

const LEASE: &str = "[exclusive]\nkind = \"lease\"\n[log]\ntrace = \"trace.jsonl\"\n";
const BY_STORE: &str = "[exclusive]\nkind = \"token\"\n[log]\ntrace = \"trace.jsonl\"\n";

/// The agents of a cluster that is not started yet, and record what they do.
fn prepared(nodes: u32, tables: &'static str) -> Cluster {
    Cluster::prepare(&Shape { more: "mode = \"exclusive\"", tables, ..Shape::of(nodes) })
}

/// The same, started.
fn started(nodes: u32, tables: &'static str) -> Cluster {
    let mut cluster = prepared(nodes, tables);
    cluster.start_all();
    cluster
}

/// A cluster whose agents have Unix sockets, and in which somebody leads. So a majority can be asked.
fn with_sockets(nodes: u32, tables: &'static str) -> Cluster {
    let mut cluster =
        Cluster::prepare(&Shape { more: "mode = \"exclusive\"", tables, socket: true, ..Shape::of(nodes) });
    cluster.start_all();
    cluster.wait_for_leader();
    cluster
}

/// A lease that lasts longer than any test: nothing in it waits for its end.
const LONG: &str = "[exclusive]\nttl = \"60s\"\n[log]\ntrace = \"trace.jsonl\"\n";

/// Has whoever leads hand over to a node, or to any other. One that has only just come up may not be ready to take it: then another
/// leads, and is asked.
#[track_caller]
fn hand_over(cluster: &Cluster, to: Option<u32>) -> (u32, u64) {
    let (mut said, mut before) = (String::new(), cluster.wait_for_agreement());
    for _ in 0..10 {
        let (leader, token) = before;
        let to = to.unwrap_or_else(|| {
            cluster.running().into_iter().find(|id| *id != leader).expect("there are others")
        });
        let answer = cluster.post(leader, "/v1/transfer", &format!("{{\"to\":{to}}}"));
        let after = cluster.wait_for_agreement();
        if answer.status == 200 {
            assert!(after.0 == to && after.1 > token, "{after:?} after {before:?}");
            return after;
        }
        (said, before) = (answer.body, after);
    }
    panic!("nobody takes over: {said}");
}

/// Waits until a node says that of itself.
#[track_caller]
fn wait_for_one(cluster: &Cluster, id: u32, what: &str, is_so: impl Fn(&Value) -> bool) {
    let says = |views: &Views| views[&id].as_ref().is_some_and(&is_so);
    cluster.wait_for(&format!("node {id}: {what}"), says);
}
