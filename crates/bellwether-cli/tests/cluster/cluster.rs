//! Clusters of real agents on loopback, for tests: real processes, sockets, certificates and disks.
//!
//! A cluster is used by the thread that started it: the kernel ends its processes with that thread, whatever happens.

#![allow(dead_code, unused_imports, reason = "every binary that includes it uses a part of it")]

pub(crate) mod http;
mod process;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use bellwether::ident::NodeId;
use bellwether::tls::{Authority, Validity};
use serde_json::Value;
use tempfile::TempDir;

pub(crate) use http::{Answer, Event, Watch};
pub(crate) use process::{Process, bellwether, exists};

/// What changes need.
pub(crate) const TOKEN: &str = "the-token-of-the-tests";
/// What takes longer does not happen.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);
/// How often is looked.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How a cluster is to be.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) nodes: u32,
    pub(crate) protocol: &'static str,
    /// Lines at the top of every configuration.
    pub(crate) more: &'static str,
    pub(crate) token: Option<&'static str>,
}

impl Shape {
    /// That many nodes, and everything else as it is by default.
    pub(crate) fn of(nodes: u32) -> Self {
        Self { nodes, protocol: "fjr", more: "", token: Some(TOKEN) }
    }
}

/// A cluster. Its processes end with it, and its files are removed.
pub(crate) struct Cluster {
    dir: TempDir,
    nodes: BTreeMap<u32, Node>,
}

struct Node {
    api: SocketAddr,
    peer: SocketAddr,
    process: Option<Process>,
    stopped: bool,
}

/// What the nodes say: the answer to `/v1/status`; `None` of one that is down, stopped, or does not answer.
pub(crate) type Views = BTreeMap<u32, Option<Value>>;

impl Cluster {
    /// Starts that many nodes.
    pub(crate) fn start(nodes: u32) -> Self {
        let mut cluster = Self::prepare(&Shape::of(nodes));
        cluster.start_all();
        cluster
    }

