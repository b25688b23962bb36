//! Answers in words, short enough for a line.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::duration::rough;
use crate::schema::{Change, Group, Leader};

/// `node 3 leads, epoch 7`
pub(crate) fn leads(leader: &Leader) -> String {
    match (leader.leader, leader.epoch) {
        (Some(id), Some(epoch)) => format!("node {id} leads, epoch {epoch}"),
        (Some(id), None) => format!("node {id} leads"),
        (None, _) => "nobody leads".to_owned(),
    }
}

/// `node 3 leads, epoch 7 (node 1 is gone)`
pub(crate) fn change(change: &Change) -> String {
    let (why, number) = (&change.cause.text, number(change));
    match change.leader {
        Some(id) => format!("node {id} leads, {number} ({why})"),
        None => format!("nobody leads, {number} is over ({why})"),
    }
}

/// `epoch 7`, or `token 7` where it is one.
fn number(change: &Change) -> String {
    match change.token {
        Some(token) => format!("token {token}"),
        None => format!("epoch {}", change.epoch),
    }
}

/// `3.17.2 of 1, 2, 3, from 1.17.1, 3.17.1`
pub(crate) fn group(group: &Group) -> String {
    format!("{} of {}, from {}", group.group, ids(&group.members), parents(group))
}

/// `1, 2, 3`
pub(crate) fn ids(ids: &[u32]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The parents of a group. The root, from which all groups come, was never formed and is left out.
pub(crate) fn parents(group: &Group) -> String {
    let name = |parent: &String| if parent == ROOT { "the beginning".to_owned() } else { parent.clone() };
    group.parents.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// The number of the group that all others come from.
const ROOT: &str = "0.0.0";

/// `2026-03-01 12:30:00.250`, in UTC.
pub(crate) fn date_and_time(rfc3339: &str) -> String {
    rfc3339.replacen('T', " ", 1).trim_end_matches('Z').to_owned()
}

/// How long ago that was; nothing at all, if the agent's clock is ahead of ours.
pub(crate) fn since(us: u64) -> Duration {
    let then = UNIX_EPOCH + Duration::from_micros(us);
    SystemTime::now().duration_since(then).unwrap_or_default()
}

/// `1.5 s ago`
pub(crate) fn ago(us: u64) -> String {
    format!("{} ago", rough(since(us)))
}
