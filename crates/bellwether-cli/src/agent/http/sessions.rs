//! Sessions and their campaigns: what is asked of them, and who may ask.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection};
use axum::extract::{ConnectInfo, FromRequestParts, Path};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::Response;
use bellwether::Exclusive;
use bellwether::elections::{Candidacy, GrantKind, Name, uptime};
use bellwether_toml::one_of;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Api;
use super::change::{Authorised, body_of_at_most, parse, within};
use super::connection::Client;
use super::elections::named;
use super::error::Problem;
use super::status::answer;
use super::stream::{Reading, form};
use crate::agent::sessions::{Asked, Refusal, Return, Scope, Session, Sessions, Unbound, micros};
use crate::duration;
use crate::duration::rough;
use crate::schema::elections::{Bind, Campaign, OpenSession, Resume};

/// The longest body of a request that has to do with an election, in bytes: four times what may be proclaimed.
pub(super) const BODY_MAX: usize = 16 * 1024;
/// A session may come back with thousands of names.
pub(super) const RESUME_MAX: usize = 1024 * 1024;
/// The longest value, in bytes.
pub(super) const VALUE_MAX: usize = 4096;
/// The sessions of an agent whose leadership is exclusive.
#[derive(Debug)]
pub(super) struct Exclusively(pub(super) Sessions);

impl FromRequestParts<Api> for Exclusively {
    type Rejection = Problem;

    async fn from_request_parts(_: &mut Parts, api: &Api) -> Result<Self, Problem> {
        api.sessions.clone().map(Self).ok_or_else(|| {
            let mode = api.member.mode().name();
            Problem::conflict(format!(
                "named elections need mode = \"exclusive\", and this cluster's is \"{mode}\""
            ))
        })
    }
}

/// A session of one campaign, for as long as its stream lasts.
pub(super) async fn campaign_alone(
    _: Authorised,
    Exclusively(sessions): Exclusively,
    ConnectInfo(client): ConnectInfo<Client>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let name = named(path)?;
    let asked: Campaign = asked(body, BODY_MAX)?;
    let (keep, candidacy) = (keep_of(asked.keep.as_deref(), &sessions)?, candidacy(asked)?);
    let (watching, form) = (client.watch()?, form(&headers));
    let (session, feed) = sessions.open(client.caller(), Scope::One(name.clone()), keep, form)?;
    let reading = Reading::session(Arc::clone(&session), feed, client, watching);
    session.campaign(name, candidacy).await?;
    Ok(reading.answer(form))
}

/// A session, new or back.
pub(super) async fn open(
    _: Authorised,
    Exclusively(sessions): Exclusively,
    ConnectInfo(client): ConnectInfo<Client>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let OpenSession { keep, resume } = asked(body, RESUME_MAX)?;
    if keep.is_some() && resume.is_some() {
        return Err(Problem::bad_request("found `keep` and `resume`, expected one of them"));
    }
    let keep = keep_of(keep.as_deref(), &sessions)?;
    let back = resume.map(back).transpose()?;
    let (watching, form) = (client.watch()?, form(&headers));
    let (session, feed) = match back {
        Some(back) => sessions.resume(client.caller(), form, back)?,
        None => sessions.open(client.caller(), Scope::Many, keep, form)?,
    };
    Ok(Reading::session(session, feed, client, watching).answer(form))
}

