//! The HTTP interface of a member. Reading is free; requests that change something need the token.
//!
//! [`app`] is the whole interface as a function of the member; [`serve`] puts it on a socket whose clients may be slow,
//! many, or hostile.

mod change;
mod connection;
mod error;
mod health;
mod host;
mod members;
mod metrics;
mod opening;
mod refusals;
mod rfc3339;
mod seat;
mod status;
mod watch;

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, Uri};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{delete, get, post};
use bellwether::Member;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::config::ApiConfig;
use super::descriptors::Clients;
use super::log::Log;
use connection::{Client, Connections};
use error::Problem;
use host::Hosts;
use refusals::Refusals;

/// The longest body of a request, in bytes. The longest useful one is a tenth of that.
const BODY_MAX: usize = 4096;

/// What every request is answered from.
#[derive(Clone)]
struct Api {
    member: Member,
    /// The token that a request must present to change something; `None` if such requests are refused.
    token: Option<Arc<str>>,
    /// The names under which the agent may be asked.
    hosts: Arc<Hosts>,
    clients: Clients,
    watchers: Arc<Semaphore>,
    refusals: Arc<Refusals>,
    log: Log,
}

/// The interface.
pub(crate) fn app(member: Member, config: &ApiConfig, clients: Clients, log: Log) -> Router {
    let api = Api {
        member,
        token: config.token.as_deref().map(Arc::from),
        hosts: Arc::new(Hosts::new(&config.hosts)),
        clients,
        watchers: Arc::new(Semaphore::new(clients.watchers_max())),
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
        .route("/v1/resign", post(change::resign))
        .route("/v1/transfer", post(change::transfer))
        .route("/leader", get(health::leader))
        .route("/livez", get(health::livez))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(metrics::metrics))
        .fallback(no_such_path)
        .method_not_allowed_fallback(no_such_method)
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .layer(from_fn_with_state(api.clone(), host::check))
        .layer(from_fn(connection::keep_place))
        .with_state(api)
}

/// Answers clients, so many at a time, until the process ends.
pub(crate) async fn serve(listener: TcpListener, app: Router, clients: Clients) -> io::Result<()> {
    axum::serve(Connections::new(listener, clients), app.into_make_service_with_connect_info::<Client>())
        .await
}

async fn no_such_path(uri: Uri) -> Problem {
    Problem::not_found(format!("there is nothing at {}", uri.path()))
}

async fn no_such_method(method: Method, uri: Uri) -> Problem {
    Problem::method_not_allowed(format!("{} does not take {method}", uri.path()))
}
