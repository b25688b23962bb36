//! Connections between the members: TCP with mutual TLS.
//!
//! ```text
//! member 1  ══ frames ══►  member 2        the connection that 1 dialled
//!           ◄══ frames ══                  the connection that 2 dialled
//! ```
//!
//! Every member dials all others, sends only on connections that it dialled and receives only on connections that it
//! accepted, so that nobody has to decide which of two connections counts. Two members are *connected* while both are
//! up, between the same two processes. When one ends, the other is closed as well, and both are made anew.
//!
//! The end of a process shows as the end of its connections: the kernel closes them without the goodbye of TLS, and
//! the others know within a round trip. A connection that is closed on purpose says goodbye first.
//!
//! Nothing here waits for a peer. What a peer does not take in time is dropped; the algorithms allow for that.

mod accept;
mod admit;
mod backoff;
mod complaints;
mod connection;
mod counts;
mod dial;
mod enrolled;
mod expiry;
mod greet;
mod homes;
mod inbound;
mod outbound;
mod participants;
mod queue;
mod record;
mod refusal;
mod resolve;
mod shared;
mod strangers;
mod table;

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::wire::FRAME_MAX;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::config::Peers;
use crate::links::{End, Links, NetEvent};
use crate::status::{Counters, Participant};
use crate::tls::{Identity, TlsConfigs, TlsError};
use queue::Room;
use shared::Shared;

/// At most this many events wait for the driver. When there is no room, connections are not read.
const EVENTS_MAX: usize = 1024;

/// Goodbyes take no longer.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(200);

/// The configuration of a transport.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The cluster's name.
    pub(crate) cluster: String,
    /// The id of this member.
    pub(crate) id: NodeId,
    /// Its incarnation at the start.
    pub(crate) incarnation: Incarnation,
    /// How the leader is chosen, in words. Members that disagree refuse each other.
    pub(crate) agreed: String,
    /// Where the others are.
    pub(crate) peers: Peers,
    /// Where to listen.
    pub(crate) listen: SocketAddr,
    /// The proof of who this is.
    pub(crate) identity: Identity,
}

/// How many file descriptors a transport needs to reach so many others, and how many it may have open beside those.
pub(crate) fn descriptors(others: usize) -> (usize, usize) {
    // It listens. With each there are a connection that was dialled and one that was accepted, and a third while one of them
    // is made anew.
    (1 + 3 * others, shared::SPARE_CONNECTIONS + 1)
}

/// Why a transport cannot start. Nothing is left behind.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// The identity cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The address cannot be had.
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: io::Error },
    /// There is no randomness.
    #[error("the system gives no random numbers")]
    Random,
}

/// The connections of one member. Its tasks end when it is dropped; [`Links::close`] says goodbye first.
#[derive(Debug)]
pub(crate) struct Transport {
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    /// Listening, dialling, and looking at the calendar; none once it is closed. Connections are tasks in these tasks' sets: they go with them.
    tasks: Mutex<Option<[JoinHandle<()>; 3]>>,
}

impl Transport {
    /// Listens and begins to dial. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// If the address cannot be had or the identity is not this member's.
    pub(crate) fn start(settings: Settings) -> Result<(Self, mpsc::Receiver<NetEvent>), StartError> {
        let address = settings.listen;
        let listener = TcpListener::bind(address);
        Self::start_on(listener.map_err(|source| StartError::Listen { address, source })?, settings)
    }

    /// The same with a listener that is there already.
    fn start_on(
        listener: TcpListener,
        settings: Settings,
    ) -> Result<(Self, mpsc::Receiver<NetEvent>), StartError> {
        let tls = TlsConfigs::new(&settings.identity, &settings.cluster, settings.id)?;
        if let Some(trouble) = &tls.trouble {
            tracing::warn!(%trouble, "peers will refuse this member's certificate");
        }
        let address = settings.listen;
        let (listener, local) =
            register(listener).map_err(|source| StartError::Listen { address, source })?;
        let (events, received) = mpsc::channel(EVENTS_MAX);
        let shared = Arc::new(Shared::new(settings, tls, local, events)?);
        let (stop, stopped) = watch::channel(false);
        let listening = tokio::spawn(accept::run(Arc::clone(&shared), listener, stopped.clone()));
        let warning = tokio::spawn(expiry::watch(shared.tls.subscribe(), stopped.clone()));
        let dialling = tokio::spawn(resolve::run(Arc::clone(&shared), stopped));
        Ok((Self { shared, stop, tasks: Mutex::new(Some([listening, dialling, warning])) }, received))
    }

