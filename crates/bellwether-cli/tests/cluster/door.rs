//! Talks to an agent through its Unix socket or its port, as a program that campaigns does: with calls, and with streams.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::http::Answer;
use super::{Cluster, TOKEN};

/// Nothing takes longer.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Where an agent is asked, and what every request to it says.
#[derive(Clone)]
pub(crate) struct Door {
    place: Place,
    headers: String,
}

#[derive(Clone)]
enum Place {
    Socket(PathBuf),
    Port(String),
}

/// A connection on which something was asked.
pub(crate) enum Wire {
    Local(UnixStream),
    Remote(TcpStream),
}

impl Read for Wire {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Local(stream) => stream.read(buf),
            Self::Remote(stream) => stream.read(buf),
        }
    }
}

impl Wire {
    fn say(&mut self, text: &str) -> std::io::Result<()> {
        match self {
            Self::Local(stream) => stream.write_all(text.as_bytes()),
            Self::Remote(stream) => stream.write_all(text.as_bytes()),
        }
    }
}

impl Cluster {
    /// The Unix socket of a node whose configuration has one.
    pub(crate) fn socket(&self, id: u32) -> Door {
        Door::at_socket(self.socket_path(id))
    }

    pub(crate) fn socket_path(&self, id: u32) -> PathBuf {
        self.home(id).join("agent.sock")
    }

    /// The port of a node, with the token.
    pub(crate) fn port(&self, id: u32) -> Door {
        Door::at_port(self.api(id)).with("authorization", &format!("Bearer {TOKEN}"))
    }
}

impl Door {
    /// That Unix socket.
    pub(crate) fn at_socket(path: PathBuf) -> Self {
        Self { place: Place::Socket(path), headers: String::new() }
    }

    /// That port, without a token.
    pub(crate) fn at_port(api: String) -> Self {
        Self { place: Place::Port(api), headers: String::new() }
    }

    /// The same, and every request says that.
    pub(crate) fn with(&self, header: &str, value: &str) -> Self {
        let mut door = self.clone();
        let _ = write!(door.headers, "{header}: {value}\r\n");
        door
    }

    /// The same without a word of its own.
    pub(crate) fn bare(&self) -> Self {
        Self { headers: String::new(), ..self.clone() }
    }

    /// Asks, and reads the whole answer.
    #[track_caller]
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> Answer {
        answer(self.send(method, path, body)).expect("an answer comes in time")
    }

    /// The same; `None` if nobody answers.
    pub(crate) fn try_ask(&self, method: &str, path: &str, body: &str) -> Option<Answer> {
        answer(self.try_send(method, path, body).ok()?)
    }

    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "")
    }

    #[track_caller]
    pub(crate) fn post(&self, path: &str, body: &str) -> Answer {
        self.ask("POST", path, body)
    }

    #[track_caller]
    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.ask("DELETE", path, "")
    }

    /// Asks for a stream, which there must be.
    #[track_caller]
    pub(crate) fn open(&self, method: &str, path: &str, body: &str) -> Events {
        let opened = self.try_open(method, path, body);
        opened.unwrap_or_else(|answer| panic!("{method} {path}: {} {}", answer.status, answer.body))
    }

    /// Asks for a stream: it, or why there is none.
    #[track_caller]
    pub(crate) fn try_open(&self, method: &str, path: &str, body: &str) -> Result<Events, Answer> {
        events(self.send(method, path, body)).expect("an answer comes in time")
    }

    /// A stream; `None` if nobody answers, or there is none.
    pub(crate) fn open_if_up(&self, method: &str, path: &str, body: &str) -> Option<Events> {
        events(self.try_send(method, path, body).ok()?)?.ok()
    }

    /// A session with one campaign.
    #[track_caller]
    pub(crate) fn campaign(&self, name: &str, body: &str) -> Events {
        self.open("POST", &format!("/v1/elections/{name}/campaign"), body)
    }

    /// Sends a question whose answer nobody reads yet.
    #[track_caller]
    pub(crate) fn send(&self, method: &str, path: &str, body: &str) -> Wire {
        self.try_send(method, path, body).unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    fn try_send(&self, method: &str, path: &str, body: &str) -> std::io::Result<Wire> {
        let mut wire = match &self.place {
            Place::Socket(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(TIMEOUT))?;
                Wire::Local(stream)
            }
            Place::Port(api) => {
                let stream = TcpStream::connect(api)?;
                stream.set_read_timeout(Some(TIMEOUT))?;
                Wire::Remote(stream)
            }
        };
        let (headers, length) = (&self.headers, body.len());
        // In HTTP/1.0 the end of an answer is the end.
        wire.say(&format!(
            "{method} {path} HTTP/1.0\r\nhost: localhost\r\n{headers}content-length: {length}\r\n\r\n{body}"
        ))?;
        Ok(wire)
    }
}

