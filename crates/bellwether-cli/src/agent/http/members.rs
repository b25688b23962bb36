//! The members, and changes of who votes.

use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use bellwether::NodeId;
use bellwether::members::{Address, Configuration, MemberChange};
use bellwether::status::{Connection, ExclusiveStatus, Participant};
use serde_json::Value;

use super::Api;
use super::change::{Authorised, body_of, parse, within};
use super::error::Problem;
use super::status::answer;
use crate::agent::config::address;
use crate::schema::{self, AddMember, ReplaceMember, Rescue};

pub(super) async fn list(State(api): State<Api>) -> Json<Value> {
    listed(&api)
}

/// Lets another member vote. Answered when that is settled, with all members.
pub(super) async fn add(
    _: Authorised,
    State(api): State<Api>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Problem> {
    let AddMember { id, address } = parse(&body_of(body)?)?;
    let (node, address) = (node(id)?, address_of(&address)?);
    change(&api, MemberChange::Add { node, address }).await
}

/// Lets a member vote no more.
pub(super) async fn remove(
    _: Authorised,
    State(api): State<Api>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Problem> {
    change(&api, MemberChange::Remove { node: node_in_path(&id)? }).await
}

/// Lets a member vote with another store: where it is, or elsewhere.
pub(super) async fn replace(
    _: Authorised,
    State(api): State<Api>,
    Path(id): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Problem> {
    let (node, body) = (node_in_path(&id)?, body_of(body)?);
    let asked: ReplaceMember = if body.is_empty() { ReplaceMember::default() } else { parse(&body)? };
    let address = match asked.address {
        Some(address) => address_of(&address)?,
        None => known_address(&api, node)?,
    };
    change(&api, MemberChange::Replace { node, address }).await
}

/// Goes on with the voters that are left.
pub(super) async fn rescue(
    _: Authorised,
    State(api): State<Api>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Problem> {
    let Rescue { survivors, yes } = parse(&body_of(body)?)?;
    if !yes {
        return Err(Problem::bad_request(format!("{}. If that is meant, say \"yes\":true", Rescue::COST)));
    }
    let survivors = survivors.into_iter().map(node).collect::<Result<_, _>>()?;
    change(&api, MemberChange::Rescue { survivors }).await
}

async fn change(api: &Api, change: MemberChange) -> Result<Json<Value>, Problem> {
    within(api.member.change_members(change)).await?;
    Ok(listed(api))
}

fn listed(api: &Api) -> Json<Value> {
    let (status, leader) = (api.member.status(), api.member.leader().map(|leader| leader.id));
    let members = api.member.participants();
    let exclusive = status.exclusive.as_ref();
    answer(schema::Members {
        members: members.iter().map(|one| member(one, leader, exclusive)).collect(),
        configuration: exclusive.and_then(configuration),
    })
}

/// Who votes, if that is known.
pub(super) fn configuration(status: &ExclusiveStatus) -> Option<schema::Configuration> {
    let in_force = status.membership.configuration.as_ref()?;
    Some(schema::Configuration {
        number: in_force.number,
        voters: in_force.voters.keys().map(|id| id.0).collect(),
        settling: !in_force.is_settled(),
        joining: status.membership.joining.as_ref().map(|(id, _)| id.0),
        warning: status.differs.as_ref().map(ToString::to_string),
    })
}

fn member(
    member: &Participant,
    leader: Option<NodeId>,
    exclusive: Option<&ExclusiveStatus>,
) -> schema::Member {
    let (link, remote, reason) = match &member.connection {
        Connection::Connected(remote) => ("connected", Some(remote.to_string()), None),
        Connection::Down(reason) => ("down", None, Some(reason.clone())),
        Connection::Refused(reason) => ("refused", None, Some(reason.clone())),
        Connection::Connecting => ("connecting", None, None),
    };
    let in_force = exclusive.and_then(|told| told.membership.configuration.as_ref());
    let seat = |force: &Configuration| force.voters.get(&member.id?).cloned();
    schema::Member {
        id: member.id.map(|id| id.0),
        address: member.address.clone(),
        link: if member.is_self { "self" } else { link }.to_owned(),
        remote,
        reason,
        incarnation: member.incarnation.map(|incarnation| incarnation.0),
        heard_us: member.heard.map(whole_micros),
        is_self: member.is_self,
        is_leader: member.id.is_some() && member.id == leader,
        voter: in_force.map(|force| seat(force).is_some()),
        witness: exclusive.map(|told| member.id.is_some_and(|id| told.witnesses.contains(&id))),
        store: in_force.and_then(seat).map(|seat| format!("{:032x}", seat.store.0)),
    }
}

fn whole_micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

fn node(id: u32) -> Result<NodeId, Problem> {
    if id == 0 {
        return Err(Problem::bad_request("found the id 0, expected that of a member, from 1 on"));
    }
    Ok(NodeId(id))
}

fn node_in_path(id: &str) -> Result<NodeId, Problem> {
    let number = id.parse().map_err(|_| {
        Problem::bad_request(format!("found {id:?} in the path, expected the id of a member such as 3"))
    });
    node(number?)
}

fn address_of(text: &str) -> Result<Address, Problem> {
    let address = address::host_and_port(text).and_then(|address| Address::new(&address));
    address.ok_or_else(|| {
        Problem::bad_request(format!("address: found {text:?}, expected {}", address::EXPECTED))
    })
}

/// Where that voter is, as far as this member knows.
fn known_address(api: &Api, node: NodeId) -> Result<Address, Problem> {
    let exclusive = api.member.status().exclusive;
    let in_force = exclusive.as_ref().and_then(|told| told.membership.configuration.as_ref());
    let votes = in_force.is_some_and(|in_force| in_force.voters.contains_key(&node));
    let known = api.member.participants().into_iter().find(|other| votes && other.id == Some(node));
    let address = known.and_then(|known| Address::new(&known.address));
    address.ok_or_else(|| {
        Problem::conflict(format!("node {node} does not vote, so its address is not known: say which it is"))
    })
}
