//! Asks an agent, over its HTTP interface.

pub(crate) mod events;
mod socket;
pub(crate) mod words;

use std::ffi::OsString;
use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use ureq::config::{Config, ConfigBuilder};
use ureq::http::{Response, StatusCode};
use ureq::typestate::AgentScope;
use ureq::{Agent, Body, RequestBuilder, Timeout};

use crate::Status;
use crate::agent::config::address;
use crate::args::agent::{ApiArgs, DoorArgs, TokenArgs};
use crate::output::Printer;
use crate::schema::Problem;
use crate::trouble::Trouble;
use events::Events;
use socket::{AtSocket, Nowhere};

/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How long a change may take: the next leader is waited for.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(30);
/// A watched agent that is silent for longer is lost: it says something every five seconds.
const SILENCE_MAX: Duration = Duration::from_secs(15);
/// No answer is longer.
const ANSWER_MAX: u64 = 4 << 20;

const STREAM: &str = "text/event-stream";
/// The header in which a session proves itself.
const SECRET: &str = "Bellwether-Secret";

/// So much of a token is read. One that is cut off is wrong, and the agent says so.
const TOKEN_MAX: u64 = 8192;

/// An agent that can be asked.
#[derive(Clone)]
pub(crate) struct Client {
    door: Door,
    token: Option<String>,
}

/// Where it is asked.
#[derive(Clone, Debug)]
pub(crate) enum Door {
    /// `host:port`
    Api(String),
    Socket(PathBuf),
}

impl Door {
    /// The agent that was asked for. A flag counts more than a variable; the socket needs no token, so its variable comes first.
    pub(crate) fn of(args: &DoorArgs) -> Self {
        let socket = args.socket.clone().or_else(|| match args.api {
            Some(_) => None,
            None => variable("BELLWETHER_SOCKET").map(PathBuf::from),
        });
        if let Some(path) = socket {
            return Self::Socket(path);
        }
        let api = args.api.clone().or_else(|| variable("BELLWETHER_API")?.into_string().ok());
        let api = api.unwrap_or_else(|| address::API.to_string());
        let api = api.trim_start_matches("http://").trim_end_matches('/');
        // What is no address is one that nobody answers at: whoever asks is told so.
        Self::Api(address::host_and(api, address::API.port()).unwrap_or_else(|| api.to_owned()))
    }

    /// What is wrong with it, if it is no address at all.
    pub(crate) fn problem(&self) -> Option<String> {
        let Self::Api(api) = self else { return None };
        let is_address = address::host_and(api, address::API.port()).is_some();
        (!is_address).then(|| {
            format!("found \"{api}\", expected the address of an agent's API, such as {}", address::API)
        })
    }
}

/// One that is empty is as good as none.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Api(api) => f.write_str(api),
            Self::Socket(path) => path.display().fmt(f),
        }
    }
}

/// Why an agent's answer is not what was asked for.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The question was wrong, the token for instance.
    BadInput(String),
    /// There is no answer, or the agent refused.
    Failed(String),
}

impl Failure {
    /// Prints it.
    pub(crate) fn report(self, out: &Printer) -> Status {
        let (what, status) = match self {
            Self::BadInput(what) => (what, Status::BadInput),
            Self::Failed(what) => (what, Status::Failed),
        };
        out.error(what);
        status
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::BadInput(what) => Self::wrong(what),
            Failure::Failed(what) => Self::failed(what),
        }
    }
}

impl Client {
    /// An agent at that address.
    pub(crate) fn at(api: impl Into<String>) -> Self {
        Self { door: Door::Api(api.into()), token: None }
    }

    /// The agent that was asked for.
    pub(crate) fn new(args: &ApiArgs) -> Self {
        Self { door: Door::of(&args.door), token: None }
    }

    /// With the token that was given.
    pub(crate) fn with_token(self, args: &TokenArgs) -> Result<Self, Failure> {
        Ok(Self { token: token_of(args)?, ..self })
    }

    /// Asks.
    pub(crate) fn get(&self, path: &str) -> Result<Value, Failure> {
        let request = self.agent(config_for(TIMEOUT)).get(self.url(path));
        self.answer(request.call(), TIMEOUT)
    }

