//! What an agent or a member knows of elections.

use std::time::{Duration, Instant, UNIX_EPOCH};

use bellwether_proto::ident::NodeId;
use bellwether_proto::time::Rfc3339;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::standing::Until;
use crate::arbiter::Seen;
use crate::config::GrantKind;
use crate::uptime;

/// What an agent or a member knows of an election.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Known {
    /// Its name.
    pub name: String,
    /// What makes its grants valid.
    #[serde(deserialize_with = "kind")]
    pub kind: GrantKind,
    /// The token of the holder, or of the last one.
    pub token: u64,
    /// Who holds it.
    pub holder: Option<Holder>,
    /// What the holder proclaims.
    pub value: String,
    /// How many others wait for it.
    pub waiting: u32,
    /// Since when it is held so, in the words of RFC 3339.
    pub since: String,
    /// How long ago it was that this was known to be so.
    #[serde(rename = "age_ms", deserialize_with = "millis")]
    pub age: Duration,
}

/// Who holds a name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Holder {
    /// Through which member; `None` where an engine of another make holds names.
    #[serde(deserialize_with = "some_node")]
    pub node: Option<NodeId>,
    /// Which of its sessions.
    #[serde(deserialize_with = "text")]
    pub session: String,
}

/// Some of the elections that an agent knows.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Page {
    /// In the order of their names.
    pub elections: Vec<Known>,
    /// The name after which the next page begins, if there are more.
    pub next: Option<String>,
}

/// Whether a token is the holder's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// It is, and may be used until then.
    Until(Instant),
    /// It is, as far as the agent knows; the store that it is shown to decides.
    ByStore,
    /// It is not, or not now.
    No,
}

impl Checked {
    pub(super) fn of(until: Option<Until>) -> Self {
        match until {
            Some(Until::Uptime(at)) => {
                let left = at.saturating_sub(uptime::now());
                Instant::now().checked_add(left).map_or(Self::ByStore, Self::Until)
            }
            Some(Until::ByStore) => Self::ByStore,
            None => Self::No,
        }
    }
}

impl From<Seen> for Known {
    fn from(known: Seen) -> Self {
        let since = known.since.duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
        Self {
            name: known.name.to_string(),
            kind: known.kind,
            token: known.token,
            holder: known.holder.map(|holder| Holder { node: holder.node, session: holder.session }),
            value: String::from_utf8_lossy(&known.value).into_owned(),
            waiting: known.waiting,
            since: Rfc3339(u64::try_from(since).unwrap_or(u64::MAX)).to_string(),
            age: known.age,
        }
    }
}

pub(super) fn kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<GrantKind, D::Error> {
    let name = String::deserialize(deserializer)?;
    GrantKind::by_name(&name)
        .ok_or_else(|| serde::de::Error::custom(format_args!("no kind is called {name}")))
}

pub(super) fn millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}

pub(super) fn node<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NodeId, D::Error> {
    u32::deserialize(deserializer).map(NodeId)
}

fn some_node<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<NodeId>, D::Error> {
    node(deserializer).map(Some)
}

/// An id, whether it is written as a text or as a number.
pub(super) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => text,
        other => other.to_string(),
    })
}
