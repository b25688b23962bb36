//! What an agent says in a stream, as types.

use std::time::Duration;

use bellwether_proto::exclusive::grant::Name;
use bellwether_proto::ident::NodeId;
use serde::Deserialize;

use super::known::{Known, kind, millis, node, text};
use super::session::Death;
use super::stream::Event;
use crate::config::GrantKind;

/// What an agent says of a session.
#[derive(Clone, Debug)]
pub(super) enum Said {
    /// First of all.
    Session(Opened),
    Waiting(Waiting),
    Elected(Elected),
    Valid(Valid),
    AskedBack(WantedBack),
    Lost(Gone),
    /// The name cannot be campaigned for as it was asked.
    Refused(Gone),
    /// Last of all.
    End(End),
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Opened {
    #[serde(deserialize_with = "text")]
    pub(super) session: String,
    pub(super) secret: String,
    pub(super) death: Death,
    #[serde(deserialize_with = "node")]
    pub(super) node: NodeId,
    /// How long a session outlives its stream.
    #[serde(rename = "keep_ms", deserialize_with = "millis", default)]
    pub(super) keep: Duration,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Waiting {
    pub(super) name: Name,
    pub(super) position: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Elected {
    pub(super) name: Name,
    #[serde(deserialize_with = "kind")]
    pub(super) kind: GrantKind,
    pub(super) token: u64,
    /// In microseconds since the machine started. Left out over TCP, and null of what no clock decides.
    pub(super) valid_until: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Valid {
    /// None: of all that is held.
    pub(super) name: Option<Name>,
    pub(super) token: Option<u64>,
    pub(super) valid_until: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct WantedBack {
    pub(super) name: Name,
    pub(super) why: String,
    /// How long until it is given back all the same, of agents that tell.
    pub(super) release_ms: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Gone {
    pub(super) name: Name,
    pub(super) why: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct End {
    pub(super) why: String,
}

impl Said {
    /// What an event says; `None` of what only a later agent says.
    pub(super) fn of(event: &Event) -> Result<Option<Self>, serde_json::Error> {
        let data = &event.data;
        Ok(Some(match event.name.as_str() {
            "session" => Self::Session(serde_json::from_str(data)?),
            "waiting" => Self::Waiting(serde_json::from_str(data)?),
            "elected" => Self::Elected(serde_json::from_str(data)?),
            "valid" => Self::Valid(serde_json::from_str(data)?),
            "asked_back" => Self::AskedBack(serde_json::from_str(data)?),
            "lost" => Self::Lost(serde_json::from_str(data)?),
            "refused" => Self::Refused(serde_json::from_str(data)?),
            "end" => Self::End(serde_json::from_str(data)?),
            _ => return Ok(None),
        }))
    }
}

/// What an event of an observed election says; the outer `None` of any other event, the inner one if there is no such election.
pub(super) fn election(event: &Event) -> Result<Option<Option<Known>>, serde_json::Error> {
    match event.name.as_str() {
        "election" => serde_json::from_str(&event.data).map(|known| Some(Some(known))),
        "none" => Ok(Some(None)),
        _ => Ok(None),
    }
}