/// One more campaign of a session. Its events go to the session's stream.
pub(super) async fn campaign(
    _: Authorised,
    Own(session): Own,
    path: Result<Path<(String, String)>, PathRejection>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Problem> {
    let name = second(path)?;
    let asked: Campaign = asked(body, BODY_MAX)?;
    if asked.keep.is_some() {
        return Err(Problem::bad_request("found `keep`, expected it where the session is opened"));
    }
    let no = session.campaign(name, candidacy(asked)?).await?;
    Ok(answer(json!({ "campaign": no })))
}

/// Gives a name back, or ends the wait for it.
pub(super) async fn withdraw(
    _: Authorised,
    Own(session): Own,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Json<Value>, Problem> {
    let name = second(path)?;
    let candidate = session.candidate(&name).ok_or_else(|| {
        Problem::not_found(format!("session {} does not campaign for \"{name}\"", session.id))
    })?;
    within(candidate.withdraw()).await?;
    Ok(released())
}

/// Binds one more process.
pub(super) async fn bind(
    _: Authorised,
    Own(session): Own,
    ConnectInfo(client): ConnectInfo<Client>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Problem> {
    let Bind { pid } = parse(&body_of_at_most(body, BODY_MAX)?)?;
    let caller = client.caller().ok_or(Refusal::NotSeen)?;
    let bound = session.bind(caller, pid)?;
    Ok(answer(json!({ "bound": bound })))
}

/// Gives everything back.
pub(super) async fn close(_: Authorised, Own(session): Own) -> Result<Json<Value>, Problem> {
    within(session.close()).await?;
    Ok(released())
}

fn released() -> Json<Value> {
    answer(json!({ "released": true }))
}

/// The session in the path, which whoever asks may use: one of its processes, or one that knows its secret.
#[derive(Debug)]
pub(super) struct Own(Arc<Session>);

impl FromRequestParts<Api> for Own {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let Exclusively(sessions) = Exclusively::from_request_parts(parts, api).await?;
        let id = parts.uri.path().split('/').nth(3).unwrap_or_default();
        let session = id.parse().ok().and_then(|id| sessions.get(id));
        let session = session.ok_or_else(|| Refusal::NoSession(id.to_owned()))?;
        let caller = Client::of(&parts.extensions).and_then(Client::caller);
        let secret = parts.headers.get("bellwether-secret").map(|secret| secret.to_str().unwrap_or_default());
        match (caller, secret) {
            (_, Some(secret)) if sessions.is_secret(session.id, secret) => Ok(Self(session)),
            (_, Some(_)) => {
                Err(Problem::forbidden(format!("Bellwether-Secret is not that of session {}", session.id)))
            }
            (Some(caller), None) if session.knows(caller) => Ok(Self(session)),
            (Some(_), None) => Err(Problem::forbidden(format!(
                "only the process that opened session {}, and those bound to it, may do this; others need the header Bellwether-Secret",
                session.id
            ))),
            (None, None) => Err(Problem::forbidden(format!(
                "this needs the header Bellwether-Secret with the secret of session {}",
                session.id
            ))),
        }
    }
}

/// What was asked. Nothing is said where everything may be left out.
pub(super) fn asked<T: DeserializeOwned + Default>(
    body: Result<Bytes, BytesRejection>,
    most: usize,
) -> Result<T, Problem> {
    let body = body_of_at_most(body, most)?;
    if body.is_empty() { Ok(T::default()) } else { parse(&body) }
}

fn second(path: Result<Path<(String, String)>, PathRejection>) -> Result<Name, Problem> {
    named(path.map(|Path((_, name))| Path(name)))
}

fn candidacy(asked: Campaign) -> Result<Asked, Problem> {
    let named = |name: &str| {
        GrantKind::by_name(name).ok_or_else(|| {
            let expected = one_of(&GrantKind::ALL.map(GrantKind::name));
            Problem::bad_request(format!("kind: found {name:?}, expected {expected}"))
        })
    };
    let kind = asked.kind.as_deref().map(named).transpose()?;
    let value = value(asked.value.unwrap_or_default())?;
    let priority = asked.priority.unwrap_or(0);
    let candidacy = Candidacy { kind: kind.unwrap_or_default(), priority, value, adopts: None };
    Ok(Asked { candidacy, of_any_kind: kind.is_none() })
}

/// What is proclaimed.
pub(super) fn value(text: String) -> Result<Arc<[u8]>, Problem> {
    match text.len() {
        // Most have none, and that takes no room.
        0 => Ok(Arc::default()),
        1..=VALUE_MAX => Ok(text.into_bytes().into()),
        long => Err(Problem::too_large(format!("value: found {long} bytes, expected at most {VALUE_MAX}"))),
    }
}

fn keep_of(keep: Option<&str>, sessions: &Sessions) -> Result<Duration, Problem> {
    let (least, most) = sessions.keep_range();
    let Some(text) = keep else { return Ok(least) };
    let keep = duration::parse(text).map_err(|wrong| Problem::bad_request(format!("keep: {wrong}")))?;
    if (least..=most).contains(&keep) {
        return Ok(keep);
    }
    let (least, most) = (rough(least), rough(most));
    Err(Problem::bad_request(format!("keep: found {text:?}, expected from {least} (the `ttl`) to {most}")))
}

fn back(resume: Resume) -> Result<Return, Problem> {
    let Resume { session, secret, valid_until, valid_ms, holds, bound } = resume;
    let id = session.parse().map_err(|_| {
        Problem::bad_request(format!(
            "session: found {session:?}, expected the id of a session, which is a number"
        ))
    })?;
    let told = match (valid_until, valid_ms) {
        (Some(_), Some(_)) => {
            return Err(Problem::bad_request("found `valid_until` and `valid_ms`, expected one of them"));
        }
        (Some(at), None) => Duration::from_micros(at),
        (None, Some(left)) => uptime().saturating_add(Duration::from_millis(left)),
        (None, None) => Duration::ZERO,
    };
    // Nobody was ever told a validity that ends later.
    if told > uptime() + Exclusive::TTL_MAX {
        let (key, now) = (if valid_until.is_some() { "valid_until" } else { "valid_ms" }, micros(uptime()));
        return Err(Problem::bad_request(format!(
            "{key}: found a time more than an hour from now, and nobody was told that; this machine's clock shows {now}"
        )));
    }
    let hold = |hold: crate::schema::elections::Hold| match Name::new(&hold.name) {
        Ok(name) => Ok((name, hold.token)),
        Err(wrong) => Err(Problem::bad_request(format!("holds: found {:?}: {wrong}", hold.name))),
    };
    let holds = holds.into_iter().map(hold).collect::<Result<_, _>>()?;
    Ok(Return { session: id, secret, told, holds, bound })
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Ending => Self::unavailable("the agent is ending"),
            Refusal::TooMany { what, most } => {
                Self::conflict(format!("there are as many {what} as there may be ({most})"))
            }
            Refusal::NoSession(id) => Self::not_found(format!("there is no session {id}, or it is over")),
            Refusal::WrongSecret => Self::forbidden("secret: it is not that of the session"),
            Refusal::OneCampaign(id) => Self::conflict(format!(
                "session {id} is there for one campaign; POST /v1/session opens one that may have many"
            )),
            Refusal::NotSeen => Self::conflict(
                "processes can be bound only through the Unix socket of the agent, by one that it can see",
            ),
            Refusal::Unbound(pid, why) => match why {
                Unbound::Gone => Self::conflict(format!("pid: there is no process {pid}")),
                Unbound::OtherUser => Self::forbidden(format!("pid: process {pid} is another user's")),
                Unbound::Stranger => Self::forbidden(format!(
                    "pid: process {pid} is no child of the process that opened the session, nor of one bound to it"
                )),
            },
            Refusal::Member(refused) => refused.into(),
        }
    }
}
