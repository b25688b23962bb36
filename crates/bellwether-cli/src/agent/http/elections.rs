//! Named elections: who holds what, and who is to hold it.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::extract::{ConnectInfo, Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use bellwether::elections::{Election, Name, uptime};
use bellwether::member::Hold;
use bellwether::status::Standing;
use bellwether::{Member, NodeId, Refused};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::change::{Authorised, PATIENCE, body_of_at_most, parse, within};
use super::connection::Client;
use super::error::Problem;
use super::sessions::{BODY_MAX, Exclusively, asked, value};
use super::status::answer;
use super::stream::{Reading, form};
use super::{Api, rfc3339};
use crate::agent::sessions::{Back, End, Feed, Sessions, micros};
use crate::schema::elections::{self, Elections, Event, Holder, Proclaim, ResignElection, TransferElection};

/// So many elections are listed at once.
const PAGE_MAX: usize = 1000;

/// `?after=NAME&limit=N`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    after: Option<String>,
    limit: Option<usize>,
}

/// `?read=quorum`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct How {
    read: Option<String>,
}

/// `?token=N`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shown {
    token: u64,
}

pub(super) async fn list(
    State(api): State<Api>,
    _: Exclusively,
    query: Result<Query<Page>, QueryRejection>,
) -> Result<Json<Value>, Problem> {
    let Page { after, limit } = query_of(query)?;
    let limit = limit.unwrap_or(PAGE_MAX);
    if !(1..=PAGE_MAX).contains(&limit) {
        return Err(Problem::bad_request(format!("limit: found {limit}, expected from 1 to {PAGE_MAX}")));
    }
    let after = after.map(|after| name_of(&after, "after")).transpose()?;
    let mut known = api.member.elections(after.as_ref(), limit + 1);
    let more = known.len() > limit;
    known.truncate(limit);
    let elections: Vec<_> = known.iter().map(elections::Election::from).collect();
    let next = elections.last().filter(|_| more).map(|last| last.name.clone());
    Ok(answer(Elections { elections, next }))
}

pub(super) async fn one(
    State(api): State<Api>,
    _: Exclusively,
    path: Result<Path<String>, PathRejection>,
    query: Result<Query<How>, QueryRejection>,
) -> Result<Json<Value>, Problem> {
    let (name, How { read }) = (named(path)?, query_of(query)?);
    let known = match read.as_deref() {
        None | Some("local") => api.member.known_election(&name),
        Some("quorum") => read_by_majority(&api.member, &name).await?,
        Some(other) => {
            return Err(Problem::bad_request(format!("read: found {other:?}, expected `local` or `quorum`")));
        }
    };
    known.map(|known| shown(&known)).ok_or_else(|| unknown(&name))
}

/// What becomes of an election: how it stands, then each change.
pub(super) async fn watch(
    State(api): State<Api>,
    Exclusively(sessions): Exclusively,
    ConnectInfo(client): ConnectInfo<Client>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (name, form) = (named(path)?, form(&headers));
    if sessions.is_leaving() {
        return Err(Problem::unavailable("the agent is ending"));
    }
    let (watching, feed) = (client.watch()?, sessions.feed(form));
    let task = tokio::spawn(follow(api.member, name, Arc::clone(&feed)));
    Ok(Reading::task(task.abort_handle(), feed, client, watching).answer(form))
}

async fn follow(member: Member, name: Name, feed: Arc<Feed>) {
    let mut changes = member.observe_election(&name);
    while let Some(known) = changes.next().await {
        let event = known
            .map_or_else(|| Event::None { name: name.to_string() }, |known| Event::Election((&known).into()));
        if feed.tell(&event).is_err() {
            return;
        }
    }
    feed.end(End::AgentEnds);
}

