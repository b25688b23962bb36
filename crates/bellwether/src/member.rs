//! A member of a cluster: what a program holds in its hand.

use std::collections::BTreeSet;
use std::future::Future;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bellwether_proto::agent;
use bellwether_proto::election::{self, Timing, Variant};
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::io::{Durable, Outbox};
use bellwether_proto::release::Patience;
use bellwether_proto::tenure::{self, Tenure};
use bellwether_proto::trace;
use bellwether_proto::wire::Channel;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use crate::alarm::Alarm;
use crate::clock::{Clock, span};
use crate::config::{Config, Peers};
use crate::driver::{Driver, Replies, Reply};
use crate::history::History;
use crate::recorder::Recorder;
use crate::reorganization::{Manager, Planning, Services};
use crate::shared::Shared;
use crate::status::{Change, Counters, Leader, Participant, Status};
use crate::store::{Store, StoreError};
use crate::tenure::Leadership;
use crate::tls::TlsError;
use crate::transport::{Settings, StartError, Transport};

/// A member of a cluster: it takes part in the election from [`Member::join`] until [`Member::leave`]. Cheap to clone; all
/// clones are the same member.
///
/// ```no_run
/// # async fn example(config: bellwether::Config) -> Result<(), Box<dyn std::error::Error>> {
/// use bellwether::Member;
///
/// let member = Member::join(config).await?;
/// member
///     .run(|leadership| async move {
///         // Only one member does this at a time, as far as the members can reach each other.
///         println!("leading with epoch {}", leadership.epoch());
///         std::future::pending().await
///     })
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Member {
    shared: Arc<Shared>,
    commands: mpsc::Sender<Command>,
    resign_hold: Duration,
}

/// How long to stand aside after resigning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// As long as the configuration says.
    Default,
    /// That long.
    For(Duration),
    /// Until [`Member::stand`].
    UntilTold,
}

impl From<Hold> for tenure::Hold {
    fn from(hold: Hold) -> Self {
        match hold {
            Hold::Default => Self::Default,
            Hold::For(time) => Self::For(span(time)),
            Hold::UntilTold => Self::UntilTold,
        }
    }
}

/// What a handle asks of the driver.
pub(crate) struct Command {
    pub(crate) command: tenure::Command,
    pub(crate) reply: Option<Reply>,
}

impl Command {
    /// Nobody waits for the answer: who leaves has ended.
    pub(crate) fn leave() -> Self {
        Self { command: tenure::Command::Leave, reply: None }
    }
}

impl Member {
    /// Comes up and takes part. Must be called inside a tokio runtime, on which the member then runs.
    ///
    /// # Errors
    /// If the algorithm cannot do with such members, or its state, its address or its certificate cannot be had. Nothing is left
    /// running.
    pub async fn join(config: Config) -> Result<Self, JoinError> {
        Self::begin(config, None)
    }

    /// As [`Member::join`], with an application that says what groups are to do which this member leads. Only algorithms that
    /// reorganize groups ask it: `fb-omega` and `invitation`.
    ///
    /// # Errors
    /// As [`Member::join`].
    pub async fn join_as_manager(config: Config, manager: Manager) -> Result<Self, JoinError> {
        Self::begin(config, Some(manager))
    }

    fn begin(config: Config, manager: Option<Manager>) -> Result<Self, JoinError> {
        check_members(&config)?;
        let clock = Clock::start();
        let (store, kept) =
            Store::open(&config.data_dir, &config.cluster, config.id).map_err(JoinError::store)?;
        let kept = kept.unwrap_or_default();
        let incarnation = next_incarnation(&kept).ok_or(JoinError::LivesUsedUp)?;
        let recorder =
            config.trace.as_ref().map(|path| record(path, &config, incarnation, clock)).transpose()?;
        let (transport, net) =
            Transport::start(addresses(&config, incarnation)).map_err(JoinError::transport)?;
        let history = History::open(&config.data_dir);
        let shared = Arc::new(Shared::new(&config, clock.began_at(), transport, incarnation, history));
        let (commands, inbox) = mpsc::channel(64);
        let node = settings_of(&config, manager.as_ref()).node(&kept, incarnation, clock.now());
        // What the disk remembers of groups can be asked for at once.
        shared.known().groups = node.history().cloned().unwrap_or_default();
        let driver = Driver {
            node,
            planning: Planning::new(manager),
            serving: None,
            clock,
            alarm: Alarm::new(),
            channel: Channel::of_cluster(&config.cluster),
            store: Arc::new(store),
            recorder,
            shared: Arc::clone(&shared),
            net,
            commands: inbox,
            outbox: Outbox::new(),
            linked: BTreeSet::new(),
            replies: Replies::default(),
            abandoned: false,
        };
        tokio::spawn(supervise(driver, Arc::clone(&shared)));
        Ok(Self { shared, commands, resign_hold: config.resign_hold })
    }

