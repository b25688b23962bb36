//! The paths of the laboratory, and who is answered. The page is the only one that is meant to ask, so nobody else is answered: no
//! other page, and nobody who thinks that this is another machine.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::time::Time;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::branch::{self, Break};
use super::examples::Example;
use super::reel;
use super::refusal::Refusal;
use super::runs::{self, Runs, Traces};
use super::searches::{Searches, Wanted};
use super::tour;
use crate::page;

/// The longest scenario, and all else but traces.
const BODY_MAX: usize = 512 * 1024;
/// The longest traces.
const TRACES_MAX: usize = 64 * 1024 * 1024;
/// How much is computed at the same time.
const AT_A_TIME: usize = 2;
/// How often the progress of a search is told.
const TICK: Duration = Duration::from_millis(200);

#[derive(Clone)]
struct Lab(Arc<Shared>);

struct Shared {
    examples: Vec<Example>,
    runs: Runs,
    searches: Searches,
    turns: Semaphore,
}

pub(super) fn app(examples: Vec<Example>) -> Router {
    let shared = Shared {
        examples,
        runs: Runs::default(),
        searches: Searches::default(),
        turns: Semaphore::new(AT_A_TIME),
    };
    Router::new()
        .route("/v1/lab/examples", get(examples_there_are))
        .route("/v1/lab/examples/{place}", get(example))
        .route("/v1/lab/protocols", get(protocols))
        .route("/v1/lab/tour", get(|| async { Json(tour::lessons()) }))
        .route("/v1/lab/runs", post(play))
        .route("/v1/lab/runs/{id}/film", get(film))
        .route("/v1/lab/runs/{id}/nodes", get(nodes))
        .route("/v1/lab/runs/{id}/branch", post(branch_of))
        .route("/v1/lab/variant", post(variant))
        .route("/v1/lab/searches", post(start_search))
        .route("/v1/lab/searches/{id}", get(search).delete(stop_search))
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .merge(Router::new().route("/v1/lab/traces", post(traces)).layer(DefaultBodyLimit::max(TRACES_MAX)))
        .merge(page::lab())
        .fallback(no_such_path)
        .layer(from_fn(guard))
        .with_state(Lab(Arc::new(shared)))
}

async fn examples_there_are(State(Lab(lab)): State<Lab>) -> Json<Value> {
    Json(lab.examples.iter().map(Example::entry).collect())
}

async fn example(State(Lab(lab)): State<Lab>, Path(place): Path<usize>) -> Result<Json<Value>, Refusal> {
    let example = lab.examples.get(place).ok_or_else(|| Refusal::not_found("there is no such example"))?;
    Ok(Json(json!({ "name": example.name, "text": example.text })))
}

