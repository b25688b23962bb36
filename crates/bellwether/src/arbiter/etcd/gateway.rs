//! Connections to etcd's gateway: a few for each endpoint, used again and again.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::said::{Authenticated, Problem};
use crate::arbiter::Trouble;
use crate::arbiter::tls::ClientTls;

pub(super) const ENGINE: &str = "etcd";
/// So many connections are kept for the next question.
const IDLE_MAX: usize = 8;
/// So many questions are asked at a time.
const QUESTIONS_MAX: usize = 32;
/// No answer is longer: a hundred thousand keys with short values.
const ANSWER_MAX: usize = 64 << 20;
/// A question has so long to be answered, as long as no other endpoint is asked.
const PATIENCE: Duration = Duration::from_secs(5);
/// One that does not answer a question about a lease in time is asked no more. It has at least so long.
const PATIENCE_MIN: Duration = Duration::from_millis(250);

type Sender = SendRequest<Full<Bytes>>;

/// All endpoints, of which one is asked at a time.
pub(super) struct Gateway {
    endpoints: Vec<Endpoint>,
    at: watch::Sender<usize>,
    user: Option<(String, String)>,
    /// What etcd knows the user by; nothing if it wants no users.
    token: Mutex<Option<String>>,
    room: Semaphore,
    lease_patience: Duration,
}

struct Endpoint {
    /// `host:port`
    address: String,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    idle: Mutex<VecDeque<Sender>>,
}

impl Gateway {
    pub(super) fn new(
        endpoints: &[String],
        user: Option<(String, String)>,
        tls: Option<&ClientTls>,
        lease_patience: Duration,
    ) -> Result<Self, Trouble> {
        if endpoints.is_empty() {
            return Err(unfit("endpoints", "none", "one at least"));
        }
        let config = tls.map(ClientTls::config).transpose()?.map(Arc::new);
        let endpoints = endpoints.iter().map(|written| {
            let (address, is_secure) = match written.split_once("://") {
                None => (written.as_str(), config.is_some()),
                Some(("http", address)) => (address, false),
                Some(("https", address)) => (address, true),
                Some(_) => return Err(unfit("endpoints", written, "http, https or nothing before the host")),
            };
            let address = address.trim_end_matches('/');
            let host = address.rsplit_once(':').map(|(host, _)| host.trim_matches(['[', ']']));
            let host = host.ok_or_else(|| unfit("endpoints", written, "a host and a port"))?;
            let tls = match (is_secure, &config) {
                (false, _) => None,
                (true, None) => return Err(unfit("endpoints", written, "http, or an authority to trust")),
                (true, Some(config)) => {
                    let name = ServerName::try_from(host.to_owned());
                    let name = name.map_err(|_| unfit("endpoints", written, "the name of a host"))?;
                    Some((TlsConnector::from(Arc::clone(config)), name))
                }
            };
            Ok(Endpoint { address: address.to_owned(), tls, idle: Mutex::default() })
        });
        Ok(Self {
            endpoints: endpoints.collect::<Result<_, _>>()?,
            at: watch::Sender::new(0),
            user,
            token: Mutex::new(None),
            room: Semaphore::new(QUESTIONS_MAX),
            lease_patience: lease_patience.max(PATIENCE_MIN),
        })
    }

    /// Which endpoint is asked.
    pub(super) fn at(&self) -> usize {
        *self.at.borrow()
    }

    /// Waits until another one is.
    pub(super) async fn turns_from(&self, at: usize) {
        // The sender is here for as long as this is.
        let _ = self.at.subscribe().wait_for(|now| *now != at).await;
    }

    fn turn_from(&self, at: usize) {
        self.at.send_if_modified(|now| {
            let turns = *now == at && self.endpoints.len() > 1;
            if turns {
                *now = (at + 1) % self.endpoints.len();
            }
            turns
        });
    }

    pub(super) fn unreachable(&self, at: usize, why: impl fmt::Display) -> Trouble {
        let at = self.endpoints[at].address.clone();
        Trouble::Unreachable { engine: ENGINE, at, why: why.to_string() }
    }

