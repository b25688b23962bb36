//! Reads server-sent events.

use std::io::{self, BufRead, BufReader, Read};

/// No line of an event is longer.
const LINE_MAX: u64 = 1 << 20;

/// An event: its name, the number it can be resumed after, and its data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) id: Option<u64>,
    pub(crate) data: String,
}

/// A stream of events, as the agent sends them.
pub(crate) struct Events {
    lines: BufReader<Box<dyn Read + Send>>,
}

impl Events {
    pub(crate) fn new(lines: BufReader<Box<dyn Read + Send>>) -> Self {
        Self { lines }
    }

    /// The next event; `None` when the agent has closed the stream.
    pub(crate) fn next(&mut self) -> io::Result<Option<Event>> {
        let mut event = Event::default();
        while let Some(line) = self.line()? {
            let (field, value) = line.split_once(':').unwrap_or((&line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                // An empty line ends the event; after a comment there may be one that ends nothing.
                "" if line.is_empty() && !event.data.is_empty() => return Ok(Some(event)),
                "event" => value.clone_into(&mut event.name),
                "id" => event.id = value.parse().ok(),
                "data" => event.data.push_str(value),
                _ => {}
            }
        }
        Ok(None)
    }

    fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        let read = (&mut self.lines).take(LINE_MAX).read_line(&mut line)?;
        if read as u64 == LINE_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "an event has no end"));
        }
        Ok((read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &'static str) -> Events {
        Events::new(BufReader::new(Box::new(text.as_bytes())))
    }

    #[test]
    fn events_are_read_and_comments_are_not() {
        let mut events = read(":\n\nid: 7\nevent: change\ndata: {\"no\":7}\n\n: alive\n\ndata:x\r\n\r\n");
        let change = Event { name: "change".to_owned(), id: Some(7), data: "{\"no\":7}".to_owned() };
        assert_eq!(events.next().unwrap(), Some(change));
        assert_eq!(events.next().unwrap().unwrap().data, "x");
        assert_eq!(events.next().unwrap(), None);
    }

    #[test]
    fn an_event_that_breaks_off_is_none() {
        assert_eq!(read("id: 7\ndata: {").next().unwrap(), None);
    }

    #[test]
    fn a_line_without_end_is_an_error() {
        assert!(Events::new(BufReader::new(Box::new(io::repeat(b'x')))).next().is_err());
    }
}