/// Whether one may act with that token now.
pub(super) async fn check(
    State(api): State<Api>,
    Exclusively(sessions): Exclusively,
    ConnectInfo(client): ConnectInfo<Client>,
    path: Result<Path<String>, PathRejection>,
    query: Result<Query<Shown>, QueryRejection>,
) -> Result<Response, Problem> {
    let (name, Shown { token }) = (named(path)?, query_of(query)?);
    let until = match sessions.holder(&name) {
        Some(candidate) => candidate.check(token).await,
        None => own_validity(&api.member, &name, token),
    };
    let Some(until) = until else {
        let error =
            format!("token {token} of \"{name}\" is not that of a holder who may act now through this agent");
        let said = answer(json!({ "error": error, "valid": false }));
        return Ok((StatusCode::CONFLICT, said).into_response());
    };
    let by_clock = (until != Duration::MAX).then_some(until);
    let left = by_clock.map(|until| until.saturating_sub(uptime()).as_millis());
    let mut said = json!({ "name": name.as_str(), "token": token, "valid": true, "valid_ms": left });
    if client.caller().is_some() {
        said["valid_until"] = json!(by_clock.map(micros));
    }
    Ok(answer(said).into_response())
}

/// Until when the agent itself may act as the cluster's leader.
fn own_validity(member: &Member, name: &Name, token: u64) -> Option<Duration> {
    let status = member.status();
    let told =
        status.exclusive.filter(|_| *name == Name::leader() && status.standing == Standing::Leading)?;
    (told.token == Some(token)).then(|| told.valid_for.map_or(Duration::MAX, |left| uptime() + left))
}