    /// Asks one endpoint after the other.
    pub(super) async fn ask_all<T: DeserializeOwned>(&self, path: &str, what: &Value) -> Result<T, Trouble> {
        let mut tries = self.endpoints.len();
        loop {
            tries -= 1;
            match self.ask(path, what).await {
                Err(Trouble::Unreachable { .. }) if tries > 0 => {}
                answer => return answer,
            }
        }
    }

    /// Asks. If nobody answers, the next question goes to the next endpoint.
    pub(super) async fn ask<T: DeserializeOwned>(&self, path: &str, what: &Value) -> Result<T, Trouble> {
        self.ask_within(PATIENCE, self.at(), path, what).await
    }

    /// Asks that one about a lease.
    pub(super) async fn ask_soon<T: DeserializeOwned>(
        &self,
        at: usize,
        path: &str,
        what: &Value,
    ) -> Result<T, Trouble> {
        self.ask_within(self.lease_patience, at, path, what).await
    }

    async fn ask_within<T: DeserializeOwned>(
        &self,
        within: Duration,
        at: usize,
        path: &str,
        what: &Value,
    ) -> Result<T, Trouble> {
        let answer = self.in_time(within, at, async {
            let _room = self.room.acquire().await;
            match self.ask_as_user(at, path, what).await {
                // The token is too old, or etcd was started anew.
                Err(Trouble::Refused { why, .. }) if why.contains("auth token") => {
                    *self.known_token() = None;
                    self.ask_as_user(at, path, what).await
                }
                answer => answer,
            }
        });
        let body = answer.await?;
        serde_json::from_slice(&body).map_err(|error| {
            let found = format!("an answer that {error}");
            unfit(&self.endpoints[at].address, &found, "what etcd's gateway says")
        })
    }

    /// Asks for something that is told as it happens.
    pub(super) async fn stream(&self, at: usize, path: &str, what: &Value) -> Result<Incoming, Trouble> {
        self.in_time(PATIENCE, at, async {
            let token = self.token(at).await?;
            let mut connection = self.connect(at).await?;
            let (response, _) = self.send(at, &mut connection, path, what, token).await?;
            Ok(response.into_body())
        })
        .await
    }

    async fn in_time<T>(
        &self,
        within: Duration,
        at: usize,
        does: impl Future<Output = Result<T, Trouble>>,
    ) -> Result<T, Trouble> {
        let done = tokio::select! {
            biased;
            done = timeout(within, does) => {
                done.unwrap_or_else(|_| Err(self.unreachable(at, "no answer in time")))
            }
            () = self.turns_from(at) => Err(self.unreachable(at, "another is asked by now")),
        };
        if let Err(Trouble::Unreachable { .. }) = done {
            self.turn_from(at);
        }
        done
    }

