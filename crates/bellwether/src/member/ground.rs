//! What a member stands on, and the member on it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use bellwether_proto::agent;
use bellwether_proto::election::Variant;
use bellwether_proto::exclusive::ExclusiveConfig;
use bellwether_proto::exclusive::ident::LifeId;
use bellwether_proto::exclusive::voter::VoterKept;
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::io::{Durable, Outbox};
use bellwether_proto::release::Patience;
use bellwether_proto::trace;
use bellwether_proto::wire::Channel;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::Member;
use crate::alarm::Alarm;
use crate::clock::Clock;
use crate::config::{Config, Exclusive, Peers};
use crate::disk::Disk;
use crate::driver::{Driver, Replies};
use crate::error::JoinError;
use crate::history::{History, Writer};
use crate::links::{Links, NetEvent};
use crate::members::{Address, Listed};
use crate::recorder::Recorder;
use crate::reorganization::{Manager, Planning};
use crate::shared::Shared;
use crate::status::Change;
use crate::votes::Votes;

/// What a member stands on: a machine, or a test.
pub(crate) struct Ground {
    pub(crate) clock: Clock,
    pub(crate) alarm: Alarm,
    pub(crate) links: Box<dyn Links>,
    /// What happens on them.
    pub(crate) net: mpsc::Receiver<NetEvent>,
    /// What earlier processes have left.
    pub(crate) kept: Durable,
    pub(crate) before: VecDeque<Change>,
    /// The incarnation that begins. It is on the disk already.
    pub(crate) incarnation: Incarnation,
    pub(crate) disk: Disk,
    pub(crate) votes: Votes,
    pub(crate) history: Writer,
    /// What the node is told of exclusive leadership, if that is the mode.
    pub(crate) exclusive: Option<ExclusiveConfig>,
    pub(crate) recorder: Option<Recorder>,
}

impl Ground {
    /// The member, and the driver that is to run. The manager is asked on the program's runtime.
    pub(crate) fn set_up(
        self,
        config: &Config,
        manager: Option<Manager>,
        program: Handle,
    ) -> (Member, Driver) {
        let Self { clock, incarnation, .. } = self;
        let history = History::after_those(self.before);
        let shared = Arc::new(Shared::new(config, clock, self.links, incarnation, history));
        let (commands, inbox) = mpsc::channel(64);
        let settings = agent::Settings { exclusive: self.exclusive, ..settings(config, manager.as_ref()) };
        let node = settings.node(&self.kept, incarnation, clock.now()).writing_behind();
        // What the disk remembers of groups can be asked for at once.
        shared.known().groups = node.lineage().cloned().unwrap_or_default();
        let driver = Driver {
            node,
            planning: Planning::new(manager, program),
            objections: Vec::new(),
            listed: listed(config),
            only_met: None,
            works: None,
            serving: None,
            clock,
            alarm: self.alarm,
            channel: Channel::of_cluster(&config.cluster),
            history: self.history,
            disk: self.disk,
            votes: self.votes,
            on_lost: config.exclusive.as_ref().map(|exclusive| exclusive.on_lost),
            recorder: self.recorder,
            shared: Arc::clone(&shared),
            net: self.net,
            commands: inbox,
            outbox: Outbox::new(),
            connected: BTreeSet::new(),
            replies: Replies::default(),
            abandoned: false,
        };
        (Member { shared, commands }, driver)
    }
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

/// What the node is told of exclusive leadership, in a process of that id, whose votes are these.
pub(crate) fn told(config: &Config, exclusive: &Exclusive, life: LifeId, kept: VoterKept) -> ExclusiveConfig {
    let members = config.members();
    let voters = exclusive.voters(&members);
    ExclusiveConfig {
        life,
        members: members.into_iter().collect(),
        voters: voters.into_iter().map(|voter| (voter, address_of(config, voter))).collect(),
        witnesses: exclusive.witnesses.iter().copied().collect(),
        kind: exclusive.kind,
        terms: exclusive.terms(config.heartbeat),
        priority: config.priority,
        kept: Some(kept),
    }
}

/// Where that member is met, as far as the file says.
fn address_of(config: &Config, id: NodeId) -> Address {
    let address = match &config.peers {
        Peers::Listed(peers) => peers.get(&id).and_then(|address| Address::new(address)),
        Peers::Named(_) => None,
    };
    address.unwrap_or_default()
}

/// The trace, if one is to be written.
pub(crate) fn record(
    config: &Config,
    incarnation: Incarnation,
    clock: Clock,
) -> Result<Option<Recorder>, JoinError> {
    let Some(path) = &config.trace else { return Ok(None) };
    let failed = |source| JoinError::Trace { path: path.clone(), source };
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
    Ok(Some(recorder))
}

/// What the agent is told.
fn settings(config: &Config, manager: Option<&Manager>) -> agent::Settings {
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
