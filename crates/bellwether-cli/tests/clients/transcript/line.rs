//! A connection with one request, read piece by piece.

use std::io::{BufRead, BufReader, Read};
use std::time::Instant;

use serde_json::Value;

use crate::cluster::DEADLINE;
use crate::cluster::door::Wire;

/// A connection, and what has been read of its answer.
pub(super) struct Line {
    wire: BufReader<Wire>,
    head: Option<Head>,
}

/// How an answer begins.
struct Head {
    status: u16,
    headers: Vec<(String, String)>,
}

impl Line {
    /// The answer to what was sent there.
    pub(super) fn of(wire: Wire) -> Self {
        Self { wire: BufReader::new(wire), head: None }
    }

    pub(super) fn status(&mut self) -> Result<u16, String> {
        Ok(self.head()?.status)
    }

    pub(super) fn header(&mut self, name: &str) -> Option<String> {
        let Head { headers, .. } = self.head().ok()?;
        headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone())
    }

    /// The whole answer.
    pub(super) fn answer(&mut self) -> Result<Value, String> {
        json(&self.rest())
    }

    /// Whatever comes until the end.
    pub(super) fn rest(&mut self) -> String {
        let mut text = String::new();
        let _ = self.wire.read_to_string(&mut text);
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
            let status = status.ok_or_else(|| format!("no status: {first}"))?;
            let mut headers = Vec::new();
            loop {
                let line = self.line()?;
                let Some((name, value)) = line.split_once(": ") else { break };
                headers.push((name.to_owned(), value.to_owned()));
            }
            self.head = Some(Head { status, headers });
        }
        Ok(self.head.as_ref().expect("it was just read"))
    }

    fn line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        match self.wire.read_line(&mut line) {
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
