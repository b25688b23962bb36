//! Clusters of real agents on loopback, for tests: real processes, sockets, certificates and disks.
//!
//! A cluster is used by the thread that started it: the kernel ends its processes with that thread, whatever happens.

#![allow(dead_code, unused_imports, reason = "every binary that includes it uses a part of it")]

pub(crate) mod dice;
pub(crate) mod door;
mod files;
pub(crate) mod http;
pub(crate) mod meddler;
mod process;
pub(crate) mod records;
pub(crate) mod relay;
pub(crate) mod service;
pub(crate) mod truth;

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use bellwether::tls::{Authority, Validity};
use nix::sys::signal::Signal;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) use door::{Door, Events};
pub(crate) use files::{Place, Shape};
pub(crate) use http::{Answer, Event, Watch};
pub(crate) use process::{Process, agent, bellwether, exists, run, undisturbed};
pub(crate) use records::Records;
pub(crate) use truth::Befalls;
use truth::Truth;

/// What changes need.
pub(crate) const TOKEN: &str = "the-token-of-the-tests";
/// What takes longer does not happen.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);
/// How often is looked.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A cluster. Its processes end with it, and its files are removed.
pub(crate) struct Cluster {
    dir: TempDir,
    nodes: BTreeMap<u32, Node>,
    authority: Authority,
    truth: Truth,
}