    fn enqueue(
        &self,
        frame: Arc<[u8]>,
        each: impl FnOnce(&table::Table, &mut dyn FnMut(Option<&Arc<queue::Queue>>)),
    ) {
        debug_assert!(frame.len() <= FRAME_MAX, "a frame of {} bytes", frame.len());
        let fits = frame.len() <= FRAME_MAX;
        let mut put = |queue: Option<&Arc<queue::Queue>>| match queue.filter(|_| fits) {
            Some(queue) if queue.push(Arc::clone(&frame)) == Room::Enough => {}
            Some(_) | None => self.shared.counts.dropped.add(1),
        };
        each(&self.shared.table(), &mut put);
    }

    async fn say_goodbye(&self) {
        let _ = self.stop.send(true);
        self.shared.table().close();
        let Some(mut tasks) = self.take_tasks() else { return };
        let ended = async {
            for task in &mut tasks {
                let _ = task.await;
            }
        };
        let _ = timeout(CLOSE_TIMEOUT, ended).await;
        tasks.iter().for_each(JoinHandle::abort);
    }

    fn take_tasks(&self) -> Option<[JoinHandle<()>; 3]> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Links for Transport {
    fn local_addr(&self) -> SocketAddr {
        self.shared.local
    }

    fn send(&self, to: NodeId, frame: Arc<[u8]>) {
        self.enqueue(frame, |table, put| put(table.queue(to)));
    }

    fn broadcast(&self, frame: Arc<[u8]>) {
        self.enqueue(frame, |table, put| table.queues().for_each(put));
    }

    fn set_incarnation(&self, incarnation: Incarnation) {
        self.shared.incarnation.store(incarnation.0, Ordering::Relaxed);
    }

    fn members(&self) -> BTreeMap<NodeId, String> {
        match &self.shared.table().members {
            Peers::Listed(listed) => listed.clone(),
            Peers::Named(_) => BTreeMap::new(),
        }
    }

    fn enrol(&self, members: &BTreeMap<NodeId, String>) {
        if let Peers::Listed(listed) = &mut self.shared.table().members
            && listed != members
        {
            listed.clone_from(members);
            // Whoever dials follows the list, and tells the driver of ends in order with all else.
            self.shared.roster.notify_one();
        }
    }

    fn certificate_until(&self) -> Option<SystemTime> {
        self.shared.tls().until
    }

    fn renew(&self, identity: &Identity) -> Result<(), TlsError> {
        let tls = TlsConfigs::new(identity, &self.shared.cluster, self.shared.me)?;
        tls.check()?;
        self.shared.tls.send_replace(Arc::new(tls));
        // Whoever refused the old ones may take these.
        self.shared.table().wake_all();
        Ok(())
    }

    fn participants(&self) -> Vec<Participant> {
        participants::list(&self.shared)
    }

    fn counters(&self) -> Counters {
        self.shared.counts.counters()
    }

    /// Takes 200 ms at most.
    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.say_goodbye())
    }
}

impl Drop for Transport {
    fn drop(&mut self) {
        self.take_tasks().iter().flatten().for_each(JoinHandle::abort);
    }
}

fn register(listener: TcpListener) -> io::Result<(tokio::net::TcpListener, SocketAddr)> {
    listener.set_nonblocking(true)?;
    let local = listener.local_addr()?;
    Ok((tokio::net::TcpListener::from_std(listener)?, local))
}

#[cfg(test)]
mod tests;
