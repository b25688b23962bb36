//! Leadership as a value: a guard that carries its epoch and knows when it ended.

use std::future::Future;
use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::tenure;
use tokio::process;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time;
use tokio_util::sync::CancellationToken;

use super::Hold;
use crate::command::{Asked, Command};
use crate::error::{Expired, Refused};
use crate::shared::Shared;
use crate::tenure::Guard;
use crate::tied::{self, Guarding};

/// Leadership of this member, while it lasts.
///
/// Hold it while you act as the leader and drop it when you have stopped. When leadership is released, because the member
/// resigns, hands over, gives way or leaves, [`Leadership::ended`] resolves. The member waits until every guard has been
/// dropped (or its `release_timeout` has passed) before another can lead. Leadership can also be lost: when the others
/// cannot hear this member, they choose another leader and do not wait.
///
/// **Dropping it gives nothing up.** It says that this part of the program has stopped, and nothing else: the member leads on,
/// and [`Member::campaign`](super::Member::campaign) gives out another guard. [`Leadership::resign`] gives leadership up, and so do
/// [`Member::resign`](super::Member::resign), `transfer` and `leave`. A clone is one more guard of the same leadership.
///
/// Put [`Leadership::epoch`] into what you write, and let the store refuse an epoch below the largest that it has seen.
/// That stops a leader that was replaced without noticing. [`crate::proto::leadership`] says what an epoch promises.
#[derive(Clone, Debug)]
pub struct Leadership {
    guard: Guard,
    shared: Arc<Shared>,
    /// A guard keeps no member alive.
    commands: mpsc::WeakSender<Command>,
}

impl Leadership {
    pub(super) fn new(guard: Guard, shared: Arc<Shared>, commands: mpsc::WeakSender<Command>) -> Self {
        Self { guard, shared, commands }
    }

    /// The number of this leadership: larger than every epoch that this member, or a member that agreed to
    /// it, had seen.
    pub fn epoch(&self) -> u64 {
        self.guard.epoch()
    }

    /// The token of exclusive leadership: larger than that of every leadership before it, for ever. It equals the epoch, which has that
    /// property in no other mode. `None` in other modes.
    pub fn token(&self) -> Option<u64> {
        self.shared.is_exclusive().then(|| self.guard.epoch())
    }

    /// Whether this member may act as the leader now. Ask right before you write: it looks at the clock every time, so that after a
    /// pause of the process for longer than the leadership is valid no call that begins after the pause succeeds.
    ///
    /// It goes on to succeed while leadership is asked back, as long as it is valid, so that work can be brought to its end. What
    /// was sent before may arrive after validity has ended: let the store refuse smaller tokens.
    ///
    /// # Errors
    /// If leadership has ended, or it is not certain that it has not.
    pub fn check(&self) -> Result<(), Expired> {
        if self.guard.may_act() { Ok(()) } else { Err(Expired { epoch: self.guard.epoch() }) }
    }

    /// Until when it is valid, as far as the member knows now; it is put off again and again while a majority of the voters answers.
    /// `None` if no clock decides that: of kind `token`, and in other modes. An [`Instant`] does not count for how long a machine is
    /// suspended; [`Leadership::check`] does.
    pub fn valid_until(&self) -> Option<Instant> {
        time::Instant::now().into_std().checked_add(self.guard.left()?)
    }

    /// The same on the clock that counts how long the machine has been up, suspended or not: `CLOCK_BOOTTIME` on Linux. For threads and
    /// processes that look at the clock themselves.
    pub fn deadline(&self) -> Option<Duration> {
        self.guard.left().map(|left| self.shared.clock.uptime.now() + left)
    }

    /// The member that leads: this one. Only epoch, node and incarnation together are unique, whatever happens to the network.
    pub fn node(&self) -> NodeId {
        self.shared.id
    }

    /// The incarnation in which it leads.
    pub fn incarnation(&self) -> Incarnation {
        self.guard.incarnation()
    }

    /// Whether it still lasts, as far as this member can know. It is also false if this process was stopped for so long
    /// that the others have given it up, even before it has found that out. The time for which a machine is suspended counts, on Linux;
    /// elsewhere it is false as soon as the member has run.
    pub fn is_held(&self) -> bool {
        self.guard.is_held()
    }

    /// Waits until leadership has ended or is being released. Then stop what only a leader may do, and drop the guard.
    pub async fn ended(&self) {
        self.watch().await;
    }

    /// A token that is cancelled when [`Leadership::ended`] would resolve, for code that listens to such a token. It is no guard: whoever
    /// listens to it is not waited for. Must be called inside a tokio runtime.
    pub fn cancellation(&self) -> CancellationToken {
        tied::cancellation(self)
    }

    /// Runs work that blocks, on a thread for that. Nobody can stop it from outside: it should look at [`Leadership::is_held`] of the
    /// guard that it gets, and return when that is false. Until it has returned, leadership is handed to nobody, for
    /// `release_timeout` at most.
    pub fn spawn_blocking<F, T>(&self, work: F) -> JoinHandle<T>
    where
        F: FnOnce(&Self) -> T + Send + 'static,
        T: Send + 'static,
    {
        tied::spawn_blocking(self, work)
    }

    /// Runs a process to its end. It is killed when leadership ends, or when this call is dropped. Until it has ended, leadership is
    /// handed to nobody, for `release_timeout` at most. Processes that it started itself are not known here.
    ///
    /// # Errors
    /// If it cannot be started or waited for, or leadership has ended: then it is not started.
    pub async fn child(&self, command: &mut process::Command) -> io::Result<ExitStatus> {
        tied::child(self, command).await
    }

    /// Gives this leadership up, and has the member stand aside, as [`Member::resign`](super::Member::resign) does. If it has ended
    /// already, there is nothing to give up. This guard is gone with the call; other guards of the same leadership are waited for.
    ///
    /// # Errors
    /// If nobody else could lead, and `hold` does not say for how long nobody shall.
    pub async fn resign(self, hold: Hold) -> Result<(), Refused> {
        // Without a handle the member leaves, and has given up what it led. A driver that was held up may lead on: it is asked.
        let Some(commands) = self.commands.upgrade().filter(|_| self.guard.lasts()) else { return Ok(()) };
        let shared = Arc::clone(&self.shared);
        drop(self);
        match shared.ask(&commands, Asked::Tenure(tenure::Command::Resign { hold: hold.into() })).await {
            Err(Refused::Cannot(tenure::Refused::NotLeader { .. })) => Ok(()),
            answer => answer,
        }
    }
}

impl Guarding for Leadership {
    fn is_held(&self) -> bool {
        Self::is_held(self)
    }

    fn watch(&self) -> impl Future<Output = ()> + Send + 'static {
        self.guard.ended()
    }
}
