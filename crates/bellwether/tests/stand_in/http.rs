//! The paths.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, Path, Query, State as Given};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post, put};
use axum::serve::IncomingStream;
use futures_core::Stream;
use serde_json::{Value, json};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::TOKEN;
use super::process::Process;
use super::state::{Register, Session, State, Want, micros, now};

#[derive(Clone)]
struct Agent {
    state: Arc<Mutex<State>>,
    node: u32,
}

/// Who asks: the process, if it is on this machine.
#[derive(Clone, Copy, Debug)]
struct Peer(Option<i32>);

impl Connected<IncomingStream<'_, UnixListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, UnixListener>) -> Self {
        Self(stream.io().peer_cred().ok().and_then(|peer| peer.pid()))
    }
}

impl Connected<IncomingStream<'_, TcpListener>> for Peer {
    fn connect_info(_: IncomingStream<'_, TcpListener>) -> Self {
        Self(None)
    }
}

pub(super) async fn serve_unix(listener: UnixListener, router: Router) {
    axum::serve(listener, router.into_make_service_with_connect_info::<Peer>()).await.expect("it serves");
}

pub(super) async fn serve_tcp(listener: TcpListener, router: Router) {
    axum::serve(listener, router.into_make_service_with_connect_info::<Peer>()).await.expect("it serves");
}

pub(super) fn router(state: Arc<Mutex<State>>, node: u32) -> Router {
    Router::new()
        .route("/v1/elections", get(list))
        .route("/v1/elections/{name}", get(read).delete(remove))
        .route("/v1/elections/{name}/watch", get(watch))
        .route("/v1/elections/{name}/check", get(check))
        .route("/v1/elections/{name}/value", put(proclaim))
        .route("/v1/elections/{name}/resign", post(resign))
        .route("/v1/elections/{name}/campaign", post(campaign))
        .route("/v1/session", post(open))
        .route("/v1/session/{id}", delete(close))
        .route("/v1/session/{id}/process", post(bind))
        .route("/v1/session/{id}/campaign/{name}", post(join).delete(leave))
        .with_state(Agent { state, node })
}

/// Why something is not done.
struct No(u16, String);

impl IntoResponse for No {
    fn into_response(self) -> Response {
        answer(StatusCode::from_u16(self.0).unwrap(), &json!({ "error": self.1, "valid": false }))
    }
}

type Done = Result<Response, No>;

fn no<T>(status: u16, why: &str) -> Result<T, No> {
    Err(No(status, why.to_owned()))
}

fn answer(status: StatusCode, body: &Value) -> Response {
    (status, [("content-type", "application/json")], body.to_string()).into_response()
}

fn done(body: &Value) -> Done {
    Ok(answer(StatusCode::OK, body))
}

impl Agent {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test panics in here")
    }

    /// Whoever asks may ask for changes.
    fn admit(peer: Peer, headers: &HeaderMap) -> Result<(), No> {
        let token = headers.get("authorization").and_then(|value| value.to_str().ok());
        match peer {
            Peer(Some(_)) => Ok(()),
            Peer(None) if token == Some(&format!("Bearer {TOKEN}")) => Ok(()),
            Peer(None) => no(401, "this needs the token of the API"),
        }
    }

    /// Whoever asks owns that session.
    fn own(state: &State, id: &str, peer: Peer, headers: &HeaderMap) -> Result<(), No> {
        Self::admit(peer, headers)?;
        let Some(session) = state.sessions.get(id).filter(|_| state.forgotten(id).is_none()) else {
            return no(404, "there is no such session");
        };
        let secret = headers.get("bellwether-secret").and_then(|value| value.to_str().ok());
        let is_own = match (peer.0, &session.opener) {
            (Some(pid), Some(opener)) => {
                opener.pid == pid || session.bound.iter().any(|bound| bound.pid == pid)
            }
            (None, None) => secret == Some(&session.secret),
            _ => false,
        };
        if is_own { Ok(()) } else { no(403, "the session is another's") }
    }

    fn begin(&self, peer: Peer) -> String {
        let mut state = self.state();
        let (id, secret) = (format!("s{}", state.count()), format!("secret-{}", state.count()));
        let session = State::session(self.node, secret, peer.0.and_then(Process::find));
        state.open(&id, session);
        id
    }

    fn events(&self, id: &str) -> Response {
        let (tell, told) = unbounded_channel();
        let no = self.state().stream(id, tell);
        let events = Events { told, of: Some((self.clone(), id.to_owned(), no)) };
        self.state().settle();
        events.into_response()
    }
}

/// What is sent as it happens.
struct Events {
    told: UnboundedReceiver<String>,
    of: Option<(Agent, String, u64)>,
}

