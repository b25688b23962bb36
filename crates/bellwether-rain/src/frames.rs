//! Frames on a stream.

use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::wire;

/// Writes a message.
pub(crate) async fn send(to: &mut (impl AsyncWrite + Unpin), message: &impl Serialize) -> io::Result<()> {
    let frame = wire::encode(message).map_err(io::Error::other)?;
    to.write_all(&frame).await?;
    to.flush().await
}

/// Reads what follows the head of a frame.
pub(crate) async fn body<T: DeserializeOwned>(
    from: &mut (impl AsyncRead + Unpin),
    head: [u8; 4],
) -> io::Result<T> {
    let mut body = vec![0; wire::body_len(head).map_err(io::Error::other)?];
    from.read_exact(&mut body).await?;
    wire::decode(&body).map_err(io::Error::other)
}

/// Reads the head of a frame.
pub(crate) async fn head(from: &mut (impl AsyncRead + Unpin)) -> io::Result<[u8; 4]> {
    let mut head = [0; 4];
    from.read_exact(&mut head).await?;
    Ok(head)
}
