//! Dialling one address for as long as somebody may be there.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bellwether_proto::ident::NodeId;
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

use super::NetEvent;
use super::admit::NoPlace;
use super::backoff::Backoff;
use super::connection::{Held, say_goodbye, shown_by};
use super::greet::{self, DialError, Welcomed};
use super::outbound;
use super::record::Reason;
use super::refusal::{LastRefusal, News};
use super::shared::Shared;
use super::table::{Dial, DialState, Process};

/// A connection that lived that long was a good one.
const GOOD: Duration = Duration::from_secs(5);

/// An address at which only this member, or an already connected one, answers is tried again after this time.
const IDLE: Duration = Duration::from_secs(5);

/// After this many failures in a row, which take some seconds, a warning is logged.
const WORTH_A_WARNING: u32 = 12;

/// Where to dial.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// This member, at the addresses that the name has at the time.
    Member(NodeId, String),
    /// Any member at this address.
    Address(SocketAddr),
}

/// One address, or name, that is being dialled.
#[derive(Debug)]
pub(super) struct Dialler {
    shared: Arc<Shared>,
    no: u64,
    place: Place,
    wake: Arc<Notify>,
    backoff: Backoff,
    /// How often in a row nobody was reached.
    failures: u32,
    refusal: LastRefusal,
}

/// When to dial next.
enum Next {
    /// After that time, or when the peer shows that it is there.
    After(Duration),
    /// When that member is not connected otherwise.
    Without(NodeId),
    /// Not at all.
    Never,
}

impl Dialler {
    pub(super) fn new(shared: &Arc<Shared>, place: Place) -> Self {
        let wake = Arc::new(Notify::new());
        let (address, id) = match &place {
            Place::Member(id, name) => (name.clone(), Some(*id)),
            Place::Address(address) => (address.to_string(), None),
        };
        let dial = Dial { address, id, state: DialState::Connecting, wake: Arc::clone(&wake) };
        let mut table = shared.table();
        let no = table.number();
        table.dials.insert(no, dial);
        drop(table);
        Self {
            shared: Arc::clone(shared),
            no,
            place,
            wake,
            backoff: Backoff::new(shared.seed(no)),
            failures: 0,
            refusal: LastRefusal::default(),
        }
    }

    /// The number of this dial in the table.
    pub(super) fn no(&self) -> u64 {
        self.no
    }

    /// Dials again and again, until the transport stops or the address is let go.
    pub(super) async fn run(mut self, mut stop: watch::Receiver<bool>, mut held: Held) {
        loop {
            let welcomed = tokio::select! {
                biased;
                () = stopped(&mut stop) => break,
                () = held.released() => break,
                welcomed = greet::connect(&self.shared, &self.place) => welcomed,
            };
            // A connection is not cut off from here: the table lets it go.
            let next = match welcomed {
                Ok(welcomed) => self.keep(welcomed).await,
                Err(error) => self.failed(error).await,
            };
            tokio::select! {
                biased;
                () = stopped(&mut stop) => break,
                () = held.released() => break,
                () = self.wait(next) => {}
            }
        }
        self.shared.homes().forget(&self.place);
        self.shared.change(|table| ((), table.end_dial(self.no))).await;
    }

    /// Runs the connection until it is over.
    async fn keep(&mut self, welcomed: Welcomed) -> Next {
        let Welcomed { stream, process, greeting } = welcomed;
        let Process { id, address, .. } = process;
        let admitted = self.shared.admit_outward(process).await;
        drop(greeting);
        match admitted {
            Ok(place) => {
                (self.failures, self.refusal) = (0, LastRefusal::default());
                self.set(Some(id), DialState::Up).await;
                let since = Instant::now();
                let shown = shown_by(stream.get_ref().1);
                let distrusted = self.shared.distrusted(id, &shown);
                outbound::run(&self.shared, process, stream, place, distrusted).await;
                self.set(Some(id), DialState::Down("the connection ended".to_owned())).await;
                if since.elapsed() >= GOOD {
                    self.backoff.reset();
                }
                Next::After(self.backoff.wait())
            }
            Err(NoPlace::Spare) => {
                say_goodbye(stream).await;
                self.failed(DialError::Spare { id }).await
            }
            Err(NoPlace::InUse { at }) => {
                self.shared.counts.refused_connections.add(1);
                say_goodbye(stream).await;
                self.failed(DialError::Duplicate { address, id, at }).await
            }
            Err(NoPlace::Full) => {
                say_goodbye(stream).await;
                self.failed(DialError::Full { id }).await
            }
        }
    }

    async fn failed(&mut self, error: DialError) -> Next {
        tracing::debug!(%error, "a peer was not reached");
        let id = error.id();
        if let DialError::Refused { reason: Reason::Yourself, .. } = error {
            self.set(id, DialState::Ourselves).await;
            return match self.place {
                Place::Address(_) => Next::Never,
                // The name may yet get the right address.
                Place::Member(..) => Next::After(IDLE),
            };
        }
        if let DialError::Spare { id } = error {
            self.set(Some(id), DialState::Spare).await;
            return Next::Without(id);
        }
        let state = self.state_after(&error);
        self.set(id, state).await;
        self.failures = self.failures.saturating_add(1);
        if self.failures == WORTH_A_WARNING {
            // A wrong address or a closed port may leave two leaders; a peer that is being restarted is no news.
            tracing::warn!("a peer cannot be reached: {error}");
        }
        if let DialError::Refused { reason: Reason::InUse, by, text, .. } = error {
            self.shared.tell(NetEvent::IdInUse { by, at: text }).await;
        }
        Next::After(self.backoff.wait())
    }

    /// A refusal is told at once, and counts for a while after the last answer.
    fn state_after(&mut self, error: &DialError) -> DialState {
        let now = Instant::now();
        if error.is_refusal() {
            self.shared.counts.refusals.add(1);
            if self.refusal.note(error.to_string(), now) == News::Yes {
                tracing::warn!("a peer that answers is not connected: {error}");
            }
        }
        match self.refusal.at(now) {
            Some(why) => DialState::Refused(why.to_owned()),
            None => DialState::Down(error.to_string()),
        }
    }

    async fn wait(&mut self, next: Next) {
        match next {
            Next::After(wait) => {
                if timeout(wait, self.wake.notified()).await.is_ok() {
                    self.backoff.reset();
                }
            }
            // The other address is dialled at once if its connection ends; this one only if that does not help.
            Next::Without(id) => loop {
                sleep(IDLE).await;
                if !self.shared.table().is_connected_to(id) {
                    break;
                }
            },
            Next::Never => std::future::pending().await,
        }
    }

    /// A dial for a listed member stays that member's, whoever answers.
    async fn set(&self, found: Option<NodeId>, state: DialState) {
        let found = found.filter(|_| matches!(self.place, Place::Address(_)));
        self.shared.change(|table| ((), table.set_dial(self.no, found, state))).await;
    }
}

/// Waits until the transport stops.
pub(super) async fn stopped(stop: &mut watch::Receiver<bool>) {
    // An error means that the transport is gone altogether.
    let _ = stop.wait_for(|stop| *stop).await;
}
