//! What dialled and accepted connections have in common.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use rustls::CommonState;
use rustls::pki_types::CertificateDer;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::End;
use super::record::{self, Record};

/// TCP, TLS and the greeting together take no longer.
pub(super) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(3);

/// A peer that takes no bytes for this long is given up.
pub(super) const STUCK_TIMEOUT: Duration = Duration::from_secs(5);

/// Saying goodbye takes no longer.
const FAREWELL_TIMEOUT: Duration = Duration::from_millis(100);

/// How a connection came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    /// The other side ended it.
    Ended(End),
    /// It is not wanted any more.
    Released,
    /// The other side sent what it must not.
    Misbehaved,
}

impl Over {
    /// What the end of the connection says about the peer.
    pub(super) fn how(self) -> End {
        match self {
            Self::Ended(how) => how,
            Self::Released | Self::Misbehaved => End::Goodbye,
        }
    }
}

/// Keeps a connection, or the dialling of an address, going. Dropping it ends that.
#[derive(Debug)]
pub(super) struct Leash {
    held: oneshot::Sender<Infallible>,
}

impl Leash {
    /// Whether the other end is still there.
    pub(super) fn is_held(&self) -> bool {
        !self.held.is_closed()
    }
}

/// The other end of a [`Leash`].
#[derive(Debug)]
pub(super) struct Held(oneshot::Receiver<Infallible>);

pub(super) fn leash() -> (Leash, Held) {
    let (sender, receiver) = oneshot::channel();
    (Leash { held: sender }, Held(receiver))
}

impl Held {
    /// Waits until the leash has been dropped.
    pub(super) async fn released(&mut self) {
        let _ = (&mut self.0).await;
    }
}

/// Frames are small and urgent, so they are sent at once. A machine without power answers nothing, so silence must end the
/// connection by itself.
pub(super) fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    #[cfg(target_os = "linux")]
    {
        socket.set_tcp_user_timeout(Some(STUCK_TIMEOUT))?;
        // Frames are few, so a lost one is sent again when its time is up. It does not double with every loss.
        socket.set_tcp_thin_linear_timeouts(true)?;
        // Where BBR is the default, it would double all the same. Reno is everywhere; who must not choose it goes without.
        let _ = socket.set_tcp_congestion(b"reno");
    }
    socket.set_tcp_keepalive(
        &TcpKeepalive::new().with_time(STUCK_TIMEOUT).with_interval(Duration::from_secs(1)),
    )
}

/// The certificates that the other side has shown.
pub(super) fn shown_by(connection: &CommonState) -> Vec<CertificateDer<'static>> {
    connection
        .peer_certificates()
        .unwrap_or_default()
        .iter()
        .cloned()
        .map(CertificateDer::into_owned)
        .collect()
}

pub(super) async fn write<W: AsyncWrite + Unpin>(stream: &mut W, record: &Record<'_>) -> io::Result<()> {
    let mut bytes = Vec::new();
    record::append(record, &mut bytes);
    write_bytes(stream, &bytes).await
}

pub(super) async fn write_bytes<W: AsyncWrite + Unpin>(stream: &mut W, bytes: &[u8]) -> io::Result<()> {
    let written = async {
        stream.write_all(bytes).await?;
        stream.flush().await
    };
    timeout(STUCK_TIMEOUT, written).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// Closes the connection on purpose: says goodbye, and waits until the other side has heard it. If bytes were left
/// unread, the kernel would reset the connection, which looks like a crash.
pub(super) async fn say_goodbye<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S) {
    let farewell = async {
        stream.shutdown().await?;
        let mut unread = [0; 1024];
        while stream.read(&mut unread).await? > 0 {}
        io::Result::Ok(())
    };
    let _ = timeout(FAREWELL_TIMEOUT, farewell).await;
}
