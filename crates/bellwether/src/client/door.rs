//! Where the agent is, and how it is asked: one connection for each question.

use std::fmt;
use std::future::Future;
use std::io;
#[cfg(unix)]
use std::path::PathBuf;
use std::time::Duration;

use bellwether_proto::exclusive::grant::Name;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::connection::Connection;
use super::error::{ClientError, Refusal};
use super::standing::Until;
use super::stream::Stream;
use crate::uptime;

/// How long a connection may take, and the answer to a question.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How long a change may take.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(30);
/// A stream over TCP that is silent for longer is lost: an agent says something every five seconds.
const SILENCE_MAX: Duration = Duration::from_secs(15);
/// No answer is longer: a thousand elections with values of 4096 bytes, each of which may be written as an escape.
const ANSWER_MAX: usize = 32 << 20;
/// Proves over TCP whose session it is.
const SECRET: HeaderName = HeaderName::from_static("bellwether-secret");

/// Where an agent is.
#[derive(Clone, Debug)]
pub(super) struct Door {
    place: Place,
    token: Option<Secret>,
}

#[derive(Clone, Debug)]
enum Place {
    #[cfg(unix)]
    Socket(PathBuf),
    /// `host:port`
    Address(String),
}

/// A text that is not shown.
#[derive(Clone)]
pub(super) struct Secret(pub(super) String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// A question.
#[derive(Debug)]
pub(super) struct Ask {
    method: Method,
    path: String,
    body: Vec<u8>,
    secret: Option<Secret>,
    within: Duration,
}

impl Ask {
    pub(super) fn get(path: String) -> Self {
        Self { method: Method::GET, path, body: Vec::new(), secret: None, within: TIMEOUT }
    }

    pub(super) fn post(path: String, body: &impl Serialize) -> Self {
        Self::with_body(Method::POST, path, body)
    }

    pub(super) fn put(path: String, body: &impl Serialize) -> Self {
        Self::with_body(Method::PUT, path, body)
    }

    pub(super) fn delete(path: String) -> Self {
        Self { method: Method::DELETE, within: CHANGE_TIMEOUT, ..Self::get(path) }
    }

    fn with_body(method: Method, path: String, body: &impl Serialize) -> Self {
        let body = serde_json::to_vec(body).expect("maps with names for keys are JSON");
        Self { method, body, within: CHANGE_TIMEOUT, ..Self::get(path) }
    }

    /// Of that session.
    pub(super) fn with_secret(self, secret: &str) -> Self {
        Self { secret: Some(Secret(secret.to_owned())), ..self }
    }

    /// The answer is waited for so long and no longer.
    pub(super) fn within(self, within: Duration) -> Self {
        Self { within, ..self }
    }
}

/// What an agent says when it refuses.
#[derive(Debug, Deserialize)]
struct Problem {
    error: String,
}

/// Whether a token is valid, and until when.
#[derive(Debug, Deserialize)]
struct Validity {
    valid_ms: Option<u64>,
    valid_until: Option<u64>,
}

impl Door {
    #[cfg(unix)]
    pub(super) fn socket(path: PathBuf) -> Self {
        Self { place: Place::Socket(path), token: None }
    }

    pub(super) fn address(api: &str) -> Self {
        let api = api.trim_start_matches("http://").trim_end_matches('/');
        Self { place: Place::Address(api.to_owned()), token: None }
    }

    pub(super) fn with_token(self, token: String) -> Self {
        Self { token: Some(Secret(token)), ..self }
    }

    /// Whether the agent is on this machine for certain, so that its times are ours.
    pub(super) fn is_local(&self) -> bool {
        match &self.place {
            #[cfg(unix)]
            Place::Socket(_) => true,
            Place::Address(_) => false,
        }
    }

    /// Until when something is valid, if the agent told a time of this machine.
    pub(super) fn uptime(&self, micros: Option<u64>) -> Option<Duration> {
        let is_same_clock = cfg!(target_os = "linux") && self.is_local();
        micros.filter(|_| is_same_clock).map(Duration::from_micros)
    }

    /// Looks whether somebody is there.
    #[cfg(unix)]
    pub(super) async fn knock(&self) -> Result<(), ClientError> {
        self.connected(TIMEOUT).await.map(drop)
    }

    /// Asks, and reads the answer.
    pub(super) async fn answer<T: DeserializeOwned>(&self, ask: Ask) -> Result<T, ClientError> {
        let within = ask.within;
        let answered = self.in_time(within, async {
            let (response, mut connection) = self.ask(ask).await?;
            connection.beside(self.read(response)).await
        });
        let (status, body) = answered.await?;
        if status.is_success() {
            serde_json::from_slice(&body).map_err(|error| self.is_no_agent(format!("an answer that {error}")))
        } else {
            Err(self.refused(status, &body))
        }
    }

    /// Asks for a stream of events.
    pub(super) async fn stream(&self, ask: Ask) -> Result<Stream, ClientError> {
        let opened = self.in_time(TIMEOUT, async {
            let (response, mut connection) = self.ask(ask).await?;
            let status = response.status();
            if status.is_success() {
                // Over the socket the kernel tells when the agent is gone. One that is merely stopped finds its streams still open, and
                // gives nothing back that is valid yet.
                let silence = (!self.is_local()).then_some(SILENCE_MAX);
                return Ok(Stream::new(response.into_body(), connection, silence));
            }
            let (status, body) = connection.beside(self.read(response)).await?;
            Err(self.refused(status, &body))
        });
        opened.await
    }

    /// Until when that token is valid, if it is: from when this was asked.
    pub(super) async fn check(&self, name: &Name, token: u64) -> Result<Option<Until>, ClientError> {
        let asked = uptime::now();
        match self.answer::<Validity>(Ask::get(election(name, &format!("/check?token={token}")))).await {
            Ok(Validity { valid_ms, valid_until }) => Ok(Some(match (self.uptime(valid_until), valid_ms) {
                (Some(until), _) => Until::Uptime(until),
                (None, Some(left)) => Until::Uptime(asked + Duration::from_millis(left)),
                (None, None) => Until::ByStore,
            })),
            Err(error) if error.refusal() == Some(Refusal::NotNow) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn ask(&self, ask: Ask) -> Result<(Response<Incoming>, Connection), ClientError> {
        let request = self.request(ask)?;
        let (mut sender, mut connection) = self.connected(TIMEOUT).await?;
        let response = connection.beside(sender.send_request(request)).await;
        Ok((response.map_err(|error| self.unreachable(io::Error::other(error)))?, connection))
    }

    fn request(&self, ask: Ask) -> Result<Request<Full<Bytes>>, ClientError> {
        let wrong = |what: &str| self.is_no_agent(format!("{what} that cannot be sent"));
        let uri = Uri::try_from(ask.path).map_err(|_| wrong("a path"))?;
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_str(self.host()).map_err(|_| wrong("an address"))?);
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        if !ask.body.is_empty() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if let Some(Secret(token)) = &self.token {
            let bearer = HeaderValue::from_str(&format!("Bearer {token}"));
            headers.insert(AUTHORIZATION, bearer.map_err(|_| wrong("a token"))?);
        }
        if let Some(Secret(secret)) = &ask.secret {
            headers.insert(SECRET, HeaderValue::from_str(secret).map_err(|_| wrong("a secret"))?);
        }
        let mut request = Request::new(Full::new(Bytes::from(ask.body)));
        (*request.method_mut(), *request.uri_mut(), *request.headers_mut()) = (ask.method, uri, headers);
        Ok(request)
    }

    fn host(&self) -> &str {
        match &self.place {
            #[cfg(unix)]
            Place::Socket(_) => "localhost",
            Place::Address(address) => address,
        }
    }

    async fn connected(
        &self,
        within: Duration,
    ) -> Result<(SendRequest<Full<Bytes>>, Connection), ClientError> {
        let unreachable = |source| self.unreachable(source);
        self.in_time(within, async {
            match &self.place {
                #[cfg(unix)]
                Place::Socket(path) => {
                    Connection::open(UnixStream::connect(path).await.map_err(unreachable)?).await
                }
                Place::Address(address) => {
                    let stream = TcpStream::connect(address).await.map_err(unreachable)?;
                    stream.set_nodelay(true).map_err(unreachable)?;
                    Connection::open(stream).await
                }
            }
            .map_err(|error| unreachable(io::Error::other(error)))
        })
        .await
    }

    async fn read(&self, response: Response<Incoming>) -> Result<(StatusCode, Bytes), ClientError> {
        let status = response.status();
        let body = Limited::new(response.into_body(), ANSWER_MAX).collect().await;
        Ok((status, body.map_err(|error| self.unreachable(io::Error::other(error)))?.to_bytes()))
    }

    async fn in_time<T>(
        &self,
        within: Duration,
        what: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, ClientError> {
        let silent = || ClientError::Silent { at: self.to_string(), within };
        timeout(within, what).await.unwrap_or_else(|_| Err(silent()))
    }

    fn refused(&self, status: StatusCode, body: &[u8]) -> ClientError {
        match serde_json::from_slice(body) {
            Ok(Problem { error }) => ClientError::Refused {
                at: self.to_string(),
                refusal: Refusal::of(status.as_u16()),
                why: error,
            },
            Err(_) => self.is_no_agent(format!("an answer with status {}", status.as_u16())),
        }
    }

    pub(super) fn is_no_agent(&self, found: String) -> ClientError {
        ClientError::NoAgent { at: self.to_string(), found }
    }

    fn unreachable(&self, source: io::Error) -> ClientError {
        ClientError::Unreachable { at: self.to_string(), source }
    }
}

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            #[cfg(unix)]
            Place::Socket(path) => write!(f, "{}", path.display()),
            Place::Address(address) => f.write_str(address),
        }
    }
}

