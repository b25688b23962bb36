//! Changes of leader as they happen, as server-sent events.
//!
//! The first event is the status, each further one a change. Changes are numbered: a watcher that was cut off names the
//! last number that it saw, and misses no change that is still remembered, unless the agent has restarted meanwhile: what was
//! before is history. A watcher that cannot keep up is cut off.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::{ConnectInfo, Query, State};
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use bellwether::member::Observer;
use futures_core::Stream;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::time::timeout;

use super::Api;
use super::connection::{Client, Watching};
use super::error::Problem;
use super::status;
use crate::schema;

/// While nothing happens, a watcher gets a comment this often, so that it knows that its connection works.
const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// How many events may wait for a watcher, and how long the next one waits for a place.
const WAITING_MAX: usize = 64;
const PATIENCE: Duration = Duration::from_secs(5);

/// `?after=N`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Resume {
    after: Option<u64>,
}

pub(super) async fn watch(
    State(api): State<Api>,
    ConnectInfo(client): ConnectInfo<Client>,
    headers: HeaderMap,
    query: Result<Query<Resume>, QueryRejection>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let after = seen(&headers, query)?;
    let watching = client.watch()?;
    let (sender, receiver) = mpsc::channel(WAITING_MAX);
    tokio::spawn(feed(api, after, sender));
    let events = Events { receiver, _watching: watching };
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

/// The last change that the watcher saw before it was cut off. The header, which a browser sends by itself,
/// overrides the query.
fn seen(headers: &HeaderMap, query: Result<Query<Resume>, QueryRejection>) -> Result<Option<u64>, Problem> {
    let Query(resume) = query.map_err(|error| Problem::bad_request(error.body_text()))?;
    let Some(id) = headers.get("last-event-id").filter(|id| !id.is_empty()) else { return Ok(resume.after) };
    let number = id.to_str().ok().and_then(|id| id.trim().parse().ok());
    number.map(Some).ok_or_else(|| Problem::bad_request("Last-Event-ID: expected the number of a change"))
}

/// Sends a watcher what happens, until it has gone, is too slow, or the member ends.
async fn feed(api: Api, after: Option<u64>, to: Sender<Event>) {
    let last = api.member.history().last().map_or(0, |change| change.no);
    // A number from before the state was lost is not waited for.
    let after = after.map_or(last, |after| after.min(last));
    // Nothing changes, perhaps, when a member that was stopped has caught up: it is not asked before.
    if goes_before_awake(&api, &to).await {
        return;
    }
    // The status is newer than the number, so that nothing falls between them.
    let mut changes = api.member.observe_after(after);
    let now = event("status", after, &json!(schema::Status::from(&api.member.status())));
    if send(&to, now).await.is_err() {
        return;
    }
    while let Some((no, change)) = next(&api, &mut changes, &to).await {
        if send(&to, event("change", no, &change)).await.is_err() {
            return;
        }
    }
}

/// Waits until the member knows how things are. Whether the watcher has gone before.
async fn goes_before_awake(api: &Api, to: &Sender<Event>) -> bool {
    tokio::select! {
        () = api.member.awake() => false,
        () = to.closed() => true,
    }
}

/// The next change, unless the watcher goes before.
async fn next(api: &Api, changes: &mut Observer, to: &Sender<Event>) -> Option<(u64, Value)> {
    tokio::select! {
        change = changes.next() => change.map(|change| (change.no, json!(status::change(&api.member, &change)))),
        () = to.closed() => None,
    }
}

async fn send(to: &Sender<Event>, event: Event) -> Result<(), ()> {
    match timeout(PATIENCE, to.send(event)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_gone)) => Err(()),
        Err(_slow) => {
            tracing::warn!("a watcher of the API cannot keep up; it is cut off");
            Err(())
        }
    }
}

fn event(name: &str, no: u64, data: &Value) -> Event {
    Event::default().id(no.to_string()).event(name).data(data.to_string())
}

/// A watcher's events, and its place among the watchers.
#[derive(Debug)]
struct Events {
    receiver: Receiver<Event>,
    _watching: Watching,
}

impl Stream for Events {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.receiver.poll_recv(cx).map(|event| event.map(Ok))
    }
}
