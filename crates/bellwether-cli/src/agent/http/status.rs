//! What a member knows, as an answer. Every time is given for people and for programs.

use std::time::{Duration, SystemTime};

use axum::Json;
use axum::extract::State;
use bellwether::status::{
    Bar, Change, Connection, DiskStatus, ExclusiveStatus, Leader, Reach, Standing, Status, Vote,
};
use bellwether::tls::expiry_warning;
use bellwether::{Member, Mode};
use bellwether_proto::group::Record;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Api, members, rfc3339};
use crate::agent::reload::Reload;
use crate::agent::sessions::Sessions;
use crate::schema;

pub(super) async fn status(State(api): State<Api>) -> Json<Value> {
    let now = api.member.status();
    let counts = api.sessions.as_ref().map(Sessions::counts);
    let elections = counts.map(|counts| schema::Campaigns { held: counts.held, waiting: counts.waiting });
    let reload = api.reloads.last().map(schema::Reload::from);
    answer(schema::Status {
        barred: barred(&api.member, &now),
        elections,
        reload,
        ..schema::Status::from(&now)
    })
}

pub(super) async fn leader(State(api): State<Api>) -> Json<Value> {
    answer(schema::Leader::from(api.member.leader()))
}

pub(super) async fn history(State(api): State<Api>) -> Json<Value> {
    answer(schema::History {
        changes: api.member.history().iter().map(|change| self::change(&api.member, change)).collect(),
        groups: api.member.groups().records().iter().map(|record| (&**record).into()).collect(),
    })
}

/// Why the member does not lead, whatever its election says.
pub(super) fn barred(member: &Member, now: &Status) -> Option<schema::Barred> {
    let bar = now.bar?;
    let refusals = member.participants().into_iter().filter_map(|peer| match peer.connection {
        Connection::Refused(reason) => Some(reason),
        Connection::Connected(_) | Connection::Down(_) | Connection::Connecting => None,
    });
    let kind = match bar {
        Bar::Refused { .. } => "refused",
        Bar::Unheard { .. } => "unheard",
        Bar::TooFew { .. } => "too-few-peers",
        Bar::Elsewhere { .. } => "another-leads",
    };
    Some(schema::Barred { kind: kind.to_owned(), text: bar.to_string(), refusals: refusals.collect() })
}

/// Keys are in the order of the alphabet, in every answer.
pub(super) fn answer(said: impl Serialize) -> Json<Value> {
    Json(json!(said))
}

impl From<&Status> for schema::Status {
    fn from(status: &Status) -> Self {
        Self {
            cluster: status.cluster.clone(),
            node: status.id.0,
            incarnation: status.incarnation.0,
            protocol: status.protocol.name().to_owned(),
            mode: status.mode.name().to_owned(),
            guarantee: status.mode.guarantee().to_owned(),
            standing: status.standing.into(),
            up_since: rfc3339::format(status.up_since),
            up_since_us: rfc3339::micros(status.up_since),
            group: status.group.as_ref().map(Into::into),
            reach: status.reach.map(Into::into),
            right: status.exclusive.as_ref().map(Into::into).unwrap_or_default(),
            elections: None,
            disk: Some(status.disk.into()),
            barred: None,
            certificate: status.certificate_until.map(|until| schema::Certificate {
                until: rfc3339::format(until),
                until_us: rfc3339::micros(until),
                warning: expiry_warning(until, SystemTime::now()),
            }),
            reload: None,
            opinion: schema::Opinion {
                status: status.opinion.status.name().to_owned(),
                leader: status.opinion.leader.map(|id| id.0),
                group: status.opinion.group.map(|group| group.to_string()),
            },
            leader: status.leader.into(),
        }
    }
}

impl From<Reload> for schema::Reload {
    fn from(reload: Reload) -> Self {
        Self {
            at: rfc3339::format(reload.at),
            at_us: rfc3339::micros(reload.at),
            problems: reload.problems,
            restart: reload.waiting.into_iter().map(str::to_owned).collect(),
        }
    }
}

impl From<Standing> for schema::Standing {
    fn from(standing: Standing) -> Self {
        match standing {
            Standing::Electing => Self::Electing,
            Standing::Leading => Self::Leading,
            Standing::Following => Self::Following,
            Standing::Aside => Self::Aside,
            Standing::CatchingUp => Self::CatchingUp,
        }
    }
}

impl From<DiskStatus> for schema::Disk {
    fn from(disk: DiskStatus) -> Self {
        let micros = |span: Duration| u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
        Self {
            slow: disk.is_slow(),
            last_write_us: micros(disk.last_write),
            slowest_write_us: micros(disk.slowest_write),
            writing_for_us: disk.writing_for.map(micros),
        }
    }
}

impl From<Reach> for schema::Reach {
    fn from(reach: Reach) -> Self {
        Self { members: reach.members, of: reach.of, needed: reach.needed() }
    }
}

impl From<&ExclusiveStatus> for schema::Right {
    fn from(status: &ExclusiveStatus) -> Self {
        let vote = match status.vote {
            Vote::Without => "none",
            Vote::Unknown => "unknown",
            Vote::Counts => "counts",
            Vote::Lost => "lost",
            Vote::Outdated => "outdated",
        };
        Self {
            token: status.token,
            valid_ms: status.valid_for.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX)),
            exclusive: Some(schema::Exclusive {
                kind: status.kind.name().to_owned(),
                reachable: status.reached,
                needed: status.needed,
                vote: vote.to_owned(),
                configuration: members::configuration(status),
            }),
        }
    }
}

impl From<&Record> for schema::Group {
    fn from(record: &Record) -> Self {
        Self {
            group: record.group.to_string(),
            coordinator: record.coordinator.0,
            generation: record.generation,
            members: record.members.iter().map(|member| member.0).collect(),
            parents: record.parents.iter().map(ToString::to_string).collect(),
        }
    }
}

impl From<Option<Leader>> for schema::Leader {
    fn from(leader: Option<Leader>) -> Self {
        let since: Option<SystemTime> = leader.map(|leader| leader.since);
        Self {
            leader: leader.map(|leader| leader.id.0),
            epoch: leader.map(|leader| leader.epoch),
            since: since.map(rfc3339::format),
            since_us: since.map(rfc3339::micros),
        }
    }
}

/// A change that the member saw. Its epochs are tokens, if its leadership is exclusive.
pub(super) fn change(member: &Member, change: &Change) -> schema::Change {
    schema::Change {
        no: change.no,
        at: rfc3339::format(change.at),
        at_us: rfc3339::micros(change.at),
        incarnation: Some(change.incarnation.0),
        leader: change.leader.map(|id| id.0),
        epoch: change.epoch,
        token: matches!(member.mode(), Mode::Exclusive(_)).then_some(change.epoch),
        cause: schema::Cause::new(change.cause, change.leader),
    }
}