    /// Asks for a change.
    pub(crate) fn post(&self, path: &str, body: &impl Serialize) -> Result<Value, Failure> {
        let request =
            self.agent(config_for(CHANGE_TIMEOUT)).post(self.url(path)).content_type("application/json");
        self.answer(self.authorised(request).send(json!(body).to_string()), CHANGE_TIMEOUT)
    }

    /// Asks for something to be removed.
    pub(crate) fn delete(&self, path: &str) -> Result<Value, Failure> {
        let request = self.agent(config_for(CHANGE_TIMEOUT)).delete(self.url(path));
        self.answer(self.authorised(request).call(), CHANGE_TIMEOUT)
    }

    /// The same, of a session.
    pub(crate) fn delete_of(&self, secret: &str, path: &str) -> Result<Value, Failure> {
        let request = self.agent(config_for(CHANGE_TIMEOUT)).delete(self.url(path)).header(SECRET, secret);
        self.answer(self.authorised(request).call(), CHANGE_TIMEOUT)
    }

    /// Asks for a change of a session.
    pub(crate) fn post_of(&self, secret: &str, path: &str, body: &impl Serialize) -> Result<Value, Failure> {
        let request = self.agent(config_for(CHANGE_TIMEOUT)).post(self.url(path)).header(SECRET, secret);
        let request = self.authorised(request.content_type("application/json"));
        self.answer(request.send(json!(body).to_string()), CHANGE_TIMEOUT)
    }

    fn authorised<B>(&self, request: RequestBuilder<B>) -> RequestBuilder<B> {
        match &self.token {
            Some(token) => request.header("Authorization", format!("Bearer {token}")),
            None => request,
        }
    }

    /// The agent's events from now on, or after that change.
    pub(crate) fn watch(&self, after: Option<u64>) -> Result<Events, Failure> {
        let mut request = self.streaming().get(self.url("/v1/watch")).header("Accept", STREAM);
        if let Some(after) = after {
            request = request.header("Last-Event-ID", after.to_string());
        }
        self.events(request.call())
    }

    /// Events of something else.
    pub(crate) fn follow(&self, path: &str) -> Result<Events, Failure> {
        self.events(self.streaming().get(self.url(path)).header("Accept", STREAM).call())
    }

    /// The events of a new session.
    pub(crate) fn session(&self) -> Result<Events, Failure> {
        let request = self.streaming().post(self.url("/v1/session")).header("Accept", STREAM);
        self.events(self.authorised(request).send_empty())
    }

    fn streaming(&self) -> Agent {
        self.agent(config(TIMEOUT).timeout_per_read(Some(SILENCE_MAX)).build())
    }

    fn events(&self, response: Result<Response<Body>, ureq::Error>) -> Result<Events, Failure> {
        let response = response.map_err(|error| self.unreachable(&error, TIMEOUT))?;
        if response.status().is_success() {
            return Ok(Events::new(BufReader::new(Box::new(response.into_body().into_reader()))));
        }
        let (status, answer) = self.read(response)?;
        Err(self.refusal(status, &answer))
    }

    fn agent(&self, config: Config) -> Agent {
        match &self.door {
            Door::Api(_) => Agent::new_with_config(config),
            Door::Socket(path) => Agent::with_parts(config, AtSocket(path.clone()), Nowhere),
        }
    }

    fn url(&self, path: &str) -> String {
        match &self.door {
            Door::Api(api) => format!("http://{api}{path}"),
            Door::Socket(_) => format!("http://localhost{path}"),
        }
    }

    fn answer(
        &self,
        response: Result<Response<Body>, ureq::Error>,
        within: Duration,
    ) -> Result<Value, Failure> {
        let (status, answer) = self.read(response.map_err(|error| self.unreachable(&error, within))?)?;
        if status.is_success() { Ok(answer) } else { Err(self.refusal(status, &answer)) }
    }

    fn read(&self, response: Response<Body>) -> Result<(StatusCode, Value), Failure> {
        let status = response.status();
        let mut text = String::new();
        let body = response.into_body().into_reader().take(ANSWER_MAX).read_to_string(&mut text);
        body.map_err(|error| Failure::Failed(format!("{}: the answer broke off: {error}", self.door)))?;
        let answer = serde_json::from_str(&text).map_err(|_| self.is_no_agent(status))?;
        Ok((status, answer))
    }

