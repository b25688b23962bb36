//! A machine of a test: what outlives a process, and the process that runs on it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bellwether_proto::exclusive::ident::{LifeId, StoreId};
use bellwether_proto::io::Durable;
use bellwether_proto::wire::Channel;
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::network::Network;
use super::plug::Plug;
use crate::alarm::Alarm;
use crate::clock::Clock;
use crate::config::{Config, Peers};
use crate::disk::{Disk, Medium};
use crate::error::{Ended, JoinError};
use crate::history::writer;
use crate::links::End;
use crate::member::Member;
use crate::member::ground::{Ground, record, told};
use crate::shared::Shared;
use crate::status::Change;
use crate::store::Memory;
use crate::votes::Votes;

/// What outlives a process.
#[derive(Debug)]
pub(super) struct Machine {
    config: Config,
    network: Arc<Network>,
    /// When the clocks of the cluster began.
    since: Instant,
    disk: Memory,
    past: VecDeque<Change>,
    /// Where the lives of processes get their numbers.
    lives: u128,
}

/// A member that was started. It may have ended.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) member: Member,
    shared: Arc<Shared>,
    plug: Plug,
    run: Arc<Run>,
    history: Receiver<Change>,
}

impl Machine {
    pub(super) fn new(config: Config, network: Arc<Network>, since: Instant, seed: u64) -> Self {
        // As random as those of processes are, and the same for the same seed.
        let id = u128::from(seed) << 64 | u128::from(config.id.0) << 32;
        Self { config, network, since, disk: Memory::new(StoreId(id)), past: VecDeque::new(), lives: id }
    }

    /// Starts a process that goes on with what is on the disk. Must be called inside a tokio runtime.
    pub(super) fn start(&mut self) -> Result<Process, JoinError> {
        let config = &self.config;
        if let Some(bad) = config.problems().into_iter().next() {
            return Err(bad.into());
        }
        let (clock, kept) = (Clock::of_runtime(self.since), self.disk.durable());
        let incarnation = kept.incarnation.next().ok_or(JoinError::IncarnationsUsedUp)?;
        let begins = Durable { incarnation, ..kept.clone() };
        let recorder = record(config, incarnation, clock)?;
        self.disk.write(begins.clone());
        self.lives += 1;
        let life = LifeId(self.lives);
        let exclusive = config.exclusive.as_ref();
        let members = match &config.peers {
            Peers::Listed(members) => members.clone(),
            Peers::Named(_) => Default::default(),
        };
        let channel = Channel::of_cluster(&config.cluster);
        let (plug, net) = self.network.plug_in(config.id, incarnation, channel, members);
        let (writer, history) = writer();
        let ground = Ground {
            clock,
            alarm: Alarm::of_runtime(),
            links: Box::new(plug.clone()),
            net,
            kept,
            before: self.past.clone(),
            incarnation,
            disk: Disk::new(Medium::Memory(self.disk.clone()), begins),
            votes: exclusive.map(|_| Votes::in_memory(self.disk.clone())).unwrap_or_default(),
            history: writer,
            exclusive: exclusive.map(|exclusive| told(config, exclusive, life, self.disk.votes())),
            recorder,
        };
        let (member, driver) = ground.set_up(config, None, Handle::current());
        let (shared, run) = (member.shared(), Arc::new(Run::new(driver.run())));
        tokio::spawn(live(Arc::clone(&run), plug.clone(), Arc::clone(&shared)));
        Ok(Process { member, shared, plug, run, history })
    }

    /// The process has ended: what it has left is there for the next.
    pub(super) fn take_back(&mut self, process: &Process) {
        self.past.extend(process.history.try_iter());
    }
}

impl Process {
    /// Ends it in the middle of whatever it does, as `kill -9` does.
    pub(super) fn kill(&self) {
        if self.run.end() {
            self.plug.pull(End::Broken);
            self.shared.finish(Ended::Runtime);
        }
    }

    /// Whether it has not ended.
    pub(super) fn lives(&self) -> bool {
        self.shared.ended.borrow().is_none()
    }

    pub(super) fn pause(&self) {
        self.run.state().paused = true;
    }

    pub(super) fn resume(&self) {
        let mut state = self.run.state();
        state.paused = false;
        state.waker.take().into_iter().for_each(Waker::wake);
    }

    pub(super) fn is_paused(&self) -> bool {
        self.run.state().paused
    }
}

/// The driver, as a process that can be stopped and killed.
struct Run(Mutex<State>);

struct State {
    /// `None` when it has ended.
    driver: Option<Driving>,
    paused: bool,
    /// Whoever runs it.
    waker: Option<Waker>,
}

type Driving = Pin<Box<dyn Future<Output = Ended> + Send>>;

impl Run {
    fn new(driver: impl Future<Output = Ended> + Send + 'static) -> Self {
        Self(Mutex::new(State { driver: Some(Box::pin(driver)), paused: false, waker: None }))
    }

    /// `None` if it was killed.
    fn poll(&self, context: &mut Context<'_>) -> Poll<Option<Ended>> {
        let mut state = self.state();
        state.waker = Some(context.waker().clone());
        let paused = state.paused;
        let Some(driver) = &mut state.driver else { return Poll::Ready(None) };
        if paused {
            return Poll::Pending;
        }
        let polled = driver.as_mut().poll(context).map(Some);
        if polled.is_ready() {
            state.driver = None;
        }
        polled
    }

    /// Whether there was anything to end.
    fn end(&self) -> bool {
        let mut state = self.state();
        state.waker.take().into_iter().for_each(Waker::wake);
        state.driver.take().is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A driver that panicked is not polled again.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Run")
    }
}

/// Until the process has ended.
async fn live(run: Arc<Run>, plug: Plug, shared: Arc<Shared>) {
    let ended = match tokio::spawn(poll_fn(move |context| run.poll(context))).await {
        Ok(Some(ended)) => ended,
        Ok(None) => return, // Whoever killed it has said so.
        Err(panicked) => Ended::Fault(panicked.to_string()),
    };
    plug.pull(End::Broken);
    shared.finish(ended);
}
