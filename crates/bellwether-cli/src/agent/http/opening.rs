//! How a client begins. The API speaks HTTP/1.1. One that begins with HTTP/2 is told so, in words that people can read
//! in its complaint; by itself the server would hang up without any.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The first line of HTTP/2 without TLS. There is no such request in HTTP/1.1.
const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n";

const ANSWER: &[u8] = b"HTTP/1.1 505 HTTP Version Not Supported\r\n\
    content-type: application/json\r\n\
    connection: close\r\n\r\n\
    {\"error\":\"found HTTP/2, expected HTTP/1.1\"}";

/// What follows the first line is read, or the client might not see the answer; but not more than this.
const IGNORED_MAX: usize = 64 * 1024;

/// What is known of a client from its first bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// So many bytes have come. All are as in HTTP/2.
    Unknown { heard: usize },
    /// It may go on.
    Fine,
    /// It is being told. So many bytes of the answer have been sent.
    Answered { sent: usize },
    /// It has been told. So many bytes more have come.
    Leaving { ignored: usize },
}

impl Opening {
    pub(super) fn new() -> Self {
        Self::Unknown { heard: 0 }
    }

    /// Takes note of what came. Whether the client is to be turned away.
    pub(super) fn hear(&mut self, bytes: &[u8]) -> bool {
        let Self::Unknown { heard } = *self else { return self.is_refused() };
        let rest = &HTTP2[heard..];
        *self = if bytes.starts_with(rest) {
            Self::Answered { sent: 0 }
        } else if rest.starts_with(bytes) {
            Self::Unknown { heard: heard + bytes.len() }
        } else {
            Self::Fine
        };
        self.is_refused()
    }

    pub(super) fn is_refused(&self) -> bool {
        matches!(self, Self::Answered { .. } | Self::Leaving { .. })
    }

    /// Tells a client that is to be turned away, and waits until it has gone.
    pub(super) fn poll_refuse<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        stream: &mut S,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            match self {
                Self::Unknown { .. } | Self::Fine => return Poll::Ready(Ok(())),
                Self::Answered { sent } if *sent < ANSWER.len() => {
                    *sent += ready!(Pin::new(&mut *stream).poll_write(cx, &ANSWER[*sent..]))?;
                }
                Self::Answered { .. } => {
                    ready!(Pin::new(&mut *stream).poll_shutdown(cx))?;
                    *self = Self::Leaving { ignored: 0 };
                }
                Self::Leaving { ignored } => {
                    let mut bytes = [0; 1024];
                    let mut buf = ReadBuf::new(&mut bytes);
                    ready!(Pin::new(&mut *stream).poll_read(cx, &mut buf))?;
                    *ignored += buf.filled().len();
                    if buf.filled().is_empty() || *ignored > IGNORED_MAX {
                        return Poll::Ready(Ok(()));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_2_is_known_by_its_first_line_in_any_pieces() {
        for size in 1..=HTTP2.len() {
            let mut opening = Opening::new();
            let pieces: Vec<_> = HTTP2.chunks(size).collect();
            let (last, before) = pieces.split_last().unwrap();
            assert!(before.iter().all(|piece| !opening.hear(piece)), "{size}");
            assert!(opening.hear(last) && opening.hear(b"whatever follows"), "{size}");
        }
        for text in ["GET / HTTP/1.1\r\n", "PRI * HTTP/1.1\r\n", "P", "PRI * HTTP/2.0\n", "\0"] {
            let mut opening = Opening::new();
            assert!(!opening.hear(text.as_bytes()) && !opening.hear(b"more"), "{text}");
            assert_eq!(opening, Opening::Fine, "{text}");
        }
    }
}
