//! What travels on a connection: records, each with its length in front.
//!
//! ```text
//! dialer    Hello ──────────────►                  Frame … Pong
//! acceptor         ◄────────────── Welcome │ Refused         Ping … Duplicate
//! ```
//!
//! The length is a little-endian u32, the record itself is in postcard's format. A length is checked before anything is
//! read, and room is made only for what has come.

use std::io;

use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::wire::FRAME_MAX;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt};

/// The version of the records. A member refuses others.
pub(super) const VERSION: u8 = 1;

/// No record is longer: a frame, its kind and its length.
pub(super) const RECORD_MAX: usize = FRAME_MAX + 8;

/// No record other than a frame is longer.
pub(super) const CONTROL_MAX: usize = 512;

/// No text in a record is longer, so that it stays within [`CONTROL_MAX`].
const TEXT_MAX: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Record<'a> {
    /// The dialer says who it is.
    Hello(#[serde(borrow)] Hello<'a>),
    /// The acceptor takes the connection, and says who it is.
    Welcome(Welcome),
    /// The acceptor does not take the connection. It ends.
    Refused(#[serde(borrow)] Refused<'a>),
    /// An encoded frame.
    Frame(&'a [u8]),
    /// Is the dialer's process still there?
    Ping { no: u64 },
    /// It is.
    Pong { no: u64 },
    /// Another process, at that address, claimed the dialer's id and was refused.
    Duplicate { at: &'a str },
}

impl Record<'_> {
    /// Its kind, for log lines.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Hello(_) => "Hello",
            Self::Welcome(_) => "Welcome",
            Self::Refused(_) => "Refused",
            Self::Frame(_) => "Frame",
            Self::Ping { .. } => "Ping",
            Self::Pong { .. } => "Pong",
            Self::Duplicate { .. } => "Duplicate",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hello<'a> {
    pub(super) version: u8,
    pub(super) cluster: u64,
    /// How the leader is chosen: the algorithm, and the terms of exclusive leadership if there are any.
    pub(super) protocol: &'a str,
    pub(super) id: NodeId,
    pub(super) incarnation: Incarnation,
    /// A random number of each process, which tells two processes of one id apart.
    pub(super) instance: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Welcome {
    pub(super) id: NodeId,
    pub(super) incarnation: Incarnation,
    pub(super) instance: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Refused<'a> {
    /// Who refuses.
    pub(super) by: NodeId,
    pub(super) reason: Reason,
    /// For people to read; with [`Reason::InUse`], the address of the process that has the id.
    pub(super) text: &'a str,
}

/// Why a connection is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Reason {
    /// Another version of the records.
    Version,
    /// Another cluster.
    Cluster,
    /// Another algorithm, or other terms.
    Protocol,
    /// The certificate is not that of the id.
    Certificate,
    /// The id is not in the list of members.
    NotListed,
    /// A live process has the id.
    InUse,
    /// The process dialled itself.
    Yourself,
    /// The member takes no more, or is closing.
    Full,
}

/// Why there is no next record.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    /// The other side closed the connection properly.
    #[error("it was closed")]
    Goodbye,
    /// The connection ended in any other way.
    #[error("it broke: {0}")]
    Broken(io::Error),
    /// Longer than any record that may come here.
    #[error("a record of {len} bytes came; the longest allowed is {max}")]
    TooLong { len: usize, max: usize },
    /// The bytes are no record.
    #[error("bytes came that are no record")]
    Malformed,
}

/// Reads the next record into `bytes`, which is passed in so that its memory is used again.
///
/// # Errors
/// If there is none. Then the connection cannot be used any more.
pub(super) async fn read<'a, R>(
    stream: &mut R,
    max: usize,
    bytes: &'a mut Vec<u8>,
) -> Result<Record<'a>, ReadError>
where
    R: AsyncRead + Unpin,
{
    let len = read_length(stream).await?;
    if len > max {
        return Err(ReadError::TooLong { len, max });
    }
    bytes.clear();
    // Grows as bytes come: a length alone costs nothing.
    stream.take(len as u64).read_to_end(bytes).await.map_err(ReadError::Broken)?;
    if bytes.len() < len {
        return Err(ReadError::Broken(io::ErrorKind::UnexpectedEof.into()));
    }
    match postcard::take_from_bytes(bytes) {
        Ok((record, [])) => Ok(record),
        Ok(_) | Err(_) => Err(ReadError::Malformed),
    }
}

