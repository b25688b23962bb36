//! A test kit: a cluster in memory, with virtual time, for tests of programs that embed a [`Member`].
//!
//! The members are real. Each has the node, the driver and the handles that it has in production, so [`Member`],
//! [`Leadership`](crate::Leadership), [`Election`](crate::client::Election), their observers and their errors are the same. What they
//! stand on is not: there are no sockets, certificates, disks or threads. Time is tokio's. In a test with `start_paused` an hour
//! passes as fast as everybody can do what is due in it:
//!
//! ```
//! use bellwether::testing::Cluster;
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // In a test: #[tokio::test(start_paused = true)]
//! let mut cluster = Cluster::of(3).start()?;
//! let first = cluster.leader().await.id.0;
//! cluster.kill(first);
//! let second = cluster.leader().await.id.0;
//! assert_ne!(first, second);
//! # Ok(())
//! # }
//! ```
//!
//! Give your program the members ([`Cluster::member`]), break something, and see what your program does. A test that waits, with
//! [`tokio::time::sleep`] or for an event of its own, lets time pass. `start_paused` needs tokio's feature `test-util`, among your
//! `dev-dependencies`. Without it the kit runs in real time.
//!
//! | what happens in the world | in a test |
//! |---|---|
//! | the leader's process is killed | [`Cluster::kill`], and [`Cluster::restart`] |
//! | a process is stopped, or gets no processor | [`Cluster::pause`], [`Cluster::resume`] |
//! | the machine is suspended, with all that runs on it | `tokio::time::advance` |
//! | the network is split | [`Cluster::cut`], [`Cluster::isolate`], [`Cluster::heal`] |
//! | leadership is given away | [`Member::resign`], [`Member::transfer`], [`Member::leave`] |
//!
//! **The same seed gives the same run.** How long frames take comes from [`Builder::seed`]; nothing else is random. A test that fails prints the
//! seed. Your own part must be such that it is the same, too: `select!` takes branches at random unless it is `biased`.
//!
//! **What is not as in production.** The test and all its members are one process. So [`Cluster::kill`] ends the member, and not the tasks that have
//! a handle to it: those find that it has ended, with [`Ended::Runtime`](crate::Ended::Runtime). And what [`Cluster::pause`] stops is the member, not your
//! tasks: they go on, as those of a program do whose member gets no processor. Virtual time is that of the runtime: look at
//! guards on its own threads, which those of `spawn_blocking` are. While one of those runs, time stands still. Disks are written at once. A
//! cut loses what is sent meanwhile, and ends no connection. Agents, and so [`Client`](crate::Client), are not part of it: the
//! [`Election`](crate::client::Election) of a member is of the same type as a client's.
//!
//! It is always there, behind no feature: it needs nothing that a member does not need, and a program that does not use it does not have
//! it in its binary.

mod machine;
mod network;
mod plug;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use bellwether_proto::ident::NodeId;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use crate::config::{Config, Peers};
use crate::error::JoinError;
use crate::member::Member;
use crate::status::Leader;
use crate::tls::Identity;
use machine::{Machine, Process};
use network::{Network, address};

/// Members in memory, numbered from 1. They end when it is dropped.
///
/// # Panics
/// All that take the number of a member panic if there is none of that number.
#[derive(Debug)]
pub struct Cluster {
    hosts: BTreeMap<NodeId, (Machine, Process)>,
    network: Arc<Network>,
    carrier: JoinHandle<()>,
    seed: u64,
}

/// How a cluster is to be.
#[derive(Debug)]
pub struct Builder {
    configs: Vec<Config>,
    latency: RangeInclusive<Duration>,
    seed: u64,
}

/// How often somebody who waits looks.
const LOOK: Duration = Duration::from_millis(1);

/// A leader that is not there after so long does not come.
const PATIENCE: Duration = Duration::from_secs(60);

impl Builder {
    /// Changes the configuration of every member. Those of its fields that are about the network, certificates and the disk mean nothing here.
    ///
    /// ```
    /// # fn example() -> bellwether::testing::Builder {
    /// use bellwether::{Exclusive, testing::Cluster};
    ///
    /// Cluster::of(3).configure(|config| config.exclusive = Some(Exclusive::default()))
    /// # }
    /// ```
    #[must_use]
    pub fn configure(mut self, change: impl FnMut(&mut Config)) -> Self {
        self.configs.iter_mut().for_each(change);
        self
    }

    /// How long frames take: 1 ms to 5 ms, if nothing is said.
    #[must_use]
    pub fn latency(self, latency: RangeInclusive<Duration>) -> Self {
        Self { latency, ..self }
    }