    fn refusal(&self, status: StatusCode, answer: &Value) -> Failure {
        let Ok(Problem { error }) = Problem::deserialize(answer) else { return self.is_no_agent(status) };
        let reason = format!("{}: {error}", self.door);
        match status {
            StatusCode::UNAUTHORIZED if self.token.is_none() => Failure::BadInput(format!(
                "{}: this needs a token: --token, --token-file or BELLWETHER_TOKEN",
                self.door
            )),
            StatusCode::BAD_REQUEST | StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Failure::BadInput(reason)
            }
            _ => Failure::Failed(reason),
        }
    }

    /// Why there is no answer, which was waited for so long.
    fn unreachable(&self, error: &ureq::Error, within: Duration) -> Failure {
        if let Some(problem) = self.door.problem() {
            return Failure::BadInput(problem);
        }
        match error {
            ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => Failure::Failed(format!(
                "no agent answers at {}: it took no connection within {} s",
                self.door,
                TIMEOUT.as_secs()
            )),
            ureq::Error::Timeout(_) => Failure::Failed(format!(
                "the agent at {} took the connection and did not answer within {} s: is it stopped?",
                self.door,
                within.as_secs()
            )),
            ureq::Error::Io(error) => {
                Failure::Failed(format!("no agent answers at {}: {error}{}", self.door, self.advice(error)))
            }
            other => Failure::Failed(format!("no agent answers at {}: {other}", self.door)),
        }
    }

    /// What to look at.
    fn advice(&self, error: &io::Error) -> &'static str {
        match (&self.door, error.kind()) {
            (Door::Api(_), _) => "",
            (Door::Socket(_), ErrorKind::PermissionDenied) => {
                ": the agent's `listen.socket_mode` says who may connect"
            }
            (Door::Socket(_), _) => ": is the agent running, and is that its `listen.socket`?",
        }
    }

    fn is_no_agent(&self, status: StatusCode) -> Failure {
        Failure::Failed(format!(
            "{}: found an answer with status {}, expected that of an agent",
            self.door,
            status.as_u16()
        ))
    }
}

/// For an answer that may take so long.
fn config_for(answer: Duration) -> Config {
    config(answer).timeout_recv_body(Some(answer)).build()
}

/// Connects directly to the agent. Each part has a time limit of its own, so that the error says which was
/// exceeded.
fn config(answer: Duration) -> ConfigBuilder<AgentScope> {
    Agent::config_builder()
        .http_status_as_error(false)
        .proxy(None)
        .max_redirects(0)
        .timeout_resolve(Some(TIMEOUT))
        .timeout_connect(Some(TIMEOUT))
        .timeout_send_request(Some(TIMEOUT))
        .timeout_send_body(Some(TIMEOUT))
        .timeout_recv_response(Some(answer))
}

/// A name as it stands in a path.
pub(crate) fn encoded(name: &str) -> String {
    let mut path = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' => path.push(char::from(byte)),
            // A path of dots alone would be taken for a step upwards.
            other => {
                let _ = write!(path, "%{other:02X}");
            }
        }
    }
    path
}

/// The answer in a form that can be read here.
pub(crate) fn understand<T: DeserializeOwned>(answer: Value) -> Result<T, Failure> {
    serde_json::from_value(answer)
        .map_err(|error| Failure::Failed(format!("the agent's answer is of another version: {error}")))
}

/// The token that was given.
pub(crate) fn token_of(args: &TokenArgs) -> Result<Option<String>, Failure> {
    match (&args.token, &args.token_file) {
        (Some(token), _) => Ok(Some(token.clone())),
        (None, Some(file)) => read_token(file).map(Some),
        (None, None) => Ok(std::env::var("BELLWETHER_TOKEN").ok()),
    }
}

fn read_token(file: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = File::open(file).and_then(|file| file.take(TOKEN_MAX).read_to_string(&mut text));
    read.map_err(|error| {
        Failure::BadInput(format!("cannot read the token from {}: {error}", file.display()))
    })?;
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_have_anything_in_it() {
        for (name, path) in
            [("backup-1", "backup-1"), ("a/b c", "a%2Fb%20c"), ("..", "%2E%2E"), ("é?", "%C3%A9%3F")]
        {
            assert_eq!(encoded(name), path);
        }
    }
}