async fn read_length<R: AsyncRead + Unpin>(stream: &mut R) -> Result<usize, ReadError> {
    let (mut header, mut filled) = ([0; 4], 0);
    while filled < header.len() {
        match stream.read(&mut header[filled..]).await.map_err(ReadError::Broken)? {
            0 if filled == 0 => return Err(ReadError::Goodbye),
            0 => return Err(ReadError::Broken(io::ErrorKind::UnexpectedEof.into())),
            more => filled += more,
        }
    }
    Ok(u32::from_le_bytes(header) as usize)
}

/// Puts a record, with its length, at the end of `bytes`.
pub(super) fn append(record: &Record<'_>, bytes: &mut Vec<u8>) {
    let start = bytes.len();
    bytes.extend([0; 4]);
    *bytes = postcard::to_extend(record, std::mem::take(bytes))
        .expect("a growing buffer takes whatever is written to it");
    let len = bytes.len() - start - 4;
    debug_assert!(len <= RECORD_MAX, "a record of {len} bytes");
    bytes[start..start + 4].copy_from_slice(&(len as u32).to_le_bytes());
}

/// As much of a text as a record takes.
pub(super) fn bounded(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_MAX)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(record: &Record<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        append(record, &mut bytes);
        bytes
    }

    const HELLO: Hello<'static> = Hello {
        version: VERSION,
        cluster: u64::MAX,
        protocol: "async-bully",
        id: NodeId(u32::MAX),
        incarnation: Incarnation(u64::MAX),
        instance: u64::MAX,
    };

    #[tokio::test]
    async fn records_come_as_they_went() {
        let frame = vec![7; FRAME_MAX];
        let (id, incarnation, instance) = (NodeId(2), Incarnation(3), 4);
        let refused = |text| Record::Refused(Refused { by: id, reason: Reason::InUse, text });
        let all = [
            Record::Hello(HELLO),
            Record::Welcome(Welcome { id, incarnation, instance }),
            refused("somewhere"),
            Record::Frame(&frame),
            Record::Frame(&[]),
            Record::Ping { no: u64::MAX },
            Record::Pong { no: 0 },
            Record::Duplicate { at: "[::1]:3170" },
        ];
        let mut stream = Vec::new();
        all.iter().for_each(|record| append(record, &mut stream));
        let (mut stream, mut buffer) = (&stream[..], Vec::new());
        for record in all {
            assert_eq!(read(&mut stream, RECORD_MAX, &mut buffer).await.unwrap(), record);
        }
        assert!(matches!(read(&mut stream, RECORD_MAX, &mut buffer).await, Err(ReadError::Goodbye)));
    }

    #[tokio::test]
    async fn the_longest_texts_stay_within_the_bound() {
        let text = "ä".repeat(1000);
        let refused = Refused { by: NodeId(u32::MAX), reason: Reason::Full, text: bounded(&text) };
        for record in
            [Record::Refused(refused), Record::Hello(HELLO), Record::Duplicate { at: bounded(&text) }]
        {
            assert!(bytes(&record).len() <= CONTROL_MAX);
        }
    }

    #[tokio::test]
    async fn what_is_no_record_is_refused() {
        let mut buffer = Vec::new();
        let mut long = &(CONTROL_MAX as u32 + 1).to_le_bytes()[..];
        let error = read(&mut long, CONTROL_MAX, &mut buffer).await.unwrap_err();
        assert!(matches!(error, ReadError::TooLong { .. }), "{error}");
        assert_eq!(buffer.capacity(), 0, "no room is made for it");

        let whole = bytes(&Record::Hello(HELLO));
        for len in 1..whole.len() {
            let mut cut = &whole[..len];
            let error = read(&mut cut, CONTROL_MAX, &mut buffer).await.unwrap_err();
            assert!(matches!(error, ReadError::Broken(_)), "{len}: {error}");
        }
        for payload in [&[][..], &[99], &[3, 200, 1], &[4, 1, 0]] {
            let mut bytes = (payload.len() as u32).to_le_bytes().to_vec();
            bytes.extend(payload);
            let error = read(&mut &bytes[..], CONTROL_MAX, &mut buffer).await.unwrap_err();
            assert!(matches!(error, ReadError::Malformed), "{payload:?}: {error}");
        }
    }
}
