//! What agents and their clients say to each other over HTTP, as JSON.
//!
//! What an agent does not know it says is `null`, it leaves nothing out. A client passes over what it does not know, and does
//! without what an older agent does not say.

pub(crate) mod elections;

use bellwether_proto::cause;
use bellwether_proto::ident::NodeId;
use serde::{Deserialize, Serialize};

use crate::words::counted;

/// `/v1/status`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Status {
    pub(crate) cluster: String,
    pub(crate) node: u32,
    pub(crate) incarnation: u64,
    pub(crate) protocol: String,
    pub(crate) mode: String,
    pub(crate) guarantee: String,
    pub(crate) standing: Standing,
    #[serde(default)]
    pub(crate) up_since: String,
    pub(crate) up_since_us: u64,
    /// Of algorithms that reorganize groups, and of agents that know of them.
    pub(crate) group: Option<Group>,
    /// Of algorithms whose leader needs a majority, and of agents that tell.
    pub(crate) reach: Option<Reach>,
    #[serde(flatten)]
    pub(crate) right: Right,
    /// Of exclusive leadership, and of agents that tell.
    pub(crate) elections: Option<Campaigns>,
    /// Of agents that tell.
    pub(crate) disk: Option<Disk>,
    /// Of a member that must not lead.
    pub(crate) barred: Option<Barred>,
    /// Of agents that tell.
    pub(crate) certificate: Option<Certificate>,
    /// Of agents that have read their files again.
    pub(crate) reload: Option<Reload>,
    #[serde(default, rename = "view")]
    pub(crate) opinion: Opinion,
    #[serde(flatten)]
    pub(crate) leader: Leader,
}

/// Where a member stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub(crate) enum Standing {
    Electing,
    Leading,
    Following,
    Aside,
    CatchingUp,
    /// What only a newer agent knows.
    Other(String),
}

impl Standing {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Electing => "electing",
            Self::Leading => "leading",
            Self::Following => "following",
            Self::Aside => "aside",
            Self::CatchingUp => "catching-up",
            Self::Other(name) => name,
        }
    }
}

impl From<String> for Standing {
    fn from(name: String) -> Self {
        let known = [Self::Electing, Self::Leading, Self::Following, Self::Aside, Self::CatchingUp];
        known.into_iter().find(|standing| standing.name() == name).unwrap_or(Self::Other(name))
    }
}

impl From<Standing> for String {
    fn from(standing: Standing) -> Self {
        standing.name().to_owned()
    }
}

/// How much of the cluster a member reaches, in `/v1/status`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Reach {
    pub(crate) members: usize,
    pub(crate) of: usize,
    pub(crate) needed: usize,
}

/// What exclusive leadership rests on, in `/v1/status` and `/leader`. Nulls in other modes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Right {
    /// The leader's token. It equals the epoch.
    pub(crate) token: Option<u64>,
    /// How long this member's own leadership is certain to be valid; null if it does not lead, or a store decides that.
    pub(crate) valid_ms: Option<u64>,
    pub(crate) exclusive: Option<Exclusive>,
}

/// How exclusive leadership stands with a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Exclusive {
    /// `lease` or `token`.
    pub(crate) kind: String,
    /// With how many voters the member can speak.
    pub(crate) reachable: usize,
    /// With how many whoever is to lead must be able to.
    pub(crate) needed: usize,
    /// Whether the member votes: `none`, `unknown`, `counts` or `lost`.
    pub(crate) vote: String,
    /// Of agents that tell, once it is known.
    pub(crate) configuration: Option<Configuration>,
}

impl Exclusive {
    /// `1 voter reachable; 2 are needed`
    pub(crate) fn in_words(&self) -> String {
        let (reachable, needed) = (self.reachable, self.needed);
        format!("{} reachable; {needed} needed", counted(reachable as u64, "voter"))
    }
}

/// What the sessions of an agent campaign for, in `/v1/status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Campaigns {
    /// How many names they hold.
    pub(crate) held: usize,
    /// For how many they wait.
    pub(crate) waiting: usize,
}

impl Campaigns {
    /// `2 held, 1 waited for`
    pub(crate) fn in_words(self) -> String {
        format!("{} held, {} waited for, through this agent", self.held, self.waiting)
    }
}

/// `/leader`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LeaderHere {
    #[serde(flatten)]
    pub(crate) leader: Leader,
    #[serde(flatten)]
    pub(crate) right: Right,
}

/// How quick a member's disk is, in `/v1/status`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Disk {
    pub(crate) slow: bool,
    pub(crate) last_write_us: u64,
    pub(crate) slowest_write_us: u64,
    pub(crate) writing_for_us: Option<u64>,
}