    /// Writes what the nodes need, and starts none.
    pub(crate) fn prepare(shape: &Shape) -> Self {
        let dir = tempfile::Builder::new().prefix("bellwether-").tempdir().expect("there is room for a test");
        let held: Vec<_> =
            (0..shape.nodes * 2).map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()).collect();
        let addresses: Vec<_> = held.iter().map(|listener| listener.local_addr().unwrap()).collect();
        let node = |pair: &[SocketAddr]| Node { peer: pair[0], api: pair[1], process: None, stopped: false };
        let nodes = (1..).zip(addresses.chunks(2).map(node)).collect();
        let cluster = Self { dir, nodes };
        let authority = Authority::create("test", Validity::days(1)).unwrap();
        for id in 1..=shape.nodes {
            cluster.write_files(id, shape, &authority);
        }
        cluster
    }

    fn write_files(&self, id: u32, shape: &Shape, authority: &Authority) {
        let home = self.home(id);
        fs::create_dir(&home).unwrap();
        let identity = authority.issue(NodeId(id), Validity::days(1)).unwrap();
        for (file, text) in [("ca.pem", identity.ca), ("cert.pem", identity.cert), ("key.pem", identity.key)]
        {
            fs::write(home.join(file), text).unwrap();
        }
        let node = &self.nodes[&id];
        let mut config = format!(
            "cluster = \"test\"\nnode = {id}\nprotocol = \"{}\"\npreempt = {}\ndata_dir = \"data\"\n{}\n\
             [listen]\npeer = \"{}\"\napi = \"{}\"\n[tls]\nca = \"ca.pem\"\ncert = \"cert.pem\"\nkey = \"key.pem\"\n",
            shape.protocol,
            shape.protocol != "fjr",
            shape.more,
            node.peer,
            node.api,
        );
        if let Some(token) = shape.token {
            let _ = writeln!(config, "[api]\ntoken = \"{token}\"");
        }
        for (id, peer) in &self.nodes {
            let _ = writeln!(config, "[[peer]]\nid = {id}\naddress = \"{}\"", peer.peer);
        }
        fs::write(self.config(id), config).unwrap();
    }

    fn home(&self, id: u32) -> PathBuf {
        self.dir.path().join(format!("node-{id}"))
    }

    /// A node's configuration.
    pub(crate) fn config(&self, id: u32) -> PathBuf {
        self.home(id).join("agent.toml")
    }

    /// Where a node's API is.
    pub(crate) fn api(&self, id: u32) -> String {
        self.nodes[&id].api.to_string()
    }

    pub(crate) fn start_all(&mut self) {
        let ids: Vec<_> = self.nodes.keys().copied().collect();
        ids.into_iter().for_each(|id| self.start_node(id));
    }

    /// Starts a node that does not run.
    pub(crate) fn start_node(&mut self, id: u32) {
        let config = self.config(id);
        let log = self.home(id).join("log");
        let node = self.nodes.get_mut(&id).expect("there is such a node");
        assert!(node.process.is_none(), "node {id} runs");
        node.process = Some(Process::agent(&config, &log));
        node.stopped = false;
    }

    /// Ends a node at once.
    pub(crate) fn kill(&mut self, id: u32) {
        drop(self.nodes.get_mut(&id).and_then(|node| node.process.take()).expect("the node runs"));
    }

    /// Stops a node: it is there, but silent.
    pub(crate) fn stop(&mut self, id: u32) {
        let node = self.nodes.get_mut(&id).expect("there is such a node");
        node.process.as_ref().expect("the node runs").stop();
        node.stopped = true;
    }

    /// Lets a stopped node go on.
    pub(crate) fn cont(&mut self, id: u32) {
        let node = self.nodes.get_mut(&id).expect("there is such a node");
        node.process.as_ref().expect("the node runs").cont();
        node.stopped = false;
    }

    /// Asks a node to leave, and waits. The exit code, and all that it printed.
    pub(crate) fn end(&mut self, id: u32) -> (Option<i32>, String) {
        let mut process =
            self.nodes.get_mut(&id).and_then(|node| node.process.take()).expect("the node runs");
        process.terminate();
        let code = process.wait(DEADLINE);
        (code, self.log(id))
    }

    /// The number of a node's process.
    pub(crate) fn pid(&self, id: u32) -> u32 {
        self.nodes[&id].process.as_ref().expect("the node runs").id()
    }

    /// All that a node printed.
    pub(crate) fn log(&self, id: u32) -> String {
        fs::read_to_string(self.home(id).join("log")).unwrap_or_default()
    }

    pub(crate) fn get(&self, id: u32, path: &str) -> Answer {
        http::get(&self.api(id), path)
    }

    /// Asks for a change, with the token.
    pub(crate) fn post(&self, id: u32, path: &str, body: &str) -> Answer {
        http::post(&self.api(id), path, Some(TOKEN), body)
    }

    /// What happens at a node from now on, or after that change.
    pub(crate) fn watch(&self, id: u32, after: Option<u64>) -> Watch {
        Watch::open(&self.api(id), after)
    }

    /// What the nodes say now.
    pub(crate) fn views(&self) -> Views {
        let says = |node: &Node| match (&node.process, node.stopped) {
            (Some(_), false) => {
                http::try_get(&node.api.to_string(), "/v1/status").map(|answer| answer.json())
            }
            (Some(_), true) | (None, _) => None,
        };
        self.nodes.iter().map(|(id, node)| (*id, says(node))).collect()
    }

    /// Waits until the nodes say what they should.
    #[track_caller]
    pub(crate) fn wait_for(&self, what: &str, is_so: impl Fn(&Views) -> bool) -> Views {
        let mut views = self.views();
        let so = wait_until(DEADLINE, || {
            views = self.views();
            is_so(&views)
        });
        assert!(so, "not within {DEADLINE:?}: {what}\n{views:#?}\n{}", self.logs());
        views
    }

    /// Waits until all that run agree on a leader, who says so itself, and says who.
    #[track_caller]
    pub(crate) fn wait_for_leader(&self) -> u32 {
        agreed(&self.wait_for("all agree on a leader", |views| agreed(views).is_some())).unwrap()
    }

    fn logs(&self) -> String {
        self.nodes.keys().map(|id| format!("--- node {id}\n{}", self.log(*id))).collect()
    }
}

/// The leader that all name that run; there must be one at least.
pub(crate) fn agreed(views: &Views) -> Option<u32> {
    let says: Vec<_> = views.values().flatten().collect();
    let leader = u32::try_from(says.first()?["leader"].as_u64()?).ok()?;
    let all = says.iter().all(|view| view["leader"] == leader && view["epoch"] == says[0]["epoch"]);
    let itself = views.get(&leader)?.as_ref()?;
    (all && itself["standing"] == "leading").then_some(leader)
}

/// Looks again and again, until it is so (true) or has taken too long (false).
pub(crate) fn wait_until(deadline: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let limit = Instant::now() + deadline;
    // Nobody ever sends: it only measures time.
    let (_sender, never) = mpsc::channel::<()>();
    while !is_so() {
        if Instant::now() > limit {
            return false;
        }
        assert_eq!(never.recv_timeout(LOOK_EVERY), Err(RecvTimeoutError::Timeout));
    }
    true
}
