//! Very many that watch one name through one agent, beside others that say nothing: how long it takes until all have heard of a
//! change, and what they take of memory.

use std::io::Read;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde_json::json;

use super::cluster::door::Wire;
use super::cluster::{Cluster, Door, Shape, http};
use super::figure::{Better, keep};
use super::gauge::{memory_mib, peak_memory_mib};
use super::shape;

const NODES: u32 = 3;
const NAME: &str = "watched";
const CHANGES: usize = 50;

pub(crate) fn measure(watchers: usize, silent: usize) {
    println!();
    through("the port", watchers, silent, |cluster, id| {
        (cluster.port(id), Wire::Remote(TcpStream::connect(cluster.api(id)).expect("it listens")))
    });
    through("the socket", watchers, silent, |cluster, id| {
        (cluster.socket(id), Wire::Local(UnixStream::connect(cluster.socket_path(id)).expect("it listens")))
    });
}

/// Watchers and others come through that door: the door, and one more connection.
fn through(door: &str, watchers: usize, silent: usize, come: fn(&Cluster, u32) -> (Door, Wire)) {
    let mut cluster = Cluster::prepare(&Shape { socket: true, ..shape(NODES, "fjr", Some("lease")) });
    cluster.start_all();
    let leader = cluster.wait_for_leader();
    let agent = cluster.ids().into_iter().find(|id| *id != leader).expect("there are others");
    let mut holder = cluster.socket(agent).campaign(NAME, "");
    let token = holder.elected();
    let alone = memory_mib(cluster.pid(agent));
    let path = format!("/v1/elections/{NAME}/watch");
    let mut streams: Vec<Wire> =
        (0..watchers).map(|_| come(&cluster, agent).0.send("GET", &path, "")).collect();
    streams.iter_mut().for_each(|stream| hear(stream, "event: election"));
    let others: Vec<Wire> = (0..silent).map(|_| come(&cluster, agent).1).collect();
    // It came after all of them, so all have been taken when it is answered.
    assert_eq!(http::get(&cluster.api(agent), "/livez").status, 200);
    let mut times: Vec<Duration> =
        (0..CHANGES).map(|no| change(&cluster, agent, token, no, &mut streams)).collect();
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    let (now, most) = (memory_mib(cluster.pid(agent)), peak_memory_mib(cluster.pid(agent)));
    println!(
        "{watchers} watch a name through {door} of one agent, beside {silent} that are silent: all have heard of a change after {:.1} ms \
         (median), {:.1} ms (max), n = {CHANGES}; {now:.1} MiB, {most:.1} MiB at most, {alone:.1} MiB before",
        at(50),
        at(100)
    );
    for (what, value, unit) in [
        ("all have heard, median", at(50), "ms"),
        ("all have heard, max", at(100), "ms"),
        ("memory, at most", most, "MiB"),
    ] {
        keep(&format!("crowd, through {door}: {what}"), value, unit, Better::Lower);
    }
    drop(others);
}

/// Proclaims something, and waits until all have heard of it.
fn change(cluster: &Cluster, agent: u32, token: u64, no: usize, streams: &mut [Wire]) -> Duration {
    let value = format!("value-{no}.");
    let body = json!({ "token": token, "value": value }).to_string();
    let began = Instant::now();
    let _answer = cluster.socket(agent).send("PUT", &format!("/v1/elections/{NAME}/value"), &body);
    // One after the other: whoever has heard is looked at late, and the last one counts.
    streams.iter_mut().for_each(|stream| hear(stream, &value));
    began.elapsed()
}

/// Reads until that was said.
fn hear(stream: &mut Wire, what: &str) {
    let (mut heard, mut bytes) = (String::new(), [0; 4096]);
    while !heard.contains(what) || !heard.ends_with("\n\n") {
        let read = stream.read(&mut bytes).expect("it is told in time");
        assert!(read > 0, "nobody who watches is sent away: {heard}");
        heard.push_str(str::from_utf8(&bytes[..read]).expect("all of it is ASCII"));
    }
}
