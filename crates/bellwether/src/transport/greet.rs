//! Reaching a peer, and checking that it is the right one.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use bellwether_proto::ident::{Incarnation, NodeId};
use rustls::AlertDescription;
use rustls::pki_types::CertificateDer;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::connection::{HANDSHAKE_TIMEOUT, prepare, say_goodbye, write};
use super::dial::Place;
use super::record::{self, CONTROL_MAX, ReadError, Reason, Record, Refused, Welcome};
use super::refusal::insecure;
use super::shared::Shared;
use super::table::Process;
use crate::tls::TlsError;

/// No more addresses of one name are tried in a row.
const ADDRESSES_MAX: usize = 16;

/// A peer that has welcomed us.
pub(super) struct Welcomed {
    pub(super) stream: TlsStream<TcpStream>,
    pub(super) process: Process,
    /// To be kept until the connection has its place.
    pub(super) greeting: Option<Greeting>,
}

/// While this exists, no other dial greets that peer.
pub(super) struct Greeting {
    shared: Arc<Shared>,
    id: NodeId,
}

impl Greeting {
    fn begin(shared: &Arc<Shared>, id: NodeId) -> Option<Self> {
        let begun = shared.table().begin_greeting(id);
        begun.then(|| Self { shared: Arc::clone(shared), id })
    }
}

impl Drop for Greeting {
    fn drop(&mut self) {
        self.shared.table().end_greeting(self.id);
    }
}

/// Why there is no connection. Nothing is left of the attempt.
#[derive(Debug, thiserror::Error)]
pub(super) enum DialError {
    #[error("the name {name} cannot be resolved: {source}")]
    Resolve { name: String, source: io::Error },
    #[error("the name {name} has no address")]
    NoAddress { name: String },
    #[error("{address} cannot be reached: {source}")]
    Connect { address: SocketAddr, source: io::Error },
    #[error("no secure connection with {address}: {source}")]
    Tls { address: SocketAddr, source: io::Error },
    #[error("this member refuses the certificate at {address}: {problem}")]
    Untrusted { address: SocketAddr, problem: String },
    #[error("{address} refuses a secure connection with this member: {alert:?}")]
    Distrusted { address: SocketAddr, alert: AlertDescription },
    #[error("{address} gives no proper answer: {source}")]
    Answer { address: SocketAddr, source: ReadError },
    #[error("{address} does not answer in time")]
    Slow { address: SocketAddr },
    #[error("{address}: {source}")]
    Certificate { address: SocketAddr, source: TlsError },
    #[error("{address} is not node {expected}: {source}")]
    Another { address: SocketAddr, expected: NodeId, source: TlsError },
    #[error("node {by} at {address} refuses ({reason:?}): {text}")]
    Refused { address: SocketAddr, by: NodeId, reason: Reason, text: String },
    #[error("{address} claims to be node {id}, which is a live process at {at}")]
    Duplicate { address: SocketAddr, id: NodeId, at: SocketAddr },
    #[error("node {id} is connected through another address")]
    Spare { id: NodeId },
    #[error("there is no room for node {id}")]
    Full { id: NodeId },
}

impl DialError {
    /// Who was there, if that is certain.
    pub(super) fn id(&self) -> Option<NodeId> {
        match self {
            Self::Refused { by, .. } => Some(*by),
            Self::Duplicate { id, .. } | Self::Spare { id } | Self::Full { id } => Some(*id),
            Self::Resolve { .. }
            | Self::NoAddress { .. }
            | Self::Connect { .. }
            | Self::Tls { .. }
            | Self::Untrusted { .. }
            | Self::Distrusted { .. }
            | Self::Answer { .. }
            | Self::Slow { .. }
            | Self::Certificate { .. }
            | Self::Another { .. } => None,
        }
    }

    /// Whether somebody of the cluster is there: another address of the name would not be better.
    fn is_final(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::Spare { .. })
    }
}

/// Connects with the member that should be there.
///
/// # Errors
/// Of several addresses, the error of the last; a refusal counts more than silence.
pub(super) async fn connect(shared: &Arc<Shared>, place: &Place) -> Result<Welcomed, DialError> {
    let (addresses, name) = match place {
        Place::Address(address) => (vec![*address], address.to_string()),
        Place::Member(_, name) => (resolve(name).await?, name.clone()),
    };
    shared.homes().dialled(place, &addresses[..addresses.len().min(ADDRESSES_MAX)]);
    let mut result = Err(DialError::NoAddress { name });
    for address in addresses.into_iter().take(ADDRESSES_MAX) {
        let greeted = timeout(HANDSHAKE_TIMEOUT, greet(shared, place, address)).await;
        let greeted = greeted.unwrap_or(Err(DialError::Slow { address }));
        result = match (result, greeted) {
            (Err(before), Err(error)) if before.is_refusal() && !error.is_refusal() => Err(before),
            (_, greeted) => greeted,
        };
        if result.as_ref().err().is_none_or(DialError::is_final) {
            break;
        }
    }
    result
}

