//! Talks to an agent's HTTP interface, politely or not.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// No answer takes longer, and no event.
const TIMEOUT: Duration = Duration::from_secs(20);

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The reason of a request that was not met.
    #[track_caller]
    pub(crate) fn error(&self) -> String {
        self.json()["error"].as_str().expect("a reason").to_owned()
    }
}

#[track_caller]
pub(crate) fn get(api: &str, path: &str) -> Answer {
    try_get(api, path).unwrap_or_else(|| panic!("{api} does not answer"))
}

/// `None` if nobody answers.
pub(crate) fn try_get(api: &str, path: &str) -> Option<Answer> {
    request(api, &format!("GET {path} HTTP/1.0\r\nhost: {api}\r\n\r\n"))
}

#[track_caller]
pub(crate) fn post(api: &str, path: &str, token: Option<&str>, body: &str) -> Answer {
    try_post(api, path, token, body).unwrap_or_else(|| panic!("{api} does not answer"))
}

/// `None` if nobody answers.
pub(crate) fn try_post(api: &str, path: &str, token: Option<&str>, body: &str) -> Option<Answer> {
    let token = token.map_or_else(String::new, |token| format!("authorization: Bearer {token}\r\n"));
    let length = body.len();
    let text =
        format!("POST {path} HTTP/1.0\r\nhost: {api}\r\n{token}content-length: {length}\r\n\r\n{body}");
    request(api, &text)
}

#[track_caller]
pub(crate) fn delete(api: &str, path: &str, token: &str) -> Answer {
    let text = format!("DELETE {path} HTTP/1.0\r\nhost: {api}\r\nauthorization: Bearer {token}\r\n\r\n");
    request(api, &text).unwrap_or_else(|| panic!("{api} does not answer"))
}

/// Sends these bytes, and reads whatever comes until the end. In HTTP/1.0 the end of an answer is the end.
pub(crate) fn request(api: &str, text: &str) -> Option<Answer> {
    answer(send(api, text)?)
}

/// Asks, and waits for no answer: whoever is asked may be stopped.
#[track_caller]
pub(crate) fn ask(api: &str, path: &str) -> TcpStream {
    let text = format!("GET {path} HTTP/1.0\r\nhost: {api}\r\n\r\n");
    send(api, &text).unwrap_or_else(|| panic!("{api} takes no question"))
}

fn send(api: &str, text: &str) -> Option<TcpStream> {
    let mut stream = connect(api)?;
    stream.write_all(text.as_bytes()).ok()?;
    Some(stream)
}

/// The answer to what was asked.
pub(crate) fn answer(mut stream: TcpStream) -> Option<Answer> {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, head: head.to_lowercase(), body: body.to_owned() })
}

fn connect(api: &str) -> Option<TcpStream> {
    let stream = TcpStream::connect(api).ok()?;
    stream.set_read_timeout(Some(TIMEOUT)).ok()?;
    Some(stream)
}

/// A stream of events.
pub(crate) struct Watch {
    pub(crate) status: u16,
    lines: BufReader<TcpStream>,
}

/// An event: its name, its number and what it says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) id: u64,
    pub(crate) data: Value,
}

impl Watch {
    #[track_caller]
    pub(crate) fn open(api: &str, after: Option<u64>) -> Self {
        let resume = after.map_or_else(String::new, |after| format!("last-event-id: {after}\r\n"));
        let text = format!("GET /v1/watch HTTP/1.0\r\nhost: {api}\r\n{resume}\r\n");
        Self::of(send(api, &text).unwrap_or_else(|| panic!("{api} does not answer")))
    }

    /// What comes of a question that was asked before.
    #[track_caller]
    pub(crate) fn of(stream: TcpStream) -> Self {
        let mut watch = Self { status: 0, lines: BufReader::new(stream) };
        let first = watch.line();
        watch.status = first.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        while !watch.line().is_empty() {}
        watch
    }

    /// The next event. There must be one in time.
    #[track_caller]
    pub(crate) fn next(&mut self) -> Event {
        let mut event = Event { name: String::new(), id: 0, data: Value::Null };
        loop {
            let line = self.line();
            match line.split_once(": ") {
                Some(("event", name)) => name.clone_into(&mut event.name),
                Some(("id", id)) => event.id = id.parse().expect("a number"),
                Some(("data", data)) => event.data = serde_json::from_str(data).expect("JSON"),
                _ if line.is_empty() && event.data != Value::Null => return event,
                _ => {}
            }
        }
    }

    #[track_caller]
    fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line).expect("something comes in time");
        assert!(read > 0, "the stream ended");
        line.trim_end().to_owned()
    }
}