/// The holder proclaims something.
pub(super) async fn proclaim(
    _: Authorised,
    State(api): State<Api>,
    Exclusively(sessions): Exclusively,
    path: Result<Path<String>, PathRejection>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Problem> {
    let name = named(path)?;
    let Proclaim { token, value: text } = parse(&body_of_at_most(body, BODY_MAX)?)?;
    let value = value(text)?;
    let candidate = sessions.holder(&name).ok_or_else(|| not_the_token(&name, token))?;
    let proclaimed = timeout(PATIENCE, candidate.proclaim(token, value)).await;
    match proclaimed {
        Ok(Some(proclaimed)) => proclaimed?,
        Ok(None) => return Err(not_the_token(&name, token)),
        Err(_) => within(std::future::pending()).await?,
    }
    fresh(&api.member, &name).await
}

/// Asks the holder to give an election back.
pub(super) async fn resign(
    _: Authorised,
    State(api): State<Api>,
    Exclusively(sessions): Exclusively,
    path: Result<Path<String>, PathRejection>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Problem> {
    let name = named(path)?;
    let ResignElection { token } = asked(body, BODY_MAX)?;
    if let Holding::ByAgent = give_back(&api.member, &sessions, &name, token, Back::resign()).await? {
        within(api.member.resign(Hold::Default)).await?;
    }
    fresh(&api.member, &name).await
}

/// The same, and a candidate of a certain agent is next.
pub(super) async fn transfer(
    _: Authorised,
    State(api): State<Api>,
    Exclusively(sessions): Exclusively,
    path: Result<Path<String>, PathRejection>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Problem> {
    let name = named(path)?;
    let TransferElection { to, token } = parse(&body_of_at_most(body, BODY_MAX)?)?;
    if to == 0 {
        return Err(Problem::bad_request("to: found 0, expected the id of a member, from 1 on"));
    }
    if !api.member.participants().iter().any(|member| member.id == Some(NodeId(to))) {
        return Err(Problem::conflict(format!("node {to} is no member")));
    }
    let nobody = || format!("no session of node {to} waits for \"{name}\"");
    if NodeId(to) == api.member.status().id && name != Name::leader() && !sessions.waits(&name) {
        return Err(Problem::conflict(nobody()));
    }
    match give_back(&api.member, &sessions, &name, token, Back::transfer(NodeId(to))).await? {
        Holding::ByAgent => within(api.member.transfer(NodeId(to))).await?,
        Holding::ByNobody => {
            return Err(Problem::conflict(format!("nobody holds \"{name}\": there is nothing to hand over")));
        }
        Holding::GivenBack => {}
    }
    let after = read_by_majority(&api.member, &name).await?.ok_or_else(|| unknown(&name))?;
    match after.holder {
        Some(holder) if holder.node == NodeId(to) => Ok(shown(&after)),
        _ => Err(Problem::conflict(format!("it was given back, but {}", nobody()))),
    }
}

/// Who held an election when it was asked back.
enum Holding {
    GivenBack,
    ByNobody,
    /// The agent itself holds it: it is the cluster's own leadership.
    ByAgent,
}

async fn give_back(
    member: &Member,
    sessions: &Sessions,
    name: &Name,
    token: Option<u64>,
    back: Back,
) -> Result<Holding, Problem> {
    if let Some(candidate) = sessions.holder(name) {
        if let Some(token) = token.filter(|token| candidate.token() != Some(*token)) {
            return Err(not_the_token(name, token));
        }
        within(candidate.give_back(back)).await?;
        return Ok(Holding::GivenBack);
    }
    let known = read_by_majority(member, name).await?.ok_or_else(|| unknown(name))?;
    if let Some(token) = token.filter(|token| known.holder.is_none() || *token != known.token) {
        return Err(not_the_token(name, token));
    }
    let me = member.status().id;
    match known.holder {
        None => Ok(Holding::ByNobody),
        Some(holder) if holder.node != me => {
            Err(Problem::conflict(format!("\"{name}\" is held through node {}: ask that agent", holder.node)))
        }
        Some(holder) if holder.session == 0 => Ok(Holding::ByAgent),
        Some(holder) => Err(Problem::conflict(format!(
            "\"{name}\" is held by session {} of an earlier process of this agent, until its lease is over",
            holder.session
        ))),
    }
}

/// Forgets an election.
pub(super) async fn delete(
    _: Authorised,
    State(api): State<Api>,
    _: Exclusively,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, Problem> {
    within(api.member.delete_election(&named(path)?)).await?;
    Ok(answer(json!({ "deleted": true })))
}

/// A path whose name is empty leads nowhere else.
pub(super) async fn nameless() -> Problem {
    named(Ok(Path(String::new()))).map_or_else(|problem| problem, |name| unknown(&name))
}

/// The name in a path.
pub(super) fn named(path: Result<Path<String>, PathRejection>) -> Result<Name, Problem> {
    let Path(name) =
        path.map_err(|wrong| Problem::bad_request(format!("the path: {}", wrong.body_text())))?;
    name_of(&name, "the name of the election")
}

fn name_of(text: &str, what: &str) -> Result<Name, Problem> {
    Name::new(text).map_err(|wrong| Problem::bad_request(format!("{what}: {wrong}")))
}

fn query_of<T>(query: Result<Query<T>, QueryRejection>) -> Result<T, Problem> {
    query.map(|Query(asked)| asked).map_err(|wrong| Problem::bad_request(wrong.body_text()))
}

async fn read_by_majority(member: &Member, name: &Name) -> Result<Option<Election>, Problem> {
    match timeout(PATIENCE, member.read_election(name)).await {
        Ok(read) => Ok(read.map_err(|refused: Refused| Problem::from(refused))?),
        Err(_) => {
            Err(Problem::timed_out(format!("no majority has answered within {} s", PATIENCE.as_secs())))
        }
    }
}

/// How an election stands after a change.
async fn fresh(member: &Member, name: &Name) -> Result<Json<Value>, Problem> {
    let known = read_by_majority(member, name).await?;
    known.map(|known| shown(&known)).ok_or_else(|| unknown(name))
}

fn shown(known: &Election) -> Json<Value> {
    answer(elections::Election::from(known))
}

fn unknown(name: &Name) -> Problem {
    Problem::not_found(format!("there is no election \"{name}\", as far as this agent knows"))
}

fn not_the_token(name: &Name, token: u64) -> Problem {
    Problem::conflict(format!("token {token} is not that of a session of this agent that holds \"{name}\""))
}

impl From<&Election> for elections::Election {
    fn from(known: &Election) -> Self {
        Self {
            name: known.name.to_string(),
            kind: known.kind.name().to_owned(),
            token: known.token,
            holder: known.holder.map(|holder| Holder { node: holder.node.0, session: holder.session }),
            value: String::from_utf8_lossy(&known.value).into_owned(),
            waiting: known.waiting,
            since: rfc3339::format(known.since),
            age_ms: u64::try_from(known.age.as_millis()).unwrap_or(u64::MAX),
        }
    }
}