    /// What this member knows now.
    pub fn status(&self) -> Status {
        self.shared.status()
    }

    /// The settled leader; `None` while there is none.
    pub fn leader(&self) -> Option<Leader> {
        self.shared.known().leader
    }

    /// Changes of leader, from the next one on.
    pub fn observe(&self) -> Observer {
        let no = self.shared.known().history.last_no();
        self.observe_after(no)
    }

    /// Changes of leader after that number, as far back as they are remembered.
    pub fn observe_after(&self, no: u64) -> Observer {
        Observer { seen: no, changed: self.shared.changed.subscribe(), shared: Arc::clone(&self.shared) }
    }

    /// The members, this one among them.
    pub fn participants(&self) -> Vec<Participant> {
        self.shared.transport.participants()
    }

    /// The changes of leader that are remembered, oldest first.
    pub fn history(&self) -> Vec<Change> {
        self.shared.known().history.iter().cloned().collect()
    }

    /// The groups that this member's group came from, and it itself, as far as they are remembered: see
    /// [`History`](crate::group::History). Empty if the algorithm does not reorganize groups.
    pub fn groups(&self) -> crate::group::History {
        self.shared.known().groups.clone()
    }

    /// The group that this member works in, and what that is to do: of an algorithm that reorganizes groups. While a new group
    /// is being reorganized, or the member is cut off from its group, there is none.
    pub fn service(&self) -> Services {
        Services(self.shared.service.subscribe())
    }

    /// Where peers reach this member; tells the port if the kernel chose it.
    pub fn local_addr(&self) -> SocketAddr {
        self.shared.transport.local_addr()
    }

    /// What has been counted since the process started.
    pub fn counters(&self) -> Counters {
        self.shared.counters()
    }

    /// How long ago the member last did anything. More than a few seconds mean that its process hangs.
    pub fn idle(&self) -> Duration {
        self.shared.tenures.idle()
    }

    /// Waits until this member leads.
    ///
    /// # Errors
    /// If the member has ended.
    pub async fn campaign(&self) -> Result<Leadership, Ended> {
        tokio::select! {
            leadership = self.shared.tenures.campaign() => leadership.ok_or(Ended::Left),
            ended = self.ended() => Err(ended),
        }
    }

    /// Runs `lead` whenever this member leads, until the member ends. Losing leadership is no error: the task is stopped, at
    /// its next `await`, and has come to its end before another can be handed leadership; then the member campaigns again. If
    /// the task ends by itself, the member resigns.
    ///
    /// To be told and stop in your own time instead, use [`Member::campaign`] and [`Leadership::ended`].
    ///
    /// # Errors
    /// If the member ended because of a fault, or the task panicked; the member has left then.
    pub async fn run<F, Fut>(&self, mut lead: F) -> Result<(), Ended>
    where
        F: FnMut(Leadership) -> Fut,
        Fut: Future<Output = ()> + Send + 'static,
    {
        loop {
            let leadership = match self.campaign().await {
                Ok(leadership) => leadership,
                Err(Ended::Left) => return Ok(()),
                Err(ended) => return Err(ended),
            };
            // What `lead` does with its guard is its own affair: leadership is not released before its task has ended.
            let (ended, keeper) = (leadership.watch(), leadership.again());
            let work = lead(leadership);
            let mut task = AbortOnDrop(tokio::spawn(async move {
                let keeper = keeper;
                work.await;
                keeper
            }));
            let finished = tokio::select! {
                finished = &mut task.0 => Some(finished),
                () = ended => None,
            };
            match finished {
                Some(Ok(keeper)) if keeper.is_held() => {
                    drop(keeper);
                    // If it is not taken, it has lost leadership meanwhile.
                    let _ = self.resign(Hold::For(self.resign_hold)).await;
                }
                Some(Ok(keeper)) => drop(keeper),
                Some(Err(panicked)) => {
                    self.leave().await;
                    return Err(Ended::Panicked(panicked.to_string()));
                }
                None => {
                    task.0.abort();
                    let _ = (&mut task.0).await;
                }
            }
        }
    }

