//! A cluster that is attacked, and must not be moved by it.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;

use crate::cluster::{Cluster, DEADLINE, Shape, wait_until};

/// That a busy machine keeps a leader from its work for a moment is nobody's attack.
const PATIENT: &str = "[timing]\ntimeout = \"1s\"\n";
/// No agent ever takes more memory. A crowd of two thousand takes some of it.
const MEMORY_MAX_KB: u64 = 48 * 1024;

pub(crate) struct Siege {
    pub(crate) cluster: Cluster,
    pub(crate) leader: u32,
    /// A node that does not lead, and may not even run.
    pub(crate) other: u32,
    /// What had changed at each node before the attack. Whatever a change, it would be one more.
    changes: BTreeMap<u32, usize>,
}

/// What an agent has refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) connections: u64,
    pub(crate) frames: u64,
}

impl Siege {
    /// Three nodes, connected and led by one.
    pub(crate) fn begin() -> Self {
        let mut cluster = Cluster::prepare(&Self::shape());
        cluster.start_all();
        Self::of(cluster)
    }

    /// As it is by default, but for patience.
    pub(crate) fn shape() -> Shape {
        Shape { tables: PATIENT, ..Shape::of(3) }
    }

    /// The same, but one that does not lead has left.
    pub(crate) fn without_one() -> Self {
        let mut siege = Self::begin();
        let (code, log) = siege.cluster.end(siege.other);
        assert_eq!(code, Some(0), "{log}");
        Self::of(siege.cluster)
    }

    /// Those that run.
    pub(crate) fn of(cluster: Cluster) -> Self {
        let running = || cluster.views().into_iter().filter(|(_, view)| view.is_some()).map(|(id, _)| id);
        let linked =
            || running().all(|id| metric(&cluster, id, "peers_connected") as usize + 1 == running().count());
        cluster.wait_for_leader();
        cluster.wait_for("all are connected", |_| linked());
        // It may have changed meanwhile.
        let leader = cluster.wait_for_leader();
        let changes = running().map(|id| (id, changes(&cluster, id))).collect();
        let other =
            (1..=3).rfind(|id| *id != leader && (running().count() == 3 || running().all(|r| r != *id)));
        Self { leader, other: other.expect("there are three"), changes, cluster }
    }

    /// Where the leader listens for its peers.
    pub(crate) fn target(&self) -> SocketAddr {
        self.cluster.place(self.leader).listen
    }

    /// Those that run, and did when the attack began.
    pub(crate) fn running(&self) -> impl Iterator<Item = u32> {
        self.changes.keys().copied()
    }

    pub(crate) fn metric(&self, id: u32, name: &str) -> u64 {
        metric(&self.cluster, id, name)
    }

    /// What the leader has refused so far.
    pub(crate) fn refused(&self) -> Refused {
        let count = |name: &str| self.metric(self.leader, name);
        Refused { connections: count("refused_connections_total"), frames: count("refused_frames_total") }
    }

    /// Waits until the leader has refused exactly that much more.
    #[track_caller]
    pub(crate) fn has_refused(&self, before: Refused, connections: u64, frames: u64) {
        let wanted =
            Refused { connections: before.connections + connections, frames: before.frames + frames };
        let so = wait_until(DEADLINE, || self.refused() == wanted);
        assert!(so, "{wanted:?} expected, {:?} found\n{}", self.refused(), self.cluster.log(self.leader));
    }

    /// What the leader has logged.
    pub(crate) fn log(&self) -> String {
        self.cluster.log(self.leader)
    }

    /// Nothing has changed anywhere since the attack began, and nobody has taken too much memory at any time.
    #[track_caller]
    pub(crate) fn is_unmoved(&self) {
        assert_eq!(self.cluster.wait_for_leader(), self.leader);
        for (id, before) in &self.changes {
            let now = changes(&self.cluster, *id);
            assert_eq!(now, *before, "at node {id}:\n{}", self.cluster.log(*id));
            let memory = peak_memory_kb(self.cluster.pid(*id));
            assert!(memory < MEMORY_MAX_KB, "node {id} took {memory} KiB");
        }
    }
}

fn changes(cluster: &Cluster, id: u32) -> usize {
    cluster.get(id, "/v1/history").json()["changes"].as_array().expect("a list").len()
}

fn metric(cluster: &Cluster, id: u32, name: &str) -> u64 {
    let text = cluster.get(id, "/metrics").body;
    let value =
        text.lines().find_map(|line| line.strip_prefix("bellwether_")?.strip_prefix(name)?.strip_prefix(' '));
    value.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{name}: {text}"))
}

/// The most that a process has had in memory at once.
fn peak_memory_kb(pid: i32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process runs");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux says so");
    peak.trim().trim_end_matches(" kB").parse().expect("a number")
}
