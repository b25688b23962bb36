//! Hooks: programs that the agent runs when leadership changes.
//!
//! | file | what |
//! |---|---|
//! | `follow.rs` | from what the member knows to what happened: [`Happening`]s |
//! | `queue.rs` | what is still to be told of one election |
//! | `run.rs` | one run of a program, its time and its end |
//! | `output.rs` | what a program prints, as lines of the log |
//!
//! For one election hooks run one after the other. What happens meanwhile is told as it is when the next may run. Whoever can tell of an
//! election does so with [`Hooks::tell`], which never waits.

mod follow;
mod output;
mod queue;
mod run;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bellwether::NodeId;
use bellwether::elections::Name;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

use super::config::HooksConfig;
use queue::Queue;
use run::Run;

pub(crate) use follow::follow;

/// So many programs run at once.
const AT_ONCE: usize = 8;
/// What each takes of file descriptors: its process, a pipe, and its other end while it is started.
const DESCRIPTORS_EACH: usize = 4;
/// When the agent ends, how long it waits for hooks.
const END_MAX: Duration = Duration::from_secs(5);

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// This node leads, or a program of it holds the name.
    Became,
    /// It does no more.
    Lost,
    /// Another does.
    Other,
}

impl Event {
    /// As programs are told.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Became => "became_leader",
            Self::Lost => "lost_leader",
            Self::Other => "new_leader",
        }
    }
}

/// Something that happened to an election.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Happening {
    pub(crate) election: Name,
    pub(crate) event: Event,
    /// Of the leader; of the leadership that was lost. Only exclusive leadership has one.
    pub(crate) token: Option<u64>,
    /// The same as an epoch: of the cluster's own leadership.
    pub(crate) epoch: Option<u64>,
    /// Who leads now, if anybody.
    pub(crate) leader: Option<NodeId>,
}

/// How runs of programs ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// With exit code 0.
    Done,
    /// Otherwise.
    Failed,
    /// It took too long, and was killed.
    Killed,
    /// It never began.
    NotStarted,
}

impl Ended {
    pub(crate) const ALL: [Self; 4] = [Self::Done, Self::Failed, Self::Killed, Self::NotStarted];

    /// As metrics and the log have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Killed => "killed",
            Self::NotStarted => "not-started",
        }
    }
}

/// All hooks. All clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Hooks(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    config: HooksConfig,
    node: NodeId,
    queues: Mutex<Queues>,
    places: Semaphore,
    counts: [AtomicU64; Ended::ALL.len()],
    /// How many elections have a hook that runs, or wants to.
    busy: watch::Sender<usize>,
    /// Whether what runs is killed.
    kills: watch::Sender<bool>,
}

/// What is still to be told, of elections of which there is something.
#[derive(Debug, Default)]
struct Queues {
    all: BTreeMap<Name, Slot>,
    /// The agent ends, and nothing more happens.
    ended: bool,
}

#[derive(Debug, Default)]
struct Slot {
    queue: Queue,
    /// Whether somebody sees to it.
    is_seen_to: bool,
}

impl Hooks {
    pub(crate) fn new(config: HooksConfig, node: NodeId) -> Self {
        Self(Arc::new(Inner {
            config,
            node,
            queues: Mutex::default(),
            places: Semaphore::new(AT_ONCE),
            counts: Default::default(),
            busy: watch::Sender::new(0),
            kills: watch::Sender::new(false),
        }))
    }

    /// How many file descriptors hooks of that configuration take.
    pub(crate) fn descriptors(config: &HooksConfig) -> usize {
        let are_any = config.are_for_the_cluster() || config.are_for_names();
        if are_any { AT_ONCE * DESCRIPTORS_EACH } else { 0 }
    }

    /// Tells of something. It runs the hooks of that election soon, if it has any.
    pub(crate) fn tell(&self, happening: Happening) {
        if self.0.config.of(&happening.election).is_none() {
            return;
        }
        let mut queues = self.queues();
        if queues.ended {
            return;
        }
        let election = happening.election.clone();
        let slot = queues.all.entry(election.clone()).or_default();
        slot.queue.add(happening);
        self.see_to(&election, slot);
    }

    /// How often runs ended so.
    pub(crate) fn count(&self, ended: Ended) -> u64 {
        self.0.counts[ended as usize].load(Ordering::Relaxed)
    }

    /// Whoever was told that it leads is told that it does no more, and what runs has its time. What takes longer is killed.
    pub(crate) async fn end(&self) {
        {
            let mut queues = self.queues();
            queues.ended = true;
            for (election, slot) in &mut queues.all {
                slot.queue.end();
                self.see_to(election, slot);
            }
        }
        let mut busy = self.0.busy.subscribe();
        if timeout(END_MAX, busy.wait_for(|busy| *busy == 0)).await.is_err() {
            self.kill().await;
        }
    }

    /// Kills what runs, and waits until it is gone.
    pub(crate) async fn kill(&self) {
        self.0.kills.send_replace(true);
        let mut busy = self.0.busy.subscribe();
        // The sender is here: there is always an answer.
        let _ = busy.wait_for(|busy| *busy == 0).await;
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        // A queue is whole between any two lines that change it.
        self.0.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has somebody run what is to be run for that election.
    fn see_to(&self, election: &Name, slot: &mut Slot) {
        if slot.is_seen_to || slot.queue.is_empty() {
            return;
        }
        slot.is_seen_to = true;
        self.0.busy.send_modify(|busy| *busy += 1);
        tokio::spawn(self.clone().run_all(election.clone()));
    }

    /// Runs hooks of one election until there is nothing more to be told.
    async fn run_all(self, election: Name) {
        while let Some(happening) = self.next(&election).filter(|_| !*self.0.kills.borrow()) {
            self.run(&happening).await;
        }
        self.0.busy.send_modify(|busy| *busy -= 1);
    }

    fn next(&self, election: &Name) -> Option<Happening> {
        let mut queues = self.queues();
        let slot = queues.all.get_mut(election)?;
        let next = slot.queue.next();
        if next.is_none() {
            slot.is_seen_to = false;
            if slot.queue.is_forgettable() {
                queues.all.remove(election);
            }
        }
        next
    }

    async fn run(&self, happening: &Happening) {
        let Some(hooks) = self.0.config.of(&happening.election) else { return };
        let command = match happening.event {
            Event::Became => &hooks.became_leader,
            Event::Lost => &hooks.lost_leader,
            Event::Other => &hooks.new_leader,
        };
        let Some(command) = command else { return };
        // It is never closed.
        let Ok(_place) = self.0.places.acquire().await else { return };
        let run = Run { command, happening, node: self.0.node, timeout: hooks.timeout };
        let ended = run.to_its_end(self.0.kills.subscribe()).await;
        self.0.counts[ended as usize].fetch_add(1, Ordering::Relaxed);
    }
}