    /// Releases leadership and stands aside. Returns when the next leader is known, or nobody took over in time.
    ///
    /// # Errors
    /// If this member does not lead; or if nobody else could, and `hold` does not say for how long nobody shall.
    pub async fn resign(&self, hold: Hold) -> Result<(), Refused> {
        self.ask(tenure::Command::Resign { hold: hold.into() }).await
    }

    /// Stands again before its time.
    ///
    /// # Errors
    /// If it does not stand aside.
    pub async fn stand(&self) -> Result<(), Refused> {
        self.ask(tenure::Command::Stand).await
    }

    /// Hands leadership over to that member. Returns when it leads.
    ///
    /// # Errors
    /// If this member does not lead, the other is not there or does not take over, or the algorithm cannot.
    pub async fn transfer(&self, to: NodeId) -> Result<(), Refused> {
        self.ask(tenure::Command::Transfer { to }).await
    }

    /// Hands over if it leads, says goodbye and stops.
    pub async fn leave(&self) {
        // If the driver does not take it, it has ended.
        let _ = self.commands.send(Command::leave()).await;
        self.ended().await;
    }

    /// Waits until the member has stopped, and says why.
    pub async fn ended(&self) -> Ended {
        let mut ended = self.shared.ended.subscribe();
        let seen = ended.wait_for(Option::is_some).await;
        seen.ok().and_then(|ended| ended.clone()).unwrap_or(Ended::Left)
    }

    async fn ask(&self, command: tenure::Command) -> Result<(), Refused> {
        let (reply, answer) = oneshot::channel();
        if self.commands.send(Command { command, reply: Some(reply) }).await.is_err() {
            return Err(self.ended().await.into());
        }
        match answer.await {
            Ok(answer) => answer.map_err(Refused::Cannot),
            Err(_) => Err(self.ended().await.into()),
        }
    }
}

/// A task that does not go on without whoever waits for it.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Runs the driver. A member whose driver has failed must not look alive, least of all to those who act as its leader.
async fn supervise(driver: Driver, shared: Arc<Shared>) {
    if let Err(panicked) = tokio::spawn(driver.run()).await {
        shared.tenures.set(Tenure::None);
        shared.service.send_replace(None);
        shared.known().leader = None;
        shared.transport.close().await;
        shared.ended.send_replace(Some(Ended::Fault(panicked.to_string())));
    }
}

/// A stream of changes of leader.
#[derive(Debug)]
pub struct Observer {
    /// The number of the last change that was given out.
    seen: u64,
    changed: watch::Receiver<u64>,
    shared: Arc<Shared>,
}

impl Observer {
    /// The next change; `None` when the member has stopped. Whoever asks too seldom misses those that are forgotten meanwhile.
    pub async fn next(&mut self) -> Option<Change> {
        let mut ended = self.shared.ended.subscribe();
        loop {
            if let Some(change) = self.shared.change_after(self.seen) {
                self.seen = change.no;
                return Some(change);
            }
            tokio::select! {
                changed = self.changed.changed() => changed.ok()?,
                _ = ended.wait_for(Option::is_some) => return None,
            }
        }
    }
}

fn record(
    path: &Path,
    config: &Config,
    incarnation: Incarnation,
    clock: Clock,
) -> Result<Recorder, JoinError> {
    let failed = |source| JoinError::Trace { path: path.display().to_string(), source };
    let mut recorder = Recorder::open(path, config.id).map_err(failed)?;
    let nodes: Vec<NodeId> = members(config).into_iter().collect();
    let setup = trace::Setup {
        cluster: &config.cluster,
        protocol: config.protocol,
        variant: Variant::Repaired,
        nodes: &nodes,
        timing: timing(config),
        detector: config.protocol.spec().detector.map(|_| agent::DETECTOR),
    };
    recorder.begin(clock.wall_micros(clock.now()), incarnation, &setup);
    Ok(recorder)
}

