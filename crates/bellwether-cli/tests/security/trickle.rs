//! Says a byte at a time, for as long as somebody listens.

use std::io::{Error, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// After a byte the next comes so much later.
const PACE: Duration = Duration::from_millis(200);

/// From now on nothing on this connection waits for longer than there is between two bytes.
pub(crate) fn keep_pace(stream: &TcpStream) {
    stream.set_read_timeout(Some(PACE)).unwrap();
}

/// Until the agent hangs up, which it must before the end.
#[track_caller]
pub(crate) fn trickle(stream: &mut (impl Read + Write), bytes: &[u8]) {
    let mut listens =
        |byte: u8| stream.write_all(&[byte]).and_then(|()| stream.flush()).is_ok() && is_open(stream);
    assert!(!bytes.iter().all(|byte| listens(*byte)), "the agent listened to the end");
}

/// Whether the agent does not hang up for a moment. What it says meanwhile is not heeded.
fn is_open(stream: &mut impl Read) -> bool {
    let nothing = |error: &Error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
    match stream.read(&mut [0; 1024]) {
        Ok(said) => said > 0,
        Err(error) => nothing(&error),
    }
}
