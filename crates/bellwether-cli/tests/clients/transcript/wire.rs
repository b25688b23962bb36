//! Both doors of an agent, and one request on a connection.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Instant;

use serde_json::Value;

use crate::cluster::DEADLINE;

/// Where an agent is reached.
pub(super) struct Doors {
    pub(super) socket: PathBuf,
    pub(super) api: String,
}

/// A connection with one request, and what has been read of its answer.
pub(super) struct Line {
    stream: BufReader<Box<dyn Read>>,
    head: Option<Head>,
}

/// How an answer begins.
struct Head {
    status: u16,
    headers: Vec<(String, String)>,
}

impl Doors {
    /// Sends a request. In HTTP/1.0 the end of an answer is the end.
    pub(super) fn open(
        &self,
        on_socket: bool,
        request: &str,
        headers: &[String],
        body: &str,
    ) -> Result<Line, String> {
        let host = if on_socket { "localhost" } else { &self.api };
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let length = body.len();
        let text =
            format!("{request} HTTP/1.0\r\nhost: {host}\r\n{headers}content-length: {length}\r\n\r\n{body}");
        let stream = self.connect(on_socket, &text).map_err(|error| format!("{request}: {error}"))?;
        Ok(Line { stream: BufReader::new(stream), head: None })
    }

    fn connect(&self, on_socket: bool, text: &str) -> io::Result<Box<dyn Read>> {
        if on_socket {
            let mut stream = UnixStream::connect(&self.socket)?;
            stream.set_read_timeout(Some(DEADLINE))?;
            stream.write_all(text.as_bytes())?;
            return Ok(Box::new(stream));
        }
        let mut stream = TcpStream::connect(&self.api)?;
        stream.set_read_timeout(Some(DEADLINE))?;
        stream.write_all(text.as_bytes())?;
        Ok(Box::new(stream))
    }
}

impl Line {
    pub(super) fn status(&mut self) -> Result<u16, String> {
        Ok(self.head()?.status)
    }

    pub(super) fn header(&mut self, name: &str) -> Option<String> {
        let Head { headers, .. } = self.head().ok()?;
        headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone())
    }

    /// The whole answer.
    pub(super) fn answer(&mut self) -> Result<Value, String> {
        let text = self.rest();
        serde_json::from_str(&text).map_err(|error| format!("{error}: {text}"))
    }

    /// Whatever comes until the end.
    pub(super) fn rest(&mut self) -> String {
        let mut text = String::new();
        let _ = self.stream.read_to_string(&mut text);
        text
    }

    /// The next event: its name, and what it says.
    pub(super) fn event(&mut self) -> Result<(String, Value), String> {
        let as_lines = self.header("content-type").is_some_and(|kind| kind.contains("ndjson"));
        let (mut name, limit) = (String::new(), Instant::now() + DEADLINE);
        loop {
            let line = self.line()?;
            if Instant::now() > limit {
                return Err("no event comes".to_owned());
            }
            if as_lines && !line.is_empty() {
                return event_of_line(&line);
            }
            match line.split_once(": ") {
                Some(("event", named)) => named.clone_into(&mut name),
                Some(("data", data)) => return Ok((name, json(data)?)),
                _ => {}
            }
        }
    }

    fn head(&mut self) -> Result<&Head, String> {
        if self.head.is_none() {
            let first = self.line()?;
            let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
            let mut headers = Vec::new();
            loop {
                let line = self.line()?;
                let Some((name, value)) = line.split_once(": ") else { break };
                headers.push((name.to_owned(), value.to_owned()));
            }
            let status = status.ok_or_else(|| format!("no status: {first}"))?;
            self.head = Some(Head { status, headers });
        }
        Ok(self.head.as_ref().expect("it was just read"))
    }

    fn line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            Ok(0) => Err("the answer ended".to_owned()),
            Ok(_) => Ok(line.trim_end().to_owned()),
            Err(error) => Err(format!("nothing comes: {error}")),
        }
    }
}

fn event_of_line(line: &str) -> Result<(String, Value), String> {
    let mut data = json(line)?;
    let name = data.as_object_mut().and_then(|data| data.remove("event"));
    let name = name.and_then(|name| name.as_str().map(str::to_owned));
    Ok((name.ok_or_else(|| format!("no event: {line}"))?, data))
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("{error}: {text}"))
}
