//! Streams of events as answers: of sessions, and of elections that are watched.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::Body;
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use futures_core::Stream;
use tokio::task::AbortHandle;

use super::connection::{Client, Watching};
use crate::agent::sessions::{Feed, Form, Left, Session};

const LINES: &str = "application/x-ndjson";
const EVENTS: &str = "text/event-stream";

/// How the client wants events.
pub(super) fn form(headers: &HeaderMap) -> Form {
    let accepts =
        |value: &HeaderValue| value.as_bytes().windows(LINES.len()).any(|part| part == LINES.as_bytes());
    if headers.get_all(ACCEPT).iter().any(accepts) { Form::Lines } else { Form::Sse }
}

/// A stream that is read.
#[derive(Debug)]
pub(super) struct Reading {
    feed: Arc<Feed>,
    teller: Teller,
    client: Client,
    _watching: Watching,
}

/// Who tells, and is told when nobody reads any more.
#[derive(Debug)]
enum Teller {
    Session(Arc<Session>),
    Task(AbortHandle),
}

impl Reading {
    pub(super) fn session(
        session: Arc<Session>,
        feed: Arc<Feed>,
        client: Client,
        watching: Watching,
    ) -> Self {
        Self { feed, teller: Teller::Session(session), client, _watching: watching }
    }

    pub(super) fn task(task: AbortHandle, feed: Arc<Feed>, client: Client, watching: Watching) -> Self {
        Self { feed, teller: Teller::Task(task), client, _watching: watching }
    }

    /// The answer.
    pub(super) fn answer(self, form: Form) -> Response {
        let session = match &self.teller {
            Teller::Session(session) => Some((session.id.to_string(), session.death().name())),
            Teller::Task(_) => None,
        };
        let mut response = Response::new(Body::from_stream(self));
        let headers = response.headers_mut();
        let kind = match form {
            Form::Sse => EVENTS,
            Form::Lines => LINES,
        };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        if let Some((id, death)) = session {
            headers.insert("bellwether-session", HeaderValue::try_from(id).expect("a number is plain text"));
            headers.insert("bellwether-death", HeaderValue::from_static(death));
        }
        response
    }
}

impl Stream for Reading {
    type Item = Result<Vec<u8>, Infallible>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        ready!(self.client.seat.poll_unblocked(cx));
        self.feed.poll_read(cx)
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let how = if self.client.seat.is_sent_away() { Left::SentAway } else { Left::Closed };
        match &self.teller {
            Teller::Session(session) => session.left(&self.feed, how),
            Teller::Task(task) => task.abort(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_for_those_that_ask_for_them() {
        for (accept, expected) in [
            (None, Form::Sse),
            (Some("*/*"), Form::Sse),
            (Some("text/event-stream"), Form::Sse),
            (Some("application/x-ndjson"), Form::Lines),
            (Some("application/json, application/x-ndjson;q=0.9"), Form::Lines),
        ] {
            let mut headers = HeaderMap::new();
            headers.extend(accept.map(|accept| (ACCEPT, HeaderValue::from_static(accept))));
            assert_eq!(form(&headers), expected, "{accept:?}");
        }
    }
}
