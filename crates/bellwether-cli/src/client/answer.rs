//! The answers of an agent, as far as they are printed. Unknown fields are ignored: a newer agent may have more.

use serde::Deserialize;

/// `/v1/status`
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Status {
    pub(crate) cluster: String,
    pub(crate) node: u32,
    pub(crate) incarnation: u64,
    pub(crate) protocol: String,
    pub(crate) mode: String,
    pub(crate) guarantee: String,
    pub(crate) standing: String,
    pub(crate) up_since_us: u64,
    /// Of algorithms that reorganize groups, and of agents that know of them.
    pub(crate) group: Option<Group>,
    /// Of algorithms whose leader needs a majority, and of agents that tell.
    pub(crate) reach: Option<Reach>,
    #[serde(default)]
    pub(crate) view: View,
    #[serde(flatten)]
    pub(crate) leader: Leader,
}

/// How much of the cluster a member reaches, in `/v1/status`.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Reach {
    pub(crate) members: u32,
    pub(crate) of: u32,
    pub(crate) needed: u32,
}

/// The opinion of the election, in `/v1/status`.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct View {
    pub(crate) status: String,
}

/// `/v1/leader`
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Leader {
    pub(crate) leader: Option<u32>,
    pub(crate) epoch: Option<u64>,
    pub(crate) since: Option<String>,
    pub(crate) since_us: Option<u64>,
}

/// `/v1/history`
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct History {
    pub(crate) changes: Vec<Change>,
    #[serde(default)]
    pub(crate) groups: Vec<Group>,
}

/// A group, in `/v1/status` and `/v1/history`.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Group {
    pub(crate) group: String,
    pub(crate) coordinator: u32,
    pub(crate) members: Vec<u32>,
    pub(crate) parents: Vec<String>,
}

/// One of `/v1/history`, or an event of `/v1/watch`.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Change {
    pub(crate) no: u64,
    pub(crate) at: String,
    pub(crate) at_us: u64,
    pub(crate) leader: Option<u32>,
    pub(crate) epoch: u64,
    pub(crate) cause: Cause,
}

/// Why the leader changed.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Cause {
    pub(crate) kind: String,
    pub(crate) node: Option<u32>,
    pub(crate) to: Option<u32>,
    pub(crate) text: String,
}

/// `/v1/members`
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Members {
    pub(crate) members: Vec<Member>,
}

/// One of `/v1/members`.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Member {
    pub(crate) id: Option<u32>,
    pub(crate) address: String,
    pub(crate) link: String,
    pub(crate) reason: Option<String>,
    pub(crate) incarnation: Option<u64>,
    pub(crate) heard_us: Option<u64>,
    pub(crate) is_self: bool,
    pub(crate) is_leader: bool,
}
