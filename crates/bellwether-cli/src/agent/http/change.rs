//! Requests that change something. They need the token, and are carried out completely or not at all.

use std::future::Future;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use bellwether::Refused;
use bellwether::elections::Declined;
use bellwether::member::Hold;
use bellwether::members::Unchanged;
use bellwether_proto::ident::NodeId;
use bellwether_proto::tenure;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use subtle::ConstantTimeEq;
use tokio::time::timeout;

use super::connection::Client;
use super::error::Problem;
use super::refusals::Why;
use super::{Api, BODY_MAX, status};
use crate::duration;
use crate::schema::{self, Resign, Transfer, UNTIL_TOLD};

/// How long a request may take; less than a connection may be silent.
pub(super) const PATIENCE: Duration = Duration::from_secs(25);

/// Stands aside, or with `end` no longer. The answer is who leads then.
pub(super) async fn resign(
    _: Authorised,
    State(api): State<Api>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Problem> {
    let body = body_of(body)?;
    let ask: Resign = if body.is_empty() { Resign::default() } else { parse(&body)? };
    match (ask.end, ask.hold) {
        (true, None) => within(api.member.stand()).await?,
        (true, Some(_)) => return Err(Problem::bad_request("found `hold` and `end`, expected one of them")),
        (false, hold) => within(api.member.resign(hold_of(hold.as_deref())?)).await?,
    }
    Ok(status::answer(schema::Leader::from(api.member.leader())))
}

/// Hands leadership over. The answer is who leads then.
pub(super) async fn transfer(
    _: Authorised,
    State(api): State<Api>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Problem> {
    let ask: Transfer = parse(&body_of(body)?)?;
    within(api.member.transfer(NodeId(ask.to))).await?;
    Ok(status::answer(schema::Leader::from(api.member.leader())))
}

fn hold_of(hold: Option<&str>) -> Result<Hold, Problem> {
    match hold {
        None => Ok(Hold::Default),
        Some(UNTIL_TOLD) => Ok(Hold::UntilTold),
        Some(span) => duration::parse(span)
            .map(Hold::For)
            .map_err(|expected| Problem::bad_request(format!("hold: {expected}, or \"until-told\""))),
    }
}

pub(super) async fn within(request: impl Future<Output = Result<(), Refused>>) -> Result<(), Problem> {
    match timeout(PATIENCE, request).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(refused)) => Err(refused.into()),
        Err(_) => Err(Problem::timed_out(format!(
            "not done after {} s, and perhaps still going on: ask /v1/status",
            PATIENCE.as_secs()
        ))),
    }
}

impl Problem {
    fn declined(why: Declined, text: String) -> Self {
        match why {
            Declined::Unknown | Declined::NoCampaign => Self::not_found(text),
            Declined::TooLong => Self::too_large(text),
            Declined::Unanswered { reachable, needed } if reachable >= needed => Self::timed_out(text),
            _ => Self::conflict(text),
        }
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        let text = refused.to_string();
        match refused {
            Refused::Cannot(tenure::Refused::Members(Unchanged::NoMajority { .. })) => {
                Self::unavailable(text)
            }
            Refused::Cannot(tenure::Refused::Members(Unchanged::NotInTime)) => Self::timed_out(text),
            Refused::Cannot(tenure::Refused::Election(why)) => Self::declined(why, text),
            Refused::Ended(_) => Self::unavailable(text),
            _ => Self::conflict(text),
        }
    }
}

pub(super) fn body_of(body: Result<Bytes, BytesRejection>) -> Result<Bytes, Problem> {
    body_of_at_most(body, BODY_MAX)
}

/// Where it may have so many bytes.
pub(super) fn body_of_at_most(body: Result<Bytes, BytesRejection>, most: usize) -> Result<Bytes, Problem> {
    body.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            Problem::too_large(format!("the body is too long, expected at most {most} bytes"))
        }
        _ => Problem::bad_request(error.body_text()),
    })
}

/// A list would do for serde, too: nobody means that.
pub(super) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let object = serde_json::from_slice::<Map<String, Value>>(body);
    let asked = object.and_then(|object| serde_json::from_value(Value::Object(object)));
    asked.map_err(|error| Problem::bad_request(format!("the body: {error}")))
}

/// A request that presented the token, or came through the socket.
#[derive(Debug)]
pub(super) struct Authorised;

impl FromRequestParts<Api> for Authorised {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        // The permissions of the socket have let it in.
        if Client::of(&parts.extensions).is_some_and(|client| client.caller().is_some()) {
            return Ok(Self);
        }
        let Some(token) = api.reloads.token() else {
            return Err(Problem::forbidden(
                "the configuration has no `api.token`: nothing can be changed from here",
            ));
        };
        let header =
            parts.headers.get(AUTHORIZATION).and_then(|header| header.as_bytes().split_at_checked(7));
        let problem = match header.filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"bearer ")) {
            Some((_, presented)) if same(presented, token.as_bytes()) => return Ok(Self),
            Some(_) => "the token is wrong",
            None => "the token is missing, expected `Authorization: Bearer TOKEN`",
        };
        api.refusals.note(Why::Token, Client::of(&parts.extensions), &problem);
        Err(Problem::unauthorized(problem))
    }
}

/// Whether two secrets are the same. The time that it takes does not depend on how much of them agrees.
fn same(presented: &[u8], secret: &[u8]) -> bool {
    presented.ct_eq(secret).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_secret_is_the_same() {
        assert!(same(b"secret", b"secret"));
        for other in [&b""[..], b"secre", b"secrets", b"Secret", b"secreT"] {
            assert!(!same(other, b"secret"));
        }
    }

    #[test]
    fn a_hold_is_a_duration_or_until_told() {
        assert_eq!(hold_of(None).unwrap(), Hold::Default);
        assert_eq!(hold_of(Some("until-told")).unwrap(), Hold::UntilTold);
        assert_eq!(hold_of(Some("10s")).unwrap(), Hold::For(Duration::from_secs(10)));
        assert!(hold_of(Some("soon")).is_err());
    }

    #[test]
    fn a_body_that_says_too_much_is_refused() {
        assert!(parse::<Resign>(b"{\"hold\":\"1s\"}").is_ok());
        assert!(parse::<Resign>(b"{\"hodl\":\"1s\"}").is_err());
        assert!(parse::<Transfer>(b"{}").is_err());
        assert!(parse::<Transfer>(b"{\"to\":-1}").is_err());
    }
}
