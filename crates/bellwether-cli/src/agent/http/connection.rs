//! A limited number of connections that cannot be used up. A connection that neither asks nor takes its answer is
//! closed. When one more comes than there is room for, the one that is missed least is closed (`seat.rs`). So a crowd of
//! silent clients keeps nobody out, least of all health checks, and throws no watcher out.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, Request};
use axum::http::Extensions;
use axum::middleware::Next;
use axum::response::Response;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::{Instant, Sleep, sleep, timeout};

use super::opening::Opening;
use super::seat::{Seat, Serving};
use crate::agent::descriptors::Clients;

/// How long a client may take to ask, and to take its answer. No answer takes that long.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long to wait when the kernel cannot accept, for lack of file descriptors mostly.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);
/// How long one that is sent away may take to go, before another is sent away.
const LEAVES: Duration = Duration::from_millis(100);

/// Accepts connections, and knows those that it has accepted.
#[derive(Debug)]
pub(super) struct Connections {
    listener: TcpListener,
    began: Instant,
    places: Vec<Place>,
    /// What is left of the room. A connection has its share until it is closed.
    room: Arc<Semaphore>,
}

/// The place of a connection. It is lost when this goes.
#[derive(Debug)]
struct Place {
    keep: oneshot::Sender<Infallible>,
    seat: Arc<Seat>,
}

impl Connections {
    pub(super) fn new(listener: TcpListener, clients: Clients) -> Self {
        let room = Arc::new(Semaphore::new(clients.max()));
        Self { listener, began: Instant::now(), places: Vec::new(), room }
    }

    /// The place of one more.
    fn take(&mut self, stream: TcpStream, room: OwnedSemaphorePermit) -> Connection {
        let (keep, kept) = oneshot::channel();
        let connection = Connection::new(stream, Seat::new(self.began), kept, room);
        self.places.push(Place { keep, seat: Arc::clone(&connection.seat) });
        connection
    }

    /// Room for one more. If there is none, somebody is sent away and waited for: one file descriptor too many is one that the
    /// member has not.
    async fn make_room(&mut self) -> OwnedSemaphorePermit {
        loop {
            self.places.retain(|place| !place.keep.is_closed());
            if let Ok(room) = Arc::clone(&self.room).try_acquire_owned() {
                return room;
            }
            self.send_one_away();
            if let Ok(Ok(room)) = timeout(LEAVES, Arc::clone(&self.room).acquire_owned()).await {
                return room;
            }
        }
    }

    /// Closes the one that is missed least.
    fn send_one_away(&mut self) {
        let places = self.places.iter().enumerate();
        if let Some((least, _)) = places.min_by_key(|(_, place)| place.seat.merit()) {
            self.places.swap_remove(least);
        }
    }
}

impl Listener for Connections {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok((stream, from)) => {
                    // Answers are small, and a watcher waits for them.
                    let _ = stream.set_nodelay(true);
                    let room = self.make_room().await;
                    return (self.take(stream, room), from);
                }
                Err(error) if is_of_one_client(&error) => {}
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a client of the API; trying again");
                    self.send_one_away();
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// Who asks.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) address: SocketAddr,
    seat: Arc<Seat>,
}

impl Client {
    /// The client of a request, if it is known.
    pub(super) fn of(request: &Extensions) -> Option<&Self> {
        request.get::<ConnectInfo<Self>>().map(|ConnectInfo(client)| client)
    }

    /// Its request is being answered while the returned value exists.
    pub(super) fn serve(&self) -> Serving {
        self.seat.serve()
    }
}

/// Whoever is being answered keeps its place.
pub(super) async fn keep_place(request: Request, next: Next) -> Response {
    let _serving = Client::of(request.extensions()).map(Client::serve);
    next.run(request).await
}

impl Connected<IncomingStream<'_, Connections>> for Client {
    fn connect_info(stream: IncomingStream<'_, Connections>) -> Self {
        Self { address: *stream.remote_addr(), seat: Arc::clone(&stream.io().seat) }
    }
}

fn is_of_one_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// A client's connection. Only writing counts as progress: a request that trickles in is cut off like one that never
/// comes.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    opening: Opening,
    /// When patience ends, unless something is written before.
    limit: Pin<Box<Sleep>>,
    seat: Arc<Seat>,
    /// Ends when the place is needed; `None` after that.
    kept: Option<oneshot::Receiver<Infallible>>,
    _room: OwnedSemaphorePermit,
}

impl Connection {
    fn new(
        stream: TcpStream,
        seat: Arc<Seat>,
        kept: oneshot::Receiver<Infallible>,
        room: OwnedSemaphorePermit,
    ) -> Self {
        let limit = Box::pin(sleep(PATIENCE));
        Self { stream, opening: Opening::new(), limit, seat, kept: Some(kept), _room: room }
    }

    /// The result of an operation that is not ready: pending, or an error if it has waited too long.
    fn wait<T>(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        self.kept.take_if(|kept| Pin::new(kept).poll(cx).is_ready());
        if self.kept.is_none() || self.limit.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Poll::Pending
    }

    /// Tells the client that it speaks another language. What is read then is the end.
    fn refuse(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.opening.poll_refuse(&mut self.stream, cx) {
            Poll::Ready(told) => Poll::Ready(told),
            Poll::Pending => self.wait(cx),
        }
    }

    fn progress(&mut self) {
        self.limit.as_mut().reset(Instant::now() + PATIENCE);
        self.seat.note();
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.opening.is_refused() {
            return self.refuse(cx);
        }
        let before = buf.filled().len();
        match Pin::new(&mut self.stream).poll_read(cx, buf) {
            Poll::Ready(Ok(())) if self.opening.hear(&buf.filled()[before..]) => {
                buf.set_filled(before);
                self.refuse(cx)
            }
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
