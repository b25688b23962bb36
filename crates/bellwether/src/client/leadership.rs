//! A name that is held, as a value.

use std::future::Future;
use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bellwether_proto::ident::NodeId;
use tokio::process::Command;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time;
use tokio_util::sync::CancellationToken;

use super::error::ClientError;
use super::seat::Seat;
use super::session::Session;
use super::standing::{Over, Phase, Standing};
use crate::error::Expired;
use crate::tied::{self, Guarding};
use crate::uptime::Uptime;

/// A name that this program holds, while it lasts: through an agent, or through a member of its own.
///
/// **Dropping it gives the name back**, when the last clone is gone. [`Leadership::resign`] does so at once, whoever has a clone, and
/// tells when another can hold it.
///
/// Ask [`Leadership::check`] right before every write, and send [`Leadership::token`] along, so that a store can refuse smaller ones.
#[derive(Clone, Debug)]
pub struct Leadership {
    seat: Arc<Seat>,
}

impl Leadership {
    pub(super) fn new(seat: Seat) -> Self {
        Self { seat: Arc::new(seat) }
    }

    /// The name that is held.
    pub fn name(&self) -> &str {
        self.seat.name()
    }

    /// The member through which it is held; `None` if an engine of another make holds it.
    pub fn node(&self) -> Option<NodeId> {
        self.seat.node()
    }

    /// The session that holds it; `None` if no agent is asked.
    pub fn session(&self) -> Option<&Session> {
        match &*self.seat {
            Seat::Agent(seat) => Some(seat.session()),
            Seat::Here(_) => None,
        }
    }

    /// The token: larger than that of every holder before, for ever. An agent that was restarted and took the name over for this program
    /// gives a larger one, so ask every time. What was written with the one before is good until another holds the name.
    pub fn token(&self) -> u64 {
        token(self.seat.phase())
    }

    /// Whether the name is held, and may be acted on now. It looks at the clock every time, so that after a pause of the process for longer
    /// than it is valid no call that begins after the pause succeeds. It goes on to succeed while the name is asked back.
    ///
    /// # Errors
    /// If it is held no more, or it is not certain that it is.
    pub fn check(&self) -> Result<(), Expired> {
        let phase = self.seat.phase();
        match phase {
            // The clock is looked at last.
            Phase::Held(grant) if grant.until.lasts(self.seat.uptime()) => Ok(()),
            Phase::Held(_) | Phase::Waiting { .. } | Phase::Over { .. } => {
                Err(Expired { epoch: token(phase) })
            }
        }
    }

    /// Whether it is held and nobody has asked for it back: [`Leadership::check`] succeeds, and [`Leadership::ended`] waits.
    pub fn is_held(&self) -> bool {
        let clock = self.seat.uptime();
        stop_at(self.seat.phase()).is_none_or(|at| clock.now() < at) && self.standing() == Standing::Held
    }

    /// Until when it is valid, as far as is known now; it is put off again and again. `None` if no clock decides that: of kind
    /// `token`. An [`Instant`] does not count for how long a machine is suspended; [`Leadership::check`] does.
    pub fn valid_until(&self) -> Option<Instant> {
        let left = self.deadline()?.saturating_sub(self.seat.uptime().now());
        time::Instant::now().into_std().checked_add(left)
    }

    /// The same on the clock that counts how long the machine has been up, suspended or not: `CLOCK_BOOTTIME` on Linux. For other
    /// processes on this machine.
    pub fn deadline(&self) -> Option<Duration> {
        match self.seat.phase() {
            Phase::Held(grant) => grant.until.deadline(),
            Phase::Waiting { .. } | Phase::Over { .. } => Some(Duration::ZERO),
        }
    }

    /// When work is to be stopped if validity is not put off, on the clock of [`Leadership::deadline`]: two fifths of the validity before its
    /// end.
    pub fn stop_at(&self) -> Option<Duration> {
        stop_at(self.seat.phase())
    }

    /// How it stands.
    pub fn standing(&self) -> Standing {
        standing(self.seat.phase(), self.seat.uptime())
    }

    /// Waits until it is time to stop: it is held no more or asked back, or validity is about to end. Then stop what only a holder may do,
    /// and drop the guard.
    pub async fn ended(&self) {
        self.watch().await;
    }

