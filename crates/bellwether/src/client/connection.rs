//! A connection to an agent, which is moved by whoever waits for something that comes over it: it ends with what it was opened for, at
//! the same instant.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

/// What moves the bytes, until the other end closes the connection.
pub(super) struct Connection(Option<Pin<Box<dyn Future<Output = ()> + Send>>>);

impl Connection {
    /// A connection, and the way to ask over it.
    pub(super) async fn open<S>(stream: S) -> hyper::Result<(SendRequest<Full<Bytes>>, Self)>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        let moves = async {
            // Whoever waits for an answer is told of an error, too.
            let _ = connection.await;
        };
        Ok((sender, Self(Some(Box::pin(moves)))))
    }

    /// Moves the bytes until that is done.
    pub(super) async fn beside<T>(&mut self, what: impl Future<Output = T>) -> T {
        tokio::pin!(what);
        if let Some(moves) = &mut self.0 {
            tokio::select! {
                done = &mut what => return done,
                () = moves => self.0 = None,
            }
        }
        // All that will ever come is there.
        what.await
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Connection").field(&self.0.is_some()).finish()
    }
}
