//! From a configuration to a driver.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use bellwether_proto::agent;
use bellwether_proto::election::Variant;
use bellwether_proto::exclusive::ExclusiveConfig;
use bellwether_proto::exclusive::ident::{LifeId, StoreId};
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::io::{Durable, Outbox};
use bellwether_proto::release::Patience;
use bellwether_proto::trace;
use bellwether_proto::wire::Channel;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::{Member, thread};
use crate::alarm::Alarm;
use crate::clock::Clock;
use crate::config::{Config, Peers};
use crate::disk::Disk;
use crate::driver::{Driver, Replies};
use crate::error::JoinError;
use crate::history::{History, HistoryFile};
use crate::members::{Address, Listed};
use crate::random;
use crate::recorder::Recorder;
use crate::reorganization::{Manager, Planning};
use crate::shared::Shared;
use crate::store::{Closed, Store, VotesFile};
use crate::transport::{Settings, Transport};
use crate::votes::Votes;

impl Member {
    /// Comes up and takes part, on a thread of its own: work that blocks the program's runtime costs no leadership.
    ///
    /// Must be called inside a tokio runtime. The member ends with that runtime, at once and without a goodbye, as with the process.
    /// Its handles can be used on any runtime.
    ///
    /// # Errors
    /// If the configuration cannot be ([`Config::problems`]), or its state, its address or its certificate cannot be had. Nothing is left
    /// running.
    pub async fn join(config: Config) -> Result<Self, JoinError> {
        thread::start(config, None).await
    }

    /// As [`Member::join`], with an application that says what groups are to do which this member leads. Only algorithms that
    /// reorganize groups ask it: `fb-omega` and `invitation`.
    ///
    /// # Errors
    /// As [`Member::join`].
    pub async fn join_as_manager(config: Config, manager: Manager) -> Result<Self, JoinError> {
        thread::start(config, Some(manager)).await
    }
}

/// Makes what there is of a member, and what tells when its directory is free. Must be called on its own runtime; the manager is asked on the program's.
pub(super) fn set_up(
    config: &Config,
    manager: Option<Manager>,
    program: Handle,
) -> Result<(Member, Driver, Closed), JoinError> {
    if let Some(bad) = config.problems().into_iter().next() {
        return Err(bad.into());
    }
    let clock = Clock::start();
    let (store, closed, kept) =
        Store::open(&config.data_dir, &config.cluster, config.id).map_err(JoinError::from_store)?;
    let kept = kept.unwrap_or_default();
    let (votes, exclusive) = exclusive(config, &store)?;
    let incarnation = next_incarnation(&kept).ok_or(JoinError::IncarnationsUsedUp)?;
    // Before anybody hears of it.
    let begins = Durable { incarnation, ..kept.clone() };
    store.write(&begins).map_err(JoinError::from_store)?;
    let recorder = config.trace.as_ref().map(|path| record(path, config, incarnation, clock)).transpose()?;
    let (transport, net) =
        Transport::start(addresses(config, incarnation)).map_err(JoinError::from_transport)?;
    let (file, before) = HistoryFile::open(&config.data_dir);
    let history = History::after_those(before);
    let shared = Arc::new(Shared::new(config, clock, transport, incarnation, history));
    let (commands, inbox) = mpsc::channel(64);
    let settings = agent::Settings { exclusive, ..settings_of(config, manager.as_ref()) };
    let node = settings.node(&kept, incarnation, clock.now()).writing_behind();
    // What the disk remembers of groups can be asked for at once.
    shared.known().groups = node.lineage().cloned().unwrap_or_default();
    // The directory is in use until both are done with it.
    let store = Arc::new(store);
    let votes = votes.map(|file| Votes::behind(file, Arc::clone(&store))).transpose();
    let votes = votes.map_err(JoinError::Thread)?.unwrap_or_default();
    let driver = Driver {
        node,
        planning: Planning::new(manager, program),
        objections: Vec::new(),
        listed: listed(config),
        only_met: None,
        works: None,
        serving: None,
        clock,
        alarm: Alarm::new(),
        channel: Channel::of_cluster(&config.cluster),
        history: file.write_behind(Arc::clone(&store)),
        disk: Disk::new(store, begins),
        votes,
        on_lost: config.exclusive.as_ref().map(|exclusive| exclusive.on_lost),
        recorder,
        shared: Arc::clone(&shared),
        net,
        commands: inbox,
        outbox: Outbox::new(),
        connected: BTreeSet::new(),
        replies: Replies::default(),
        abandoned: false,
    };
    Ok((Member { shared, commands }, driver, closed))
}

