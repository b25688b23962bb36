//! A connection to another worker, made when it is needed.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::frames;
use crate::wire::{Answer, Request, Secret};

/// How long an answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

/// To one worker.
#[derive(Debug)]
pub(crate) struct Connection {
    address: SocketAddr,
    secret: Secret,
    /// The stream, between two questions. While a question is open the asker has it; if the asker is dropped,
    /// the stream is gone.
    stream: Option<TcpStream>,
}

impl Connection {
    pub(crate) fn new(address: SocketAddr, secret: Secret) -> Self {
        Self { address, secret, stream: None }
    }

    /// Asks, and waits for the answer. A connection that the other end has left is made anew once: it may have started
    /// again meanwhile. Every request may be repeated without harm.
    pub(crate) async fn ask(&mut self, request: &Request) -> io::Result<Answer> {
        let ask = async {
            if let Some(stream) = self.stream.take()
                && let Ok((answer, stream)) = exchange(stream, request).await
            {
                return Ok((answer, stream));
            }
            let mut stream = TcpStream::connect(self.address).await?;
            stream.set_nodelay(true)?;
            stream.write_all(&self.secret.0).await?;
            exchange(stream, request).await
        };
        let (answer, stream) = timeout(ANSWER_TIMEOUT, ask).await.map_err(|_| io::ErrorKind::TimedOut)??;
        self.stream = Some(stream);
        Ok(answer)
    }
}

async fn exchange(mut stream: TcpStream, request: &Request) -> io::Result<(Answer, TcpStream)> {
    frames::send(&mut stream, request).await?;
    let head = frames::head(&mut stream).await?;
    Ok((frames::body(&mut stream, head).await?, stream))
}