    /// Where randomness begins: 0, if nothing is said.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Starts all members. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// If a configuration cannot be ([`Config::problems`]), or its trace cannot be written.
    pub fn start(self) -> Result<Cluster, JoinError> {
        let (network, since) = (Network::new(self.latency, self.seed), Instant::now());
        let mut hosts = BTreeMap::new();
        for config in self.configs {
            let id = config.id;
            let mut machine = Machine::new(config, Arc::clone(&network), since, self.seed);
            let process = machine.start()?;
            hosts.insert(id, (machine, process));
        }
        let carrier = tokio::spawn(Arc::clone(&network).carry());
        Ok(Cluster { hosts, network, carrier, seed: self.seed })
    }
}

impl Cluster {
    /// So many members, with ids from 1 on.
    pub fn of(size: u32) -> Builder {
        let ids = || (1..=size).map(NodeId);
        let peers: BTreeMap<NodeId, String> = ids().map(|id| (id, address(id).to_string())).collect();
        let config = |id| {
            let nobody =
                Identity { ca: String::new(), cert: String::new(), key: String::new(), revoked: None };
            Config::new("test", id, address(id), Peers::Listed(peers.clone()), nobody, "")
        };
        let latency = Duration::from_millis(1)..=Duration::from_millis(5);
        Builder { configs: ids().map(config).collect(), latency, seed: 0 }
    }

    /// That member, as it was started last.
    pub fn member(&self, id: u32) -> Member {
        self.process(id).member.clone()
    }

    /// Waits until all members that run name the same leader, which is one of them.
    ///
    /// # Panics
    /// If that is not so within a minute.
    pub async fn leader(&self) -> Leader {
        let runs = |process: &Process| process.lives() && !process.is_paused();
        let running = self.hosts.iter().filter(|(_, (_, process))| runs(process));
        let running: Vec<u32> = running.map(|(id, _)| id.0).collect();
        self.leader_among(&running).await
    }

    /// Waits until those members name the same leader, which is one of them: on one side of a split.
    ///
    /// # Panics
    /// If that is not so within a minute.
    pub async fn leader_among(&self, ids: &[u32]) -> Leader {
        let began = Instant::now();
        loop {
            if let Some(leader) = self.agreed(ids) {
                return leader;
            }
            assert!(began.elapsed() < PATIENCE, "no leader within {PATIENCE:?}: {}", self.standings(ids));
            sleep(LOOK).await;
        }
    }

    fn agreed(&self, ids: &[u32]) -> Option<Leader> {
        let mut named = ids.iter().map(|id| self.process(*id).member.leader());
        let first = named.next()??;
        let all = named.all(|leader| leader.is_some_and(|it| (it.id, it.epoch) == (first.id, first.epoch)));
        (all && ids.contains(&first.id.0)).then_some(first)
    }

    fn standings(&self, ids: &[u32]) -> String {
        let standing = |id: &u32| {
            let status = self.process(*id).member.status();
            let bar = status.bar.map(|bar| format!(" ({bar})")).unwrap_or_default();
            format!("{id} is {:?}{bar}", status.standing)
        };
        ids.iter().map(standing).collect::<Vec<_>>().join(", ")
    }

    /// Ends a member's process in the middle of whatever it does, as `kill -9` does. Its connections break.
    pub fn kill(&mut self, id: u32) {
        self.process(id).kill();
    }

    /// Starts a member again on its disk. If it runs, it is killed first.
    pub fn restart(&mut self, id: u32) -> Member {
        let (machine, process) = self.hosts.get_mut(&NodeId(id)).unwrap_or_else(|| panic!("no member {id}"));
        process.kill();
        machine.take_back(process);
        *process = machine.start().expect("it was started once with that configuration");
        process.member.clone()
    }

    /// Stops a member, as a signal or a busy machine does. What is sent to it waits, up to a bound.
    pub fn pause(&mut self, id: u32) {
        self.process(id).pause();
    }

    /// Lets it go on.
    pub fn resume(&mut self, id: u32) {
        self.process(id).resume();
    }

    /// Lets nothing pass between two members, in either direction.
    pub fn cut(&mut self, one: u32, other: u32) {
        let id = |id: u32| self.process(id).member.status().id;
        self.network.cut(id(one), id(other));
    }

    /// Lets nothing pass between a member and all others.
    pub fn isolate(&mut self, id: u32) {
        let others: Vec<u32> = self.hosts.keys().map(|other| other.0).filter(|other| *other != id).collect();
        others.into_iter().for_each(|other| self.cut(id, other));
    }

    /// Mends the whole network.
    pub fn heal(&mut self) {
        self.network.mend();
    }

    fn process(&self, id: u32) -> &Process {
        let host = self.hosts.get(&NodeId(id));
        host.map(|(_, process)| process).unwrap_or_else(|| panic!("no member {id}"))
    }
}

impl Drop for Cluster {
    #[allow(clippy::print_stderr, reason = "a test that fails says how it is played again")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "this cluster is played again with Cluster::of({}).seed({})",
                self.hosts.len(),
                self.seed
            );
        }
        self.hosts.values().for_each(|(_, process)| process.kill());
        self.carrier.abort();
    }
}