/// Why a member does not lead, whatever its election says, in `/v1/status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Barred {
    /// `refused`, `unheard`, `too-few-peers` or `another-leads`.
    pub(crate) kind: String,
    /// In words, for people.
    pub(crate) text: String,
    /// What each peer that answers without being connected says, or what is said of it.
    pub(crate) refusals: Vec<String>,
}

/// Until when a member's certificate is good, in `/v1/status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Certificate {
    pub(crate) until: String,
    pub(crate) until_us: u64,
    /// In words, if that is soon or past.
    pub(crate) warning: Option<String>,
}

/// How it went when an agent read its files again the last time, in `/v1/status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reload {
    pub(crate) at: String,
    pub(crate) at_us: u64,
    /// What was wrong, in words. Then all is as it was.
    pub(crate) problems: Vec<String>,
    /// The keys that have changed since the agent was started and that only a restart heeds.
    pub(crate) restart: Vec<String>,
}

impl Reload {
    /// What there is to do about it, if anything.
    pub(crate) fn in_words(&self) -> Option<String> {
        match (&self.problems[..], &self.restart[..]) {
            ([], []) => None,
            ([], keys) => Some(format!("a restart is needed for `{}`", keys.join("`, `"))),
            (problems, _) => {
                Some(format!("the files cannot be used, all is as before: {}", problems.join("; ")))
            }
        }
    }
}

impl Barred {
    /// `2 peers answer and refuse this member, and none accepts it: …; …`
    pub(crate) fn in_words(&self) -> String {
        match self.refusals.is_empty() {
            true => self.text.clone(),
            false => format!("{}: {}", self.text, self.refusals.join("; ")),
        }
    }
}

/// The opinion of the election, in `/v1/status`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Opinion {
    pub(crate) status: String,
    pub(crate) leader: Option<u32>,
    pub(crate) group: Option<String>,
}

/// `/v1/leader`, and what comes of a change
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Leader {
    pub(crate) leader: Option<u32>,
    pub(crate) epoch: Option<u64>,
    pub(crate) since: Option<String>,
    pub(crate) since_us: Option<u64>,
}

/// `/v1/history`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct History {
    pub(crate) changes: Vec<Change>,
    #[serde(default)]
    pub(crate) groups: Vec<Group>,
}

/// A group, in `/v1/status` and `/v1/history`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Group {
    pub(crate) group: String,
    pub(crate) coordinator: u32,
    #[serde(default)]
    pub(crate) generation: u64,
    pub(crate) members: Vec<u32>,
    pub(crate) parents: Vec<String>,
}

/// One of `/v1/history`, or an event of `/v1/watch`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Change {
    pub(crate) no: u64,
    pub(crate) at: String,
    pub(crate) at_us: u64,
    /// Of agents that tell.
    pub(crate) incarnation: Option<u64>,
    pub(crate) leader: Option<u32>,
    pub(crate) epoch: u64,
    /// Of exclusive leadership. It equals the epoch.
    pub(crate) token: Option<u64>,
    pub(crate) cause: Cause,
}

/// Why the leader changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Cause {
    pub(crate) kind: String,
    pub(crate) node: Option<u32>,
    pub(crate) to: Option<u32>,
    /// In words, for people.
    pub(crate) text: String,
}

impl Cause {
    /// Why that one leads, or nobody.
    pub(crate) fn new(cause: cause::Cause, leader: Option<NodeId>) -> Self {
        let id = |node: Option<NodeId>| node.map(|id| id.0);
        Self {
            kind: cause.name().to_owned(),
            node: id(cause.about()),
            to: id(cause.successor()),
            text: cause.of_leader(leader),
        }
    }

    /// `None` for what only a newer agent knows. Its text says it.
    pub(crate) fn known(&self) -> Option<cause::Cause> {
        cause::Cause::by_name(&self.kind, self.node.map(NodeId), self.to.map(NodeId))
    }
}

/// `/v1/members`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Members {
    pub(crate) members: Vec<Member>,
    /// Of exclusive leadership, once it is known who votes, and of agents that tell.
    pub(crate) configuration: Option<Configuration>,
}

/// Who votes, in `/v1/members` and `/v1/status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Configuration {
    /// Grows with every change, and when it is settled.
    pub(crate) number: u64,
    pub(crate) voters: Vec<u32>,
    /// Whether a change is being settled. Until then there is no other.
    pub(crate) settling: bool,
    /// Who is to vote next.
    pub(crate) joining: Option<u32>,
    /// In words, if the member's file lists other voters. It does not count.
    pub(crate) warning: Option<String>,
}

