//! For load balancers and supervisors: the status code is the answer.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use bellwether::status::{ExclusiveStatus, Standing, Status};
use serde_json::{Value, json};

use super::{Api, status};
use crate::schema;

/// A member's driver does something at least every second. If it has done nothing for this long, it hangs.
pub(crate) const IDLE_MAX: Duration = Duration::from_secs(5);

/// Whether traffic for the leader belongs here.
pub(super) async fn leader(State(api): State<Api>) -> (StatusCode, Json<Value>) {
    let now = api.member.status();
    let right = now.exclusive.as_ref().map(Into::into).unwrap_or_default();
    let here = schema::LeaderHere { leader: now.leader.into(), right };
    (ok_if(now.standing == Standing::Leading), status::answer(here))
}

/// Whether the process works: the member has not ended, and what drives it still goes round.
pub(super) async fn livez(State(api): State<Api>) -> (StatusCode, Json<Value>) {
    let ended = tokio::select! {
        biased;
        ended = api.member.ended() => Some(ended),
        () = std::future::ready(()) => None,
    };
    let idle = api.member.idle();
    let alive = ended.is_none() && idle < IDLE_MAX;
    let idle_us = u64::try_from(idle.as_micros()).unwrap_or(u64::MAX);
    let ended = ended.map(|why| why.to_string());
    (ok_if(alive), Json(json!({"alive": alive, "idle_us": idle_us, "ended": ended})))
}

/// Whether the member has found its place: it follows, leads, or stands aside, and is not refused by its peers.
pub(super) async fn readyz(State(api): State<Api>) -> (StatusCode, Json<Value>) {
    let now = api.member.status();
    let barred = status::barred(&api.member, &now);
    let reason = not_ready(&now, barred.as_ref());
    let ready = reason.is_none();
    let standing = schema::Standing::from(now.standing);
    (ok_if(ready), Json(json!({"ready": ready, "standing": standing, "reason": reason})))
}

/// Why no traffic belongs here yet.
fn not_ready(now: &Status, barred: Option<&schema::Barred>) -> Option<String> {
    match (now.standing, barred) {
        (Standing::CatchingUp, _) => Some("it did not run for too long, and is catching up".to_owned()),
        (_, Some(barred)) => Some(barred.in_words()),
        (Standing::Electing, None) => Some(match now.exclusive.as_ref().and_then(too_few) {
            Some(few) => format!("no leader is known: {few}"),
            None => "no leader is known".to_owned(),
        }),
        (Standing::Leading | Standing::Following | Standing::Aside, None) => None,
    }
}

/// How many voters there are, if that is not enough for anybody to lead.
fn too_few(exclusive: &ExclusiveStatus) -> Option<String> {
    let told = schema::Right::from(exclusive).exclusive.filter(|told| told.reachable < told.needed);
    told.map(|told| told.in_words())
}

fn ok_if(yes: bool) -> StatusCode {
    if yes { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
}