struct Node {
    place: Place,
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
        Self::prepare_at(shape, &Place::on_loopback(shape.nodes))
    }

    /// The same with nodes that are elsewhere.
    pub(crate) fn prepare_at(shape: &Shape, places: &[Place]) -> Self {
        let dir = tempfile::Builder::new().prefix("bellwether-").tempdir().expect("there is room for a test");
        let all: BTreeMap<u32, Place> = (1..).zip(places.iter().copied()).collect();
        let authority = Authority::create("test", Validity::days(1)).unwrap();
        let node = |place: Place| Node { place, process: None, stopped: false };
        let nodes = all.iter().map(|(id, place)| (*id, node(*place))).collect();
        let cluster = Self { dir, nodes, authority, truth: Truth::default() };
        all.keys().for_each(|id| files::write(&cluster.home(*id), *id, shape, &all, &cluster.authority));
        cluster
    }

    /// Who vouches for the nodes.
    pub(crate) fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Where a node has its files.
    pub(crate) fn home(&self, id: u32) -> PathBuf {
        self.dir.path().join(format!("node-{id}"))
    }

    /// A node's configuration.
    pub(crate) fn config(&self, id: u32) -> PathBuf {
        self.home(id).join("agent.toml")
    }

    /// Adds lines to a node's configuration, at the top.
    pub(crate) fn configure(&self, id: u32, lines: &str) {
        let config = fs::read_to_string(self.config(id)).unwrap();
        fs::write(self.config(id), format!("{lines}\n{config}")).unwrap();
    }

    /// What a node keeps on its disk.
    pub(crate) fn state_file(&self, id: u32) -> PathBuf {
        self.home(id).join("data").join("state")
    }

    /// Where a node's API is.
    pub(crate) fn api(&self, id: u32) -> String {
        self.nodes[&id].place.api.to_string()
    }

    /// Where a node's peers reach it.
    pub(crate) fn peer(&self, id: u32) -> SocketAddr {
        self.nodes[&id].place.listen
    }

    /// Where a node is.
    pub(crate) fn place(&self, id: u32) -> Place {
        self.nodes[&id].place
    }

    /// All nodes, whether they run or not.
    pub(crate) fn ids(&self) -> Vec<u32> {
        self.nodes.keys().copied().collect()
    }

    /// The nodes that run and are not stopped.
    pub(crate) fn running(&self) -> Vec<u32> {
        let runs = |node: &Node| node.process.is_some() && !node.stopped;
        self.nodes.iter().filter(|(_, node)| runs(node)).map(|(id, _)| *id).collect()
    }

    pub(crate) fn start_all(&mut self) {
        self.ids().into_iter().for_each(|id| self.start_node(id));
    }

    /// Starts a node that does not run.
    pub(crate) fn start_node(&mut self, id: u32) {
        self.start_by(id, Process::agent);
    }

    /// The same with the command of another build.
    pub(crate) fn start_node_of(&mut self, id: u32, build: &Path) {
        self.start_by(id, |config, log| Process::logged(&mut process::agent_of(build, config), log));
    }

    /// The same with limits that `ulimit` sets.
    pub(crate) fn start_node_under(&mut self, id: u32, ulimit: &str) {
        self.start_by(id, |config, log| Process::agent_under(config, ulimit, log));
    }

    /// The same with these variables.
    pub(crate) fn start_node_with(&mut self, id: u32, variables: &[(&str, String)]) {
        self.start_by(id, |config, log| {
            Process::logged(agent(config).envs(variables.iter().map(|(name, value)| (name, value))), log)
        });
    }

    /// Whether a node has ended that was not told to.
    pub(crate) fn has_ended(&mut self, id: u32) -> bool {
        let process = self.nodes.get_mut(&id).and_then(|node| node.process.as_mut()).expect("the node runs");
        matches!(process.child().try_wait(), Ok(Some(_)))
    }

    fn start_by(&mut self, id: u32, start: impl FnOnce(&Path, &Path) -> Process) {
        let config = self.config(id);
        let log = self.home(id).join("log");
        let node = self.nodes.get_mut(&id).expect("there is such a node");
        assert!(node.process.is_none(), "node {id} runs");
        self.truth.note(id, Befalls::Recover);
        node.process = Some(start(&config, &log));
        node.stopped = false;
    }

    /// Ends a node at once.
    pub(crate) fn kill(&mut self, id: u32) {
        self.kill_together(&[id]);
    }

    /// Ends several nodes at once, before any of them can notice.
    pub(crate) fn kill_together(&mut self, ids: &[u32]) {
        let processes: Vec<_> = ids.iter().map(|id| self.take(*id)).collect();
        processes.iter().for_each(|process| process.signal(Signal::SIGKILL));
        drop(processes);
        ids.iter().for_each(|id| self.truth.note(*id, Befalls::Crash));
    }

    /// Stops a node: it is there, but silent.
    pub(crate) fn stop(&mut self, id: u32) {
        let node = self.nodes.get_mut(&id).expect("there is such a node");
        node.process.as_ref().expect("the node runs").stop();
        node.stopped = true;
        self.truth.note(id, Befalls::Pause);
    }

    /// Lets a stopped node go on.
    pub(crate) fn cont(&mut self, id: u32) {
        self.truth.note(id, Befalls::Resume);
        let node = self.nodes.get_mut(&id).expect("there is such a node");
        node.process.as_ref().expect("the node runs").cont();
        node.stopped = false;
    }

    /// Sends a signal that does not end a node.
    pub(crate) fn signal(&self, id: u32, signal: Signal) {
        self.nodes[&id].process.as_ref().expect("the node runs").signal(signal);
    }

    /// Asks a node to leave, and waits. The exit code, and all that it printed.
    pub(crate) fn end(&mut self, id: u32) -> (Option<i32>, String) {
        self.nodes[&id].process.as_ref().expect("the node runs").terminate();
        self.wait_for_end(id)
    }

    /// Waits until a node ends by itself. The exit code, and all that it printed.
    #[track_caller]
    pub(crate) fn wait_for_end(&mut self, id: u32) -> (Option<i32>, String) {
        let code = self.take(id).wait(DEADLINE);
        self.truth.note(id, Befalls::Crash);
        (code, self.log(id))
    }

    /// The number of a node's process.
    pub(crate) fn pid(&self, id: u32) -> i32 {
        self.nodes[&id].process.as_ref().expect("the node runs").pid().as_raw()
    }

    /// Runs an agent with the configuration of a node, and with these flags, that is to end by itself. The exit code, and
    /// what it printed.
    #[track_caller]
    pub(crate) fn attempt(&self, id: u32, flags: &[&str]) -> (Option<i32>, String) {
        let log = self.home(id).join("attempt.log");
        let _ = fs::remove_file(&log);
        let code = Process::agent_with(&self.config(id), flags, &log).wait(DEADLINE);
        (code, fs::read_to_string(&log).unwrap())
    }

    fn take(&mut self, id: u32) -> Process {
        self.nodes.get_mut(&id).and_then(|node| node.process.take()).expect("the node runs")
    }

    /// All that a node printed.
    pub(crate) fn log(&self, id: u32) -> String {
        fs::read_to_string(self.home(id).join("log")).unwrap_or_default()
    }

    /// Runs a command that asks a node: the exit code, what it printed, and what it complained of.
    pub(crate) fn ask(&self, id: u32, args: &[&str]) -> (i32, String, String) {
        run(&[args, &["--api", &self.api(id)]].concat())
    }

    pub(crate) fn get(&self, id: u32, path: &str) -> Answer {
        http::get(&self.api(id), path)
    }

    /// Asks for a change, with the token.
    pub(crate) fn post(&self, id: u32, path: &str, body: &str) -> Answer {
        http::post(&self.api(id), path, Some(TOKEN), body)
    }

    /// Waits until whatever these had to write is on their disks.
    pub(crate) fn wait_for_disks(&self, ids: &[u32]) {
        for id in ids {
            let rests = || self.get(*id, "/v1/status").json()["disk"]["writing_for_us"].is_null();
            assert!(wait_until(DEADLINE, rests), "the disk of node {id} does not come to rest");
        }
    }

    /// What happens at a node from now on, or after that change.
    pub(crate) fn watch(&self, id: u32, after: Option<u64>) -> Watch {
        Watch::open(&self.api(id), after)
    }

    /// What the nodes say now.
    pub(crate) fn views(&self) -> Views {
        let says = |node: &Node| match (&node.process, node.stopped) {
            (Some(_), false) => {
                http::try_get(&node.place.api.to_string(), "/v1/status").map(|answer| answer.json())
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
        self.wait_for_agreement().0
    }

    /// The same, and says with which epoch.
    #[track_caller]
    pub(crate) fn wait_for_agreement(&self) -> (u32, u64) {
        let all = self.running().len();
        let answer = |views: &Views| views.values().flatten().count() == all;
        let views = self.wait_for("all agree on a leader", |views| answer(views) && agreed(views).is_some());
        let leader = agreed(&views).unwrap();
        let epoch = views[&leader].as_ref().and_then(|view| view["epoch"].as_u64());
        (leader, epoch.expect("a leader has an epoch"))
    }

    /// Something happens to a node that this does not do itself.
    pub(crate) fn note(&mut self, id: u32, what: Befalls) {
        self.truth.note(id, what);
    }

    /// How long ago the first node was started.
    pub(crate) fn age(&self) -> Duration {
        self.truth.age()
    }

    /// Leaves the cluster alone for a little longer than it was not: that is how long "for ever" is to whoever judges.
    pub(crate) fn leave_alone(&self) {
        let until = self.truth.age() * 2 + Duration::from_millis(250);
        assert!(wait_until(until, || self.truth.age() >= until));
    }

    /// What has been recorded up to now. The leader's trace is the last: it ends with something that the leader said.
    pub(crate) fn records(&self, leader: u32) -> Records {
        let mut ids = self.ids();
        ids.sort_by_key(|id| *id == leader);
        let traces = ids.into_iter().map(|id| (id, self.home(id).join("trace.jsonl")));
        let dir = tempfile::Builder::new().prefix("records-").tempdir_in(self.dir.path()).unwrap().keep();
        Records::copy(dir, self.truth.lines(), traces)
    }

    fn logs(&self) -> String {
        self.nodes.keys().map(|id| format!("--- node {id}\n{}", self.log(*id))).collect()
    }
}

/// A test that fails leaves what the members recorded.
impl Drop for Cluster {
    #[allow(clippy::print_stderr, reason = "whoever reads of the failure wants to know")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.dir.disable_cleanup(true);
            eprintln!("what the members recorded is in {}", self.dir.path().display());
        }
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
