//! Dialling one address for as long as somebody may be there.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bellwether_proto::ident::NodeId;
use tokio::net::{TcpStream, lookup_host};
use tokio::sync::{Notify, watch};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::NetEvent;
use super::admit::NoPlace;
use super::backoff::Backoff;
use super::connection::{HANDSHAKE_TIMEOUT, Held, prepare, say_goodbye, write};
use super::outbound;
use super::record::{self, CONTROL_MAX, ReadError, Reason, Record, Refused, Welcome};
use super::shared::Shared;
use super::table::{Dial, DialState, Process};
use crate::tls::TlsError;

/// A connection that lived that long was a good one.
const GOOD: Duration = Duration::from_secs(5);

/// An address where nobody else is, or nobody new, is tried again after that time.
const IDLE: Duration = Duration::from_secs(5);

/// No more addresses of one name are tried in a row.
const ADDRESSES_MAX: usize = 16;

/// Where to dial.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// This member, at the addresses that the name has at the time.
    Member(NodeId, String),
    /// Whoever is at this address.
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

/// A peer that has welcomed us.
struct Welcomed {
    stream: TlsStream<TcpStream>,
    process: Process,
}

#[derive(Debug, thiserror::Error)]
enum DialError {
    #[error("the name {name} cannot be resolved: {source}")]
    Resolve { name: String, source: io::Error },
    #[error("the name {name} has no address")]
    NoAddress { name: String },
    #[error("{address} cannot be reached: {source}")]
    Connect { address: SocketAddr, source: io::Error },
    #[error("no secure connection with {address}: {source}")]
    Tls { address: SocketAddr, source: io::Error },
    #[error("{address} gives no proper answer: {source}")]
    Answer { address: SocketAddr, source: ReadError },
    #[error("{address} does not answer in time")]
    Slow { address: SocketAddr },
    #[error("{address}: {source}")]
    Certificate { address: SocketAddr, source: TlsError },
    #[error("{address} is node {found}, not node {expected}")]
    Another { address: SocketAddr, found: NodeId, expected: NodeId },
    #[error("node {by} at {address} refuses ({reason:?}): {text}")]
    Refused { address: SocketAddr, by: NodeId, reason: Reason, text: String },
    #[error("{address} claims to be node {id}, which is a live process at {at}")]
    Duplicate { address: SocketAddr, id: NodeId, at: SocketAddr },
    #[error("there is no room for node {id}")]
    Full { id: NodeId },
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
        Self { shared: Arc::clone(shared), no, place, wake, backoff: Backoff::new(shared.seed(no)) }
    }

    /// The number of this dial in the table.
    pub(super) fn no(&self) -> u64 {
        self.no
    }

    /// Dials again and again, until the transport stops or the address is let go.
    pub(super) async fn run(mut self, mut stop: watch::Receiver<bool>, mut held: Held) {
        loop {
            let welcomed = tokio::select! {
                welcomed = self.connect() => welcomed,
                () = stopped(&mut stop) => break,
                () = held.released() => break,
            };
            // A connection is not cut off from here: the table lets it go.
            let next = match welcomed {
                Ok(welcomed) => self.keep(welcomed).await,
                Err(error) => self.failed(error).await,
            };
            tokio::select! {
                () = self.wait(next) => {}
                () = stopped(&mut stop) => break,
                () = held.released() => break,
            }
        }
        self.shared.table().dials.remove(&self.no);
    }

    /// Runs the connection until it is over.
    async fn keep(&mut self, welcomed: Welcomed) -> Next {
        let Welcomed { stream, process } = welcomed;
        let Process { id, address, .. } = process;
        match self.shared.admit_outward(process).await {
            Ok(place) => {
                self.set(Some(id), DialState::Up);
                let since = Instant::now();
                outbound::run(&self.shared, process, stream, place).await;
                self.set(Some(id), DialState::Down("the connection ended".to_owned()));
                if since.elapsed() >= GOOD {
                    self.backoff.reset();
                }
                Next::After(self.backoff.wait())
            }
            Err(NoPlace::Spare) => {
                self.set(Some(id), DialState::Spare);
                say_goodbye(stream).await;
                Next::Without(id)
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
            self.set(id, DialState::Ourselves);
            return match self.place {
                Place::Address(_) => Next::Never,
                // The name may yet get the right address.
                Place::Member(..) => Next::After(IDLE),
            };
        }
        self.set(id, DialState::Down(error.to_string()));
        if let DialError::Refused { reason: Reason::InUse, by, text, .. } = error {
            self.shared.tell(NetEvent::IdInUse { by, at: text }).await;
        }
        Next::After(self.backoff.wait())
    }

    async fn wait(&mut self, next: Next) {
        match next {
            Next::After(wait) => {
                if timeout(wait, self.wake.notified()).await.is_ok() {
                    self.backoff.reset();
                }
            }
            Next::Without(id) => {
                while self.shared.table().is_connected_to(id) {
                    let _ = timeout(IDLE, self.wake.notified()).await;
                }
            }
            Next::Never => std::future::pending().await,
        }
    }

    /// A dial for a listed member stays that member's, whoever answers.
    fn set(&self, found: Option<NodeId>, state: DialState) {
        if let Some(dial) = self.shared.table().dials.get_mut(&self.no) {
            dial.state = state;
            if let Place::Address(_) = self.place {
                dial.id = found.or(dial.id);
            }
        }
    }

    async fn connect(&self) -> Result<Welcomed, DialError> {
        let (addresses, name) = match &self.place {
            Place::Address(address) => (vec![*address], address.to_string()),
            Place::Member(_, name) => (resolve(name).await?, name.clone()),
        };
        let mut result = Err(DialError::NoAddress { name });
        for address in addresses.into_iter().take(ADDRESSES_MAX) {
            let greeted = timeout(HANDSHAKE_TIMEOUT, self.greet(address)).await;
            result = greeted.unwrap_or(Err(DialError::Slow { address }));
            if result.is_ok() {
                break;
            }
        }
        result
    }

    async fn greet(&self, address: SocketAddr) -> Result<Welcomed, DialError> {
        let (shared, tls) = (&self.shared, &self.shared.tls);
        let connected =
            TcpStream::connect(address).await.and_then(|stream| prepare(&stream).map(|()| stream));
        let stream = connected.map_err(|source| DialError::Connect { address, source })?;
        let failed = |source| DialError::Tls { address, source };
        let connector = TlsConnector::from(Arc::clone(&tls.client));
        let mut stream = connector.connect(tls.server_name.clone(), stream).await.map_err(failed)?;
        write(&mut stream, &Record::Hello(shared.hello())).await.map_err(failed)?;
        let mut bytes = Vec::new();
        let answer = record::read(&mut stream, CONTROL_MAX, &mut bytes).await;
        let shown = stream.get_ref().1.peer_certificates();
        let certificate = |source| DialError::Certificate { address, source };
        match answer {
            Ok(Record::Welcome(Welcome { id, incarnation, instance })) => {
                shared.verify(shown, id).map_err(certificate)?;
                self.expects(id, address)?;
                Ok(Welcomed { stream, process: Process { id, instance, incarnation, address } })
            }
            Ok(Record::Refused(Refused { by, reason, text })) => {
                shared.verify(shown, by).map_err(certificate)?;
                Err(DialError::Refused { address, by, reason, text: text.to_owned() })
            }
            Ok(_) => Err(DialError::Answer { address, source: ReadError::Malformed }),
            Err(source) => Err(DialError::Answer { address, source }),
        }
    }

    /// Nobody with our own id welcomes us: it would be a duplicate that has not noticed.
    fn expects(&self, found: NodeId, address: SocketAddr) -> Result<(), DialError> {
        match self.place {
            Place::Member(expected, _) if found != expected => {
                Err(DialError::Another { address, found, expected })
            }
            Place::Address(_) if found == self.shared.me => {
                Err(DialError::Duplicate { address, id: found, at: self.shared.local })
            }
            Place::Member(..) | Place::Address(_) => Ok(()),
        }
    }
}

impl DialError {
    /// Who was there, if that is certain.
    fn id(&self) -> Option<NodeId> {
        match self {
            Self::Refused { by, .. } => Some(*by),
            Self::Duplicate { id, .. } | Self::Full { id } => Some(*id),
            Self::Resolve { .. }
            | Self::NoAddress { .. }
            | Self::Connect { .. }
            | Self::Tls { .. }
            | Self::Answer { .. }
            | Self::Slow { .. }
            | Self::Certificate { .. }
            | Self::Another { .. } => None,
        }
    }
}

/// The addresses that a name has now.
async fn resolve(name: &str) -> Result<Vec<SocketAddr>, DialError> {
    let failed = |source| DialError::Resolve { name: name.to_owned(), source };
    let found = timeout(HANDSHAKE_TIMEOUT, lookup_host(name)).await;
    let found = found.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    Ok(found.map_err(failed)?.collect())
}

/// Waits until the transport stops.
pub(super) async fn stopped(stop: &mut watch::Receiver<bool>) {
    // An error means that the transport is gone altogether.
    let _ = stop.wait_for(|stop| *stop).await;
}