impl Stream for Events {
    type Item = Result<String, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.told.poll_recv(context).map(|event| event.map(Ok))
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        if let Some((agent, id, no)) = &self.of {
            agent.state().closed(id, *no);
        }
    }
}

impl IntoResponse for Events {
    fn into_response(self) -> Response {
        ([("content-type", "text/event-stream")], Body::from_stream(self)).into_response()
    }
}

fn body(bytes: &Bytes) -> Result<Value, No> {
    if bytes.is_empty() {
        return Ok(json!({}));
    }
    serde_json::from_slice(bytes).map_err(|error| No(400, error.to_string()))
}

fn want(state: &mut State, name: &str, body: &Value) -> Result<Want, No> {
    for key in body.as_object().into_iter().flat_map(serde_json::Map::keys) {
        if !["kind", "value", "priority", "keep"].contains(&key.as_str()) {
            return no(400, &format!("found \"{key}\""));
        }
    }
    let known = state.names.get(name).map(|register| register.kind.clone());
    let kind =
        body["kind"].as_str().map(str::to_owned).or(known.clone()).unwrap_or_else(|| "lease".to_owned());
    if known.is_some_and(|known| known != kind) {
        return no(409, &format!("\"{name}\" is of another kind"));
    }
    state.names.entry(name.to_owned()).or_insert_with(|| Register::new(&kind));
    let priority = body["priority"].as_u64().and_then(|priority| u32::try_from(priority).ok()).unwrap_or(0);
    let value = body["value"].as_str().unwrap_or_default().to_owned();
    Ok(Want { kind, priority, value, no: state.count(), told: None })
}