impl Configuration {
    /// `1, 2, 3 vote (configuration 5)`
    pub(crate) fn in_words(&self) -> String {
        let voters = self.voters.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let vote = if self.voters.len() == 1 { "votes" } else { "vote" };
        let settling = if self.settling { ", and a change is being settled" } else { "" };
        format!("{voters} {vote} (configuration {}){settling}", self.number)
    }

    /// What is unwise about it.
    pub(crate) fn caution(&self) -> Option<String> {
        let voters = self.voters.len();
        let even = voters > 1 && voters.is_multiple_of(2);
        even.then(|| {
            format!("{voters} voters can spare no more than {} could: add or remove one", voters - 1)
        })
    }
}

/// One of `/v1/members`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Member {
    pub(crate) id: Option<u32>,
    pub(crate) address: String,
    pub(crate) link: String,
    pub(crate) remote: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) incarnation: Option<u64>,
    pub(crate) heard_us: Option<u64>,
    pub(crate) is_self: bool,
    pub(crate) is_leader: bool,
    /// Whether it votes; null in other modes, and of agents that do not tell.
    pub(crate) voter: Option<bool>,
    /// Whether it never leads, by the file of the member that was asked; null in the same cases.
    pub(crate) witness: Option<bool>,
    /// The id of the store with which it votes, if it does.
    pub(crate) store: Option<String>,
}

/// What is sent to `/v1/resign`: `{}`, `{"hold":"10s"}`, `{"hold":"until-told"}` or `{"end":true}`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Resign {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hold: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) end: bool,
}

/// The `hold` of one that stands aside until it is told to stand again.
pub(crate) const UNTIL_TOLD: &str = "until-told";

/// What is sent to `/v1/transfer`: `{"to":3}`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Transfer {
    pub(crate) to: u32,
}

/// What is sent to `/v1/members`: `{"id":4,"address":"10.0.0.4:3170"}`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddMember {
    pub(crate) id: u32,
    pub(crate) address: String,
}

/// What is sent to `/v1/members/3/replace`: `{}` or `{"address":"10.0.0.9:3170"}`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplaceMember {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) address: Option<String>,
}

/// What is sent to `/v1/members/rescue`: `{"survivors":[1],"yes":true}`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rescue {
    pub(crate) survivors: Vec<u32>,
    #[serde(default)]
    pub(crate) yes: bool,
}

impl Rescue {
    /// What it costs, for whoever has not said yes.
    pub(crate) const COST: &str = "a rescue gives up what a majority of the voters knew. Do it only if their disks are lost for good. \
        If one of the others still runs, there may be two leaders; if one comes back, it must come with an empty data directory. \
        Tokens go on far above all that the survivors know, and nobody leads for one `ttl`";
}

/// Why a request is not met.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Problem {
    pub(crate) error: String,
}

#[cfg(test)]
mod tests {
    use serde_json::{from_str, to_string};

    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        for text in ["{}", r#"{"hold":"10s"}"#, r#"{"hold":"until-told"}"#, r#"{"end":true}"#] {
            assert_eq!(to_string(&from_str::<Resign>(text).unwrap()).unwrap(), text);
        }
        for name in ["electing", "leading", "following", "aside", "catching-up", "dreaming"] {
            assert_eq!(String::from(Standing::from(name.to_owned())), name);
        }
        assert_eq!(Standing::from("aside".to_owned()), Standing::Aside);
    }

    #[test]
    fn a_cause_is_spelled_as_in_traces() {
        let handed = cause::Cause::HandedOver(NodeId(1), NodeId(2));
        let written = to_string(&Cause::new(handed, Some(NodeId(2)))).unwrap();
        let expected = r#"{"kind":"handed-over","node":1,"to":2,"text":"node 1 handed over to node 2"}"#;
        assert_eq!(written, expected);
        assert_eq!(from_str::<Cause>(&written).unwrap().known(), Some(handed));
        let newer = r#"{"kind":"bored","node":1,"to":null,"text":"node 1 was bored"}"#;
        assert_eq!(from_str::<Cause>(newer).unwrap().known(), None);
    }

    #[test]
    fn a_newer_agent_may_say_more_and_an_older_one_less() {
        let text = r#"{"status":"normal","mood":"good"}"#;
        assert_eq!(from_str::<Opinion>(text).unwrap().status, "normal");
        let text = r#"{"changes":[],"weather":null}"#;
        assert!(from_str::<History>(text).unwrap().groups.is_empty());
    }
}
