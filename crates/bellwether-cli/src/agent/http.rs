//! The HTTP interface of a member. Reading is free; requests that change something need the token.
//!
//! [`app`] is the whole interface as a function of the member; [`serve`] puts it on a socket whose clients may be slow,
//! many, or hostile.

mod change;
mod connection;
mod door;
mod elections;
mod error;
mod health;
mod host;
mod members;
mod metrics;
mod opening;
mod refusals;
mod rfc3339;
mod seat;
mod sessions;
mod status;
mod stream;
mod watch;

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, Uri};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{delete, get, post, put};
use bellwether::Member;
use tokio::net::{TcpListener, UnixListener};

use super::config::ApiConfig;
use super::descriptors::Clients;
use super::hooks::Hooks;
use super::log::Log;
use super::reload::Reloads;
use super::sessions::Sessions;
use crate::page;
use connection::{Client, Connections};
use door::Door;
use error::Problem;
use host::Hosts;
use refusals::Refusals;

pub(crate) use health::IDLE_MAX;

/// The longest body of a request, in bytes. The longest useful one is a tenth of that.
const BODY_MAX: usize = 4096;

/// What every request is answered from.
#[derive(Clone)]
struct Api {
    member: Member,
    /// They have the token that a request must present to change something.
    reloads: Reloads,
    /// The names under which the agent may be asked.
    hosts: Arc<Hosts>,
    /// Of exclusive leadership.
    sessions: Option<Sessions>,
    hooks: Hooks,
    refusals: Arc<Refusals>,
    log: Log,
}

/// The interface.
pub(crate) fn app(
    member: Member,
    config: &ApiConfig,
    sessions: Option<Sessions>,
    hooks: Hooks,
    reloads: Reloads,
    log: Log,
) -> Router {
    let api = Api {
        member,
        reloads,
        hosts: Arc::new(Hosts::new(&config.hosts)),
        sessions,
        hooks,
        refusals: Arc::default(),
        log,
    };
    Router::new()
        .route("/v1/status", get(status::status))
        .route("/v1/leader", get(status::leader))
        .route("/v1/members", get(members::list).post(members::add))
        .route("/v1/members/rescue", post(members::rescue))
        .route("/v1/members/{id}", delete(members::remove))
        .route("/v1/members/{id}/replace", post(members::replace))
        .route("/v1/history", get(status::history))
        .route("/v1/watch", get(watch::watch))
        .merge(named_elections())
        .route("/v1/resign", post(change::resign))
        .route("/v1/transfer", post(change::transfer))
        .route("/leader", get(health::leader))
        .route("/livez", get(health::livez))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(metrics::metrics))
        .merge(page::cluster())
        .fallback(no_such_path)
        .method_not_allowed_fallback(no_such_method)
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .layer(from_fn_with_state(api.clone(), host::check))
        .layer(from_fn(connection::keep_place))
        .with_state(api)
}

/// Elections, and the sessions that campaign for them.
fn named_elections() -> Router<Api> {
    Router::new()
        .route("/v1/elections", get(elections::list))
        .route("/v1/elections/", get(elections::nameless).delete(elections::nameless))
        .route("/v1/elections/{name}", get(elections::one).delete(elections::delete))
        .route("/v1/elections/{name}/campaign", post(sessions::campaign_alone))
        .route("/v1/elections/{name}/watch", get(elections::watch))
        .route("/v1/elections/{name}/check", get(elections::check))
        .route("/v1/elections/{name}/value", put(elections::proclaim))
        .route("/v1/elections/{name}/resign", post(elections::resign))
        .route("/v1/elections/{name}/transfer", post(elections::transfer))
        .route("/v1/session/{id}", delete(sessions::close))
        .route("/v1/session/{id}/campaign/", post(elections::nameless).delete(elections::nameless))
        .route("/v1/session/{id}/campaign/{name}", post(sessions::campaign).delete(sessions::withdraw))
        .route("/v1/session/{id}/process", post(sessions::bind))
        .layer(DefaultBodyLimit::max(sessions::BODY_MAX))
        .merge(
            Router::new()
                .route("/v1/session", post(sessions::open))
                .layer(DefaultBodyLimit::max(sessions::RESUME_MAX)),
        )
}

/// Answers clients of the port, so many at a time, until the process ends.
pub(crate) async fn serve(listener: TcpListener, app: Router, clients: Clients) -> io::Result<()> {
    serve_at(listener, app, clients).await
}

/// The same with clients of the Unix socket.
pub(crate) async fn serve_local(listener: UnixListener, app: Router, clients: Clients) -> io::Result<()> {
    serve_at(listener, app, clients).await
}

async fn serve_at<D: Door>(door: D, app: Router, clients: Clients) -> io::Result<()> {
    let app = app.into_make_service_with_connect_info::<Client>();
    axum::serve(Connections::new(door, clients), app).await
}

async fn no_such_path(uri: Uri) -> Problem {
    Problem::not_found(format!("there is nothing at {}", uri.path()))
}

async fn no_such_method(method: Method, uri: Uri) -> Problem {
    Problem::method_not_allowed(format!("{} does not take {method}", uri.path()))
}
