//! Events as they come: server-sent events, of which an agent's have a name and a line of data.

use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::timeout;

use super::connection::Connection;

/// No event is longer: a value of 4096 bytes, each written as an escape, and what is around it.
const EVENT_MAX: usize = 64 << 10;

/// An event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) name: String,
    pub(super) data: String,
}

/// Events, until the agent ends them. The connection ends with this.
#[derive(Debug)]
pub(super) struct Stream {
    body: Incoming,
    /// What was received and not made events of yet.
    lines: Lines,
    /// Whoever says nothing for so long is lost.
    silence: Option<Duration>,
    connection: Connection,
}

/// Why there are no more events.
#[derive(Debug, thiserror::Error)]
pub(super) enum Broken {
    #[error("the agent closed the stream")]
    Ended,
    #[error("nothing was heard for {} s", .0.as_secs())]
    Silent(Duration),
    #[error("the stream broke off: {0}")]
    Connection(#[from] hyper::Error),
    #[error("an event has more than {EVENT_MAX} bytes")]
    TooLong,
}

impl Stream {
    pub(super) fn new(body: Incoming, connection: Connection, silence: Option<Duration>) -> Self {
        Self { body, lines: Lines::default(), silence, connection }
    }

    /// The next event. If the call is dropped, nothing is lost.
    pub(super) async fn next(&mut self) -> Result<Event, Broken> {
        loop {
            if let Some(event) = self.lines.event()? {
                return Ok(event);
            }
            let frame = self.connection.beside(self.body.frame());
            let frame = match self.silence {
                Some(longest) => timeout(longest, frame).await.map_err(|_| Broken::Silent(longest))?,
                None => frame.await,
            };
            let frame = frame.ok_or(Broken::Ended)??;
            if let Some(data) = frame.data_ref() {
                self.lines.take(data);
            }
        }
    }
}

/// Makes events of bytes.
#[derive(Debug, Default)]
struct Lines {
    bytes: Vec<u8>,
    /// So far of the bytes is known to end no line.
    looked: usize,
    event: Event,
}

impl Lines {
    fn take(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next event, if all of it is there.
    fn event(&mut self) -> Result<Option<Event>, Broken> {
        while let Some(line) = self.line()? {
            match line.split_once(':') {
                _ if line.is_empty() => {
                    let event = std::mem::take(&mut self.event);
                    if !event.data.is_empty() {
                        return Ok(Some(event));
                    }
                }
                Some(("event", name)) => self.event.name = value(name),
                Some(("data", data)) => self.event.data = value(data),
                // A comment, or a field that is of no use here.
                _ => {}
            }
        }
        Ok(None)
    }

    fn line(&mut self) -> Result<Option<String>, Broken> {
        let Some(end) = self.bytes[self.looked..].iter().position(|byte| *byte == b'\n') else {
            self.looked = self.bytes.len();
            return if self.looked > EVENT_MAX { Err(Broken::TooLong) } else { Ok(None) };
        };
        let rest = self.bytes.split_off(self.looked + end + 1);
        let line = std::mem::replace(&mut self.bytes, rest);
        self.looked = 0;
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Ok(Some(String::from_utf8_lossy(line).into_owned()))
    }
}

/// One space after the colon is no part of it.
fn value(field: &str) -> String {
    field.strip_prefix(' ').unwrap_or(field).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(lines: &mut Lines, bytes: &str) -> Vec<(String, String)> {
        lines.take(bytes.as_bytes());
        std::iter::from_fn(|| lines.event().unwrap()).map(|event| (event.name, event.data)).collect()
    }

    #[test]
    fn events_are_read_however_they_are_cut() {
        let mut lines = Lines::default();
        let text =
            ":\n\nevent: elected\ndata: {\"token\":7}\n\n: still here\nid: 3\nevent:valid\r\ndata:{}\r\n\r\n";
        let whole = events(&mut lines, text);
        let expected =
            [("elected", "{\"token\":7}"), ("valid", "{}")].map(|(n, d)| (n.to_owned(), d.to_owned()));
        assert_eq!(whole, expected);
        let mut lines = Lines::default();
        let cut: Vec<_> = text.chars().flat_map(|c| events(&mut lines, &c.to_string())).collect();
        assert_eq!(cut, expected);
    }

    #[test]
    fn a_line_without_end_is_an_error() {
        let mut lines = Lines::default();
        lines.take(&vec![b'x'; EVENT_MAX + 1]);
        assert!(matches!(lines.event(), Err(Broken::TooLong)));
    }
}
