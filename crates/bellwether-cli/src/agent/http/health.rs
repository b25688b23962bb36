//! What load balancers and supervisors ask: the status code is the answer.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use bellwether::status::Standing;
use serde_json::{Value, json};

use super::{Api, status};

/// Whether traffic for the leader belongs here.
pub(super) async fn leader(State(api): State<Api>) -> (StatusCode, Json<Value>) {
    let now = api.member.status();
    (ok_if(now.standing == Standing::Leading), Json(status::leader_json(now.leader)))
}

/// Whether the process works. It answers on the thread that drives the member: if that hangs, so does this.
pub(super) async fn livez(State(api): State<Api>) -> (StatusCode, Json<Value>) {
    let ended = tokio::select! {
        biased;
        ended = api.member.ended() => Some(ended),
        () = std::future::ready(()) => None,
    };
    (
        ok_if(ended.is_none()),
        Json(json!({"alive": ended.is_none(), "ended": ended.map(|why| why.to_string())})),
    )
}

/// Whether the member has found its place: it follows, leads, or stands aside.
pub(super) async fn readyz(State(api): State<Api>) -> (StatusCode, Json<Value>) {
    let now = api.member.status();
    let ready = now.leader.is_some() || now.standing == Standing::Aside;
    (ok_if(ready), Json(json!({"ready": ready, "standing": status::standing_name(now.standing)})))
}

fn ok_if(yes: bool) -> StatusCode {
    if yes { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
}
