//! Connections that cannot be used up: there are only so many, and one that neither asks nor takes its answer is closed.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};

/// How many clients are served at once; the others wait in the kernel's queue.
const CONNECTIONS_MAX: usize = 512;
/// How long a client may take to ask, and how long to take what it is sent. Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long to wait when the kernel cannot accept, for lack of file descriptors mostly.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);

/// Accepts connections while there is room.
#[derive(Debug)]
pub(super) struct Connections {
    listener: TcpListener,
    room: Arc<Semaphore>,
}

impl Connections {
    pub(super) fn new(listener: TcpListener) -> Self {
        Self { listener, room: Arc::new(Semaphore::new(CONNECTIONS_MAX)) }
    }
}

impl Listener for Connections {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let place = Arc::clone(&self.room).acquire_owned().await.expect("the room is never closed");
        loop {
            match self.listener.accept().await {
                Ok((stream, from)) => {
                    // Answers are small, and a watcher waits for them.
                    let _ = stream.set_nodelay(true);
                    return (Connection::new(stream, place), from);
                }
                Err(error) if is_of_one_client(&error) => {}
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a client of the API; trying again");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

fn is_of_one_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// A client's connection. Progress is what is written: a request that trickles in is cut off like one that never comes.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    /// When patience ends, unless something is written before.
    limit: Pin<Box<Sleep>>,
    _place: OwnedSemaphorePermit,
}

impl Connection {
    fn new(stream: TcpStream, place: OwnedSemaphorePermit) -> Self {
        Self { stream, limit: Box::pin(sleep(PATIENCE)), _place: place }
    }

    /// What an operation gives that is not ready: nothing yet, or an end to patience.
    fn wait<T>(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        match self.limit.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }

    fn progress(&mut self) {
        self.limit.as_mut().reset(Instant::now() + PATIENCE);
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_read(cx, buf) {
            Poll::Ready(read) => Poll::Ready(read),
            Poll::Pending => self.wait(cx),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write(cx, buf) {
            Poll::Ready(written) => {
                self.progress();
                Poll::Ready(written)
            }
            Poll::Pending => self.wait(cx),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
