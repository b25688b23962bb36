//! Named elections and sessions: what is asked, what is answered, and what streams say.

use serde::{Deserialize, Serialize};

/// One of `/v1/elections`, and the data of an `election` event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Election {
    pub(crate) name: String,
    /// `lease` or `token`.
    pub(crate) kind: String,
    /// Of the holder, or of the last one.
    pub(crate) token: u64,
    pub(crate) holder: Option<Holder>,
    /// What the holder proclaims. What is no text is shown as well as it can be.
    pub(crate) value: String,
    pub(crate) waiting: u32,
    pub(crate) since: String,
    /// How old this may be.
    pub(crate) age_ms: u64,
}

/// Who holds an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Holder {
    /// Through which agent.
    pub(crate) node: u32,
    /// Which of its sessions; 0 is the agent itself.
    pub(crate) session: u64,
}

/// `/v1/elections`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Elections {
    pub(crate) elections: Vec<Election>,
    /// The last name, if there are more.
    pub(crate) next: Option<String>,
}

/// What is sent to `…/campaign`; every part may be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Campaign {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) priority: Option<u32>,
    /// Of a campaign that is a session of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) keep: Option<String>,
}

/// What is sent to `/v1/session`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpenSession {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) keep: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) resume: Option<Resume>,
}

/// A session that comes back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Resume {
    pub(crate) session: String,
    pub(crate) secret: String,
    /// Until when it was told that it may act: as the clock of the machine says …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) valid_until: Option<u64>,
    /// … or for how long from now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) valid_ms: Option<u64>,
    /// What it held when it was told something last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) holds: Vec<Hold>,
    /// Processes that were bound to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) bound: Vec<u32>,
}

/// An election that a session holds, or held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hold {
    pub(crate) name: String,
    pub(crate) token: u64,
}

/// What is sent to `…/process`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bind {
    pub(crate) pid: u32,
}

/// What is sent to `…/value`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Proclaim {
    pub(crate) token: u64,
    pub(crate) value: String,
}

/// What is sent to `…/resign` of an election.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResignElection {
    /// Only if that is the holder's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<u64>,
}

/// What is sent to `…/transfer` of an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TransferElection {
    pub(crate) to: u32,
    /// Only if that is the holder's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<u64>,
}

/// A time of the machine's clock, in microseconds. It is absent for clients on other machines, and null where no clock decides.
pub(crate) type ValidUntil = Option<Option<u64>>;

/// What the streams of sessions and of watchers say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Event {
    /// Which session it is. The first event.
    Session { session: String, secret: String, death: String, node: u32, keep_ms: u64 },
    /// A campaign waits.
    Waiting { name: String, kind: String, position: Option<u32> },
    /// It holds the election.
    Elected {
        name: String,
        kind: String,
        token: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        valid_until: ValidUntil,
        campaign: u64,
    },
    /// What is held may be acted upon for longer.
    Valid {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        valid_until: ValidUntil,
    },
    /// Somebody asks for it to be given back.
    AskedBack {
        name: String,
        token: u64,
        why: String,
        #[serde(default)]
        release_ms: u64,
    },
    /// It is not held any more.
    Lost { name: String, token: u64, why: String },
    /// A campaign is over: it cannot be.
    Refused {
        name: String,
        /// The kind of the name.
        kind: String,
        why: String,
    },
    /// How an election stands.
    Election(Election),
    /// There is no election of that name.
    None { name: String },
    /// The last event.
    End { why: String },
    /// What only a newer agent says.
    #[serde(other)]
    Other,
}