    fn known_token(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.token.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn token(&self, at: usize) -> Result<Option<HeaderValue>, Trouble> {
        let Some((name, password)) = &self.user else { return Ok(None) };
        let known = self.known_token().clone();
        let token = match known {
            Some(token) => token,
            None => {
                let asked = json!({ "name": name, "password": password });
                let token = match self.question(at, "/v3/auth/authenticate", &asked, None).await {
                    Ok(body) => serde_json::from_slice::<Authenticated>(&body).map(|said| said.token),
                    // It wants no users.
                    Err(Trouble::Refused { why, .. }) if why.contains("not enabled") => Ok(String::new()),
                    Err(trouble) => return Err(trouble),
                };
                let token = token.map_err(|error| unfit(&self.endpoints[at].address, &error, "a token"))?;
                *self.known_token() = Some(token.clone());
                token
            }
        };
        Ok(HeaderValue::from_str(&token).ok().filter(|token| !token.is_empty()))
    }

    async fn ask_as_user(&self, at: usize, path: &str, what: &Value) -> Result<Bytes, Trouble> {
        let token = self.token(at).await?;
        self.question(at, path, what, token).await
    }

    /// Whatever is asked may be asked again: a connection that was closed meanwhile is replaced.
    async fn question(
        &self,
        at: usize,
        path: &str,
        what: &Value,
        token: Option<HeaderValue>,
    ) -> Result<Bytes, Trouble> {
        let idle = self.endpoints[at].idle().pop_back().filter(Sender::is_ready);
        if let Some(mut connection) = idle
            && let Ok((response, status)) = self.send(at, &mut connection, path, what, token.clone()).await
        {
            return self.answer(at, connection, response, status).await;
        }
        let mut connection = self.connect(at).await?;
        let (response, status) = self.send(at, &mut connection, path, what, token).await?;
        self.answer(at, connection, response, status).await
    }

    async fn answer(
        &self,
        at: usize,
        connection: Sender,
        response: Response<Incoming>,
        is_success: bool,
    ) -> Result<Bytes, Trouble> {
        let body = Limited::new(response.into_body(), ANSWER_MAX).collect().await;
        let body = body.map_err(|error| self.unreachable(at, error))?.to_bytes();
        let mut idle = self.endpoints[at].idle();
        if idle.len() < IDLE_MAX {
            idle.push_back(connection);
        }
        drop(idle);
        if is_success { Ok(body) } else { Err(self.refused(at, &body)) }
    }

    async fn send(
        &self,
        at: usize,
        connection: &mut Sender,
        path: &str,
        what: &Value,
        token: Option<HeaderValue>,
    ) -> Result<(Response<Incoming>, bool), Trouble> {
        let request = Request::post(path)
            .header(HOST, &self.endpoints[at].address)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::from(what.to_string()))
            .map_err(|error| unfit(&self.endpoints[at].address, &error, "the name of a host"));
        let mut request = request?;
        request.headers_mut().extend(token.map(|token| (AUTHORIZATION, token)));
        connection.ready().await.map_err(|error| self.unreachable(at, error))?;
        let response = connection.send_request(request).await.map_err(|error| self.unreachable(at, error))?;
        let is_success = response.status().is_success();
        Ok((response, is_success))
    }

    async fn connect(&self, at: usize) -> Result<Sender, Trouble> {
        let Endpoint { address, tls, .. } = &self.endpoints[at];
        let stream = TcpStream::connect(address).await.map_err(|error| self.unreachable(at, error))?;
        let _ = stream.set_nodelay(true);
        let failed = |error: hyper::Error| self.unreachable(at, error);
        match tls {
            None => {
                let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(failed)?;
                tokio::spawn(connection);
                Ok(sender)
            }
            Some((connector, name)) => {
                let stream = connector.connect(name.clone(), stream).await;
                let stream = stream.map_err(|error| self.unreachable(at, error))?;
                let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(failed)?;
                tokio::spawn(connection);
                Ok(sender)
            }
        }
    }

    /// What etcd says when it does not do what it is asked. The numbers are those of gRPC.
    fn refused(&self, at: usize, body: &[u8]) -> Trouble {
        let Ok(problem) = serde_json::from_slice::<Problem>(body) else {
            let found = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
            return unfit(&self.endpoints[at].address, &found, "what etcd's gateway says");
        };
        let Problem { error, message, code } = problem;
        let why = if message.is_empty() { error.to_string() } else { message };
        match code {
            NOT_FOUND if why.contains("lease not found") => Trouble::Gone,
            UNAVAILABLE | DEADLINE_EXCEEDED | UNKNOWN | CANCELLED => self.unreachable(at, why),
            code => {
                let is_wrong = [INVALID_ARGUMENT, PERMISSION_DENIED, UNAUTHENTICATED].contains(&code);
                Trouble::Refused { engine: ENGINE, at: self.endpoints[at].address.clone(), why, is_wrong }
            }
        }
    }
}

const CANCELLED: u32 = 1;
const UNKNOWN: u32 = 2;
const INVALID_ARGUMENT: u32 = 3;
const DEADLINE_EXCEEDED: u32 = 4;
const NOT_FOUND: u32 = 5;
const PERMISSION_DENIED: u32 = 7;
const UNAVAILABLE: u32 = 14;
const UNAUTHENTICATED: u32 = 16;

impl Endpoint {
    fn idle(&self) -> std::sync::MutexGuard<'_, VecDeque<Sender>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unfit(at: &str, found: impl fmt::Display, wanted: &str) -> Trouble {
    Trouble::Unfit { at: at.to_owned(), found: found.to_string(), wanted: wanted.to_owned() }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.endpoints.iter().map(|endpoint| &endpoint.address)).finish()
    }
}
