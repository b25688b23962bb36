//! The doors of the API: a port, and a Unix socket.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

use crate::agent::sessions::Caller;

/// How much the kernel keeps of what a program does not read. With more it would take minutes until it is noticed that a program is
/// stopped.
const UNREAD: usize = 8 * 1024;
/// After how long a client is lost that does not even say that something has arrived: its machine is gone, for instance.
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

/// Where clients come in.
pub(super) trait Door: Send + 'static {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// The next client.
    fn accept(&mut self) -> impl Future<Output = io::Result<(Self::Stream, Peer)>> + Send;
}

/// Who has come in.
#[derive(Clone, Debug)]
pub(super) enum Peer {
    /// Through the port, from there.
    Remote(SocketAddr),
    /// Through the socket. The permissions of the file let it in.
    Local(Caller),
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Remote(address) => address.fmt(f),
            Self::Local(Caller { pid: Some(pid), .. }) => write!(f, "process {pid}"),
            Self::Local(_) => f.write_str("a process of another container"),
        }
    }
}

impl Door for TcpListener {
    type Stream = TcpStream;

    async fn accept(&mut self) -> io::Result<(TcpStream, Peer)> {
        let (stream, from) = Self::accept(self).await?;
        // Answers are small, and a watcher waits for them.
        let _ = stream.set_nodelay(true);
        lose_silent(&stream);
        Ok((stream, Peer::Remote(from)))
    }
}

impl Door for UnixListener {
    type Stream = UnixStream;

    async fn accept(&mut self) -> io::Result<(UnixStream, Peer)> {
        let (stream, _) = Self::accept(self).await?;
        let _ = SockRef::from(&stream).set_send_buffer_size(UNREAD);
        let caller = Caller::of(&stream).map_err(|_| io::ErrorKind::ConnectionAborted)?;
        Ok((stream, Peer::Local(caller)))
    }
}

#[cfg(target_os = "linux")]
fn lose_silent(stream: &TcpStream) {
    let _ = SockRef::from(stream).set_tcp_user_timeout(Some(UNACKNOWLEDGED));
}

/// Elsewhere the system decides.
#[cfg(not(target_os = "linux"))]
fn lose_silent(_: &TcpStream) {}
