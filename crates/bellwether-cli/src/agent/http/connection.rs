//! A limited number of connections that cannot be used up. A connection that neither asks nor takes its answer is
//! closed. When one more comes than there is room for, the one that is missed least is closed (`seat.rs`). So a crowd of
//! silent clients keeps nobody out, least of all health checks, and throws no watcher out.

use std::convert::Infallible;
use std::future::Future;
use std::io;
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
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::{Instant, Sleep, sleep, timeout};

use super::door::{Door, Peer};
use super::error::Problem;
use super::opening::Opening;
use super::seat::{Seat, Serving};
use crate::agent::descriptors::Clients;
use crate::agent::sessions::Caller;

/// How long a client may take to ask, and to take its answer. No answer takes that long.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long to wait when the kernel cannot accept, for lack of file descriptors mostly.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);
/// How long one that is sent away may take to go, before another is sent away.
const LEAVES: Duration = Duration::from_millis(100);

/// Accepts connections, and knows those that it has accepted.
#[derive(Debug)]
pub(super) struct Connections<D> {
    door: D,
    began: Instant,
    places: Vec<Place>,
    /// What is left of the room. A connection has its share until it is closed.
    room: Arc<Semaphore>,
    streams: Arc<Streams>,
}

/// How many streams there may be.
#[derive(Debug)]
struct Streams {
    most: usize,
    left: Arc<Semaphore>,
}

/// The place of a connection. It is lost when this goes.
#[derive(Debug)]
struct Place {
    keep: oneshot::Sender<Infallible>,
    seat: Arc<Seat>,
}

impl<D: Door> Connections<D> {
    pub(super) fn new(door: D, clients: Clients) -> Self {
        let room = Arc::new(Semaphore::new(clients.max()));
        let most = clients.watchers_max();
        let streams = Arc::new(Streams { most, left: Arc::new(Semaphore::new(most)) });
        Self { door, began: Instant::now(), places: Vec::new(), room, streams }
    }

    /// The place of one more.
    fn take(&mut self, stream: D::Stream, room: OwnedSemaphorePermit) -> Connection<D::Stream> {
        let (keep, kept) = oneshot::channel();
        let hold = Hold { kept: Some(kept), streams: Arc::clone(&self.streams), _room: room };
        let connection = Connection::new(stream, Seat::new(self.began), hold);
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

impl<D: Door> Listener for Connections<D> {
    type Io = Connection<D::Stream>;
    type Addr = Peer;

    async fn accept(&mut self) -> (Connection<D::Stream>, Peer) {
        loop {
            match self.door.accept().await {
                Ok((stream, from)) => {
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

    /// Nobody asks: whoever made the door knows.
    fn local_addr(&self) -> io::Result<Peer> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Who asks.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) peer: Peer,
    pub(super) seat: Arc<Seat>,
    streams: Arc<Streams>,
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

    /// A place among those who have streams. Its request is being answered while the returned value exists.
    pub(super) fn watch(&self) -> Result<Watching, Problem> {
        let place = Arc::clone(&self.streams.left).try_acquire_owned();
        let place = place.map_err(|_| {
            Problem::unavailable(format!("{} are watching, which is the most", self.streams.most))
        })?;
        Ok(Watching { _place: place, _serving: self.serve() })
    }

    /// The process that asks, if it came through the socket.
    pub(super) fn caller(&self) -> Option<&Caller> {
        match &self.peer {
            Peer::Local(caller) => Some(caller),
            Peer::Remote(_) => None,
        }
    }
}

/// Somebody who has a stream.
#[derive(Debug)]
pub(super) struct Watching {
    _place: OwnedSemaphorePermit,
    _serving: Serving,
}

/// Whoever is being answered keeps its place.
pub(super) async fn keep_place(request: Request, next: Next) -> Response {
    let _serving = Client::of(request.extensions()).map(Client::serve);
    next.run(request).await
}

impl<D: Door> Connected<IncomingStream<'_, Connections<D>>> for Client {
    fn connect_info(stream: IncomingStream<'_, Connections<D>>) -> Self {
        let connection = stream.io();
        let (seat, streams) = (Arc::clone(&connection.seat), Arc::clone(&connection.hold.streams));
        Self { peer: stream.remote_addr().clone(), seat, streams }
    }
}

fn is_of_one_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// A client's connection. Only writing counts as progress: a request that trickles in is cut off like one that never
/// comes.
#[derive(Debug)]
pub(super) struct Connection<S> {
    stream: S,
    opening: Opening,
    /// When patience ends, unless something is written before.
    limit: Pin<Box<Sleep>>,
    seat: Arc<Seat>,
    hold: Hold,
}

/// What a connection has of the room.
#[derive(Debug)]
struct Hold {
    /// Ends when the place is needed; `None` after that.
    kept: Option<oneshot::Receiver<Infallible>>,
    streams: Arc<Streams>,
    _room: OwnedSemaphorePermit,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    fn new(stream: S, seat: Arc<Seat>, hold: Hold) -> Self {
        let limit = Box::pin(sleep(PATIENCE));
        Self { stream, opening: Opening::new(), limit, seat, hold }
    }

    /// The result of an operation that is not ready: pending, or an error if it has waited too long.
    fn wait<T>(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        self.hold.kept.take_if(|kept| Pin::new(kept).poll(cx).is_ready());
        if self.hold.kept.is_none() || self.limit.as_mut().poll(cx).is_ready() {
            self.seat.send_away();
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
        self.seat.block(false);
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Connection<S> {
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

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write(cx, buf) {
            Poll::Ready(written) => {
                self.progress();
                Poll::Ready(written)
            }
            Poll::Pending => {
                self.seat.block(true);
                self.wait(cx)
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