/// What the file says of members. It counts until it is known who votes.
fn listed(config: &Config) -> Listed {
    let peers = match &config.peers {
        Peers::Listed(peers) => peers.clone(),
        Peers::Named(_) => BTreeMap::new(),
    };
    let voters = config.exclusive.as_ref().map(|exclusive| exclusive.voters(&config.members()));
    Listed { peers, voters: voters.unwrap_or_default() }
}

/// What the node is told of exclusive leadership, if that is the mode, and where its votes are kept. Who does not vote yet may be
/// asked to, and then it must have a store of its own.
fn exclusive(
    config: &Config,
    store: &Store,
) -> Result<(Option<VotesFile>, Option<ExclusiveConfig>), JoinError> {
    let Some(exclusive) = &config.exclusive else { return Ok((None, None)) };
    let draw = || random::bytes().map(u128::from_le_bytes);
    let members = config.members();
    let voters = exclusive.voters(&members);
    let (file, kept) = store.votes(|| draw().map(StoreId)).map_err(JoinError::from_store)?;
    let told = ExclusiveConfig {
        life: draw().map(LifeId).ok_or(JoinError::Randomness)?,
        members: members.into_iter().collect(),
        voters: voters.into_iter().map(|voter| (voter, address_of(config, voter))).collect(),
        witnesses: exclusive.witnesses.iter().copied().collect(),
        kind: exclusive.kind,
        terms: exclusive.terms(config.heartbeat),
        priority: config.priority,
        kept: Some(kept),
    };
    Ok((Some(file), Some(told)))
}

/// Where that member is met, as far as the file says.
fn address_of(config: &Config, id: NodeId) -> Address {
    let address = match &config.peers {
        Peers::Listed(peers) => peers.get(&id).and_then(|address| Address::new(address)),
        Peers::Named(_) => None,
    };
    address.unwrap_or_default()
}

fn record(
    path: &Path,
    config: &Config,
    incarnation: Incarnation,
    clock: Clock,
) -> Result<Recorder, JoinError> {
    let failed = |source| JoinError::Trace { path: path.to_owned(), source };
    let mut recorder = Recorder::open(path, config.id).map_err(failed)?;
    let nodes: Vec<NodeId> = config.members().into_iter().collect();
    let setup = trace::Setup {
        cluster: &config.cluster,
        protocol: config.protocol,
        variant: Variant::Repaired,
        nodes: &nodes,
        timing: config.timing(),
        detector: config.protocol.spec().detector.map(|_| agent::DETECTOR),
        release_timeout: config.release_timeout.into(),
    };
    recorder.begin(clock.wall_micros(clock.now()), incarnation, &setup);
    Ok(recorder)
}

fn addresses(config: &Config, incarnation: Incarnation) -> Settings {
    Settings {
        cluster: config.cluster.clone(),
        id: config.id,
        incarnation,
        agreed: config.agreed(),
        peers: config.peers.clone(),
        listen: config.listen,
        identity: config.identity.clone(),
    }
}

/// An incarnation is larger than the last one that the disk remembers, and than any before a disk was lost: the clock sees to that. It
/// counts microseconds, so that no two starts have the same one, even if the clock begins anew whenever the machine does.
fn next_incarnation(kept: &Durable) -> Option<Incarnation> {
    let micros = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_micros());
    let clock = Incarnation(u64::try_from(micros).unwrap_or(u64::MAX)).min(Incarnation::CLOCK_MAX);
    kept.incarnation.next().map(|next| next.max(clock))
}

/// What the agent is told.
fn settings_of(config: &Config, manager: Option<&Manager>) -> agent::Settings {
    let everybody = config.members().into_iter().collect();
    let defaults = agent::Settings::new(config.id, everybody, config.protocol, config.timing());
    agent::Settings {
        priority: config.priority,
        preempt: config.preempt.map(Into::into),
        min_peers: config.min_peers(),
        patience: Patience {
            work: config.release_timeout.into(),
            hold: config.resign_hold.into(),
            ..defaults.patience
        },
        planner: manager.map(|manager| manager.patience.into()),
        ..defaults
    }
}
