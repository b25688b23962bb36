//! What a member knows, as JSON. What is unknown is `null`, never absent; every time is there for people and for programs.

use std::time::{Duration, SystemTime};

use axum::Json;
use axum::extract::State;
use bellwether::group::Record;
use bellwether::ident::NodeId;
use bellwether::status::{Cause, Change, Leader, Link, Participant, Reach, Standing, Status};
use serde_json::{Value, json};

use super::{Api, rfc3339};
use crate::agent::mode::Mode;

pub(super) async fn status(State(api): State<Api>) -> Json<Value> {
    Json(status_json(&api.member.status()))
}

pub(super) async fn leader(State(api): State<Api>) -> Json<Value> {
    Json(leader_json(api.member.leader()))
}

pub(super) async fn members(State(api): State<Api>) -> Json<Value> {
    let leader = api.member.leader().map(|leader| leader.id);
    let members = api.member.participants();
    Json(json!({"members": members.iter().map(|member| member_json(member, leader)).collect::<Vec<_>>()}))
}

pub(super) async fn history(State(api): State<Api>) -> Json<Value> {
    let changes: Vec<Value> = api.member.history().iter().map(change_json).collect();
    let groups: Vec<Value> = api.member.groups().records().iter().map(|record| group_json(record)).collect();
    Json(json!({"changes": changes, "groups": groups}))
}

pub(super) fn status_json(status: &Status) -> Value {
    let mut json = json!({
        "cluster": status.cluster,
        "node": status.id.0,
        "incarnation": status.incarnation.0,
        "protocol": status.protocol.name(),
        "mode": Mode::of(status.protocol).name(),
        "guarantee": Mode::of(status.protocol).guarantee(),
        "standing": standing_name(status.standing),
        "view": {
            "status": status.view.status.name(),
            "leader": status.view.leader.map(|id| id.0),
            "group": status.view.group.map(|group| group.to_string()),
        },
        "group": status.group.as_ref().map(group_json),
        "reach": status.reach.map(reach_json),
        "up_since": rfc3339::format(status.up_since),
        "up_since_us": rfc3339::micros(status.up_since),
    });
    let fields = json.as_object_mut().expect("it was written as an object");
    if let Value::Object(mut leader) = leader_json(status.leader) {
        fields.append(&mut leader);
    }
    json
}

fn reach_json(reach: Reach) -> Value {
    json!({"members": reach.members, "of": reach.of, "needed": reach.needed()})
}

fn group_json(record: &Record) -> Value {
    json!({
        "group": record.group.to_string(),
        "coordinator": record.coordinator.0,
        "generation": record.generation,
        "members": record.members.iter().map(|member| member.0).collect::<Vec<_>>(),
        "parents": record.parents.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

pub(super) fn leader_json(leader: Option<Leader>) -> Value {
    let since: Option<SystemTime> = leader.map(|leader| leader.since);
    json!({
        "leader": leader.map(|leader| leader.id.0),
        "epoch": leader.map(|leader| leader.epoch),
        "since": since.map(rfc3339::format),
        "since_us": since.map(rfc3339::micros),
    })
}

pub(super) fn change_json(change: &Change) -> Value {
    json!({
        "no": change.no,
        "at": rfc3339::format(change.at),
        "at_us": rfc3339::micros(change.at),
        "leader": change.leader.map(|id| id.0),
        "epoch": change.epoch,
        "cause": cause_json(change.cause),
    })
}

fn cause_json(cause: Cause) -> Value {
    let (kind, node, to) = match cause {
        Cause::Started => ("started", None, None),
        Cause::Gone(node) => ("gone", Some(node), None),
        Cause::Silent(node) => ("silent", Some(node), None),
        Cause::Resigned(node) => ("resigned", Some(node), None),
        Cause::HandedOver(from, to) => ("handed_over", Some(from), Some(to)),
        Cause::Outranked(node) => ("outranked", Some(node), None),
        Cause::Merged => ("merged", None, None),
    };
    let id = |node: Option<NodeId>| node.map(|id| id.0);
    json!({"kind": kind, "node": id(node), "to": id(to), "text": cause.to_string()})
}

fn member_json(member: &Participant, leader: Option<NodeId>) -> Value {
    let (link, remote, reason) = match &member.link {
        Link::Connected(remote) => ("connected", Some(remote.to_string()), None),
        Link::Down(reason) => ("down", None, Some(reason.as_str())),
        Link::Connecting => ("connecting", None, None),
    };
    json!({
        "id": member.id.map(|id| id.0),
        "address": member.address,
        "link": if member.is_self { "self" } else { link },
        "remote": remote,
        "reason": reason,
        "incarnation": member.incarnation.map(|life| life.0),
        "heard_us": member.heard.map(whole_micros),
        "is_self": member.is_self,
        "is_leader": member.id.is_some() && member.id == leader,
    })
}

pub(super) fn standing_name(standing: Standing) -> &'static str {
    match standing {
        Standing::Electing => "electing",
        Standing::Leading => "leading",
        Standing::Following => "following",
        Standing::Aside => "aside",
    }
}

fn whole_micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}