async fn protocols() -> Json<Value> {
    let protocol = |protocol: Protocol| {
        let spec = protocol.spec();
        json!({ "name": spec.name, "document": spec.document, "agent": spec.runs_in_agent() })
    };
    Json(Protocol::ALL.into_iter().map(protocol).collect())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Typed {
    name: String,
    text: String,
}

async fn play(State(Lab(lab)): State<Lab>, headers: HeaderMap, body: Body) -> Answer {
    let Typed { name, text } = read(&headers, body)?;
    let played = compute(&lab, move || runs::play(&name, &text)).await?;
    Ok(Json(lab.runs.keep(played)))
}

async fn traces(State(Lab(lab)): State<Lab>, headers: HeaderMap, body: Body) -> Answer {
    let traces: Traces = read(&headers, body)?;
    let played = compute(&lab, move || traces.judge()).await?;
    Ok(Json(lab.runs.keep(played)))
}

async fn film(State(Lab(lab)): State<Lab>, Path(id): Path<u64>) -> Result<Response, Refusal> {
    let run = lab.runs.get(id)?;
    let reel = compute(&lab, move || Ok(reel::encode(&run.film))).await?;
    Ok(([(CONTENT_TYPE, "application/octet-stream")], reel).into_response())
}

#[derive(Deserialize)]
struct At {
    t_us: u64,
}

async fn nodes(State(Lab(lab)): State<Lab>, Path(id): Path<u64>, Query(at): Query<At>) -> Answer {
    let run = lab.runs.get(id)?;
    compute(&lab, move || run.look(Time::from_micros(at.t_us))).await.map(Json)
}

async fn branch_of(
    State(Lab(lab)): State<Lab>,
    Path(id): Path<u64>,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    let what: Break = read(&headers, body)?;
    let run = lab.runs.get(id)?;
    branch::branch(&run, what).map(Json)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Other {
    text: String,
    variant: String,
}

async fn variant(headers: HeaderMap, body: Body) -> Answer {
    let Other { text, variant } = read(&headers, body)?;
    let variant = Variant::by_name(&variant);
    let variant = variant.ok_or_else(|| Refusal::wrong("expected the variant printed or repaired"))?;
    branch::with_variant(&text, variant).map(Json)
}

async fn start_search(State(Lab(lab)): State<Lab>, headers: HeaderMap, body: Body) -> Answer {
    let wanted: Wanted = read(&headers, body)?;
    lab.searches.start(&wanted).map(Json)
}

/// Waits a while if it goes on, so that whoever asks again and again does so at leisure.
async fn search(State(Lab(lab)): State<Lab>, Path(id): Path<u64>) -> Answer {
    if lab.searches.goes_on(id)? {
        sleep(TICK).await;
    }
    lab.searches.show(id).map(Json)
}

async fn stop_search(State(Lab(lab)): State<Lab>, Path(id): Path<u64>) -> Answer {
    lab.searches.stop(id).map(Json)
}

async fn no_such_path(uri: Uri) -> Refusal {
    Refusal::not_found(format!("there is nothing at {}", uri.path()))
}

type Answer = Result<Json<Value>, Refusal>;
type Body = Result<Bytes, BytesRejection>;

/// Computes beside all else, a little at a time.
async fn compute<T: Send + 'static>(
    lab: &Shared,
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let broken =
        || Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the simulator failed: this is a bug of ours");
    let _turn = lab.turns.acquire().await.map_err(|_| broken())?;
    spawn_blocking(work).await.map_err(|_| broken())?
}

/// No form of another page can send JSON.
fn read<T: DeserializeOwned>(headers: &HeaderMap, body: Body) -> Result<T, Refusal> {
    let body = body.map_err(|error| Refusal::new(error.status(), too_large(BODY_MAX)))?;
    let kind = headers.get(CONTENT_TYPE).map(|kind| kind.as_bytes());
    if kind != Some(b"application/json") {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(Refusal::new(status, "expected the content type application/json"));
    }
    serde_json::from_slice(&body).map_err(|error| Refusal::new(StatusCode::BAD_REQUEST, error.to_string()))
}

fn too_large(most: usize) -> String {
    format!("that is too large: expected at most {} KiB, or {} MiB of traces", most / 1024, TRACES_MAX >> 20)
}

/// A page of somebody else can have a browser ask this address, under a name of its own or not. Browsers say which.
async fn guard(request: Request, next: Next) -> Result<Response, Refusal> {
    let headers = request.headers();
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let is_ours = host.parse::<Authority>().is_ok_and(|host| {
        let name = host.host().trim_start_matches('[').trim_end_matches(']');
        name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    });
    if !is_ours {
        let status = StatusCode::MISDIRECTED_REQUEST;
        return Err(Refusal::new(status, "the laboratory is asked by the address that it prints"));
    }
    let origin = headers.get(ORIGIN).map(|origin| origin.as_bytes() == format!("http://{host}").as_bytes());
    if request.method() != Method::GET && origin == Some(false) {
        return Err(Refusal::new(StatusCode::FORBIDDEN, "only the page of the laboratory may ask for that"));
    }
    // Nobody waits for what will not be read.
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > TRACES_MAX as u64) {
        return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, too_large(BODY_MAX)));
    }
    Ok(next.run(request).await)
}