    /// As [`Leadership::ended`], without holding the name.
    pub fn watch(&self) -> impl Future<Output = ()> + Send + use<> {
        let (mut changes, clock) = (self.seat.changes(), self.seat.uptime());
        async move {
            loop {
                let phase = *changes.borrow_and_update();
                if standing(phase, clock) != Standing::Held || !wait(phase, &mut changes, clock).await {
                    return;
                }
            }
        }
    }

    /// A token that is cancelled when [`Leadership::ended`] would resolve, for code that listens to such a token. It is no guard: whoever
    /// listens to it is not waited for. Must be called inside a tokio runtime.
    pub fn cancellation(&self) -> CancellationToken {
        tied::cancellation(self)
    }

    /// Runs work that blocks, on a thread for that. Nobody can stop it from outside: it should look at [`Leadership::is_held`] of the
    /// guard that it gets, and return when that is false. Until it has returned, the name is not given back, as long as it is valid.
    pub fn spawn_blocking<F, T>(&self, work: F) -> JoinHandle<T>
    where
        F: FnOnce(&Self) -> T + Send + 'static,
        T: Send + 'static,
    {
        tied::spawn_blocking(self, work)
    }

    /// Runs a process to its end. It is killed when it is time to stop, or when this call is dropped. Until it has ended, the name is
    /// not given back, as long as it is valid. Processes that it started itself are not known here; `bellwether exec` knows them.
    ///
    /// # Errors
    /// If it cannot be started or waited for, or it is time to stop: then it is not started.
    pub async fn child(&self, command: &mut Command) -> io::Result<ExitStatus> {
        tied::child(self, command).await
    }

    /// Tells of everything that changes, such as until when it is valid, without holding the name.
    pub fn changes(&self) -> Changes {
        let mut changes = self.seat.changes();
        changes.mark_unchanged();
        Changes(changes)
    }

    /// Proclaims that for as long as the name is held: at most 4096 bytes.
    ///
    /// # Errors
    /// If it is held no more, nobody answers, or it is refused.
    pub async fn proclaim(&self, value: &str) -> Result<(), ClientError> {
        self.seat.proclaim(self.token(), value).await
    }

    /// Gives it back. Returns when another can hold it.
    ///
    /// # Errors
    /// If that is not certain yet: nobody answers, or it is refused.
    pub async fn resign(self) -> Result<(), ClientError> {
        self.seat.give_back().await
    }
}

impl Guarding for Leadership {
    fn is_held(&self) -> bool {
        Self::is_held(self)
    }

    fn watch(&self) -> impl Future<Output = ()> + Send + 'static {
        Self::watch(self)
    }
}

/// Changes of what is held, as they become known.
#[derive(Clone, Debug)]
pub struct Changes(watch::Receiver<Phase>);

impl Changes {
    /// Waits until something has changed; false if nothing will any more.
    pub async fn next(&mut self) -> bool {
        self.0.changed().await.is_ok()
    }
}

/// Until the time to stop has come (false), or something has changed.
async fn wait(phase: Phase, changes: &mut watch::Receiver<Phase>, clock: Uptime) -> bool {
    let comes = async {
        match stop_at(phase) {
            Some(at) => clock.reaches(at).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        changed = changes.changed() => changed.is_ok(),
        () = comes => false,
    }
}

/// What is held no more had no time left ever.
fn stop_at(phase: Phase) -> Option<Duration> {
    match phase {
        Phase::Held(grant) => grant.stop_at(),
        Phase::Waiting { .. } | Phase::Over { .. } => Some(Duration::ZERO),
    }
}

fn token(phase: Phase) -> u64 {
    match phase {
        Phase::Held(grant) => grant.token,
        Phase::Over { token, .. } => token,
        // No guard waits. A token that all stores refuse is a safe answer.
        Phase::Waiting { .. } => 0,
    }
}

fn standing(phase: Phase, clock: Uptime) -> Standing {
    match phase {
        Phase::Held(grant) if !grant.until.lasts(clock) => Standing::Over(Over::Lease),
        Phase::Held(grant) => match grant.asked_back {
            Some((why, by)) => Standing::AskedBack { why, left: by.map(|by| by.saturating_sub(clock.now())) },
            None => Standing::Held,
        },
        Phase::Over { why, .. } => Standing::Over(why),
        Phase::Waiting { .. } => Standing::Over(Over::Other),
    }
}