/// Everybody, this member among them; nobody, if their names are not known beforehand.
pub(crate) fn members(config: &Config) -> BTreeSet<NodeId> {
    match &config.peers {
        Peers::Listed(peers) => peers.keys().copied().chain([config.id]).collect(),
        Peers::Named(_) => BTreeSet::new(),
    }
}

/// Some algorithms must know all members beforehand, and there are bounds to how many.
fn check_members(config: &Config) -> Result<(), JoinError> {
    let (spec, name) = (config.protocol.spec(), config.protocol.name());
    match (&config.peers, spec.peers) {
        (Peers::Named(_), election::Peers::Listed) => Err(JoinError::Members(format!(
            "{name} needs a list of all members, not names to look them up by"
        ))),
        _ => match (spec.nodes_max(), members(config).len()) {
            (Some(most), found) if found > most => {
                Err(JoinError::Members(format!("found {found} members, {name} takes at most {most}")))
            }
            _ => Ok(()),
        },
    }
}

fn addresses(config: &Config, incarnation: Incarnation) -> Settings {
    Settings {
        cluster: config.cluster.clone(),
        id: config.id,
        incarnation,
        protocol: config.protocol,
        peers: config.peers.clone(),
        listen: config.listen,
        identity: config.identity.clone(),
    }
}

/// A life is larger than the last one that the disk remembers, and than any before a disk was lost: the clock sees to that.
fn next_incarnation(kept: &Durable) -> Option<Incarnation> {
    let seconds = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
    kept.incarnation.next().map(|next| next.max(Incarnation(seconds)))
}

/// What the agent is told.
fn settings_of(config: &Config, manager: Option<&Manager>) -> agent::Settings {
    let timing = timing(config);
    let everybody = members(config).into_iter().collect();
    let defaults = agent::Settings::new(config.id, everybody, config.protocol, timing);
    agent::Settings {
        priority: config.priority,
        preempt: config.preempt.map(span),
        patience: Patience {
            work: span(config.release_timeout),
            hold: span(config.resign_hold),
            ..defaults.patience
        },
        planner: manager.map(|manager| span(manager.patience)),
        ..defaults
    }
}

/// The papers' parameters.
pub(crate) fn timing(config: &Config) -> Timing {
    Timing::with_timeout(span(config.heartbeat), span(config.timeout))
}

/// Why a member could not join. Nothing is left running.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The algorithm cannot do with such members.
    #[error("{0}")]
    Members(String),
    /// What is on the disk is not this member's state.
    #[error("{0}")]
    State(String),
    /// The disk cannot be used.
    #[error("{0}")]
    Disk(String),
    /// The certificate cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Address {
        /// Which.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The trace cannot be written.
    #[error("cannot write the trace {path}: {source}")]
    Trace {
        /// Where.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The state file says that this member has no life left.
    #[error("the state file holds the last possible incarnation; it cannot be right: delete it to join anew")]
    LivesUsedUp,
}

impl JoinError {
    fn store(error: StoreError) -> Self {
        match error {
            StoreError::Unusable { .. } => Self::State(error.to_string()),
            other => Self::Disk(other.to_string()),
        }
    }

    fn transport(error: StartError) -> Self {
        match error {
            StartError::Tls(error) => Self::Tls(error),
            StartError::Listen { address, source } => Self::Address { address, source },
            StartError::Random => Self::Disk(error.to_string()),
        }
    }

    /// Whether what was given is wrong, rather than what the world did.
    pub fn is_bad_input(&self) -> bool {
        matches!(self, Self::Members(_) | Self::State(_) | Self::Tls(_) | Self::LivesUsedUp)
    }
}

/// Why a member has stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Ended {
    /// It left.
    #[error("the member left the cluster")]
    Left,
    /// Its state could not be written.
    #[error("{0}; the node stops, since it must not forget what it says")]
    Disk(String),
    /// Another live process uses its id.
    #[error("{0}")]
    IdInUse(String),
    /// A fault of this library.
    #[error("the member failed, which is a bug: {0}")]
    Fault(String),
    /// The leader's task panicked.
    #[error("the leader's task failed: {0}")]
    Panicked(String),
}

/// Why a request was refused, or came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The request cannot be met, for this reason.
    #[error(transparent)]
    Cannot(tenure::Refused),
    /// The member has ended.
    #[error(transparent)]
    Ended(#[from] Ended),
}