async fn campaign(
    Given(agent): Given<Agent>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Path(name): Path<String>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Done {
    Agent::admit(peer, &headers)?;
    let want = want(&mut agent.state(), &name, &body(&bytes)?)?;
    let id = agent.begin(peer);
    agent.state().sessions.get_mut(&id).unwrap().wants.insert(name, want);
    Ok(agent.events(&id))
}

async fn open(
    Given(agent): Given<Agent>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Done {
    Agent::admit(peer, &headers)?;
    let body = body(&bytes)?;
    let Some(resume) = body.get("resume") else {
        let id = agent.begin(peer);
        return Ok(agent.events(&id));
    };
    let (id, held) = agent.resume(peer, resume)?;
    let events = agent.events(&id);
    held.iter().for_each(|name| agent.state().tell_elected(name));
    Ok(events)
}

impl Agent {
    /// The session that goes on, and what it holds.
    fn resume(&self, peer: Peer, resume: &Value) -> Result<(String, Vec<String>), No> {
        let id = resume["session"].as_str().unwrap_or_default().to_owned();
        match self.state().sessions.get(&id) {
            None => return no(404, "there is no such session"),
            Some(session) if resume["secret"].as_str() != Some(&session.secret) => {
                return no(403, "the session is another's");
            }
            Some(_) => {}
        }
        let told = resume["valid_until"].as_u64().map(Duration::from_micros);
        let left = resume["valid_ms"].as_u64().map(|left| now() + Duration::from_millis(left));
        if told.or(left).is_some_and(|until| until < now()) {
            return no(409, "what was held is valid no more");
        }
        let is_new = self.state().forgotten(&id).is_some();
        let new = if is_new { self.begin(peer) } else { id.clone() };
        let mut state = self.state();
        if is_new {
            let bound = resume["bound"].as_array().into_iter().flatten().filter_map(Value::as_i64);
            let bound = bound.filter_map(|pid| Process::find(pid.try_into().ok()?)).collect();
            state.sessions.get_mut(&new).unwrap().bound = bound;
        }
        let holds = resume["holds"].as_array().into_iter().flatten();
        let mut held = Vec::new();
        for (name, token) in holds.filter_map(|hold| Some((hold["name"].as_str()?, hold["token"].as_u64()?)))
        {
            if state.goes_on(name, token, &id, &new) {
                held.push(name.to_owned());
            }
        }
        Ok((new, held))
    }
}

async fn join(
    Given(agent): Given<Agent>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Path((id, name)): Path<(String, String)>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Done {
    let mut state = agent.state();
    Agent::own(&state, &id, peer, &headers)?;
    if state.sessions[&id].wants.contains_key(&name) {
        return no(409, "this session campaigns for that already");
    }
    let want = want(&mut state, &name, &body(&bytes)?)?;
    state.sessions.get_mut(&id).unwrap().wants.insert(name, want);
    state.settle();
    done(&json!({ "campaign": 1 }))
}

async fn leave(
    Given(agent): Given<Agent>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Path((id, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Done {
    let mut state = agent.state();
    Agent::own(&state, &id, peer, &headers)?;
    if state.leave(&id, &name) { done(&json!({})) } else { no(404, "there is no such campaign") }
}

async fn close(
    Given(agent): Given<Agent>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Done {
    let mut state = agent.state();
    Agent::own(&state, &id, peer, &headers)?;
    state.end(&id);
    done(&json!({}))
}

async fn bind(
    Given(agent): Given<Agent>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Path(id): Path<String>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Done {
    let pid = body(&bytes)?["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok()).unwrap_or(0);
    let mut state = agent.state();
    Agent::own(&state, &id, peer, &headers)?;
    let session = state.sessions.get_mut(&id).unwrap();
    let Some(process) = Process::find(pid) else { return no(400, "there is no such process") };
    let of: Vec<_> = session.opener.iter().chain(&session.bound).map(|process| Some(process.pid)).collect();
    if !of.contains(&process.parent()) {
        return no(403, "it is no child of the session's processes");
    }
    session.bound.retain(|bound: &Process| !bound.is_gone());
    session.bound.push(process);
    let bound: Vec<_> = session.bound.iter().map(|process| process.pid).collect();
    done(&json!({ "bound": bound }))
}

async fn list(Given(agent): Given<Agent>, Query(query): Query<BTreeMap<String, String>>) -> Done {
    let limit: usize = query.get("limit").and_then(|limit| limit.parse().ok()).unwrap_or(1000);
    let after = query.get("after").map(String::as_str).unwrap_or_default();
    let state = agent.state();
    let names: Vec<_> = state.names.keys().filter(|name| name.as_str() > after).collect();
    let elections: Vec<_> = names.iter().take(limit).filter_map(|name| state.election(name)).collect();
    let next = names.get(limit).and(names.get(limit.wrapping_sub(1)));
    done(&json!({ "elections": elections, "next": next }))
}

async fn read(Given(agent): Given<Agent>, Path(name): Path<String>) -> Done {
    match agent.state().election(&name) {
        Some(election) => done(&election),
        None => no(404, "there is no such election"),
    }
}

async fn remove(
    Given(agent): Given<Agent>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Done {
    Agent::admit(peer, &headers)?;
    let mut state = agent.state();
    match state.names.get(&name).map(|register| register.holder.is_some()) {
        None => no(404, "there is no such election"),
        Some(true) => no(409, "it is held"),
        Some(false) => {
            state.names.remove(&name);
            state.settle();
            done(&json!({ "deleted": true }))
        }
    }
}

async fn watch(Given(agent): Given<Agent>, Path(name): Path<String>) -> Done {
    let (tell, told) = unbounded_channel();
    agent.state().watch(&name, tell);
    Ok(Events { told, of: None }.into_response())
}

async fn check(
    Given(agent): Given<Agent>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Path(name): Path<String>,
    Query(query): Query<BTreeMap<String, u64>>,
) -> Done {
    let token = query.get("token").copied();
    let mut state = agent.state();
    let valid_until = state.valid_until(agent.node);
    let State { names, sessions, .. } = &mut *state;
    let register = names.get(&name).filter(|register| Some(register.token) == token);
    let session = register.and_then(|register| sessions.get_mut(register.holder.as_ref()?));
    let (Some(register), Some(session)) = (register, session) else {
        return no(409, "it is not the holder's");
    };
    let left = valid_until.saturating_sub(now());
    if session.node != agent.node || left.is_zero() {
        return no(409, "it is not valid here");
    }
    let mut valid = json!({ "name": name, "token": token, "valid": true });
    if register.kind == "lease" {
        tell(session, valid_until);
        valid["valid_ms"] = json!(u64::try_from(left.as_millis()).unwrap());
        if peer.0.is_some() {
            valid["valid_until"] = json!(micros(valid_until));
        }
    }
    done(&valid)
}

fn tell(session: &mut Session, valid_until: Duration) {
    session.told = session.told.max(valid_until);
}

async fn proclaim(Given(agent): Given<Agent>, Path(name): Path<String>, bytes: Bytes) -> Done {
    let body = body(&bytes)?;
    let mut state = agent.state();
    let Some(register) = state.names.get_mut(&name).filter(|held| Some(held.token) == body["token"].as_u64())
    else {
        return no(409, "the token is not the holder's");
    };
    register.value = body["value"].as_str().unwrap_or_default().to_owned();
    state.settle();
    done(&state.election(&name).unwrap())
}

async fn resign(Given(agent): Given<Agent>, Path(name): Path<String>) -> Done {
    agent.state().ask_back(&name, "resign");
    done(&json!({}))
}