/// The addresses that a name has now.
async fn resolve(name: &str) -> Result<Vec<SocketAddr>, DialError> {
    let failed = |source| DialError::Resolve { name: name.to_owned(), source };
    let found = timeout(HANDSHAKE_TIMEOUT, lookup_host(name)).await;
    let found = found.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    Ok(found.map_err(failed)?.collect())
}

async fn greet(shared: &Arc<Shared>, place: &Place, address: SocketAddr) -> Result<Welcomed, DialError> {
    let connected = TcpStream::connect(address).await.and_then(|stream| prepare(&stream).map(|()| stream));
    let stream = connected.map_err(|source| DialError::Connect { address, source })?;
    let failed = |source| insecure(address, source);
    let tls = shared.tls();
    let connector = TlsConnector::from(Arc::clone(&tls.client));
    let mut stream = connector.connect(tls.server_name.clone(), stream).await.map_err(failed)?;
    let greeting = match begin(shared, place, address, stream.get_ref().1.peer_certificates()) {
        Ok(greeting) => greeting,
        Err(error) => {
            say_goodbye(stream).await;
            return Err(error);
        }
    };
    // Whoever refuses our certificate hangs up. That may be before we have spoken, but what it said is there to be read.
    let _ = write(&mut stream, &Record::Hello(shared.hello())).await;
    let mut bytes = Vec::new();
    let answer = record::read(&mut stream, CONTROL_MAX, &mut bytes).await;
    let shown = stream.get_ref().1.peer_certificates();
    let certificate = |source| DialError::Certificate { address, source };
    match answer {
        Ok(Record::Welcome(Welcome { id, incarnation, instance })) if incarnation <= Incarnation::MAX => {
            shared.verify(shown, id).map_err(certificate)?;
            expect(shared, place, address, id)?;
            let process = Process { id, instance, incarnation, address };
            Ok(Welcomed { stream, process, greeting })
        }
        Ok(Record::Refused(Refused { by, reason, text })) => {
            shared.verify(shown, by).map_err(certificate)?;
            Err(DialError::Refused { address, by, reason, text: text.to_owned() })
        }
        Ok(_) => Err(DialError::Answer { address, source: ReadError::Malformed }),
        Err(ReadError::Broken(source)) => match failed(source) {
            DialError::Tls { source, .. } => {
                Err(DialError::Answer { address, source: ReadError::Broken(source) })
            }
            refusal => Err(refusal),
        },
        Err(source) => Err(DialError::Answer { address, source }),
    }
}

/// Whether to greet. A greeting replaces an earlier one, so it must go neither to the wrong member nor to one that is
/// being greeted at another of its addresses. The certificate says who is there.
fn begin(
    shared: &Arc<Shared>,
    place: &Place,
    address: SocketAddr,
    shown: Option<&[CertificateDer<'_>]>,
) -> Result<Option<Greeting>, DialError> {
    if let Place::Member(expected, _) = *place {
        let verified = shared.verify(shown, expected);
        return verified.map(|()| None).map_err(|source| DialError::Another { address, expected, source });
    }
    match shared.holder(shown).filter(|id| *id != shared.me) {
        Some(id) => Greeting::begin(shared, id).map(Some).ok_or(DialError::Spare { id }),
        None => Ok(None),
    }
}

/// A certificate may carry several names; the id in the peer's welcome counts.
fn expect(shared: &Shared, place: &Place, address: SocketAddr, found: NodeId) -> Result<(), DialError> {
    match *place {
        Place::Member(expected, _) if found != expected => {
            let source = TlsError::NotOurs { cluster: shared.cluster.clone(), id: expected };
            Err(DialError::Another { address, expected, source })
        }
        // It would be a duplicate of us that has not noticed.
        Place::Address(_) if found == shared.me => {
            Err(DialError::Duplicate { address, id: found, at: shared.local })
        }
        Place::Member(..) | Place::Address(_) => Ok(()),
    }
}