fn answer(mut wire: Wire) -> Option<Answer> {
    let mut text = String::new();
    wire.read_to_string(&mut text).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, head: head.to_lowercase(), body: body.to_owned() })
}

/// The stream that was asked for, or why there is none.
fn events(wire: Wire) -> Option<Result<Events, Answer>> {
    let mut lines = BufReader::new(wire);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if lines.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.trim_end().replace('\r', "").to_lowercase();
    let status = head.split(' ').nth(1)?.parse().ok()?;
    if status == 200 {
        return Some(Ok(Events { head, lines }));
    }
    let mut body = String::new();
    lines.read_to_string(&mut body).ok()?;
    Some(Err(Answer { status, head, body }))
}

/// A stream of events.
pub(crate) struct Events {
    pub(crate) head: String,
    lines: BufReader<Wire>,
}

impl Events {
    /// The next event but signs that what is held goes on being valid: its name, and what it says.
    #[track_caller]
    pub(crate) fn next(&mut self) -> (String, Value) {
        loop {
            let event = self.any().expect("the stream goes on");
            if event.0 != "valid" {
                return event;
            }
        }
    }

    /// The next event; `None` at the end of the stream.
    #[track_caller]
    pub(crate) fn any(&mut self) -> Option<(String, Value)> {
        let (mut name, mut data) = (String::new(), Value::Null);
        let limit = Instant::now() + TIMEOUT;
        loop {
            // Signs of life are not what is waited for.
            assert!(Instant::now() < limit, "nothing was told for {TIMEOUT:?}");
            let mut line = String::new();
            match self.lines.read_line(&mut line) {
                Ok(0) => return None,
                Ok(_) => {}
                // Whoever is killed says no goodbye.
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("something comes in time: {error}"),
            }
            match line.trim_end().split_once(": ") {
                Some(("event", is)) => is.clone_into(&mut name),
                Some(("data", text)) => data = serde_json::from_str(text).expect("JSON"),
                _ if line.trim_end().is_empty() && data != Value::Null => return Some((name, data)),
                _ => {}
            }
        }
    }

    /// The next event of that name. Others are passed over.
    #[track_caller]
    pub(crate) fn until(&mut self, name: &str) -> Value {
        loop {
            match self.any() {
                Some((found, data)) if found == name => return data,
                Some(_) => {}
                None => panic!("the stream ended before `{name}`"),
            }
        }
    }

    /// Waits until it holds something: with which token.
    #[track_caller]
    pub(crate) fn elected(&mut self) -> u64 {
        self.until("elected")["token"].as_u64().expect("a token")
    }

    /// Waits until it is in a queue, and knows its place.
    #[track_caller]
    pub(crate) fn queued(&mut self) {
        while self.until("waiting")["position"].is_null() {}
    }

    /// What a session says first: its id, and its secret.
    #[track_caller]
    pub(crate) fn session(&mut self) -> (String, String) {
        let said = self.until("session");
        let text = |key: &str| said[key].as_str().expect("a text").to_owned();
        (text("session"), text("secret"))
    }

    /// Lines as they are.
    #[track_caller]
    pub(crate) fn line(&mut self) -> String {
        line(&mut self.lines)
    }

    /// Whether the stream has ended, after whatever else it said.
    pub(crate) fn ends(&mut self) -> bool {
        let mut rest = Vec::new();
        self.lines.read_to_end(&mut rest).is_ok()
    }
}

#[track_caller]
fn line(lines: &mut BufReader<Wire>) -> String {
    let mut line = String::new();
    lines.read_line(&mut line).expect("something comes in time");
    line.trim_end().to_owned()
}