/// The path of an election, and what follows in it.
pub(super) fn election(name: &Name, rest: &str) -> String {
    format!("/v1/elections/{}{rest}", escaped(name.as_str()))
}

/// The path of a list of elections.
pub(super) fn list(after: Option<&str>, limit: usize) -> String {
    let after = after.map_or_else(String::new, |after| format!("after={}&", escaped(after)));
    format!("/v1/elections?{after}limit={limit}")
}

/// The path of a session, and what follows in it.
pub(super) fn session(id: &str, rest: &str) -> String {
    format!("/v1/session/{}{rest}", escaped(id))
}

/// The path of a session's campaign.
pub(super) fn campaign(id: &str, name: &Name) -> String {
    session(id, &format!("/campaign/{}", escaped(name.as_str())))
}

/// As it is written in a path. A dot, too: two of them lead elsewhere.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => escaped.push(byte.into()),
            byte => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_part_of_a_path() {
        for (name, path) in [
            ("backup", "/v1/elections/backup"),
            ("a/b c", "/v1/elections/a%2Fb%20c"),
            ("..", "/v1/elections/%2E%2E"),
            ("größe", "/v1/elections/gr%C3%B6%C3%9Fe"),
        ] {
            assert_eq!(election(&Name::new(name).unwrap(), ""), path);
        }
        assert_eq!(list(Some("a&b"), 10), "/v1/elections?after=a%26b&limit=10");
    }

    #[test]
    fn an_address_is_read_as_people_write_it() {
        assert_eq!(Door::address("http://127.0.0.1:3171/").to_string(), "127.0.0.1:3171");
        let door = Door::address("a:1").with_token("hush".to_owned());
        assert!(!format!("{door:?}").contains("hush"), "{door:?}");
        assert_eq!(door.uptime(Some(7)), None, "another machine has another clock");
    }
}
